"""
One model of five hospitals that share no patient
=================================================

The clinical table is cut into five hospitals. Each sends a summary, then sums; nobody
sees a row of another one. The model that comes out is that of all patients together.
"""

# %%
# Summaries, and a plan
# ---------------------
# A summary has percentiles and counts, none of fewer than ten people. The plan has the
# terms that all hospitals use.
from mltsk import read_table
from mltsk.sites import Plan, SiteSums, joined, summary_of

whole = read_table("pbc")
frame = whole.X.join(whole.Y)
labels = list(whole.label_names)
hospitals = [read_table(frame[s::5], labels=labels) for s in range(5)]
plan = Plan.of([summary_of(hospital) for hospital in hospitals])
print(f"{len(plan.terms)} columns for {', '.join(plan.label_names)}")
print("\n".join(plan.notes))

# %%
# Sums
# ----
# Cells of few people are hidden first, and the hospital is told what that
# costs.
sums = []
for s in range(5):
    hospital = read_table(frame[s::5], labels=labels, kinds=plan.kinds)
    sums.append(SiteSums.of(hospital, plan))
print("\n".join([*sums[0].told, sums[0].cost]))

# %%
# The model
# ---------
# Sums less those of one hospital are a fit without it: how well it does there comes for
# free.
import pandas as pd

model = joined(sums)
without = pd.DataFrame(model.sites_)
without["site"] = without.groupby("label").cumcount()
without.pivot(index="site", columns="label", values="AUC").astype(float).round(2)

# %%
# It is read like any other model.
print(model.rules_.to_text(top=2))
