"""MLSF: worked numbers, independent solvers, and where its grid is degenerate."""

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


def make_data(n=80, n_features=10, n_labels=6, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.random((n, n_features))
    noise = 0.2 * rng.normal(size=(n, n_labels))
    return features, (features[:, :n_labels] + noise > 0.6).astype(int)


def scores(model, X):
    return model.decision_function(X) + 0.5


def selected(X, z, gamma):
    """The LASSO of targets z (N,) on the rows X."""
    learner = Learner(X, np.ones((len(X), 1)), np.ones(len(X)), 0)
    return lasso(learner.design.with_targets(z[:, None]), gamma, 1e-9)[:, 0]


def test_lasso_of_the_worked_label_set_rank():
    z = label_set_rank(Y)
    assert_allclose(z, [0, 2 / 3, 1, 1 / 3])
    assert_allclose(selected(X, z, 0.1), [0.377778, -0.011111], atol=6e-7)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
def test_lasso_agrees_with_coordinate_descent(gamma):
    A, labels = make_data()
    z = label_set_rank(labels[:, :3])
    descent = Lasso(gamma / len(A), fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected = descent.fit(A, z).coef_
    ours = selected(A, z, gamma)
    assert_allclose(ours, expected, atol=1e-6)
    assert_array_equal(ours != 0, expected != 0)


def test_fit_sigmoid_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=200)
    y = (rng.random(200) < expit(2 * margin - 1)).astype(float)
    n = y.sum()
    target = np.where(y > 0, (n + 1) / (n + 2), 1 / (200 - n + 2))
    # A share of a positive and of a negative row stands for a smoothed target.
    regression = LogisticRegression(C=np.inf, tol=1e-10).fit(
        np.tile(margin, 2)[:, None],
        np.repeat([1, 0], 200),
        sample_weight=np.append(target, 1 - target),
    )
    expected = [regression.coef_[0, 0], regression.intercept_[0]]
    assert_allclose(fit_sigmoid(margin, y, np.ones(200)), expected, rtol=1e-5)


def test_fit_sigmoid_of_separated_and_of_equal_margins_is_finite():
    y = np.array([0.0, 0, 1, 1])
    slope, offset = fit_sigmoid(np.array([-50.0, -40, 60, 70]), y, np.ones(4))
    assert np.isfinite([slope, offset]).all()
    assert slope > 0
    _, offset = fit_sigmoid(np.zeros(4), y, np.ones(4))
    assert_allclose(expit(offset), 0.5)


def test_predict_uses_the_labels_that_the_chain_itself_predicted():
    A, labels = make_data()
    # The later of the two in the chain only has to copy the earlier.
    labels[:, 1] = labels[:, 0]
    model = MLSF(size=6).fit(A, labels)
    first, second = sorted([0, 1], key=list(model.order_).index)
    assert model.label_coef_[first, second] > 1
    assert model.label_coef_[second, first] == 0
    assert_array_equal(model.predict(A)[:, 0], model.predict(A)[:, 1])


def test_grid_path_fits_no_chain_twice(monkeypatch):
    A, labels = make_data(n_labels=4)
    made = []
    fit_chain = Learner.fit_chain

    def counted(self, group, support, *options):
        made.append((group, support))
        return fit_chain(self, group, support, *options)

    monkeypatch.setattr(Learner, "fit_chain", counted)
    points = list(MLSF().grid_path(A, labels, A[:2]))
    assert len(points) == 81
    assert len(made) == len(set(made)) < 40


def test_decision_function_of_single_label_groups_has_no_ties():
    A, labels = make_data()
    model = MLSF(size=1, gamma=0.1).fit(A, labels)
    assert (np.ptp(model.decision_function(A), axis=0) > 0.3).all()


def test_decision_function_without_a_selected_feature_is_the_share_of_a_label():
    A, labels = make_data()
    model = MLSF(gamma=1e6).fit(A, labels)
    assert not model.selected_.any()
    assert_allclose(scores(model, A), np.tile(labels.mean(axis=0), (80, 1)))


def test_fit_knows_constant_labels_and_rows_with_none_or_all():
    A, labels = make_data()
    labels[:, 2] = 0
    labels[:, 4] = 1
    labels[0, [0, 1, 3, 5]] = 0
    labels[1, [0, 1, 3, 5]] = 1
    constant = scores(MLSF(size=3).fit(A, labels), A)
    assert (constant[:, 2] == 0).all()
    assert (constant[:, 4] == 1).all()
    no_labels = MLSF().fit(A, np.zeros_like(labels))
    assert np.isfinite(no_labels.decision_function(A)).all()


def test_fit_takes_a_weight_of_two_for_two_rows_and_zero_for_none():
    A, labels = make_data()
    w = np.random.default_rng(2).integers(0, 3, 80)
    A_copies = np.repeat(A, w, axis=0)
    label_copies = np.repeat(labels, w, axis=0)
    repeated = MLSF(size=3, tol=1e-10).fit(A_copies, label_copies)
    weighted = MLSF(size=3, tol=1e-10).fit(A, labels, sample_weight=w)
    assert_array_equal(weighted.groups_, repeated.groups_)
    assert_allclose(scores(weighted, A), scores(repeated, A), atol=1e-5)


def test_predict_proba_is_the_score():
    A, labels = make_data()
    model = MLSF(size=3).fit(A, labels)
    assert_array_equal(model.predict_proba(A) >= 0.5, model.predict(A) == 1)
    assert_allclose(model.predict_proba(A), scores(model, A), atol=1e-12)


def test_label_affinities_of_the_worked_example():
    jaccard, near = label_affinities(X, Y, np.ones(4))
    upper = np.triu_indices(3, 1)
    assert_allclose(jaccard[upper], [1 / 3, 0.25, 0.25])
    assert_allclose(near[upper], [0.606531, 0.407576, 0.427485], atol=5e-7)
    mixed = 0.5 * jaccard + 0.5 * near
    assert_allclose(mixed[upper], [0.469932, 0.328788, 0.338742], atol=5e-7)


def test_label_set_rank_of_sets_beyond_any_integer():
    wide = np.zeros((3, 90))
    wide[0, 89] = 1  # 2^89
    wide[1, 0] = 1  # 1
    wide[2, [0, 89]] = 1  # 2^89 + 1, which as a float equals the first
    assert_allclose(label_set_rank(wide), [0.5, 0, 1])
    assert_array_equal(label_set_rank(np.ones((3, 1))), 0)


def test_meta_labels_are_the_blocks_of_the_affinity():
    # Labels i and j belong together where i = j modulo 3.
    A = np.kron(np.ones((3, 3)), np.eye(3)) * 0.8 + 0.05
    np.fill_diagonal(A, 0)
    groups = meta_labels(A, epsilon=0.1, size=3, seed=0)
    assert groups == ((0, 3, 6), (1, 4, 7), (2, 5, 8))


@pytest.mark.parametrize(
    ("size", "groups"),
    [
        (1, ((0,), (1,), (2,), (3,))),
        (4, ((0, 1, 2, 3),)),
        (10, ((0, 1, 2, 3),)),
    ],
)
def test_meta_labels_may_be_single_labels_or_one_group(size, groups):
    A = np.full((4, 4), 0.5) - 0.5 * np.eye(4)
    assert meta_labels(A, epsilon=0.1, size=size, seed=0) == groups


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_meta_labels_go_in_order_where_no_affinity_is_left(epsilon):
    A = np.full((5, 5), 0.5) - 0.5 * np.eye(5)
    groups = meta_labels(A, epsilon=epsilon, size=2, seed=0)
    assert groups == ((0, 1), (2, 3), (4,))


def test_meta_labels_group_labels_without_a_relation_apart_from_others():
    A = np.zeros((6, 6))
    A[0, 1] = A[1, 0] = A[2, 3] = A[3, 2] = 0.7
    groups = meta_labels(A, epsilon=0.1, size=2, seed=0)
    assert groups == ((0, 1), (2, 3), (4, 5))
