"""Mean ranks of methods on a line, and which of them do not differ: the picture of a critical difference.

Everything is laid out in inches, so that text keeps its distance whatever the number of methods: a ruler of the
critical difference, the scale from k (left) to 1 (right, best), bars, and below them one row per pair of names, the
worse half of the methods on the left and the better on the right. The names nearest the ends of the scale come first:
then no two lines cross.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import optional

FloatArray = NDArray[np.float64]
Bar = tuple[float, float, int]  # worst rank, best rank, row

_FONT = 10.0  # points, in a figure of our own
_SCALE = 4.4  # inches of the scale, at least
_MARGIN = 0.08  # inches around it
_TITLE = 0.3  # inches of a title
# Shares of the scale: bars closer than this get rows of their own, and reach beyond the methods at their ends.
_APART, _OVERHANG = 0.06, 0.01


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
    ranks: FloatArray, names: Sequence[str], cd: float, *, control: int | None, title: str | None, color: str, ax: Any
) -> Any:
    """Draw the diagram on ``ax``, or on a new figure that fits it; the figure.

    With a ``control`` one band marks what does not differ from it by the critical difference ``cd``; without one, bars
    join what does not differ.
    """
    bars = _bars(ranks, cd, control)
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(names, ranks, strict=True)]
    diagram = _Diagram(ranks, labels, 1 + max((row for *_, row in bars), default=-1))
    diagram.fill_figure(_TITLE if title else 0) if ax is None else diagram.fit_into(ax)
    if title is not None:
        diagram.ax.set_title(title, fontsize=1.1 * diagram.font, parse_math=False)
    diagram.draw_scale()
    diagram.draw_ruler(cd)
    diagram.draw_bars(bars, 0.0 if control is not None else _OVERHANG, color)
    diagram.draw_names(control, color)
    return diagram.ax.figure


def _bars(ranks: FloatArray, cd: float, control: int | None) -> list[Bar]:
    """Bars; those that would touch get rows of their own."""
    if control is not None:
        return [(min(ranks[control] + cd, len(ranks)), max(ranks[control] - cd, 1.0), 0)]
    bars: list[Bar] = []
    free: list[float] = []  # worst rank drawn so far, in every row
    for group in cliques(ranks, cd):
        best, worst = float(ranks[group[0]]), float(ranks[group[-1]])
        row = next((i for i, taken in enumerate(free) if best > taken + _APART * (len(ranks) - 1)), len(free))
        free[row : row + 1] = [worst]
        bars.append((worst, best, row))
    return bars


class _Diagram:
    """Sizes in inches, the font in points; y runs down from 0 at the top."""

    def __init__(self, ranks: FloatArray, labels: Sequence[str], bar_rows: int) -> None:
        rcParams = optional("matplotlib", "report").rcParams
        self.new_figure: Any = optional("matplotlib.figure", "report").Figure
        self.ranks, self.labels, self.k, self.bar_rows = ranks, labels, len(ranks), bar_rows
        self.text, self.ink = _text_width(labels), str(rcParams["text.color"])

    def fill_figure(self, head: float) -> None:
        """Draw on axes that fill a new figure, but for ``head`` inches of a title."""
        self._lay_out(2 * self.text + max(_SCALE, 0.3 * (self.k - 1)), 1.0)
        size = np.array([self.width + 2 * _MARGIN, self.height + 2 * _MARGIN + head])
        place = (*(_MARGIN / size), *([self.width, self.height] / size))
        self._use(self.new_figure(figsize=tuple(size)).add_axes(place))

    def fit_into(self, ax: Any) -> None:
        """Draw on these axes, with the font as small as their size demands."""
        box = ax.get_window_extent()
        width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
        self._lay_out(width, 1.0)
        self._lay_out(width, min(1.0, 0.32 * width / self.text, height / self.height))
        self._use(ax)

    def _lay_out(self, width: float, shrink: float) -> None:
        """Names have the width of the longest on both sides, the scale what is between."""
        self.width, self.font = width, shrink * _FONT
        self.left, self.right = shrink * self.text, width - shrink * self.text
        self.line = 1.55 * self.font / 72
        self.scale_y, self.bar_step = 2.4 * self.line, 0.62 * self.line
        self.first_row = self.scale_y + self.bar_step * self.bar_rows + 1.1 * self.line
        self.height = self.first_row + self.line * ((self.k + 1) // 2 - 0.35)

    def _use(self, ax: Any) -> None:
        self.ax = ax
        ax.set_axis_off()
        ax.set_xlim(0, self.width)
        ax.set_ylim(self.height, 0)

    def _x(self, rank: Any) -> Any:
        """Place of a mean rank on the scale."""
        return self.left + (self.k - rank) / (self.k - 1) * (self.right - self.left)

    def _rule(self, x: Sequence[float], y: Sequence[float], width: float = 0.1, **more: Any) -> None:
        self.ax.plot(x, y, **{"color": self.ink, "lw": width * self.font, **more})

    def draw_scale(self) -> None:
        y, line = self.scale_y, self.line
        step = int(np.ceil(1.6 * line / ((self.right - self.left) / (self.k - 1))))
        self._rule([self.left, self.right], [y, y], solid_capstyle="butt")
        for rank in np.arange(1, self.k + 0.5, 0.5):
            major, x = rank % 1 == 0 and (rank - 1) % step == 0, self._x(rank)
            self._rule([x, x], [y, y - (0.35 if major else 0.18) * line], 0.08)
            if major:
                self.ax.text(x, y - 0.5 * line, f"{rank:.0f}", ha="center", va="bottom", fontsize=self.font)

    def draw_ruler(self, cd: float) -> None:
        """The critical difference to scale; in words alone where it is longer than the scale."""
        y, text = 0.65 * self.line, f"CD = {cd:.2f}"
        if cd > self.k - 1:
            self.ax.text(self.left, y, f"{text}, longer than the scale", va="center", fontsize=self.font)
            return
        x = [self.left, self.left + cd / (self.k - 1) * (self.right - self.left)]
        self._rule(x, [y, y])
        for end in x:
            self._rule([end, end], [0.5 * self.line, 0.8 * self.line])
        self.ax.text(x[1] + 0.4 * self.line, y, text, ha="left", va="center", fontsize=self.font)

    def draw_bars(self, bars: Sequence[Bar], overhang: float, color: str) -> None:
        """A bar that holds methods reaches a little beyond them, but never to one that it does not hold."""
        for worst, best, row in bars:
            outside = self.ranks[(self.ranks < best) | (self.ranks > worst)]
            gaps = [np.abs(outside - end).min(initial=self.k) / 3 for end in (worst, best)]
            reach = np.minimum(overhang * (self.k - 1), gaps)
            ends, y = self._x(np.array([worst + reach[0], best - reach[1]])), self.scale_y + self.bar_step * (row + 1)
            self._rule(ends, [y, y], 0.34, color=color, solid_capstyle="butt", zorder=3, gid="bar")

    def draw_names(self, control: int | None, color: str) -> None:
        for place, method in enumerate(np.argsort(-self.ranks, kind="stable")):
            chosen, on_left = control == method, place < (self.k + 1) // 2
            x, y = self._x(self.ranks[method]), self.first_row + self.line * min(place, self.k - 1 - place)
            end, side, align = (self.left - 0.1, -0.06, "right") if on_left else (self.right + 0.1, 0.06, "left")
            ink, width, above, weight = (color, 0.16, 4, "bold") if chosen else (self.ink, 0.08, 2, "normal")
            self._rule([x, x, end], [self.scale_y, y, y], width, color=ink, zorder=above)
            style = {"fontsize": self.font, "fontweight": weight, "parse_math": False}
            self.ax.text(end + side, y, self.labels[method], ha=align, va="center", **style)


def _text_width(labels: Sequence[str]) -> float:
    """Inches of the longest label in bold at `_FONT`, and a gap."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight="bold")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawing will say so
        paths = [TextPath((0, 0), label.replace("$", r"\$"), size=_FONT, prop=font) for label in labels]
    # Control points enclose their curve; exact extents took three quarters of the time of a diagram.
    return max(float(path.vertices[:, 0].max()) for path in paths) / 72 + 0.25
