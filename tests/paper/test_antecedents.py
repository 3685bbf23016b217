"""Rules: the paper's collapse where distinct ones stay apart, and widths share samples as documented."""

import numpy as np
import pytest

from mltsk.core.membership import authors_widths, firing_strengths, rule_distinctness
from mltsk.paper.antecedents import COLLAPSED, SHARED, distinct_rules, find_rules, shared_width_scale


def test_distinct_rules_stay_apart_where_the_papers_collapse():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 150)) + 2 * rng.integers(-1, 2, size=(300, 15)).repeat(10, axis=1)
    centers, spread = find_rules(X, np.ones(300), 4)
    ours, paper = distinct_rules(X, np.ones(300), 4), (centers, authors_widths(spread, 100.0))
    distinct = [rule_distinctness(firing_strengths(X, *rules)) for rules in (ours, paper)]
    assert distinct[1] < COLLAPSED < 0.2 < distinct[0]
    assert np.ptp(ours[1]) == 0


@pytest.mark.parametrize("n_features", [3, 300])
def test_widths_share_samples_among_the_same_number_of_rules(n_features):
    X = np.random.default_rng(2).normal(size=(200, n_features))
    M = firing_strengths(X, *distinct_rules(X, np.ones(200), 6))
    sharing = np.exp(-(M * np.log(M)).sum(axis=1)).mean()
    assert sharing == pytest.approx(1 + SHARED * 5, abs=1e-6)


def test_widths_count_weights_as_copies():
    X = np.random.default_rng(3).normal(size=(50, 4))
    w = np.random.default_rng(4).integers(1, 4, size=50).astype(float)
    copies = np.repeat(X, w.astype(int), axis=0)
    assert shared_width_scale(X, X[:3], w, 1.0) == pytest.approx(
        shared_width_scale(copies, X[:3], np.ones(len(copies)), 1.0)
    )


def test_the_width_of_one_rule_or_equal_rules_is_finite():
    X = np.random.default_rng(5).normal(size=(20, 3))
    for C in (X[:1], X[[0, 0, 0]]):
        assert np.isfinite(shared_width_scale(X, C, np.ones(20), 1.0))
