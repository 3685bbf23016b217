"""Numbers under wishes are the best of all that meet them; honest scores hold them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import qr
from scipy.optimize import minimize

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.fit.corrector import Corrector
from mltsk.fit.demands import DemandMaker
from mltsk.fit.ridge import Penalty
from mltsk.fit.rows import Block
from mltsk.fit.sums import FitSums
from mltsk.fit.wishes import Wish

DATA = make_multilabel_rules(n_samples=90, random_state=0)
X = DATA.X[:, :3]
Y = DATA.Y[:, :2].astype(float)
PARTLY = Y.copy()
PARTLY[::4, 1] = np.nan
LINES = (Wish(0, (0, 1), "falls"), Wish(1, (0,), "rises"), Wish(2, (1,), "nothing"))
POINTS = (Wish(1, (0,), "points", ((0.0, 0.3),)), Wish(0, (1,), "above", ((0.0, 0.0),)))
SAME = (Wish(0, (0, 1), "same"), Wish(0, (0, 1), "falls"), Wish(1, (1,), "concave"))
ALL_WISHES = pytest.mark.parametrize("wishes", [LINES, POINTS, SAME])


def corrector(wishes):
    return Corrector(wishes, ("a", "b", "c"), ("first", "second"))


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier(n_rules=0).fit(X, PARTLY)


def loss(sums, B):
    """What the solution minimises, from sums."""
    total = sums.ridge * (B**2).sum()
    for part in sums.parts:
        m = part.moments
        mean = m.phi / m.total
        own = B[:, part.labels]
        H = m.H - np.outer(mean, m.phi)
        right = m.B - np.outer(mean, m.y)
        total += np.einsum("ql,qr,rl->", own, H, own) - 2 * (right * own).sum()
    return total


@ALL_WISHES
def test_corrected_numbers_are_those_of_a_general_solver(clf, wishes):
    sums = clf.sums_
    found = corrector(wishes).corrected(sums)
    demands = DemandMaker(sums.design, None, sums.curves).demands(wishes)
    n_columns, n_labels = found.B.shape
    rows = np.zeros((len(demands), n_columns, n_labels))
    for k, demand in enumerate(demands):
        for label, row in demand.rows.items():
            rows[k, : len(row), label] = row
    rows = rows.reshape(len(demands), -1)
    least = np.array([demand.least for demand in demands])
    is_equal = np.array([demand.is_equal for demand in demands])
    # equations once each, which this solver asks for
    _, triangle, order = qr(rows[is_equal].T, mode="economic", pivoting=True)
    once = order[: (np.abs(np.diag(triangle)) > 1e-9).sum()]
    equations = rows[is_equal][once]
    values = least[is_equal][once]
    constraints = [
        {
            "type": "ineq",
            "fun": lambda b: rows[~is_equal] @ b - least[~is_equal],
            "jac": lambda b: rows[~is_equal],
        },
        {
            "type": "eq",
            "fun": lambda b: equations @ b - values,
            "jac": lambda b: equations,
        },
    ]
    solved = minimize(
        lambda b: loss(sums, b.reshape(n_columns, n_labels)),
        np.zeros(n_columns * n_labels),
        jac=lambda b: _gradient(sums, b.reshape(n_columns, n_labels)).ravel(),
        method="SLSQP",
        constraints=constraints if len(once) else constraints[:1],
        options={"ftol": 1e-15, "maxiter": 3000},
    )
    assert loss(sums, found.B) <= solved.fun + 1e-9
    assert_allclose(found.B.ravel(), solved.x, atol=1e-6)


def _gradient(sums, B):
    gradient = 2 * sums.ridge * B
    for part in sums.parts:
        m = part.moments
        mean = m.phi / m.total
        H = m.H - np.outer(mean, m.phi)
        right = m.B - np.outer(mean, m.y)
        gradient[:, part.labels] += 2 * (H @ B[:, part.labels] - right)
    return gradient


def refitted_without(sums, wishes, found, block, rows):
    """Scores of rows by a fit without them, in which what held numbers holds them."""
    kept = np.setdiff1d(np.arange(len(block.Y)), rows)
    others = block.take(kept)
    label_groups = [part.labels for part in sums.parts]
    fewer = FitSums.of_rows(others, sums.design, sums.ridge, label_groups)
    demands = DemandMaker(sums.design, None, sums.curves).demands(wishes)
    n_columns, n_labels = found.B.shape
    equations, values = [], []
    for demand in demands:
        row = np.zeros((n_labels, n_columns))
        for label, own in demand.rows.items():
            row[label, : len(own)] = own
        if demand.is_equal or abs((row.T * found.B).sum() - demand.least) < 1e-9:
            equations.append(row.ravel())
            values.append(demand.least)
    A = np.zeros((n_labels * n_columns,) * 2)
    right = np.zeros(n_labels * n_columns)
    scores = np.zeros((len(rows), n_labels))
    means = {}
    for part in fewer.parts:
        m = part.moments
        mean = m.phi / m.total
        for place, label in enumerate(part.labels):
            own = slice(label * n_columns, (label + 1) * n_columns)
            A[own, own] = m.H - np.outer(mean, m.phi) + sums.ridge * np.eye(n_columns)
            right[own] = m.B[:, place] - mean * m.y[place]
            means[label] = mean, m.y[place] / m.total
    E = np.array(equations).reshape(len(equations), -1)
    zeros = np.zeros((len(E), len(E)))
    whole = np.block([[A, E.T], [E, zeros]])
    b = np.linalg.lstsq(whole, np.concatenate([right, values]), rcond=1e-13)[0]
    Phi = sums.design.rows(sums.design.scale.apply(block.X[rows]))
    for label, (mean, rate) in means.items():
        own = b[label * n_columns : (label + 1) * n_columns]
        scores[:, label] = rate + (Phi - mean) @ own
    return scores


@pytest.mark.parametrize("has_groups", [False, True])
@ALL_WISHES
def test_left_out_scores_are_those_of_fits_without_the_row_or_its_group(
    clf, wishes, has_groups
):
    sums = clf.sums_
    w = 1.0 - np.isnan(PARTLY)
    groups = np.arange(90) // 3 if has_groups else None
    block = Block(clf.fit_record_.training.X, np.nan_to_num(PARTLY), w, groups)
    found = corrector(wishes).corrected(sums)
    honest = found.left_out(block, 90)
    # all scores start from the base rates of all rows
    for first in (0, 42, 75):
        rows = np.arange(first, first + 3) if has_groups else np.array([first])
        expected = refitted_without(sums, wishes, found, block, rows)
        others = np.setdiff1d(np.arange(90), rows)
        rates = (w * block.Y).sum(axis=0) / w.sum(axis=0)
        without = (w * block.Y)[others].sum(axis=0) / w[others].sum(axis=0)
        is_seen = w[rows] > 0
        shifted = expected + rates - without
        assert_allclose(honest[rows][is_seen], shifted[is_seen], atol=1e-8)


def test_corrected_without_wishes_in_the_way_is_the_free_solution(clf):
    slack = (Wish(0, (0,), "points", ()),)
    found = corrector(slack).corrected(clf.sums_)
    for part in clf.sums_.parts:
        free = part.moments.solve(Penalty(clf.ridge_)).B
        assert_allclose(found.B[:, part.labels], free, atol=1e-12)


def test_corrected_names_the_wishes_that_contradict_each_other(clf):
    wishes = (
        Wish(0, (0,), "rises"),
        Wish(1, (0,), "rises"),
        Wish(1, (0,), "points", ((-1.0, 1.0), (1.0, 0.0))),
    )
    says = "for first: 'b' rises and 'b' passes through .-1, 1. and .1, 0."
    with pytest.raises(InputError, match=says):
        corrector(wishes).corrected(clf.sums_)


def test_each_label_has_the_pairs_that_no_wish_of_it_is_about():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4))
    strength = np.stack([rows[:, 0] * rows[:, 1], rows[:, 0] * rows[:, 2]], axis=1)
    labels = (strength + 0.3 * rng.normal(size=(300, 2)) > 0).astype(float)
    clf = MLTSKClassifier(n_rules=0, n_pairs=3).fit(rows, labels)
    sums = clf.sums_
    wished = Corrector((Wish(0, (0,), "convex"),), tuple("abcd"), ("y", "z"))
    found = wished.corrected(sums)
    whole = sums.parts[0].moments.solve(Penalty(sums.ridge)).B
    assert_allclose(found.B[:, 1], whole[:, 1], atol=1e-12)
    # the other one is solved as if nobody had the pairs of its wish
    fewer = Corrector((Wish(0, (0, 1), "convex"),), tuple("abcd"), ("y", "z"))
    alone = fewer.corrected(sums)
    n_terms = sums.design.n_terms
    has_feature = (sums.design.pairs.columns == 0).any(axis=1)
    assert has_feature.any()
    assert not found.B[n_terms:][has_feature, 0].any()
    assert_allclose(found.B[:n_terms, 0], alone.B[:n_terms, 0], atol=1e-12)
    kept = clf.fit_record_
    block = Block(kept.training.X, labels, np.ones(300), None)
    honest = found.left_out(block, 300)[:, 0]
    assert_allclose(honest, alone.left_out(block, 300)[:, 0], atol=1e-9)


def test_kept_sums_have_neither_exceptions_nor_pairs_of_a_wished_feature():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    labels = (rows[:, :2].prod(axis=1) > 0) | (rows[:, 2] > 1)
    clf = MLTSKClassifier(n_rules=5, n_pairs=3, order=0).fit(rows, labels)
    wished = Corrector((Wish(0, (0,), "nothing"),), ("a", "b", "c", "d"), ("y",))
    kept = wished.kept_sums(replace(clf.sums_))
    assert clf.n_pairs_ == 3
    assert len(kept.design.rules) == 0
    assert 0 not in kept.design.pairs.columns
    assert kept.parts[0].moments.H.shape == (kept.design.n_columns,) * 2
