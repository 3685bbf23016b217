"""Gaussian memberships and normalised firing strengths (2) (5) (6), and who is in a rule by them.

Symbols: X (N, D) samples, C (K, D) centres, S (K, D) widths, E (N, K) exponents, M (N, K) firing strengths,
Y (N, L) labels.

The membership of x in the fuzzy set of rule k and feature i is exp(-(x - c)² / s). The paper writes 2δ² for s with
δ = h · variance (4); its authors' program uses s = h · variance + eps, without square and factor: `authors_widths`.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import Array, Matrix, cast, namespace, put, row_blocks, spread_rows

Firing = Literal["softmax", "authors", "plain", "minimum"]


def firing_strengths(
    X: Matrix,
    C: Array,
    S: Array,
    *,
    firing: Firing = "softmax",
    share: Array | None = None,
) -> Array:
    """Firing strength of every rule for every sample, (N, K), normalised: rows sum to 1.   (5) (6)

    Works in log space: a product over D Gaussians underflows to 0/0 beyond a few hundred features. With
    ``firing="authors"`` the product is taken literally, as the published program does, and a sample whose
    memberships all underflow fires no rule: its row is 0. ``"plain"`` does not normalise at all: a membership in
    [0, 1] per rule, so that a sample far from every rule fires none. ``"minimum"`` neither, and joins conditions by
    their minimum instead of their product.
    """
    xp = namespace(C)
    M = xp.empty(
        (X.shape[0], C.shape[0]), dtype=xp.result_type(X.dtype, C.dtype), like=C
    )
    relative = firing == "softmax" and len(C) > 0 and bool((S == S[0]).all())
    for rows in (
        row_blocks(X.shape[0], 8 * (X.shape[1] + 3 * C.shape[0]), like=C)
        if len(C)
        else ()
    ):
        if firing == "minimum":
            E = _farthest(X[rows], C, S, share)
        else:
            E = exponents(X[rows], C, S, relative=relative, share=share)
        fired = xp.exp(
            xp.amin(E, axis=1, keepdims=True) - E if firing == "softmax" else -E
        )
        if firing in ("softmax", "authors"):
            total = fired.sum(axis=1, keepdims=True)
            fired /= xp.where(
                total == 0, np.finfo(np.float64).eps, total
            )  # a 0 is one of the authors' underflows
        M[rows] = fired
    return M


def exponents(
    X: Matrix, C: Array, S: Array, *, relative: bool = False, share: Array | None = None
) -> Array:
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
            return xp.stack(
                [((X - c) ** 2) @ (1 / s) for c, s in zip(C, S, strict=True)], axis=1
            )
        square = None if relative else X**2
    E = -2 * xp.asarray(X @ (C / S).T) + xp.einsum("kd,kd->k", C, C / S)
    if not relative:
        E += xp.asarray(square @ (1 / S).T)
        xp.clip(E, 0.0, None, out=E)
    return E


def _of_what_is_there(
    X: Array, there: Array, C: Array, S: Array, relative: bool, share: Array | None
) -> Array:
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
    parts = [
        xp.amax(xp.nan_to_num((X - c) ** 2 / s), axis=1)
        for c, s in zip(C, S, strict=True)
    ]
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


# members --------------------------------------------------------------------------------------------------------------

MEMBER, FEWEST = (
    0.5,
    5,
)  # a member from this membership on; of rules with fewer members, these are the nearest samples
MOST = 200  # members that a region is taken from, evenly spread: sorting more would take a tenth of a fit


@dataclass(frozen=True)
class Members:
    """Counts of K rules, and of all samples in the last row.

    ``count`` (K+1,) are members, ``observed`` (K+1, L) those in which a label was observed, ``positives`` (K+1, L)
    those of them that have it. ``regions`` (K+1, D, 2) are the 10th and 90th percentile of the members, values that
    occur, NaN where none was measured; of columns that stand for a value of words, how many members have it and how
    many have any. None for sparse samples. ``given`` (R, 2, L) are positives and observed of the samples for which each
    rule of the user holds.
    """

    count: NDArray[np.int64]
    observed: NDArray[np.int64]
    positives: NDArray[np.int64]
    regions: Array | None
    given: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, 2, 0), dtype=np.int64)
    )

    @classmethod
    def of(
        cls,
        X: Any,
        M: Array,
        Y: Array,
        w: Array,
        *,
        shared: bool,
        indicators: Any = None,
        n_given: int = 0,
    ) -> "Members":
        """Of samples X with memberships M (N, K), labels Y (N, L) and weights w (N,) or (N, L).

        Samples of weight 0 do not count. A member has a membership of 0.5 or more or, where rules share samples out
        (``shared``), its largest share; a rule that has fewer than 5 members has the 5 samples that are nearest to it.
        ``indicators`` (D,) says which columns stand for a value of words; the last ``n_given`` are of given rules.
        """
        known = np.broadcast_to((w if w.ndim == 2 else w[:, None]) > 0, Y.shape)
        rows = np.flatnonzero(known.any(axis=1))
        M, known, given_labels = M[rows], known[rows], Y[rows] > 0
        inside = M >= (M.max(axis=1, keepdims=True, initial=0.0) if shared else MEMBER)
        for k in np.flatnonzero(inside.sum(axis=0) < FEWEST):
            inside[np.argpartition(-M[:, k], min(FEWEST, len(M)) - 1)[:FEWEST], k] = (
                True
            )
        inside = np.column_stack([inside, np.ones(len(rows), dtype=bool)])
        each = inside.T.astype(np.float64)
        observed, positives = (
            (each @ cells).astype(np.int64) for cells in (known, known & given_labels)
        )
        regions = None
        if not sparse.issparse(X):
            words = (
                np.zeros(X.shape[1], dtype=bool) if indicators is None else indicators
            )
            regions = np.stack(
                [_region(X, rows[members], words) for members in inside.T]
            )
        held = (X[rows, -n_given:] > 0).T if n_given else np.zeros((0, len(rows)))
        given = np.stack(
            [
                held.astype(np.float64) @ cells
                for cells in (known & given_labels, known)
            ],
            axis=1,
        )
        return cls(
            inside.sum(axis=0), observed, positives, regions, given.astype(np.int64)
        )


def _region(X: Array, members: NDArray[np.intp], words: NDArray[np.bool_]) -> Array:
    out = np.empty((X.shape[1], 2))
    if words.any():
        own = X[np.ix_(members, words)]
        out[words] = np.stack(
            [(own > 0).sum(axis=0), (~np.isnan(own)).sum(axis=0)], axis=1
        )
    part = np.sort(
        X[members[spread_rows(len(members), MOST)]][:, ~words], axis=0
    )  # missing values are last
    last = np.maximum((~np.isnan(part)).sum(axis=0) - 1, 0)
    ends = np.floor(0.1 * last).astype(int), np.ceil(0.9 * last).astype(int)
    out[~words] = np.stack(
        [part[end, np.arange(part.shape[1])] for end in ends], axis=1
    )
    return out
