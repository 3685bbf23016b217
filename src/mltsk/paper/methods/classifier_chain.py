"""CC: a chain of ε-insensitive TSK fuzzy systems, which see the labels before them.

Symbols: M (N, K) firing strengths, y₁, y₂, ... the labels in the order of the chain,
E = [M ∘ y₁, M ∘ y₂, ...] (N, K(L-1)) what they add to the rule-mapped features.

A label with i others before it uses the first K i columns of E. Where labels are in the
IF-parts too, every link is a fuzzy system of its own over [x, y₁, ..., y_i].
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ...core.arrays import Array, Matrix
from ...core.fuzzymap import FuzzyMap
from ...core.membership import authors_widths
from ...exceptions import InputError
from ..antecedents import find_rules
from .base import Trial, agreeing_except_in, agreeing_in, register, with_labels
from .binary_relevance import SOLVER_PARAMETERS, BinaryRelevanceTSK
from .epsilon_insensitive import RidgeDesign, RidgeFactor


@register("cc")
@dataclass(eq=False, repr=False)
class ClassifierChainTSK(BinaryRelevanceTSK):
    """Classifier chain over ε-insensitive TSK fuzzy systems.

    Label j is a regression on [x, y of the labels before j], in training with the true
    labels and in prediction with the predicted ones (value at least 0.5). Rules are
    found on x alone; the labels enter the consequents, so that each rule has a
    coefficient for every earlier label:

        value_j = Σ_k M_k(x) (c_kj + p_kj·x + Σ_{i before j} q_kij y_i).

    All labels of the chain are trained together: their ridge matrices are leading
    blocks of one matrix, factored once.

    Parameters
    ----------
    n_rules, C, epsilon, fuzzifier, width_scale, n_components, solver, tol, max_iter
        As in `BinaryRelevanceTSK`; the paper used 150 principal components on
        Corel16k1.
    order : "index", "random" or array of shape (n_labels,), default="index"
        The chain: columns of y as they come, a random permutation (``random_state``),
        or the columns to take in turn.
    antecedents : {"features", "labels"}, default="features"
        "labels" puts the earlier labels into the IF-parts as well: label j is a fuzzy
        system of its own over [x, y of the labels before j], with rules found there.
        The clustering starts from the rules of the link before.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    chain_coef_ : array of shape (n_labels, n_rules, n_labels)
        ``chain_coef_[i, k, j]`` is q_kij; 0 unless i comes before j.
    centers_, widths_, coef_, gap_, n_iter_, rule_distinctness_, mean_, axes_
        As in `BinaryRelevanceTSK`; of the first link alone if ``antecedents`` is
        "labels", but for gaps and steps.
    links_ : tuple of (centres, widths, consequents)
        If ``antecedents`` is "labels", instead of ``chain_coef_`` and ``coef_``: arrays
        of every link, in the order of the chain, over features and earlier labels.
        Consequents are (n_rules, inputs + 1), intercept first.

    Notes
    -----
    Certain: the chain and its use of predicted labels. Our reconstruction: the base
    learner's constants, and whether the labels are in the IF-parts. A label that is
    often predicted wrongly misleads those after it, more so in long chains and with
    large C.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank, "Classifier chains for multi-label
    classification", Machine Learning 85(3), 2011, 333-359; and J. Leski as in
    `BinaryRelevanceTSK`.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> chain = ClassifierChainTSK(n_rules=3, order="random", random_state=0)
    >>> chain.fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    True
    """

    _: KW_ONLY
    order: str | ArrayLike = "index"
    antecedents: str = "features"
    random_state: Any = None

    def _fitted(self, trials, X, Y, w):
        """As in `BinaryRelevanceTSK`.

        Chains with labels in the IF-parts share the rules of every link.
        """
        by_features = [t for t in trials if t.model.antecedents == "features"]
        yield from super()._fitted(by_features, X, Y, w)
        by_labels = [t for t in trials if t.model.antecedents == "labels"]
        for same_rules in agreeing_except_in(by_labels, *SOLVER_PARAMETERS):
            fit_links(same_rules, X, Y, w)
            yield from same_rules

    def _design(self, G, Y, w):
        self.order_ = chain_order(self.order, Y.shape[1], self.random_state)
        # [M ∘ y₁, M ∘ y₂, ...]; the last label of the chain has none after it.
        E = Y[:, self.order_[:-1], None] * G.M[:, None, :]
        return RidgeDesign(G, w, E.reshape(len(Y), -1))

    def _fit_consequents(self, factor, Y, limit=None):
        K = len(self.centers_)
        L = Y.shape[1]
        n_before = np.argsort(self.order_)
        solution = super()._fit_consequents(factor, Y, limit=K * n_before)
        self.chain_coef_ = np.zeros((L, K, L))
        self.chain_coef_[self.order_[:-1]] = solution.extra.reshape(L - 1, K, L)
        return solution

    def _scores(self, X):
        if self.antecedents == "features":
            return self._scores_along_chain(X)
        return self._scores_of_links(X)

    def _scores_along_chain(self, X):
        """Scores (N, L) where labels act in the consequents alone."""
        G = self._map(X)
        scores = G @ self.coef_.reshape(-1, self.coef_.shape[2])
        for j in self.order_[:-1]:
            # This score is final: every label before j has had its effect.
            present = scores[:, j] >= self._cut
            scores[present] += G.M[present] @ self.chain_coef_[j]
        return scores

    def _scores_of_links(self, X):
        """Scores (N, L) where every link is a system over features and labels."""
        Z = self._reduced(X)
        scores = np.empty((X.shape[0], len(self.order_)))
        for i, (C, S, P) in enumerate(self.links_):
            V = with_labels(Z, scores[:, self.order_[:i]] >= self._cut)
            G = FuzzyMap.of(V, C, S)
            scores[:, self.order_[i]] = (G @ P.reshape(-1, 1))[:, 0]
        return scores


def chain_order(
    order: str | ArrayLike, n_labels: int, random_state: Any = None
) -> NDArray[np.intp]:
    """The labels in the order of the chain, (L,)."""
    columns = np.arange(n_labels)
    if isinstance(order, str):
        if order == "index":
            return columns
        return check_random_state(random_state).permutation(columns)
    chosen = np.asarray(order)
    if not np.array_equal(np.sort(chosen, axis=None), columns) or chosen.ndim != 1:
        raise InputError(
            f"order must name each of the {n_labels} columns of y once, got {order!r}."
        )
    return chosen.astype(np.intp)


def fit_links(trials: Sequence[Trial], X: Matrix, Y: Array, w: Array) -> None:
    """Fit chains with labels in the IF-parts that differ in their solvers alone.

    The rules of each link are found once. X is (N, D), Y (N, L), w (N,).
    """
    first = trials[0].model
    G = first._fit_rules(X, w)
    Z = G.X
    C = first.centers_
    S = first.widths_
    order = chain_order(first.order, Y.shape[1], first.random_state)
    for trial in trials:
        model = trial.model
        model._adopt(first)
        model.order_ = order
        model.links_ = ()
        model.gap_ = np.empty(Y.shape[1])
        model.n_iter_ = 1
    for i, j in enumerate(order):
        if i:
            V = with_labels(Z, Y[:, order[:i]])
            start = np.column_stack([C, _mean_under_rules(Y[:, order[i - 1]], G.M, w)])
            C, spread = find_rules(V, w, len(C), first.fuzzifier, start=start)
            S = authors_widths(spread, first.width_scale)
            G = FuzzyMap.of(V, C, S)
        design = RidgeDesign(G, w)
        for same_C in agreeing_in(trials, "C"):
            factor = RidgeFactor(design, 0.5 / same_C[0].model.C)
            for trial in same_C:
                _add_link(trial.model, factor, Y, j, rules=(C, S))


def _mean_under_rules(y: Array, M: Array, w: Array) -> Array:
    """Mean (K,) of y (N,) over the samples on which each rule fires."""
    fired = w[:, None] * M
    return (y @ fired) / np.maximum(fired.sum(axis=0), np.finfo(np.float64).tiny)


def _add_link(
    model: ClassifierChainTSK,
    factor: RidgeFactor,
    Y: Array,
    j: int,
    *,
    rules: tuple[Array, Array],
) -> None:
    """Fit label j of Y (N, L) to a link with these centres and widths, and store it."""
    solution = model._solve(factor, Y[:, [j]])
    C, S = rules
    model.links_ += ((C, S, solution.P.reshape(len(C), -1)),)
    model.gap_[j] = solution.gap[0]
    model.n_iter_ = max(model.n_iter_, int(solution.n_iter[0]))
