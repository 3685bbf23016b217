"""Mean ranks of methods on a line, and which of them do not differ: the picture of a critical difference.

Everything is laid out in inches, so that text keeps its distance whatever the number of methods: a ruler of the
critical difference, the scale from k (left) to 1 (right, best), bars, and below them a row per pair of names, the worse
half of the methods on the left and the better on the right. The names nearest the ends of the scale come first: then
no two lines cross.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

INSTALL = 'pip install "mltsk[report]"'
_FONT = 10.0  # points, in a figure of our own
_SCALE = 4.4  # inches of the scale, at least
_MARGIN = 0.08  # inches around it
_TITLE = 0.3  # inches of a title
# Shares of the scale: bars closer than this get rows of their own, and reach beyond the methods at their ends.
_APART, _OVERHANG = 0.06, 0.01


@dataclass(frozen=True)
class _Layout:
    """Sizes in inches, the font in points; y runs down from 0 at the top."""

    width: float
    font: float
    left: float  # where the scale begins and ends: names have the rest
    right: float
    bars: int
    rows: int

    @property
    def line(self) -> float:
        return 1.55 * self.font / 72

    @property
    def scale_y(self) -> float:
        return 2.4 * self.line

    @property
    def bar_step(self) -> float:
        return 0.62 * self.line

    @property
    def first_row(self) -> float:
        return self.scale_y + self.bar_step * self.bars + 1.1 * self.line

    @property
    def height(self) -> float:
        return self.first_row + self.line * (self.rows - 0.35)

    def x(self, rank: FloatArray | float, k: int) -> Any:
        """Place of a mean rank on the scale."""
        return self.left + (k - rank) / (k - 1) * (self.right - self.left)


def cliques(ranks: FloatArray, critical_difference: float) -> tuple[tuple[int, ...], ...]:
    """Largest sets of two or more methods less than the critical difference apart, positions by rank.

    Examples
    --------
    >>> cliques(np.array([1.0, 4.0, 1.5, 2.4]), 1.2)
    ((0, 2), (2, 3))
    """
    order = np.argsort(ranks, kind="stable")
    spread = ranks[order]
    ends = [int(np.sum(spread - start < critical_difference)) for start in spread]
    kept = [(i, end) for i, end in enumerate(ends) if end - i > 1 and (i == 0 or end > ends[i - 1])]
    return tuple(tuple(order[i:end].tolist()) for i, end in kept)


def draw_ranks(
    ranks: FloatArray,
    names: Sequence[str],
    critical_difference: float,
    *,
    control: int | None,
    title: str | None,
    color: str,
    ax: Any,
) -> Any:
    """Draw the diagram on ``ax``, or on a new figure that fits it; the figure.

    With a ``control`` one band marks what does not differ from it; without one, bars join what does not differ.
    """
    bars = _bars(ranks, critical_difference, control)
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(names, ranks, strict=True)]
    ax, layout = _axes(ax, labels, len(ranks), 1 + max((row for *_, row in bars), default=-1), _TITLE if title else 0)
    ax.set_axis_off()
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    if title is not None:
        ax.set_title(title, fontsize=1.1 * layout.font, parse_math=False)
    _draw_scale(ax, layout, len(ranks))
    _draw_ruler(ax, layout, len(ranks), critical_difference)
    _draw_bars(ax, layout, ranks, bars, 0.0 if control is not None else _OVERHANG, color)
    _draw_names(ax, layout, ranks, labels, control, color)
    return ax.figure


def _bars(ranks: FloatArray, cd: float, control: int | None) -> list[tuple[float, float, int]]:
    """(worst rank, best rank, row) of each bar; bars that would touch get rows of their own."""
    if control is not None:
        return [(min(ranks[control] + cd, len(ranks)), max(ranks[control] - cd, 1.0), 0)]
    bars: list[tuple[float, float, int]] = []
    free: list[float] = []  # worst rank drawn so far, in every row
    for group in cliques(ranks, cd):
        best, worst = float(ranks[group[0]]), float(ranks[group[-1]])
        row = next((i for i, taken in enumerate(free) if best > taken + _APART * (len(ranks) - 1)), len(free))
        free[row : row + 1] = [worst]
        bars.append((worst, best, row))
    return bars


def _axes(ax: Any, labels: Sequence[str], k: int, bars: int, head: float) -> tuple[Any, _Layout]:
    """Axes that fill a new figure, or the given ones with the font as small as their size demands."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(INSTALL) from None
    gap, rows = 0.25, (k + 1) // 2
    text = _text_width(labels) + gap
    if ax is None:
        layout = _layout(2 * text + max(_SCALE, 0.3 * (k - 1)), _FONT, text, bars, rows)
        size = np.array([layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN + head])
        figure = Figure(figsize=tuple(size))
        return figure.add_axes((*(_MARGIN / size), *([layout.width, layout.height] / size))), layout
    box = ax.get_window_extent()
    width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
    shrink = min(1.0, 0.32 * width / text, height / _layout(width, _FONT, text, bars, rows).height)
    return ax, _layout(width, shrink * _FONT, shrink * text, bars, rows)


def _layout(width: float, font: float, text: float, bars: int, rows: int) -> _Layout:
    return _Layout(width, font, text, width - text, bars, rows)


def _text_width(labels: Sequence[str]) -> float:
    """Inches of the longest label in bold at `_FONT`."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight="bold")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawing will say so
        paths = [TextPath((0, 0), label.replace("$", r"\$"), size=_FONT, prop=font) for label in labels]
    # Control points enclose their curve; exact extents took three quarters of the time of a diagram.
    return max(float(path.vertices[:, 0].max()) for path in paths) / 72


def _draw_scale(ax: Any, layout: _Layout, k: int) -> None:
    from matplotlib import rcParams

    ink, y, line = rcParams["text.color"], layout.scale_y, layout.line
    step = int(np.ceil(1.6 * line / ((layout.right - layout.left) / (k - 1))))
    ax.plot([layout.left, layout.right], [y, y], color=ink, lw=0.1 * layout.font, solid_capstyle="butt")
    for rank in np.arange(1, k + 0.5, 0.5):
        major = rank % 1 == 0 and (rank - 1) % step == 0
        x = layout.x(rank, k)
        ax.plot([x, x], [y, y - (0.35 if major else 0.18) * line], color=ink, lw=0.08 * layout.font)
        if major:
            ax.text(x, y - 0.5 * line, f"{rank:.0f}", ha="center", va="bottom", fontsize=layout.font)


def _draw_ruler(ax: Any, layout: _Layout, k: int, critical_difference: float) -> None:
    """The critical difference to scale; in words alone where it is longer than the scale."""
    from matplotlib import rcParams

    ink, line, text = rcParams["text.color"], layout.line, f"CD = {critical_difference:.2f}"
    length = critical_difference / (k - 1) * (layout.right - layout.left)
    if critical_difference > k - 1:
        ax.text(layout.left, 0.65 * line, f"{text}, longer than the scale", va="center", fontsize=layout.font)
        return
    x = np.array([layout.left, layout.left + length])
    ax.plot(x, [0.65 * line] * 2, color=ink, lw=0.1 * layout.font)
    for end in x:
        ax.plot([end, end], [0.5 * line, 0.8 * line], color=ink, lw=0.1 * layout.font)
    ax.text(x[1] + 0.4 * line, 0.65 * line, text, ha="left", va="center", fontsize=layout.font)


def _draw_bars(
    ax: Any, layout: _Layout, ranks: FloatArray, bars: Sequence[tuple[float, float, int]], overhang: float, color: str
) -> None:
    k = len(ranks)
    for worst, best, row in bars:
        # A bar that holds methods reaches a little beyond them, but never to one that it does not hold.
        outside = ranks[(ranks < best) | (ranks > worst)]
        reach = [min(overhang * (k - 1), np.abs(outside - end).min(initial=k) / 3) for end in (worst, best)]
        ends = layout.x(np.array([worst + reach[0], best - reach[1]]), k)
        y = layout.scale_y + layout.bar_step * (row + 1)
        ax.plot(ends, [y, y], color=color, lw=0.34 * layout.font, solid_capstyle="butt", zorder=3, gid="bar")


def _draw_names(
    ax: Any, layout: _Layout, ranks: FloatArray, labels: Sequence[str], control: int | None, color: str
) -> None:
    from matplotlib import rcParams

    order = np.argsort(-ranks, kind="stable")
    half = (len(order) + 1) // 2
    for place, method in enumerate(order):
        on_left = place < half
        row = place if on_left else len(order) - 1 - place
        x, y = layout.x(ranks[method], len(ranks)), layout.first_row + layout.line * row
        end = layout.left - 0.1 if on_left else layout.right + 0.1
        chosen = control == method
        ink = color if chosen else rcParams["text.color"]
        width, weight, above = (0.16, "bold", 4) if chosen else (0.08, "normal", 2)
        ax.plot([x, x, end], [layout.scale_y, y, y], color=ink, lw=width * layout.font, zorder=above)
        side, shift = ("right", -0.06) if on_left else ("left", 0.06)
        style = {"ha": side, "va": "center", "fontsize": layout.font, "fontweight": weight}
        ax.text(end + shift, y, labels[method], parse_math=False, **style)
