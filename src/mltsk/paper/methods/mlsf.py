"""MLSF: meta-labels, features selected for each of them, and a chain of linear classifiers inside each.

X (N, D), Y (N, L), w (N,) weights. Nothing here depends on more parameters than it must: affinities on none, groups on
(α, ε, size), features on (groups, γ), chains on (group, features); `Learner` remembers each.
"""

import warnings
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit, logit
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from ..solvers.problem import GRAM_BYTES, Problem, fista, quadratic
from .base import CONSTRAINTS, POSITIVE, SHARE, MultilabelMethod, with_labels

KMEANS_ITERATIONS = 20  # as in the authors' program
LASSO_STEPS = 20_000  # a fold of image needs more than 5000 at gamma = 0.1


def label_affinities(X, Y, w):
    """Jaccard similarity and exp(-distance of mean features) of labels, (L, L); 0 on diagonals and for no positives."""
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
    """Groups of about ``size`` labels with high affinity A (L, L), as a tuple of tuples, by spectral clustering.

    Clusters are those of k-means of the k leading eigenvectors of D^-½ A D^-½, rows at unit length. Labels whose
    affinities are all below epsilon (every label, if epsilon is 1 or more: A is never larger) say nothing about their
    group: they are taken in order, ``size`` at a time.
    """
    if size >= len(A):
        return (tuple(range(len(A))),)
    A = np.where(A < epsilon, 0.0, A)
    linked = (A.sum(axis=1) > 0) & (size > 1)
    alone, rest = np.flatnonzero(~linked), np.flatnonzero(linked)
    groups = [alone[i : i + size] for i in range(0, len(alone), size)]
    if len(rest):
        A, k = A[np.ix_(rest, rest)], -(-len(rest) // size)
        root = 1.0 / np.sqrt(A.sum(axis=1))
        values, vectors = np.linalg.eigh(root[:, None] * A * root)
        leading = np.lexsort((-values, -np.abs(values).round(10)))[
            :k
        ]  # by size as published; of ±λ first the positive
        length = np.linalg.norm(vectors[:, leading], axis=1, keepdims=True)
        points = vectors[:, leading] / np.where(length > 1e-12, length, 1.0)
        k = min(
            k, len(np.unique(points.round(8), axis=0))
        )  # k-means cannot make more clusters than points
        which = KMeans(
            k, n_init=10, max_iter=KMEANS_ITERATIONS, random_state=seed
        ).fit_predict(points)
        groups += [rest[which == cluster] for cluster in range(k)]
    return tuple(sorted(tuple(group.tolist()) for group in groups if len(group)))


def label_set_rank(Y):
    """z (N,) in [0, 1]: rank of each row's label set, a binary number with the first label least significant."""
    sets, rank = np.unique(Y[:, ::-1], axis=0, return_inverse=True)
    return rank.ravel() / max(len(sets) - 1, 1)


def lasso(data, gamma, tol):
    """v (D, n) that minimises ½‖X v - z‖² + γ‖v‖₁ for every column z, exact zeros included."""
    found = fista(Problem(data, beta=gamma), max_iter=LASSO_STEPS, tol=tol)
    if not found.converged:
        message = f"The LASSO of MLSF stopped after {found.n_iter} steps at {found.certificates[-1]:.1e}, not {tol:.1e}"
        warnings.warn(
            f"{message}: scale the features, or raise tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found.P


class Learner:
    """The steps of the method on one training set; what settings have in common is done once."""

    def __init__(self, X, Y, w, random_state):
        self.X, self.Y, self.w, self.root, self.affinities = (
            X,
            Y,
            w,
            np.sqrt(w)[:, None],
            label_affinities(X, Y, w),
        )
        self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        Xw = (
            sparse.csr_array(X.multiply(self.root))
            if sparse.issparse(X)
            else self.root * X
        )
        formed = (
            X.shape[1] <= len(Y) and 8 * X.shape[1] ** 2 <= GRAM_BYTES
        )  # XᵀX where that is cheap
        self.design = quadratic(
            Xw, np.zeros((len(Y), 1)), form=formed
        )  # targets come later
        self.groups, self.supports, self.chain = (
            cache(self._groups),
            cache(self._supports),
            cache(self.fit_chain),
        )

    def _groups(self, alpha, epsilon, size):
        jaccard, near = self.affinities
        return meta_labels(
            alpha * jaccard + (1 - alpha) * near, epsilon, size, self.seed
        )

    def _supports(self, groups, gamma, tol):
        Z = (
            np.column_stack([label_set_rank(self.Y[:, group]) for group in groups])
            * self.root
        )
        return tuple(
            tuple(np.flatnonzero(v).tolist())
            for v in lasso(self.design.with_targets(Z), gamma, tol).T
        )

    def fit_chain(self, group, support, C, tol):
        """The chain of one group on its features, in an order that depends on the seed and on the group alone.

        Returned are order and features, and per label: weights (s + i,) on those s features and on the i labels before
        it, intercept, and the slope and offset of the sigmoid.
        """
        order, support = (
            np.random.default_rng([self.seed, *group]).permutation(group),
            np.array(support, dtype=int),
        )
        X, Y, w, links = self.X[:, support], self.Y[:, order], self.w, []
        for i, y in enumerate(Y.T):
            if (
                len(support) == 0 or np.ptp(y) == 0
            ):  # nothing to go by, or nothing to tell apart: the label's share
                share = float(np.clip(np.average(y, weights=w), 0, 1))
                links.append(
                    (np.zeros(len(support) + i), 0.0, 0.0, float(logit(share)))
                )
            else:
                before = with_labels(X, Y[:, :i])
                svm = LinearSVC(C=C, dual=False, tol=tol).fit(
                    before, y, sample_weight=w
                )
                weights, intercept = svm.coef_[0], float(svm.intercept_[0])
                links.append(
                    (
                        weights,
                        intercept,
                        *fit_sigmoid(before @ weights + intercept, y, w),
                    )
                )
        return order, support, links


def fit_sigmoid(margin, y, w):
    """Slope and offset of expit(slope margin + offset), by maximum likelihood of Platt's smoothed targets; Newton."""
    positive, negative = w @ y, w @ (1 - y)
    target = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    T = np.column_stack([margin, np.ones_like(margin)])
    theta = np.array([0.0, float(logit(w @ target / w.sum()))])

    def loss(theta):
        f = T @ theta
        return float(w @ (np.logaddexp(0, f) - target * f))

    for _ in range(100):
        p = expit(T @ theta)
        slope = T.T @ (w * (p - target))
        curvature = T.T @ ((w * p * (1 - p))[:, None] * T) + 1e-12 * np.eye(2)
        step, t = np.linalg.solve(curvature, slope), 1.0
        last = (
            slope @ step < 1e-9 * w.sum()
        )  # the square of this is left after one more step
        while not last and loss(theta - t * step) > loss(theta) and t > 1e-8:
            t /= 2
        theta = theta - t * step
        if last:
            break
    return float(theta[0]), float(theta[1])


class MLSF(MultilabelMethod):
    """Multi-label classification with meta-label-specific features.

    Labels are grouped by spectral clustering of their affinity, every group selects its features by a LASSO on the
    rank of its label sets, and a chain of linear support vector machines learns the labels of the group on them.

    Certain, from the authors' published program: the three steps and their formulas. Ours: the LASSO is solved to its
    optimum, the machines have the squared hinge loss, Platt's sigmoid is fitted to training margins, and labels that
    stand alone in a group have scores too. Where the paper's grid is degenerate: ``epsilon`` of 1 and more takes groups
    in the order of the labels; a group whose LASSO selects no feature scores the label's share of the training rows.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.8
        Weight of the labels' co-occurrence against the closeness of their mean features.
    epsilon : float >= 0, default=0.01
        Affinities below it count as 0.
    size : int, default=10
        Labels in a group, on average.
    gamma : float > 0, default=0.01
        Weight of the L1 norm: larger selects fewer features.
    C : float, default=1
        Of the support vector machines.
    tol : float, default=1e-5
        Of the LASSO (its subgradient as a share of the largest slope at 0) and of the support vector machines.
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
    L. Sun, M. Kudo, K. Kimura, "Multi-label classification with meta-label-specific features", ICPR 2016.

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
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "alpha": SHARE,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        alpha=0.8,
        epsilon=0.01,
        size=10,
        gamma=0.01,
        *,
        C=1.0,
        tol=1e-5,
        random_state=0,
    ):
        self.alpha, self.epsilon, self.size, self.gamma = alpha, epsilon, size, gamma
        self.C, self.tol, self.random_state = C, tol, random_state

    def _fitted(self, pairs, X, Y, w):
        """Groups, features and chains that settings share are made once: exactly the numbers of single fits."""
        learner_of = cache(partial(Learner, X, Y, w))
        for params, model in pairs:
            learner = learner_of(model.random_state)
            groups = learner.groups(model.alpha, model.epsilon, model.size)
            supports = learner.supports(groups, model.gamma, model.tol)
            chains = [
                learner.chain(*pair, model.C, model.tol)
                for pair in zip(groups, supports, strict=True)
            ]
            model._store(chains, X.shape[1], Y.shape[1])
            yield params, model

    def _store(self, chains, D, L):
        self.coef_, self.label_coef_, self.selected_ = (
            np.zeros((D, L)),
            np.zeros((L, L)),
            np.zeros((D, L), dtype=bool),
        )
        self.intercept_, self.slope_, self.offset_ = np.zeros((3, L))
        self.groups_, self.order_ = (
            np.zeros(L, int),
            np.concatenate([order for order, _, _ in chains]),
        )
        for g, (order, support, links) in enumerate(chains):
            for i, (label, link) in enumerate(zip(order, links, strict=True)):
                (
                    weights,
                    self.intercept_[label],
                    self.slope_[label],
                    self.offset_[label],
                ) = link
                self.coef_[support, label], self.label_coef_[order[:i], label] = (
                    np.split(weights, [len(support)])
                )
                self.selected_[support, label], self.groups_[label] = True, g

    def _scores(self, X):
        scores = X @ self.coef_ + self.intercept_
        given = np.zeros_like(scores)
        for label in self.order_:
            margin = scores[:, label] + given @ self.label_coef_[:, label]
            scores[:, label] = expit(self.slope_[label] * margin + self.offset_[label])
            given[:, label] = scores[:, label] >= self._cut
        return scores

    def predict_proba(self, X):
        """Scores, which are probabilities by Platt's sigmoid, kept inside (0, 1); normalised if y was multiclass."""
        tiny = np.finfo(np.float64).eps
        return self._of_classes(
            np.clip(self._scores(self._check_input(X)), tiny, 1 - tiny)
        )
