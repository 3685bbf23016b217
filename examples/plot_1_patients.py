"""
Patients: a table with categories, missing cells and labels not always observed
===============================================================================

418 patients with primary biliary cholangitis, from a trial of the Mayo Clinic. We see
what is in the table, fit a model, see how good it is without a test set, read it on one
page, and ask why a label was predicted for one patient.
"""

# %%
# The table
# ---------
# It comes with the package. The report says what each column was taken for, and how to
# overrule that; here we say that the stage of the disease is an order and not a number.
from mltsk import MLTSKClassifier, evaluate, read_table

table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
table.columns

# %%
# Fit, and how good is it?
# ------------------------
# Nothing is tuned, imputed or encoded. Leave-one-out scores, what each patient would
# have scored without themselves, come with the fit; labels that were not observed are
# left out.
X = table.X
Y = table.Y
clf = MLTSKClassifier().fit(X, Y)
evaluate(Y, clf.loo_proba_, per_label=True).round(2)

# %%
# What features do
# ----------------
# The curves of the general rule: what each value of a feature adds to the score of a
# label, for every patient.
from mltsk.explain import plot

figure = plot.shapes(clf, "edema", "hepatomegaly", top=3)

# %%
# The map shows which feature matters for which finding.
figure = plot.feature_importance(clf)

# %%
# One page
# --------
# Four statements per label, chosen and fitted again to say what the whole model says. A
# notebook shows them like this; ``print(short.rules_)`` prints the same words.
short = clf.shorten(4)
short.rules_

# %%
# What that costs, on patients that were left out when the statements were chosen and
# fitted:
evaluate(Y, short.loo_proba_, per_label=True).round(2)

# %%
# Why this patient?
# -----------------
# The amounts add up to the score.
print(short.explain(X[:1]).why("edema"))
