"""Statements about a fuzzy system, made from its numbers: a builder for each kind.

Symbols: t a subject, j a label, k an exception, all counted from 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array, underflow_is_zero
from ..frames import MISSING
from ..system import FuzzySystem
from .conditions import Condition
from .effects import Effects
from .regions import Regions
from .shapes import Course, Shape, course, course_of_values, line_unit
from .sheet import sheet_line
from .subjects import Index, doubles, largest_first
from .values import Consequent, Items, Rule

# Standard errors on each side of a number, between which it lies in 95 of 100 cases.
ERRORS_OF_95 = 1.96
# The same where statements were chosen by the data that their numbers are from: those
# that happen to look large are chosen. With 1.96 the truth was inside in .81 to .87 of
# simulated cases of real effects, with 2.35 in .95.
ERRORS_OF_95_CHOSEN = 2.35
OUTER_TENTH = 2  # quantiles of a feature at each end, beyond which few samples lie


class LookedAt(NamedTuple):
    """The values at which the effect of a subject is looked at.

    ``x`` (Q,) may hold a value twice; ``distinct`` has each once, and ``first`` says
    where it is first in ``x``.
    """

    x: Array
    distinct: tuple[float, ...]
    first: Index


class Statements:
    """Makes shapes, conditions, consequents and exceptions of a system.

    What is the same for every label is kept once it was found.
    """

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.system = effects.system
        self.subjects = effects.subjects
        self.regions = Regions(effects)
        self.is_sheet = effects.system.is_sheet
        self._looked_at: dict[int, LookedAt] = {}

    # what holds in general ----------------------------------------------------------

    def general(self, j: int, subjects: Index) -> Consequent:
        """What holds in general about label j, with the shapes of some subjects."""
        shift = float(self.effects.base[j])
        chance = None
        if self.system.has_log_odds:
            chance = float(self.system.probabilities(shift))
        return Consequent(
            label=self.system.label_names[j],
            shift=shift,
            size=0.0,
            chance=chance,
            shapes=self.general_shapes(j, subjects),
            threshold=float(self.system.thresholds[j]),
            exact=self.is_sheet,
        )

    def general_shapes(self, j: int, subjects: Index) -> Sequence[Shape]:
        """What some subjects do to label j in general, the largest first."""
        sizes = self.effects.sizes[:, j]
        make = partial(self._general_shape, j)
        if not self.is_sheet:
            return _by_size(subjects, sizes, make)
        shown = np.array(
            [t for t in subjects.tolist() if self._is_told(t, j)], dtype=int
        )
        return Items(largest_first(shown, sizes[shown]), make)

    def _is_told(self, t: int, j: int) -> bool:
        """Whether a short model has a statement about subject t and label j.

        What a feature adds where it was not measured is part of its own statement.
        """
        if not self._has_numbers(t, j):
            return False
        subject = self.subjects[t]
        return subject.kind != MISSING or not self._has_numbers(subject.feature, j)

    def _has_numbers(self, t: int, j: int) -> bool:
        """Whether subject t has a number for label j."""
        return bool(self.system.term_coef[self.effects.terms_of(t), j].any())

    def _general_shape(self, j: int, t: int) -> Shape:
        """What subject t does to label j in general."""
        at = self._values(t)
        y = self.effects.effect(t, at.x, j)
        curve = self._course(t, at.x, y, whole=self.is_sheet)
        shape = self._shape(t, j, curve, size=self.effects.sizes[t, j])
        error = self._error(t, j, at.x[list(curve.ends)], curve.change)
        chosen = self._chosen(t, j)
        if not self.is_sheet:
            return replace(
                shape,
                x=at.distinct,
                y=tuple(y[at.first].tolist()),
                error=error,
                chosen=chosen,
                per=self._line_unit(t, j, at.x, y),
            )
        line = sheet_line(self.effects, t, j)
        values, first = np.unique(line.x, return_index=True)
        return replace(
            shape,
            x=tuple(values.tolist()),
            y=tuple(line.y[first].tolist()),
            error=error,
            chosen=chosen,
            change=float(np.copysign(np.ptp(line.y), curve.change)),
            size=self._size_with_gap(t, j),
            average=line.missing,
            exact=True,
            per=line.per,
        )

    def _size_with_gap(self, t: int, j: int) -> float:
        """Size of what subject t adds to label j, measured or not."""
        size = float(self.effects.sizes[t, j])
        gap = self.subjects.gaps.get(self.subjects[t].feature, t)
        return size if gap == t else size + float(self.effects.sizes[gap, j])

    @underflow_is_zero()
    def _line_unit(self, t: int, j: int, x: Array, y: Array) -> float | None:
        """The round unit of a curve through ``x``, ``y`` if it is a straight line."""
        is_named = bool(self.subjects.named_values(t))
        if is_named or self.system.quantiles is None or line_unit(x, y) is None:
            return None
        x = self.effects.fine_values(t)
        return line_unit(x, self.effects.effect(t, x, j))

    def _slope_shape(self, k: int, j: int, sizes: Array, t: int) -> Shape:
        """What subject t does to label j by the slopes of rule k."""
        at = self._values(t)
        y = self.effects.effect(t, at.x, j, k)
        curve = self._course(t, at.x, y, whole=False)
        shape = self._shape(t, j, curve, size=sizes[t])
        if not shape.names:
            return shape
        return replace(shape, x=at.distinct, y=tuple(y[at.first].tolist()))

    def _values(self, t: int) -> LookedAt:
        """The values at which the effect of subject t is looked at."""
        kept = self._looked_at.get(t)
        if kept is not None:
            return kept
        named = self.subjects.named_values(t)
        if named:
            x = doubles([*named])
        elif self.system.quantiles is None:
            x = np.array([0.0, 1.0])
        else:
            x = doubles(self.system.quantiles[self.subjects[t].columns.start])
        distinct, first = np.unique(x, return_index=True)
        at = LookedAt(x, tuple(distinct.tolist()), first)
        self._looked_at[t] = at
        return at

    def _course(self, t: int, x: Array, y: Array, *, whole: bool) -> Course:
        """The course of a curve, without the outer tenths unless it is ``whole``."""
        kind = self.subjects[t].kind
        n_names = len(self.subjects.named_values(t))
        if kind == "nominal" or (kind == "number" and n_names > 2):
            return course_of_values(y)
        if whole or n_names or len(x) <= 2 * OUTER_TENTH:
            return course(x, y)
        inner = slice(OUTER_TENTH, -OUTER_TENTH)
        if x[inner][0] >= x[inner][-1]:  # all of it is one value
            return course(x, y)
        curve = course(x[inner], y[inner])
        first, last = curve.ends
        return curve._replace(ends=(first + OUTER_TENTH, last + OUTER_TENTH))

    def _shape(self, t: int, j: int, curve: Course, *, size: float) -> Shape:
        """A shape without its points."""
        subject = self.subjects[t]
        names = tuple(self.subjects.named_values(t).values())
        at = None
        percentile = None
        if not names and self.system.quantiles is not None:
            at = curve.at
            percentile = self.subjects.percentile(subject.columns.start, at)
        return Shape(
            label=self.system.label_names[j],
            feature=subject.name,
            kind=MISSING if subject.kind == MISSING else curve.kind,
            change=curve.change,
            size=float(size),
            at=at,
            percentile=percentile,
            names=names,
        )

    def _error(self, t: int, j: int, ends: Array, change: float) -> float | None:
        """Half the 95 % interval of a change between two values of subject t."""
        deviation = self.effects.deviation(t, j, ends[:1], than=ends[1:])
        if deviation is None:
            return None
        return float(margin_of_95(self.system, j, deviation, change)[0])

    def _chosen(self, t: int, j: int) -> tuple[int, int] | None:
        """How many fits to halves of the data chose subject t for label j, of all."""
        certainty = self.system.certainty
        if certainty is None or certainty.chosen is None:
            return None
        d = self.subjects[t].columns.start
        return int(certainty.chosen[d, j]), certainty.folds

    # exceptions ---------------------------------------------------------------------

    def exception(self, k: int, labels: Index, subjects: Index) -> Rule:
        """Exception k with what it says about some labels and subjects."""
        order, n_told = self.regions.order(k, subjects)
        moves = (self.system.coef[k][:, labels] != 0).any(axis=0)
        moved = largest_first(labels[moves], self.effects.shifts[k, labels[moves]])
        members = self.system.members
        return Rule(
            index=k,
            weight=float(self.system.rule_weights[k]),
            conditions=Items(order.tolist(), partial(self._condition, k)),
            consequents=Items(moved, partial(self._consequent, k, subjects)),
            always=bool(np.isnan(self.regions.distinct[k]).all()),
            noun=self.effects.noun,
            told=n_told,
            members=None if members is None else int(members.count[k]),
            total=None if members is None else int(members.count[-1]),
        )

    def _condition(self, k: int, t: int) -> Condition:
        """The condition of rule k on subject t."""
        if self.subjects[t].kind == "nominal":
            return self._condition_on_values(k, t)
        return self._condition_on_number(k, t)

    def _condition_on_values(self, k: int, t: int) -> Condition:
        subject = self.subjects[t]
        values = self.regions.value_shares(k, t)
        clearest = max(values, key=lambda value: abs(value.excess))
        regions = self.effects.member_regions
        measured = None
        if regions is not None and not self.system.is_sheet:
            measured = int(regions[k, subject.columns.start, 1])
        return Condition(
            feature=subject.name,
            center=clearest.share,
            average=clearest.overall,
            low=None,
            high=None,
            percentile=None,
            distinct=float(self.regions.distinct[k, t]),
            values=values,
            members=self._members(k),
            measured=measured,
            reach=self.regions.reach(k, t),
        )

    def _condition_on_number(self, k: int, t: int) -> Condition:
        subject = self.subjects[t]
        d = subject.columns.start
        center = float(self.effects.centers[k, d])
        value_range = self.regions.value_range(k, t)
        percentile = None
        if self.system.quantiles is not None:
            percentile = self.subjects.percentile(d, center)
        return Condition(
            feature=subject.name,
            center=center,
            average=float(self.effects.averages[d]),
            low=value_range.low,
            high=value_range.high,
            percentile=percentile,
            distinct=float(self.regions.distinct[k, t]),
            names=tuple(self.subjects.named_values(t).items()),
            members=self._members(k),
            reach=self.regions.reach(k, t),
        )

    def _members(self, k: int) -> int | None:
        """How many members rule k has, None where it is not known where they lie."""
        members = self.system.members
        if members is None or members.regions is None:
            return None
        return int(members.count[k])

    def _consequent(self, k: int, subjects: Index, j: int) -> Consequent:
        """What rule k says about label j."""
        sizes = self.effects.slope_sizes(k, j)
        members = self.system.members
        had = None
        if members is not None:
            had = int(members.positives[k, j]), int(members.observed[k, j])
        own = np.array([len(self.system.terms) + len(self.system.pairs) + k])
        return rule_consequent(
            self.effects,
            j,
            shift=self.effects.shifts[k, j],
            size=self.effects.shift_sizes[k, j],
            had=had,
            own=None if self.system.order else own,  # none is known of slopes
            shapes=_by_size(subjects, sizes, partial(self._slope_shape, k, j, sizes)),
        )


def rule_consequent(
    effects: Effects,
    j: int,
    *,
    shift: float,
    size: float,
    had: tuple[int, int] | None,
    own: Index | None,
    shapes: Sequence[Shape] = (),
) -> Consequent:
    """What a rule with conditions says about label j.

    ``had`` are positives and observed among its members. ``own`` says where the
    numbers of the rule are among those of the label, None where their covariance is
    not known.
    """
    consequent = Consequent(
        label=effects.system.label_names[j],
        shift=float(shift),
        size=float(size),
        shapes=shapes,
        exact=effects.system.is_sheet,
    )
    members = effects.system.members
    if members is not None and had is not None:
        overall = int(members.positives[-1, j]), int(members.observed[-1, j])
        consequent = replace(
            consequent, positives=had[0], observed=had[1], overall=overall
        )
    covariance = None if own is None else effects.covariance(j, own)
    if covariance is None:
        return consequent
    variance = max(covariance.trace(), 0.0)
    error = margin_of_95(effects.system, j, np.sqrt(variance), consequent.shift)
    return replace(consequent, error=float(error))


def margin_of_95(system: FuzzySystem, j: int, deviation: Array, change: Array) -> Array:
    """Half the width of the 95 % interval of changes of label j.

    ``deviation`` are their standard errors. Numbers of short models are drawn towards
    0, and the truth may lie where they would be without that: without this, it was
    inside the intervals of weak effects in .85 of simulated cases.
    """
    if system.certainty is None or system.certainty.shrunk is None:
        return ERRORS_OF_95 * deviation
    lacking = system.certainty.shrunk[j] * change
    return np.hypot(ERRORS_OF_95_CHOSEN * deviation, lacking)


def _by_size(
    subjects: Index, sizes: Array, make: Callable[[int], Shape]
) -> Sequence[Shape]:
    """The shapes of subjects whose ``sizes`` (T,) are not 0, the largest first."""
    kept = subjects[sizes[subjects] != 0]
    return Items(largest_first(kept, sizes[kept]), make)
