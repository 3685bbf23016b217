"""The columns of the ridge problem: terms of the general rule, strengths of exceptions.

Symbols: Z (N, D) scaled samples, T (N, P) terms, M (N, K) firing strengths, V the total
variance of Z; a and b are the block weights, so that one ridge shrinks both blocks.

    Φ = [√a T, √b M ∘ (1, Z/√V)]   (N, Q)

Order 0 has no Z in it. T of triangles and trapezoids are their ramps times H
(`Terms.heights`). The kernel of the whole needs no Φ:

    Φ Φᵀ = a T Tᵀ + b (M Mᵀ) ∘ (1 + Z Zᵀ/V)
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from ..columns import Columns
from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    cast,
    dense,
    is_csr,
    is_tensor,
    namespace,
    put,
    row_blocks,
    row_square_norms,
    weighted_mean_and_sd,
)
from ..core.fuzzymap import FuzzyMap
from ..core.magnitude import unit_rows, within_reach
from ..core.membership import Firing, firing_strengths
from ..core.terms import PERCENTILE_TERMS, Scaling, Terms, fit_scaling
from ..exceptions import InputError

# A sparse matrix that is at least this full is multiplied faster as a dense array,
# since SciPy's sparse products run on one thread, if it then takes at most
# MAX_DENSE_BYTES.
MIN_DENSE_SHARE = 0.01
MAX_DENSE_BYTES = 10**9
OVERLAPPING = ("triangles", "trapezoids")  # scales whose ramps lie between terms
# The largest number of scaled samples: its sixth power is finite, which clustering
# needs. That of the inverse is above 0.
MAX_FITTED = 1e45
MAX_VARIANCE = MAX_FITTED**2
MIN_VARIANCE_SHARE = 1e-12  # of squares of samples; below, all rows count as the same
KERNEL_BLOCK_BYTES = 2**23


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
    """

    name: str | None
    scaling: Scaling | None
    terms: Terms
    variance: float

    @classmethod
    def of(
        cls, X: Matrix, w: Array, name: str | None, columns: Columns | None = None
    ) -> "tuple[Scale, Matrix]":
        """Fit a scale to rows X (N, D) under the weights w (N,); also X on that scale.

        "auto" is "quantile" for dense and "unit" for sparse rows. ``columns`` say how
        much each column counts in distances and which may have one ramp alone; those of
        the user's rules come last, and their terms count from 0, not from their mean.
        """
        if name == "auto":
            name = "unit" if sparse.issparse(X) else "quantile"
        _check_scale(X, name)
        if name is None:
            _check_raw_size(X)
        scaling, terms = _fitted_terms(X, w, name, columns)
        Z = cls(name, scaling, terms, variance=1.0).apply(X)
        terms = terms.averaged(Z, scaling, w)
        if columns is not None and columns.rules:
            terms = terms.from_zero(X.shape[1] - len(columns.rules))
        return cls(name, scaling, terms, _total_variance(Z, w, name, terms)), Z

    @cached_property
    def heights(self) -> sparse.csr_array:
        """Turns ramps into columns of heights (P, P), for the scales OVERLAPPING."""
        return self.terms.heights()

    def general(self, Z: Matrix) -> Matrix:
        """Columns of the general rule (N, P) of scaled rows, perhaps CSR."""
        T = cast(self.terms.memberships(Z, self.scaling), np.float64)
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


def _fitted_terms(
    X: Matrix, w: Array, name: str | None, columns: Columns | None
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
    return scaling, Terms.ramps(scaling, monotone, name)


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


@dataclass(frozen=True)
class ExceptionRules:
    """IF-parts of the exceptions.

    Zero-order rules fire by themselves: a sample far from all of them is no exception.
    First-order rules share samples out among them, as in the paper: their slopes stand
    for a whole region. Each is the better one for its order (docs/decisions.md).

    Parameters
    ----------
    centers : (K, D)
        On the scale.
    width : float
        One for all rules and features.
    order : {0, 1}
        Of the THEN-parts.
    firing : {"plain", "softmax", "minimum"}
        As in `firing_strengths`: "plain" for order 0, "softmax" for order 1, "minimum"
        for rules of order 0 whose conditions are joined by their minimum.
    """

    centers: Array
    width: float
    order: int
    firing: Firing = "plain"

    def __len__(self) -> int:
        return len(self.centers)


class Coefficients(NamedTuple):
    """Numbers of a system: intercept (L,), terms (P, L), rules (K, 1 or D + 1, L)."""

    intercept: FloatArray
    terms: FloatArray
    rules: FloatArray


@dataclass(frozen=True)
class Design:
    """Φ as an operator on scaled rows Z (N, D).

    ``general_weight`` and ``rule_weight`` are the block weights a and b.
    """

    scale: Scale
    rules: ExceptionRules
    general_weight: float = 1.0
    rule_weight: float = 1.0

    @property
    def n_terms(self) -> int:
        """P, columns of the general rule."""
        return len(self.scale.terms.feature)

    @property
    def n_columns(self) -> int:
        """Q, columns of Φ."""
        n_rules, n_features = self.rules.centers.shape
        columns_per_rule = n_features + 1 if self.rules.order else 1
        return self.n_terms + n_rules * columns_per_rule

    def firing(self, Z: Matrix) -> Array:
        """M (N, K) in [0, 1]: exp(-‖z - c‖² / width), shared out for order 1."""
        C = self.rules.centers
        scaling = self.scale.scaling
        M = firing_strengths(
            Z,
            C,
            namespace(C).full_like(C, self.rules.width),
            firing=self.rules.firing,
            share=None if scaling is None else scaling.share,
        )
        return cast(M, np.float64)

    def _slopes(self, Z: Matrix) -> FuzzyMap:
        """M ∘ (1, Z/√V) as an operator, in double precision."""
        filled = cast(self.scale.terms.filled(Z), np.float64)
        return FuzzyMap(filled * self.scale.variance**-0.5, self.firing(Z))

    def rows(self, Z: Matrix) -> Array:
        """Φ (N, Q), dense, in double precision."""
        T = dense(self.scale.general(Z))
        M = self._slopes(Z).rows() if self.rules.order else self.firing(Z)
        blocks = [self.general_weight**0.5 * T, self.rule_weight**0.5 * M]
        return namespace(T).concatenate(blocks, axis=1)

    def kernel(self, Z: Matrix) -> Array:
        """Φ Φᵀ (N, N) in double precision."""
        K = gram(self.scale.general(Z))
        if len(self.rules):
            self.exception_kernel(Z, self._inner_products(Z, K), into=K)
        K *= self.general_weight
        return K

    def _inner_products(self, Z: Matrix, general: Array) -> Array | None:
        """Z Zᵀ (N, N) for order 1, which linear terms have as their own kernel."""
        if not self.rules.order:
            return None
        if self.scale.terms.low is None:
            return general
        return gram(self.scale.terms.filled(Z))

    def exception_kernel(
        self, Z: Matrix, inner: Array | None, into: Array | None = None
    ) -> Array:
        """(M Mᵀ) ∘ (1 + Z Zᵀ/V), (N, N).

        ``inner`` is Z Zᵀ for order 1. Where ``into`` (N, N) is given, the result times
        b / a is added to it. Works on some rows at a time, in place: at thousands of
        rows, writing arrays takes longer than computing them.
        """
        M = self.firing(Z)
        scale = 1.0
        if into is None:
            into = namespace(M).zeros((len(M), len(M)), like=M)
        else:
            scale = self.rule_weight / self.general_weight
        for rows in row_blocks(len(M), 8 * len(M), KERNEL_BLOCK_BYTES, like=M):
            products = M[rows] @ M.T
            if self.rules.order and inner is not None:
                products *= 1.0 + inner[rows] * (1.0 / self.scale.variance)
            into[rows] += products if scale == 1.0 else products * scale
        return into

    def transposed(self, Z: Matrix, A: Array) -> Array:
        """Φᵀ A (Q, L) for A (N, L)."""
        xp = namespace(A)
        general = self.general_weight**0.5 * xp.asarray(self.scale.general(Z).T @ A)
        if not len(self.rules):
            return general
        if self.rules.order:
            rules = self._slopes(Z).transpose_matmul(A)
        else:
            rules = self.firing(Z).T @ A
        return xp.concatenate([general, self.rule_weight**0.5 * rules])

    def times(self, Z: Matrix, B: Array) -> Array:
        """Φ B (N, L) for B (Q, L)."""
        P = self.n_terms
        general = namespace(B).asarray(self.scale.general(Z) @ B[:P])
        scores = self.general_weight**0.5 * general
        if not len(self.rules):
            return scores
        M = self._slopes(Z) if self.rules.order else self.firing(Z)
        return scores + self.rule_weight**0.5 * (M @ B[P:])

    def coefficients(self, B: Array, mean: Array, rates: Array) -> Coefficients:
        """Turn a solution into numbers of the terms and rules.

        Parameters
        ----------
        B : (Q, L)
            Consequents of the ridge problem.
        mean : (Q, L)
            Means of the columns. Terms count as their distance from their own mean,
            which may be another one: then the difference is in the intercept.
        rates : (L,)
            Base rates of the labels.
        """
        P = self.n_terms
        n_labels = B.shape[1]
        general = self.general_weight**0.5 * B[:P]
        if self.scale.name in OVERLAPPING:
            general = self.scale.heights @ general
        rules = np.zeros((0, 1, n_labels))
        if len(self.rules):
            of_rules = B[P:].reshape(len(self.rules), -1, n_labels)
            rules = self.rule_weight**0.5 * of_rules
            rules[:, 1:] *= self.scale.variance**-0.5
        centre = np.einsum("ql,ql->l", mean, B)
        intercept = rates - centre + self.scale.terms.mean @ general
        return Coefficients(intercept, general, rules)


def gram(T: Matrix) -> Array:
    """T Tᵀ (N, N), dense, in double precision."""
    return cast(dense(T @ T.T), np.float64)
