"""The scale of the features, and the terms of the general rule on it."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ..columns import Columns
from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    cast,
    is_csr,
    is_tensor,
    namespace,
    put,
    row_square_norms,
    weighted_mean_and_sd,
)
from ..core.magnitude import unit_rows, within_reach
from ..core.scales import Scaling, fit_scaling
from ..core.terms import PERCENTILE_TERMS, Terms
from ..exceptions import InputError

# A sparse matrix that is at least this full is multiplied faster as a dense array,
# if it then takes at most MAX_DENSE_BYTES: words that are 3 to 5 % full took a third
# longer as dense arrays, on two threads too.
MIN_DENSE_SHARE = 0.1
MAX_DENSE_BYTES = 10**9
OVERLAPPING = ("triangles", "trapezoids")  # scales whose ramps lie between terms
# The largest number of scaled samples: its sixth power is finite, which clustering
# needs. That of the inverse is above 0.
MAX_FITTED = 1e45
MAX_VARIANCE = MAX_FITTED**2
MIN_VARIANCE_SHARE = 1e-12  # of squares of samples; below, all rows count as the same
# Finer ramps per feature, from so many rows on: 12 to 24 pay from some 5,000 rows on,
# 48 never did (docs/decisions.md).
FINE_RAMPS = ((15_000, 24), (4_000, 12))
# There are fewer where features are many: a general rule has at most MAX_FINE_TERMS
# terms with them. 400 features had 12,000, and a fit of 16,000 rows took minutes; 100
# features of 20,000 rows take 14 s with 700 and 44 s with 2,000, at the same AP.
# Fewer than MIN_FINE_RAMPS are not worth it next to the six.
MAX_FINE_TERMS = 1_000
MIN_FINE_RAMPS = 6
MIN_TERM_VARIANCE = 1e-6  # least variance of a membership that is standardised
TINY = 1e-300


@dataclass(frozen=True)
class Scale:
    """The scale of the features, and the terms of the general rule on it.

    Parameters
    ----------
    name : str or None
        As the parameter ``scale`` of the classifier, never "auto".
    scaling : Scaling or None
        How features are put on the scale; None for rows of unit length, and for None.
    terms : Terms
    variance : float
        Total variance of scaled samples, the yardstick of widths and slopes.
    is_gap : (D,) or None
        Which columns say "not measured".
    n_given : int
        How many columns, the last ones, are rules of the user.
    """

    name: str | None
    scaling: Scaling | None
    terms: Terms
    variance: float
    is_gap: NDArray[np.bool_] | None = None
    n_given: int = 0

    @classmethod
    def of(
        cls,
        X: Matrix,
        w: Array,
        name: str | None,
        columns: Columns | None = None,
        *,
        n_rows: int | None = None,
    ) -> "tuple[Scale, Matrix]":
        """Fit a scale to rows X (N, D) under the weights w (N,); also X on that scale.

        "auto" is "quantile" for dense and "unit" for sparse rows. ``columns`` say how
        much each column counts in distances and which may have one ramp alone; those of
        the user's rules come last, and their terms count from 0, not from their mean.
        ``n_rows``, N by default, says how many rows there are for the terms in all.
        """
        if name == "auto":
            name = "unit" if sparse.issparse(X) else "quantile"
        _check_scale(X, name)
        if name is None:
            _check_raw_size(X)
        n_fine = fine_ramps(X.shape[0] if n_rows is None else n_rows)
        scaling, terms = _fitted_terms(X, w, name, columns, n_fine)
        Z = cls(name, scaling, terms, variance=1.0).apply(X)
        terms = terms.averaged(Z, scaling, w)
        n_given = 0 if columns is None else len(columns.rules)
        if n_given:
            terms = terms.from_zero(X.shape[1] - n_given)
        scale = cls(
            name,
            scaling,
            terms,
            variance=_total_variance(Z, w, name, terms),
            is_gap=None if columns is None else columns.is_gap,
            n_given=n_given,
        )
        return scale, Z

    def keeping(self, terms: NDArray[np.bool_]) -> "Scale":
        """The same scale with some of its terms."""
        return replace(self, terms=self.terms.take(terms))

    @property
    def has_lines(self) -> bool:
        """Whether lines stand next to ramps."""
        return self.terms.straight is not None

    def term_weights(
        self, variances: FloatArray, curve_share: float, gap_share: float = 1.0
    ) -> FloatArray:
        """Weights (P,) of the columns of the general rule, of variances (P,).

        Ramps have the share ``curve_share`` of a variance of 1 in all, lines, each
        standardised, the rest. A feature of two values is in both. Lines of one
        nominal feature together count as much as that of a number, and "not measured"
        counts ``gap_share`` times as much as it would otherwise.
        """
        if self.terms.straight is None:
            return np.full(len(self.terms), 1.0 / max(float(variances.sum()), TINY))
        is_line = self.terms.straight
        features_with_line = self.terms.feature[is_line]
        is_ramp = ~is_line
        is_alone = is_ramp & ~np.isin(self.terms.feature, features_with_line)
        of_ramp = curve_share / max(float(variances[is_ramp].sum()), TINY)
        counts = np.where(is_line | is_alone, self._line_shares, 0.0)
        of_line = (1 - curve_share) / max(float(counts.sum()), TINY) * counts
        weights = np.where(is_ramp, of_ramp, 0.0)
        weights += of_line / np.maximum(variances, MIN_TERM_VARIANCE)
        if self.is_gap is not None:
            weights[self.is_gap[self.terms.feature]] *= gap_share
        return weights

    @property
    def _line_shares(self) -> FloatArray:
        """How much the line of each term (P,) counts next to that of a number."""
        if self.scaling is None:
            return np.ones(len(self.terms))
        shares = self.scaling.share.copy()
        # these count nothing in distances
        if self.is_gap is not None:
            shares[self.is_gap] = 1.0
        shares[len(shares) - self.n_given :] = 1.0
        return shares[self.terms.feature]

    @cached_property
    def heights(self) -> sparse.csr_array:
        """Turns ramps into columns of heights (P, P), for the scales OVERLAPPING."""
        return self.terms.heights()

    def general(self, Z: Matrix, dtype: DTypeLike = np.float64) -> Matrix:
        """Columns of the general rule (N, P) of scaled rows, perhaps CSR."""
        T = cast(self.terms.memberships(Z, self.scaling), dtype)
        if self.name not in OVERLAPPING:
            return T
        heights = put(self.heights.toarray(), T) if is_tensor(T) else self.heights
        return T @ heights

    def apply(self, X: Matrix) -> Matrix:
        """Put rows (N, D) on this scale; sparse rows become dense where that pays."""
        if self.scaling is not None:
            return self.scaling.apply(X)
        Z = unit_rows(X) if self.name == "unit" else within_reach(X)
        if not is_csr(Z):
            return Z
        n_cells = Z.shape[0] * Z.shape[1]
        is_small = 8 * n_cells <= MAX_DENSE_BYTES
        is_full = Z.nnz >= MIN_DENSE_SHARE * n_cells
        return Z.toarray() if is_small and is_full else Z


def _check_scale(X: Matrix, name: str | None) -> None:
    """Refuse a scale that rows cannot be put on."""
    is_sparse = sparse.issparse(X)
    if is_sparse and name not in ("unit", None):
        raise InputError(
            f"scale={name!r} would make sparse X dense: "
            "use scale='unit' or None, or X.toarray()."
        )
    if name == "unit" and not is_sparse and not bool((X == X).all()):
        raise InputError(
            "scale='unit' needs every cell of a row to give it unit length: "
            "take another scale."
        )


def fine_ramps(n_rows: int) -> int:
    """How many finer ramps a feature has next to the six, by the number of rows."""
    for least_rows, n_ramps in FINE_RAMPS:
        if n_rows >= least_rows:
            return n_ramps
    return 0


def _fitted_terms(
    X: Matrix, w: Array, name: str | None, columns: Columns | None, n_fine: int
) -> tuple[Scaling | None, Terms]:
    """The scaling of a scale and the terms on it, whose means are not known yet."""
    if name is None or name == "unit":
        return None, Terms.linear(X.shape[1])
    has_percentiles = name in PERCENTILE_TERMS
    kind = "quantile" if has_percentiles else name
    shares = None if columns is None else columns.shares
    scaling = fit_scaling(X, w, kind, shares)
    if not has_percentiles:
        return scaling, Terms.linear(X.shape[1])
    monotone = None if columns is None else columns.monotone
    if name != "quantile":
        return scaling, Terms.ramps(scaling, monotone, name)
    coarse = Terms.ramps(scaling, monotone).with_lines(scaling)
    n_fine = _affordable_ramps(coarse, n_fine)
    if n_fine == 0:
        return scaling, coarse
    ramps = Terms.ramps(scaling, monotone, n_fine=n_fine)
    return scaling, ramps.with_lines(scaling)


def _affordable_ramps(coarse: Terms, n_fine: int) -> int:
    """How many finer ramps each feature may have next to its coarse terms."""
    n_bending = 0 if coarse.straight is None else int(coarse.straight.sum())
    affordable = (MAX_FINE_TERMS - len(coarse)) // max(n_bending, 1)
    return min(n_fine, affordable) if affordable >= MIN_FINE_RAMPS else 0


def _total_variance(Z: Matrix, w: Array, name: str | None, terms: Terms) -> float:
    """Total variance of scaled rows (N, D); 1 where all rows are the same."""
    if name == "unit":
        # mean square length less the square of the mean: lengths are 1, nothing cancels
        mean = terms.mean
        mean_square = float(w @ row_square_norms(Z)) / float(w.sum())
        variance = mean_square - float(mean @ mean)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            mean, sd = weighted_mean_and_sd(Z, w)
            variance = float((sd**2).sum())
        if not variance < MAX_VARIANCE:
            _refuse_size(name, "large", "smaller")
    if variance > MIN_VARIANCE_SHARE * (variance + float(mean @ mean)):
        return variance
    if _rows_differ(Z[namespace(w).flatnonzero(w > 0)]):
        warnings.warn(
            f"X varies by less than a millionth of its size on the scale {name!r}, so "
            "the model can learn nothing from it: take scale='quantile', which needs "
            "dense X, or subtract from each column what its values have in common.",
            UserWarning,
            stacklevel=7,
        )
    return 1.0


def _rows_differ(Z: Matrix) -> bool:
    """Whether some rows (N, D) are not the same, up to missing values."""
    if is_csr(Z):
        return bool((Z.max(axis=0) != Z.min(axis=0)).nnz)
    first = Z[:1]
    return bool(((Z > first) | (Z < first)).any())


def _refuse_size(name: str | None, size: str, units: str) -> NoReturn:
    """Refuse numbers that a scale cannot take."""
    raise InputError(
        f"X holds numbers too {size} for scale={name!r}: "
        f"take 'quantile', or {units} units."
    )


def _check_raw_size(X: Matrix) -> None:
    """Refuse raw numbers whose squares are not finite, or are all 0."""
    values = X.data if is_csr(X) else X
    sizes = abs(values[values == values])
    largest = float(sizes.max()) if len(sizes) else 0.0
    if largest > MAX_FITTED:
        _refuse_size(None, "large", "smaller")
    if 0 < largest < 1 / MAX_FITTED and _rows_differ(X):
        _refuse_size(None, "small", "larger")
