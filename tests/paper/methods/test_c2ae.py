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
    Nets,
    TrainingRows,
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


def test_alpha_multiplies_in_the_paper_and_divides_in_the_program():
    X, Y = toy()
    paper = clone(SMALL).set_params(alpha=0.5, alpha_meaning="multiply").fit(X, Y)
    program = clone(SMALL).set_params(alpha=2.0, alpha_meaning="divide").fit(X, Y)
    assert_array_equal(paper.decision_function(X), program.decision_function(X))


def test_a_fit_needs_no_torch(monkeypatch):
    X, Y = toy()
    expected = clone(SMALL).fit(X, Y).decision_function(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(clone(SMALL).fit(X, Y).decision_function(X), expected)


def test_small_data_gets_enough_steps_and_a_number_is_obeyed():
    X, Y = toy(40)
    for options, n_iter in (
        ({"epochs": None, "batch_size": 40}, 400),
        ({"epochs": None, "batch_size": 4}, 50),
        ({"epochs": None, "batch_size": 5, "validation_fraction": 0.5}, 100),
        ({"epochs": 3, "batch_size": 40}, 3),
    ):
        assert C2AE(hidden=2, **options).fit(X, Y).n_iter_ == n_iter


def test_held_out_rows_pick_the_best_epoch():
    X, Y = toy(200)
    model = clone(SMALL).set_params(validation_fraction=0.2, epochs=30).fit(X, Y)
    assert 1 <= model.best_epoch_ <= model.n_iter_ == 30
    shorter = clone(model).set_params(epochs=model.best_epoch_).fit(X, Y)
    assert_array_equal(model.decision_function(X), shorter.decision_function(X))


def test_the_criterion_of_the_program_on_worked_labels():
    Y = np.array(
        [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]]
    )  # the third label is neither true nor given
    labels = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]])
    assert sum_of_f1(Y, labels) == pytest.approx(6 / 8 + (2 / 3 + 1 + 0) / 3)
    assert sum_of_f1(Y * 0, labels * 0) == 0


def test_the_published_form_takes_the_grid_and_keeps_the_first_nets_where_no_epoch_finds_a_label():
    X, Y = toy(60)
    published = clone(SMALL).set_params(epochs=3, validation_fraction=0.1)
    for point in published.grid_path(X, Y, X, {"alpha": [0.1, 10.0]}):
        alone = clone(published).set_params(**point.params).fit(X, Y)
        assert_allclose(alone.decision_function(X) + 0.5, point.scores, atol=1e-9)
    assert published.fit(X, Y * 0).best_epoch_ == 0


def test_paper_grid_is_eleven_alphas():
    X, Y = toy(30)
    points = list(SMALL.grid_path(X, Y, X))
    assert [point.params["alpha"] for point in points] == [
        0.1,
        0.3,
        0.5,
        0.7,
        0.9,
        1,
        3,
        5,
        7,
        9,
        10,
    ]
    assert np.abs(points[0].scores - points[-1].scores).max() > 1e-6


def test_it_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_scores_are_the_decoder_of_the_features():
    X, Y = toy()
    model = clone(SMALL).fit(X, Y)
    scores = decoded(X, model.feature_net_, model.decoder_net_)
    assert_allclose(model.decision_function(X), scores - 0.5)
    assert_array_equal(model.predict(X), scores >= 0.5)


SIZES = [[6, 16, 16, 2], [3, 16, 2], [2, 16, 3]]
LIKE = np.empty(0, np.float32)


def float_toy(n=80, labels=3):
    X, Y = toy(n, labels)
    return X, Y.astype(float)


def gradient(X, Y, w, drawn, alpha=1.0, like=LIKE):
    nets = Nets(np.random.RandomState(0), SIZES, 1e-3, like)
    nets.differentiate(alpha, TrainingRows(X, Y, w, like).batch(drawn))
    return nets


def loss(F_x, F_e, o, Y, w):
    """Phi + Gamma of tensors whose columns are rows of data, as the formulas are written."""
    torch = pytest.importorskip("torch")
    eye, F_x, F_e = torch.eye(len(F_x), dtype=F_x.dtype), F_x * w.sqrt(), F_e * w.sqrt()
    phi = ((F_x - F_e) ** 2).sum() + (
        ((F_x @ F_x.T - eye) ** 2).sum() + ((F_e @ F_e.T - eye) ** 2).sum()
    ) / 2
    pairs = [
        (-5 * (o[k, i] - o[m, i])).exp()
        / 5
        * w[i]
        / Y[:, i].sum()
        / (1 - Y[:, i]).sum()
        for i in range(Y.shape[1])
        for k in Y[:, i].nonzero()
        for m in (1 - Y[:, i]).nonzero()
    ]
    return phi + torch.stack(pairs).sum()


def test_gradients_are_those_of_the_losses():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    F_x, F_e, o, w = (
        rng.normal(size=(2, 7)),
        rng.normal(size=(2, 7)),
        rng.random((3, 7)),
        rng.random(7),
    )
    Y = np.eye(3)[:, [0, 1, 2, 0, 1, 2, 0]]
    tensors = [torch.tensor(a, requires_grad=True) for a in (F_x, F_e, o)]
    expected = torch.autograd.grad(
        loss(*tensors, torch.tensor(Y), torch.tensor(w)), tensors
    )
    found = [*embedding_gradients(F_x, F_e, w), ranking_gradient(o, Y, w / 2)]
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-12)


def test_gradients_of_the_worked_examples():
    F_x, F_e = np.array([[0.1, 0.3], [-0.2, 0.0]]), np.array([[0.2, 0.1], [-0.1, 0.1]])
    found = embedding_gradients(F_x, F_e, np.ones(2))[0]
    assert_allclose(found.T, [[-0.372, 0.18], [-0.14, -0.212]], atol=5e-7)
    o, y = np.array([[0.8], [0.3], [0.6]]), np.array([[1.0], [0.0], [1.0]])
    for shift in (0.0, -0.5):
        assert_allclose(
            ranking_gradient(o + shift, y, 0.5).T,
            [[-0.041042, 0.152608, -0.111565]],
            atol=5e-7,
        )


def test_label_sets_that_rows_share_are_passed_once():
    rng = np.random.default_rng(0)
    F_x, sets, w, member = (
        rng.normal(size=(2, 6)),
        rng.normal(size=(2, 2)),
        rng.random(6),
        np.eye(2)[[0, 1, 1, 0, 1, 1]].T,
    )
    one_by_one = embedding_gradients(F_x, sets @ member, w)
    shared = embedding_gradients(F_x, sets, w, member)
    assert_allclose(shared[0], one_by_one[0], atol=1e-13)
    assert_allclose(shared[1], one_by_one[1] @ member.T, atol=1e-13)
    X, Y = float_toy(80)
    rows = TrainingRows(X, Y, np.ones(80), LIKE)
    _, sets, _, member, _ = rows.batch(np.arange(80))
    assert sets.shape[1] == len(member) == len(np.unique(Y, axis=0)) < 10
    assert rows.batch(np.arange(3))[3] is None


def test_output_loss_does_not_reach_the_feature_net():
    X, Y = float_toy()
    one, ten = (
        gradient(X, Y, np.ones(80), np.arange(20), alpha) for alpha in (1.0, 10.0)
    )
    feature, encoder, decoder = zip(one.gradients, ten.gradients, strict=True)
    assert all(np.array_equal(a, b) for a, b in zip(*feature, strict=True))
    assert not any(
        np.array_equal(a, b)
        for nets in (encoder, decoder)
        for a, b in zip(*nets, strict=True)
    )


def test_weights_and_repetitions_count_rows():
    X, Y = float_toy(10)
    twice = gradient(
        np.vstack([X, X]), np.vstack([Y, Y]), np.ones(20), np.arange(20)
    ).gradient
    assert_allclose(
        gradient(X, Y, np.full(10, 2.0), np.arange(10)).gradient,
        twice,
        rtol=1e-3,
        atol=1e-5,
    )
    assert_allclose(
        gradient(X, Y, np.ones(10), np.resize(np.arange(10), 20)).gradient,
        twice,
        rtol=1e-3,
        atol=1e-5,
    )


def test_tensors_and_sparse_rows_give_the_same_gradient():
    torch = pytest.importorskip("torch")
    X, Y = float_toy()
    X[X < 0.5] = 0
    expected = gradient(X, Y, np.ones(80), np.arange(30)).gradient
    thin = gradient(sparse.csr_array(X), Y, np.ones(80), np.arange(30)).gradient
    tensors = gradient(X, Y, np.ones(80), np.arange(30), like=torch.zeros(0)).gradient
    assert_array_equal(thin, expected)
    assert_allclose(tensors.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_biases_do_not_decay():
    nets = Nets(np.random.RandomState(0), SIZES, 1e-3, LIKE)
    assert nets.decay.sum() == pytest.approx(
        2e-3 * (6 * 16 + 16 * 16 + 32 + 48 + 32 + 32 + 48)
    )
    assert nets.decay[6] == 0


def test_a_batch_is_filled_up_with_rows_that_count_again():
    X, Y = toy(20)
    filled = clone(SMALL).set_params(batch_size=40).fit(X, Y).decision_function(X)
    assert_array_equal(
        filled, clone(SMALL).fit(X, Y, np.full(20, 2.0)).decision_function(X)
    )


def test_first_weights_follow_the_authors():
    (leaky, bias), (latent, zero) = starting_layers(
        np.random.RandomState(0), [9, 40, 5]
    )
    assert 0.009 < np.abs(leaky).max() <= 0.01
    assert 0 <= bias.min() < bias.max() <= 0.1
    assert 1 < np.abs(latent).max() <= 4 * np.sqrt(6 / 45)
    assert not zero.any()


ONE_NET = [4, 30, 20, 3]


def net_and_batch(shift=0.0, n=12):
    """A net in double precision, a batch, and dLoss/dc; ``shift`` moves the biases, and with them the signs."""
    rng = np.random.default_rng(0)
    theta = rng.normal(scale=0.5, size=sum(b * (a + 1) for a, b in pairwise(ONE_NET)))
    net = views(theta, [(b, a + 1) for a, b in pairwise(ONE_NET)])
    for W in net[:-1]:
        W[:, -1] += shift
        W[::2, -1] -= 2 * shift
    return net, with_ones(rng.random((4, n))), rng.normal(size=(3, n))


def by_autograd(net, x, dc):
    torch = pytest.importorskip("torch")
    tensors, x = (
        [torch.tensor(W, requires_grad=True) for W in net],
        torch.tensor(x[:-1], requires_grad=True),
    )
    h = x
    for W in tensors[:-1]:
        h = torch.nn.functional.leaky_relu(W[:, :-1] @ h + W[:, -1:], LEAKY_SLOPE)
    c = (tensors[-1][:, :-1] @ h + tensors[-1][:, -1:]).sigmoid() - 0.5
    return c.detach().numpy(), [
        g.numpy()
        for g in torch.autograd.grad((c * torch.tensor(dc)).sum(), [*tensors, x])
    ]


@pytest.mark.parametrize(
    "shift", [0.0, 1.0, 5.0], ids=["all mixed", "some mixed", "all linear"]
)
def test_values_and_gradients_are_those_of_autograd(shift):
    net, x, dc = net_and_batch(shift)
    layers, into = forward(net, x), [W * 0 for W in net]
    dx = backward(net, layers, dc, into, inputs=True)
    c, expected = by_autograd(net, x, dc)
    assert_allclose(layers[-1], c, atol=1e-14)
    for found, gradient in zip([*into, dx], expected, strict=True):
        assert_allclose(found, gradient, rtol=1e-10, atol=1e-13)


def test_tensors_give_the_numbers_of_arrays():
    torch = pytest.importorskip("torch")
    net, x, dc = net_and_batch()
    into, tensors = (
        [W * 0 for W in net],
        [torch.zeros(W.shape, dtype=torch.float64) for W in net],
    )
    backward(net, forward(net, x), dc, into)
    there = [torch.tensor(W) for W in net]
    backward(there, forward(there, torch.tensor(x)), torch.tensor(dc), tensors)
    for array, tensor in zip(into, tensors, strict=True):
        assert_allclose(tensor.numpy(), array, rtol=1e-12, atol=1e-14)


def test_two_steps_of_the_authors_optimiser_by_hand():
    nets = Nets(np.random.RandomState(0), SIZES, 0.0, LIKE)
    nets.theta[:] = 1
    for g, expected in (
        (
            [2, -3, 0],
            [0.9, 1.1, 1.0],
        ),  # r = |g| at first: every step has the same length
        ([1, -3, 0], [0.9 - 0.099 - 0.1 / np.sqrt(3.7), 1.1 + 0.099 + 0.1, 1.0]),
    ):
        nets.gradient[:3] = g
        nets.step(0.1)
        assert_allclose(nets.theta[:3], expected, rtol=1e-6)
    assert (nets.theta[3:] == 1).all()


def test_decay_is_part_of_the_gradient():
    rng, wide = (
        np.random.default_rng(0),
        [[6, 200, 200, 2], *SIZES[1:]],
    )  # more weights than one chunk
    first, second = (
        Nets(np.random.RandomState(0), wide, decay, LIKE) for decay in (0.0, 0.15)
    )
    for _ in range(3):
        g = rng.normal(size=len(first.theta))
        first.gradient[:], second.gradient[:] = g + second.decay * first.theta, g
        first.step(0.01)
        second.step(0.01)
    assert_allclose(second.theta, first.theta, rtol=1e-4, atol=1e-6)
