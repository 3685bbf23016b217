"""
Patients: a CSV file with categories and units
==============================================

A table as a practice might keep it: numbers with units, text columns, and four diagnoses that can occur together. We
fit a few rules, read them, ask why one patient was given a label, and see what shorter rules would cost.
"""

# %%
# Invented patients
# -----------------
# No real person is in here: the numbers come from a random generator, the diagnoses from simple thresholds with some
# chance. So we know what a model should find: diabetes follows glucose, hypertension pressure, anaemia haemoglobin, and
# heart disease age, smoking and pressure together.
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 800
age = rng.uniform(20, 85, n).round()
sex = rng.choice(["female", "male"], n)
smoker = rng.choice(["daily", "former", "never"], n, p=[0.25, 0.25, 0.5])
bmi = rng.normal(23 + age / 18, 4).round(1)
glucose = rng.normal(3.2 + bmi / 16 + age / 60, 1.2).round(1)
pressure = rng.normal(98 + age / 2 + 1.2 * (bmi - 26), 13).round()
haemoglobin = rng.normal(138 + 10 * (sex == "male"), 15).round()


def occurs(excess):
    """0 or 1, more often 1 where the excess is positive."""
    return (excess + rng.logistic(0, 0.4, n) > 0).astype(int)


patients = pd.DataFrame(
    {
        "age (years)": age,
        "sex": sex,
        "smoker": smoker,
        "BMI (kg/m²)": bmi,
        "glucose (mmol/l)": glucose,
        "systolic pressure (mmHg)": pressure,
        "haemoglobin (g/l)": haemoglobin,
        "diabetes": occurs(2 * (glucose - 7.0)),
        "hypertension": occurs((pressure - 138) / 5),
        "anaemia": occurs((128 - haemoglobin) / 5),
        "heart disease": occurs((age - 68) / 6 + 2 * (smoker == "daily") + (pressure - 135) / 12),
    }
)
file = Path(mkdtemp()) / "patients.csv"
patients.to_csv(file, index=False)
print(file.read_text(encoding="utf-8")[:330])

# %%
# Read it
# -------
# The last four columns are labels. Text columns become categories; their names come back in the rules.
from mltsk import MLTSKClassifier, evaluate, load_dataset

data = load_dataset(file, labels=4)
X, Y = data.frames()
train, test = slice(0, 600), slice(600, None)
print(data)

# %%
# Fit and test
# ------------
# Nothing is tuned. Six rules for a table of this size are quick to read.
clf = MLTSKClassifier(n_rules=6).fit(X[train], Y[train])
clf.categories_ = {name: c for name, c in zip(data.feature_names, data.categories, strict=True) if c}
found = evaluate(Y[test], clf.decision_function(X[test]), threshold=0)
print({name: round(found[name], 3) for name in ("AP", "HL", "micro_F1", "tied_rows")})

# %%
# Read the rules
# --------------
# A notebook shows them like this; ``print(clf.rules_)`` prints the same words.
clf.rules_[:2]

# %%
# What matters for what
# ---------------------
# The map should show what was put in: a column for each diagnosis, dark where its own measurement is.
from mltsk.explain import plot

figure = plot.feature_importance(clf)

# %%
# Why this patient?
# -----------------
# The first one in the test rows who is given heart disease. Both sums, by rule and by feature, are the score.
given = clf.predict(X[test])[:, data.label_names.index("heart disease")] == 1
print(clf.explain(X[test][given][:1]).why("heart disease"))

# %%
# Shorter rules
# -------------
# At most three conditions a rule and four terms a label, and what that costs in average precision over five folds.
short = clf.simplify(X[train], Y[train], max_conditions=3, max_terms=4)
print(short.simplification_)
print(short.rules_[:1].to_text(top=4))

# %%
# The membership curves of its first rule, in the units of the file:
figure = plot.membership(short, rule=0)
