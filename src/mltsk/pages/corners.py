"""The few points of a curve that a drawn line needs to pass near all of them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Array

CURVE_TOLERANCE = 0.2  # pixels by which a drawn line may miss a point of a curve
# Square pixels between two steps of a line that goes straight on.
MAX_STRAIGHT_AREA = 1e-9
MAX_LOOPED_POINTS = 30  # of a stretch that a loop is faster for than arrays


def simplified(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return those points that a line needs to pass near all."""
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    # few points are left of steps and of straight lines, in a tenth of the time
    turns = _turns(x, y)
    corners = turns[_corners(x[turns], y[turns])]
    return x[corners], y[corners]


def _turns(x: Array, y: Array) -> NDArray[np.intp]:
    """Return the ends of a line, and where it does not go straight on."""
    moves = np.ones(len(x), dtype=bool)
    moves[1:] = (np.diff(x) != 0) | (np.diff(y) != 0)
    moved = np.flatnonzero(moves)
    dx = np.diff(x[moved])
    dy = np.diff(y[moved])
    turns = np.ones(len(moved), dtype=bool)
    aside = np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:])
    ahead = dx[:-1] * dx[1:] + dy[:-1] * dy[1:]
    turns[1:-1] = (aside > MAX_STRAIGHT_AREA) | (ahead < 0)
    return moved[turns]


def _corners(x: Array, y: Array) -> list[int]:
    """Return the points that a line needs to pass near all (Douglas and Peucker)."""
    corners = {0, len(x) - 1}
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    open_stretches = [(0, len(x) - 1)]
    while open_stretches:
        first, last = open_stretches.pop()
        stretch = slice(first, last + 1)
        if last - first < 2:  # no point between them
            continue
        if last - first < MAX_LOOPED_POINTS:
            inner, distance = farthest_of_few(points[stretch])
        else:
            inner, distance = farthest_inner(x[stretch], y[stretch])
        if distance > CURVE_TOLERANCE:
            farthest = first + inner
            corners.add(farthest)
            open_stretches += [(first, farthest), (farthest, last)]
    return sorted(corners)


def farthest_inner(x: Array, y: Array) -> tuple[int, float]:
    """Return the inner point farthest from the line between the ends, and how far."""
    dx = x[-1] - x[0]
    dy = y[-1] - y[0]
    from_x = x[1:-1] - x[0]
    from_y = y[1:-1] - y[0]
    if dx or dy:
        distances = np.abs(dx * from_y - dy * from_x) / np.hypot(dx, dy)
    else:
        distances = np.hypot(from_x, from_y)
    inner = int(distances.argmax())
    return inner + 1, float(distances[inner])


def farthest_of_few(points: list[tuple[float, float]]) -> tuple[int, float]:
    """What `farthest_inner` returns, to the last bit, in less time for few points."""
    x0, y0 = points[0]
    dx = points[-1][0] - x0
    dy = points[-1][1] - y0
    length = float(np.hypot(dx, dy))
    farthest = 1
    largest = -1.0
    for i, (x, y) in enumerate(points[1:-1], start=1):
        if length:
            distance = abs(dx * (y - y0) - dy * (x - x0)) / length
        else:
            distance = float(np.hypot(x - x0, y - y0))
        if distance > largest:
            farthest = i
            largest = distance
    return farthest, largest
