"""Gaussian memberships and normalised firing strengths.   (2) (5) (6)

Symbols: X (N, D) samples, C (K, D) centres, S (K, D) widths, E (N, K) exponents, M (N, K) firing strengths.

The membership of x in the fuzzy set of rule k and feature i is exp(-(x - c)² / s). The paper writes 2δ² for s with
δ = h · variance (4); its authors' program uses s = h · variance + eps, without square and factor: `authors_widths`.
"""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from .arrays import Array, Matrix, row_blocks
from .backend import cast, namespace, put

Underflow = Literal["softmax", "authors", "plain", "minimum"]


def firing_strengths(
    X: Matrix, C: Array, S: Array, *, underflow: Underflow = "softmax", share: Array | None = None
) -> Array:
    """Firing strength of every rule for every sample, (N, K), normalised: rows sum to 1.   (5) (6)

    Works in log space: a product over D Gaussians underflows to 0/0 beyond a few hundred features. With
    ``underflow="authors"`` the product is taken literally, as the published program does, and a sample whose
    memberships all underflow fires no rule: its row is 0. ``"plain"`` does not normalise at all: a membership in
    [0, 1] per rule, so that a sample far from every rule fires none. ``"minimum"`` neither, and joins conditions by
    their minimum instead of their product.
    """
    xp = namespace(C)
    M = xp.empty((X.shape[0], C.shape[0]), dtype=xp.result_type(X.dtype, C.dtype), like=C)
    relative = underflow == "softmax" and len(C) > 0 and bool((S == S[0]).all())
    for rows in row_blocks(X.shape[0], 8 * (X.shape[1] + 3 * C.shape[0]), like=C) if len(C) else ():
        if underflow == "minimum":
            E = _farthest(X[rows], C, S, share)
        else:
            E = exponents(X[rows], C, S, relative=relative, share=share)
        fired = xp.exp(xp.amin(E, axis=1, keepdims=True) - E if underflow == "softmax" else -E)
        if underflow in ("softmax", "authors"):
            total = fired.sum(axis=1, keepdims=True)
            fired /= xp.where(total == 0, np.finfo(np.float64).eps, total)  # a 0 is one of the authors' underflows
        M[rows] = fired
    return M


def exponents(X: Matrix, C: Array, S: Array, *, relative: bool = False, share: Array | None = None) -> Array:
    """E_k(x) = Σ_i (x_i - c_i)² / s_i, (N, K); with ``relative``, up to a term that is the same for every rule.

    Where widths are ordinary the square is expanded, so the work is one or two matrix products instead of an (N, K, D)
    array; where some are so narrow that this would cancel (constant features under the authors' widths), it is not. A
    missing value does not count, and what is there counts for all: features by their ``share`` (D,), by default alike.
    """
    xp = namespace(C)
    if sparse.issparse(X):
        square: Any = X.multiply(X)
    else:
        origin = C.mean(axis=0)
        X, C = X - origin, C - origin
        there = X == X
        if not bool(there.all()):
            return _of_what_is_there(X, there, C, S, relative, share)
        # An expanded square keeps an absolute error of about eps · c²/s in the exponent; 1e-6 is far below what shows.
        if not relative and bool((C**2 / S).max() * np.finfo(np.float64).eps > 1e-9):
            return xp.stack([((X - c) ** 2) @ (1 / s) for c, s in zip(C, S, strict=True)], axis=1)
        square = None if relative else X**2
    E = -2 * xp.asarray(X @ (C / S).T) + xp.einsum("kd,kd->k", C, C / S)
    if not relative:
        E += xp.asarray(square @ (1 / S).T)
        xp.clip(E, 0.0, None, out=E)
    return E


def _of_what_is_there(X: Array, there: Array, C: Array, S: Array, relative: bool, share: Array | None) -> Array:
    """Exponents over the values that are there, times how much of a rule's features they are; 1000 without any."""
    xp = namespace(C)
    X, there = xp.where(there, X, 0.0), cast(there, X.dtype)
    E = -2 * X @ (C / S).T + there @ (C * C / S).T
    if not relative:
        E = xp.clip(E + X**2 @ (1 / S).T, 0.0, None)
    counted = _counted(X, S, share)
    seen = there @ counted.T
    return xp.where(seen > 1e-9, E * counted.sum(axis=1) / xp.maximum(seen, 1e-9), 1e3)


def _farthest(X: Array, C: Array, S: Array, share: Array | None) -> Array:
    """max_i (x_i - c_i)² / s_i over the values that are there, (N, K), for the least membership; 1000 without any."""
    xp = namespace(C)
    parts = [xp.amax(xp.nan_to_num((X - c) ** 2 / s), axis=1) for c, s in zip(C, S, strict=True)]
    seen = cast(X == X, X.dtype) @ _counted(X, S, share).T
    return xp.where(seen > 1e-9, xp.stack(parts, axis=1), 1e3)


def _counted(X: Array, S: Array, share: Array | None) -> Array:
    """How much each condition counts, (K, D): those of infinite width are none."""
    finite = cast(namespace(S).isfinite(S), X.dtype)
    return finite if share is None else finite * cast(put(share, X), X.dtype)


def authors_widths(variances: Array, width_scale: float) -> Array:
    """Widths of the published program, h · variance + eps, (K, D).   (4)"""
    return width_scale * variances + np.finfo(np.float64).eps


def common_width(n_features: int, yardstick: float, width_scale: float) -> float:
    """One width for every rule and feature: h · D · (mean squared distance per feature to the nearest centre).

    The exponent is then the *mean* over features of squared distances in units of h · yardstick, so firing neither
    saturates nor flattens as D grows, and rules of equal width share the plane evenly.
    """
    return width_scale * n_features * max(yardstick, np.finfo(np.float64).tiny)


def rule_distinctness(M: Array, w: Array | None = None) -> float:
    """How much the rules differ in what they fire on: 0 = all the same, 1 = fully distinct.

    Each rule spreads its firing over the samples; the distance of two rules is the share of that firing which falls on
    different samples (total variation distance). This is the mean over all pairs of rules; a single rule counts as 1.

    Examples
    --------
    >>> import numpy as np
    >>> rule_distinctness(np.full((4, 2), 0.5)), rule_distinctness(np.eye(2))
    (0.0, 1.0)
    """
    K = M.shape[1]
    return float(rule_distances(M, w).sum() / (K * (K - 1))) if K > 1 else 1.0


def rule_distances(M: Array, w: Array | None = None) -> Array:
    """Total variation distance between the firing of every two rules, (K, K), 0 on the diagonal."""
    V = M if w is None else M * w[:, None]
    mass = V.sum(axis=0)
    share = V / np.where(mass > 0, mass, 1.0)
    T = np.zeros((M.shape[1], M.shape[1]))
    for rows in row_blocks(len(M), 8 * M.shape[1] ** 2):
        T += abs(share[rows, :, None] - share[rows, None, :]).sum(axis=0)
    return T / 2
