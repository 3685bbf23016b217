"""The AUC of a linear smoother, from pairs of rows that are left out together.

For the choices of a fit and for what it reports. Scores of single rows that are left
out cannot be compared with each other: without a row that has the label, the share of
the label is lower, and so is the intercept. On pure noise this alone gives a pooled
leave-one-out AUC far below one half. Where a row with the label and a row without it
are left out at once, both scores come from the same fit.

Symbols: n rows, L labels, H (n, n) the hat matrix, Y (n, L) labels, fitted = H @ Y.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from .ridge import Factor, centred_kernel

MAX_BLOCK_PAIRS = 2**20  # 8 MiB per array of pairs
# Scores that differ by less are equal but for rounding: without it, a model that says
# the same of all rows would be judged by its last bits.
TIED_SCORES = 1e-12
MIN_DETERMINANT = 1e-12  # below, two rows decide their own scores alone


def hat_matrix(K: FloatArray, w: FloatArray, ridge: float) -> FloatArray:
    """The matrix H (n, n) by which a ridge regression turns labels into fitted scores.

    K (n, n) is the kernel of rows whose weights w (n,) are all above 0; it is
    overwritten.

    Where rows do not differ, every fitted score is the weighted mean.

    >>> hat_matrix(np.zeros((2, 2)), np.array([1.0, 3.0]), ridge=1.0).round(2).tolist()
    [[0.25, 0.75], [0.25, 0.75]]
    """
    root = np.sqrt(w)
    factor = Factor.of(centred_kernel(K, w), np.array([ridge]))
    H = np.outer(root, root) / w.sum() - ridge * factor.inverse()
    H[np.diag_indices_from(H)] += 1.0
    return np.asarray(H * (root / root[:, None]))


def leave_pair_out_auc(
    H: FloatArray,
    Y: FloatArray,
    fitted: FloatArray,
    max_pairs: int = MAX_BLOCK_PAIRS,
) -> NDArray[np.float64]:
    """The share of pairs in which the row with the label scores higher, per label.

    Each pair is a row with the label and one without it, scored by the fit to all
    other rows: with the residuals r = y - fitted and both rows S, the left-out
    residuals are (I - H[S, S])⁻¹ r[S]. Equal scores count one half.

    Parameters
    ----------
    H : (n, n)
        The hat matrix of a smoother that has an intercept, for rows of weight 1.
    Y : (n, L)
        Labels of 0 and 1, all of them observed.
    fitted : (n, L)
        The scores H @ Y.
    max_pairs : int
        Pairs that are worked on at once, which limits memory.

    Returns
    -------
    (L,)
        AUC per label; NaN where all rows have the label, or none.

    Examples
    --------
    The mean of all rows tells nothing; leave-one-out would give it an AUC of 0.

    >>> H = np.full((6, 6), 1 / 6)
    >>> Y = np.array([[1.0], [0.0], [0.0], [1.0], [0.0], [0.0]])
    >>> leave_pair_out_auc(H, Y, H @ Y).tolist()
    [0.5]
    """
    aucs = np.full(Y.shape[1], np.nan)
    for label in range(Y.shape[1]):
        cases = np.flatnonzero(Y[:, label] > 0)
        others = np.flatnonzero(Y[:, label] <= 0)
        if not len(cases) or not len(others):
            continue
        residuals = Y[:, label] - fitted[:, label]
        n_rows = max(max_pairs // len(others), 1)
        won = 0.0
        for start in range(0, len(cases), n_rows):
            won += _pairs_won(H, residuals, cases[start : start + n_rows], others)
        aucs[label] = won / (len(cases) * len(others))
    return aucs


def _pairs_won(
    H: FloatArray,
    residuals: FloatArray,
    cases: NDArray[np.intp],
    others: NDArray[np.intp],
) -> float:
    """In how many pairs of these rows the case scores higher; ties count one half."""
    leverage = np.diagonal(H)
    free_case = 1 - leverage[cases, None]
    free_other = 1 - leverage[others]
    other_to_case = H[np.ix_(cases, others)]
    case_to_other = H[np.ix_(others, cases)].T
    r_case = residuals[cases, None]
    r_other = residuals[others]
    determinant = free_case * free_other - other_to_case * case_to_other
    determinant = np.maximum(determinant, MIN_DETERMINANT)
    # By Cramer's rule the case's left-out residual is
    # (free_other r_case + other_to_case r_other) / determinant, the other's alike.
    case_residual = free_other * r_case + other_to_case * r_other
    other_residual = free_case * r_other + case_to_other * r_case
    lead = 1 - (case_residual - other_residual) / determinant
    tied = np.abs(lead) <= TIED_SCORES
    return float(np.count_nonzero((lead > 0) & ~tied) + tied.sum() / 2)
