"""What a short model may say: straight ramps between cut points of few digits, and exceptions of few conditions.

Symbols: N samples, D columns, L labels, C candidates: P terms, then K exceptions.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, dense
from ..core.membership import firing_strengths
from ..core.terms import FEW_VALUES, Scaling, Terms
from ..system import FuzzySystem

Index = NDArray[np.intp]
CUTS = (
    0.01,
    0.15,
    0.35,
    0.65,
    0.85,
    0.99,
)  # percentiles: there may be a ramp between any two
WIDE = 0.8  # a condition that so much of the data meets is none


@dataclass(frozen=True)
class Candidates:
    """``terms`` to choose from, and exceptions: ``centers`` and ``widths`` (K, D), infinite without a condition.

    All on the scale of ``base``, a system without numbers.
    """

    base: FuzzySystem
    terms: Terms
    centers: Array
    widths: Array

    @classmethod
    def of(
        cls, long: FuzzySystem, X: Array, max_conditions: int | None
    ) -> "Candidates":
        """Of dense rows: ramps that are straight lines in the caller's units, between cut points of few digits."""
        low, high = np.asarray(long.quantiles, dtype=np.float64)[:, [0, -1]].T
        span, steps = np.where(high > low, high - low, 1.0), [_step(x) for x in X.T]
        share = np.ones(len(low)) if long.scaling is None else long.scaling.share
        # straight lines from 0 at the least value to 1 at the largest; features of two values have no third knot
        middle = np.where(
            [len(np.unique(x[~np.isnan(x)])) > 2 for x in X.T], (low + high) / 2, high
        )
        level = np.where(high > low, np.where(middle < high, 0.5, 1.0), 0.0)
        knots = (
            np.stack([low, middle, high], axis=1),
            np.stack([0 * low, level, (high > low) * 1.0], axis=1),
        )
        scaling = Scaling(*knots, np.zeros(len(low)), np.ones(len(low)), True, share)
        monotone = (
            np.zeros(len(low), dtype=bool)
            if long.columns is None
            else long.columns.monotone
        )
        found = [
            (d, *ends)
            for d, x in enumerate(X.T)
            for ends in _ramps(x, steps[d], bool(monotone[d]))
        ]
        feature, start, stop = np.array(found, dtype=np.float64).reshape(-1, 3).T
        d = feature.astype(np.intp)
        terms = Terms(
            d, (start - low[d]) / span[d], (stop - low[d]) / span[d], np.zeros(len(d))
        )
        terms = terms.averaged(scaling.apply(X), scaling, np.ones(len(X)))
        centers, widths = _regions(long, np.array(steps), max_conditions)
        base = replace(long, scaling=scaling, terms=terms, members=None, firing="plain")
        return cls(base, terms, (centers - low) / span, widths / span**2)

    def columns(self, X: Any) -> Array:
        """A (N, C), dense."""
        Z, scaling = self.base.scale(X), self.base.scaling
        T = np.asarray(dense(self.terms.memberships(Z, scaling)), dtype=np.float64)
        if not len(self.centers):
            return T
        share = None if scaling is None else scaling.share
        return np.hstack(
            [
                T,
                firing_strengths(
                    Z, self.centers, self.widths, firing="plain", share=share
                ),
            ]
        )

    @cached_property
    def costs(self) -> NDArray[np.int64]:
        """Statements that a column needs, (C,)."""
        columns, (_, D, _) = self.base.columns, self.base.shape
        conditions = np.array([0] * D if columns is None else columns.conditions)
        return np.concatenate(
            [
                1 + conditions[self.terms.feature],
                1 + np.isfinite(self.widths).sum(axis=1),
            ]
        )

    @cached_property
    def ramps(self) -> dict[tuple[int, float, float], int]:
        """The term of each feature, beginning and end."""
        if self.terms.low is None or self.terms.high is None:
            return {}
        ends = zip(
            self.terms.feature.tolist(),
            self.terms.low.tolist(),
            self.terms.high.tolist(),
            strict=True,
        )
        return {end: p for p, end in enumerate(ends)}

    def over(self, p: int, q: int) -> int | None:
        """The ramp over two others of one feature, if it is another one."""
        terms = self.terms
        if terms.low is None or terms.high is None or max(p, q) >= len(terms):
            return None
        low, high = min(terms.low[p], terms.low[q]), max(terms.high[p], terms.high[q])
        found = self.ramps.get((int(terms.feature[p]), float(low), float(high)))
        return None if found in (p, q) else found

    def system(
        self, coef: Array, mean: Array, rates: Array
    ) -> tuple[FuzzySystem, Index]:
        """The system of rounded numbers (C, L), and its columns; ``mean`` (C,) of columns, ``rates`` (L,) of scores."""
        P = len(self.terms)
        own, rules = (
            np.flatnonzero(coef[:P].any(axis=1)),
            np.flatnonzero(coef[P:].any(axis=1)),
        )
        given = 0 if self.base.columns is None else len(self.base.columns.rules)
        terms = replace(self.terms, mean=mean[:P]).from_zero(self.base.shape[1] - given)
        moved = terms.mean @ coef[:P]
        if terms.low is None or terms.high is None:
            own = np.arange(P)  # a linear term per feature
        else:
            terms = Terms(
                terms.feature[own], terms.low[own], terms.high[own], terms.mean[own]
            )
        start = rates - mean @ coef
        start = np.array(
            [
                rounded(x, digits_of(numbers))
                for x, numbers in zip(start, coef.T, strict=True)
            ]
        )
        scaling = self.base.scaling
        prototypes = (
            self.centers[rules]
            if scaling is None
            else scaling.apply(self.centers[rules], inverse=True)
        )
        said: Any = {
            "terms": terms,
            "term_coef": coef[own],
            "intercept": start + moved,
            "prototypes": prototypes,
        }
        said |= {
            "centers": self.centers[rules],
            "widths": self.widths[rules],
            "coef": coef[P:][rules][:, None, :],
        }
        short = replace(self.base, **said, rule_weights=mean[P:][rules])
        return short, np.concatenate([own, P + rules])

    def agreement(self, A: Array, coef: Array, other: Array) -> NDArray[np.int64]:
        """1 where another choice has the same effect of a feature on a label, (D, L): both vary together over rows."""
        groups, out = (
            self._groups,
            np.zeros((len(self._groups), coef.shape[1]), dtype=np.int64),
        )
        feature = groups[self.terms.feature]
        for label in range(coef.shape[1]):
            mine, theirs = (
                np.flatnonzero(table[: len(feature), label]) for table in (coef, other)
            )
            for group in np.intersect1d(feature[mine], feature[theirs]).tolist():
                a, b = (p[feature[p] == group] for p in (mine, theirs))
                same = (A[:, a] @ coef[a, label]) @ (A[:, b] @ other[b, label]) > 0
                out[groups == group, label] = same
        return out

    @cached_property
    def _groups(self) -> Index:
        """The feature of each column, (D,): "not measured" is one of its own."""
        columns = self.base.columns
        if columns is None:
            return np.arange(self.base.shape[1])
        gaps = len(columns.parts) - sum(columns.gaps)
        return np.array(
            [
                p.feature if d < gaps else len(columns.names) + d
                for d, p in enumerate(columns.parts)
            ]
        )


def _step(x: Array) -> float:
    """How fine cut points of a column are: about a hundredth of where most of its values lie, whole for whole ones."""
    x = x[~np.isnan(x)]
    low, high = np.quantile(x, [0.05, 0.95]) if len(x) else (0.0, 0.0)
    reach = high - low if high > low else np.ptp(x) if len(x) else 0.0
    step = 10.0 ** (np.floor(np.log10(reach)) - 2) if reach > 0 else 1.0
    return float(max(step, 1.0) if len(x) and (x == np.round(x)).all() else step)


def rounded(x: Any, digits: float) -> Array:
    """Numbers with so many digits after the point, as they are written: digits below 0 are zeros before it."""
    return np.round(np.asarray(x, dtype=np.float64), int(digits))


def digits_of(numbers: Array) -> int:
    """Digits after the point that the numbers of a label have: two that count in the largest, and three at least."""
    largest = float(np.abs(numbers).max(initial=0.0))
    return max(3, 2 - int(np.floor(np.log10(largest)))) if largest > 0 else 3


def _ramps(x: Array, step: float, monotone: bool) -> list[tuple[float, float]]:
    """Where ramps of a column begin and end; one of few values, or without distances, has the one over all of them."""
    values = np.unique(x[~np.isnan(x)])
    if len(values) < 2:
        return []
    if len(values) <= FEW_VALUES or monotone:
        return [(float(values[0]), float(values[-1]))]
    cuts = rounded(np.quantile(x[~np.isnan(x)], CUTS), -np.floor(np.log10(step) + 0.5))
    inside = np.unique(cuts[(cuts >= values[0]) & (cuts <= values[-1])])
    return list(combinations(inside.tolist(), 2)) or [
        (float(values[0]), float(values[-1]))
    ]


def _regions(
    long: FuzzySystem, steps: Array, max_conditions: int | None
) -> tuple[Array, Array]:
    """Centres and widths (K, D) of the exceptions by where their members lie, in the caller's units.

    A condition is met by half where the 10th or 90th percentile of the members is, and best in the middle between them
    or, if one lies in the outer tenth of the data, at that end. Those that least of the data meets come first; there
    are none on values of words.
    """
    members, (K, D, _) = long.members, long.shape
    if members is None or members.regions is None or not K:
        return np.zeros((0, D)), np.zeros((0, D))
    grid, words = np.asarray(long.quantiles, dtype=np.float64), np.zeros(D, dtype=bool)
    if long.columns is not None:
        words = long.columns.indicators | long.columns.monotone
    centers, widths = np.tile(grid[:, 10], (K, 1)), np.full((K, D), np.inf)
    first, last = members.regions[-1].T
    for k, ends in enumerate(members.regions[:-1]):
        low, high = ends.T
        low, high = (
            np.where(low <= first, -np.inf, low),
            np.where(high >= last, np.inf, high),
        )
        inside = ((grid >= low[:, None]) & (grid <= high[:, None])).mean(axis=1)
        told = np.flatnonzero(
            (inside < WIDE)
            & ~words
            & ~np.isnan(ends).any(axis=1)
            & (grid[:, 0] < grid[:, -1])
        )
        for d in told[np.argsort(inside[told], kind="stable")][
            :max_conditions
        ].tolist():
            a, b = low[d], high[d]
            c = (
                grid[d, 0]
                if a == -np.inf
                else grid[d, -1]
                if b == np.inf
                else (a + b) / 2
            )
            digits = -np.floor(np.log10(steps[d]) + 0.5)
            reach = max(
                float(
                    rounded(
                        (b if a == -np.inf else c) - (c if a == -np.inf else a), digits
                    )
                ),
                steps[d],
            )
            centers[k, d], widths[k, d] = (
                float(rounded(c, digits)),
                reach**2 / np.log(2),
            )
    return centers, widths
