"""A table as users have it, optional libraries, and scores of systems taken apart."""

import numpy as np
import pandas as pd
import pytest

from mltsk.core.arrays import dense


@pytest.fixture(scope="session")
def torch():
    """The library torch; tests that ask for it are skipped where it is missing."""
    return pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )


@pytest.fixture(scope="session")
def polars():
    """The library polars; tests that ask for it are skipped where it is missing."""
    return pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )


@pytest.fixture(scope="session")
def table():
    """(X, Y) of 240 people: words, some rare, yes and no, levels, numbers, gaps."""
    n = 240
    rng = np.random.default_rng(0)
    smoker = rng.choice(["never", "former", "daily"], n, p=[0.5, 0.3, 0.2])
    smoker = smoker.astype(object)
    smoker[:4] = ["pipe", "cigar", "pipe", "snus"]
    albumin = np.where(rng.random(n) < 0.3, np.nan, rng.normal(3.5, 0.5, n))
    stage = rng.integers(0, 4, n)
    fever = rng.random(n) < 0.4
    age = rng.integers(20, 90, n).astype(float)
    risk = (
        (smoker == "daily")
        + 0.8 * np.isnan(albumin)
        + 0.02 * (age - 50)
        + 0.4 * stage
        + rng.normal(0, 0.5, n)
    )
    has_copd = risk > 1.2
    has_gout = (albumin > 3.6) | fever
    Y = pd.DataFrame({"copd": has_copd.astype(int), "gout": has_gout.astype(int)})
    levels = ["I", "II", "III", "IV"]
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.01, np.nan, age),
            "smoker": smoker,
            "sex": pd.Categorical(rng.choice(["f", "m"], n, p=[0.7, 0.3])),
            "stage": pd.Categorical.from_codes(stage, levels, ordered=True),
            "fever": pd.array(fever, dtype="boolean"),
            "albumin": albumin,
        }
    )
    X.loc[rng.random(n) < 0.1, "smoker"] = None
    return X, Y


def effects_of_features(system, X, label):
    """What the general rule adds to the score of one label for each column, (N, D)."""
    memberships = dense(system.terms.memberships(system.scale(X), system.scaling))
    contributions = (memberships - system.terms.mean) * system.term_coef[:, label]
    return system.terms.by_feature(contributions, len(system.feature_names))


def effects_of_exceptions(system, X, label):
    """What each exception adds to the score of one label, (N, K)."""
    consequents = system.coef[:, 0, label]
    if system.order == 1:
        Z = system.terms.filled(system.scale(X))
        slopes = system.coef[:, 1:, label]
        consequents = consequents + np.asarray(Z @ slopes.T)
    return system.firing_strengths(X) * consequents
