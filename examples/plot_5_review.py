"""
Thresholds: how many to find, at what price
===========================================

The clinical table again. A model ranks patients; where to draw the line is decided by
those who act on it. We look at what is possible, say what we want, and see what that
costs, on patients that the model had not seen.
"""

# %%
# What is possible
# ----------------
# Each patient is judged by what a model without that patient would say. Precision is
# how many of those for whom a finding is predicted have it, recall for how many of
# those who have it it is predicted.
from mltsk import MLTSKClassifier, evaluate, read_table

table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
clf = MLTSKClassifier().fit(table.X, table.Y)
figure = clf.plot.precision_recall()

# %%
# Can probabilities be trusted?
# -----------------------------
# Yes, where dots lie on the diagonal: of patients with a probability of 30 %, 30 % have
# the finding.
figure = clf.plot.calibration()

# %%
# Say what you want
# -----------------
# The same model with four goals: the best F1; a miss five times as bad as a false
# alarm; four of five found; four of five right.
wishes = {
    "F1": "f1",
    "cost 1:5": ("cost", 1, 5),
    "recall .8": ("recall", 0.8),
    "precision .8": ("precision", 0.8),
}
for name, threshold in wishes.items():
    tuned = MLTSKClassifier(threshold=threshold).fit(table.X, table.Y)
    by_label = evaluate(
        table.Y, tuned.loo_proba_, threshold=tuned.thresholds_, per_label=True
    )
    shown = by_label.loc[["hepatomegaly", "edema"], ["sensitivity", "precision"]]
    print(f"{name}\n{shown.round(2)}\n")

# %%
# All of this on one page
# -----------------------
# ``mltsk review pbc --out review.html``, or in Python:
import tempfile
from pathlib import Path

from mltsk import review

page = review(table, Path(tempfile.mkdtemp()) / "review.html", quick=True)
print(f"{page.stat().st_size / 1000:.0f} kB")
