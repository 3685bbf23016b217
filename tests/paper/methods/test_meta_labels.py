"""Affinities of labels, groups of labels, ranks of label sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.paper.methods.meta_labels import label_affinities, label_set_rank, meta_labels

X = np.array([[0, 1], [1, 1], [1, 0], [2, 1]], dtype=float)
Y = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]], dtype=float)


def test_worked_affinity():
    jaccard, near = label_affinities(X, Y, np.ones(4))
    upper = np.triu_indices(3, 1)
    assert_allclose(jaccard[upper], [1 / 3, 0.25, 0.25])
    assert_allclose(near[upper], [0.606531, 0.407576, 0.427485], atol=5e-7)
    assert_allclose((0.5 * jaccard + 0.5 * near)[upper], [0.469932, 0.328788, 0.338742], atol=5e-7)


def test_rank_of_label_sets_beyond_any_integer():
    wide = np.zeros((3, 90))
    wide[0, 89], wide[1, 0], wide[2, [0, 89]] = 1, 1, 1  # 2^89, 1, 2^89 + 1: equal as floats but for the second
    assert_allclose(label_set_rank(wide), [0.5, 0, 1])
    assert_array_equal(label_set_rank(np.ones((3, 1))), 0)


def test_groups_are_the_blocks_of_the_affinity():
    A = np.kron(np.ones((3, 3)), np.eye(3)) * 0.8 + 0.05  # labels i and j belong together where i = j modulo 3
    np.fill_diagonal(A, 0)
    assert meta_labels(A, 0.1, 3, 0) == ((0, 3, 6), (1, 4, 7), (2, 5, 8))


def test_one_group_and_single_labels():
    A = np.full((4, 4), 0.5) - 0.5 * np.eye(4)
    assert meta_labels(A, 0.1, 4, 0) == meta_labels(A, 0.1, 10, 0) == ((0, 1, 2, 3),)
    assert meta_labels(A, 0.1, 1, 0) == ((0,), (1,), (2,), (3,))


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_groups_in_order_where_no_affinity_is_left(epsilon):
    A = np.full((5, 5), 0.5) - 0.5 * np.eye(5)
    assert meta_labels(A, epsilon, 2, 0) == ((0, 1), (2, 3), (4,))


def test_labels_without_a_relation_are_grouped_apart_from_others():
    A = np.zeros((6, 6))
    A[0, 1] = A[1, 0] = A[2, 3] = A[3, 2] = 0.7
    assert meta_labels(A, 0.1, 2, 0) == ((0, 1), (2, 3), (4, 5))
