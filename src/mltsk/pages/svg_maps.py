"""Maps of cells as small pictures: correlations, pairs of features, missing cells."""

from collections.abc import Sequence

import numpy as np

from ..core.arrays import Array
from ..explain.pairs import FeaturePair
from ..explain.plot_pairs import HARDLY_ANY_DATA
from ..explain.wording import shortened
from . import svg_marks as draw

MAX_LARGE_CELLS = 15  # labels whose map has room for large cells
STRONG_CORRELATION = 0.6  # and beyond: the darkest cell
MINUS = "−"  # as long as a plus sign
# A heat map: its width, the room for values at its left, and the height of a cell.
HEAT_WIDTH = 320.0
HEAT_LEFT = 80.0
HEAT_CELL = 28.0
HEAT_TOP = 16.0
# The strongest cell has so much of its colour: with more, numbers have a contrast of
# less than 4.5 in dark mode.
MAX_HEAT_OPACITY = 0.5
CHARACTER_WIDTH = 5.6  # of the values of a heat map


def gaps(title: str, missing: Array) -> str:
    """Draw where cells of a column are missing, darker where more are.

    ``missing`` has the share of missing cells in each part of the rows, from the first
    rows, at the left, to the last.
    """
    levels = np.ceil(4 * missing).astype(int)
    marks = [draw.bar(0, 0, len(missing), 8, "track")]
    for shade in (1, 2, 3, 4):
        cells = [f"M{i} 0h1v8h-1z" for i in np.flatnonzero(levels == shade)]
        if cells:
            marks.append(f'<path class="gap-{shade}" d="{"".join(cells)}"/>')
    size = (len(missing), 8)
    return draw.picture("strip", size, title, marks, ' preserveAspectRatio="none"')


def together(title: str, names: Sequence[str], C: Array) -> str:
    """Draw correlations ``C`` (L, L) of labels, below the diagonal."""
    L = len(names)
    is_large = L <= MAX_LARGE_CELLS
    cell = 20.0 if is_large else 14.0
    left = 118.0
    marks = []
    for i in range(L):
        name = shortened(names[i], 18)
        marks.append(draw.text(left - 4, cell * (i + 0.5) + 3, name, "end"))
        for j in range(i):
            kind = _correlation_class(C[i, j])
            x = left + cell * j + 1
            marks.append(draw.bar(x, cell * i + 1, cell - 2, cell - 2, kind))
    for j in range(L - 1):
        name = shortened(names[j], 18)
        x = left + cell * (j + 0.5) + 3
        marks.append(draw.text(x, cell * L + 5, name, "end", turned=True))
    kind = "together few" if is_large else "together many"
    width = 420 if is_large else 690
    return draw.picture(kind, (width, cell * L + 120), title, marks)


def heat_map(pair: FeaturePair, j: int, reach: float) -> str:
    """Draw what both values of a pair add to label j, larger values up and right.

    ``reach`` is the height that has the full colour. Cells with hardly any data are
    dashed.
    """
    down, across = pair.axes
    heights = pair.surface[:, :, j]
    written = pair.written(j)
    width = (HEAT_WIDTH - HEAT_LEFT) / len(across)
    bottom = HEAT_TOP + HEAT_CELL * len(down)
    marks = [draw.text(0, 10, f"↑ {shortened(down.title, 60)}", "start", kind="axis")]
    for a, tick in enumerate(down.ticks):
        y = bottom - HEAT_CELL * (a + 1)
        marks += _tick(HEAT_LEFT - 5, y + HEAT_CELL / 2 + 3, tick, HEAT_LEFT, "end")
        for b in range(len(across)):
            x = HEAT_LEFT + width * b
            marks.append(_heat_cell(x, y, width, heights[a, b] / reach))
            if pair.shares[a, b] < HARDLY_ANY_DATA:
                marks.append(draw.bar(x + 2, y + 2, width - 4, HEAT_CELL - 4, "rare"))
            words = written[a][b].replace("-", MINUS)
            marks.append(
                draw.text(x + width / 2, y + HEAT_CELL / 2 + 3, words, kind="number")
            )
    for b, tick in enumerate(across.ticks):
        marks += _tick(
            HEAT_LEFT + width * (b + 0.5), bottom + 16, tick, width, "middle"
        )
    title = f"{shortened(across.title, 60)} →"
    marks.append(draw.text(HEAT_WIDTH, bottom + 36, title, "end", kind="axis"))
    size = (HEAT_WIDTH, bottom + 42)
    return draw.picture("heat", size, f"{pair.labels[j]} by {pair.title}", marks)


def _heat_cell(x: float, y: float, width: float, share: float) -> str:
    """Return a cell whose height is this share of the largest, up or down."""
    kind = "fall" if share < 0 else "rise"
    opacity = MAX_HEAT_OPACITY * min(abs(share), 1.0)
    cell = draw.bar(x + 1, y + 1, width - 2, HEAT_CELL - 2, kind)
    return cell.replace("/>", f' fill-opacity="{opacity:.2f}"/>')


def _tick(x: float, y: float, words: str, width: float, anchor: str) -> list[str]:
    """Return a value next to a row or under a column, on two lines if it is long."""
    most = int(width / CHARACTER_WIDTH)
    first, separator, second = words.partition(" or ")
    if len(words) <= most or not separator:
        return [draw.text(x, y, shortened(words, most), anchor)]
    lines = (shortened(first, most), f"or {second}")
    return [draw.text(x, y - 5 + 10 * i, line, anchor) for i, line in enumerate(lines)]


def _correlation_class(correlation: float) -> str:
    """Return the classes of a cell: which way it goes, and one of four strengths."""
    if not np.isfinite(correlation):
        return "track"
    level = int(np.rint(min(4 * abs(correlation) / STRONG_CORRELATION, 4)))
    if level == 0:
        return "track"
    direction = "rise" if correlation > 0 else "fall"
    return f"{direction} level-{level}"
