"""A feature that is to rise does so whatever the others are that it acts with."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mltsk import MLTSKClassifier

STEPS = np.arange(6.0)
WARDS = ["east", "west", "north"]


def made_up(n=500, seed=0):
    """What x does depends on y and on the ward; y and x may be missing."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, n).astype(float)
    y = rng.integers(0, 4, n).astype(float)
    ward = rng.choice(WARDS, n)
    strength = 0.5 * (x - 2.5) * (y - 1) + 0.6 * (x - 2.5) * (ward == "east")
    gout = strength + 1.5 * rng.normal(size=n) > 0.5
    flu = 0.3 * x - y + rng.normal(size=n) > 0
    x[rng.random(n) < 0.05] = np.nan
    y[rng.random(n) < 0.05] = np.nan
    X = pd.DataFrame({"x": x, "y": y, "ward": ward})
    return X, pd.DataFrame({"gout": gout, "flu": flu}).astype(float)


@pytest.fixture(scope="module")
def table():
    return made_up()


@pytest.fixture(scope="module")
def clf(table):
    return MLTSKClassifier(n_rules=0, n_pairs=4).fit(*table)


def rows_along_x(values):
    """Rows for each value of x, (others, x): all that the others can be."""
    others = list(product([0.0, 1.0, 2.0, 3.0, np.nan], [*WARDS, None]))
    tables = []
    for y, ward in others:
        own = pd.DataFrame({"x": values, "y": y})
        own["ward"] = pd.Series([ward] * len(own), dtype=object)
        tables.append(own)
    return pd.concat(tables, ignore_index=True), len(others)


def steps_along_x(model, values):
    rows, n_others = rows_along_x(values)
    scores = model.decision_function(rows)
    return np.diff(scores.reshape(n_others, len(values), -1), axis=1)


def test_a_direction_holds_for_all_values_of_the_others(clf):
    values = np.linspace(-1, 6, 200)
    assert steps_along_x(clf, values)[:, :, 0].min() < -0.01
    for direction in (1, -1):
        wished = clf.constrained(monotonic_cst={"x": direction})
        assert len(wished.system_.pairs.blocks) == len(clf.system_.pairs.blocks)
        assert (direction * steps_along_x(wished, values)).min() > -1e-9


def test_numbers_under_a_direction_are_those_of_a_general_solver(clf):
    """It is told of each step of x beside all values of the others."""
    sums = clf.sums_
    wished = clf.constrained(monotonic_cst={"x": {"gout": 1}})
    design = sums.design
    rows, n_others = rows_along_x(STEPS)
    X = clf.columns_.expand(rows)
    Phi = design.rows(design.scale.apply(X)).reshape(n_others, len(STEPS), -1)
    demands = np.diff(Phi, axis=1).reshape(-1, design.n_columns)
    demands = np.unique(demands.round(13), axis=0)
    (part,) = (part for part in sums.parts if 0 in part.labels)
    m = part.moments
    A = m.H - np.outer(m.phi, m.phi) / m.total + sums.ridge * np.eye(len(m.phi))
    right = m.B[:, 0] - m.phi * m.y[0] / m.total
    solved = minimize(
        lambda b: (b @ A @ b / 2 - right @ b, A @ b - right),
        np.zeros(len(right)),
        jac=True,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda b: demands @ b,
            "jac": lambda b: demands,
        },
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    corrector = wished.corrector()
    found = corrector.corrected(sums).B[:, 0]
    assert (demands @ found).min() > -1e-9
    assert found @ A @ found / 2 - right @ found <= solved.fun + 1e-8
    assert_allclose(found, solved.x, atol=1e-5)


def test_a_direction_costs_less_where_pairs_may_obey_it(clf):
    """A flat end takes all pairs of x, a direction takes none."""
    obeys = clf.constrained(monotonic_cst={"x": {"gout": 1}}).price_
    alone = clf.constrained(
        monotonic_cst={"x": {"gout": 1}}, curves={"x": {"flat_above": 5.0}}
    ).price_
    assert "features" in alone.attrs["left_out"]
    assert obeys["AP_lost"]["gout"] < alone["AP_lost"]["gout"] - 0.02


def test_directions_in_pairs_hold_at_another_site(clf):
    wished = clf.constrained(monotonic_cst={"x": 1})
    X, Y = made_up(400, seed=1)
    new = wished.adapted(X, 1 - Y)
    assert np.isfinite(new.strength_)
    assert steps_along_x(new, np.linspace(-1, 6, 100)).min() > -1e-9


def test_a_fit_under_directions_has_pairs_that_obey(table):
    clf = MLTSKClassifier(n_pairs=4, monotonic_cst={"x": {"gout": 1}}).fit(*table)
    assert len(clf.system_.pairs.blocks) == 4
    assert steps_along_x(clf, np.linspace(-1, 6, 100))[:, :, 0].min() > -1e-9
    assert clf.price_["AP_lost"]["flu"] == pytest.approx(0, abs=1e-9)
