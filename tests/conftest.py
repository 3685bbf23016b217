"""A table as users have it, and scores of systems taken apart."""

import numpy as np
import pandas as pd
import pytest

from mltsk.core.arrays import dense


@pytest.fixture(scope="session")
def table():
    """(X, Y) of 240 people: words, some rare, yes and no, levels, numbers, gaps."""
    n, rng = 240, np.random.default_rng(0)
    smoker = rng.choice(["never", "former", "daily"], n, p=[0.5, 0.3, 0.2]).astype(
        object
    )
    smoker[:4] = "pipe", "cigar", "pipe", "snus"
    albumin = np.where(rng.random(n) < 0.3, np.nan, rng.normal(3.5, 0.5, n))
    stage, fever, age = (
        rng.integers(0, 4, n),
        rng.random(n) < 0.4,
        rng.integers(20, 90, n).astype(float),
    )
    risk = (
        (smoker == "daily")
        + 0.8 * np.isnan(albumin)
        + 0.02 * (age - 50)
        + 0.4 * stage
        + rng.normal(0, 0.5, n)
    )
    Y = pd.DataFrame(
        {
            "copd": (risk > 1.2).astype(int),
            "gout": ((albumin > 3.6) | fever).astype(int),
        }
    )
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.01, np.nan, age),
            "smoker": smoker,
            "sex": pd.Categorical(rng.choice(["f", "m"], n, p=[0.7, 0.3])),
            "stage": pd.Categorical.from_codes(
                stage, ["I", "II", "III", "IV"], ordered=True
            ),
            "fever": pd.array(fever, dtype="boolean"),
            "albumin": albumin,
        }
    )
    X.loc[rng.random(n) < 0.1, "smoker"] = None
    return X, Y


def effects_of_features(system, X, label):
    """What the general rule adds to the score of one label for each column, (N, D)."""
    T = dense(system.terms.memberships(system.scale(X), system.scaling))
    return system.terms.by_feature(
        (T - system.terms.mean) * system.term_coef[:, label], len(system.feature_names)
    )


def effects_of_exceptions(system, X, label):
    """What each exception adds to the score of one label, (N, K)."""
    says = system.coef[:, 0, label]
    if system.order == 1:
        says = says + np.asarray(
            system.terms.filled(system.scale(X)) @ system.coef[:, 1:, label].T
        )
    return system.firing_strengths(X) * says
