"""ML-kNN: the labels of the nearest neighbours, weighed by Bayes' rule, label by label.

Neighbours are the same for dense and sparse rows, in any order of blocks. A block of
squared distances comes from one matrix product, ‖q‖² + ‖x‖² - 2 q·x. Its rounding
errors would break ties at random (the same product gives equal rows different last
digits), so it only selects candidates: every row that may be among the first k,
rounding allowed for. Their distances are then taken from differences, and equal ones go
by index.
"""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances_chunked

from ...core.arrays import (
    BLOCK_BYTES,
    Array,
    Matrix,
    dense,
    row_blocks,
    row_square_norms,
)
from .base import MultilabelMethod, Trial, agreeing_in, register


@register("ml-knn")
@dataclass(eq=False, repr=False)
class MLkNN(MultilabelMethod):
    """Multi-label k nearest neighbours.

    For each label the number c of neighbours that carry it is the evidence, and the
    score is the posterior

        P(label | c) = prior · given[c]
                       / (prior · given[c] + (1 - prior) · given_not[c]),

    with prior = (s + #positive) / (2s + N),
    given[r] = (s + #{positive rows with c = r}) / (s (k+1) + #positive), and given_not
    likewise over the negative rows. c of a training row leaves the row itself out. A
    label is predicted where its posterior is at least 0.5.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. With fewer than k other rows in training, all of them are used and a warning
        says so.
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
    This is what the method's authors run (Euclidean distance; of equally near rows the
    one that comes first). Scale the features: the method does not do it. A label has at
    most k + 1 distinct scores, so rankings are full of ties. ``sample_weight`` is
    refused: a weight has no meaning in a set of k neighbours.

    References
    ----------
    M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning",
    Pattern Recognition 40(7), 2007, 2038-2048.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1], [3], [6], [10]])
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])
    >>> model = MLkNN(n_neighbors=2).fit(X, Y)
    >>> model.predict_proba([[2.2], [8.5]]).round(3).tolist()
    [[0.73, 0.27], [0.231, 0.816]]
    """

    PAPER_GRID: ClassVar = {
        "n_neighbors": [1, 3, 5, 7, 9, 11, 13],
        "smoothing": [0.01, 0.03, 0.05, 0.07, 0.09],
    }
    _takes_weights: ClassVar[bool] = False

    n_neighbors: int = 10
    _: KW_ONLY
    smoothing: float = 1.0

    def _flops(self, X):
        return 2.0 * X.shape[0] ** 2 * X.shape[1]

    def _fit(self, X, Y, w):
        next(self._path([Trial({}, self)], X, Y, w, X[:1]))

    def _path(self, trials, X, Y, w, X_test):
        """Points by k: one search for the largest k serves all settings."""
        most = X.shape[0] - 1
        largest = min(max(trial.model.n_neighbors for trial in trials), most)
        near = nearest_neighbours(X, X, largest, exclude_self=True)
        near_test = nearest_neighbours(X_test, X, largest)
        for same_k in agreeing_in(trials, "n_neighbors"):
            asked = same_k[0].model.n_neighbors
            k = min(asked, most)
            if k < asked:
                message = (
                    f"n_neighbors={asked} was reduced to {most}: "
                    "a training row has no more neighbours"
                )
                warnings.warn(message, UserWarning, stacklevel=4)
            counts = neighbour_counts(near[:, :k], Y)
            test_counts = neighbour_counts(near_test[:, :k], Y)
            for params, model in same_k:
                model.X_ = X
                model.Y_ = Y.astype(np.uint8)
                model._fit_posterior(counts, Y, k)
                yield model._point(params, model._posterior_of(test_counts))

    def _fit_posterior(self, counts, Y, k):
        """Store what counts (N, L) of neighbours with a label say about Y (N, L)."""
        s = self.smoothing
        self.prior_ = (s + Y.sum(axis=0)) / (2 * s + len(Y))
        self.given_ = count_distribution(counts, Y, k, s)
        self.given_not_ = count_distribution(counts, 1 - Y, k, s)
        prior = self.prior_[:, None]
        positive = prior * self.given_
        total = positive + (1 - prior) * self.given_not_
        # The prior where a count was never seen and nothing is smoothed.
        seen = total > 0
        self.posterior_ = np.where(seen, positive / np.where(seen, total, 1), prior)

    def _posterior_of(self, counts):
        """Scores (N, L) of rows with these counts (N, L)."""
        return self.posterior_[np.arange(counts.shape[1]), counts]

    def _scores(self, X):
        k = self.posterior_.shape[1] - 1
        near = nearest_neighbours(X, self.X_, k)
        return self._posterior_of(neighbour_counts(near, self.Y_))

    def predict_proba(self, X):
        """Posterior of every label, (n_samples, n_labels).

        If y had one dimension: of every class, summing to 1.
        """
        return self._class_probabilities(self._scores(self._check_input(X)))


def neighbour_counts(near: NDArray[np.intp], Y: Array) -> NDArray[np.intp]:
    """How many of the neighbours ``near`` (N, k) carry each label of Y, (N, L)."""
    counts = np.zeros((len(near), Y.shape[1]), dtype=np.intp)
    # One neighbour at a time: an array (N, k, L) would be k times as large.
    for neighbour in near.T:
        counts += Y[neighbour].astype(np.intp)
    return counts


def count_distribution(
    counts: NDArray[np.intp], chosen: Array, k: int, smoothing: float
) -> Array:
    """Smoothed distribution (L, k + 1) of counts (N, L) over the rows chosen (N, L)."""
    n_labels = counts.shape[1]
    n_cells = n_labels * (k + 1)
    cells = counts + (k + 1) * np.arange(n_labels)
    seen = np.bincount(cells.ravel(), weights=chosen.ravel(), minlength=n_cells)
    seen = seen.reshape(n_labels, k + 1)
    total = smoothing * (k + 1) + seen.sum(axis=1, keepdims=True)
    return np.divide(smoothing + seen, total, out=np.zeros_like(seen), where=total > 0)


def nearest_neighbours(
    Q: Matrix, X: Matrix, k: int, *, exclude_self: bool = False
) -> NDArray[np.intp]:
    """Indices (Nq, k) of the k rows of X (N, D) nearest to each row of Q (Nq, D).

    The nearest comes first, and of equally near rows the one with the lower index. With
    ``exclude_self`` Q is X, and row i is not its own neighbour (its duplicates are).
    """
    if sparse.issparse(Q) != sparse.issparse(X):
        Q = dense(Q) if sparse.issparse(Q) else sparse.csr_array(Q)
    A = Q
    B = X
    if not sparse.issparse(X):
        # Far from 0 the expanded square would cancel.
        mean = X.mean(axis=0)
        A = Q - mean
        B = X - mean
    # An inner product of D terms is off by at most about D eps/2 of the norms' sum.
    norms = row_square_norms(A) + row_square_norms(B).max()
    error = 4 * (X.shape[1] + 8) * np.finfo(np.float64).eps * norms

    def nearest(D2: Array, start: int) -> NDArray[np.intp]:
        """Neighbours of a block of rows from ``start`` on, from squared distances."""
        n = np.arange(len(D2))
        if exclude_self:
            D2[n, start + n] = np.inf
        kth = np.partition(D2, k - 1, axis=1)[:, k - 1]
        i, j = np.nonzero(D2 <= (kth + error[start + n])[:, None])
        distance = _square_distances(Q, X, start + i, j)
        # The sort is stable: equal distances stay in the order of columns.
        order = np.lexsort((distance, i))
        return j[order][np.searchsorted(i, n)[:, None] + np.arange(k)]

    blocks = pairwise_distances_chunked(
        A,
        B,
        reduce_func=nearest,
        squared=True,
        working_memory=BLOCK_BYTES / 2**20,
    )
    return np.concatenate(list(blocks))


def _square_distances(
    Q: Matrix, X: Matrix, i: NDArray[np.intp], j: NDArray[np.intp]
) -> Array:
    """Squared distances of rows i (n,) of Q to rows j (n,) of X.

    Each comes from its own differences, so that equal rows give equal numbers.
    """
    distance = np.empty(len(i))
    for pairs in row_blocks(len(i), 24 * X.shape[1]):
        difference = dense(Q[i[pairs]]) - dense(X[j[pairs]])
        distance[pairs] = (difference**2).sum(axis=1)
    return distance
