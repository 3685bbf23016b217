"""Folds of the three protocols, and scaling that keeps sparse features sparse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.paper.experiments.protocols import inner_fold, minmax, outer_fold, sliced_folds


def labels(n=40):
    return (np.random.default_rng(0).random((n, 3)) < 0.4).astype(int)


def test_slices_are_the_authors():
    sizes = [len(test) for _, test in sliced_folds(502, 5)]
    assert sizes == [101, 101, 101, 101, 98]
    assert sorted(np.concatenate([test for _, test in sliced_folds(502, 5)])) == list(range(502))


def test_too_many_slices_are_refused():
    with pytest.raises(InputError, match="take fewer folds"):
        sliced_folds(6, 5)


@pytest.mark.parametrize("protocol", ["paper", "strict", "nested"])
def test_training_and_test_rows_are_all_rows_once(protocol):
    for fold in range(4):
        train, test = outer_fold(protocol, labels(), 4, 0, fold)
        assert sorted([*train, *test]) == list(range(40))


def test_inner_folds_stay_inside_the_training_rows():
    outer = outer_fold("nested", labels(), 4, 0, 1)
    parts = [inner_fold(labels(), outer, 3, 0, i) for i in range(3)]
    assert sorted(np.concatenate([check for _, check in parts])) == sorted(outer[0])
    assert all(not set(fit) & set(check) and not set(fit) & set(outer[1]) for fit, check in parts)


def test_seeds_give_other_folds_and_the_same_seed_the_same():
    first, again, other = (outer_fold("strict", labels(), 4, seed, 0)[1].tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_sparse_and_dense_features_are_scaled_alike():
    X = sparse.random_array((30, 5), density=0.3, rng=np.random.default_rng(0), format="csr") * 7
    scaled = minmax(X, X[:20])
    assert sparse.issparse(scaled)
    assert_allclose(scaled.toarray(), minmax(X.toarray(), X.toarray()[:20]))


def test_sparse_features_that_cannot_stay_sparse_are_refused():
    with pytest.raises(InputError, match="stay sparse"):
        minmax(sparse.csr_array([[-1.0], [0.0]]), sparse.csr_array([[-1.0], [0.0]]))
