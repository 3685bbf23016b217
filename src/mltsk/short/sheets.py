"""The system of a short model, whose numbers are exactly those of its text.

What a number adds to a label is a line through a few points, flat beyond the first and
the last. Its heights at these points are round, and 0 at one of them, where much of the
data is. The system has a ramp from each point to the next, with the difference of both
heights: what the text says is what is computed.

A cell that was not measured counts as the point whose height is 0: the ``mean`` of each
ramp is 1 below that point and 0 above it. What was often not measured has a column that
says so, and the term of this column adds a round number: what the feature adds on
average.

Symbols: D columns, L labels, C candidates, N rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array, FloatArray, Matrix
from ..core.lines import rounded_line
from ..core.magnitude import rounded
from ..core.scales import interpolated, percentile_knots
from ..core.terms import Terms
from ..frames import MISSING
from ..system import FuzzySystem
from .candidates import Candidates
from .cuts import digits_of
from .regions import Index

# A ramp in whose middle this percentile is not reached is told for low values: it is 0
# at its upper end.
LOW_SIDE_PERCENTILE = 0.4
LEAST_BEND = 1e-6  # share of the steepest slope: rounded numbers bend more, or not


class Ramp(NamedTuple):
    """A ramp of a short model: its column, its ends, and its value for a missing cell.

    Ends are shares of the range of the column.
    """

    column: int
    low: float
    high: float
    missing: float


@dataclass(frozen=True)
class Line:
    """What a column adds to a label: ``heights`` (n,) at ``knots`` (n,), ``zero`` at 0.

    ``average`` is what it adds on average where the column was measured.
    """

    column: int
    knots: FloatArray
    heights: FloatArray
    zero: int
    average: float

    def without_idle_knots(self) -> "Line":
        """The same line without knots at which rounding has left no bend."""
        slopes = np.diff(self.heights) / np.diff(self.knots)
        change = np.abs(np.diff(slopes))
        bends = change > LEAST_BEND * np.abs(slopes).max(initial=0.0)
        kept = np.concatenate([[True], bends, [True]])
        kept[self.zero] = True
        return replace(
            self,
            knots=self.knots[kept],
            heights=self.heights[kept],
            zero=int(kept[: self.zero].sum()),
        )

    def ramps(self) -> Iterator[tuple[Ramp, float]]:
        """Ramps from each knot to the next, with their numbers, unless these are 0."""
        for i, number in enumerate(np.diff(self.heights).tolist()):
            if number:
                low, high = self.knots[i : i + 2].tolist()
                yield Ramp(self.column, low, high, float(i < self.zero)), number


class SheetMaker:
    """Makes the systems of short models from candidates and their numbers.

    Parameters
    ----------
    candidates : Candidates
        Ramps and exceptions.
    mean : (C,)
        Means of the candidates' columns.
    """

    def __init__(self, candidates: Candidates, mean: Array) -> None:
        self.candidates = candidates
        self.mean = mean
        base = candidates.base
        self._features = np.arange(len(base.feature_names))
        self._gap_columns: dict[int, int] = {}
        if base.columns is not None:
            parts = base.columns.parts
            self._features = np.array([part.feature for part in parts])
            for d, part in enumerate(parts):
                if part.feature >= 0 and part.value == MISSING:
                    self._gap_columns[part.feature] = d
        self._knots: dict[int, tuple[FloatArray, FloatArray]] = {}

    def system(self, coef: Array, rates: Array, X: Matrix, w: Array) -> FuzzySystem:
        """The system of rounded numbers.

        Parameters
        ----------
        coef : (C, L)
            Numbers of all candidates, in log-odds.
        rates : (L,)
            Mean log-odds of the rows.
        X, w : (N, D), (N,)
            These rows, and their weights.
        """
        P = len(self.candidates.terms)
        kept_rules = np.flatnonzero(coef[P:].any(axis=1))
        rule_coef = np.zeros((len(kept_rules), coef.shape[1]))
        numbers: dict[Ramp, dict[int, float]] = {}
        digits = [digits_of(column) for column in coef.T]
        for label, own_digits in enumerate(digits):
            for ramp, number in self._ramps(coef[:P, label], own_digits):
                numbers.setdefault(ramp, {})[label] = number
            shifts = coef[P:, label][kept_rules]
            rule_coef[:, label] = rounded(shifts, own_digits)
        moves = rule_coef.any(axis=1)
        short = self._with_rules(kept_rules[moves], rule_coef[moves])
        short = _with_terms(short, numbers, coef.shape[1])
        short = replace(short, intercept=np.zeros(len(rates)))
        starts = rates - w @ short.scores(X) / w.sum()
        pairs = zip(starts.tolist(), digits, strict=True)
        return replace(short, intercept=np.array([rounded(s, n) for s, n in pairs]))

    def _with_rules(self, kept: Index, coef: Array) -> FuzzySystem:
        """The system that has some exceptions, with their numbers (K, L)."""
        base = self.candidates.base
        centers = self.candidates.centers[kept]
        prototypes = centers
        if base.scaling is not None:
            prototypes = base.scaling.apply(centers, inverse=True)
        return replace(
            base,
            centers=centers,
            widths=self.candidates.widths[kept],
            coef=coef[:, None, :],
            prototypes=prototypes,
            rule_weights=self.mean[len(self.candidates.terms) :][kept],
        )

    def _ramps(self, numbers: Array, digits: int) -> Iterator[tuple[Ramp, float]]:
        """All ramps of a label, from the numbers (P,) of the terms."""
        chosen = np.flatnonzero(numbers)
        columns = self.candidates.terms.feature[chosen]
        averages = dict.fromkeys(self._gap_columns, 0.0)
        for column in np.unique(columns).tolist():
            line = self._line(chosen[columns == column], numbers, digits)
            feature = int(self._features[column])
            if self._gap_columns.get(feature) == column:
                averages[feature] += float(line.heights[-1])
                continue
            if feature in averages:
                averages[feature] += line.average
            yield from line.ramps()
        for feature, average in averages.items():
            number = float(rounded(average, digits))
            if number:
                gap = Ramp(self._gap_columns[feature], low=0.0, high=1.0, missing=0.0)
                yield gap, number

    def _line(self, positions: Index, numbers: Array, digits: int) -> Line:
        """The line of the terms at some positions, all of them of one column."""
        terms = self.candidates.terms
        if terms.low is None or terms.high is None:
            raise ValueError("linear terms have no ends")
        column = int(terms.feature[positions[0]])
        low = terms.low[positions]
        high = terms.high[positions]
        own = numbers[positions]
        knots = np.unique(np.concatenate([low, high]))
        shares = np.clip((knots[:, None] - low) / (high - low), 0.0, 1.0)
        heights = shares @ own
        average = float(self.mean[positions] @ own)
        span = self.candidates.line_spans.get(int(positions[0]))
        if span is not None and len(positions) == 1:
            number = rounded_line(float(own[0]), span, digits)
            return Line(
                column=column,
                knots=knots,
                heights=np.array([0.0, number]),
                zero=0,
                average=average,
            )
        zero = self._point_of_zero(column, knots)
        line = Line(
            column=column,
            knots=knots,
            heights=rounded(heights - heights[zero], digits),
            zero=zero,
            average=average - float(heights[zero]),
        )
        return line.without_idle_knots()

    def _point_of_zero(self, column: int, knots: FloatArray) -> int:
        """Which point of a line is 0.

        It is the first of values with names, else the end on the larger side of the
        data, or the point in the middle of a line that bends.
        """
        scaling = self.candidates.base.scaling
        if scaling is None or self.candidates.has_names[column]:
            return 0
        low, high = scaling.values[column, [0, -1]]
        values = low * (1 - knots) + high * knots
        if len(values) == 2:
            middle = self._percentile(column, float(values[0] / 2 + values[1] / 2))
            return int(middle < LOW_SIDE_PERCENTILE)
        percentiles = [self._percentile(column, value) for value in values.tolist()]
        return int(np.abs(np.array(percentiles) - 0.5).argmin())

    def _percentile(self, column: int, value: float) -> float:
        """Where a value lies among those of its column, from 0 to 1."""
        knots = self._knots.get(column)
        if knots is None:
            quantiles = np.asarray(self.candidates.base.quantiles, dtype=np.float64)
            knots = percentile_knots(quantiles[column])
            self._knots[column] = knots
        return interpolated(value, *knots)


def _with_terms(
    system: FuzzySystem, numbers: dict[Ramp, dict[int, float]], n_labels: int
) -> FuzzySystem:
    """A system with some ramps, from their numbers by label."""
    ramps = sorted(numbers)
    coef = np.zeros((len(ramps), n_labels))
    for p, ramp in enumerate(ramps):
        for label, number in numbers[ramp].items():
            coef[p, label] = number
    table = np.array(ramps, dtype=np.float64).reshape(-1, 4)
    terms = Terms(
        feature=table[:, 0].astype(np.intp),
        low=table[:, 1].copy(),
        high=table[:, 2].copy(),
        mean=table[:, 3].copy(),
    )
    return replace(system, terms=terms, term_coef=coef)


def linear_system(
    candidates: Candidates, coef: Array, mean: Array, rates: Array
) -> FuzzySystem:
    """The system of linear terms with rounded numbers, one term per feature.

    Parameters
    ----------
    candidates : Candidates
    coef : (C, L)
        Numbers of the features.
    mean : (C,)
        Means of the features.
    rates : (L,)
        Mean scores.
    """
    digits = [digits_of(column) for column in coef.T]
    columns = [rounded(numbers, n) for numbers, n in zip(coef.T, digits, strict=True)]
    term_coef = np.stack(columns, axis=1)
    none = candidates.centers
    return replace(
        candidates.base,
        terms=replace(candidates.terms, mean=mean),
        term_coef=term_coef,
        intercept=rates,
        centers=none,
        widths=candidates.widths,
        coef=np.zeros((0, 1, coef.shape[1])),
        prototypes=none,
        rule_weights=np.zeros(0),
    )
