import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mltsk.baselines.c2ae import (
    C2AE,
    AuthorsOptimiser,
    decoded,
    embedding_loss,
    output_weight,
    ranking_loss,
    starting_layers,
    wrapped_batches,
)
from mltsk.metrics import evaluate

torch = pytest.importorskip("torch")
SMALL = C2AE(hidden=16, batch_size=20, epochs=4)


def toy(n=80, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_embedding_loss_of_the_worked_example():
    F_x, F_e = tensor([[0.1, -0.2], [0.3, 0.0]]), tensor([[0.2, -0.1], [0.1, 0.1]])
    phi = embedding_loss(F_x, F_e)
    assert_allclose(phi.item(), 1.86775, atol=5e-6)
    assert_allclose(torch.autograd.grad(phi, F_x)[0].numpy(), [[-0.372, 0.18], [-0.14, -0.212]], atol=5e-7)


def test_ranking_loss_of_the_worked_example():
    o, y = tensor([[0.8, 0.3, 0.6]]), torch.tensor([[1.0, 0.0, 1.0]], dtype=torch.float64)
    gamma = ranking_loss(o, y, torch.tensor([0.5]))
    assert_allclose(5 * gamma.item(), 0.15260758, atol=5e-9)
    assert_allclose(torch.autograd.grad(gamma, o)[0].numpy(), [[-0.041042, 0.152608, -0.111565]], atol=5e-7)


def test_alpha_multiplies_in_the_paper_and_divides_in_the_program():
    X, Y = toy()
    paper = clone(SMALL).set_params(alpha=0.5, alpha_meaning="multiply").fit(X, Y)
    program = clone(SMALL).set_params(alpha=2.0, alpha_meaning="divide").fit(X, Y)
    assert_array_equal(paper.decision_function(X), program.decision_function(X))
    assert output_weight(4.0, "divide") == 0.25


def test_two_steps_of_the_authors_optimiser_by_hand():
    theta = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)
    optimiser = AuthorsOptimiser([theta])
    optimiser.step([torch.tensor([2.0, -3.0, 0.0], dtype=torch.float64)], rate=0.1)
    assert_allclose(theta.numpy(), [0.9, 1.1, 1.0])  # r = |g| at first: every step has the same length
    optimiser.step([torch.tensor([1.0, -3.0, 0.0], dtype=torch.float64)], rate=0.1)
    assert_allclose(theta.numpy(), [0.9 - 0.099 - 0.1 / np.sqrt(3.7), 1.1 + 0.099 + 0.1, 1.0])


def test_the_last_batch_is_filled_from_the_start():
    assert [len(piece) for piece in wrapped_batches(np.arange(7), 3)] == [3, 3, 3]
    assert wrapped_batches(np.arange(3), 7)[0].tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_first_weights_follow_the_authors():
    (leaky, bias), (latent, zero) = starting_layers(np.random.RandomState(0), [9, 40, 5])
    assert 0.009 < np.abs(leaky).max() <= 0.01
    assert 0 <= bias.min() < bias.max() <= 0.1
    assert 1 < np.abs(latent).max() <= 4 * np.sqrt(6 / 45)
    assert not zero.any()


def test_output_loss_does_not_reach_the_feature_net():
    X, Y = toy()
    one, ten = (SMALL._trainer(X, Y, np.ones(80), np.random.RandomState(0), "cpu") for _ in range(2))
    ten.model = clone(SMALL).set_params(alpha=10.0)
    pairs = [(a, b) for a, b in zip(one._gradients(np.arange(20)), ten._gradients(np.arange(20)), strict=True)]
    assert all(torch.equal(a, b) for a, b in pairs[:6])  # three layers of the feature net
    assert not any(torch.equal(a, b) for a, b in pairs[6:])


def test_small_data_gets_enough_steps_and_a_number_is_obeyed():
    assert C2AE()._epoch_count(400) == 400
    assert C2AE()._epoch_count(4800) == 50
    assert C2AE(epochs=50)._epoch_count(400) == 50
    assert C2AE(validation_fraction=0.5)._epoch_count(2000) == 200


def test_grid_equals_one_fit_after_another():
    X, Y = toy()
    for point in SMALL.grid_path(X, Y, X[:9], {"alpha": [0.1, 10.0], "epochs": [1, 3]}):
        alone = clone(SMALL).set_params(**point.params).fit(X, Y)
        assert_allclose(point.scores, alone.decision_function(X[:9]) + 0.5, atol=1e-15)
        assert_array_equal(point.labels, alone.predict(X[:9]))


def test_paper_grid_is_eleven_alphas():
    X, Y = toy(30)
    points = list(SMALL.grid_path(X, Y, X))
    assert [point.params["alpha"] for point in points] == [0.1, 0.3, 0.5, 0.7, 0.9, 1, 3, 5, 7, 9, 10]
    assert np.abs(points[0].scores - points[-1].scores).max() > 1e-6


def test_held_out_rows_pick_the_best_epoch():
    X, Y = toy(200)
    model = clone(SMALL).set_params(validation_fraction=0.2, epochs=30).fit(X, Y)
    assert 1 <= model.best_epoch_ <= model.n_iter_ == 30
    shorter = clone(model).set_params(epochs=model.best_epoch_).fit(X, Y)
    assert_array_equal(model.decision_function(X), shorter.decision_function(X))


def test_it_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_sparse_and_dense_rows_train_the_same_net():
    X, Y = toy()
    X[X < 0.5] = 0
    dense, thin = (clone(SMALL).fit(rows, Y).decision_function(rows) for rows in (X, sparse.csr_array(X)))
    assert_allclose(thin, dense, atol=1e-7)


def test_weights_count_rows():
    X, Y = toy(20)
    model = clone(SMALL).set_params(batch_size=20, epochs=1)
    w = np.where(np.arange(20) < 10, 2.0, 0.0)
    trainer = model._trainer(
        np.vstack([X[:10]] * 2), np.vstack([Y[:10]] * 2), np.ones(20), np.random.RandomState(0), "cpu"
    )
    other = model._trainer(X[:10], Y[:10], w[:10], np.random.RandomState(0), "cpu")
    for a, b in zip(trainer._gradients(np.arange(20)), other._gradients(np.arange(10)), strict=True):
        assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)


def test_scores_are_the_decoder_of_the_features():
    X, Y = toy()
    model = clone(SMALL).fit(X, Y)
    scores = decoded(X, model.feature_net_, model.decoder_net_)
    assert_allclose(model.decision_function(X), scores - 0.5)
    assert_array_equal(model.predict(X), scores >= 0.5)


def test_constant_labels_one_label_and_many_classes():
    X, Y = toy(200)
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3)
    assert clone(model).fit(X, Y[:, 0]).score(X, Y[:, 0]) > 0.9
    assert clone(model).fit(X, X[:, :3].argmax(axis=1)).score(X, X[:, :3].argmax(axis=1)) > 0.85
    Y[:, 0], Y[:, 1] = 0, 1
    scores = clone(model).fit(X, Y).decision_function(X)
    assert (scores[:, 1] > scores[:, 0]).all()


def test_same_seed_same_model_and_pickle_keeps_it():
    X, Y = toy()
    model = clone(SMALL).set_params(random_state=4).fit(X, Y)
    again, other = (clone(SMALL).set_params(random_state=s).fit(X, Y).decision_function(X) for s in (4, 5))
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), again)
    assert np.abs(again - other).max() > 1e-6
