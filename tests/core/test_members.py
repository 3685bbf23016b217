import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.core.members import Members

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(40, 3)), 1)
X[RNG.random(X.shape) < 0.2] = np.nan
X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, X[:, 2] > 0)  # stands for a word
M, Y = RNG.random((40, 4)) * [1.0, 0.9, 0.52, 0.3], (RNG.random((40, 2)) < 0.4).astype(float)
W = RNG.integers(0, 2, (40, 2)).astype(float)


@pytest.mark.parametrize("w", [np.ones(40), W[:, 0], W])
@pytest.mark.parametrize("shared", [False, True])
def test_counts_are_those_of_a_loop_over_the_samples(w, shared):
    found = Members.of(X, M, Y, w, shared=shared, indicators=np.array([False, False, True]))
    seen = np.broadcast_to(w.reshape(40, -1) > 0, (40, 2))
    rows = [i for i in range(40) if seen[i].any()]
    for k in range(5):
        inside = [i for i in rows if k == 4 or (M[i, k] == M[i].max() if shared else M[i, k] >= 0.5)]
        if len(inside) < 5:
            inside = sorted(rows, key=lambda i: -M[i, k])[:5]
        assert found.count[k] == len(inside)
        for label in range(2):
            observed = [i for i in inside if seen[i, label]]
            assert found.observed[k, label] == len(observed)
            assert found.positives[k, label] == sum(Y[i, label] for i in observed)
        for d in range(2):
            values = np.sort([X[i, d] for i in inside if X[i, d] == X[i, d]])
            low, high = found.regions[k, d]
            assert {low, high} <= set(values)
            assert np.mean((values >= low) & (values <= high)) >= 0.8
            assert max((values < low).mean(), (values > high).mean()) <= 0.1
        words = [X[i, 2] for i in inside if X[i, 2] == X[i, 2]]
        assert found.regions[k, 2].tolist() == [sum(words), len(words)]


def test_what_no_member_has_has_no_region_and_sparse_samples_have_none():
    gone = np.full((6, 1), np.nan)
    assert np.isnan(Members.of(gone, np.eye(6), np.ones((6, 1)), np.ones(6), shared=False).regions).all()
    found = Members.of(sparse.csr_array(np.eye(6)), np.ones((6, 0)), np.eye(6), np.ones(6), shared=True)
    assert found.regions is None
    assert_array_equal(found.positives, np.ones((1, 6)))
