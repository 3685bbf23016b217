"""
Patients: a table with words, gaps and labels that were not observed for everybody
==================================================================================

418 patients with primary biliary cholangitis, from a trial of the Mayo Clinic. We see what is in the table, fit a
model, see how good it is without a test set, read it on one page, and ask why one patient was given a label.
"""

# %%
# The table
# ---------
# It comes in the box. The report says what each column was taken for, and how to say otherwise; here we say that the
# stage of the disease is an order and not a number.
from mltsk import MLTSKClassifier, evaluate, read_table

table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
table.columns

# %%
# Fit, and how good is it?
# ------------------------
# Nothing is tuned, imputed or encoded. Leave-one-out scores, what each row would have scored without itself, come with
# the fit; cells of labels that nobody observed are left out.
X, Y = table.X, table.Y
clf = MLTSKClassifier().fit(X, Y)
evaluate(Y, clf.loo_scores_, per_label=True).round(2)

# %%
# What features do
# ----------------
# The curves of the general rule: what each value of a feature adds to the score of a label, whoever the patient is.
from mltsk.explain import plot

figure = plot.shapes(clf, "edema", "hepatomegaly", top=3)

# %%
# The map shows which feature matters for which finding.
figure = plot.feature_importance(clf)

# %%
# One page
# --------
# Four statements per label, chosen and fitted again to say what the whole model says. A notebook shows them like this;
# ``print(short.rules_)`` prints the same words.
short = clf.shorten(4)
short.rules_

# %%
# What that costs, on scores of rows that terms and numbers did not see:
evaluate(Y, short.loo_scores_, per_label=True).round(2)

# %%
# Why this patient?
# -----------------
# The amounts add up to the score.
print(short.explain(X[:1]).why("edema"))
