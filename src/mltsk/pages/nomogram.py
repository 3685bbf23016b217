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
from ..explain.wording import exactly, name, shortened
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
MAX_MARK = 24  # letters of a line
MAX_LINES = 4  # of words at one place
POINT_TICKS = 21  # on the scale of points, at most
CHANCE_TICKS = 12  # on the scale of totals, at most: "99.9 %" has room between two


class Mark(NamedTuple):
    """A mark at a place ``x`` along a line; ``points`` are its.

    Its words are on a level above the line, around ``middle``, which differs from ``x``
    at the edge of the picture. ``stem`` is the level that the mark reaches up to: the
    lowest one with words of the same place.
    """

    x: float
    text: str
    points: int
    level: int
    middle: float
    stem: int = 0


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
        feature = shortened(item.name, MAX_NAME)
        end = LEFT + item.most * per_point
        x = LEFT + item.missing * per_point
        missing = Mark(x, MISSING, item.missing, level=0, middle=x)
        axes.append(
            Axis(feature, y, start=LEFT, stop=end, marks=marks, missing=missing)
        )
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
    marks = []
    for n in ticks:
        x = LEFT + n * per_number
        marks.append(Mark(x, str(n), n, level=0, middle=x))
    return Axis(name, y, start=LEFT, stop=RIGHT, marks=marks)


def _chances(sheet: PointsSheet, y: float, per_total: float) -> Axis:
    """The probabilities of the totals that the line above names."""
    ticks = totals_on_axis(len(sheet.probabilities) - 1, CHANCE_TICKS)
    marks = []
    for total in ticks:
        text = f"{percent_text(sheet.probabilities[total])} %"
        x = LEFT + total * per_total
        marks.append(Mark(x, text, total, level=0, middle=x))
    return Axis("probability", y, start=LEFT, stop=RIGHT, marks=marks)


def _findings(item: PointsItem) -> list[tuple[int, list[str]]]:
    """What stands at which points: findings with the same points, in lines of text."""
    findings: dict[int, list[str]] = {}
    for text, points in _short_choices(item):
        findings.setdefault(points, []).append(text)
    return [(points, _lines_of(findings[points])) for points in sorted(findings)]


def _short_choices(item: PointsItem) -> list[tuple[str, int]]:
    """Ranges in signs, or values, and their points."""
    *choices, _ = item.choices()
    if item.values or not item.cuts:
        return choices
    inner = [text.replace(" to below ", " to ") for text in item.ranges()[1:-1]]
    ends = (f"< {exactly(item.cuts[0])}", f"≥ {exactly(item.cuts[-1])}")
    return list(zip([ends[0], *inner, ends[1]], item.points, strict=True))


def _lines_of(texts: list[str]) -> list[str]:
    """Texts in a few lines of at most `MAX_MARK` letters, cut where there are more.

    >>> _lines_of(["placebo", "any other value"])
    ['placebo, any other value']
    """
    lines = [shortened(texts[0], MAX_MARK)]
    for text in texts[1:]:
        longer = f"{lines[-1]}, {name(text)}"
        if len(longer) <= MAX_MARK:
            lines[-1] = longer
        else:
            lines.append(shortened(text, MAX_MARK))
    n_more = len(lines) - MAX_LINES
    if n_more <= 0:
        return lines
    return [*lines[: MAX_LINES - 1], "more: see the table"]


def _placed(findings: list[tuple[int, list[str]]], per_point: float) -> list[Mark]:
    """Findings at their points, each line on a level on which it touches no other.

    The lowest level begins where the name of the feature ends.
    """
    marks: list[Mark] = []
    ends = [NAMES]
    for points, lines in findings:
        x = LEFT + points * per_point
        placed: list[Mark] = []
        for text in reversed(lines):
            half = CHARACTER * len(text) / 2
            middle = min(x, WIDTH - half)
            lowest = placed[-1].level + 1 if placed else 0
            level = _free_level(ends, middle - half, lowest)
            ends[level] = middle + half
            for below in range(level):  # the stem of the mark goes through these
                ends[below] = max(ends[below], x)
            stem = placed[0].level if placed else level
            placed.append(Mark(x, text, points, level=level, middle=middle, stem=stem))
        marks += placed
    return marks


def _free_level(ends: list[float], start: float, lowest: int) -> int:
    """The first level from ``lowest`` on that is free from ``start`` on.

    There is a new one if none is.
    """
    for level in range(lowest, len(ends)):
        if ends[level] + GAP <= start:
            return level
    while len(ends) <= lowest:
        ends.append(0.0)
    if ends[-1] > 0:
        ends.append(0.0)
    return len(ends) - 1
