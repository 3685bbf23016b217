"""The numbers behind the words: what the rules of a fuzzy system are in the caller's own units.

Symbols: K rules, D features, L labels; z a feature on the scale of the rules, x the same in the caller's units.

The THEN-part of rule k for label l is ``coef[k, 0, l] + Σ_d coef[k, d, l] · z_d`` (16). It is stated, exactly, as

==========================  =====================  ===========================================================
scale                       one step of a feature  intercept
==========================  =====================  ===========================================================
standard, minmax, none      1 unit                 score where every feature is 0
quantile                    10 percentile points   score where every feature is at its average percentile
quantile, only two values   one value instead of   the same
                            the other
rows of unit length         a row that is nothing  score of an empty row
                            but this feature
==========================  =====================  ===========================================================

because z is linear in x in the first case, and in the percentile p of x in the second: z = (p - offset) / spread. A
feature of two values has one step, so that is what its weight is for.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.arrays import Array, Matrix
from ..core.fuzzymap import FuzzyMap
from ..core.scaling import Scaling
from ..core.system import FuzzySystem
from ..exceptions import InputError
from .wording import number

Categories = Mapping[str, Mapping[float, str]]
Index = NDArray[np.intp]

PERCENTILE_STEP = 0.1
_GRID = np.linspace(0.0, 1.0, 21)  # what the columns of `FuzzySystem.quantiles` are percentiles of


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
    def centers(self) -> Array:
        """Centres of the fuzzy sets, (K, D); for rows of unit length, the mean of what each rule fires on."""
        known = self.system.scaling is None and not self.system.unit_length
        return _doubles(self.system.centers if known else self.system.prototypes)

    @cached_property
    def middle(self) -> Array:
        """The average sample on the scale of the rules, (D,): the percentile scale has it at 0."""
        if self.system.scaling is not None and self.system.scaling.bounded:
            return np.zeros(self.system.shape[1])
        return _doubles(self.system.rule_weights @ self.system.centers)

    @property
    def reference(self) -> Array:
        """The sample that others are compared with, (D,): the average one; for sparse rows, an empty one."""
        return np.zeros_like(self.middle) if self.system.quantiles is None else self.middle

    @cached_property
    def averages(self) -> Array:
        """The average sample in the caller's units, (D,)."""
        if self.system.scaling is not None:
            return self.system.scaling.invert(self.middle[None, :])[0]
        return _doubles(self.system.rule_weights @ self.centers)

    @cached_property
    def conditioned(self) -> NDArray[np.bool_]:
        """Whether each rule has a condition on each feature, (K, D): a set of infinite width is none."""
        return np.isfinite(self.system.widths)

    @cached_property
    def distinct(self) -> Array:
        """How far each centre lies from the average sample, in widths √s of its fuzzy set, signed, (K, D)."""
        return (_doubles(self.system.centers) - self.middle) / np.sqrt(_doubles(self.system.widths))

    def order(self, k: int, features: Index | None = None) -> Index:
        """The features that rule k has conditions on, of some or all, most distinct first."""
        among = np.arange(self.system.shape[1]) if features is None else features
        kept = among[self.conditioned[k, among]]
        return kept[np.argsort(-np.abs(self.distinct[k, kept]), kind="stable")]

    @cached_property
    def ranges(self) -> tuple[Array, Array]:
        """Where membership is above 1/2, (K, D) each; NaN where there is no such limit or no way back to units."""
        C, reach = _doubles(self.system.centers), np.sqrt(_doubles(self.system.widths) * np.log(2.0))
        if self.system.unit_length:
            return np.full_like(C, np.nan), np.full_like(C, np.nan)
        scaling = self.system.scaling
        if scaling is None:
            return C - reach, C + reach
        return _inside(scaling, C - reach), _inside(scaling, C + reach)

    @cached_property
    def percentiles(self) -> Array:
        """Where each centre lies among the training values, (K, D) in 0..1; NaN for sparse features."""
        return self.percentiles_of(self.centers, self.system.centers)

    def percentiles_of(self, X: Array, Z: Array) -> Array:
        """Where values X (N, D), which are Z on the scale of the rules, lie among the training values."""
        if self.system.quantiles is None:
            return np.full(X.shape, np.nan)
        if self.system.scaling is not None and self.system.scaling.bounded:
            return self.system.scaling.percentile(_doubles(Z))
        columns = zip(X.T, self.system.quantiles, strict=True)
        return np.stack([_percentile(x, q) for x, q in columns], axis=1)

    @cached_property
    def _two_knots(self) -> NDArray[np.bool_]:
        """Which features of a percentile scale have two values, (D,)."""
        scaling = self.system.scaling
        if scaling is None or not scaling.bounded:
            return np.zeros(self.system.shape[1], dtype=bool)
        return (np.diff(scaling.values, axis=1) > 0).sum(axis=1) == 1

    @cached_property
    def pairs(self) -> Array:
        """The two values of a feature that has no more, (D, 2), smaller first; NaN for all others."""
        pairs = np.full((self.system.shape[1], 2), np.nan)
        if self.system.scaling is not None:
            pairs[self._two_knots] = self.system.scaling.values[self._two_knots][:, [0, -1]]
        for d, name in enumerate(self.system.feature_names):
            if len(self.categories.get(name, ())) == 2:
                pairs[d] = sorted(self.categories[name])
        return pairs

    def pair_names(self, d: int) -> tuple[str, str]:
        """What the two values of feature d are called."""
        low, high = self.pairs[d].tolist()
        return self.category(d, low) or number(low), self.category(d, high) or number(high)

    @cached_property
    def factors(self) -> Array:
        """Change of z for one step of each feature, (D,)."""
        scaling = self.system.scaling
        if scaling is None:
            return np.ones(self.system.shape[1])
        if not scaling.bounded:
            return 1.0 / (_spans(scaling) * scaling.spread)
        return np.where(self._two_knots, scaling.levels[:, -1] - scaling.levels[:, 0], PERCENTILE_STEP) / scaling.spread

    @cached_property
    def intercepts(self) -> Array:
        """Score of every rule and label where no step has been taken, (K, L)."""
        scaling, coef = self.system.scaling, self.system.coef
        if scaling is None or scaling.bounded:
            return _doubles(coef[:, 0])
        at_zero = -scaling.values[:, 0] * self.factors - scaling.offset / scaling.spread
        return _doubles(coef[:, 0]) + np.einsum("kdl,d->kl", coef[:, 1:], at_zero)

    @property
    def usual_step(self) -> str:
        """What one step is, of every feature but those of two values on the percentile scale."""
        if self.system.unit_length:
            return "full weight of the feature in a row of unit length"
        bounded = self.system.scaling is not None and self.system.scaling.bounded
        return "10 percentile points" if bounded else "1 unit"

    def step(self, d: int) -> str:
        """What one step of feature d is."""
        if not self._two_knots[d]:
            return self.usual_step
        low, high = self.pair_names(d)
        return f"{high} instead of {low}"

    @cached_property
    def spreads(self) -> Array:
        """About one standard deviation of each feature on the scale of the rules, (D,): what makes terms comparable."""
        if self.system.quantiles is None:
            # a mostly absent feature has a variance of about its mean times the size it has where it is present
            return np.sqrt(np.abs(self.middle))
        if self.system.scaling is not None and self.system.scaling.bounded:
            return np.ones(self.system.shape[1])
        return _doubles(self.system.quantiles.std(axis=1)) * self.factors

    @cached_property
    def levels(self) -> Array:
        """Score of each label at the centre of each rule, (K, L).

        All rules have their share in it, as they have in every sample: one rule alone says little where rules overlap,
        since its THEN-part is fitted together with those of its neighbours (on text it may stand at 2 and -1).
        """
        system = self.system
        G = FuzzyMap.of(system.centers, system.centers, system.widths, underflow=system.underflow)
        return _doubles(G @ system.coef.reshape(-1, system.shape[2]))

    @cached_property
    def usual(self) -> Array:
        """Those scores averaged over the rules by the share of data that each governs, (L,)."""
        return _doubles(self.system.rule_weights @ self.levels)

    def category(self, d: int, value: float) -> str | None:
        """Name of the category whose number is nearest to a value of feature d, where categories are known."""
        names = self.categories.get(self.system.feature_names[d])
        return names[min(names, key=lambda code: abs(code - value))] if names else None

    def exactly(self, d: int, value: float) -> str | None:
        """What a sample's value of feature d is called, if it is a category or one of only two values."""
        names = self.categories.get(self.system.feature_names[d], {})
        return names.get(float(value)) or (number(float(value)) if value in self.pairs[d] else None)


def positions(names: Sequence[str], wanted: Iterable[str], kept: Index, kind: str) -> Index:
    """Those of ``kept`` whose names are wanted; a name that is not there is an `InputError` that says what comes close.

    Examples
    --------
    >>> positions(("age", "glucose"), ["glucose"], np.array([3, 7]), "feature").tolist()
    [7]
    """
    found = [i for name in wanted for i in _places(names, name, kind)]
    if not found:
        raise InputError(f"Name at least one {kind} to keep.")
    return kept[found]


def _places(names: Sequence[str], wanted: str, kind: str) -> list[int]:
    found = [i for i, name in enumerate(names) if name == wanted]
    if found:
        return found
    close = difflib.get_close_matches(str(wanted), names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the first of {len(names)} is {names[0]!r}."
    raise InputError(f"There is no {kind} called {wanted!r}: {hint}")


def known(x: Any) -> float | None:
    """A number, or None for NaN: JSON has no NaN."""
    return None if np.isnan(x) else float(x)


def dense_rows(X: Matrix) -> Array:
    """Rows as a dense array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _doubles(A: Array) -> Array:
    return np.asarray(A, dtype=np.float64)


def _spans(scaling: Scaling) -> Array:
    low, high = scaling.values[:, 0], scaling.values[:, -1]
    return np.where(high > low, high - low, 1.0)


def _inside(scaling: Scaling, Z: Array) -> Array:
    """Caller's units of Z; NaN beyond the ends of a bounded scale, where membership never falls to 1/2."""
    X = scaling.invert(Z)
    if not scaling.bounded:
        return X
    levels = Z * scaling.spread + scaling.offset
    return np.where((levels < scaling.levels[:, 0]) | (levels > scaling.levels[:, -1]), np.nan, X)


def _percentile(x: Array, quantiles: Array) -> Array:
    """Percentiles (0..1) of values x by 21 training quantiles; tied quantiles count as their middle."""
    values, where = np.unique(quantiles, return_inverse=True)
    middle = np.bincount(where, weights=_GRID) / np.bincount(where)
    return np.interp(x, values, middle)
