"""A fitted fuzzy system as plain data: what it takes to score a sample.

It holds nothing of how it was found. Explanations, pages and exports read this object
and never an estimator; `scores` takes samples in the caller's units.

Symbols: D features, L labels, P terms of the general rule, K exceptions; z a sample on
the scale of the rules (a `Scaling`, or rows of unit length for sparse input), t (P,)
its memberships in the terms, m (K,) its firing strengths.

    score = intercept + Σ_p (t_p - mean_p) · term_coef_p
                      + Σ_k m_k · (coef_k0 + coef_k · z)                            (16)

The general rule holds for everybody. An exception shifts the samples in it (order 0:
``coef`` has one row per rule), or has slopes of its own as well (order 1: D + 1 rows,
intercept first). The paper's system has exceptions alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .columns import Columns
from .core.arrays import (
    Array,
    Matrix,
    dense,
    is_tensor,
    namespace,
    put,
    underflow_is_zero,
)
from .core.certainty import Certainty
from .core.fuzzymap import FuzzyMap
from .core.magnitude import unit_rows, within_reach
from .core.members import Members
from .core.membership import Firing, firing_strengths
from .core.pairs import Pairs
from .core.scales import Scaling
from .core.terms import Terms
from .core.used import UsedFeatures
from .core.worth import Worth
from .probabilities import Curves, probabilities_of

# Scale of a short model: straight lines from the least value to the largest.
STRAIGHT = "range"


@dataclass(frozen=True, kw_only=True)
class FuzzySystem:
    """A general rule and exceptions to it.

    Parameters
    ----------
    feature_names, label_names : tuple of str, (D,) and (L,)
    scale_name : str or None
        Name of the scale, as the parameter ``scale`` of `mltsk.MLTSKClassifier` has it;
        that of a short model is "range".
    scaling : Scaling or None
        How dense features are put on that scale.
    intercept : (L,)
        Score of the average sample outside every exception; of a short model, where
        its text starts.
    terms, term_coef : Terms, (P, L)
        The general rule.
    centers, widths : (K, D)
        IF-parts of the exceptions, on the scale of the rules.
    coef : (K, 1 or D + 1, L)
        THEN-parts of the exceptions, on the same scale.
    prototypes : (K, D)
        The centres in the caller's units.
    rule_weights : (K,)
        Mean membership of the training data in each exception.
    thresholds : (L,)
        Scores from which on a label is given.
    has_log_odds : bool
        Whether scores are log-odds, calibrated on leave-one-out scores.
    quantiles : (D, 21) or None
        Percentiles 0, 5, …, 100 of dense features in the training data.
    firing : how memberships in the conditions become firing strengths.
    columns : Columns or None
        How features of a table became the D columns of numbers that the rest is about;
        None where they are the features themselves.
    used : UsedFeatures or None
        Which features of sparse samples the D columns are; None where they are all.
    members : Members or None
        Who is in each exception.
    certainty : Certainty or None
        How sure the numbers are.
    worth : Worth or None
        How well labels can be predicted; None if not known, or not asked for yet.
    categories : mapping of feature names to names of their values
        For features that are codes of categories.
    pairs, pair_coef : Pairs, (R, L) or None
        Features that act together; None where there are none.
    """

    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    scale_name: str | None
    scaling: Scaling | None
    intercept: Array
    terms: Terms
    term_coef: Array
    centers: Array
    widths: Array
    coef: Array
    prototypes: Array
    rule_weights: Array
    thresholds: Array
    quantiles: Array | None = None
    has_log_odds: bool = False
    firing: Firing = "plain"
    columns: Columns | None = None
    used: UsedFeatures | None = None
    members: Members | None = None
    certainty: Certainty | None = None
    worth: Worth | None = None
    categories: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=Pairs.none)
    pair_coef: Array | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, D, L)."""
        return len(self.centers), len(self.feature_names), len(self.label_names)

    @property
    def order(self) -> int:
        """0 where exceptions shift scores, 1 where they have slopes."""
        return int(self.coef.shape[1] > 1)

    @property
    def tnorm(self) -> str:
        """How conditions of an exception are joined: "product" or "minimum"."""
        return "minimum" if self.firing == "minimum" else "product"

    @property
    def unit_length(self) -> bool:
        """Whether samples are given unit length."""
        return self.scale_name == "unit"

    @property
    def is_papers(self) -> bool:
        """Whether this has the form of the paper: rules with lines, and nothing else.

        Its features are on a straight scale.
        """
        is_straight = self.scaling is not None and not self.scaling.bounded
        has_rules_alone = len(self.terms) == 0 and len(self.pairs) == 0
        return is_straight and has_rules_alone and self.order == 1

    @property
    def is_linear(self) -> bool:
        """Whether the general rule is linear in the scaled features."""
        return self.terms.low is None

    @property
    def is_sheet(self) -> bool:
        """Whether this is a short model: straight ramps, numbers printed in full."""
        scaling = self.scaling
        if scaling is None or not scaling.bounded:
            return False
        return bool((scaling.spread == 1).all())

    @property
    def is_chosen(self) -> bool:
        """Whether its statements were chosen, as those of a short model are."""
        return self.certainty is not None and self.certainty.chosen is not None

    @property
    def n_statements(self) -> NDArray[np.intp]:
        """Statements per label, (L,).

        A number of the general rule counts one, one for a rule of two conditions
        counts two, and one of the user's rules as many as that has conditions. Of a
        short model, a line through several points counts one for every two of them. An
        exception counts one per condition, at least one, and one per slope.
        """
        counts = self._n_general
        if self.pair_coef is not None:
            counts = counts + 2 * np.count_nonzero(self.pair_coef, axis=0)
        if not len(self.centers):
            return counts
        conditions = np.maximum(np.isfinite(self.widths).sum(axis=1), 1)
        counts = counts + conditions @ (self.coef != 0).any(axis=1)
        return counts + np.count_nonzero(self.coef[:, 1:], axis=(0, 1))

    @property
    def _n_general(self) -> NDArray[np.intp]:
        """Statements of the general rule per label, (L,)."""
        has_number = np.asarray(self.term_coef != 0)
        of_columns = np.ones(self.shape[1], dtype=np.intp)
        if self.columns is not None:
            of_columns = np.maximum(np.array(self.columns.conditions), 1)
        if not self.is_sheet:
            return of_columns[self.terms.feature] @ has_number
        lines = np.zeros((self.shape[1], has_number.shape[1]), dtype=np.intp)
        for column in np.unique(self.terms.feature):
            own = self.terms.feature == column
            points = _points_of(self.terms.take(own), has_number[own])
            lines[column] = of_columns[column] * ((points + 1) // 2)
        if self.columns is not None:
            # what a feature adds where it was not measured is part of its own line
            features = np.array([part.feature for part in self.columns.parts])
            for d in np.flatnonzero(self.columns.is_gap):
                is_own = (features == features[d]) & ~self.columns.is_gap
                lines[d, lines[is_own].any(axis=0)] = 0
        return lines.sum(axis=0)

    def with_feature_names(self, names: Sequence[str]) -> "FuzzySystem":
        """The same system whose features have other names."""
        column_names = tuple(names)
        if self.used is not None:
            column_names = self.used.names(column_names)
        columns = self.columns
        if columns is not None:
            columns = replace(columns, names=column_names)
            column_names = columns.part_names
        return replace(self, feature_names=column_names, columns=columns)

    def for_labels(self, labels: NDArray[np.intp]) -> "FuzzySystem":
        """The same system for some of its labels, by their numbers."""
        members = self.members
        if members is not None:
            given = members.given
            if given.shape[-1]:  # there is a column per label, also for no rule
                given = given[..., labels]
            members = replace(
                members,
                observed=members.observed[:, labels],
                positives=members.positives[:, labels],
                given=given,
            )
        certainty = self.certainty
        if certainty is not None:
            chosen = certainty.chosen
            shrunk = certainty.shrunk
            certainty = replace(
                certainty,
                noise=certainty.noise[labels],
                chosen=None if chosen is None else chosen[:, labels],
                shrunk=None if shrunk is None else shrunk[labels],
            )
        pair_coef = self.pair_coef
        if pair_coef is not None:
            pair_coef = pair_coef[:, labels]
        return replace(
            self,
            label_names=tuple(self.label_names[j] for j in labels),
            intercept=self.intercept[labels],
            term_coef=self.term_coef[:, labels],
            pair_coef=pair_coef,
            coef=self.coef[:, :, labels],
            thresholds=self.thresholds[labels],
            members=members,
            certainty=certainty,
            worth=None if self.worth is None else self.worth.take(labels),
        )

    def scale(self, X: Matrix) -> Matrix:
        """Put samples (N, D) in the caller's units on the scale of the rules."""
        if self.scaling is not None:
            return self.scaling.apply(X if is_tensor(X) else np.asarray(dense(X)))
        return unit_rows(X) if self.unit_length else within_reach(X)

    def firing_strengths(self, X: Matrix) -> Array:
        """Membership of samples (N, D) in every exception, (N, K)."""
        return self._fired(self.scale(X))

    def _fired(self, Z: Matrix) -> Array:
        """Firing strengths (N, K) of scaled samples."""
        share = None if self.scaling is None else self.scaling.share
        return firing_strengths(
            Z, self.centers, self.widths, firing=self.firing, share=share
        )

    @underflow_is_zero()
    def scores(self, X: Matrix) -> Array:
        """Scores of samples (N, D) for every label, (N, L)."""
        X = self._in_common_precision(X)
        here = self._beside(X)
        Z = here.scale(X)
        coef = here.term_coef
        T = namespace(Z).asarray(self.terms.memberships(Z, self.scaling) @ coef)
        scores = here.intercept + (T - put(self.terms.mean, coef) @ coef)
        if len(self.pairs) and here.pair_coef is not None:
            F = self.pairs.memberships(Z, self.scaling)
            scores = scores + F @ here.pair_coef
        if not len(self.centers):
            return scores
        M = here._fired(Z)
        if self.order == 0:
            return scores + M @ here.coef[:, 0]
        rules = FuzzyMap(self.terms.filled(Z), M)
        return scores + rules @ here.coef.reshape(-1, here.coef.shape[2])

    def _in_common_precision(self, X: Matrix) -> Matrix:
        """X in the precision that it has together with the system, as in NumPy."""
        if not is_tensor(X):
            return X
        return X.to(namespace(X).result_type(X.dtype, self.coef.dtype))

    def _beside(self, X: Matrix) -> "FuzzySystem":
        """This system with its numbers as tensors where X is one."""
        if not is_tensor(X):
            return self
        return replace(
            self,
            intercept=put(np.asarray(self.intercept), X),
            term_coef=put(np.asarray(self.term_coef), X),
            pair_coef=put(np.asarray(self.pair_coef), X) if len(self.pairs) else None,
            centers=put(np.asarray(self.centers), X),
            widths=put(np.asarray(self.widths), X),
            coef=put(np.asarray(self.coef), X),
        )

    def on_log_odds(self, curves: Curves) -> "FuzzySystem":
        """The same system with curves folded into its numbers: its scores are log-odds.

        Thresholds are those of a probability of one half until others are set.
        """
        slopes = curves.slopes
        pair_coef = self.pair_coef
        certainty = self.certainty
        if certainty is not None:
            certainty = replace(certainty, noise=certainty.noise * slopes)
        return replace(
            self,
            intercept=curves.log_odds(self.intercept),
            term_coef=self.term_coef * slopes,
            pair_coef=None if pair_coef is None else pair_coef * slopes,
            coef=self.coef * slopes,
            thresholds=np.zeros(len(slopes)),
            certainty=certainty,
            has_log_odds=True,
        )

    def probabilities(self, scores: Array) -> Array:
        """Probabilities of scores (N, L), which are log-odds."""
        if not self.has_log_odds:
            raise ValueError("this system was not calibrated")
        return probabilities_of(scores)


def _points_of(terms: Terms, has_number: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Values at which the ramps of a column begin or end, per label: (L,).

    ``has_number`` (P, L) says which ramps a label has.
    """
    if terms.low is None or terms.high is None:
        return 2 * has_number.sum(axis=0)
    ends = np.unique([terms.low, terms.high])
    is_end = (ends == terms.low[:, None]) | (ends == terms.high[:, None])
    return np.count_nonzero(is_end.T.astype(np.intp) @ has_number, axis=0)
