"""MLSF: groups of labels, features selected for each group, and a chain of classifiers.

X (N, D), Y (N, L), w (N,) weights. A group is called a meta-label. No step depends on
more parameters than it must: affinities on none, groups on (α, ε, size), features on
(groups, γ), chains on (group, features); `Learner` remembers each.
"""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit, logit
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from ...core.arrays import Array, Matrix, is_csr
from ..solvers.problem import GRAM_BYTES, Problem, Quadratic, fista, quadratic
from .base import (
    CONSTRAINTS,
    FRACTION,
    POSITIVE_NUMBER,
    Constraints,
    MultilabelMethod,
    inside_unit_interval,
    register,
    with_labels,
)

KMEANS_ITERATIONS = 20  # as in the authors' program
LASSO_STEPS = 20_000  # a fold of image needs more than 5000 at gamma = 0.1
NEWTON_STEPS = 100

# Columns of X or of Y: a group of labels, or the features that it selected.
Indices = tuple[int, ...]


def label_affinities(X: Matrix, Y: Array, w: Array) -> tuple[Array, Array]:
    """Jaccard similarity and exp(-distance of mean features) of labels, (L, L) each.

    Both are 0 on the diagonal and for labels without a positive row.
    """
    wY = w[:, None] * Y
    both = Y.T @ wY
    count = wY.sum(axis=0)
    either = count[:, None] + count - both
    jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    means = np.asarray(wY.T @ X) / np.where(count > 0, count, 1)[:, None]
    near = np.exp(-cdist(means, means)) * np.outer(count > 0, count > 0)
    np.fill_diagonal(jaccard, 0)
    np.fill_diagonal(near, 0)
    return jaccard, near


def meta_labels(A: Array, epsilon: float, size: int, seed: int) -> tuple[Indices, ...]:
    """Groups of about ``size`` labels with high affinity A (L, L).

    Labels whose affinities are all below epsilon (every label, if epsilon is 1 or more:
    A is never larger) say nothing about their group: they are taken in order, ``size``
    at a time. `spectral_clusters` groups the others.
    """
    if size >= len(A):
        return (tuple(range(len(A))),)
    A = np.where(A < epsilon, 0.0, A)
    is_linked = (A.sum(axis=1) > 0) & (size > 1)
    alone = np.flatnonzero(~is_linked)
    linked = np.flatnonzero(is_linked)
    groups = [alone[i : i + size] for i in range(0, len(alone), size)]
    if len(linked):
        n_clusters = -(-len(linked) // size)
        which = spectral_clusters(A[np.ix_(linked, linked)], n_clusters, seed)
        groups += [linked[which == cluster] for cluster in range(n_clusters)]
    return tuple(sorted(tuple(group.tolist()) for group in groups if len(group)))


def spectral_clusters(A: Array, n_clusters: int, seed: int) -> NDArray[np.intp]:
    """Cluster (n,) of every label by spectral clustering of their affinity A (n, n).

    Clusters are those of k-means of the leading eigenvectors of D^-½ A D^-½, rows at
    unit length. There may be fewer of them than asked for.
    """
    root = 1.0 / np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(root[:, None] * A * root)
    # By absolute size, as published; of ±λ the positive one comes first.
    leading = np.lexsort((-values, -np.abs(values).round(10)))[:n_clusters]
    length = np.linalg.norm(vectors[:, leading], axis=1, keepdims=True)
    points = vectors[:, leading] / np.where(length > 1e-12, length, 1.0)
    # K-means cannot make more clusters than there are points.
    n_points = len(np.unique(points.round(8), axis=0))
    k_means = KMeans(
        min(n_clusters, n_points),
        n_init=10,
        max_iter=KMEANS_ITERATIONS,
        random_state=seed,
    )
    return k_means.fit_predict(points)


def label_set_rank(Y: Array) -> Array:
    """Rank z (N,) in [0, 1] of the label set of each row of Y (N, L).

    A label set is a binary number with the first label least significant.
    """
    sets, rank = np.unique(Y[:, ::-1], axis=0, return_inverse=True)
    return rank.ravel() / max(len(sets) - 1, 1)


def lasso(data: Quadratic, gamma: float, tol: float) -> Array:
    """v (D, n) that minimises ½‖X v - z‖² + γ‖v‖₁ for every column z of the targets.

    Zeros are exact.
    """
    solution = fista(Problem(data, beta=gamma), max_iter=LASSO_STEPS, tol=tol)
    if not solution.converged:
        message = (
            f"The LASSO of MLSF stopped after {solution.n_iter} steps at "
            f"{solution.certificates[-1]:.1e}, not {tol:.1e}: "
            "scale the features, or raise tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return solution.P


class Link(NamedTuple):
    """The classifier of one label in a chain, and the sigmoid of its margins.

    ``weights`` (s + i,) are those of s features and of the i labels before it.
    """

    weights: Array
    intercept: float
    slope: float
    offset: float


class Chain(NamedTuple):
    """The labels of a group in the order of its chain, its features, and its links."""

    labels: NDArray[np.intp]
    features: NDArray[np.intp]
    links: list[Link]


class Learner:
    """The steps of the method on one training set.

    What settings have in common is done once: `groups`, `supports` and `chain` remember
    their results by their arguments.
    """

    def __init__(self, X: Matrix, Y: Array, w: Array, random_state: object) -> None:
        self.X = X
        self.Y = Y
        self.w = w
        self.root = np.sqrt(w)[:, None]
        self.affinities = label_affinities(X, Y, w)
        self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        if is_csr(X):
            Xw = sparse.csr_array(X.multiply(self.root))
        else:
            Xw = self.root * X
        # XᵀX is formed where that is cheap.
        formed = X.shape[1] <= len(Y) and 8 * X.shape[1] ** 2 <= GRAM_BYTES
        no_targets_yet = np.zeros((len(Y), 1))
        self.design = quadratic(Xw, no_targets_yet, form=formed)
        self.groups = cache(self._groups)
        self.supports = cache(self._supports)
        self.chain = cache(self.fit_chain)

    def _groups(self, alpha: float, epsilon: float, size: int) -> tuple[Indices, ...]:
        """The meta-labels of a setting."""
        jaccard, near = self.affinities
        affinity = alpha * jaccard + (1 - alpha) * near
        return meta_labels(affinity, epsilon, size, self.seed)

    def _supports(
        self, groups: Sequence[Indices], gamma: float, tol: float
    ) -> tuple[Indices, ...]:
        """The features that each group selects."""
        ranks = [label_set_rank(self.Y[:, group]) for group in groups]
        targets = np.column_stack(ranks) * self.root
        V = lasso(self.design.with_targets(targets), gamma, tol)
        return tuple(tuple(np.flatnonzero(v).tolist()) for v in V.T)

    def fit_chain(
        self, group: Indices, support: Indices, C: float, tol: float
    ) -> Chain:
        """The chain of one group on the features of its support.

        Its order depends on the seed and on the group alone.
        """
        labels = np.random.default_rng([self.seed, *group]).permutation(group)
        features = np.array(support, dtype=int)
        X = self.X[:, features]
        Y = self.Y[:, labels]
        links = [self._fit_link(X, Y[:, : i + 1], C, tol) for i in range(len(labels))]
        return Chain(labels, features, links)

    def _fit_link(self, X: Matrix, Y: Array, C: float, tol: float) -> Link:
        """The link of the last column of Y (N, i + 1).

        It sees X (N, s) and the columns of Y before.
        """
        before = Y[:, :-1]
        y = Y[:, -1]
        if X.shape[1] == 0 or np.ptp(y) == 0:
            # Nothing to go by, or nothing to tell apart: the label's share.
            share = float(np.clip(np.average(y, weights=self.w), 0, 1))
            no_weights = np.zeros(X.shape[1] + before.shape[1])
            offset = float(logit(share))
            return Link(no_weights, intercept=0.0, slope=0.0, offset=offset)
        inputs = with_labels(X, before)
        svm = LinearSVC(C=C, dual=False, tol=tol).fit(inputs, y, sample_weight=self.w)
        weights = svm.coef_[0]
        intercept = float(svm.intercept_[0])
        slope, offset = fit_sigmoid(inputs @ weights + intercept, y, self.w)
        return Link(weights, intercept, slope, offset)


def fit_sigmoid(margin: Array, y: Array, w: Array) -> tuple[float, float]:
    """Slope and offset of expit(slope margin + offset), all arrays (N,).

    They maximise the likelihood of Platt's smoothed targets, by Newton's method.
    """
    positive = w @ y
    negative = w @ (1 - y)
    target = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    T = np.column_stack([margin, np.ones_like(margin)])
    theta = np.array([0.0, float(logit(w @ target / w.sum()))])

    def loss(theta: Array) -> float:
        f = T @ theta
        return float(w @ (np.logaddexp(0, f) - target * f))

    for _ in range(NEWTON_STEPS):
        p = expit(T @ theta)
        gradient = T.T @ (w * (p - target))
        curvature = T.T @ ((w * p * (1 - p))[:, None] * T) + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        # The square of this is left after one more step.
        is_last = gradient @ step < 1e-9 * w.sum()
        t = 1.0
        while not is_last and loss(theta - t * step) > loss(theta) and t > 1e-8:
            t /= 2
        theta = theta - t * step
        if is_last:
            break
    return float(theta[0]), float(theta[1])


@register("mlsf")
@dataclass(eq=False, repr=False)
class MLSF(MultilabelMethod):
    """Multi-label classification with meta-label-specific features.

    Labels are grouped by spectral clustering of their affinity, every group selects its
    features by a LASSO on the rank of its label sets, and a chain of linear support
    vector machines learns the labels of the group on them.

    Certain, from the authors' published program: the three steps and their formulas.
    Ours: the LASSO is solved to its optimum, the machines have the squared hinge loss,
    Platt's sigmoid is fitted to training margins, and labels that stand alone in a
    group have scores too. Where the paper's grid is degenerate: ``epsilon`` of 1 and
    more takes groups in the order of the labels; a group whose LASSO selects no feature
    scores the label's share of the training rows.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.8
        Weight of the labels' co-occurrence against the closeness of their mean
        features.
    epsilon : float >= 0, default=0.01
        Affinities below it count as 0.
    size : int, default=10
        Labels in a group, on average.
    gamma : float > 0, default=0.01
        Weight of the L1 norm: larger selects fewer features.
    C : float, default=1
        Of the support vector machines.
    tol : float, default=1e-5
        Of the LASSO (its subgradient as a share of the largest slope at 0) and of the
        support vector machines.
    random_state : int, RandomState or None, default=0
        Starts of k-means and order of the chains.

    Attributes
    ----------
    groups_ : array of shape (n_labels,)
        Meta-label of every label.
    selected_ : bool array of shape (n_features, n_labels)
        Features that the group of each label selected.
    coef_, label_coef_ : arrays of shape (n_features, n_labels) and (n_labels, n_labels)
        Weights of features, and of labels that come earlier in the chain.
    intercept_, slope_, offset_ : arrays of shape (n_labels,)
    order_ : array of shape (n_labels,)
        Order of prediction.

    References
    ----------
    L. Sun, M. Kudo, K. Kimura, "Multi-label classification with meta-label-specific
    features", ICPR 2016.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]])
    >>> MLSF().fit(X, [[0, 1], [1, 0], [0, 1], [1, 0]]).predict(X).tolist()
    [[0, 1], [1, 0], [0, 1], [1, 0]]
    """

    PAPER_GRID: ClassVar = {
        "alpha": [0.1, 0.5, 0.9],
        "epsilon": [0.1, 1.0, 10.0],
        "size": [1, 5, 10],
        "gamma": [0.1, 1.0, 10.0],
    }
    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS | {
        "alpha": FRACTION,
        "tol": POSITIVE_NUMBER,
    }

    alpha: float = 0.8
    epsilon: float = 0.01
    size: int = 10
    gamma: float = 0.01
    _: KW_ONLY
    C: float = 1.0
    tol: float = 1e-5
    random_state: Any = 0

    def _fitted(self, trials, X, Y, w):
        """Groups, features and chains that settings share are made once.

        The numbers are exactly those of single fits.
        """

        @cache
        def learner_of(random_state):
            return Learner(X, Y, w, random_state)

        for trial in trials:
            model = trial.model
            learner = learner_of(model.random_state)
            groups = learner.groups(model.alpha, model.epsilon, model.size)
            supports = learner.supports(groups, model.gamma, model.tol)
            chains = []
            for group, support in zip(groups, supports, strict=True):
                chains.append(learner.chain(group, support, model.C, model.tol))
            model._store(chains, X.shape[1], Y.shape[1])
            yield trial

    def _store(self, chains, D, L):
        """Keep the chains of all groups as arrays over D features and L labels."""
        self.coef_ = np.zeros((D, L))
        self.label_coef_ = np.zeros((L, L))
        self.selected_ = np.zeros((D, L), dtype=bool)
        self.intercept_ = np.zeros(L)
        self.slope_ = np.zeros(L)
        self.offset_ = np.zeros(L)
        self.groups_ = np.zeros(L, int)
        self.order_ = np.concatenate([chain.labels for chain in chains])
        for group, (labels, features, links) in enumerate(chains):
            self.groups_[labels] = group
            for i, (label, link) in enumerate(zip(labels, links, strict=True)):
                self.selected_[features, label] = True
                self.coef_[features, label] = link.weights[: len(features)]
                self.label_coef_[labels[:i], label] = link.weights[len(features) :]
                self.intercept_[label] = link.intercept
                self.slope_[label] = link.slope
                self.offset_[label] = link.offset

    def _scores(self, X):
        scores = X @ self.coef_ + self.intercept_
        present = np.zeros_like(scores)
        for label in self.order_:
            margin = scores[:, label] + present @ self.label_coef_[:, label]
            scores[:, label] = expit(self.slope_[label] * margin + self.offset_[label])
            present[:, label] = scores[:, label] >= self._cut
        return scores

    def predict_proba(self, X):
        """Scores, which are probabilities by Platt's sigmoid, kept inside (0, 1).

        They are scaled to sum to 1 if y was multiclass.
        """
        scores = self._scores(self._check_input(X))
        return self._class_probabilities(inside_unit_interval(scores))
