"""
Correct a model by what a doctor knows
======================================

A curve goes the wrong way, or a feature should not count. The model takes such a wish,
finds all other numbers again, exactly, and says what the wish costs each finding.
"""

# %%
# What would a doctor object to?
# ------------------------------
# In 418 patients with a disease of the liver, the model has a curve for each
# measurement. Those of albumin and bilirubin have a direction that is known.
from mltsk import MLTSKClassifier, read_table

table = read_table("pbc")
clf = MLTSKClassifier().fit(table.X, table.Y)
clf.alternatives("edema").to_frame()[["feature", "effect", "low", "high"]].round(2)

# %%
# Wishes, and their price
# -----------------------
# ``price_`` compares leave-one-out scores of the same patients before and after.
known = clf.constrained(monotonic_cst={"albumin": -1, "bilirubin": 1})
known.price_[["AP_before", "AP", "AP_lost"]].round(3)

# %%
# Some wishes are dear: without sex, spiders are predicted less well.
fair = known.constrained(without={"sex": ["spiders"]})
fair.price_[["AP_before", "AP", "AP_lost"]].round(3)

# %%
# The corrected model is an ordinary one, and knows its wishes.
for wish in fair.wishes_:
    print(wish["feature"], wish["kind"], "for", ", ".join(wish["labels"]))
fair.plot.shapes("edema")
