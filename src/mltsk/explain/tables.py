"""The numbers behind the words: what a fuzzy system is in the caller's own units.

Symbols: K exceptions, D features, L labels, Q = 21 training quantiles; z a feature on the scale of the rules, x the
same in the caller's units.

The *curve* of a feature for a label is the sum of its centred terms: 0 on average. The *size* of an effect is its
standard deviation over the data: of a curve, over the training quantiles; of a shift c, |c| times that of membership.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, dense
from ..core.membership import firing_strengths
from ..core.terms import Terms
from ..exceptions import InputError, optional
from ..system import FuzzySystem
from .wording import Page, number

Categories = Mapping[str, Mapping[float, str]]
Index = NDArray[np.intp]

BEND = 0.25  # a curve peaks where it goes back by more than this share of its range, else it rises or falls
_GRID = np.linspace(0.0, 1.0, 21)  # what the columns of `FuzzySystem.quantiles` are percentiles of


@dataclass(frozen=True, eq=False)
class Tables:
    """Arrays of one system in the caller's units, each computed when it is first asked for.

    ``categories`` gives a name to the numbers that stand for the categories of a feature.
    """

    system: FuzzySystem
    categories: Categories | None

    @cached_property
    def shares(self) -> Array:
        """The weights of the exceptions, made to add up to 1, (K,)."""
        w = doubles(self.system.rule_weights)
        return np.asarray(w / max(float(w.sum()), 1e-300))

    @property
    def noun(self) -> str:
        """What a rule with conditions is called: without a general rule there are no exceptions to one."""
        return "Exception" if len(self.system.terms) else "Rule"

    @property
    def start(self) -> str:
        """What the intercept is, in words."""
        return "before exceptions" if len(self.system.centers) else "on average"

    @cached_property
    def middle(self) -> Array:
        """The average sample on the scale of the rules, (D,)."""
        system = self.system
        if system.is_linear:
            return doubles(system.terms.mean)
        bounded = system.scaling is not None and system.scaling.bounded  # the percentile scale has it at 0
        return np.zeros(system.shape[1]) if bounded else self.shares @ system.centers

    @cached_property
    def averages(self) -> Array:
        """The average sample in the caller's units, (D,)."""
        if self.system.scaling is not None:
            return self.system.scaling.invert(self.middle[None, :])[0]
        return self.shares @ self.centers if self.system.unit_length else self.middle

    @cached_property
    def _grid(self) -> Array:
        """Every dense feature at each of its own training quantiles, on the scale of the rules, (Q, D)."""
        return np.asarray(self.system.scale(doubles(self.system.quantiles).T))

    @cached_property
    def grid_terms(self) -> Array:
        """Centred memberships in the terms at those, (Q, P)."""
        return self.system.terms.memberships(self._grid, self.system.scaling) - self.system.terms.mean

    @cached_property
    def spreads(self) -> Array:
        """Standard deviation of each feature on the scale of the rules, (D,)."""
        if self.system.quantiles is None:
            # a mostly absent feature has a variance of about its mean times the size it has where it is present
            return np.sqrt(np.abs(self.middle))
        return np.asarray(self._grid.std(axis=0))

    @cached_property
    def sizes(self) -> Array:
        """Standard deviation over the data of what each feature adds to each label in general, (D, L)."""
        system, (_, D, L) = self.system, self.system.shape
        if system.is_linear:
            return np.abs(doubles(system.term_coef)) * self.spreads[:, None]
        if not len(system.terms):
            return np.zeros((D, L))
        curves = (system.terms.by_feature(self.grid_terms * coef, D) for coef in system.term_coef.T)
        return np.stack([curve.std(axis=0) for curve in curves], axis=1)

    def scaled(self, d: int, x: Array) -> Array:
        """Values of feature d on the scale of the rules; of a row of unit length, as they are there."""
        scaling = self.system.scaling
        return x if scaling is None else scaling.columns(slice(d, d + 1)).apply(doubles(x)[:, None])[:, 0]

    def effect(self, d: int, x: Array, j: int, k: int | None = None) -> Array:
        """What values x of feature d add to the score of label j, in general or by the slope of rule k."""
        z, terms, scaling = self.scaled(d, x)[:, None], self.system.terms, self.system.scaling
        if k is not None:
            return (z[:, 0] - self.middle[d]) * float(self.system.coef[k, 1 + d, j])
        own = terms.feature == d
        if terms.low is not None and terms.high is not None and scaling is not None:
            part = Terms(terms.feature[own] * 0, terms.low[own], terms.high[own], terms.mean[own])
            z = part.memberships(z, scaling.columns(slice(d, d + 1)))
        return np.asarray((z - terms.mean[own]) @ self.system.term_coef[own, j])

    def values(self, d: int) -> Array:
        """What a feature is told by: values with names, quantiles, or for a sparse one none and its full weight."""
        found = [0.0, 1.0] if self.system.quantiles is None else self.system.quantiles[d]
        return doubles([*self.named_values(d)] or found)

    def ramp(self, d: int, j: int) -> tuple[float, float] | None:
        """Where feature d begins and ends to change label j, if that is one ramp within the data."""
        terms, scaling = self.system.terms, self.system.scaling
        own = np.flatnonzero((terms.feature == d) & (self.system.term_coef[:, j] != 0))
        if scaling is None or terms.low is None or terms.high is None or len(own) != 1:
            return None
        levels, part = np.array([terms.low[own], terms.high[own]]), scaling.columns(slice(d, d + 1))
        low, high = part.invert((levels - part.offset) / part.spread)[:, 0].tolist()
        return (low, high) if levels[0, 0] > 0 or levels[1, 0] < 1 else None

    @cached_property
    def centers(self) -> Array:
        """Centres of the fuzzy sets, (K, D); for rows of unit length, the mean of what each rule fires on."""
        known = self.system.scaling is None and not self.system.unit_length
        return doubles(self.system.centers if known else self.system.prototypes)

    @cached_property
    def distinct(self) -> Array:
        """How far each centre lies from the average sample, in widths √s of its fuzzy set, signed, (K, D)."""
        return (doubles(self.system.centers) - self.middle) / np.sqrt(doubles(self.system.widths))

    def order(self, k: int, features: Index | None = None) -> Index:
        """The features that rule k has conditions on, of some or all, most distinct first; infinite widths are none."""
        among = np.arange(self.system.shape[1]) if features is None else features
        kept = among[np.isfinite(self.system.widths[k, among])]
        return largest(kept, self.distinct[k, kept])

    @cached_property
    def limits(self) -> Array:
        """Half way between the average sample and each centre, (K, D); NaN where there is no way back to units."""
        half = (doubles(self.system.centers) + self.middle) / 2
        if self.system.scaling is None:
            return np.full_like(half, np.nan) if self.system.unit_length else half
        return self.system.scaling.invert(half)

    @cached_property
    def places(self) -> Array:
        """Where each centre lies among the training values, (K, D) in 0..1; NaN for sparse features."""
        if self.system.quantiles is None:
            return np.full(self.centers.shape, np.nan)
        return np.stack([self.percentile(d, x) for d, x in enumerate(self.centers.T)], axis=1)

    def percentile(self, d: int, x: Any) -> Any:
        """Percentiles (0..1) of values of a dense feature by its quantiles; tied quantiles count as their middle."""
        values, where = np.unique(doubles(self.system.quantiles)[d], return_inverse=True)
        return np.interp(x, values, np.bincount(where, weights=_GRID) / np.bincount(where))

    @cached_property
    def shifts(self) -> Array:
        """What each exception says about each label at its own centre, (K, L)."""
        coef = doubles(self.system.coef)
        if self.system.order == 0:
            return coef[:, 0]
        return np.asarray(coef[:, 0] + np.einsum("kd,kdl->kl", self.system.centers, coef[:, 1:]))

    @cached_property
    def shift_sizes(self) -> Array:
        """Standard deviation over the data of each shift, (K, L): that of membership over the centres, times its size.

        Of membership it is at most what all or nothing has: on five data sets it is mostly 1.0 to 1.7 times that over
        the data, where all or nothing is 1.2 to 5 times it.
        """
        system, w = self.system, doubles(self.system.rule_weights)
        spreads = np.sqrt(np.maximum(w * (1 - w), 0.0))
        if len(w) > 1:
            M = firing_strengths(doubles(system.centers), system.centers, system.widths, underflow=system.underflow)
            over_centers = np.sqrt(np.maximum(self.shares @ M**2 - (self.shares @ M) ** 2, 0.0))
            spreads = np.minimum(spreads, over_centers)
        return np.abs(self.shifts) * spreads[:, None]

    def slope_sizes(self, k: int, labels: Any = slice(None)) -> Array:
        """Standard deviation over the data of each slope of rule k for one label, (D,), or all, (D, L)."""
        if self.system.order == 0:
            return np.zeros_like(self.sizes[:, labels])
        return (np.abs(doubles(self.system.coef[k, 1:, labels])).T * self.spreads * self.system.rule_weights[k]).T

    @cached_property
    def importance(self) -> Array:
        """Size of what each feature does to each label, in general and within rules, (D, L)."""
        return sum((self.slope_sizes(k) for k in range(self.system.shape[0] * self.system.order)), self.sizes)

    def named_values(self, d: int) -> dict[float, str]:
        """The values of feature d that have names: its categories, or the only two that a dense feature takes."""
        names, scaling = (self.categories or {}).get(self.system.feature_names[d], {}), self.system.scaling
        if names or scaling is None or not scaling.bounded:
            return {float(code): str(names[code]) for code in sorted(names)}
        values = np.unique(scaling.values[d]).tolist()
        return {value: number(value) for value in values} if len(values) == 2 else {}


@dataclass(frozen=True, eq=False, repr=False)
class Narrowed(Page):
    """What is told of some labels of a system."""

    tables: Tables
    kept_labels: Index

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.tables.system.label_names[j] for j in self.kept_labels)

    def for_label(self, *names: str) -> Self:
        """The same for some labels only."""
        return replace(self, kept_labels=positions(self.label_names, names, self.kept_labels, "label"))


def summed_up(x: Array, y: Array) -> tuple[str, float, float]:
    """What a curve does ("rises", "falls", "peaks" or "dips"), where it passes 0 or else turns, and by how much."""
    first, last, top, bottom = (float(end) for end in (y[0], y[-1], y.max(), y.min()))
    peak, dip = top - max(first, last), min(first, last) - bottom
    if max(peak, dip) > BEND * (top - bottom):
        up = peak >= dip
        return "peaks" if up else "dips", float(x[y.argmax() if up else y.argmin()]), (top - bottom) * (1 if up else -1)
    rising = np.maximum.accumulate(y if last >= first else -y)
    return "rises" if last >= first else "falls", float(np.interp(0.0, rising, x)), last - first


def positions(names: Sequence[str], wanted: Iterable[str], kept: Index, kind: str) -> Index:
    """Those of ``kept`` whose names are wanted; of a name that is not there, an error says what comes close."""
    found = []
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the first of {len(names)} is {names[0]!r}."
            raise InputError(f"There is no {kind} called {name!r}: {hint}")
        found += [i for i, known in enumerate(names) if known == name]
    if not found:
        raise InputError(f"Name at least one {kind} to keep.")
    return kept[found]


def largest(these: Index, amounts: Array) -> Index:
    """These, those of the largest amounts first."""
    return these[np.argsort(-np.abs(amounts), kind="stable")]


def known(x: Any) -> float | None:
    """A number, or None for NaN: JSON has no NaN."""
    return None if np.isnan(x) else float(x)


def doubles(A: Any) -> Array:
    """An array, or sparse rows, as a dense array in double precision."""
    return np.asarray(dense(A), dtype=np.float64)


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as a pandas frame."""
    return optional("pandas", "data").DataFrame(list(rows))
