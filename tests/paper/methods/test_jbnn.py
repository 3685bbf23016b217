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


def test_backward_is_the_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=shape) for shape in ((4, 3), (4, 2), (3, 5), (6, 2))]
    x, Y, V, W = (torch.tensor(part) for part in parts)
    Y, share = (
        (Y > 0).double(),
        torch.tensor([[1.0], [2.0], [0.5], [0.0]], dtype=torch.float64),
    )
    V.requires_grad_(), W.requires_grad_()
    hidden = torch.cat([(x @ V).tanh(), torch.ones(4, 1)], dim=1)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        hidden @ W, Y, reduction="none"
    )
    expected = torch.autograd.grad((loss * share).sum(), (V, W))
    found = (
        torch.empty(3, 5, dtype=torch.float64),
        torch.empty(6, 2, dtype=torch.float64),
    )
    backward(x, Y, share, (V.detach(), W.detach()), found)
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))


def test_the_prior_adds_its_gradient_by_finite_differences():
    rng = np.random.default_rng(0)
    x, V, W = rng.normal(size=(9, 3)), rng.normal(size=(3, 5)), rng.normal(size=(6, 4))
    Y, share, kappa = (
        (rng.random((9, 4)) < 0.5).astype(float),
        np.full((9, 1), 1 / 9),
        0.3,
    )
    omega = np.sign(np.corrcoef(Y.T))

    def loss(V, W):
        z = np.column_stack([np.tanh(x @ V), np.ones(9)]) @ W
        pairs = sum(
            omega[s, t] * np.sum((W[:-1, s] - W[:-1, t]) ** 2) / 2
            for s in range(4)
            for t in range(4)
        )
        return np.sum(share * (np.logaddexp(0, z) - z * Y)) + kappa * pairs

    found = (
        torch.empty(3, 5, dtype=torch.float64),
        torch.empty(6, 4, dtype=torch.float64),
    )
    pull = 2 * kappa * (np.diag(omega.sum(axis=1)) - omega)
    rows = [torch.tensor(array) for array in (x, Y, share)]
    layers = [torch.tensor(V), torch.tensor(W)]
    backward(*rows, layers, into=found, pull=torch.tensor(pull))
    for i, part in enumerate((V, W)):
        for place in np.ndindex(part.shape):
            ends = [[V.copy(), W.copy()] for _ in range(2)]
            ends[0][i][place] += 1e-6
            ends[1][i][place] -= 1e-6
            assert float(found[i][place]) == pytest.approx(
                (loss(*ends[0]) - loss(*ends[1])) / 2e-6, abs=1e-7
            )


def test_the_prior_draws_correlated_labels_together():
    X, Y = toy(200)
    Y[:, 1] = np.where(np.arange(200) % 10 == 0, 1 - Y[:, 0], Y[:, 0])
    plain, drawn = (
        JBNN(epochs=20, hidden=6, prior_weight=kappa).fit(X, Y).coefs_[1]
        for kappa in (0.0, 0.01)
    )
    apart = [
        np.linalg.norm(W[:, 0] - W[:, 1]) / np.linalg.norm(W[:, :2])
        for W in (plain, drawn)
    ]
    assert apart[1] < apart[0]


def test_adam_agrees_with_torch():
    ours, theirs = torch.ones(3), torch.ones(3, requires_grad=True)
    adam, oracle = Adam(ours, 0.01), torch.optim.Adam([theirs], lr=0.01)
    for step in range(5):
        theirs.grad = torch.tensor([1.0, -2.0, 0.1 * step])
        adam.step(theirs.grad.clone())
        oracle.step()
    assert torch.allclose(ours, theirs.detach())


def test_paper_grid_is_ten_epoch_counts_from_one_run():
    X, Y = toy(30)
    done = []
    points = list(JBNN(progress=lambda *step: done.append(step)).grid_path(X, Y, X))
    assert [point.params["epochs"] for point in points] == list(range(10, 101, 10))
    assert len(done) == 100


def test_it_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = JBNN(hidden=6, learning_rate=0.01).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_probabilities_are_those_of_the_logistic_units():
    X, Y = toy()
    model = JBNN(epochs=5).fit(X, Y)
    assert_allclose(
        model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X)))
    )
    classes = JBNN(epochs=5).fit(X, X[:, :3].argmax(axis=1))
    assert_allclose(classes.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(classes.predict_proba(X).argmax(axis=1), classes.predict(X))


def test_weights_scale_rows_and_zero_leaves_them_out():
    X, Y = toy()
    w = np.where(np.arange(80) % 4 == 0, 0.0, 3.0)
    weighted = JBNN(epochs=3).fit(X, Y, w).decision_function(X)
    assert_allclose(
        weighted, JBNN(epochs=3).fit(X[w > 0], Y[w > 0]).decision_function(X)
    )
    w[1] = 30
    assert (
        np.abs(JBNN(epochs=3).fit(X, Y, w).decision_function(X) - weighted).max() > 1e-4
    )
