"""Where exceptions of a short model may lie."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.io.plain import from_dict, to_dict
from mltsk.short.candidates import Candidates
from mltsk.short.regions import MAX_LONG_EXCEPTIONS, Interval, RegionFinder


def test_interval_center_and_reach_of_closed_and_open_ranges():
    closed = Interval(2.0, 6.0)
    assert closed.center(0.0, 10.0) == 4.0
    assert closed.reach(4.0) == 2.0
    below = Interval(-np.inf, 6.0)
    assert below.center(0.0, 10.0) == 0.0
    assert below.reach(0.0) == 6.0
    above = Interval(2.0, np.inf)
    assert above.center(0.0, 10.0) == 10.0
    assert above.reach(10.0) == 8.0


def long_with_pairs():
    """A model of a table in which age and sex, and age and dose act together."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, size=600),
            "sex": rng.choice(["female", "male"], size=600),
            "dose": rng.gamma(2.0, size=600).round(2),
            "ward": rng.choice(["a", "b", "c"], size=600),
        }
    )
    young_women = (X["age"] < 40) & (X["sex"] == "female")
    Y = np.column_stack([young_women, (X["age"] > 60) == (X["dose"] > 2)])
    clf = MLTSKClassifier(n_rules=0, n_pairs=3).fit(X, Y.astype(int))
    return clf, X


@pytest.fixture(scope="module")
def paired():
    return long_with_pairs()


def test_regions_of_pairs_have_two_conditions_of_which_words_are_met_or_not(paired):
    clf, X = paired
    system = clf.system_
    assert len(system.pairs) > 0
    numbers = system.columns.expand(X)
    candidates = Candidates.of(system, numbers, np.ones(len(numbers)), 5)
    assert (np.isfinite(candidates.widths).sum(axis=1) == 2).all()
    assert len(candidates.centers) > 10
    memberships = candidates.columns(numbers)[:, len(candidates.terms) :]
    d = 1  # 1 for men
    has_condition = np.isfinite(candidates.widths[:, d])
    assert has_condition.any()
    for k in np.flatnonzero(has_condition):
        met = numbers[:, d] == candidates.centers[k, d]
        assert memberships[met, k].max() > 0.9
        assert memberships[~met, k].max() < 1e-12
    one_condition = Candidates.of(system, numbers, np.ones(len(numbers)), 1)
    assert len(one_condition.centers) == 0


def test_regions_of_thousands_of_exceptions_are_those_with_the_largest_effect():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    long = MLTSKClassifier(n_rules=5, order=0).fit(X, X > 0).system_
    copies = np.repeat(np.arange(5), 300)
    regions = long.members.regions
    many = replace(
        long,
        centers=long.centers[copies],
        widths=long.widths[copies],
        coef=long.coef[copies],
        rule_weights=long.rule_weights[copies],
        members=replace(long.members, regions=regions[[*copies, 5]]),
    )
    two = np.zeros(3, dtype=bool)
    centers, reaches = RegionFinder(many, np.full(3, 0.01), two).regions(2)
    assert len(centers) == MAX_LONG_EXCEPTIONS
    strengths = np.abs(long.coef).max(axis=(1, 2)) * long.rule_weights
    own_centers, _ = RegionFinder(long, np.full(3, 0.01), two).regions(2)
    assert_allclose(
        np.unique(centers, axis=0),
        np.unique(own_centers[np.argsort(-strengths)[:2]], axis=0),
    )
    assert np.isfinite(reaches).any()


def test_cells_of_pairs_are_statements_of_two_conditions(paired):
    clf, _ = paired
    short = clf.shorten(6)
    assert short.n_statements_.max() <= 6
    texts = [str(rule) for rule in short.rules_.exceptions]
    assert any("sex is female" in text and "age" in text for text in texts)
    n_exceptions = (short.coef_[:, 0] != 0).sum(axis=0)
    n_lines = np.zeros(2, dtype=int)
    for label, consequent in enumerate(short.rules_.general):
        for shape in consequent.shapes:
            n_lines[label] += (len(shape.x) + 1) // 2
    assert_array_equal(short.n_statements_, n_lines + 2 * n_exceptions)
    assert not len(short.system_.pairs)


def test_cells_of_pairs_come_back_from_plain_data(paired):
    clf, X = paired
    short = clf.shorten(6)
    copy = from_dict(json.loads(json.dumps(to_dict(short))))
    assert_array_equal(copy.decision_function(X), short.decision_function(X))
    assert str(copy.rules_) == str(short.rules_)
