"""Label couplings: how correlated labels make their consequents alike. (22) (23)

Symbols: Y (N, L) labels, C (L, L) their Pearson correlation, R = 1 - C the coupling of
the paper, Q (L, L) a convex one, P the consequents, with a column p_i per label. The
term in the objective is (α/2) Tr(P Q Pᵀ) = (α/2) Σ_ij q_ij p_iᵀ p_j.

R has zero trace and therefore, unless it is 0, a negative eigenvalue. With R, the
objective is not convex, and it is unbounded below if G has a null direction. R also
*rewards* long consequents of correlated labels. The other couplings are positive
semidefinite. They say "correlated labels, similar consequents" and have a minimum:

===========  ============================  =========================================
coupling     Q before scaling              what it penalises
===========  ============================  =========================================
laplacian    diag(S1) - S, S = max(C, 0)   ½ Σ s_ij ‖p_i - p_j‖²
signed       diag(abs(C)1) - C, off-diag.  ½ Σ |c_ij| ‖p_i - sign(c_ij) p_j‖²: negative
                                           correlation counts too
shift        R - λ_min(R) I                the paper's term and the least ridge that
                                           makes it convex
precision    (C + 0.1 I)⁻¹                 -log of a Gaussian prior on P whose columns
                                           correlate as the labels do
ridge        I                             ½ ‖P‖²: no coupling, the control for every
                                           claim about the others
===========  ============================  =========================================

Each Q is scaled to trace L, so that a value of α means the same average weight per
label for all of them.
"""

import numpy as np

from .arrays import Array, FloatArray, namespace

CONVEX = ("laplacian", "signed", "shift", "precision", "ridge")


def label_correlation(Y: Array, sample_weight: Array | None = None) -> Array:
    """Pearson correlation (L, L) of labels; 0 for a constant label and any other. (22)

    Parameters
    ----------
    Y : array of shape (N, L)
    sample_weight : array of shape (N,), optional

    Examples
    --------
    >>> label_correlation(np.array([[1.0, 0, 1], [0, 1, 1]])).round(6).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    xp = namespace(Y)
    w = sample_weight
    if w is None:
        w = xp.ones(len(Y), dtype=np.float64 if xp is np else Y.dtype, like=Y)
    centred = Y - (w @ Y) / w.sum()
    covariance = centred.T @ (w[:, None] * centred)
    sd = xp.sqrt(xp.maximum(xp.diag(covariance), 0.0))
    constant = sd <= 1e-12 * w.sum() ** 0.5
    sd = xp.where(constant, 1.0, sd)
    C = covariance / sd / sd[:, None]
    C[constant] = 0.0
    C[:, constant] = 0.0
    xp.fill_diagonal(C, 1.0)
    return xp.clip((C + C.T) / 2, -1.0, 1.0)


def coupling_matrix(C: Array, kind: str | None) -> Array:
    """Coupling matrix (L, L) of labels with the correlation C.

    Parameters
    ----------
    C : array of shape (L, L)
        It may be a tensor for "paper" and None.
    kind : {"laplacian", "signed", "shift", "precision", "ridge", "paper"} or None
        The first five are convex and scaled to trace L; one that is 0, because labels
        are not correlated, stays 0. "paper" is R, not scaled; None is 0.
    """
    if kind is None:
        return 0.0 * C
    if kind == "paper":
        return 1.0 - C
    if kind not in CONVEX:
        names = ", ".join(map(repr, (*CONVEX, "paper")))
        raise ValueError(f"coupling must be one of {names} or None, got {kind!r}")
    Q = _convex_coupling(C, kind)
    trace = float(np.trace(Q))
    if trace > 1e-12 * len(C):
        return Q * (len(C) / trace)
    return np.zeros_like(C)


def _convex_coupling(C: FloatArray, kind: str) -> FloatArray:
    """Q (L, L) of the table above, before scaling."""
    if kind == "laplacian":
        return _laplacian(np.maximum(C, 0.0))
    if kind == "signed":
        return _laplacian(C)
    ridge = np.eye(len(C))
    if kind == "shift":
        R = 1.0 - C
        return R - np.linalg.eigvalsh(R)[0] * ridge
    if kind == "precision":
        return np.linalg.inv(C + 0.1 * ridge)
    return ridge


def _laplacian(S: FloatArray) -> FloatArray:
    """Laplacian (L, L) of the graph of labels with the weights S (L, L) of edges."""
    edges = S - np.diag(np.diag(S))
    return np.diag(abs(edges).sum(axis=1)) - edges
