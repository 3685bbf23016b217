"""A fitted fuzzy system as plain data: what it takes to score a sample, and nothing of how it was found.

Symbols: D features, L labels, P terms of the general rule, K exceptions; z a sample on the scale of the rules (a
`Scaling`, or rows of unit length for sparse input), t (P,) its memberships in the terms, m (K,) its firing strengths.

    score = intercept + Σ_p (t_p - mean_p) · term_coef_p + Σ_k m_k · (coef_k0 + coef_k · z)   (16)

The general rule holds for everybody; an exception shifts the samples in it (order 0: ``coef`` has one row per rule) or
has slopes of its own as well (order 1: D + 1 rows, intercept first). The paper's system has exceptions alone.
Explanations, pages and exports read this object, never an estimator; `scores` takes samples in the caller's units.
"""

from dataclasses import dataclass, replace

import numpy as np

from .columns import Columns
from .core.arrays import (
    Array,
    Matrix,
    dense,
    is_tensor,
    namespace,
    put,
    unit_rows,
    within_reach,
)
from .core.certainty import Certainty
from .core.fuzzymap import FuzzyMap
from .core.membership import Firing, Members, firing_strengths
from .core.terms import Scaling, Terms


@dataclass(frozen=True)
class FuzzySystem:
    """A general rule and exceptions to it.

    ``intercept`` (L,) is what the average sample outside every exception scores; ``term_coef`` (P, L) are the numbers
    of the terms. ``centers``, ``widths`` (K, D) and ``coef`` (K, 1 or D+1, L) hold on the scale of the rules;
    ``prototypes`` (K, D) are the centres in the caller's units; ``rule_weights`` (K,) the mean membership of the
    training data in each exception; ``quantiles`` (D, 21) the training percentiles 0, 5, …, 100 of dense features, in
    the caller's units, or None; ``thresholds`` (L,) turn scores into labels. Probabilities are
    1 / (1 + exp(-(slopes · score + offsets))), both (L,), or None where not calibrated. ``columns`` says how features
    of a table became the D columns of numbers that all this is about, None where they are the features themselves;
    ``feature_names`` are those of the D columns. ``members`` says who is in each exception and ``certainty``
    how sure the numbers are, or they are None.
    """

    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    scaling: Scaling | None
    unit_length: bool
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
    slopes: Array | None = None
    offsets: Array | None = None
    firing: Firing = "plain"
    columns: Columns | None = None
    members: Members | None = None
    certainty: Certainty | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, D, L)."""
        return len(self.centers), len(self.feature_names), len(self.label_names)

    @property
    def order(self) -> int:
        """0 where exceptions shift scores, 1 where they have slopes."""
        return int(self.coef.shape[1] > 1)

    @property
    def is_linear(self) -> bool:
        """Whether the general rule is linear in the scaled features, as it is for rows of unit length."""
        return self.terms.low is None

    @property
    def is_sheet(self) -> bool:
        """Whether ramps are straight lines in the caller's units, with numbers that are printed in full."""
        scaling = self.scaling
        return (
            scaling is not None
            and scaling.bounded
            and bool((scaling.spread == 1).all())
        )

    def scale(self, X: Matrix) -> Matrix:
        """Samples in the caller's units, put on the scale of the rules."""
        if self.scaling is not None:
            return self.scaling.apply(X if is_tensor(X) else np.asarray(dense(X)))
        return unit_rows(X) if self.unit_length else within_reach(X)

    def firing_strengths(self, X: Matrix) -> Array:
        """Share of every exception in every sample, (N, K)."""
        return self._fired(self.scale(X))

    def _fired(self, Z: Matrix) -> Array:
        share = None if self.scaling is None else self.scaling.share
        return firing_strengths(
            Z, self.centers, self.widths, firing=self.firing, share=share
        )

    def scores(self, X: Matrix) -> Array:
        """Scores of every label, (N, L)."""
        here, X = self.near(X)
        Z, coef = here.scale(X), here.term_coef
        T = self.terms.memberships(Z, self.scaling)
        scores = here.intercept + (
            namespace(Z).asarray(T @ coef) - put(self.terms.mean, coef) @ coef
        )
        if not len(self.centers):
            return scores
        M = here._fired(Z)
        if self.order == 0:
            return scores + M @ here.coef[:, 0]
        return scores + FuzzyMap(self.terms.filled(Z), M) @ here.coef.reshape(
            -1, here.coef.shape[2]
        )

    def near(self, X: Matrix) -> "tuple[FuzzySystem, Matrix]":
        """This system as tensors where X is one, and X in the precision that both have together, as in NumPy."""
        if not is_tensor(X):
            return self, X
        xp = namespace(X)
        X = X.to(xp.result_type(X.dtype, self.coef.dtype))
        names = ("intercept", "term_coef", "centers", "widths", "coef")
        return replace(
            self, **{name: put(np.asarray(getattr(self, name)), X) for name in names}
        ), X

    def probabilities(self, scores: Array) -> Array:
        """Calibrated probabilities of scores, (N, L)."""
        if self.slopes is None or self.offsets is None:
            raise ValueError("this system was not calibrated")
        xp = namespace(scores)
        line = scores * put(self.slopes, scores) + put(self.offsets, scores)
        return 1.0 / (
            1.0 + xp.exp(-xp.clip(line, -80.0, 80.0))
        )  # beyond, exp overflows in single precision
