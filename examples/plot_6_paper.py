"""
The paper: ML-TSK FS and its rules
==================================

*Multi-Label Takagi-Sugeno-Kang Fuzzy System* (Lou, Deng, Xiao, Choi, Wang, IEEE
Transactions on Fuzzy Systems 2022) as its authors run it, on the clinical table in the
box: the search of its Table II, its rules in the form of its equation (14), and a
figure of memberships and consequents.
"""

# %%
# A table of complete numbers
# ---------------------------
# The paper's method takes complete numbers: rows with missing cells are left out, and
# words become columns of 0 and 1.
import pandas as pd
from sklearn.model_selection import GridSearchCV

from mltsk import MLTSKClassifier, PaperMLTSK, evaluate, read_table
from mltsk.model_selection import get_scorer

table = read_table("pbc")
complete = table.X.notna().all(axis=1) & table.Y.notna().all(axis=1)
X = pd.get_dummies(table.X[complete], dtype=float)
Y = table.Y[complete].astype(int)
print(f"{len(X)} of {len(table)} rows are complete")

# %%
# The search
# ----------
# ``PaperMLTSK.PAPER_GRID`` is Table II, 4,000 settings. A few of them keep this page
# short; the last 76 patients choose nothing.
few = {
    "n_rules": [2, 3],
    "correlation_weight": [0.01],
    "l1_weight": [0.1, 1],
    "init_ridge": [1],
}
search = GridSearchCV(
    PaperMLTSK(),
    PaperMLTSK.PAPER_GRID | few,
    scoring=get_scorer("paper_average_precision"),
)
clf = search.fit(X[:200], Y[:200]).best_estimator_
print(search.best_params_)

# %%
# The rules
# ---------
# Gaussians in the IF-part, a line per label in the THEN-part, in the units of the
# table. The text shows the conditions that tell rules apart and the largest terms;
# ``to_frame``, ``to_dict`` and ``to_latex`` have all.
print(clf.rules_.to_text(top=3))

# %%
# A row per rule: its memberships next to those of the other rules, and what each
# feature changes over its range for each label.
clf.plot.rules(top=4)

# %%
# How good it is
# --------------
# On the patients that were left out, next to `MLTSKClassifier` on the same patients. It
# has nothing to tune, and would take the words and missing cells as they are.
scores = clf.decision_function(X[200:]) + clf.thresholds_
print("ML-TSK FS", round(evaluate(Y[200:], scores)["AP"], 3))
train = complete[complete].index[:200]
test = complete[complete].index[200:]
ours = MLTSKClassifier().fit(table.X.loc[train], table.Y.loc[train])
found = ours.decision_function(table.X.loc[test])
print("MLTSKClassifier", round(evaluate(table.Y.loc[test], found)["AP"], 3))
