"""
A model at another hospital
===========================

The patients of the clinical table were seen by one clinic. Let those with an advanced
stage of the disease stand for another hospital: it sees sicker people, and has few of
them. The model of the first is carried there.
"""

# %%
# The model of the first hospital
# -------------------------------
from mltsk import MLTSKClassifier, read_table

table = read_table("pbc")
here, there = table.X["stage"] < 4, table.X["stage"] >= 4
old = MLTSKClassifier(n_rules=0).fit(table.X[here], table.Y[here])
print(f"{here.sum()} patients here, {there.sum()} there")

# %%
# Carried to the second
# ---------------------
# Numbers are drawn towards the old ones as strongly as leave-one-out on the new
# patients says. Next to that: the old model as it is, recalibrated, and a new one
# fitted from nothing, each judged on patients that it did not see.
import pandas as pd

new = old.adapted(table.X[there], table.Y[there])
pd.DataFrame(new.compared_).T.round(3)

# %%
# What changed, in words
# ----------------------
print("\n".join(new.changes_))

# %%
# How much do a few rows help?
# ----------------------------
# With ten patients the old model stays as it is; nobody is moved by chance.
rows = there.to_numpy().nonzero()[0]
for n in (10, 40, len(rows)):
    few = old.adapted(table.X.iloc[rows[:n]], table.Y.iloc[rows[:n]])
    print(f"{n:4} rows, strength {few.strength_}")
