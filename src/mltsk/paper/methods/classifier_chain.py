"""CC: a chain of ε-insensitive TSK fuzzy systems, each of which also sees the labels before it.

Symbols: M (N, K) firing strengths, y₁, y₂, ... the labels in the order of the chain, E = [M ∘ y₁, M ∘ y₂, ...]
(N, K(L-1)) what they add to the rule-mapped features: a label with i others before it uses the first K i columns.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from ...exceptions import InputError
from .binary_relevance import BinaryRelevanceTSK
from .epsilon_insensitive import Design


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
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    chain_coef_ : array of shape (n_labels, n_rules, n_labels)
        ``chain_coef_[i, k, j]`` is q_kij; 0 unless i comes before j.
    centers_, widths_, coef_, gap_, n_iter_, rule_distinctness_, mean_, axes_
        As in `BinaryRelevanceTSK`.

    Notes
    -----
    Certain: the chain and its use of predicted labels. Our reconstruction: the base learner's constants, and rules on
    x alone. A label that is often predicted wrongly misleads those after it, more so in long chains and with large C.

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

    _parameter_constraints: ClassVar[dict] = {
        **BinaryRelevanceTSK._parameter_constraints,
        "order": [StrOptions({"index", "random"}), "array-like"],
        "random_state": ["random_state"],
    }

    _: KW_ONLY
    order: Any = "index"
    random_state: Any = None

    def _design(self, G, Y, w):
        self.order_ = chain_order(self.order, Y.shape[1], self.random_state)
        return Design.of(G, w, label_columns(G.M, Y[:, self.order_[:-1]]))

    def _fit_consequents(self, factor, Y):
        K, L = len(self.centers_), Y.shape[1]
        found = super()._fit_consequents(factor, Y, limit=K * np.argsort(self.order_))
        self.chain_coef_ = np.zeros((L, K, L))
        self.chain_coef_[self.order_[:-1]] = found.extra.reshape(L - 1, K, L)

    def _scores_of(self, G):
        return along_chain(super()._scores_of(G), G.M, self.chain_coef_, self.order_, self._cut)


def chain_order(order, n_labels, random_state=None):
    """The labels in the order of the chain, (L,)."""
    if isinstance(order, str):
        chosen = np.arange(n_labels)
        return chosen if order == "index" else check_random_state(random_state).permutation(chosen)
    chosen = np.asarray(order)
    if chosen.shape != (n_labels,) or not np.array_equal(np.sort(chosen), np.arange(n_labels)):
        raise InputError(f"order must name each of the {n_labels} columns of y once, got {order!r}.")
    return chosen.astype(np.intp)


def label_columns(M, Y):
    """E (N, K l) = [M ∘ y₁, ..., M ∘ y_l] of the labels Y (N, l)."""
    return (Y[:, :, None] * M[:, None, :]).reshape(len(M), -1)


def along_chain(scores, M, chain_coef, order, cut):
    """Scores (N, L) with the effects of predicted labels added, link by link, to those of the features."""
    scores = scores.copy()
    for j in order[:-1]:
        present = scores[:, j] >= cut  # final: every label before j has had its effect
        scores[present] += M[present] @ chain_coef[j]
    return scores
