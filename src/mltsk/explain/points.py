"""A short model as points that add up, as they are used at a bedside.

Each item of a sheet is about one feature: every range of its numbers, or every one of
its values, has whole points, and so has a cell that was not measured. The least of
them is 0. A table has the probability of each total. Nothing else is computed: who
reads the sheet computes what `mltsk.points.PointsClassifier` does.

Symbols: N rows, F features, D columns of numbers, L labels.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray
from ..core.magnitude import rounded
from ..frames import MISSING
from ..system import FuzzySystem
from .effects import Effects
from .sheet import sheet_line
from .subjects import Subject, Subjects, doubles
from .wording import exactly

OTHER_VALUE = -1.0  # the code of a value that an item does not name
ANY_OTHER = "any other value"
MAX_EQUAL_VALUES = 6  # of more values, those with the points of any other have no name
# Cut points are multiples of a power of ten that is at most a tenth of where most
# values lie, and of what the line of a feature is long: albumin 2.9, age 61.
STEPS_OF_REACH = 10
# Ranges of a number: as many as fit on a page with those of the other features.
MIN_RANGES = 5
MAX_RANGES = 8
MAX_RANGES_OF_LABEL = 40
LEAST_RANGE_WEIGHT = 0.2  # of a range in which no percentile of the data lies
MOST_VALUES = (1, 19)  # the 5th and 95th percentile, among 21
LEAST_PERCENT = 0.1  # no total is told as impossible or as certain
FINE_PERCENT = 10.0  # below it, and above 100 less it, per cent have one decimal

Points = NDArray[np.int64]


@dataclass(frozen=True)
class PointsItem:
    """The points of one feature for one label.

    Attributes
    ----------
    feature : int
        Its position in X.
    name : str
    cuts : tuple of float
        Of numbers: where a range ends and the next begins, which the cut belongs to.
    values : tuple of str
        Of words: the values that have points of their own.
    points : tuple of int
        Per range, one more than there are cuts, or per value.
    other : int
        Points of any other value; of numbers, as ``missing``.
    missing : int
        Points where the feature was not measured.
    is_whole : bool
        Whether it was a whole number wherever it was measured.
    """

    feature: int
    name: str
    cuts: tuple[float, ...]
    values: tuple[str, ...]
    points: tuple[int, ...]
    other: int
    missing: int
    is_whole: bool = False

    @property
    def most(self) -> int:
        """The most points that it gives."""
        return max(*self.points, self.other, self.missing)

    def points_of(self, x: FloatArray) -> Points:
        """Points (N,) of numbers, or of codes of words; NaN was not measured.

        The code of a word is its position in ``values``, or `OTHER_VALUE`.
        """
        is_missing = np.isnan(x)
        if self.values:
            places = np.where(is_missing, OTHER_VALUE, x).astype(np.intp)
            table = np.array([*self.points, self.other])  # the last one is place -1
            given = table[places]
        else:
            places = np.searchsorted(self.cuts, x, side="right")
            given = np.array(self.points)[np.where(is_missing, 0, places)]
        return np.where(is_missing, self.missing, given).astype(np.int64)

    def choices(self) -> list[tuple[str, int]]:
        """What can be found about a person, in words, and its points."""
        if not self.values:
            choices = list(zip(self.ranges(), self.points, strict=True))
            return [*choices, (MISSING, self.missing)]
        choices = list(zip(self.values, self.points, strict=True))
        if len(choices) > MAX_EQUAL_VALUES:
            choices = [choice for choice in choices if choice[1] != self.other]
        return [*choices, (ANY_OTHER, self.other), (MISSING, self.missing)]

    def ranges(self) -> list[str]:
        """The ranges of numbers in words."""
        if not self.cuts:
            return ["measured"]
        between = [self._between(*ends) for ends in pairwise(self.cuts)]
        first, last = exactly(self.cuts[0]), exactly(self.cuts[-1])
        return [f"below {first}", *between, f"{last} or more"]

    def _between(self, low: float, high: float) -> str:
        """The range from one cut to the next."""
        if not self.is_whole:
            return f"{exactly(low)} to below {exactly(high)}"
        last = exactly(high - 1)
        return last if high == low + 1 else f"{exactly(low)} to {last}"


@dataclass(frozen=True)
class PointsSheet:
    """The sheet of one label: items, and the probability of each total from 0 on.

    ``threshold`` is the probability from which on the label is given.
    """

    label: str
    items: tuple[PointsItem, ...]
    probabilities: tuple[float, ...]
    threshold: float

    @property
    def cut(self) -> int | None:
        """The least total that is given the label, None where none is."""
        given = np.flatnonzero(np.array(self.probabilities) >= self.threshold)
        return int(given[0]) if len(given) else None


class LabelPoints(NamedTuple):
    """The items of a label, and how many log-odds one point stands for."""

    items: tuple[PointsItem, ...]
    unit: float


def totals_of(
    items: Sequence[PointsItem], cells: Mapping[int, FloatArray], n_rows: int
) -> Points:
    """Totals (N,) of some items, from the cells (N,) of each feature."""
    totals = np.zeros(n_rows, dtype=np.int64)
    for item in items:
        totals += item.points_of(cells[item.feature])
    return totals


def most_points(items: Sequence[PointsItem]) -> int:
    """The largest total that items can give."""
    return sum(item.most for item in items)


def printed_probability(p: float) -> float:
    """A probability as a sheet prints it: whole per cent, finer near 0 and 100.

    >>> printed_probability(0.0312), printed_probability(0.4567)
    (0.031, 0.46)
    >>> printed_probability(1e-9), printed_probability(1.0)
    (0.001, 0.999)
    """
    percent = min(max(100 * p, LEAST_PERCENT), 100 - LEAST_PERCENT)
    is_fine = min(percent, 100 - percent) < FINE_PERCENT
    return round(round(percent, int(is_fine)) / 100, 3)


def percent_text(p: float) -> str:
    """A probability of a sheet in per cent, with all of its digits.

    >>> percent_text(0.031), percent_text(0.46)
    ('3.1', '46')
    """
    return f"{round(100 * p, 1):g}"


# from a short model to points ---------------------------------------------------------


def label_points(system: FuzzySystem, max_points: int) -> list[LabelPoints]:
    """The items of every label of a short model without exceptions.

    The feature that adds most to a label gets ``max_points``; the log-odds of all
    others are divided by the same unit and rounded.
    """
    effects = Effects(system)
    points = []
    for j in range(len(system.label_names)):
        lines = [*_lines(effects, j)]
        unit = max((line.span for line in lines), default=0.0) / max_points
        n_ranges = MAX_RANGES_OF_LABEL // max(len(lines), 1)
        n_ranges = min(max(n_ranges, MIN_RANGES), MAX_RANGES)
        items = [line.item(unit, n_ranges) for line in lines]
        kept = [item for item in items if item.most > 0]
        kept.sort(key=lambda item: -item.most)
        points.append(LabelPoints(tuple(kept), unit))
    return points


class FeatureLine(NamedTuple):
    """What a feature adds to a label: ``y`` at values or codes ``x``, and if missing.

    ``step`` is how fine its cut points are; ``is_whole`` says that all values are whole
    numbers, so that every cut is one as well; ``quantiles`` are those of the data.
    """

    subject: Subject
    values: tuple[str, ...]
    x: FloatArray
    y: FloatArray
    other: float
    missing: float
    step: float
    is_whole: bool
    quantiles: FloatArray

    @property
    def span(self) -> float:
        """How far apart the largest and the least of what it adds are."""
        return float(np.ptp([*self.y, self.other, self.missing]))

    def item(self, unit: float, n_ranges: int) -> PointsItem:
        """The item of this line, if a point is ``unit`` log-odds.

        It has ``n_ranges`` at most; a feature of words has all of its values.
        """
        least = min(*self.y.tolist(), self.other, self.missing)
        heights = (self.y - least) / unit
        cuts: list[float] = []
        points = [_whole(height) for height in heights.tolist()]
        if not self.values:
            cuts, points = self._steps(heights)
            cuts, points = _fewer_ranges(cuts, points, self.quantiles, n_ranges)
        item = PointsItem(
            feature=self.subject.feature,
            name=self.subject.name,
            cuts=tuple(cuts),
            values=self.values,
            points=tuple(points),
            other=_whole((self.other - least) / unit),
            missing=_whole((self.missing - least) / unit),
            is_whole=self.is_whole,
        )
        return _from_zero(item)

    def _steps(self, heights: FloatArray) -> tuple[list[float], list[int]]:
        """Where a line of heights in points passes a half, and the points between."""
        cuts: list[float] = []
        points = [_whole(float(heights[0]))]
        for i in range(len(heights) - 1):
            for x, given in self._crossings(heights, i):
                cut = self._cut(x)
                if cuts and cut <= cuts[-1]:  # two cuts that rounding made one
                    points[-1] = given
                    continue
                cuts.append(cut)
                points.append(given)
        return _without_repeats(cuts, points)

    def _cut(self, x: float) -> float:
        """A cut point of few digits; of whole numbers, a whole one."""
        if self.is_whole and self.step <= 1:
            return float(ceil(x))
        digits = -floor(log10(self.step) + 0.5)
        return float(f"{rounded(x, digits):.15g}")

    def _crossings(self, heights: FloatArray, i: int) -> Iterator[tuple[float, int]]:
        """Values between two points of the line where points change, and to what."""
        first, last = heights[i : i + 2].tolist()
        rises = last > first
        begin, end = _whole(first), _whole(last)
        sign = 1 if rises else -1
        for given in range(begin + sign, end + sign, sign):
            level = given - 0.5 * sign
            share = (level - first) / (last - first)
            yield float(self.x[i] * (1 - share) + self.x[i + 1] * share), given


def _fewer_ranges(
    cuts: list[float], points: list[int], quantiles: FloatArray, at_most: int
) -> tuple[list[float], list[int]]:
    """At most so many ranges: the two that differ least for people become one.

    A range counts as much as there are ``quantiles`` of the data in it, and a little
    if there is none. Two ranges together have the mean of their points.
    """
    mass = np.bincount(
        np.searchsorted(cuts, quantiles, side="right"), minlength=len(points)
    )
    weights = (mass + LEAST_RANGE_WEIGHT).tolist()
    heights = [float(given) for given in points]
    cuts = list(cuts)
    while len(heights) > at_most:
        losses = []
        for i in range(len(cuts)):
            both = weights[i] + weights[i + 1]
            apart = heights[i + 1] - heights[i]
            losses.append(weights[i] * weights[i + 1] / both * apart**2)
        i = int(np.argmin(losses))
        both = weights[i] + weights[i + 1]
        mean = (weights[i] * heights[i] + weights[i + 1] * heights[i + 1]) / both
        heights[i : i + 2] = [mean]
        weights[i : i + 2] = [both]
        del cuts[i]
    return _without_repeats(cuts, [_whole(height) for height in heights])


def _whole(height: float) -> int:
    """The whole number that is nearest, a half rounded up."""
    return floor(height + 0.5)


def _without_repeats(
    cuts: Sequence[float], points: Sequence[int]
) -> tuple[list[float], list[int]]:
    """Cuts at which points change, with the points before, between and after them."""
    kept_cuts: list[float] = []
    kept_points = [points[0]]
    for cut, given in zip(cuts, points[1:], strict=True):
        if given != kept_points[-1]:
            kept_cuts.append(cut)
            kept_points.append(given)
    return kept_cuts, kept_points


def _from_zero(item: PointsItem) -> PointsItem:
    """The same item, whose least points are 0."""
    least = min(*item.points, item.other, item.missing)
    return replace(
        item,
        points=tuple(given - least for given in item.points),
        other=item.other - least,
        missing=item.missing - least,
    )


def _lines(effects: Effects, j: int) -> Iterator[FeatureLine]:
    """What each feature adds to label j, of those that add something."""
    subjects = effects.subjects
    moves = set(np.asarray(effects.system.terms.feature)[_own_terms(effects, j)])
    for t, subject in enumerate(subjects):
        gap = subjects.gaps.get(subject.feature)
        if subject.kind == MISSING:
            continue
        own = set(range(subject.columns.start, subject.columns.stop))
        if gap is not None:
            own.add(subjects[gap].columns.start)
        if own & moves:
            line = _line(effects, t, j)
            if line.span > 0:
                yield line


def _own_terms(effects: Effects, j: int) -> NDArray[np.bool_]:
    """Which terms have a number for label j."""
    return np.asarray(effects.system.term_coef[:, j] != 0)


def _line(effects: Effects, t: int, j: int) -> FeatureLine:
    """What subject t, which is a feature, adds to label j."""
    subject = effects.subjects[t]
    line = sheet_line(effects, t, j)
    x, y = doubles(line.x), doubles(line.y)
    if not len(x):  # a feature whose only number is that of "not measured"
        x, y = np.zeros(1), np.zeros(1)
    values: tuple[str, ...] = ()
    other = line.missing
    if subject.kind in ("nominal", "ordinal"):
        values, y, other = _named(effects, subject, y, line.missing)
    return FeatureLine(
        subject=subject,
        values=values,
        x=x,
        y=y,
        other=other,
        missing=line.missing,
        step=_step(effects.system, subject, float(x[-1] / 2 - x[0] / 2) * 2),
        is_whole=_is_whole(effects.system, subject),
        quantiles=_quantiles(effects.system, subject),
    )


def _named(
    effects: Effects, subject: Subject, y: FloatArray, missing: float
) -> tuple[tuple[str, ...], FloatArray, float]:
    """The values of a feature, what each adds, and what any other value adds.

    Rare values were put together in the fit: they are other values.
    """
    columns = effects.system.columns
    values = subject.values
    has_rare = columns is not None and bool(columns.rare[subject.feature])
    if subject.kind == "nominal" and has_rare:
        return values[:-1], y[:-1], float(y[-1])
    return values, y, missing


def _step(system: FuzzySystem, subject: Subject, length: float) -> float:
    """How fine the cut points of a feature are whose line is so long."""
    quantiles = _quantiles(system, subject)
    if not len(quantiles):
        return 1.0
    low, high = quantiles[list(MOST_VALUES)]
    if not high > low:
        low, high = quantiles[[0, -1]]
    reach = float(high / STEPS_OF_REACH - low / STEPS_OF_REACH)
    if length > 0:
        reach = min(reach, length / STEPS_OF_REACH)
    return 10.0 ** max(floor(log10(reach)), -300) if reach > 0 else 1.0


def _quantiles(system: FuzzySystem, subject: Subject) -> FloatArray:
    """Percentiles 0, 5, …, 100 of a number; none of words."""
    if system.quantiles is None or subject.kind != "number":
        return np.zeros(0)
    return doubles(system.quantiles)[subject.columns.start]


def _is_whole(system: FuzzySystem, subject: Subject) -> bool:
    """Whether a feature is whole at all percentiles that the model keeps."""
    quantiles = _quantiles(system, subject)
    if not len(quantiles):
        return False
    return bool((quantiles == np.round(quantiles)).all())


# cells --------------------------------------------------------------------------------


def training_cells(subjects: Subjects, X: Array) -> dict[int, FloatArray]:
    """Cells (N,) of each feature as items take them, from columns of numbers (N, D)."""
    cells = {}
    for subject in subjects:
        if subject.kind == MISSING:
            continue
        own = doubles(X[:, subject.columns])
        cells[subject.feature] = own[:, 0] if own.shape[1] else np.zeros(len(own))
        if subject.kind == "nominal":
            cells[subject.feature] = _codes(subjects, subject, own)
    return cells


def _codes(subjects: Subjects, subject: Subject, own: FloatArray) -> FloatArray:
    """Codes (N,) of the values of a nominal feature from its columns of 0 and 1."""
    n_values = len(subject.values)
    if not own.shape[1]:  # a feature without a value that is frequent enough
        return np.full(len(own), np.nan)
    if n_values == 2:
        codes = own[:, 0].copy()
    else:
        codes = np.where(np.isnan(own).any(axis=1), np.nan, own.argmax(axis=1))
    columns = subjects.system.columns
    if columns is not None and columns.rare[subject.feature]:
        codes[codes == n_values - 1] = OTHER_VALUE
    return codes


def word_codes(item: PointsItem, words: Iterable[str | None]) -> FloatArray:
    """Codes (N,) of words; None, which was not measured, is NaN."""
    places: dict[str | None, float] = {None: np.nan}
    places |= {value: float(place) for place, value in enumerate(item.values)}
    return np.array([places.get(text, OTHER_VALUE) for text in words])


def totals_on_axis(most: int, at_most: int = 12) -> list[int]:
    """Round totals to mark on an axis from 0 to the largest.

    >>> totals_on_axis(23)
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]
    """
    step = max(1, ceil((most + 1) / at_most))
    return list(range(0, most + 1, step))
