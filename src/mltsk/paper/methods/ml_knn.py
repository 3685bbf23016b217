"""ML-kNN: the labels of the nearest neighbours, weighed by Bayes' rule, one label at a time.

Neighbours are the same for dense and sparse rows, in any order of blocks. A block of squared distances comes from one
matrix product, ‖q‖² + ‖x‖² - 2 q·x. Its rounding errors would break ties at random (the same product gives equal rows
different last digits), so it only selects candidates: every row that may be among the first k, rounding allowed for.
Their distances are then taken from differences, and equal ones go by index.
"""

import warnings
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_chunked

from ...core.arrays import BLOCK_BYTES, dense, row_blocks, row_square_norms
from .base import MultilabelMethod, grouped


class MLkNN(MultilabelMethod):
    """Multi-label k nearest neighbours.

    For each label the number c of neighbours that carry it is the evidence, and the score is the posterior

        P(label | c) = prior · given[c] / (prior · given[c] + (1 - prior) · given_not[c]),

    with prior = (s + #positive) / (2s + N), given[r] = (s + #{positive rows with c = r}) / (s (k+1) + #positive), and
    given_not likewise over the negative rows. c of a training row leaves the row itself out. A label is predicted
    where its posterior is at least 0.5.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. With fewer than k other rows in training, all of them are used and a warning says so.
    smoothing : float, default=1.0
        s, counts added to every cell; 0 gives raw frequencies.

    Attributes
    ----------
    prior_ : array of shape (n_labels,)
    given_, given_not_ : arrays of shape (n_labels, k + 1)
        Smoothed distribution of c over rows with and without the label.
    posterior_ : array of shape (n_labels, k + 1)
        Score for every value of c.
    X_, Y_ : training rows and labels

    Notes
    -----
    This is what the method's authors run (Euclidean distance; of equally near rows the one that comes first). Scale the
    features: the method does not do it. A label has at most k + 1 distinct scores, so rankings are full of ties.
    ``sample_weight`` is refused: a weight has no meaning in a set of k neighbours.

    References
    ----------
    M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning", Pattern Recognition 40(7),
    2007, 2038-2048.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1], [3], [6], [10]]), np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])
    >>> MLkNN(n_neighbors=2).fit(X, Y).predict_proba([[2.2], [8.5]]).round(3).tolist()
    [[0.73, 0.27], [0.231, 0.816]]
    """

    PAPER_GRID: ClassVar = {
        "n_neighbors": [1, 3, 5, 7, 9, 11, 13],
        "smoothing": [0.01, 0.03, 0.05, 0.07, 0.09],
    }
    _takes_weights: ClassVar[bool] = False

    def __init__(self, n_neighbors=10, *, smoothing=1.0):
        self.n_neighbors, self.smoothing = n_neighbors, smoothing

    def _flops(self, X):
        return 2.0 * X.shape[0] ** 2 * X.shape[1]

    def _fit(self, X, Y, w):
        next(self._path([({}, self)], X, Y, w, X[:1]))

    def _path(self, pairs, X, Y, w, X_test):
        """By k: one neighbour search, for the largest k, serves all settings."""
        most = X.shape[0] - 1
        largest = min(max(model.n_neighbors for _, model in pairs), most)
        train, test = (
            nearest_neighbours(X, X, largest, exclude_self=True),
            nearest_neighbours(X_test, X, largest),
        )
        for same in grouped(pairs, "n_neighbors".__eq__):
            asked = same[0][1].n_neighbors
            k = min(asked, most)
            if k < asked:
                message = f"n_neighbors={asked} was reduced to {most}: a training row has no more neighbours"
                warnings.warn(message, UserWarning, stacklevel=4)
            counts, test_counts = (
                neighbour_counts(near[:, :k], Y) for near in (train, test)
            )
            for params, model in same:
                s, model.X_, model.Y_ = model.smoothing, X, Y.astype(np.uint8)
                model.prior_ = (s + Y.sum(axis=0)) / (2 * s + len(Y))
                model.given_, model.given_not_ = (
                    count_distribution(counts, chosen, k, s) for chosen in (Y, 1 - Y)
                )
                prior = model.prior_[:, None]
                positive = prior * model.given_
                total = positive + (1 - prior) * model.given_not_
                # the prior where a count was never seen and nothing is smoothed
                model.posterior_ = np.where(
                    total > 0, positive / np.where(total > 0, total, 1), prior
                )
                yield model._point(
                    params, model.posterior_[np.arange(Y.shape[1]), test_counts]
                )

    def _scores(self, X):
        k = self.posterior_.shape[1] - 1
        counts = neighbour_counts(nearest_neighbours(X, self.X_, k), self.Y_)
        return self.posterior_[np.arange(counts.shape[1]), counts]

    def predict_proba(self, X):
        """Posterior of every label, (n_samples, n_labels); of every class, summing to 1, if y was one-dimensional."""
        return self._of_classes(self._scores(self._check_input(X)))


def neighbour_counts(near, Y):
    """How many of the neighbours ``near`` (N, k) carry each label of Y, (N, L) of whole numbers."""
    counts = np.zeros((len(near), Y.shape[1]), dtype=np.intp)
    for (
        column
    ) in near.T:  # one neighbour at a time: (N, k, L) would be k times as large
        counts += Y[column].astype(np.intp)
    return counts


def count_distribution(counts, chosen, k, smoothing):
    """Smoothed distribution (L, k + 1) of the counts over the rows where ``chosen`` (N, L) is 1."""
    n_labels = counts.shape[1]
    cells = counts + (k + 1) * np.arange(n_labels)
    seen = np.bincount(
        cells.ravel(), weights=chosen.ravel(), minlength=n_labels * (k + 1)
    ).reshape(n_labels, k + 1)
    total = smoothing * (k + 1) + seen.sum(axis=1, keepdims=True)
    return np.divide(smoothing + seen, total, out=np.zeros_like(seen), where=total > 0)


def nearest_neighbours(Q, X, k, *, exclude_self=False):
    """Indices (Nq, k) of the k rows of X nearest to each row of Q, nearest first; ties: the lower index first.

    With ``exclude_self`` Q is X, and row i is not its own neighbour (its duplicates are).
    """
    if sparse.issparse(Q) != sparse.issparse(X):
        Q = Q.toarray() if sparse.issparse(Q) else sparse.csr_array(Q)
    # far from 0 the expanded square would cancel
    A, B = (Q, X) if sparse.issparse(X) else (Q - X.mean(axis=0), X - X.mean(axis=0))
    # an inner product of D terms is off by at most about D eps/2 of the norms' sum
    error = (
        4
        * (X.shape[1] + 8)
        * np.finfo(np.float64).eps
        * (row_square_norms(A) + row_square_norms(B).max())
    )

    def nearest(D2, start):
        n = np.arange(len(D2))
        if exclude_self:
            D2[n, start + n] = np.inf
        kth = np.partition(D2, k - 1, axis=1)[:, k - 1]
        i, j = np.nonzero(D2 <= (kth + error[start + n])[:, None])
        distance = np.empty(
            len(i)
        )  # each from its own differences: equal rows give equal numbers
        for pairs in row_blocks(len(i), 24 * X.shape[1]):
            distance[pairs] = (
                (dense(Q[start + i[pairs]]) - dense(X[j[pairs]])) ** 2
            ).sum(axis=1)
        order = np.lexsort(
            (distance, i)
        )  # stable: equal distances stay in the order of columns
        return j[order][np.searchsorted(i, n)[:, None] + np.arange(k)]

    options = {"squared": True, "working_memory": BLOCK_BYTES / 2**20}
    return np.concatenate(
        list(pairwise_distances_chunked(A, B, reduce_func=nearest, **options))
    )
