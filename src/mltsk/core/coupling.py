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
signed       diag(abs(C)1) - C, off-diag.  ½ Σ |c_ij| ‖p_i - sign(c_ij) p_j‖², negative correlation counts too
shift        R - λ_min(R) I                the paper's term plus the least ridge that makes it convex
precision    (C + 0.1 I)⁻¹                 -log of a Gaussian prior on P whose columns correlate as the labels do
ridge        I                             ½ ‖P‖²: no coupling, the control of every claim about the others
===========  ============================  ==================================================================

Each Q is scaled to trace L, so that one grid of α means the same average weight per label for all of them.
"""

from collections.abc import Callable

import numpy as np

from .arrays import Array, namespace

CONVEX = ("laplacian", "signed", "shift", "precision", "ridge")


def label_correlation(Y: Array, sample_weight: Array | None = None) -> Array:
    """Pearson correlation of the columns of Y (L, L); a constant label correlates 0 with every other one.   (22)

    Examples
    --------
    >>> label_correlation(np.array([[1.0, 0, 1], [0, 1, 1]])).round(6).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    xp = namespace(Y)
    ones = xp.ones(len(Y), dtype=np.float64 if xp is np else Y.dtype, like=Y)
    w = ones if sample_weight is None else sample_weight
    Yc = Y - (w @ Y) / w.sum()
    cov = Yc.T @ (w[:, None] * Yc)
    sd = xp.sqrt(xp.maximum(xp.diag(cov), 0.0))
    constant = sd <= 1e-12 * w.sum() ** 0.5
    C = cov / xp.where(constant, 1.0, sd) / xp.where(constant, 1.0, sd)[:, None]
    C[constant] = C[:, constant] = 0.0
    xp.fill_diagonal(C, 1.0)
    return xp.clip((C + C.T) / 2, -1.0, 1.0)


def coupling_matrix(C: Array, kind: str | None) -> Array:
    """The coupling matrix of a label correlation C: ``kind`` of the table above, "paper" for R, None for zeros.

    Convex kinds come scaled to trace L; one that vanishes (uncorrelated labels) stays 0. The paper's R is not scaled,
    and alone may be a tensor.
    """
    if kind is None:
        return 0.0 * C
    if kind == "paper":
        return 1.0 - C
    if kind not in _BUILD:
        names = ", ".join(repr(k) for k in (*CONVEX, "paper"))
        raise ValueError(f"coupling must be one of {names} or None, got {kind!r}")
    Q = _BUILD[kind](C)
    trace = float(np.trace(Q))
    return Q * (len(C) / trace) if trace > 1e-12 * len(C) else np.zeros_like(C)


def _laplacian(S: Array) -> Array:
    off = S - np.diag(np.diag(S))
    return np.diag(abs(off).sum(axis=1)) - off


_BUILD: dict[str, Callable[[Array], Array]] = {
    "laplacian": lambda C: _laplacian(np.maximum(C, 0.0)),
    "signed": _laplacian,
    "shift": lambda C: 1.0 - C - np.linalg.eigvalsh(1.0 - C)[0] * np.eye(len(C)),
    "precision": lambda C: np.linalg.inv(C + 0.1 * np.eye(len(C))),
    "ridge": lambda C: np.eye(len(C)),
}
