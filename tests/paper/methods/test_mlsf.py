"""MLSF: worked numbers, independent solvers, the grid in one pass, and where the published grid is degenerate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.linear_model import Lasso, LogisticRegression

from mltsk.paper.methods.mlsf import (
    MLSF,
    Learner,
    fit_sigmoid,
    label_affinities,
    label_set_rank,
    lasso,
    meta_labels,
)

X = np.array([[0, 1], [1, 1], [1, 0], [2, 1]], dtype=float)
Y = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]], dtype=float)


def some_data(n=80, n_features=10, n_labels=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    return X, (X[:, :n_labels] + 0.2 * rng.normal(size=(n, n_labels)) > 0.6).astype(int)


def selected(X, z, gamma, tol=1e-9):
    learner = Learner(X, np.ones((len(X), 1)), np.ones(len(X)), 0)
    return lasso(learner.design.with_targets(z), gamma, tol)


def test_worked_target_and_selected_features():
    z = label_set_rank(Y)
    assert_allclose(z, [0, 2 / 3, 1, 1 / 3])
    assert_allclose(
        selected(X, z[:, None], 0.1)[:, 0], [0.377778, -0.011111], atol=6e-7
    )


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
def test_lasso_agrees_with_coordinate_descent(gamma):
    A, labels = some_data()
    z = label_set_rank(labels[:, :3])
    other = (
        Lasso(gamma / len(A), fit_intercept=False, tol=1e-12, max_iter=100_000)
        .fit(A, z)
        .coef_
    )
    ours = selected(A, z[:, None], gamma)[:, 0]
    assert_allclose(ours, other, atol=1e-6)
    assert_array_equal(ours != 0, other != 0)


def test_sigmoid_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=200)
    y = (rng.random(200) < expit(2 * margin - 1)).astype(float)
    n = y.sum()
    target = np.where(y > 0, (n + 1) / (n + 2), 1 / (200 - n + 2))
    twice = np.repeat(
        [1, 0], 200
    )  # a share of a positive and of a negative stands for a smoothed target
    other = LogisticRegression(C=np.inf, tol=1e-10).fit(
        np.tile(margin, 2)[:, None], twice, sample_weight=np.append(target, 1 - target)
    )
    assert_allclose(
        fit_sigmoid(margin, y, np.ones(200)),
        [other.coef_[0, 0], other.intercept_[0]],
        rtol=1e-5,
    )


def test_sigmoid_of_separated_and_of_equal_margins():
    y = np.array([0.0, 0, 1, 1])
    slope, offset = fit_sigmoid(np.array([-50.0, -40, 60, 70]), y, np.ones(4))
    assert np.isfinite([slope, offset]).all()
    assert slope > 0
    slope, offset = fit_sigmoid(np.zeros(4), y, np.ones(4))
    assert_allclose(expit(offset), 0.5)


def test_chain_uses_true_labels_in_training_and_its_own_in_prediction():
    A, labels = some_data()
    labels[:, 1] = labels[
        :, 0
    ]  # the later of the two in the chain only has to copy the earlier
    model = MLSF(size=6).fit(A, labels)
    first, second = sorted([0, 1], key=list(model.order_).index)
    assert model.label_coef_[first, second] > 1
    assert model.label_coef_[second, first] == 0
    assert_array_equal(model.predict(A)[:, 0], model.predict(A)[:, 1])


def test_grid_fits_no_chain_twice(monkeypatch):
    A, labels = some_data(n_labels=4)
    made = []
    fit_chain = Learner.fit_chain

    def counted(self, group, support, *options):
        made.append((group, support))
        return fit_chain(self, group, support, *options)

    monkeypatch.setattr(Learner, "fit_chain", counted)
    points = list(MLSF().grid_path(A, labels, A[:2]))
    assert len(points) == 81
    assert len(made) == len(set(made)) < 40


def test_scores_of_single_label_groups_are_not_tied():
    A, labels = some_data()
    scores = MLSF(size=1, gamma=0.1).fit(A, labels)._scores(A)
    assert (np.ptp(scores, axis=0) > 0.3).all()


def test_no_feature_selected_gives_shares_of_labels():
    A, labels = some_data()
    model = MLSF(gamma=1e6).fit(A, labels)
    assert not model.selected_.any()
    assert_allclose(model._scores(A), np.tile(labels.mean(axis=0), (80, 1)))


def test_constant_labels_and_rows_with_none_or_all():
    A, labels = some_data()
    labels[:, 2], labels[:, 4] = 0, 1
    labels[0, [0, 1, 3, 5]], labels[1, [0, 1, 3, 5]] = 0, 1
    scores = MLSF(size=3).fit(A, labels)._scores(A)
    assert (scores[:, 2] == 0).all()
    assert (scores[:, 4] == 1).all()
    assert np.isfinite(MLSF().fit(A, np.zeros_like(labels)).decision_function(A)).all()


def test_a_weight_of_two_is_two_rows_and_zero_is_none():
    A, labels = some_data()
    w = np.random.default_rng(2).integers(0, 3, 80)
    repeated = MLSF(size=3, tol=1e-10).fit(
        np.repeat(A, w, axis=0), np.repeat(labels, w, axis=0)
    )
    weighted = MLSF(size=3, tol=1e-10).fit(A, labels, sample_weight=w)
    assert_array_equal(weighted.groups_, repeated.groups_)
    assert_allclose(weighted._scores(A), repeated._scores(A), atol=1e-5)


def test_probabilities_are_the_scores():
    A, labels = some_data()
    model = MLSF(size=3).fit(A, labels)
    assert_array_equal(model.predict_proba(A) >= 0.5, model.predict(A) == 1)
    assert_allclose(
        model.predict_proba(A), model.decision_function(A) + 0.5, atol=1e-12
    )


def test_worked_affinity():
    jaccard, near = label_affinities(X, Y, np.ones(4))
    upper = np.triu_indices(3, 1)
    assert_allclose(jaccard[upper], [1 / 3, 0.25, 0.25])
    assert_allclose(near[upper], [0.606531, 0.407576, 0.427485], atol=5e-7)
    assert_allclose(
        (0.5 * jaccard + 0.5 * near)[upper], [0.469932, 0.328788, 0.338742], atol=5e-7
    )


def test_rank_of_label_sets_beyond_any_integer():
    wide = np.zeros((3, 90))
    wide[0, 89], wide[1, 0], wide[2, [0, 89]] = (
        1,
        1,
        1,
    )  # 2^89, 1, 2^89 + 1: equal as floats but for the second
    assert_allclose(label_set_rank(wide), [0.5, 0, 1])
    assert_array_equal(label_set_rank(np.ones((3, 1))), 0)


def test_groups_are_the_blocks_of_the_affinity():
    A = (
        np.kron(np.ones((3, 3)), np.eye(3)) * 0.8 + 0.05
    )  # labels i and j belong together where i = j modulo 3
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
