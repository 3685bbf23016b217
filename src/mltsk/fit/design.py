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

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

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
)
from ..core.fuzzymap import FuzzyMap
from ..core.membership import Firing, Gaussians
from ..core.pairs import Pairs
from .factor import Factor
from .scale import OVERLAPPING, Scale

KERNEL_BLOCK_BYTES = 2**23
GRAM_ROWS = 2_000  # that are multiplied with their own transpose at a time
# Added to the diagonal of the kernel's prior, where that is 1. With 1e-6 rounding moved
# probabilities of weighted rows by 2e-6 when these came in another order, with 1e-4 by
# 1e-7; AP on image, yeast and scene is the same in all digits.
MIN_PRIOR = 1e-4


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
