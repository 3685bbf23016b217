"""Where the marks of a nomogram stand: plain places, which a template draws.

Every feature has a line along a common scale of points. Each finding stands at its
points, so that a ruler gives them; the last two lines turn their sum into a
probability.
"""

from typing import Any, NamedTuple

from ..explain.points import (
    PointsItem,
    PointsSheet,
    most_points,
    percent_text,
    totals_on_axis,
)
from ..explain.wording import exactly, shortened
from ..frames import MISSING

WIDTH = 700.0
NAMES = 150.0  # where names end
LEFT = 185.0
RIGHT = 670.0
CHARACTER = 5.3  # width of a letter of a mark
GAP = 6.0  # between two marks
LEVEL = 12.0  # height of a line of marks
AXIS_HEIGHT = 33.0
MAX_NAME = 26
MAX_MARK = 24  # letters
POINT_TICKS = 21  # on the scale of points, at most
CHANCE_TICKS = 14  # on the scale of totals, at most


class Mark(NamedTuple):
    """Words at a place ``x`` along a line, on a level above it; ``points`` are its."""

    x: float
    text: str
    points: int
    level: int


class Axis(NamedTuple):
    """A line at a height ``y`` with its marks; ``missing`` stands below the line."""

    name: str
    y: float
    start: float
    stop: float
    marks: list[Mark]
    missing: Mark | None = None


def nomogram(sheet: PointsSheet) -> dict[str, Any]:
    """The places of all marks of a sheet, in a picture of `WIDTH` units."""
    most = max((item.most for item in sheet.items), default=1)
    per_point = (RIGHT - LEFT) / most
    y = AXIS_HEIGHT - 6
    axes = [_scale("points", y, range(most + 1), per_point, POINT_TICKS)]
    for item in sheet.items:
        marks = _placed(_findings(item), per_point)
        n_levels = 1 + max(mark.level for mark in marks)
        y += AXIS_HEIGHT + LEVEL * (n_levels - 1)
        name = shortened(item.name, MAX_NAME)
        end = LEFT + item.most * per_point
        x = LEFT + item.missing * per_point
        missing = Mark(x, MISSING, item.missing, level=0)
        axes.append(Axis(name, y, start=LEFT, stop=end, marks=marks, missing=missing))
    total = most_points(sheet.items)
    per_total = (RIGHT - LEFT) / max(total, 1)
    y += AXIS_HEIGHT + 4
    axes.append(_scale("total points", y, range(total + 1), per_total, CHANCE_TICKS))
    y += AXIS_HEIGHT - 4
    axes.append(_chances(sheet, y, per_total))
    return {
        "axes": axes,
        "width": WIDTH,
        "height": y + 10,
        "level": LEVEL,
        "names": NAMES,
    }


def _scale(
    name: str, y: float, numbers: range, per_number: float, most_ticks: int
) -> Axis:
    """A line of whole numbers."""
    ticks = totals_on_axis(numbers[-1], most_ticks)
    marks = [Mark(LEFT + n * per_number, str(n), n, level=0) for n in ticks]
    return Axis(name, y, start=LEFT, stop=RIGHT, marks=marks)


def _chances(sheet: PointsSheet, y: float, per_total: float) -> Axis:
    """The probabilities of the totals that the line above names."""
    ticks = totals_on_axis(len(sheet.probabilities) - 1, CHANCE_TICKS)
    marks = []
    for total in ticks:
        text = f"{percent_text(sheet.probabilities[total])} %"
        marks.append(Mark(LEFT + total * per_total, text, total, level=0))
    return Axis("probability", y, start=LEFT, stop=RIGHT, marks=marks)


def _findings(item: PointsItem) -> list[tuple[int, str]]:
    """What stands at which points: findings with the same points stand together."""
    findings: dict[int, list[str]] = {}
    for text, points in zip(_short_texts(item), item.points, strict=True):
        findings.setdefault(points, []).append(text)
    return [(points, ", ".join(findings[points])) for points in sorted(findings)]


def _short_texts(item: PointsItem) -> list[str]:
    """Ranges in signs, or values."""
    if item.values:
        return list(item.values)
    if not item.cuts:
        return item.ranges()
    inner = [text.replace(" to below ", " to ") for text in item.ranges()[1:-1]]
    return [f"< {exactly(item.cuts[0])}", *inner, f"≥ {exactly(item.cuts[-1])}"]


def _placed(findings: list[tuple[int, str]], per_point: float) -> list[Mark]:
    """Findings at their points, on the first level on which they touch no other."""
    marks: list[Mark] = []
    ends: list[float] = []
    for points, text in findings:
        x = LEFT + points * per_point
        text = shortened(text, MAX_MARK)
        half = CHARACTER * len(text) / 2
        free = [level for level, end in enumerate(ends) if end + GAP <= x - half]
        level = free[0] if free else len(ends)
        if level == len(ends):
            ends.append(0.0)
        ends[level] = x + half
        marks.append(Mark(x, text, points, level))
    return marks
