"""JBNN: gradients, the prior on label relations, Adam, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.metrics import evaluate
from mltsk.paper.methods.jbnn import JBNN, Adam, backward

torch = pytest.importorskip("torch")


def toy(n=80, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def empty_layers(*shapes):
    return [torch.empty(shape, dtype=torch.float64) for shape in shapes]


def test_backward_is_the_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(4, 3)))
    Y = torch.tensor((rng.normal(size=(4, 2)) > 0).astype(float))
    V = torch.tensor(rng.normal(size=(3, 5)), requires_grad=True)
    W = torch.tensor(rng.normal(size=(6, 2)), requires_grad=True)
    share = torch.tensor([[1.0], [2.0], [0.5], [0.0]], dtype=torch.float64)
    hidden = torch.cat([(x @ V).tanh(), torch.ones(4, 1)], dim=1)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        hidden @ W, Y, reduction="none"
    )
    expected = torch.autograd.grad((loss * share).sum(), (V, W))
    gradients = empty_layers((3, 5), (6, 2))
    backward(x, Y, share, (V.detach(), W.detach()), into=gradients)
    assert torch.allclose(gradients[0], expected[0])
    assert torch.allclose(gradients[1], expected[1])


def test_backward_adds_the_gradient_of_the_prior():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 3))
    V = rng.normal(size=(3, 5))
    W = rng.normal(size=(6, 4))
    Y = (rng.random((9, 4)) < 0.5).astype(float)
    share = np.full((9, 1), 1 / 9)
    kappa = 0.3
    omega = np.sign(np.corrcoef(Y.T))

    def loss(layers):
        V, W = layers
        z = np.column_stack([np.tanh(x @ V), np.ones(9)]) @ W
        prior = 0.0
        for s, t in np.ndindex(4, 4):
            prior += omega[s, t] * np.sum((W[:-1, s] - W[:-1, t]) ** 2) / 2
        return np.sum(share * (np.logaddexp(0, z) - z * Y)) + kappa * prior

    pull = 2 * kappa * (np.diag(omega.sum(axis=1)) - omega)
    gradients = empty_layers((3, 5), (6, 4))
    rows = [torch.tensor(array) for array in (x, Y, share)]
    layers = [torch.tensor(V), torch.tensor(W)]
    backward(*rows, layers, into=gradients, pull=torch.tensor(pull))
    for i, layer in enumerate((V, W)):
        for place in np.ndindex(layer.shape):
            above = [V.copy(), W.copy()]
            above[i][place] += 1e-6
            below = [V.copy(), W.copy()]
            below[i][place] -= 1e-6
            slope = (loss(above) - loss(below)) / 2e-6
            assert float(gradients[i][place]) == pytest.approx(slope, abs=1e-7)


def test_fit_with_a_prior_draws_correlated_labels_together():
    X, Y = toy(200)
    Y[:, 1] = np.where(np.arange(200) % 10 == 0, 1 - Y[:, 0], Y[:, 0])

    def distance(prior_weight):
        model = JBNN(epochs=20, hidden=6, prior_weight=prior_weight).fit(X, Y)
        W = model.coefs_[1]
        return np.linalg.norm(W[:, 0] - W[:, 1]) / np.linalg.norm(W[:, :2])

    assert distance(prior_weight=0.01) < distance(prior_weight=0.0)


def test_adam_agrees_with_torch():
    ours = torch.ones(3)
    theirs = torch.ones(3, requires_grad=True)
    adam = Adam(ours, 0.01)
    oracle = torch.optim.Adam([theirs], lr=0.01)
    for step in range(5):
        theirs.grad = torch.tensor([1.0, -2.0, 0.1 * step])
        adam.step(theirs.grad.clone())
        oracle.step()
    assert torch.allclose(ours, theirs.detach())


def test_grid_path_of_ten_epoch_counts_is_one_run():
    X, Y = toy(30)
    done = []
    points = list(JBNN(progress=lambda *step: done.append(step)).grid_path(X, Y, X))
    assert [point.params["epochs"] for point in points] == list(range(10, 101, 10))
    assert len(done) == 100


def test_fit_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5] = 0
    Y[5:9] = 1
    model = JBNN(hidden=6, learning_rate=0.01).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_predict_proba_is_that_of_the_logistic_units():
    X, Y = toy()
    model = JBNN(epochs=5).fit(X, Y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    assert_allclose(model.predict_proba(X), expected)


def test_predict_proba_of_classes_sums_to_one():
    X, _ = toy()
    model = JBNN(epochs=5).fit(X, X[:, :3].argmax(axis=1))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_fit_scales_rows_by_their_weights_and_leaves_zero_out():
    X, Y = toy()
    w = np.where(np.arange(80) % 4 == 0, 0.0, 3.0)
    weighted = JBNN(epochs=3).fit(X, Y, w).decision_function(X)
    left_out = JBNN(epochs=3).fit(X[w > 0], Y[w > 0]).decision_function(X)
    assert_allclose(weighted, left_out)
    w[1] = 30
    other = JBNN(epochs=3).fit(X, Y, w).decision_function(X)
    assert np.abs(other - weighted).max() > 1e-4
