"""C2AE: gradients against autograd, the authors' optimiser by hand, what it learns."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mltsk.metrics import evaluate
from mltsk.paper.methods.c2ae import (
    C2AE,
    LEAKY_SLOPE,
    AutoencoderRows,
    Nets,
    backward,
    decoded,
    embedding_gradients,
    forward,
    ranking_gradient,
    starting_layers,
    sum_of_f1,
    with_ones,
)
from mltsk.paper.methods.nets import views

SMALL = C2AE(hidden=16, batch_size=20, epochs=4)


def toy(n=80, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


# the method


def test_fit_multiplies_by_alpha_as_the_paper_and_divides_as_the_program():
    X, Y = toy()
    paper = clone(SMALL).set_params(alpha=0.5, alpha_meaning="multiply").fit(X, Y)
    program = clone(SMALL).set_params(alpha=2.0, alpha_meaning="divide").fit(X, Y)
    assert_array_equal(paper.decision_function(X), program.decision_function(X))


def test_fit_needs_no_torch(monkeypatch):
    X, Y = toy()
    expected = clone(SMALL).fit(X, Y).decision_function(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(clone(SMALL).fit(X, Y).decision_function(X), expected)


@pytest.mark.parametrize(
    ("options", "n_iter"),
    [
        ({"epochs": None, "batch_size": 40}, 400),
        ({"epochs": None, "batch_size": 4}, 50),
        ({"epochs": None, "batch_size": 5, "validation_fraction": 0.5}, 100),
        ({"epochs": 3, "batch_size": 40}, 3),
    ],
)
def test_fit_takes_enough_steps_on_small_data_and_obeys_a_number(options, n_iter):
    X, Y = toy(40)
    assert C2AE(hidden=2, **options).fit(X, Y).n_iter_ == n_iter


def test_fit_picks_the_best_epoch_by_rows_that_are_held_out():
    X, Y = toy(200)
    model = clone(SMALL).set_params(validation_fraction=0.2, epochs=30).fit(X, Y)
    assert 1 <= model.best_epoch_ <= model.n_iter_ == 30
    shorter = clone(model).set_params(epochs=model.best_epoch_).fit(X, Y)
    assert_array_equal(model.decision_function(X), shorter.decision_function(X))


def test_fit_keeps_the_first_nets_where_no_epoch_finds_a_label():
    X, Y = toy(60)
    published = clone(SMALL).set_params(epochs=3, validation_fraction=0.1)
    assert published.fit(X, Y * 0).best_epoch_ == 0


def test_grid_path_of_the_published_form_equals_single_fits():
    X, Y = toy(60)
    published = clone(SMALL).set_params(epochs=3, validation_fraction=0.1)
    for point in published.grid_path(X, Y, X, {"alpha": [0.1, 10.0]}):
        alone = clone(published).set_params(**point.params).fit(X, Y)
        assert_allclose(alone.decision_function(X) + 0.5, point.scores, atol=1e-9)


def test_grid_path_takes_the_papers_eleven_alphas_by_default():
    X, Y = toy(30)
    points = list(SMALL.grid_path(X, Y, X))
    alphas = [point.params["alpha"] for point in points]
    assert alphas == [0.1, 0.3, 0.5, 0.7, 0.9, 1, 3, 5, 7, 9, 10]
    assert np.abs(points[0].scores - points[-1].scores).max() > 1e-6


def test_fit_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5] = 0
    Y[5:9] = 1
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_fit_fills_up_a_batch_with_rows_that_count_again():
    X, Y = toy(20)
    filled = clone(SMALL).set_params(batch_size=40).fit(X, Y).decision_function(X)
    weighted = clone(SMALL).fit(X, Y, np.full(20, 2.0)).decision_function(X)
    assert_array_equal(filled, weighted)


def test_decoded_gives_the_scores_of_a_model():
    X, Y = toy()
    model = clone(SMALL).fit(X, Y)
    scores = decoded(X, model.feature_net_, model.decoder_net_)
    assert_allclose(model.decision_function(X), scores - 0.5)
    assert_array_equal(model.predict(X), scores >= 0.5)


def test_sum_of_f1_of_worked_labels():
    # The third label is neither true nor predicted.
    Y = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]])
    labels = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]])
    assert sum_of_f1(Y, labels) == pytest.approx(6 / 8 + (2 / 3 + 1 + 0) / 3)
    assert sum_of_f1(Y * 0, labels * 0) == 0


# losses and their gradients

SIZES = [[6, 16, 16, 2], [3, 16, 2], [2, 16, 3]]
LIKE = np.empty(0, np.float32)


def float_toy(n=80, labels=3):
    X, Y = toy(n, labels)
    return X, Y.astype(float)


def differentiated(X, Y, w, drawn, *, weight=1.0, like=LIKE):
    """New nets, which hold the gradients of one batch."""
    nets = Nets(np.random.RandomState(0), SIZES, 1e-3, like)
    nets.differentiate(weight, AutoencoderRows(X, Y, w, like).batch(drawn))
    return nets


def embedding_loss(torch, F_x, F_e, w):
    """Phi of tensors whose columns are rows of data, as the formula is written."""
    eye = torch.eye(len(F_x), dtype=F_x.dtype)
    F_x = F_x * w.sqrt()
    F_e = F_e * w.sqrt()
    correlation = ((F_x @ F_x.T - eye) ** 2).sum() + ((F_e @ F_e.T - eye) ** 2).sum()
    return ((F_x - F_e) ** 2).sum() + correlation / 2


def ranking_loss(o, Y, w):
    """Gamma of tensors whose columns are rows of data, as the formula is written."""
    total = 0.0
    for i in range(Y.shape[1]):
        share = w[i] / Y[:, i].sum() / (1 - Y[:, i]).sum()
        for k in Y[:, i].nonzero():
            for m in (1 - Y[:, i]).nonzero():
                total = total + share * (-5 * (o[k, i] - o[m, i])).exp().sum() / 5
    return total


def test_embedding_gradients_are_those_of_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    F_x = torch.tensor(rng.normal(size=(2, 7)), requires_grad=True)
    F_e = torch.tensor(rng.normal(size=(2, 7)), requires_grad=True)
    w = rng.random(7)
    loss = embedding_loss(torch, F_x, F_e, torch.tensor(w))
    expected = torch.autograd.grad(loss, [F_x, F_e])
    gradients = embedding_gradients(F_x.detach().numpy(), F_e.detach().numpy(), w)
    for ours, theirs in zip(gradients, expected, strict=True):
        assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-12)


def test_ranking_gradient_is_that_of_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    o = torch.tensor(rng.random((3, 7)), requires_grad=True)
    w = rng.random(7)
    Y = np.eye(3)[:, [0, 1, 2, 0, 1, 2, 0]]
    loss = ranking_loss(o, torch.tensor(Y), torch.tensor(w))
    (expected,) = torch.autograd.grad(loss, [o])
    ours = ranking_gradient(o.detach().numpy(), Y, w / 2)
    assert_allclose(ours, expected.numpy(), rtol=1e-10, atol=1e-12)


def test_embedding_gradients_of_the_worked_example():
    F_x = np.array([[0.1, 0.3], [-0.2, 0.0]])
    F_e = np.array([[0.2, 0.1], [-0.1, 0.1]])
    dF_x, _ = embedding_gradients(F_x, F_e, np.ones(2))
    assert_allclose(dF_x.T, [[-0.372, 0.18], [-0.14, -0.212]], atol=5e-7)


@pytest.mark.parametrize("shift", [0.0, -0.5])
def test_ranking_gradient_of_the_worked_example(shift):
    o = np.array([[0.8], [0.3], [0.6]])
    Y = np.array([[1.0], [0.0], [1.0]])
    expected = [[-0.041042, 0.152608, -0.111565]]
    assert_allclose(ranking_gradient(o + shift, Y, 0.5).T, expected, atol=5e-7)


def test_embedding_gradients_pass_label_sets_that_rows_share_once():
    rng = np.random.default_rng(0)
    F_x = rng.normal(size=(2, 6))
    sets = rng.normal(size=(2, 2))
    w = rng.random(6)
    member = np.eye(2)[[0, 1, 1, 0, 1, 1]].T
    dF_x, dF_e = embedding_gradients(F_x, sets @ member, w)
    shared_dF_x, shared_dF_e = embedding_gradients(F_x, sets, w, member)
    assert_allclose(shared_dF_x, dF_x, atol=1e-13)
    assert_allclose(shared_dF_e, dF_e @ member.T, atol=1e-13)


def test_training_rows_gather_label_sets_where_that_halves_the_work():
    X, Y = float_toy(80)
    rows = AutoencoderRows(X, Y, np.ones(80), LIKE)
    batch = rows.batch(np.arange(80))
    n_sets = len(np.unique(Y, axis=0))
    assert batch.Y.shape[1] == len(batch.member) == n_sets < 10
    assert rows.batch(np.arange(3)).member is None


def test_training_rows_keep_a_batch_of_the_same_rows_with_new_weights():
    X, Y = float_toy(10)
    rows = AutoencoderRows(X, Y, np.ones(10), LIKE)
    first = rows.batch(np.array([0, 1, 2]))
    again = rows.batch(np.array([2, 1, 0, 0]))
    assert again.x is first.x
    assert_array_equal(first.w, [1, 1, 1])
    assert_array_equal(again.w, [2, 1, 1])


def test_differentiate_lets_no_output_loss_reach_the_feature_net():
    X, Y = float_toy()
    rows = (X, Y, np.ones(80), np.arange(20))
    weak = differentiated(*rows, weight=1.0).gradients
    strong = differentiated(*rows, weight=10.0).gradients
    are_equal = []
    for weak_net, strong_net in zip(weak, strong, strict=True):
        layers = zip(weak_net, strong_net, strict=True)
        are_equal.append([np.array_equal(a, b) for a, b in layers])
    feature, encoder, decoder = are_equal
    assert all(feature)
    assert not any(encoder)
    assert not any(decoder)


def test_differentiate_counts_rows_by_weights_and_repetitions():
    X, Y = float_toy(10)
    X_twice = np.vstack([X, X])
    Y_twice = np.vstack([Y, Y])
    twice = differentiated(X_twice, Y_twice, np.ones(20), np.arange(20)).gradient
    weighted = differentiated(X, Y, np.full(10, 2.0), np.arange(10)).gradient
    drawn = np.resize(np.arange(10), 20)
    repeated = differentiated(X, Y, np.ones(10), drawn).gradient
    assert_allclose(weighted, twice, rtol=1e-3, atol=1e-5)
    assert_allclose(repeated, twice, rtol=1e-3, atol=1e-5)


def test_differentiate_gives_the_same_for_tensors_and_sparse_rows():
    torch = pytest.importorskip("torch")
    X, Y = float_toy()
    X[X < 0.5] = 0
    rest = (Y, np.ones(80), np.arange(30))
    expected = differentiated(X, *rest).gradient
    thin = differentiated(sparse.csr_array(X), *rest).gradient
    tensors = differentiated(X, *rest, like=torch.zeros(0)).gradient
    assert_array_equal(thin, expected)
    assert_allclose(tensors.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_starting_layers_follow_the_authors():
    (leaky, bias), (latent, zero) = starting_layers(
        np.random.RandomState(0), [9, 40, 5]
    )
    assert 0.009 < np.abs(leaky).max() <= 0.01
    assert 0 <= bias.min() < bias.max() <= 0.1
    assert 1 < np.abs(latent).max() <= 4 * np.sqrt(6 / 45)
    assert not zero.any()


# one net

ONE_NET = [4, 30, 20, 3]


def net_and_batch(shift=0.0, n=12):
    """A net in double precision, a batch, and dLoss/dc.

    ``shift`` moves the biases, and with them the signs of hidden units.
    """
    rng = np.random.default_rng(0)
    shapes = [(n_out, n_in + 1) for n_in, n_out in pairwise(ONE_NET)]
    theta = rng.normal(scale=0.5, size=sum(a * b for a, b in shapes))
    net = views(theta, shapes)
    for W in net[:-1]:
        W[:, -1] += shift
        W[::2, -1] -= 2 * shift
    return net, with_ones(rng.random((4, n))), rng.normal(size=(3, n))


def by_autograd(net, x, dc):
    """Outputs of a net, and gradients in its layers and in x."""
    torch = pytest.importorskip("torch")
    layers = [torch.tensor(W, requires_grad=True) for W in net]
    x = torch.tensor(x[:-1], requires_grad=True)
    h = x
    for W in layers[:-1]:
        h = torch.nn.functional.leaky_relu(W[:, :-1] @ h + W[:, -1:], LEAKY_SLOPE)
    c = (layers[-1][:, :-1] @ h + layers[-1][:, -1:]).sigmoid() - 0.5
    gradients = torch.autograd.grad((c * torch.tensor(dc)).sum(), [*layers, x])
    return c.detach().numpy(), [gradient.numpy() for gradient in gradients]


@pytest.mark.parametrize(
    "shift", [0.0, 1.0, 5.0], ids=["all mixed", "some mixed", "all linear"]
)
def test_forward_and_backward_are_those_of_autograd(shift):
    net, x, dc = net_and_batch(shift)
    layers = forward(net, x)
    gradients = [W * 0 for W in net]
    dx = backward(net, layers, dc, gradients, inputs=True)
    c, expected = by_autograd(net, x, dc)
    assert_allclose(layers[-1], c, atol=1e-14)
    for ours, theirs in zip([*gradients, dx], expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-13)


def test_backward_gives_the_numbers_of_arrays_for_tensors():
    torch = pytest.importorskip("torch")
    net, x, dc = net_and_batch()
    arrays = [W * 0 for W in net]
    backward(net, forward(net, x), dc, arrays)
    tensors = [torch.zeros(W.shape, dtype=torch.float64) for W in net]
    there = [torch.tensor(W) for W in net]
    backward(there, forward(there, torch.tensor(x)), torch.tensor(dc), tensors)
    for array, tensor in zip(arrays, tensors, strict=True):
        assert_allclose(tensor.numpy(), array, rtol=1e-12, atol=1e-14)


# the optimiser


def test_nets_let_biases_free_of_decay():
    nets = Nets(np.random.RandomState(0), SIZES, 1e-3, LIKE)
    n_weights = 6 * 16 + 16 * 16 + 16 * 2 + 3 * 16 + 16 * 2 + 2 * 16 + 16 * 3
    assert nets.decay.sum() == pytest.approx(2e-3 * n_weights)
    assert nets.decay[6] == 0


def test_step_twice_by_hand():
    nets = Nets(np.random.RandomState(0), SIZES, 0.0, LIKE)
    nets.theta[:] = 1
    # r = |g| at first: every step has the same length.
    nets.gradient[:3] = [2, -3, 0]
    nets.step(0.1)
    assert_allclose(nets.theta[:3], [0.9, 1.1, 1.0], rtol=1e-6)
    nets.gradient[:3] = [1, -3, 0]
    nets.step(0.1)
    expected = [0.9 - 0.099 - 0.1 / np.sqrt(3.7), 1.1 + 0.099 + 0.1, 1.0]
    assert_allclose(nets.theta[:3], expected, rtol=1e-6)
    assert (nets.theta[3:] == 1).all()


def test_step_takes_decay_for_a_part_of_the_gradient():
    rng = np.random.default_rng(0)
    wide = [[6, 200, 200, 2], *SIZES[1:]]  # more weights than one chunk
    plain = Nets(np.random.RandomState(0), wide, 0.0, LIKE)
    decaying = Nets(np.random.RandomState(0), wide, 0.15, LIKE)
    for _ in range(3):
        g = rng.normal(size=len(plain.theta))
        plain.gradient[:] = g + decaying.decay * plain.theta
        decaying.gradient[:] = g
        plain.step(0.01)
        decaying.step(0.01)
    assert_allclose(decaying.theta, plain.theta, rtol=1e-4, atol=1e-6)
