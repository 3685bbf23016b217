"""A fitted fuzzy system as plain data: what it takes to score a sample, and nothing of how it was found.   (16) (17)

Symbols: K rules, D features, L labels. Rules live on a scale (`Scaling`, or rows of unit length for sparse input);
`scores` takes samples in the caller's units. Explanations, pages and exports read this object, never an estimator.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .arrays import Array, Matrix, unit_rows
from .backend import is_tensor
from .fuzzymap import FuzzyMap
from .membership import Underflow
from .scaling import Scaling


@dataclass(frozen=True)
class FuzzySystem:
    """K rules with shared IF-parts and one linear THEN-part per label.

    ``centers``, ``widths`` (K, D) and ``coef`` (K, D+1, L), intercept first, hold on the scale of the rules;
    ``prototypes`` (K, D) are the same centres in the caller's units; ``rule_weights`` (K,) say which share of the
    training data each rule governs; ``quantiles`` (D, 21) are training percentiles 0, 5, …, 100 of dense features, in
    the caller's units, or None; ``thresholds`` (L,) turn scores into labels.
    """

    centers: Array
    widths: Array
    coef: Array
    scaling: Scaling | None
    unit_length: bool
    underflow: Underflow
    prototypes: Array
    rule_weights: Array
    thresholds: Array
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    quantiles: Array | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, D, L)."""
        return len(self.centers), self.centers.shape[1], self.coef.shape[2]

    def scale(self, X: Matrix) -> Matrix:
        """Samples in the caller's units, put on the scale of the rules."""
        if self.scaling is not None:
            return self.scaling.apply(_dense(X))
        return unit_rows(X) if self.unit_length else X

    def map(self, X: Matrix) -> FuzzyMap:
        """G of samples in the caller's units, as an operator."""
        return FuzzyMap.of(self.scale(X), self.centers, self.widths, underflow=self.underflow)

    def firing(self, X: Matrix) -> Array:
        """Share of every rule in every sample, (N, K)."""
        return self.map(X).M

    def scores(self, X: Matrix) -> Array:
        """Scores of every label, (N, L): Σ_k firing_k · (intercept + coef · scaled x).   (16)"""
        return self.map(X) @ self.coef.reshape(-1, self.coef.shape[2])


def _dense(X: Matrix) -> Array:
    return X.toarray() if sparse.issparse(X) else X if is_tensor(X) else np.asarray(X)
