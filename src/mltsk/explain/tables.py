"""The numbers behind the words: what a fuzzy system is in the caller's own units.

Symbols: K exceptions, D columns of numbers, F features, L labels, Q = 21 training quantiles; z a feature on the scale
of the rules, x the same in the caller's units.

Statements are about T *subjects*: the F features, and then what is not measured, of features that have such a column.
The *curve* of a feature for a label is the sum of its centred terms: 0 on average. The *size* of an effect is its
standard deviation over the data: of a curve, over the training quantiles; of a shift c, |c| times that of membership.
A short model is a *sheet* that can be worked out by hand: where a score starts, and what each statement adds. What a
feature adds is a line through a few points, flat beyond the first and the last; it is 0 at one of them, so that only
the smaller side of the data needs a sum.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import MISSING
from ..core.arrays import Array, dense
from ..core.membership import firing_strengths
from ..system import FuzzySystem
from .values import CLEAR
from .wording import number

Categories = Mapping[str, Mapping[float, str]]
Index = NDArray[np.intp]

WIDE = 0.8  # a region that holds so much of the data is none
_GRID = np.linspace(
    0.0, 1.0, 21
)  # what the columns of `FuzzySystem.quantiles` are percentiles of


class Subject(NamedTuple):
    """What a statement is about: a feature, by number and name, its ``columns`` and the names of its ``values``.

    ``kind`` is "number", "ordinal", "nominal", or "not measured", which has the values "measured" and "not measured".
    """

    feature: int
    name: str
    kind: str
    columns: slice
    values: tuple[str, ...] = ()


class Tables:
    """Numbers of one system in the caller's units; those that take time are computed when they are first asked for.

    ``categories`` gives a name to the numbers that stand for categories of a feature. ``given`` are the R rules that
    the user gave: the last R columns are theirs, and of no subject. ``gaps`` has the subject "not measured" of each
    feature that has one, ``unordered`` the subjects whose named values have no order, ``starts`` (T,) the first column
    of each subject, any for a feature that has none. A rule with conditions is called by ``noun``: without a general
    rule there are no exceptions to one. ``start`` is what the intercept is, in words. ``member_regions`` are those of
    `Members` or None; ``weights`` (K,) those of the exceptions, made to add up to 1; ``centers`` (K, D) those of fuzzy
    sets, for rows of unit length the mean of what each rule fires on; ``shifts`` (K, L) what each exception says at its
    own centre. ``middle`` (D,) is the average sample on the scale of the rules, ``averages`` the same in the caller's
    units; ``spreads`` (D,) are standard deviations on the scale of the rules, over the training quantiles.
    """

    def __init__(self, system: FuzzySystem, categories: Categories | None) -> None:
        columns, w, coef = (
            system.columns,
            doubles(system.rule_weights),
            doubles(system.coef),
        )
        self.system, self.categories, self.subjects = (
            system,
            categories or {},
            _subjects(system),
        )
        self.feature_names = system.feature_names if columns is None else columns.names
        self.given = () if columns is None else columns.rules
        subjects = list(enumerate(self.subjects))
        self.gaps = {
            subject.feature: t for t, subject in subjects if subject.kind == MISSING
        }
        self.unordered = [
            (t, subject)
            for t, subject in subjects
            if subject.kind in ("nominal", MISSING)
        ]
        self.starts = np.array(
            [
                min(subject.columns.start, system.shape[1] - 1)
                for subject in self.subjects
            ]
        )
        self.noun = "Exception" if len(system.terms) else "Rule"
        later = ["your rules"] * bool(self.given) + ["exceptions"] * bool(
            len(system.centers)
        )
        self.start = f"before {' and '.join(later)}" if later else "on average"
        self.member_regions = None if system.members is None else system.members.regions
        self.weights = np.asarray(w / max(float(w.sum()), 1e-300))
        plain = system.scaling is None and not system.unit_length
        self.centers = doubles(system.centers if plain else system.prototypes)
        slopes = (
            np.einsum("kd,kdl->kl", system.centers, coef[:, 1:])
            if system.order
            else 0.0
        )
        self.shifts = np.asarray(coef[:, 0] + slopes)
        self._grid: Any = (
            None
            if system.quantiles is None
            else system.scale(doubles(system.quantiles).T)
        )
        self.middle = self._middle()
        self.averages = (
            self.weights @ self.centers if system.unit_length else self.middle
        )
        if system.scaling is not None:
            self.averages = system.scaling.apply(self.middle[None, :], inverse=True)[0]
        # a mostly absent feature has a variance of about its mean times the size it has where it is present
        self.spreads = (
            np.sqrt(np.abs(self.middle))
            if self._grid is None
            else self._grid.std(axis=0)
        )

    def named_values(self, t: int) -> dict[float, str]:
        """The values of subject t that have names: its categories, or the only two that a dense feature takes."""
        subject, scaling = self.subjects[t], self.system.scaling
        own: Mapping[float, str] = dict(enumerate(subject.values))
        names = own or self.categories.get(subject.name, {})
        if names or scaling is None or not scaling.bounded or subject.kind != "number":
            return {float(code): str(names[code]) for code in sorted(names)}
        values = np.unique(scaling.values[subject.columns.start]).tolist()
        return {value: number(value) for value in values} if len(values) == 2 else {}

    def _middle(self) -> Array:
        system = self.system
        if system.is_linear:
            return doubles(system.terms.mean)
        if system.is_sheet:
            middle = self._grid.mean(axis=0)
            if system.columns is None or self.member_regions is None:
                return middle
            return np.where(
                system.columns.indicators, _shares(self.member_regions[-1]), middle
            )
        bounded = (
            system.scaling is not None and system.scaling.bounded
        )  # the percentile scale has it at 0
        return np.zeros(system.shape[1]) if bounded else self.weights @ system.centers

    @cached_property
    def grid_terms(self) -> Array:
        """Centred memberships in the terms where every feature is at one of its training quantiles, (Q, P)."""
        return (
            self.system.terms.memberships(self._grid, self.system.scaling)
            - self.system.terms.mean
        )

    @cached_property
    def sizes(self) -> Array:
        """Standard deviation over the data of what each subject adds to each label in general, (T, L)."""
        system, (_, D, L) = self.system, self.system.shape
        if system.is_linear:
            found = np.abs(doubles(system.term_coef)) * self.spreads[:, None]
        elif not len(system.terms):
            found = np.zeros((D, L))
        else:
            curves = (
                system.terms.by_feature(self.grid_terms * coef, D)
                for coef in system.term_coef.T
            )
            found = np.stack([curve.std(axis=0) for curve in curves], axis=1)
        return self._by_subject(found, slice(None))

    def _by_subject(self, sizes: Array, labels: Any, k: int | None = None) -> Array:
        """Sizes of columns as those of subjects: of named values that have no order, the deviation over these."""
        found = sizes[self.starts]
        for t, subject in self.unordered:
            p, y = (
                self.frequencies(t),
                self.effect(t, np.arange(float(len(subject.values))), labels, k),
            )
            found[t] = np.sqrt(p @ (y - p @ y) ** 2)
        return found

    def frequencies(self, t: int) -> Array:
        """How often a subject has each of its named values, where it has one."""
        p = self.averages[self.subjects[t].columns]
        return (
            p if len(p) == len(self.subjects[t].values) else np.array([1 - p[0], p[0]])
        )

    def scaled(self, t: int, x: Array) -> Array:
        """Values of subject t in its columns on the scale of the rules; of a row of unit length, as they are there."""
        subject, scaling, x = self.subjects[t], self.system.scaling, doubles(x)[:, None]
        if subject.kind == "nominal":
            x = (
                x
                == np.arange(len(subject.values))[
                    -(subject.columns.stop - subject.columns.start) :
                ]
            ).astype(float)
        return x if scaling is None else scaling.columns(subject.columns).apply(x)

    def effect(self, t: int, x: Array, j: Any, k: int | None = None) -> Array:
        """What values x of subject t add to the score of label j, or of some, in general or by the slopes of rule k."""
        if k is not None:
            columns = self.subjects[t].columns
            return np.asarray(
                (self.scaled(t, x) - self.middle[columns])
                @ self.system.coef[k, 1:][columns, j]
            )
        own, V = self.memberships(t, x)
        return np.asarray(
            (V - self.system.terms.mean[own]) @ self.system.term_coef[own, j]
        )

    def memberships(self, t: int, x: Array) -> tuple[Index, Array]:
        """The terms that are about subject t, and the memberships of values x of it in those."""
        columns, terms, scaling = (
            self.subjects[t].columns,
            self.system.terms,
            self.system.scaling,
        )
        own = np.flatnonzero(
            (terms.feature >= columns.start) & (terms.feature < columns.stop)
        )
        kept = {
            end: None if (ends := getattr(terms, end)) is None else ends[own]
            for end in ("low", "high")
        }
        part = replace(
            terms,
            feature=terms.feature[own] - columns.start,
            mean=terms.mean[own],
            **kept,
        )
        found = part.memberships(
            self.scaled(t, x), None if scaling is None else scaling.columns(columns)
        )
        return own, doubles(found)

    def deviation(self, t: int, j: int, x: Array, y: Any = None) -> Array | None:
        """Standard error of what values x of subject t add to label j, or add more than values y do."""
        if (cov := self.covariance(j)) is None:
            return None
        own, V = self.memberships(t, x)
        V = V - (
            self.system.terms.mean[own] if y is None else self.memberships(t, y)[1]
        )
        return np.sqrt(
            np.maximum(np.einsum("np,pq,nq->n", V, cov[np.ix_(own, own)], V), 0.0)
        )

    def covariance(self, j: int) -> Array | None:
        """Of the numbers of label j, those of terms and then of exceptions; None where it is not known."""
        system = self.system
        if system.certainty is None:
            return None
        kept = np.concatenate(
            [system.term_coef[:, j] != 0, (system.coef[:, :, j] != 0).ravel()]
        )
        return system.certainty.covariance(kept, j)

    @cached_property
    def distinct(self) -> Array:
        """How far each centre lies from the average, in widths √s, (K, T): signed if ordered, NaN for infinite ones."""
        finite = np.isfinite(self.system.widths)
        apart = (doubles(self.system.centers) - self.middle) / np.sqrt(
            doubles(self.system.widths)
        )
        found = np.where(finite, apart, np.nan)[:, self.starts]
        for (
            t,
            subject,
        ) in self.unordered:  # what is not measured has no part in distances
            own = finite[:, subject.columns].any(axis=1) & (subject.kind != MISSING)
            found[:, t] = np.where(
                own, np.linalg.norm(apart[:, subject.columns], axis=1), np.nan
            )
        return found

    def order(self, k: int, subjects: Index) -> tuple[Index, int]:
        """Those of some subjects that rule k has conditions on, most distinct first, and how many set members apart."""
        kept = subjects[~np.isnan(self.distinct[k, subjects])]
        kept = largest(kept, self.distinct[k, kept])
        if self.regions is None:
            return kept, len(kept)
        wide = np.isnan(self.regions[k, kept]).all(axis=1)
        return kept[np.argsort(wide, kind="stable")], int((~wide).sum())

    @cached_property
    def regions(self) -> Array | None:
        """Where the members of each exception lie, (K, T, 2), None where that is not known.

        NaN is an open end: it reaches the outer tenth of the data. Both are NaN where a region holds nearly all of it,
        and 0 for values without an order of which some are clearly more or less frequent than overall.
        """
        system, members, starts = self.system, self.member_regions, self.starts
        if members is None:
            return None
        grid = doubles(system.quantiles)[starts]
        if system.is_sheet:  # where conditions are met by half
            told, c = np.isfinite(system.widths[:, starts]), self.centers[:, starts]
            width = np.sqrt(np.where(told, doubles(system.widths)[:, starts], 0.0))
            reach = width * np.ptp(grid, axis=1) * np.sqrt(np.log(2))
            low = np.where(c <= grid[:, 0], -np.inf, np.round(c - reach, 9))
            high = np.where(c >= grid[:, -1], np.inf, np.round(c + reach, 9))
        else:
            (low, high), (first, last) = (
                np.moveaxis(members[:-1, starts], 2, 0),
                members[-1, starts].T,
            )
            single = low == high
            low = np.where((low <= first) & ~single, -np.inf, low)
            high = np.where((high >= last) & ~single, np.inf, high)
            share = ((grid >= low[:, :, None]) & (grid <= high[:, :, None])).mean(
                axis=2
            )
            coded = [
                s.kind == "number" and len(self.named_values(t)) > 2
                for t, s in enumerate(self.subjects)
            ]
            told = (share < WIDE) & (single | ~np.array(coded))
        ends = np.stack([low, high], axis=2)
        found = np.where(told[:, :, None] & np.isfinite(ends), ends, np.nan)
        for t, subject in self.unordered:
            here, usual = (
                _shares(members[:-1, subject.columns]),
                _shares(members[-1, subject.columns]),
            )
            apart = (
                np.abs(here - usual) * np.isfinite(system.widths[:, subject.columns])
            ).max(axis=1, initial=0.0)
            found[:, t] = np.where(
                (apart > CLEAR) & (not system.is_sheet), 0.0, np.nan
            )[:, None]
        return found

    def shares(self, k: int, t: int) -> tuple[tuple[str, float, float], ...]:
        """Of the values that rule k has a condition on: name, share among members (or at its centre) and on average."""
        subject, here, usual = self.subjects[t], self.centers[k], self.averages
        if self.member_regions is not None:
            here, usual = _shares(self.member_regions[[k, -1]])
        pairs = [
            (float(np.clip(here[d], 0, 1)), float(usual[d]))
            for d in range(*subject.columns.indices(len(here)))
        ]
        if len(pairs) < len(subject.values):
            return tuple(
                zip(subject.values, *([1 - x, x] for x in pairs[0]), strict=True)
            )
        finite = np.isfinite(self.system.widths[k, subject.columns])
        return tuple(
            (v, *pair)
            for v, pair, own in zip(subject.values, pairs, finite, strict=True)
            if own
        )

    def ends(self, k: int, t: int) -> tuple[float | None, float | None]:
        """From where to where the condition of rule k on a number reaches, None for an open end."""
        if (
            self.regions is None
        ):  # it begins half way between the average sample and its centre
            d, scaling = self.subjects[t].columns.start, self.system.scaling
            half = (
                np.nan
                if self.system.unit_length
                else (doubles(self.system.centers)[k, d] + self.middle[d]) / 2
            )
            if scaling is not None:
                half = scaling.columns(slice(d, d + 1)).apply(
                    np.array([[half]]), inverse=True
                )[0, 0]
            low, high = (half, np.nan) if self.distinct[k, t] > 0 else (np.nan, half)
        else:
            low, high = self.regions[k, t]
        return None if np.isnan(low) else float(low), None if np.isnan(high) else float(
            high
        )

    def percentile(self, d: int, x: Any) -> Any:
        """Percentiles (0..1) of values of a dense feature by its quantiles; tied quantiles count as their middle."""
        values, where = np.unique(
            doubles(self.system.quantiles)[d], return_inverse=True
        )
        return np.interp(
            x, values, np.bincount(where, weights=_GRID) / np.bincount(where)
        )

    @cached_property
    def shift_sizes(self) -> Array:
        """Standard deviation over the data of each shift, (K, L): its size times that of membership over centres."""
        system, w = self.system, doubles(self.system.rule_weights)
        spreads = np.sqrt(
            np.maximum(w * (1 - w), 0.0)
        )  # at most that of all or nothing
        if len(w) > 1:
            M = firing_strengths(
                doubles(system.centers),
                system.centers,
                system.widths,
                firing=system.firing,
            )
            over_centers = np.sqrt(
                np.maximum(self.weights @ M**2 - (self.weights @ M) ** 2, 0.0)
            )
            spreads = np.minimum(spreads, over_centers)
        return np.abs(self.shifts) * spreads[:, None]

    def slope_sizes(self, k: int, labels: Any = slice(None)) -> Array:
        """Standard deviation over the data of each slope of rule k for one label, (T,), or all, (T, L)."""
        if self.system.order == 0:
            return np.zeros_like(self.sizes[:, labels])
        found = (np.abs(doubles(self.system.coef[k, 1:, labels])).T * self.spreads).T
        return self._by_subject(found, labels, k) * self.system.rule_weights[k]

    @cached_property
    def importance(self) -> Array:
        """Size of what each subject does to each label, in general and within rules, (T, L)."""
        return sum(
            (
                self.slope_sizes(k)
                for k in range(self.system.shape[0] * self.system.order)
            ),
            self.sizes,
        )


def _subjects(system: FuzzySystem) -> list[Subject]:
    """What statements are about: every feature, then what is not measured."""
    columns, D = system.columns, system.shape[1]
    if columns is None:
        return [
            Subject(d, name, "number", slice(d, d + 1))
            for d, name in enumerate(system.feature_names)
        ]
    gaps = [f for f, gap in enumerate(columns.gaps) if gap]
    first = D - len(columns.rules) - len(gaps)
    own, found, at = Counter(part.feature for part in columns.parts[:first]), [], 0
    for f, (name, kind) in enumerate(zip(columns.names, columns.kinds, strict=True)):
        found.append(Subject(f, name, kind, slice(at, at + own[f]), columns.named(f)))
        at += own[f]
    for d, f in enumerate(gaps, first):
        found.append(
            Subject(
                f, columns.names[f], MISSING, slice(d, d + 1), ("measured", MISSING)
            )
        )
    return found


def _shares(regions: Array) -> Array:
    """Of columns that stand for values: which share of those that have any has it."""
    return np.asarray(regions[..., 0] / np.maximum(regions[..., 1], 1.0))


def doubles(A: Any) -> Array:
    """An array, or sparse rows, as a dense array in double precision."""
    return np.asarray(dense(A), dtype=np.float64)


def largest(these: Index, amounts: Array) -> Index:
    """These, those of the largest amounts first."""
    return these[np.argsort(-np.abs(amounts), kind="stable")]
