"""Gaussian memberships and firing strengths (2) (5) (6).

Symbols: X (N, D) samples, C (K, D) centres, S (K, D) widths, E (N, K) exponents,
M (N, K) firing strengths, w (N,) weights.

The membership of x in the fuzzy set of rule k and feature i is exp(-(x - c)² / s). The
paper writes 2δ² for s with δ = h · variance (4); its authors' program uses
s = h · variance + eps, without square and factor: `authors_widths`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from .arrays import (
    Array,
    FloatArray,
    Matrix,
    cast,
    is_csr,
    namespace,
    put,
    row_blocks,
    underflow_is_zero,
)

Firing: TypeAlias = Literal["softmax", "authors", "plain", "minimum"]

# The exponent of a sample of which no feature of a rule was measured: exp(-1000) is 0.
NOT_MEASURED_EXPONENT = 1e3


# firing strengths ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Centres C and widths S (K, D) of rules, and what all exponents need of them.

    One object serves any number of samples: with thousands of centres, what is made
    here took as long as the exponents of a thousand rows of words.
    """

    C: Array
    S: Array

    @cached_property
    def origin(self) -> Array:
        """The mean of the centres (D,), from which dense samples are measured."""
        return self.C.mean(axis=0)

    @cached_property
    def centred(self) -> "Gaussians":
        """The same rules, measured from their mean."""
        return replace(self, C=self.C - self.origin)

    @cached_property
    def over_widths(self) -> Array:
        """(C / S)ᵀ, (D, K)."""
        return (self.C / self.S).T

    @cached_property
    def over_widths_by_feature(self) -> Array:
        """The same with its cells in the order in which sparse rows read them."""
        return np.ascontiguousarray(self.over_widths)

    @cached_property
    def norms(self) -> Array:
        """Σ_i c_i² / s_i, (K,)."""
        xp = namespace(self.C)
        return xp.einsum("kd,kd->k", self.C, self.C / self.S)

    @cached_property
    def have_one_width(self) -> bool:
        """Whether all rules have the same widths."""
        return bool((self.S == self.S[0]).all())

    @cached_property
    def are_narrow(self) -> bool:
        """Whether an expanded square would cancel.

        It keeps an absolute error of about eps · c²/s in the exponent; 1e-6 is far
        below what shows.
        """
        largest = (self.C**2 / self.S).max()
        return bool(largest * np.finfo(np.float64).eps > 1e-9)

    @underflow_is_zero()
    def strengths(
        self, X: Matrix, *, firing: Firing = "softmax", share: Array | None = None
    ) -> Array:
        """`firing_strengths` of samples X (N, D)."""
        xp = namespace(self.C)
        N, D = X.shape
        K = self.C.shape[0]
        M = xp.empty((N, K), dtype=xp.result_type(X.dtype, self.C.dtype), like=self.C)
        if K == 0:
            return M
        relative = firing == "softmax" and self.have_one_width
        for rows in row_blocks(N, 8 * (D + 3 * K), like=self.C):
            if firing == "minimum":
                E = _largest_exponents(X[rows], self.C, self.S, share)
            else:
                E = self.exponents(X[rows], relative=relative, share=share)
            M[rows] = _strengths(E, firing)
        return M

    def exponents(
        self, X: Matrix, *, relative: bool = False, share: Array | None = None
    ) -> Array:
        """`exponents` of samples X (N, D)."""
        if is_csr(X):
            return self._expanded(X, relative=relative)
        X = X - self.origin
        rules = self.centred
        measured = X == X
        if not bool(measured.all()):
            return _exponents_of_measured(
                X, measured, rules.C, rules.S, relative=relative, share=share
            )
        if not relative and rules.are_narrow:
            pairs = zip(rules.C, rules.S, strict=True)
            per_rule = [((X - c) ** 2) @ (1 / s) for c, s in pairs]
            return namespace(self.C).stack(per_rule, axis=1)
        return rules._expanded(X, relative=relative)

    def _expanded(self, X: Matrix, *, relative: bool) -> Array:
        """Exponents (N, K) by one or two matrix products."""
        xp = namespace(self.C)
        over_widths = self.over_widths_by_feature if is_csr(X) else self.over_widths
        E = -2 * xp.asarray(X @ over_widths) + self.norms
        if relative:
            return E
        squares = X.multiply(X) if is_csr(X) else X**2
        if self.have_one_width:  # one column serves all rules
            E += xp.asarray(squares @ (1 / self.S[0]))[:, None]
        else:
            E += xp.asarray(squares @ (1 / self.S).T)
        xp.clip(E, 0.0, None, out=E)
        return E


def firing_strengths(
    X: Matrix,
    C: Array,
    S: Array,
    *,
    firing: Firing = "softmax",
    share: Array | None = None,
) -> Array:
    """Firing strength (N, K) of each rule for each sample. (5) (6)

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    C, S : arrays of shape (K, D)
        Centres and widths.
    firing : {"softmax", "authors", "plain", "minimum"}, default="softmax"
        "softmax" normalises: rows sum to 1. It works in logarithms, because a product
        over D Gaussians underflows to 0/0 beyond a few hundred features. "authors"
        takes the product literally, as the published program does; a sample whose
        memberships all underflow fires no rule: its row is 0. "plain" does not
        normalise: each rule has a membership in [0, 1], and a sample far from every
        rule fires none. "minimum" does not normalise either, and joins conditions by
        their minimum instead of their product.
    share : array of shape (D,), optional
        How much each feature counts when others are missing; alike by default.
    """
    return Gaussians(C, S).strengths(X, firing=firing, share=share)


def _strengths(E: Array, firing: Firing) -> Array:
    """Firing strengths (N, K) of exponents E (N, K)."""
    xp = namespace(E)
    if firing == "softmax":
        strengths = xp.exp(xp.amin(E, axis=1, keepdims=True) - E)
    else:
        strengths = xp.exp(-E)
    if firing in ("softmax", "authors"):
        total = strengths.sum(axis=1, keepdims=True)
        # a total of 0 is one of the authors' underflows
        strengths /= xp.where(total == 0, np.finfo(np.float64).eps, total)
    return strengths


def exponents(
    X: Matrix, C: Array, S: Array, *, relative: bool = False, share: Array | None = None
) -> Array:
    """Exponents (N, K) of the product of memberships: E_k(x) = Σ_i (x_i - c_i)² / s_i.

    If widths are ordinary, the square is expanded, and the work is one or two matrix
    products instead of an (N, K, D) array. It is not expanded if widths are so narrow
    that this would cancel (constant features under the authors' widths). Over missing
    values, a sum counts only the features that are there, scaled up to all of them.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    C, S : arrays of shape (K, D)
        Centres and widths.
    relative : bool, default=False
        Leave out a term that is the same for every rule.
    share : array of shape (D,), optional
        How much each feature counts when others are missing; alike by default.
    """
    return Gaussians(C, S).exponents(X, relative=relative, share=share)


def _exponents_of_measured(
    X: Array,
    measured: Array,
    C: Array,
    S: Array,
    *,
    relative: bool,
    share: Array | None,
) -> Array:
    """Exponents (N, K) of the ``measured`` (N, D) values, scaled up to all features."""
    xp = namespace(C)
    X = xp.where(measured, X, 0.0)
    measured = cast(measured, X.dtype)
    E = -2 * (X @ (C / S).T) + measured @ (C * C / S).T
    if not relative:
        E = xp.clip(E + X**2 @ (1 / S).T, 0.0, None)
    counts = _condition_counts(X, S, share)
    seen = measured @ counts.T
    scaled_up = E * counts.sum(axis=1) / xp.maximum(seen, 1e-9)
    return xp.where(seen > 1e-9, scaled_up, NOT_MEASURED_EXPONENT)


def _largest_exponents(X: Array, C: Array, S: Array, share: Array | None) -> Array:
    """Exponents (N, K) of the least membership: max_i (x_i - c_i)² / s_i.

    The maximum is over the values of X (N, D) that are not missing.
    """
    xp = namespace(C)
    largest = [
        xp.amax(xp.nan_to_num((X - c) ** 2 / s), axis=1)
        for c, s in zip(C, S, strict=True)
    ]
    seen = cast(X == X, X.dtype) @ _condition_counts(X, S, share).T
    return xp.where(seen > 1e-9, xp.stack(largest, axis=1), NOT_MEASURED_EXPONENT)


def _condition_counts(X: Array, S: Array, share: Array | None) -> Array:
    """How much each condition counts, (K, D): one of infinite width does not count.

    X says in which precision and where the result lies.
    """
    finite = cast(namespace(S).isfinite(S), X.dtype)
    if share is None:
        return finite
    return finite * cast(put(share, X), X.dtype)


# widths -------------------------------------------------------------------------------


def authors_widths(variances: Array, width_scale: float) -> Array:
    """Widths (K, D) of the published program: h · variance + eps. (4)

    ``variances`` (K, D) are those of `mltsk.core.clustering.variances`.
    """
    return width_scale * variances + np.finfo(np.float64).eps


def common_width(n_features: int, yardstick: float, width_scale: float) -> float:
    """One width for all rules and features: h · D · yardstick.

    The yardstick is the mean squared distance per feature to the nearest centre. The
    exponent is then the *mean* over features of squared distances in units of
    h · yardstick, so firing neither saturates nor flattens as D grows, and rules of
    equal width share the plane evenly.
    """
    return width_scale * n_features * max(yardstick, np.finfo(np.float64).tiny)


# how much rules differ ----------------------------------------------------------------


def rule_distinctness(M: FloatArray, w: FloatArray | None = None) -> float:
    """How much the rules differ in what they fire on: 0 all the same, 1 fully distinct.

    Each rule spreads its firing over the samples. The distance of two rules is the
    share of their firing that falls on different samples (total variation distance).
    The result is the mean over all pairs of rules; a single rule counts as 1.

    Parameters
    ----------
    M : array of shape (N, K)
        Firing strengths.
    w : array of shape (N,), optional

    Examples
    --------
    >>> import numpy as np
    >>> rule_distinctness(np.full((4, 2), 0.5)), rule_distinctness(np.eye(2))
    (0.0, 1.0)
    """
    K = M.shape[1]
    if K < 2:
        return 1.0
    return float(rule_distances(M, w).sum() / (K * (K - 1)))


def rule_distances(M: FloatArray, w: FloatArray | None = None) -> FloatArray:
    """Total variation distance (K, K) between the firing of each two rules.

    M (N, K) are firing strengths, w (N,) weights of samples.
    """
    N, K = M.shape
    V = M if w is None else M * w[:, None]
    mass = V.sum(axis=0)
    shares = V / np.where(mass > 0, mass, 1.0)
    distances = np.zeros((K, K))
    for rows in row_blocks(N, 8 * K**2):
        distances += abs(shares[rows, :, None] - shares[rows, None, :]).sum(axis=0)
    return distances / 2
