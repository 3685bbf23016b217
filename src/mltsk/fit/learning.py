"""What a ridge regression learns from fewer rows, in closed form.

Terms, exceptions and the ridge stay those of the fit to all rows; only the numbers are
found from fewer. In each of a few folds, a row is scored by fits to growing parts of
the rows of other folds.

Symbols: n rows, L labels, S sizes, K (n, n) the kernel of the rows.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from .factor import Factor
from .left_out import Groups
from .ridge import centred_kernel

LEARNING_FOLDS = 5


def learning_scores(
    K: FloatArray,
    Y: FloatArray,
    w: FloatArray,
    groups: Groups,
    ridge: float,
    shares: tuple[float, ...],
    seed: int,
) -> FloatArray:
    """Scores (S, n, L) of rows by fits to shares of all rows, which lack the row.

    Parameters
    ----------
    K : (n, n)
    Y : (n, L)
    w : (n,)
        Weights above 0.
    groups : (n,) codes, or None
        Rows of one group are in the same fold.
    ridge : float
    shares : tuple of S floats
        Shares of all rows that are learned from, 0.8 at most.
    seed : int
        Of folds, and of which rows are learned from.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> scores = learning_scores(
    ...     x @ x.T, (x > 0) * 1.0, np.ones(40), None, 1.0, (0.4, 0.8), seed=0
    ... )
    >>> scores.shape, (scores[1, 20:].min() > scores[1, :20].max()).item()
    ((2, 40, 1), True)
    """
    units = np.arange(len(Y)) if groups is None else groups
    n_units = int(units.max()) + 1
    place = np.random.default_rng(seed).permutation(n_units)[units]
    scores = np.zeros((len(shares), *Y.shape))
    for fold in range(LEARNING_FOLDS):
        test = np.flatnonzero(place % LEARNING_FOLDS == fold)
        # places of the other folds, without gaps: those of the first rows come first
        others = np.flatnonzero(place % LEARNING_FOLDS != fold)
        for s, share in enumerate(shares):
            train = others[place[others] < share / 0.8 * n_units]
            if len(train) and len(test):
                scores[s, test] = _scores_of_fit(K, Y, w, train, test, ridge)
    return scores


def _scores_of_fit(
    K: FloatArray,
    Y: FloatArray,
    w: FloatArray,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    ridge: float,
) -> FloatArray:
    """Scores (test rows, L) of a fit to training rows, less the mean label.

    Without the mean, scores of several folds can be compared.
    """
    weights = w[train]
    share = weights / weights.sum()
    root = np.sqrt(weights)
    between = K[np.ix_(test, train)]
    centred = between - (between @ share)[:, None]
    inner = K[np.ix_(train, train)]
    mean = inner @ share
    centred -= mean - share @ mean
    factor = Factor.of(centred_kernel(inner, weights), np.array([ridge]))
    residuals = root[:, None] * (Y[train] - share @ Y[train])
    return np.asarray((centred * root) @ factor.solve(residuals))
