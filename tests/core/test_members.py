"""The members of a rule, counted, and where they lie."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.core.members import Members

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(40, 3)), 1)
X[RNG.random(X.shape) < 0.2] = np.nan
X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, X[:, 2] > 0)  # stands for a word
M = RNG.random((40, 4)) * [1.0, 0.9, 0.52, 0.3]
Y = (RNG.random((40, 2)) < 0.4).astype(float)
W = RNG.integers(0, 2, (40, 2)).astype(float)


def members_by_a_loop(k, rows, shared):
    """Rows that are members of rule k; rule 4 is all samples."""
    if k == 4:
        return rows
    if shared:
        inside = [i for i in rows if M[i, k] == M[i].max()]
    else:
        inside = [i for i in rows if M[i, k] >= 0.5]
    if len(inside) < 5:
        inside = sorted(rows, key=lambda i: -M[i, k])[:5]
    return inside


@pytest.mark.parametrize("w", [np.ones(40), W[:, 0], W])
@pytest.mark.parametrize("shared", [False, True])
def test_members_are_those_of_a_loop_over_the_samples(w, shared):
    words = np.array([False, False, True])
    members = Members.of(X, M, Y, w, shared=shared, indicators=words)
    seen = np.broadcast_to(w.reshape(40, -1) > 0, (40, 2))
    rows = [i for i in range(40) if seen[i].any()]
    counted = w.reshape(40, -1).mean(axis=1)
    for k in range(5):
        inside = members_by_a_loop(k, rows, shared)
        assert members.count[k] == len(inside)
        for label in range(2):
            observed = [i for i in inside if seen[i, label]]
            assert members.observed[k, label] == len(observed)
            assert members.positives[k, label] == sum(Y[i, label] for i in observed)
        for d in range(2):
            low, high = members.regions[k, d]
            measured = [i for i in inside if X[i, d] == X[i, d]]
            assert {low, high} <= set(X[measured, d])
            total = counted[measured].sum()
            below = sum(counted[i] for i in measured if X[i, d] < low)
            above = sum(counted[i] for i in measured if X[i, d] > high)
            assert max(below, above) <= 0.1 * total
        answers = [X[i, 2] for i in inside if X[i, 2] == X[i, 2]]
        assert members.regions[k, 2].tolist() == [sum(answers), len(answers)]


def test_members_of_copies_in_groups_lie_where_those_of_weights_do():
    w = np.random.default_rng(1).integers(1, 4, 40)
    copies = np.repeat(np.arange(40), w)
    weighted = Members.of(X, M, Y, w.astype(float), shared=False)
    one_each = np.ones(len(copies))
    copied = Members.of(
        X[copies], M[copies], Y[copies], one_each, shared=False, groups=copies
    )
    assert_array_equal(copied.regions, weighted.regions)


def test_members_without_a_measured_value_have_no_region():
    gaps = np.full((6, 1), np.nan)
    members = Members.of(gaps, np.eye(6), np.ones((6, 1)), np.ones(6), shared=False)
    assert np.isnan(members.regions).all()


def test_members_of_sparse_samples_have_no_regions():
    X = sparse.csr_array(np.eye(6))
    members = Members.of(X, np.ones((6, 0)), np.eye(6), np.ones(6), shared=True)
    assert members.regions is None
    assert_array_equal(members.positives, np.ones((1, 6)))


def test_members_count_the_samples_for_which_a_rule_of_the_user_holds():
    holds = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])[:, None]
    Y = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])[:, None]
    w = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])  # the fourth does not count
    members = Members.of(holds, np.ones((6, 0)), Y, w, shared=False, n_given=1)
    assert_array_equal(members.given, [[[1], [2]]])  # positives, observed
