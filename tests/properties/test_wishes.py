"""Wishes hold in whole models of mixed tables, seen from outside: scores on grids.

Tables have gaps, words, stages, a number that never changes, labels that were not
always observed; fits have weights, groups, exceptions and pairs; several wishes are met
at once.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier

LABELS = ["fever", "gout", "flu"]
EXACT = 1e-8


def made_up(rng):
    """Features and labels, with weights and groups for some seeds."""
    n = int(rng.integers(100, 240))
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "creatinine": rng.lognormal(size=n).round(2),
            "stage": rng.integers(1, 5, n).astype(float),
            "albumin": rng.normal(3.5, 0.5, n),
            "site": np.full(n, 2.0),
            "ward": pd.Categorical(
                rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])
            ),
        }
    )
    together = np.log(X["creatinine"]) * (X["albumin"] - 3.5)
    strength = np.sin(X["age"] / 9) + 2 * together + (X["ward"] == "a")
    for name in ("age", "stage", "ward"):
        X[name] = X[name].where(rng.random(n) > 0.15)
    noise = rng.normal(size=(n, 3))
    has = strength.to_numpy()[:, None] * [1.0, -0.5, 0.3] + noise > 0.3
    Y = pd.DataFrame(has, columns=LABELS).astype(float)
    Y.loc[rng.random(n) < 0.3, "flu"] = np.nan
    given = {}
    if rng.random() < 0.5:
        given["groups"] = rng.integers(0, n // 2, n)
    if rng.random() < 0.5:
        given["sample_weight"] = rng.exponential(size=n) * (rng.random(n) < 0.9)
    return X, Y, given


def scores(clf, X, name, values):
    """Log-odds (rows, values, labels) of some rows along values of a feature."""
    rows = X.iloc[:8]
    grid = rows.loc[rows.index.repeat(len(values))].reset_index(drop=True)
    grid[name] = pd.Series(list(values) * len(rows)).astype(X[name].dtype)
    return clf.decision_function(grid).reshape(len(rows), len(values), -1)


def everywhere(x):
    """Values of a number: measured ones, others between, and some beyond."""
    measured = x.dropna().to_numpy()
    low, high = measured.min(), measured.max()
    beyond = (high - low) / 4 or 1.0
    return np.union1d(measured, np.linspace(low - beyond, high + beyond, 150))


def assert_met(clf, X, directions, flat_above):
    """Directions, a flat end of age, and no effect of the ward on gout."""
    for name, by_label in directions.items():
        changes = np.diff(scores(clf, X, name, everywhere(X[name])), axis=1)
        for label, direction in by_label.items():
            own = direction * changes[:, :, LABELS.index(label)]
            assert own.min() > -EXACT, (name, label)
    values = everywhere(X["age"])
    beyond = scores(clf, X, "age", values[values >= flat_above])
    assert np.ptp(beyond, axis=1).max() < EXACT
    of_wards = scores(clf, X, "ward", ["a", "b", "c", "d", np.nan])
    assert np.ptp(of_wards[:, :, LABELS.index("gout")], axis=1).max() < EXACT


@pytest.mark.parametrize("seed", range(6))
def test_all_wishes_hold_along_grids_in_long_and_short_models(seed):
    rng = np.random.default_rng(seed)
    X, Y, given = made_up(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that cannot be told
        clf = MLTSKClassifier(n_rules=3, n_pairs=2).fit(X, Y, **given)
    directions = {"site": {"fever": 1}}
    for name in ("creatinine", "stage", "albumin"):
        signs = rng.choice([-1, 1], size=3).tolist()
        directions[name] = dict(zip(LABELS, signs, strict=True))
    corrected = clf.constrained(
        monotonic_cst=directions,
        without={"ward": ["gout"]},
        curves={"age": {"flat_above": 61.0}},
    )
    assert_met(corrected, X, directions, flat_above=61.0)
    assert_met(corrected.shorten(4), X, directions, flat_above=61.0)
    assert np.isfinite(corrected.price_.to_numpy()).all()


def test_stages_take_any_effects_that_are_asked_of_them():
    X, Y, _ = made_up(np.random.default_rng(8))
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    asked = {"stage": [(1, -0.4), (2, 0.3), (3, -0.1)], "albumin": {"same": True}}
    corrected = clf.constrained(curves=asked)
    effects = scores(corrected, X, "stage", [1.0, 2.0, 3.0])
    np.testing.assert_allclose(np.diff(effects, axis=1)[0].T, [[0.7, -0.4]] * 3)
    along = scores(corrected, X, "albumin", everywhere(X["albumin"]))[0]
    np.testing.assert_allclose(along - along[0], (along - along[0])[:, [1, 2, 0]])
