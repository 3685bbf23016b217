"""Label coupling matrices: how the consequents of correlated labels pull at each other.   (22) (23)

Symbols: Y (N, L) labels, C (L, L) their Pearson correlation, R = 1 - C the paper's coupling, Q (L, L) a convex one.
The term in the objective is (α/2) Tr(P Q Pᵀ) = (α/2) Σ_ij q_ij p_iᵀ p_j.

R has zero trace, hence a negative eigenvalue unless it vanishes: with it the objective is not convex and, when G has a
null direction, unbounded below. It also *rewards* long consequents of correlated labels. The other couplings are
positive semidefinite and say "correlated labels, similar consequents" in ways that have a minimum:

===========  ============================  ==================================================================
coupling     Q before scaling              what it penalises
===========  ============================  ==================================================================
laplacian    diag(S1) - S, S = max(C, 0)   ½ Σ s_ij ‖p_i - p_j‖²
signed       diag(|C|1) - C, C off-diag.   ½ Σ |c_ij| ‖p_i - sign(c_ij) p_j‖², negative correlation counts too
shift        R - λ_min(R) I                the paper's term plus the least ridge that makes it convex
precision    (C + 0.1 I)⁻¹                 -log of a Gaussian prior on P whose columns correlate as the labels do
ridge        I                             ½ ‖P‖²: no coupling, the control of every claim about the others
===========  ============================  ==================================================================

Each Q is scaled to trace L, so that one grid of α means the same average weight per label for all of them.
"""

from collections.abc import Callable

import numpy as np

from .arrays import Array

CONVEX = ("laplacian", "signed", "shift", "precision", "ridge")


def label_correlation(Y: Array, sample_weight: Array | None = None) -> Array:
    """Pearson correlation of the columns of Y (L, L); a constant label correlates 0 with every other one.   (22)

    Examples
    --------
    >>> import numpy as np
    >>> label_correlation(np.array([[1.0, 0, 1], [0, 1, 1]])).round(6).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w = np.ones(len(Y)) if sample_weight is None else sample_weight
    Yc = Y - (w @ Y) / w.sum()
    cov = Yc.T @ (w[:, None] * Yc)
    sd = np.sqrt(np.diag(cov))
    constant = sd <= 1e-12 * np.sqrt(w.sum())
    C = cov / np.where(constant, 1.0, sd) / np.where(constant, 1.0, sd)[:, None]
    C[constant] = C[:, constant] = 0.0
    np.fill_diagonal(C, 1.0)
    return np.clip((C + C.T) / 2, -1.0, 1.0)


def coupling_matrix(C: Array, kind: str | None) -> Array:
    """The coupling matrix of a label correlation C: ``kind`` of the table above, "paper" for R, None for zeros.

    Convex kinds come scaled to trace L; one that vanishes (uncorrelated labels) stays 0. The paper's R is not scaled.
    """
    if kind is None:
        return np.zeros_like(C)
    if kind == "paper":
        return 1.0 - C
    if kind not in _BUILD:
        names = ", ".join(repr(k) for k in (*CONVEX, "paper"))
        raise ValueError(f"coupling must be one of {names} or None, got {kind!r}")
    Q = _BUILD[kind](C)
    trace = float(np.trace(Q))
    return Q * (len(C) / trace) if trace > 1e-12 * len(C) else np.zeros_like(C)


def _laplacian(C: Array) -> Array:
    S = np.maximum(C, 0.0)
    np.fill_diagonal(S, 0.0)
    return np.diag(S.sum(axis=1)) - S


def _signed(C: Array) -> Array:
    off = C - np.diag(np.diag(C))
    return np.diag(np.abs(off).sum(axis=1)) - off


def _shift(C: Array) -> Array:
    R = 1.0 - C
    return R - float(np.linalg.eigvalsh(R)[0]) * np.eye(len(C))


def _precision(C: Array) -> Array:
    return np.linalg.inv(C + 0.1 * np.eye(len(C)))


_BUILD: dict[str, Callable[[Array], Array]] = {
    "laplacian": _laplacian,
    "signed": _signed,
    "shift": _shift,
    "precision": _precision,
    "ridge": lambda C: np.eye(len(C)),
}
