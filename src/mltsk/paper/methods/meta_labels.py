"""Meta-labels: groups of labels that go together, and the label sets inside a group as one number.

X (N, D) features, Y (N, L) labels, w (N,) weights, A (L, L) affinities of labels, in [0, 1] with a diagonal of 0.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

KMEANS_ITERATIONS = 20  # as in the authors' program


def label_affinities(X, Y, w):
    """Jaccard similarity of labels and exp(-distance of their mean features), (L, L) each, diagonals 0.

    A label without positives has neither: its rows are 0.

    Examples
    --------
    >>> jaccard, near = label_affinities(np.array([[0.0], [1.0]]), np.array([[1, 1], [0, 1]]), np.ones(2))
    >>> float(jaccard[0, 1]), round(float(near[0, 1]), 3)
    (0.5, 0.607)
    """
    wY = w[:, None] * Y
    both, count = Y.T @ wY, wY.sum(axis=0)
    either = count[:, None] + count - both
    jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    means = np.asarray(wY.T @ X) / np.where(count > 0, count, 1)[:, None]
    near = np.exp(-cdist(means, means)) * np.outer(count > 0, count > 0)
    np.fill_diagonal(jaccard, 0)
    np.fill_diagonal(near, 0)
    return jaccard, near


def meta_labels(A, epsilon, size, seed):
    """Groups of about ``size`` labels with high affinity A (L, L), as a tuple of tuples.

    Labels whose affinities are all below epsilon (every label, if epsilon is 1 or more: A is never larger) say nothing
    about their group: they are taken in order, ``size`` at a time.
    """
    L = len(A)
    if size >= L:
        return (tuple(range(L)),)
    A = np.where(A < epsilon, 0.0, A)
    linked = A.sum(axis=1) > 0
    if size == 1:
        linked[:] = False
    alone, rest = np.flatnonzero(~linked), np.flatnonzero(linked)
    groups = [alone[i : i + size] for i in range(0, len(alone), size)]
    if len(rest):
        which = spectral_clusters(A[np.ix_(rest, rest)], -(-len(rest) // size), seed)
        groups += [rest[which == k] for k in range(which.max() + 1)]
    return tuple(sorted(tuple(group.tolist()) for group in groups if len(group)))


def spectral_clusters(A, k, seed):
    """Cluster (n,) of every node: k-means of the k leading eigenvectors of D^-½ A D^-½, rows at unit length."""
    root = 1.0 / np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(root[:, None] * A * root)
    leading = np.lexsort((-values, -np.abs(values).round(10)))[:k]  # by size as published; of ±λ first the positive
    points = vectors[:, leading]
    length = np.linalg.norm(points, axis=1, keepdims=True)
    points = points / np.where(length > 1e-12, length, 1.0)
    k = min(k, len(np.unique(points.round(8), axis=0)))  # k-means cannot make more clusters than points
    return KMeans(k, n_init=10, max_iter=KMEANS_ITERATIONS, random_state=seed).fit_predict(points)


def label_set_rank(Y):
    """z (N,) in [0, 1]: rank of each row's label set, a binary number with the first label least significant.

    Examples
    --------
    >>> label_set_rank(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]])).round(3).tolist()
    [0.0, 0.667, 1.0, 0.333]
    """
    sets, rank = np.unique(Y[:, ::-1], axis=0, return_inverse=True)
    return rank.ravel() / max(len(sets) - 1, 1)
