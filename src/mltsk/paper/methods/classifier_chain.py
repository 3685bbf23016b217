"""CC: a chain of ε-insensitive TSK fuzzy systems, each of which also sees the labels before it.

Symbols: M (N, K) firing strengths, y₁, y₂, ... the labels in the order of the chain, E = [M ∘ y₁, M ∘ y₂, ...]
(N, K(L-1)) what they add to the rule-mapped features: a label with i others before it uses the first K i columns.
Where labels are in the IF-parts too, every link is a fuzzy system of its own over [x, y₁, ..., y_i].
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...core.fuzzymap import FuzzyMap
from ...core.membership import authors_widths
from ...exceptions import InputError
from ..antecedents import find_rules
from .base import grouped, with_labels
from .binary_relevance import OF_SOLVER, BinaryRelevanceTSK
from .epsilon_insensitive import Design, Factor


@dataclass(eq=False, repr=False)
class ClassifierChainTSK(BinaryRelevanceTSK):
    """Classifier chain over ε-insensitive TSK fuzzy systems.

    Label j is a regression on [x, y of the labels before j], in training with the true labels and in prediction with
    the predicted ones (value at least 0.5). Rules are found on x alone; the labels enter the consequents, so that each
    rule has a coefficient for every earlier label: value_j = Σ_k M_k(x) (c_kj + p_kj·x + Σ_{i before j} q_kij y_i).

    All labels of the chain are trained together: their ridge matrices are leading blocks of one matrix, factored once.

    Parameters
    ----------
    n_rules, C, epsilon, fuzzifier, width_scale, n_components, solver, tol, max_iter
        As in `BinaryRelevanceTSK`; the paper used 150 principal components on Corel16k1.
    order : "index", "random" or array of shape (n_labels,), default="index"
        The chain: columns of y as they come, a random permutation (``random_state``), or the columns to take in turn.
    antecedents : {"features", "labels"}, default="features"
        "labels" puts the earlier labels into the IF-parts as well: label j is a fuzzy system of its own over [x, y of
        the labels before j], with rules found there. The clustering starts from the rules of the link before.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    chain_coef_ : array of shape (n_labels, n_rules, n_labels)
        ``chain_coef_[i, k, j]`` is q_kij; 0 unless i comes before j.
    centers_, widths_, coef_, gap_, n_iter_, rule_distinctness_, mean_, axes_
        As in `BinaryRelevanceTSK`; of the first link alone if ``antecedents`` is "labels", but for gaps and steps.
    links_ : tuple of (centres, widths, consequents)
        If ``antecedents`` is "labels", instead of ``chain_coef_`` and ``coef_``: arrays of every link, in the order of
        the chain, over features and earlier labels. Consequents are (n_rules, inputs + 1), intercept first.

    Notes
    -----
    Certain: the chain and its use of predicted labels. Our reconstruction: the base learner's constants, and whether
    the labels are in the IF-parts. A label that is often predicted wrongly misleads those after it, more so in long
    chains and with large C.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank, "Classifier chains for multi-label classification", Machine Learning
    85(3), 2011, 333-359; and J. Leski as in `BinaryRelevanceTSK`.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> chain = ClassifierChainTSK(n_rules=3, order="random", random_state=0).fit(data.X, data.Y)
    >>> chain.predict(data.X).shape == data.Y.shape
    True
    """

    _: KW_ONLY
    order: Any = "index"
    antecedents: str = "features"
    random_state: Any = None

    def _fitted(self, pairs, X, Y, w):
        """As in `BinaryRelevanceTSK`; chains with labels in the IF-parts share the rules of every link."""
        yield from super()._fitted(
            [pair for pair in pairs if pair[1].antecedents == "features"], X, Y, w
        )
        with_links = [pair for pair in pairs if pair[1].antecedents == "labels"]
        for part in grouped(with_links, lambda name: name not in OF_SOLVER):
            fit_links(part, X, Y, w)
            yield from part

    def _design(self, G, Y, w):
        self.order_ = chain_order(self.order, Y.shape[1], self.random_state)
        E = Y[:, self.order_[:-1], None] * G.M[:, None, :]  # [M ∘ y₁, M ∘ y₂, ...]
        return Design(G, w, E.reshape(len(Y), -1))

    def _fit_consequents(self, factor, Y, limit=None):
        K, L = len(self.centers_), Y.shape[1]
        found = super()._fit_consequents(factor, Y, limit=K * np.argsort(self.order_))
        self.chain_coef_ = np.zeros((L, K, L))
        self.chain_coef_[self.order_[:-1]] = found.extra.reshape(L - 1, K, L)

    def _scores(self, X):
        if self.antecedents == "features":
            G = self._map(X)
            scores = G @ self.coef_.reshape(-1, self.coef_.shape[2])
            for j in self.order_[:-1]:
                present = (
                    scores[:, j] >= self._cut
                )  # final: every label before j has had its effect
                scores[present] += G.M[present] @ self.chain_coef_[j]
            return scores
        Z, scores = self._reduced(X), np.empty((X.shape[0], len(self.order_)))
        for i, (C, S, P) in enumerate(self.links_):
            V = with_labels(Z, scores[:, self.order_[:i]] >= self._cut)
            scores[:, self.order_[i]] = (FuzzyMap.of(V, C, S) @ P.reshape(-1, 1))[:, 0]
        return scores


def chain_order(order, n_labels, random_state=None):
    """The labels in the order of the chain, (L,)."""
    if isinstance(order, str):
        chosen = np.arange(n_labels)
        return (
            chosen
            if order == "index"
            else check_random_state(random_state).permutation(chosen)
        )
    chosen = np.asarray(order)
    if chosen.shape != (n_labels,) or not np.array_equal(
        np.sort(chosen), np.arange(n_labels)
    ):
        raise InputError(
            f"order must name each of the {n_labels} columns of y once, got {order!r}."
        )
    return chosen.astype(np.intp)


def fit_links(pairs, X, Y, w):
    """Fit chains with labels in the IF-parts, which differ in their solvers alone: each link's rules are found once."""
    first = pairs[0][1]
    G, order = (
        first._fit_rules(X, w),
        chain_order(first.order, Y.shape[1], first.random_state),
    )
    Z, C, S, known = (
        G.X,
        first.centers_,
        first.widths_,
        first._known() | {"order_": order},
    )
    for _, model in pairs:
        vars(model).update(known, links_=(), gap_=np.empty(Y.shape[1]), n_iter_=1)
    for i, j in enumerate(order):
        if i:
            fired = w[:, None] * G.M
            mean = (Y[:, order[i - 1]] @ fired) / np.maximum(
                fired.sum(axis=0), np.finfo(np.float64).tiny
            )
            V = with_labels(Z, Y[:, order[:i]])
            C, spread = find_rules(
                V, w, len(C), first.fuzzifier, start=np.column_stack([C, mean])
            )
            S = authors_widths(spread, first.width_scale)
            G = FuzzyMap.of(V, C, S)
        design = Design(G, w)
        for same_C in grouped(pairs, "C".__eq__):
            factor = Factor(design, 0.5 / same_C[0][1].C)
            for _, model in same_C:
                found = model._solve(factor, Y[:, [j]])
                model.links_ += ((C, S, found.P.reshape(len(C), -1)),)
                model.gap_[j], model.n_iter_ = (
                    found.gap[0],
                    max(model.n_iter_, int(found.n_iter[0])),
                )
