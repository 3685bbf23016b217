"""The columns of the ridge problem: terms, pairs of features, strengths of exceptions.

Symbols: Z (N, D) scaled samples, T (N, P) terms of the general rule, F (N, R) rules of
pairs, M (N, K) firing strengths of exceptions, V the total variance of Z; a, c and b
are weights, so that one ridge shrinks all columns.

    Φ = [√a T, √c F, √b M ∘ (1, Z/√V)]   (N, Q)

Order 0 has no Z in it. T of triangles and trapezoids are their ramps times H
(`Terms.heights`). The ridge shrinks BᵀB, or with the kernel's own prior, for the rows
B_M of exceptions, B_Mᵀ S B_M: S (K, K) are the firing strengths at the centres. The
kernel of the whole needs no Φ:

    Φ Φᵀ = a T Tᵀ + c F Fᵀ + b (M Mᵀ) ∘ (1 + Z Zᵀ/V)       or  … + b M S⁻¹ Mᵀ
"""

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ..columns import Columns
from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
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
from ..core.membership import Firing, Gaussians
from ..core.pairs import Pairs
from ..core.scales import Scaling, fit_scaling
from ..core.terms import PERCENTILE_TERMS, Terms
from ..exceptions import InputError
from .ridge import Factor

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
KERNEL_BLOCK_BYTES = 2**23
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
GRAM_ROWS = 2_000  # that are multiplied with their own transpose at a time
# Added to the diagonal of the kernel's prior, where that is 1. With 1e-6 rounding moved
# probabilities of weighted rows by 2e-6 when these came in another order, with 1e-4 by
# 1e-7; AP on image, yeast and scene is the same in all digits.
MIN_PRIOR = 1e-4


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
    has_kernel_prior : bool
        Whether numbers of rules that lie close together are shrunk together, as those
        of a kernel are. For order 0.
    """

    centers: Array
    width: float
    order: int
    firing: Firing = "plain"
    has_kernel_prior: bool = False

    def __len__(self) -> int:
        return len(self.centers)

    @cached_property
    def gaussians(self) -> Gaussians:
        """The fuzzy sets of the IF-parts."""
        widths = namespace(self.centers).full_like(self.centers, self.width)
        return Gaussians(self.centers, widths)


class Coefficients(NamedTuple):
    """Numbers of a system.

    ``intercept`` is (L,), ``terms`` (P, L), ``pairs`` (R, L), and ``rules``
    (K, 1 or D + 1, L).
    """

    intercept: FloatArray
    terms: FloatArray
    pairs: FloatArray
    rules: FloatArray


@dataclass(frozen=True)
class Design:
    """Φ as an operator on scaled rows Z (N, D).

    ``term_weights`` (P,) or one number, ``pair_weight`` and ``rule_weight`` are a, c
    and b.
    """

    scale: Scale
    rules: ExceptionRules
    term_weights: Array | float = 1.0
    rule_weight: float = 1.0
    pairs: Pairs = field(default_factory=Pairs.none)
    pair_weight: float = 1.0

    @property
    def n_terms(self) -> int:
        """P, columns of the general rule."""
        return len(self.scale.terms.feature)

    @property
    def first_rule(self) -> int:
        """P + R, where the columns of exceptions begin."""
        return self.n_terms + len(self.pairs)

    @property
    def n_columns(self) -> int:
        """Q, columns of Φ."""
        n_rules, n_features = self.rules.centers.shape
        columns_per_rule = n_features + 1 if self.rules.order else 1
        return self.first_rule + n_rules * columns_per_rule

    def firing(self, Z: Matrix) -> Array:
        """M (N, K) in [0, 1]: exp(-‖z - c‖² / width), shared out for order 1."""
        scaling = self.scale.scaling
        M = self.rules.gaussians.strengths(
            Z,
            firing=self.rules.firing,
            share=None if scaling is None else scaling.share,
        )
        return cast(M, np.float64)

    def _slopes(self, Z: Matrix) -> FuzzyMap:
        """M ∘ (1, Z/√V) as an operator, in double precision."""
        filled = cast(self.scale.terms.filled(Z), np.float64)
        return FuzzyMap(filled * self.scale.variance**-0.5, self.firing(Z))

    def general(self, Z: Matrix) -> Matrix:
        """√a T (N, P), perhaps CSR."""
        T = self.scale.general(Z)
        if is_csr(T):
            return T.multiply(np.sqrt(self.term_weights)).tocsr()
        return T * put(np.sqrt(self.term_weights), T)

    def paired(self, Z: Array) -> Array:
        """√c F (N, R)."""
        F = cast(self.pairs.memberships(Z, self.scale.scaling), np.float64)
        F *= self.pair_weight**0.5  # made just now, and large
        return F

    def _blocks(self, Z: Matrix) -> list[Matrix]:
        """The columns of the general rule and of pairs."""
        if not len(self.pairs):
            return [self.general(Z)]
        return [self.general(Z), self.paired(Z)]

    def rows_without_rules(self, Z: Matrix) -> Array:
        """The columns (N, P + R) of Φ before those of exceptions, dense."""
        blocks = [dense(block) for block in self._blocks(Z)]
        if len(blocks) == 1:
            return blocks[0]
        return namespace(*blocks).concatenate(blocks, axis=1)

    def rows(self, Z: Matrix) -> Array:
        """Φ (N, Q), dense, in double precision."""
        first = self.rows_without_rules(Z)
        if not len(self.rules):
            return first
        M = self._slopes(Z).rows() if self.rules.order else self.firing(Z)
        return namespace(first).concatenate([first, self.rule_weight**0.5 * M], axis=1)

    @property
    def prior(self) -> Array | None:
        """S (K, K), the firing strengths at the centres; None for an ordinary ridge."""
        return self._strengths_at_centers if self.rules.has_kernel_prior else None

    @cached_property
    def _strengths_at_centers(self) -> Array:
        S = self.firing(self.rules.centers)
        S = (S + S.T) / 2
        namespace(S).fill_diagonal(S, 1.0 + MIN_PRIOR)
        return S

    @cached_property
    def _prior_factor(self) -> Factor:
        return Factor.of(self._strengths_at_centers * 1, np.zeros(1))

    def shrunk(self, B: Array) -> Array:
        """What the ridge makes of a solution B (Q, L): B, times S for exceptions."""
        if self.prior is None:
            return B
        first = self.first_rule
        return namespace(B).concatenate([B[:first], self.prior @ B[first:]])

    def unshrunk(self, B: Array) -> Array:
        """The inverse of `shrunk`."""
        if self.prior is None:
            return B
        first = self.first_rule
        rules = self._prior_factor.solve(B[first:])
        return namespace(B).concatenate([B[:first], rules])

    def kernel(self, Z: Matrix) -> Array:
        """Φ Φᵀ (N, N) in double precision, under the prior."""
        blocks = self._blocks(Z)
        K = gram(blocks[0])
        inner = None
        if self.rules.order:
            inner = K / self.term_weights if self._is_linear else self._products(Z)
        for block in blocks[1:]:
            K += gram(block)
        if len(self.rules):
            self.exception_kernel(Z, inner, into=K)
        return K

    @property
    def _is_linear(self) -> bool:
        return self.scale.terms.low is None

    def _products(self, Z: Matrix) -> Array:
        """Z Zᵀ (N, N)."""
        return gram(self.scale.terms.filled(Z))

    def exception_kernel(
        self, Z: Matrix, inner: Array | None, into: Array | None = None
    ) -> Array:
        """(M Mᵀ) ∘ (1 + Z Zᵀ/V), or M S⁻¹ Mᵀ, (N, N).

        ``inner`` is Z Zᵀ for order 1. Where ``into`` (N, N) is given, the result times
        b is added to it. Works on some rows at a time, in place: at thousands of
        rows, writing arrays takes longer than computing them.
        """
        M = self.firing(Z)
        right = M.T
        if self.prior is not None:
            right = self._prior_factor.solve(namespace(M).asarray(right))
        scale = 1.0
        if into is None:
            into = namespace(M).zeros((len(M), len(M)), like=M)
        else:
            scale = self.rule_weight
        for rows in row_blocks(len(M), 8 * len(M), KERNEL_BLOCK_BYTES, like=M):
            products = M[rows] @ right
            if self.rules.order and inner is not None:
                products *= 1.0 + inner[rows] * (1.0 / self.scale.variance)
            into[rows] += products if scale == 1.0 else products * scale
        return into

    def transposed(self, Z: Matrix, A: Array) -> Array:
        """Φᵀ A (Q, L) for A (N, L)."""
        xp = namespace(A)
        products = [xp.asarray(block.T @ A) for block in self._blocks(Z)]
        if len(self.rules):
            if self.rules.order:
                rules = self._slopes(Z).transpose_matmul(A)
            else:
                rules = self.firing(Z).T @ A
            products.append(self.rule_weight**0.5 * rules)
        return products[0] if len(products) == 1 else xp.concatenate(products)

    def times(self, Z: Matrix, B: Array) -> Array:
        """Φ B (N, L) for B (Q, L)."""
        scores: Array | float = 0.0
        start = 0
        for block in self._blocks(Z):
            stop = start + block.shape[1]
            scores = scores + namespace(B).asarray(block @ B[start:stop])
            start = stop
        if not len(self.rules):
            return scores
        M = self._slopes(Z) if self.rules.order else self.firing(Z)
        return scores + self.rule_weight**0.5 * (M @ B[start:])

    def coefficients(self, B: Array, mean: Array, rates: Array) -> Coefficients:
        """Turn a solution into numbers of the terms, pairs and rules.

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
        first = self.first_rule
        n_labels = B.shape[1]
        weights = np.sqrt(asnumpy(self.term_weights))
        general = weights[..., None] * B[:P] if weights.ndim else weights * B[:P]
        if self.scale.name in OVERLAPPING:
            general = self.scale.heights @ general
        paired = self.pair_weight**0.5 * B[P:first]
        rules = np.zeros((0, 1, n_labels))
        if len(self.rules):
            of_rules = B[first:].reshape(len(self.rules), -1, n_labels)
            rules = self.rule_weight**0.5 * of_rules
            rules[:, 1:] *= self.scale.variance**-0.5
        centre = np.einsum("ql,ql->l", mean, B)
        intercept = rates - centre + self.scale.terms.mean @ general
        return Coefficients(intercept, general, paired, rules)


def gram(T: Matrix) -> Array:
    """T Tᵀ (N, N), dense, in double precision.

    By blocks of rows: OpenBLAS may end the process where a large array is multiplied
    with its own transpose, and half of the products are those of the other half.
    """
    n_rows = T.shape[0]
    if is_tensor(T) or n_rows <= GRAM_ROWS:
        return cast(dense(T @ T.T), np.float64)
    K = np.empty((n_rows, n_rows))
    for start in range(0, n_rows, GRAM_ROWS):
        stop = min(start + GRAM_ROWS, n_rows)
        K[start:stop, :stop] = dense(T[start:stop] @ T[:stop].T)
        K[:start, start:stop] = K[start:stop, :start].T
    return K
