"""Tables with every kind of column, and rows with gaps and words never seen."""

import numpy as np
import pandas as pd
import pytest


def patients(n, seed):
    rng = np.random.default_rng(seed)
    habits = ["never", "former", "daily"]
    smoker = rng.choice(habits, n, p=[0.5, 0.3, 0.2]).astype(object)
    smoker[:2] = "pipe", "cigar"  # rare ones
    stages = ["I", "II", "III"]
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "smoker": smoker,
            "sex": pd.Categorical(rng.choice(["f", "m"], n, p=[0.7, 0.3])),
            "stage": pd.Categorical(rng.choice(stages, n), stages, ordered=True),
            "scores": rng.normal(size=n),  # also what a graph calls its first output
            "fever": pd.array(rng.random(n) < 0.4, dtype="boolean"),
            "clinic": pd.Categorical(rng.choice([3, 7, 11], n)),
            "albumin": np.where(rng.random(n) < 0.3, np.nan, rng.normal(3.5, 0.5, n)),
        }
    )
    Y = pd.DataFrame(
        {
            "ill": X.age + 10 * (X.smoker == "daily") > 55,
            "old": X.age > 70,
            "low": X.albumin < 3.4,
        }
    )
    return X, Y.astype(int)


@pytest.fixture
def own_rules():
    """Rules of a user about that table."""
    return [
        {"age": (50, None), "sex": "m"},
        {"smoker": ["daily", "other"], "stage": ("II", "III")},
        {"fever": True},
    ]


@pytest.fixture(scope="session")
def table():
    """X, Y, and further rows.

    These have gaps in every column, words that were never seen, and an empty row.
    """
    X, Y = patients(120, 0)
    new, _ = patients(60, 1)
    new["smoker"] = np.where(np.arange(60) % 7 == 2, "snuff", new["smoker"])
    clinics = [13 if i % 5 == 1 else clinic for i, clinic in enumerate(new["clinic"])]
    new["clinic"] = pd.Categorical(clinics)
    gaps = np.random.default_rng(2).random(new.shape) < 0.2
    gaps[-1] = True
    return X, Y, new.mask(gaps)
