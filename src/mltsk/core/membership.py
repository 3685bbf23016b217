"""Gaussian memberships and normalised firing strengths.   (2) (5) (6)

Symbols: X (N, D) samples, C (K, D) centres, S (K, D) widths, E (N, K) exponents, M (N, K) firing strengths.

The membership of x in the fuzzy set of rule k and feature i is exp(-(x - c)² / s). The paper writes 2δ² for s with
δ = h · variance (4); its authors' program uses s = h · variance + eps, without square and factor: `authors_widths`.
"""

from typing import Literal

import numpy as np
from scipy import sparse

from .arrays import Array, Matrix, row_blocks
from .backend import namespace

Underflow = Literal["softmax", "authors", "plain"]


def firing_strengths(X: Matrix, C: Array, S: Array, *, underflow: Underflow = "softmax") -> Array:
    """Firing strength of every rule for every sample, (N, K), normalised: rows sum to 1.   (5) (6)

    Works in log space: a product over D Gaussians underflows to 0/0 beyond a few hundred features. With
    ``underflow="authors"`` the product is taken literally, as the published program does, and a sample whose
    memberships all underflow fires no rule: its row is 0. ``"plain"`` does not normalise at all: a membership in
    [0, 1] per rule, so that a sample far from every rule fires none.
    """
    xp = namespace(C)
    M = xp.empty((X.shape[0], C.shape[0]), dtype=xp.result_type(X.dtype, C.dtype), like=C)
    if not len(C):
        return M
    common = underflow == "softmax" and bool((S == S[0]).all())
    for rows in row_blocks(X.shape[0], 8 * (X.shape[1] + 3 * C.shape[0]), like=C):
        M[rows] = _normalise(exponents(X[rows], C, S, relative=common), underflow)
    return M


def exponents(X: Matrix, C: Array, S: Array, *, relative: bool = False) -> Array:
    """E_k(x) = Σ_i (x_i - c_i)² / s_i, (N, K); with ``relative``, up to a term that is the same for every rule.

    Where widths are ordinary the square is expanded, so the work is one or two matrix products instead of an (N, K, D)
    array; where some are so narrow that this would cancel (constant features under the authors' widths), it is not.
    """
    xp = namespace(C)
    if not sparse.issparse(X):
        origin = C.mean(axis=0)
        X, C = X - origin, C - origin
        if not relative and _would_cancel(C, S):
            return xp.stack([((X - c) ** 2) @ (1 / s) for c, s in zip(C, S, strict=True)], axis=1)
    E = -2 * xp.asarray(X @ (C / S).T) + xp.einsum("kd,kd->k", C, C / S)
    if not relative:
        square = X.multiply(X) if sparse.issparse(X) else X**2
        E += xp.asarray(square @ (1 / S).T)
        xp.clip(E, 0.0, None, out=E)
    return E


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


def _would_cancel(C: Array, S: Array) -> bool:
    # An expanded square keeps an absolute error of about eps · c²/s in the exponent; 1e-6 is far below what shows.
    return bool((C**2 / S).max() * np.finfo(np.float64).eps > 1e-9) if len(C) else False


def _normalise(E: Array, underflow: Underflow) -> Array:
    xp = namespace(E)
    M = xp.exp(xp.amin(E, axis=1, keepdims=True) - E if underflow == "softmax" else -E)
    if underflow == "plain":
        return M
    total = M.sum(axis=1, keepdims=True)
    return M / xp.where(total == 0, np.finfo(np.float64).eps, total)  # a 0 is one of the authors' underflows
