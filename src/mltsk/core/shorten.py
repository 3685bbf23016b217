"""Short IF-parts: a few conditions a rule, chosen and refitted so that rules fire as before; equal rules merge.

Symbols: X (N, D) scaled samples, w (N,) weights, C, S (K, D) centres and widths, M (N, K) the firing strengths that the
long rules have and the short ones R are to reproduce.

A fuzzy set of infinite width has membership 1 everywhere (2): the rule has no condition on that feature. What is kept
are the features in which a rule is most distinct, |centre - average| in widths of the set. Their centres and widths are
then refitted to minimise the cross-entropy

    -(1/Σw) Σ_n w_n Σ_k M_nk log R_nk  +  ANCHOR Σ ((c - c₀)/sd)² + (log s - log s₀)²

from a start with one width s₀ for all, at which as many rules share a sample as did before.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from ..paper.antecedents import rules_per_sample
from .arrays import Array, Matrix, weighted_mean, weighted_variance
from .membership import firing_strengths, rule_distances

# Rules whose firing falls on different samples for less than this share are one rule. The closest
# two of 15 default rules are 0.26 (emotions) to 0.46 (yeast) apart, so that only short rules and collapsed ones merge.
MERGE_BELOW = 0.1
ANCHOR = 1e-4
_MAX_STEPS = 100  # of L-BFGS
_DIGITS = 4
_REACH = 4.0  # log widths stay within this of their start, so that no set becomes a point or vanishes

Mask = NDArray[np.bool_]


def conditions(S: Array) -> Mask:
    """Which features each rule has a condition on, (K, D): those of finite width."""
    return np.isfinite(S)


def distinct_rules(M: Array, w: Array, *, below: float = MERGE_BELOW) -> NDArray[np.intp]:
    """Rules that remain when those which do not differ are merged: of a group, the one that governs most data.

    Two rules do not differ when the total variation distance of their firing (`rule_distances`) is less than ``below``.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.array([[0.5, 0.5, 0.0], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]])
    >>> distinct_rules(M, np.ones(3)).tolist()
    [0, 2]
    """
    T, kept = rule_distances(M, w), list[int]()
    for k in np.argsort(-(w @ M), kind="stable"):
        if all(T[k, other] >= below for other in kept):
            kept.append(int(k))
    return np.sort(np.asarray(kept, dtype=np.intp))


def most_distinct(C: Array, S: Array, average: Array, count: int) -> Mask:
    """The ``count`` features of each rule whose centre lies furthest from the average in widths of its set, (K, D)."""
    size = np.abs(C - average) / np.sqrt(S)
    keep = np.zeros(C.shape, dtype=bool)
    np.put_along_axis(keep, np.argsort(-size, axis=1, kind="stable")[:, :count], True, axis=1)
    return keep & conditions(S)


def shorten_rules(X: Matrix, w: Array, C: Array, S: Array, max_conditions: int) -> tuple[Array, Array]:
    """Centres and widths (K, D) with at most ``max_conditions`` finite widths a rule, refitted to fire alike.

    Rules that are short enough already are returned as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> C, S = shorten_rules(X, np.ones(50), X[:3], np.full((3, 4), 8.0), 2)
    >>> conditions(S).sum(axis=1).tolist()
    [2, 2, 2]
    """
    if conditions(S).sum(axis=1).max() <= max_conditions:
        return C, S
    M = firing_strengths(X, C, S)
    keep = most_distinct(C, S, weighted_mean(X, w), max_conditions)
    used = np.flatnonzero(keep.any(axis=0))
    part = X[:, used].toarray() if hasattr(X, "toarray") else X[:, used]
    sets = _Sets.of(part.astype(np.float64), w.astype(np.float64), C[:, used].astype(np.float64), keep[:, used])
    C_used, S_used = sets.matched(M.astype(np.float64))
    C_short, S_short = C.copy(), np.full_like(S, np.inf)
    C_short[:, used] = np.where(keep[:, used], C_used, C[:, used])
    S_short[:, used] = S_used
    return C_short, S_short


@dataclass(frozen=True)
class _Sets:
    """Kept sets over dense samples: ``keep`` (K, D) says which, ``C`` where they start, ``sd`` (D,) is a feature's."""

    X: Array
    w: Array
    C: Array
    keep: Mask
    sd: Array

    @classmethod
    def of(cls, X: Array, w: Array, C: Array, keep: Mask) -> "_Sets":
        sd = np.sqrt(weighted_variance(X, w, weighted_mean(X, w)))
        return cls(X, w, C, keep, np.where(sd > 0, sd, 1.0))

    def matched(self, M: Array) -> tuple[Array, Array]:
        """Centres and widths of least cross-entropy with M; sets that are not kept get infinite width."""
        start = np.concatenate([self.C[self.keep], np.full(int(self.keep.sum()), -np.log(self.start_width(M)))])
        found = minimize(
            self._loss,
            start,
            args=(M, start),
            jac=True,
            method="L-BFGS-B",
            bounds=self._bounds(start),
            options={"maxiter": _MAX_STEPS, "ftol": 1e-13, "gtol": 1e-8},
        )
        # what the last digits are depends on the order of the rows; nobody reads them
        C, W = self._unpacked(start + np.round((found.x - start) / self._units, _DIGITS) * self._units)
        with np.errstate(divide="ignore"):
            return C, 1.0 / W

    def start_width(self, M: Array) -> float:
        """The width for all at which as many rules share a sample as in M, by bisection."""
        E = self._exponents(self.C, self.keep.astype(np.float64))
        E -= E.min(axis=1, keepdims=True)
        tiny = np.finfo(np.float64).tiny
        scale, wanted = max(float(E.max()), tiny), rules_per_sample(-np.log(np.maximum(M, tiny)), self.w)
        low, high = np.log(1e-6 * scale), np.log(1e3 * scale)
        for _ in range(40):
            middle = (low + high) / 2
            enough = rules_per_sample(E / np.exp(middle), self.w) > wanted
            low, high = (low, middle) if enough else (middle, high)
        return float(np.exp(middle))

    @cached_property
    def _units(self) -> Array:
        """What the parameters are measured in: centres in SDs of the feature, log widths as they are."""
        sd = np.broadcast_to(self.sd, self.C.shape)[self.keep]
        return np.concatenate([sd, np.ones(len(sd))])

    def _bounds(self, start: Array) -> list[tuple[float, float]]:
        low, high = (np.broadcast_to(side, self.C.shape)[self.keep] for side in (self.X.min(0), self.X.max(0)))
        n = len(low)
        low, high = np.minimum(low, start[:n]), np.maximum(high, start[:n])
        return [*zip(low, high, strict=True), *((t - _REACH, t + _REACH) for t in start[n:])]

    def _unpacked(self, t: Array) -> tuple[Array, Array]:
        """Centres and inverse widths (K, D), 0 where a set is not kept."""
        n = len(t) // 2
        C, W = np.zeros(self.C.shape), np.zeros(self.C.shape)
        C[self.keep], W[self.keep] = t[:n], np.exp(t[n:])
        return C, W

    def _exponents(self, C: Array, W: Array) -> Array:
        return np.asarray((self.X**2) @ W.T - 2 * self.X @ (C * W).T + np.einsum("kd,kd->k", C * W, C))

    def _loss(self, t: Array, M: Array, start: Array) -> tuple[float, Array]:
        C, W = self._unpacked(t)
        E = self._exponents(C, W)
        log_R = -E - logsumexp(-E, axis=1, keepdims=True)
        share = self.w / self.w.sum()
        slope = share[:, None] * (M - np.exp(log_R) * M.sum(axis=1, keepdims=True))  # of the loss, by E
        s0, s1, s2 = slope.sum(axis=0)[:, None], slope.T @ self.X, slope.T @ self.X**2
        by_center, by_log = -2 * W * (s1 - C * s0), W * (s2 - 2 * C * s1 + C**2 * s0)
        moved = (t - start) / self._units
        value = -float(share @ np.einsum("nk,nk->n", M, log_R)) + ANCHOR * float(moved @ moved)
        return value, np.concatenate([by_center[self.keep], by_log[self.keep]]) + 2 * ANCHOR * moved / self._units
