"""The nets of C2AE and how they are trained: values, gradients by hand, batches, the optimiser of its authors.

Columns are rows of data here, rows are units. A net is a list of matrices W (out, in + 1), biases last, that are views
of one vector; x (in + 1, B) and every hidden layer end with a row of ones. Hidden units are max(z, z / 10), outputs
are centred, c = sigmoid(z) - 1/2 = tanh(z / 2) / 2, so that dc/dz = 1/4 - c².

A gradient travels back as a product C'A, of which only A (r, B) varies with the rows of data; the last layer sends
A = dLoss/dz and C = W. A unit whose sign is the same for all rows of the batch has one slope s there and is linear: its
part stays a product, s C. Only units of mixed sign (set M) need a row d = (C'A) ∘ slope of their own:

    A ← [A; d_M],   dLoss/dW = s C'(A x') and d_M x' for M,   C ← [s C W; W_M]

Encoder and decoder see label sets alone. Where that halves the work they pass each set of a batch once, with the weight
of all its rows; ``member`` (sets, B) tells which. Both ways are exact; docs/methods/c2ae.md says what they are worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...core.backend import asnumpy, cast, is_tensor, namespace, put
from .nets import batches, dense_rows, pair_share

SLOPE = 0.1  # of leaky units below 0
CHUNK = 1 << 15  # numbers that the optimiser takes at a time: five arrays of them, 640 KB, stay in the second cache
SHARPNESS = 5.0  # of the ranking loss


def net_views(vector: Any, nets: Sequence[Sequence[int]]) -> list[list[Any]]:
    """Matrices (out, in + 1) of nets with these numbers of units, one after the other in the vector's memory."""
    start = 0

    def matrix(fan_in: int, fan_out: int) -> Any:
        nonlocal start
        start += fan_out * (fan_in + 1)
        return vector[start - fan_out * (fan_in + 1) : start].reshape(fan_out, fan_in + 1)

    return [[matrix(*pair) for pair in pairwise(sizes)] for sizes in nets]


def with_ones(x: Any) -> Any:
    """x (n, B) with a row of ones below it."""
    xp = namespace(x)
    return xp.concatenate([x, xp.ones((1, x.shape[1]), dtype=x.dtype, like=x)])


def forward(net: Sequence[Any], x: Any) -> list[Any]:
    """Values of all layers: x (in + 1, B), hidden ones with their row of ones, and the outputs c."""
    xp, layers = namespace(x), [x]
    for W in net[:-1]:
        h = xp.empty((len(W) + 1, x.shape[1]), dtype=x.dtype, like=x)
        z = xp.matmul(W, layers[-1], out=h[:-1])
        if is_tensor(z):
            xp.nn.functional.leaky_relu_(z, SLOPE)
        else:
            np.maximum(z, SLOPE * z, out=z)
        h[-1] = 1
        layers.append(h)
    return [*layers, xp.tanh((net[-1] @ layers[-1]) / 2) / 2]


@dataclass(frozen=True)
class Flow:
    """dLoss/dz of a layer's sums (units, B), as a product E'A.

    E holds ``linear`` (r, units), and for each of the ``mixed`` units a row that is 1 there and 0 elsewhere; without
    them E is the unit matrix, and A (units, B) the derivative itself.
    """

    A: Any
    linear: Any = None
    mixed: Any = None

    def weights(self, x: Any, into: Any) -> None:
        """Write dLoss/dW (units, in + 1) for the inputs x (in + 1, B)."""
        if self.linear is None:
            namespace(x).matmul(self.A, x.T, out=into)
            return
        r, T = len(self.linear), self.A @ x.T
        np.matmul(self.linear.T, T[:r], out=into)
        into[self.mixed] = T[r:]

    def inputs(self, W: Any) -> tuple[Any, Any]:
        """C and A whose product C'A is the derivative in the inputs (in, B)."""
        W = W[:, :-1]
        return (W if self.linear is None else np.concatenate([self.linear @ W, W[self.mixed]])), self.A


def backward(net: Sequence[Any], layers: Sequence[Any], dc: Any, into: Sequence[Any]) -> Flow:
    """Write dLoss/dW of every layer into ``into``, from dLoss/dc (out, B); returns what flows into the first layer."""
    flow = Flow(dc * (0.25 - layers[-1] ** 2))
    for k in range(len(net) - 1, -1, -1):
        flow.weights(layers[k], into[k])
        flow = through_units(*flow.inputs(net[k]), layers[k][:-1]) if k else flow
    return flow


def through_units(C: Any, A: Any, h: Any) -> Flow:
    """What flows into the sums of leaky units with the values h (units, B), from C'A in those values."""
    slopes = None if is_tensor(h) else _common_slopes(h)  # a GPU would wait for the answer, and gain little
    if slopes is None or len(A) + np.count_nonzero(slopes == 0) > len(h):
        return Flow((C.T @ A) * _slopes(h))
    mixed = np.flatnonzero(slopes == 0)
    own = (C[:, mixed].T @ A) * _slopes(h[mixed])
    return Flow(np.concatenate([A, own]), C * slopes, mixed)


def _slopes(h: Any) -> Any:
    slopes = cast(h > 0, h.dtype)
    slopes *= 1 - SLOPE
    slopes += SLOPE
    return slopes


def _common_slopes(h: np.ndarray) -> np.ndarray:
    """The slope of every unit, 0 for those that have both slopes in this batch."""
    return np.where(h.min(axis=1) > 0, 1, np.where(h.max(axis=1) <= 0, SLOPE, 0)).astype(h.dtype)


class AuthorsOptimiser:
    """Steps of the authors' program: gradients over their running root mean square, with momentum, in place.

    r ← sqrt(0.9 r² + 0.1 g²), r = |g| at first; delta ← 0.99 delta - rate · g / r; theta ← theta + delta. What is kept
    is 10 r², which saves a root and a product; g / r counts as 0 where every gradient so far was 0. ``decay`` times
    theta is added to the gradient g; both are vectors.
    """

    def __init__(self, theta: Any, decay: Any) -> None:
        self.theta, self.decay, self.squares, self.delta, self.weight = theta, decay, theta * 0, theta * 0, 10

    def step(self, gradient: Any, rate: float) -> None:
        """Move theta against the gradient, which is overwritten."""
        chunk = len(gradient) if is_tensor(gradient) else CHUNK
        arrays = self.theta, gradient, self.squares, self.delta, self.decay
        for start in range(0, len(gradient), chunk):
            theta, g, squares, delta, decay = (array[start : start + chunk] for array in arrays)
            g += decay * theta
            squares *= 0.9
            squares += self.weight * (g * g)
            delta *= 0.99
            delta -= (rate * 10**0.5) * (g / (namespace(g).sqrt(squares) + 1e-18))
            theta += delta
        self.weight = 1


def embedding_gradients(F_x: Any, F_e: Any, w: Any, member: Any = None) -> tuple[Any, Any]:
    """Derivatives of Phi in F_x (q, B) and F_e (q, B), or (q, sets) with a member matrix.

    With K = F diag(w) F' they are 2 (K_x F_x - F_e) diag(w), where F_x - F_e + (K_x - I) F_x cancels, and likewise.
    """
    encoded, seen, weight = F_e, F_x * w, w
    if member is not None:
        encoded, seen, weight = F_e @ member, seen @ member.T, member @ w
    K_x, K_e = (F_x * w) @ F_x.T, (F_e * weight) @ F_e.T
    return 2 * w * (K_x @ F_x - encoded), 2 * (weight * (K_e @ F_e) - seen)


def ranking_gradient(o: Any, Y: Any, share: Any) -> Any:
    """Derivative of Gamma in outputs o (L, B); ``share`` (B,) is weight / (|Y| |Y'|), 0 without a pair."""
    u = namespace(o).exp(SHARPNESS * (1 - 2 * Y) * o)
    relevant = (u * Y).sum(0)
    return share * u * (relevant - Y * u.sum(0))


def starting_layers(rng: Any, sizes: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """First weights and biases of a net with leaky layers and a sigmoid layer at its end, as the authors draw them."""
    layers = []
    for fan_in, fan_out in pairwise(sizes[:-1]):
        layers.append((rng.uniform(-0.01, 0.01, (fan_in, fan_out)), rng.uniform(0, 0.1, fan_out)))
    bound = 4 * np.sqrt(6 / (sizes[-2] + sizes[-1]))
    return [*layers, (rng.uniform(-bound, bound, (sizes[-2], sizes[-1])), np.zeros(sizes[-1]))]


def wrapped_batches(order: np.ndarray, size: int) -> list[np.ndarray]:
    """Pieces of exactly ``size`` rows: the last one is filled up from the start, as often as it takes."""
    return batches(np.resize(order, -(-len(order) // size) * size), size)


class Batch(NamedTuple):
    """Different rows of a step: features with ones (D + 1, B), label sets with their share of a pair, who has which."""

    x: Any
    Y: Any
    share: Any
    member: Any


class Nets:
    """The three nets in single precision where ``like`` lies, views of one vector; gradients and optimiser."""

    def __init__(self, rng: Any, sizes: list[list[int]], weight_decay: float, like: Any) -> None:
        layers = [np.column_stack([W.T, b]) for net in sizes for W, b in starting_layers(rng, net)]
        theta = put(np.concatenate([W.ravel() for W in layers]).astype(np.float32), like)
        decay, self.gradient = theta * 0, theta * 0
        for net in net_views(decay, sizes):
            for W in net:
                W[:, :-1] = 2 * weight_decay  # biases are free
        self.optimiser = AuthorsOptimiser(theta, decay)
        self.feature, self.encoder, self.decoder = net_views(theta, sizes)
        self.gradients = net_views(self.gradient, sizes)

    def differentiate(self, batch: Batch, w: Any, weight: float) -> None:
        """Put the gradient of Phi + weight · Gamma where it belongs; w (B,) are the weights of the rows."""
        x, e = forward(self.feature, batch.x), forward(self.encoder, with_ones(batch.Y))
        d = forward(self.decoder, with_ones(e[-1]))
        share = weight * batch.share * (w if batch.member is None else batch.member @ w)
        dF_x, dF_e = embedding_gradients(x[-1], e[-1], w, batch.member)
        feature, encoder, decoder = self.gradients
        backward(self.feature, x, dF_x, feature)
        C, A = backward(self.decoder, d, ranking_gradient(d[-1], batch.Y, share), decoder).inputs(self.decoder[0])
        backward(self.encoder, e, dF_e + C.T @ A, encoder)

    def state(self, epoch: int) -> dict[str, Any]:
        """Layers (weights, biases) of the two nets that a prediction passes through, and the epoch they come from."""
        found: dict[str, Any] = {"best_epoch_": epoch}
        for name, net in (("feature_net_", self.feature), ("decoder_net_", self.decoder)):
            stacked = [asnumpy(W).astype(np.float64) for W in net]
            found[name] = tuple((W[:, :-1].T.copy(), W[:, -1].copy()) for W in stacked)
        return found


class Rows:
    """Training data of a run, and the batches that are made of them; all rows in one batch are gathered once."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray, like: Any) -> None:
        X, ones = X.astype(np.float32), np.ones((len(Y), 1), np.float32)
        self.X = sparse.hstack([X, ones], "csr") if sparse.issparse(X) else np.hstack([X, ones])
        self.Y, self.w, self.like = Y.astype(np.float32), w.astype(np.float32), like
        self.ids = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)

    def batch(self, drawn: np.ndarray) -> tuple[Batch, Any]:
        """The batch of rows drawn, and their weights: a row drawn twice counts twice, for less work than two."""
        rows, counts = np.unique(drawn, return_counts=True)
        w = put((self.w[rows] * counts).astype(np.float32), self.like)
        return self._whole if len(rows) == len(self.Y) else self._of(rows), w

    @cached_property
    def _whole(self) -> Batch:
        return self._of(np.arange(len(self.Y)))

    def _of(self, rows: np.ndarray) -> Batch:
        x = put(np.ascontiguousarray(dense_rows(self.X, rows).T), self.like)
        ids, first, own = np.unique(self.ids[rows], return_index=True, return_inverse=True)
        if 2 * len(ids) > len(rows):
            return Batch(x, *self._labels(rows), None)
        member = (np.arange(len(ids))[:, None] == own).astype(np.float32)
        return Batch(x, *self._labels(rows[first]), put(member, self.like))

    def _labels(self, rows: np.ndarray) -> tuple[Any, Any]:
        Y = self.Y[rows]
        share = pair_share(Y).astype(np.float32)
        return put(np.ascontiguousarray(Y.T), self.like), put(share, self.like)
