"""
Patients: a CSV file with categories and units
==============================================

A table as a practice might keep it: numbers with units, text columns, and four diagnoses that can occur together. We
fit a model, see how good it is without a test set, read it on one page, and ask why one patient was given a label.
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
smoker = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
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
        "heart disease": occurs((age - 68) / 6 + 2 * (smoker == "yes") + (pressure - 135) / 12),
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
# Nothing is tuned. Leave-one-out scores, what each training row would have scored without itself, come with the fit.
clf = MLTSKClassifier().fit(X[train], Y[train])
clf.categories_ = {name: c for name, c in zip(data.feature_names, data.categories, strict=True) if c}
honest = evaluate(Y[train], clf.loo_scores_, threshold=clf.thresholds_)
tested = evaluate(Y[test], clf.decision_function(X[test]), threshold=0)
pd.DataFrame({"leave-one-out": honest, "test rows": tested}).round(3)

# %%
# What features do
# ----------------
# The curves of the general rule: what each value of a feature adds to the score of a label, whoever the patient is.
from mltsk.explain import plot

figure = plot.shapes(clf, "diabetes", "heart disease", top=3)

# %%
# The map should show what was put in: a column for each diagnosis, dark where its own measurement is.
figure = plot.feature_importance(clf)

# %%
# One page
# --------
# Three statements per label, chosen and fitted again to say what the whole model says. A notebook shows them like this;
# ``print(short.rules_)`` prints the same words.
short = clf.shorten(3, max_conditions=3)
short.rules_

# %%
# What that costs on the test rows:
found = evaluate(Y[test], short.decision_function(X[test]), threshold=0)
pd.DataFrame({"whole": tested, "short": found}).round(3)

# %%
# Why this patient?
# -----------------
# The first one in the test rows who is given heart disease. The amounts add up to the score.
given = short.predict(X[test])[:, data.label_names.index("heart disease")] == 1
print(short.explain(X[test][given][:1]).why("heart disease"))
