"""IF-parts of rules: the paper's collapse where distinct ones stay apart."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.clustering import fuzzy_c_means
from mltsk.core.membership import authors_widths, firing_strengths, rule_distinctness
from mltsk.exceptions import InputError, RuleCollapseWarning
from mltsk.paper.antecedents import (
    COLLAPSED_DISTINCTNESS,
    SHARED_RULES,
    distinct_rules,
    find_rules,
    rule_widths,
    warn_if_fewer,
)


def test_distinct_rules_stay_apart_where_those_of_find_rules_collapse():
    rng = np.random.default_rng(1)
    groups = rng.integers(-1, 2, size=(300, 15)).repeat(10, axis=1)
    X = rng.normal(size=(300, 150)) + 2 * groups
    w = np.ones(300)
    centers, spread = find_rules(X, w, 4)
    paper = firing_strengths(X, centers, authors_widths(spread, 100.0))
    centers, widths = distinct_rules(X, w, 4)
    ours = firing_strengths(X, centers, widths)
    assert rule_distinctness(paper) < COLLAPSED_DISTINCTNESS
    assert rule_distinctness(ours) > 0.2
    assert np.ptp(widths) == 0


@pytest.mark.parametrize("n_features", [3, 300])
def test_distinct_rules_share_samples_among_the_same_number_of_rules(n_features):
    X = np.random.default_rng(2).normal(size=(200, n_features))
    M = firing_strengths(X, *distinct_rules(X, np.ones(200), 6))
    sharing = np.exp(-(M * np.log(M)).sum(axis=1)).mean()
    assert sharing == pytest.approx(1 + SHARED_RULES * 5, abs=1e-6)


def test_distinct_rules_count_weights_as_copies():
    noise = np.random.default_rng(3).normal(size=(60, 4))
    X = np.repeat(10 * np.eye(3, 4), 20, axis=0) + noise  # three clear clusters
    counts = np.random.default_rng(4).integers(1, 4, size=60)
    copies = np.repeat(X, counts, axis=0)
    _, weighted = distinct_rules(X, counts.astype(float), 3)
    _, copied = distinct_rules(copies, np.ones(len(copies)), 3)
    assert weighted[0, 0] == pytest.approx(copied[0, 0])


def test_distinct_rules_have_finite_widths_for_one_rule_and_for_equal_samples():
    X = np.random.default_rng(5).normal(size=(20, 3))
    for samples, n_rules in ((X, 1), (X[[0] * 20], 3), (X[[0, 1] * 10], 3)):
        centers, widths = distinct_rules(samples, np.ones(20), n_rules)
        assert centers.shape == widths.shape
        assert np.isfinite(widths).all()


def test_find_rules_weighs_by_squared_memberships_or_as_the_text_by_themselves():
    X = np.random.default_rng(6).random((40, 2))
    U = fuzzy_c_means(X, 3).memberships
    program, _ = find_rules(X, np.ones(40), 3)
    text, _ = find_rules(X, np.ones(40), 3, formulas="text")
    squared = U**2
    assert_allclose(program, squared.T @ X / squared.sum(axis=0)[:, None], atol=1e-3)
    assert_allclose(text, U.T @ X / U.sum(axis=0)[:, None])


def test_rule_widths_of_the_text_are_squared_and_doubled():
    spread = np.array([[0.5, 2.0]])
    program = rule_widths(spread, 3.0, "program")
    assert program == pytest.approx(3.0 * spread)
    assert rule_widths(spread, 3.0, "text") == pytest.approx(2 * program**2)
    with pytest.raises(InputError, match="makes widths whose squares"):
        rule_widths(spread, 1e200, "text")


def test_warn_if_fewer_says_how_many_rules_are_left():
    with pytest.warns(
        RuleCollapseWarning, match="n_rules=5 was reduced to 2: X has no"
    ):
        warn_if_fewer(2, 5)
    warn_if_fewer(5, 5)
