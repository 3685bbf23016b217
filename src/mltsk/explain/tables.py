"""The numbers behind the words: what a fuzzy system is in the caller's own units.

Symbols: K exceptions, D features, L labels, Q = 21 training quantiles; z a feature on the scale of the rules, x the
same in the caller's units.

The *curve* of a feature for a label is the sum of its centred terms: 0 on average. `curves` says what each curve does
between the 10th and the 90th percentile of the data (or over all of it, where these are one value): whether it rises,
falls, peaks or dips, where, and by how much. The *size* of an effect is its standard deviation over the data: of a
curve, over the training quantiles; of a shift c of a share w of the data, |c| √(w (1 - w)).
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.terms import dense
from ..exceptions import InputError
from ..system import FuzzySystem
from .wording import number

Categories = Mapping[str, Mapping[float, str]]
Index = NDArray[np.intp]

INSTALL = 'pip install "mltsk[data]"'
BEND = 0.25  # a curve peaks where it goes back by more than this share of its range, else it rises or falls
_GRID = np.linspace(0.0, 1.0, 21)  # what the columns of `FuzzySystem.quantiles` are percentiles of


class Curves(NamedTuple):
    """What the curves of all features do to one label, (D,) each; see `mltsk.explain.Shape`, NaN for None."""

    kind: NDArray[np.str_]
    at: Array
    change: Array


@dataclass(frozen=True, eq=False)
class Tables:
    """Arrays of one system in the caller's units, each computed when it is first asked for.

    ``categories`` gives a name to the numbers that stand for the categories of a feature.
    """

    system: FuzzySystem
    categories: Categories

    @classmethod
    def of(cls, system: FuzzySystem, categories: Categories | None) -> "Tables":
        """Tables of a system; categories may be left out."""
        return cls(system, {str(feature): dict(names) for feature, names in (categories or {}).items()})

    @cached_property
    def middle(self) -> Array:
        """The average sample on the scale of the rules, (D,)."""
        system = self.system
        if system.is_linear:
            return doubles(system.terms.mean)
        bounded = system.scaling is not None and system.scaling.bounded  # the percentile scale has it at 0
        return np.zeros(system.shape[1]) if bounded else doubles(system.rule_weights) @ system.centers

    @cached_property
    def averages(self) -> Array:
        """The average sample in the caller's units, (D,)."""
        if self.system.scaling is not None:
            return self.system.scaling.invert(self.middle[None, :])[0]
        return doubles(self.system.rule_weights) @ self.centers if self.system.unit_length else self.middle

    def _rows(self, d: int, x: Array) -> Array:
        """Average samples with values x of feature d, (len(x), D)."""
        rows = np.tile(self.averages, (len(x), 1))
        rows[:, d] = x
        return rows

    def scaled(self, d: int, x: Array) -> Array:
        """Values of feature d on the scale of the rules; of a row of unit length, as they are there."""
        return x if self.system.scaling is None else np.asarray(self.system.scale(self._rows(d, x))[:, d])

    @cached_property
    def spreads(self) -> Array:
        """Standard deviation of each feature on the scale of the rules, (D,)."""
        if self.system.quantiles is None:
            # a mostly absent feature has a variance of about its mean times the size it has where it is present
            return np.sqrt(np.abs(self.middle))
        return np.asarray(self._grid.std(axis=0))

    @cached_property
    def spans(self) -> Array:
        """Change of z from the 10th to the 90th percentile, (D,); of a sparse feature, from none to its full weight."""
        if self.system.quantiles is None:
            return np.ones(self.system.shape[1])
        inner = self._inner(self._grid)
        return np.asarray(inner[-1] - inner[0])

    @cached_property
    def _quantiles(self) -> Array:
        return doubles(self.system.quantiles).T

    @cached_property
    def _grid(self) -> Array:
        """Every feature at each of its own training quantiles, on the scale of the rules, (Q, D)."""
        return np.asarray(self.system.scale(self._quantiles))

    @cached_property
    def grid_terms(self) -> Array:
        """Centred memberships in the terms at those, (Q, P)."""
        return self.system.terms.memberships(self._grid, self.system.scaling) - self.system.terms.mean

    def _inner(self, F: Array) -> Array:
        """Values (Q, D) at the quantiles, those of the outer tenths replaced, unless the rest of it is one value."""
        varied = self._quantiles[2] < self._quantiles[-3]
        return np.where(varied, F[np.clip(np.arange(len(F)), 2, len(F) - 3)], F)

    def effects(self, j: int) -> Array:
        """What each dense feature adds to the score of label j at each of its quantiles, (Q, D)."""
        return self.system.terms.by_feature(self.grid_terms * self.system.term_coef[:, j], self.system.shape[1])

    @cached_property
    def sizes(self) -> Array:
        """Standard deviation over the data of what each feature adds to each label in general, (D, L)."""
        if self.system.is_linear:
            return np.abs(doubles(self.system.term_coef)) * self.spreads[:, None]
        if not len(self.system.terms):
            return np.zeros(self.system.shape[1:])
        return np.stack([self.effects(j).std(axis=0) for j in range(self.system.shape[2])], axis=1)

    @cached_property
    def _curves(self) -> dict[int, Curves]:
        return {}

    def curves(self, j: int) -> Curves:
        """What the curves of label j do."""
        if j not in self._curves:
            if self.system.quantiles is None:
                coef = doubles(self.system.term_coef[:, j])
                self._curves[j] = Curves(np.where(coef > 0, "rises", "falls"), np.full(len(coef), np.nan), coef)
            else:
                self._curves[j] = _summed_up(self._inner(self._quantiles), self._inner(self.effects(j)))
        return self._curves[j]

    def effect(self, d: int, x: Array, j: int) -> Array:
        """What values x of feature d add to the score of label j; of a row of unit length, as they are there."""
        if self.system.is_linear:
            return np.asarray((self.scaled(d, x) - self.middle[d]) * self.system.term_coef[d, j])
        return self.system.feature_effects(self._rows(d, x), j)[:, d]

    def curve(self, d: int, j: int) -> tuple[list[float], list[float]]:
        """Values of a feature, its categories or its quantiles, and what they add to the score of label j."""
        if codes := self.categories.get(self.system.feature_names[d]):
            return sorted(codes), self.effect(d, doubles(sorted(codes)), j).tolist()
        if self.system.quantiles is None:
            return [], []
        x, first = np.unique(self._quantiles[:, d], return_index=True)
        return x.tolist(), self.effects(j)[first, d].tolist()

    def ramp(self, d: int, j: int) -> tuple[float, float, float] | None:
        """Where feature d begins and ends to change label j, and by how much, if that is one ramp within the data."""
        terms, scaling, coef = self.system.terms, self.system.scaling, self.system.term_coef[:, j]
        own = np.flatnonzero((terms.feature == d) & (coef != 0))
        if scaling is None or terms.low is None or terms.high is None or len(own) != 1:
            return None
        p, part = int(own[0]), scaling.columns(slice(d, d + 1))
        ends = (np.array([[terms.low[p]], [terms.high[p]]]) - part.offset) / part.spread
        inside = terms.low[p] > 0 or terms.high[p] < 1
        return (*part.invert(ends)[:, 0].tolist(), float(coef[p])) if inside else None

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
        values, where = np.unique(self._quantiles[:, d], return_inverse=True)
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
        """Standard deviation over the data of each shift, (K, L)."""
        w = doubles(self.system.rule_weights)
        return np.abs(self.shifts) * np.sqrt(np.maximum(w * (1 - w), 0.0))[:, None]

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
        names, scaling = self.categories.get(self.system.feature_names[d], {}), self.system.scaling
        if names or scaling is None or not scaling.bounded:
            return {float(code): str(names[code]) for code in sorted(names)}
        values = np.unique(scaling.values[d]).tolist()
        return {value: number(value) for value in values} if len(values) == 2 else {}


def _summed_up(X: Array, F: Array) -> Curves:
    """What curves F (Q, D) over rising values X (Q, D) do."""
    first, last, top, bottom = F[0], F[-1], F.max(axis=0), F.min(axis=0)
    peak, dip = top - np.maximum(first, last), np.minimum(first, last) - bottom
    bends = np.maximum(peak, dip) > BEND * (top - bottom)
    up = np.where(bends, peak >= dip, last >= first)
    turn = X[np.where(up, F.argmax(axis=0), F.argmin(axis=0)), np.arange(F.shape[1])]
    kind = np.select([bends & up, bends, up], ["peaks", "dips", "rises"], "falls")
    change = np.where(bends, np.where(up, 1.0, -1.0) * (top - bottom), last - first)
    return Curves(kind, np.where(bends, turn, _crossings(X, np.where(up, F, -F))), change)


def _crossings(X: Array, F: Array) -> Array:
    """Where rising curves F (Q, D) over X cross 0, (D,)."""
    columns, after = np.arange(F.shape[1]), np.maximum((F > 0).argmax(axis=0), 1)
    low, high = F[after - 1, columns], F[after, columns]
    part = np.clip(-low / np.where(high > low, high - low, 1.0), 0.0, 1.0)
    return X[after - 1, columns] * (1 - part) + X[after, columns] * part


def positions(names: Sequence[str], wanted: Iterable[str], kept: Index, kind: str) -> Index:
    """Those of ``kept`` whose names are wanted; a name that is not there is an `InputError` that says what comes close.

    Examples
    --------
    >>> positions(("age", "glucose"), ["glucose"], np.array([3, 7]), "feature").tolist()
    [7]
    """
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
    """Rows as a pandas frame; without pandas, an ImportError whose message is the install command."""
    try:
        import pandas
    except ImportError:
        raise ImportError(INSTALL) from None
    return pandas.DataFrame(list(rows))
