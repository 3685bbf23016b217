"""How C2AE is trained: gradients of its two losses, batches, and the run itself.

Columns are rows of data, as in `leaky_nets`: latent F_x and F_e (q, B), decoded outputs c and labels Y (L, B), weights
of the rows w (B,). With K = F diag(w) F' (q, q) the derivatives are

    dPhi/dF_x   = 2 (K_x F_x - F_e) diag(w)                (F_x - F_e + (K_x - I) F_x, where F_x cancels)
    dPhi/dF_e   = 2 (K_e F_e - F_x) diag(w)
    dGamma/do_k = -share u_k irrelevant for k in Y, share u_k relevant for others,   u = exp(±5 o)

where relevant and irrelevant are the sums of u over labels of the two kinds, and a shift of o by 1/2 changes nothing.

Encoder and decoder see label sets alone, and small data have few different ones: 26 in 474 rows of emotions. Where that
halves the work they pass each set of a batch once, with the weight of all its rows; ``member`` (sets, B) tells which.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ...core.backend import asnumpy, namespace, put
from .leaky_nets import AuthorsOptimiser, backward, forward, net_views, with_ones
from .nets import batches, dense_rows, pair_share

SHARPNESS = 5.0  # of the ranking loss


def embedding_gradients(F_x: Any, F_e: Any, w: Any, member: Any = None) -> tuple[Any, Any]:
    """Derivatives of Phi in F_x (q, B) and F_e (q, B), or (q, sets) with a member matrix."""
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
    """Pieces of exactly ``size`` rows: the last one is filled up from the start, as often as it takes.

    Examples
    --------
    >>> [piece.tolist() for piece in wrapped_batches(np.arange(5), 3)]
    [[0, 1, 2], [3, 4, 0]]
    """
    return batches(np.resize(order, -(-len(order) // size) * size), size)


@dataclass(frozen=True)
class Batch:
    """Different rows of a step: features with ones (D + 1, B), label sets with their share of a pair, who has which."""

    x: Any
    Y: Any
    share: Any
    member: Any


class Nets:
    """The three nets in single precision beside ``like``, views of one vector, with their gradients and optimiser."""

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

    @staticmethod
    def arrays(net: list[Any]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Layers (weights, biases) of a net as the estimator keeps them."""
        stacked = [asnumpy(W).astype(np.float64) for W in net]
        return tuple((W[:, :-1].T.copy(), W[:, -1].copy()) for W in stacked)


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
