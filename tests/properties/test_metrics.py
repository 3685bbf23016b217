"""Ranking metrics against a slow program of the authors' rules and scikit-learn."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from mltsk.metrics import five_metrics
from mltsk.metrics.ranked_rows import row_metrics

# few values, so that ties abound; neighbours in the last bit; both zeros
VALUES = [
    0.0,
    -0.0,
    5e-324,
    1.0,
    np.nextafter(1.0, 2.0),
    np.nextafter(1.0, 0.0),
    -1.0,
    0.5,
    3.0,
]
INFINITE = [*VALUES, np.inf, -np.inf]


@st.composite
def tables(draw, values=tuple(INFINITE), min_labels=1):
    shape = draw(
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=min_labels, max_side=7)
    )
    numbers = st.sampled_from(values) | st.floats(-2, 2, allow_subnormal=False)
    return draw(hnp.arrays(bool, shape)), draw(
        hnp.arrays(float, shape, elements=numbers)
    )


def slow_row(y, s):
    """AP, OE, RL, CV of one row by the authors' rules; None where it is left out."""
    n, relevant = len(y), [j for j in range(len(y)) if y[j]]
    up = sorted(
        range(n), key=lambda j: (math.isnan(s[j]), 0.0 if math.isnan(s[j]) else s[j])
    )
    down = sorted(
        range(n),
        key=lambda j: (not math.isnan(s[j]), 0.0 if math.isnan(s[j]) else -s[j]),
    )
    rank = {label: n - position for position, label in enumerate(up)}
    deepest = max((down.index(j) + 1 for j in relevant), default=0)
    coverage = (deepest - 1) / n
    if len(relevant) == n:
        return None, None, None, coverage
    precision = [sum(rank[k] <= rank[j] for k in relevant) / rank[j] for j in relevant]
    numbers = [v for v in s if not math.isnan(v)]
    error = 0.0 if numbers and any(s[j] == max(numbers) for j in relevant) else 1.0
    others = [k for k in range(n) if not y[k]]
    wrong = sum(bool(s[j] <= s[k]) for j in relevant for k in others)
    size = max(len(relevant), 1)
    return sum(precision) / size, error, wrong / (size * len(others)), coverage


def slow_five(Y, S):
    rows = [slow_row(y, s) for y, s in zip(Y, S, strict=True)]
    columns = [
        [value for value in column if value is not None]
        for column in zip(*rows, strict=True)
    ]
    ap, oe, rl, cv = (np.mean(column) if column else np.nan for column in columns)
    return [ap, np.mean((S >= 0.5) != Y), oe, rl, cv]


@settings(deadline=None)
@given(tables(values=(*INFINITE, np.nan)))
def test_five_metrics_of_the_paper_are_the_authors_program(data):
    assert_allclose(
        five_metrics(*data, convention="paper"), slow_five(*data), atol=1e-14
    )


@settings(deadline=None)
@given(tables(values=tuple(VALUES), min_labels=2))
def test_row_metrics_of_the_standard_convention_are_scikit_learns(data):
    Y, S = data
    rows = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    ap, _, rl, cv = row_metrics(Y, S, paper=False)
    for i in np.flatnonzero(rows):
        y, s = Y[[i]].astype(int), S[[i]]
        assert_allclose(ap[i], sk.label_ranking_average_precision_score(y, s))
        assert_allclose(rl[i], sk.label_ranking_loss(y, s))
        assert_allclose(cv[i], (sk.coverage_error(y, s) - 1) / Y.shape[1])


@settings(deadline=None)
@given(tables())
def test_five_metrics_do_not_depend_on_the_order_of_labels(data):
    Y, S = data
    assert_allclose(
        five_metrics(Y[:, ::-1], S[:, ::-1]), five_metrics(Y, S), atol=1e-14
    )


@settings(deadline=None)
@given(tables(values=(0.0, 1.0, 2.0)), st.sampled_from(["paper", "standard"]))
def test_five_metrics_depend_on_the_order_of_scores_only(data, convention):
    Y, S = data[0], np.round(data[1])
    ranking = [0, 2, 3, 4]
    assert_allclose(
        five_metrics(Y, S**3 * 4 - 1, convention=convention)[ranking],
        five_metrics(Y, S, convention=convention)[ranking],
    )


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_five_metrics_agree_in_both_conventions_without_ties(n_labels, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((5, n_labels)) < 0.5
    Y[:, 0] = True
    Y[:, 1] = False
    S = rng.permuted(np.tile(np.arange(n_labels, dtype=float), (5, 1)), axis=1)
    assert_allclose(
        five_metrics(Y, S, convention="paper"), five_metrics(Y, S), atol=1e-14
    )


@settings(deadline=None)
@given(tables(), st.data())
def test_five_metrics_take_weights_for_repetitions(data, draw):
    Y, S = data
    repeats = draw.draw(
        hnp.arrays(int, len(Y), elements=st.integers(0, 3)).filter(np.any)
    )
    weighted = five_metrics(Y, S, sample_weight=repeats)
    assert_allclose(
        weighted,
        five_metrics(Y.repeat(repeats, axis=0), S.repeat(repeats, axis=0)),
        atol=1e-14,
    )


@settings(deadline=None)
@given(tables(min_labels=2))
def test_five_metrics_of_perfect_scores_are_perfect(data):
    labels, _ = data
    Y = np.vstack([labels, np.eye(1, labels.shape[1])])  # a row that can be ranked
    assert_allclose(five_metrics(Y, Y)[:4], [1.0, 0.0, 0.0, 0.0])
