"""Curves, bars and scales as small pictures, inline SVG made of `svg_marks`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Array
from ..core.interpolation import interpolated_by_shares
from ..explain.views import Curve
from ..explain.wording import number, shortened
from ..frames import MISSING
from ..metrics.curves import Groups
from . import svg_marks as draw
from .corners import simplified

MAX_CURVE_POINTS = 1000  # that are looked at
MAX_DRAWN_VALUES = 6  # names of a nominal feature

# The square in which curves from 0 to 1 are drawn.
SQUARE_LEFT = 34.0
SQUARE_TOP = 8.0
SQUARE_SIDE = 158.0
PERCENT_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25)  # between ticks of thresholds
# Words along an axis by their places, shares of its length.
Ticks: TypeAlias = Mapping[float, str]
FROM_0_TO_1: Ticks = {0.0: "0", 0.5: "0.5", 1.0: "1"}


def curve(
    title: str,
    axes: tuple[str, str],
    points: tuple[Array, Array],
    guess: list[float],
    at: tuple[float, float] | None,
) -> str:
    """Draw a line over shares.

    Parameters
    ----------
    title : str
    axes : (str, str)
        What is drawn across and up.
    points : (array of shape (n,), array of shape (n,))
    guess : list of two floats
        Heights of the line of guessing, at its ends.
    at : (float, float) or None
        Where the threshold is, if there is one.
    """
    marks = [
        draw.path(*_placed([0, 1], guess), "guide"),
        draw.path(*_placed(*points), "curve"),
    ]
    if at is not None:
        x, y = _placed([at[0]], [at[1]])
        marks.append(draw.dot(x[0], y[0], "mark", radius=4))
    return _square(title, axes, marks)


def calibration(title: str, groups: Groups) -> str:
    """Draw forecasts against what came, a dot per group of rows with its interval."""
    x, y = _placed(groups.forecast, groups.observed)
    _, low = _placed(groups.forecast, groups.low)
    _, high = _placed(groups.forecast, groups.high)
    marks = [draw.path(*_placed([0, 1], [0, 1]), "guide")]
    for place, bottom, top in zip(x, low, high, strict=True):
        marks.append(draw.line(place, bottom, place, top, "whisker"))
    for place, height in zip(x, y, strict=True):
        marks.append(draw.dot(place, height, "dot"))
    return _square(title, ("predicted probability", "share with the label"), marks)


def interval(title: str, value: tuple[float, float, float], guess: float) -> str:
    """Draw a value with its interval on a line from 0 to 1, and a tick for guessing."""
    middle, low, high = _along_ruler(np.clip(value, 0, 1))
    marks = [draw.line(low, 9, high, 9, "span"), draw.dot(middle, 9, "dot", radius=4)]
    return _ruler(title, guess, marks)


def compared(title: str, values: Mapping[str, float], guess: float) -> str:
    """Draw values of methods as dots on a line from 0 to 1, the first on top."""
    dots = []
    for rank, place in enumerate(_along_ruler(list(values.values())), start=1):
        radius = 4.5 if rank == 1 else 3.5
        dots.append(draw.dot(place, 9, f"series-{rank}", radius))
    return _ruler(title, guess, dots[::-1])


def share_bar(share: float) -> str:
    """Draw a share of one as a bar."""
    track = draw.bar(0, 2, 200, 6, "track")
    fill = draw.bar(0, 2, 200 * share, 6, "fill")
    return draw.picture("line", (200, 10), f"{share:.0%}", [track, fill])


def stacked_shares(title: str, shares: Array) -> str:
    """Draw shares of rows next to each other: found, missed, false alarms, others."""
    marks = [draw.bar(0, 0, 400, 14, "track")]
    starts = 400 * np.append(0.0, np.cumsum(shares))
    for i, kind in enumerate(("found", "missed", "alarm")):
        marks.append(draw.bar(starts[i], 0, starts[i + 1] - starts[i], 14, kind))
    stretched = ' preserveAspectRatio="none"'
    return draw.picture("stack", (400, 14), title, marks, stretched)


def decision_curve(
    title: str, *, thresholds: Array, model: Array, everybody: Array, at: float
) -> str:
    """Draw the net benefit over thresholds, with a tick at that of the model.

    ``model`` and ``everybody`` have the net benefit of acting on the model's word and
    of acting on all rows; acting on none has 0.
    """
    highest = max(float(model.max()), float(everybody.max()), 1e-6)
    lowest = -0.15 * highest
    end = float(thresholds[-1])

    def placed(x: Array, y: Array) -> tuple[Array, Array]:
        heights = (np.maximum(y, lowest) - lowest) / (highest - lowest)
        return _placed(x / end, heights)

    # "all" falls steeply: its line ends where it leaves the picture
    shown = everybody >= lowest
    marks = [
        draw.path(*placed(np.array([0.0, end]), np.zeros(2)), "guide"),
        draw.path(*placed(thresholds[shown], everybody[shown]), "curve line-2"),
        draw.path(*placed(thresholds, model), "curve"),
    ]
    if at <= end:
        x, _ = placed(np.array([at]), np.zeros(1))
        marks.append(
            draw.line(x[0], SQUARE_TOP, x[0], SQUARE_TOP + SQUARE_SIDE, "tick")
        )
    step = next((step for step in PERCENT_STEPS if 100 * end <= 4 * step), 25)
    percents = np.arange(0, 100 * end + 1e-9, step)
    across = {p / 100 / end: f"{p:.2g} %" for p in percents}
    up = {-lowest / (highest - lowest): "0", 1.0: number(100 * highest)}
    axes = ("threshold (probability)", "net benefit per 100 rows")
    return _square(title, axes, marks, (across, up))


def effect(amount: float, most: float) -> str:
    """Draw how much a statement says as a bar, in the colour of more or of less."""
    size = 60 * min(abs(amount) / max(most, 1e-300), 1.0)
    bar = draw.bar(60 - size, 1, size, 6, "rise" if amount > 0 else "fall")
    head = 'class="pic effect" viewBox="0 0 60 8" aria-hidden="true"'
    return f"<svg {head}>{bar}</svg>"


def shape(whole: Curve, simple: Curve | None, reach: float) -> str:
    """Draw what a feature adds to a label's log-odds over its values.

    ``whole`` is the curve of the whole model, ``simple`` that of the short one, if it
    has one. ``reach`` is the amount that the picture has room for, up and down.
    """
    title = f"{whole.label} by {whole.feature}"
    if whole.categories:
        return draw.picture("shape", (200, 116), title, _named_values(whole, reach))
    start = float(whole.x[0])
    end = float(whole.x[-1])

    def across(values: Array) -> Array:
        return 6 + 188 * (values - start) / max(end - start, 1e-300)

    def height(amounts: ArrayLike) -> Array:
        return 50 - 42 * np.clip(np.asarray(amounts) / reach, -1, 1)

    x, y = simplified(across(whole.x), height(whole.y))
    marks = areas(x, y)
    marks.append(draw.line(6, 50, 194, 50, "guide"))
    marks.append(draw.drawn(x, y, "curve"))
    if simple is not None:
        places, amounts = _within(simple, start, end, whole.quantiles)
        marks.append(draw.path(across(places), height(amounts), "curve dashed"))
    for tick in across(whole.quantiles[1:-1]):
        if 6 <= tick <= 194:
            marks.append(draw.line(tick, 96, tick, 101, "tick"))
    if whole.missing is not None:
        marks.append(draw.dot(197, float(height(whole.missing)), "mark"))
    size = max(abs(start), abs(end))
    marks.append(draw.text(6, 112, number(start, size), "start"))
    marks.append(draw.text(194, 112, number(end, size), "end"))
    return draw.picture("shape", (200, 116), title, marks)


def areas(x: Array, y: Array) -> list[str]:
    """Return the areas between a line and the height of nothing, 50, on both sides."""
    crosses = np.flatnonzero((y[:-1] - 50) * (y[1:] - 50) < 0)
    shares = (50 - y[crosses]) / (y[crosses + 1] - y[crosses])
    places = x[crosses] + shares * (x[crosses + 1] - x[crosses])
    x = np.insert(x, crosses + 1, places)
    y = np.insert(y, crosses + 1, 50.0)
    areas = []
    for side, kind in (
        (np.minimum(y, 50), "rise area"),
        (np.maximum(y, 50), "fall area"),
    ):
        if (side != 50).any():
            back = f"L{x[-1]:.1f} 50L{x[0]:.1f} 50Z"  # to where the area begins
            areas.append(draw.path(x, side, kind, back))
    return areas


def _within(
    curve: Curve, start: float, end: float, quantiles: Array
) -> tuple[Array, Array]:
    """Values from a start to an end, and what a curve adds there, 0 on average.

    A short model adds nothing at one end: to be compared with the whole model, its
    curve is moved by what it adds on average over the ``quantiles`` of the data.
    """
    inner = curve.x[(curve.x > start) & (curve.x < end)]
    places = np.concatenate([[start], inner, [end]])
    average = interpolated_by_shares(quantiles, curve.x, curve.y).mean()
    return places, interpolated_by_shares(places, curve.x, curve.y) - average


def sizes(title: str, counts: Array, values: Mapping[str, Array], marked: int) -> str:
    """Draw average precision against statements per label, with a mark at one size.

    ``values`` has a line for each way to take the mean, as long as ``counts``.
    """
    every = np.concatenate(list(values.values()))
    low = np.floor(20 * every.min()) / 20
    high = np.ceil(20 * every.max()) / 20 + 1e-9
    x = 34 + 300 * (counts - counts[0]) / max(counts[-1] - counts[0], 1)

    def height(precision: ArrayLike) -> Array:
        return 150 - 138 * (np.asarray(precision) - low) / (high - low)

    mark = float(np.interp(marked, counts, x))
    marks = [
        draw.bar(34, 12, 300, 138, "frame"),
        draw.line(mark, 12, mark, 150, "tick"),
        draw.text(mark, 8, f"{marked} statements"),
    ]
    for rank, (words, line) in enumerate(values.items(), start=1):
        y = height(line)
        marks.append(draw.path(x, y, f"curve line-{rank}"))
        marks.append(draw.text(x[-1] + 4, float(y[-1]) + 3, words, "start"))
    for level in (low, (low + high) / 2, high):
        marks.append(draw.text(30, float(height(level)) + 3, f"{level:.2f}", "end"))
    for size in (1, 10, 20, 30, 40, 50):
        if size <= counts[-1]:
            marks.append(draw.text(float(np.interp(size, counts, x)), 163, str(size)))
    marks.append(draw.text(184, 178, "statements per label"))
    return draw.picture("sizes", (430, 182), title, marks)


def learning(title: str, rows: Sequence[int], values: Mapping[str, Array]) -> str:
    """Draw figures of models against the rows that they learned from.

    Each doubling of the rows has the same length. ``values`` has a line per figure.
    """
    every = np.concatenate(list(values.values()))
    low = np.floor(10 * every.min()) / 10
    high = np.ceil(10 * every.max()) / 10 + 1e-9
    doublings = np.log2(np.asarray(rows) / rows[0])
    x = 44 + 280 * doublings / max(float(doublings[-1]), 1e-9)

    def height(figures: ArrayLike) -> Array:
        return 130 - 118 * (np.asarray(figures) - low) / (high - low)

    marks = [draw.bar(34, 12, 300, 118, "frame")]
    for rank, (words, line) in enumerate(values.items(), start=1):
        y = height(line)
        marks.append(draw.path(x, y, f"curve line-{rank}"))
        for place, level in zip(x, y, strict=True):
            marks.append(draw.dot(place, level, f"series-{rank}"))
        end = f"mean {words} {line[-1]:.2f}"
        marks.append(draw.text(x[-1] + 14, float(y[-1]) + 3, end, "start"))
    for level in (low, high):
        marks.append(draw.text(30, float(height(level)) + 3, f"{level:.1f}", "end"))
    for place, count in zip(x, rows, strict=True):
        marks.append(draw.text(place, 143, f"{count:,}"))
    marks.append(draw.text(184, 158, "rows learned from"))
    return draw.picture("sizes", (430, 162), title, marks)


def _named_values(curve: Curve, reach: float) -> list[str]:
    """Return bars of what named values add, the largest first, the rest counted."""
    amounts = list(zip(curve.categories.values(), curve.y.tolist(), strict=True))
    if curve.missing is not None:
        amounts.append((MISSING, curve.missing))
    amounts.sort(key=lambda pair: -abs(pair[1]))
    shown = amounts[:MAX_DRAWN_VALUES]
    marks = [draw.line(142, 4, 142, 8 + 16 * len(shown), "guide")]
    for i, (word, amount) in enumerate(shown):
        size = 54 * min(abs(amount) / reach, 1.0)
        if amount > 0:
            marks.append(draw.bar(142, 8 + 16 * i, size, 9, "rise"))
        else:
            marks.append(draw.bar(142 - size, 8 + 16 * i, size, 9, "fall"))
        marks.append(draw.text(82, 16 + 16 * i, shortened(word, 16), "end"))
    n_more = len(amounts) - len(shown)
    if n_more:
        marks.append(draw.text(82, 16 + 16 * len(shown), f"and {n_more} more", "end"))
    return marks


def _square(
    title: str,
    axes: tuple[str, str],
    marks: Iterable[str],
    ticks: tuple[Ticks, Ticks] = (FROM_0_TO_1, FROM_0_TO_1),
) -> str:
    """Draw marks in a square with words for both axes, and words along them."""
    bottom = SQUARE_TOP + SQUARE_SIDE
    frame = [draw.bar(SQUARE_LEFT, SQUARE_TOP, SQUARE_SIDE, SQUARE_SIDE, "frame")]
    for share, words in ticks[0].items():
        frame.append(draw.text(SQUARE_LEFT + share * SQUARE_SIDE, bottom + 12, words))
    for share, words in ticks[1].items():
        y = SQUARE_TOP + SQUARE_SIDE * (1 - share)
        frame.append(draw.text(SQUARE_LEFT - 5, y + 3, words, "end"))
    across, up = axes
    frame.append(draw.text(SQUARE_LEFT + SQUARE_SIDE / 2, bottom + 25, across))
    frame.append(draw.text(10, SQUARE_TOP + SQUARE_SIDE / 2, up, turned=True))
    return draw.picture("square", (200, 196), title, [*frame, *marks])


def _placed(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return shares as places in the square; of many points some, evenly spread."""
    x = np.asarray(x)
    y = np.asarray(y)
    n_kept = min(len(x), MAX_CURVE_POINTS)
    kept = np.unique(np.linspace(0, len(x) - 1, n_kept).round().astype(int))
    across = SQUARE_LEFT + SQUARE_SIDE * x[kept]
    down = SQUARE_TOP + SQUARE_SIDE * (1 - y[kept])
    return across, down


def _along_ruler(values: ArrayLike) -> Array:
    """Return the places of values from 0 to 1 along a line."""
    return 4 + 192 * np.asarray(values, dtype=np.float64)


def _ruler(title: str, guess: float, marks: Iterable[str]) -> str:
    """Draw marks on a line from 0 to 1, with a tick at what guessing gets."""
    tick = 4 + 192 * guess
    guide = draw.line(4, 9, 196, 9, "guide")
    return draw.picture(
        "line", (200, 18), title, [guide, draw.line(tick, 3, tick, 15, "tick"), *marks]
    )
