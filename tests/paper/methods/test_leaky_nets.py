from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.paper.methods.leaky_nets import (
    SLOPE,
    AuthorsOptimiser,
    backward,
    forward,
    net_views,
    through_units,
    with_ones,
)

SIZES = [4, 30, 20, 3]


def toy(shift=0.0, n=12):
    """A net in double precision, a batch, and dLoss/dc; ``shift`` moves the biases, and with them the signs."""
    rng = np.random.default_rng(0)
    theta = rng.normal(scale=0.5, size=sum(b * (a + 1) for a, b in pairwise(SIZES)))
    (net,) = net_views(theta, [SIZES])
    for W in net[:-1]:
        W[:, -1] += shift
        W[::2, -1] -= 2 * shift
    return net, with_ones(rng.random((4, n))), rng.normal(size=(3, n))


def by_autograd(net, x, dc):
    torch = pytest.importorskip("torch")
    tensors, x = [torch.tensor(W, requires_grad=True) for W in net], torch.tensor(x[:-1], requires_grad=True)
    h = x
    for W in tensors[:-1]:
        h = torch.nn.functional.leaky_relu(W[:, :-1] @ h + W[:, -1:], SLOPE)
    c = (tensors[-1][:, :-1] @ h + tensors[-1][:, -1:]).sigmoid() - 0.5
    return c.detach().numpy(), [g.numpy() for g in torch.autograd.grad((c * torch.tensor(dc)).sum(), [*tensors, x])]


@pytest.mark.parametrize("shift", [0.0, 1.0, 5.0], ids=["all mixed", "some mixed", "all linear"])
def test_values_and_gradients_are_those_of_autograd(shift):
    net, x, dc = toy(shift)
    layers, into = forward(net, x), [W * 0 for W in net]
    C, A = backward(net, layers, dc, into).inputs(net[0])
    c, expected = by_autograd(net, x, dc)
    assert_allclose(layers[-1], c, atol=1e-14)
    for found, gradient in zip([*into, C.T @ A], expected, strict=True):
        assert_allclose(found, gradient, rtol=1e-10, atol=1e-13)


def test_tensors_give_the_numbers_of_arrays():
    torch = pytest.importorskip("torch")
    net, x, dc = toy()
    into, tensors = [W * 0 for W in net], [torch.zeros(W.shape, dtype=torch.float64) for W in net]
    backward(net, forward(net, x), dc, into)
    there = [torch.tensor(W) for W in net]
    backward(there, forward(there, torch.tensor(x)), torch.tensor(dc), tensors)
    for array, tensor in zip(into, tensors, strict=True):
        assert_allclose(tensor.numpy(), array, rtol=1e-12, atol=1e-14)


def test_units_of_one_sign_add_no_row():
    h = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, -1.0], [3.0, 0.5]])
    C, A = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[1.0, 10.0]])
    flow = through_units(C, A, h)
    assert flow.mixed.tolist() == [2]
    assert_allclose(flow.linear, [[1.0, 0.2, 0.0, 4.0]])
    assert_allclose(flow.A, [[1.0, 10.0], [3.0, 3.0]])


def test_two_steps_of_the_authors_optimiser_by_hand():
    theta = np.ones(3)
    optimiser = AuthorsOptimiser(theta, np.zeros(3))
    optimiser.step(np.array([2.0, -3.0, 0.0]), rate=0.1)
    assert_allclose(theta, [0.9, 1.1, 1.0])  # r = |g| at first: every step has the same length
    optimiser.step(np.array([1.0, -3.0, 0.0]), rate=0.1)
    assert_allclose(theta, [0.9 - 0.099 - 0.1 / np.sqrt(3.7), 1.1 + 0.099 + 0.1, 1.0])


def test_decay_is_part_of_the_gradient():
    rng = np.random.default_rng(0)
    first, second = (AuthorsOptimiser(np.linspace(1, 2, 100_000), np.full(100_000, d)) for d in (0.0, 0.3))
    for _ in range(3):
        g = rng.normal(size=100_000)
        first.step(g + 0.3 * first.theta, rate=0.01)
        second.step(g.copy(), rate=0.01)
    assert_allclose(second.theta, first.theta, rtol=1e-12)
