"""Rules: the paper's collapse where distinct ones stay apart, and widths share samples as documented."""

import numpy as np
import pytest

from mltsk.core.membership import authors_widths, firing_strengths, rule_distinctness
from mltsk.paper.antecedents import COLLAPSED_DISTINCTNESS, SHARED_RULES, distinct_rules, find_rules


def test_distinct_rules_stay_apart_where_the_papers_collapse():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 150)) + 2 * rng.integers(-1, 2, size=(300, 15)).repeat(
        10, axis=1
    )
    centers, spread = find_rules(X, np.ones(300), 4)
    ours, paper = (
        distinct_rules(X, np.ones(300), 4),
        (centers, authors_widths(spread, 100.0)),
    )
    distinct = [
        rule_distinctness(firing_strengths(X, *rules)) for rules in (ours, paper)
    ]
    assert distinct[1] < COLLAPSED_DISTINCTNESS < 0.2 < distinct[0]
    assert np.ptp(ours[1]) == 0


@pytest.mark.parametrize("n_features", [3, 300])
def test_widths_share_samples_among_the_same_number_of_rules(n_features):
    X = np.random.default_rng(2).normal(size=(200, n_features))
    M = firing_strengths(X, *distinct_rules(X, np.ones(200), 6))
    sharing = np.exp(-(M * np.log(M)).sum(axis=1)).mean()
    assert sharing == pytest.approx(1 + SHARED_RULES * 5, abs=1e-6)


def test_widths_count_weights_as_copies():
    X = np.repeat(10 * np.eye(3, 4), 20, axis=0) + np.random.default_rng(3).normal(
        size=(60, 4)
    )  # three clear clusters
    w = np.random.default_rng(4).integers(1, 4, size=60).astype(float)
    copies = np.repeat(X, w.astype(int), axis=0)
    found, expected = (
        distinct_rules(X, w, 3),
        distinct_rules(copies, np.ones(len(copies)), 3),
    )
    assert found[1][0, 0] == pytest.approx(expected[1][0, 0])


def test_the_width_of_one_rule_or_of_equal_samples_is_finite():
    X = np.random.default_rng(5).normal(size=(20, 3))
    for samples, n_rules in ((X, 1), (X[[0] * 20], 3), (X[[0, 1] * 10], 3)):
        centers, widths = distinct_rules(samples, np.ones(20), n_rules)
        assert centers.shape == widths.shape
        assert np.isfinite(widths).all()
