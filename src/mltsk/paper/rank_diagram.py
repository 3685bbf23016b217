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

_FONT, _LINE = 10.0, 1.55 * 10 / 72  # points, and inches from line to line
_SCALE_Y, _BAR_STEP = 2.4 * _LINE, 0.62 * _LINE  # from the top to the scale, and from there from bar to bar
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


def draw_ranks(ranks: FloatArray, names: Sequence[str], cd: float, *, control: int | None, color: str) -> Any:
    """Draw the diagram on a new figure that fits it; the figure.

    With a ``control`` one band marks what does not differ from it by the critical difference ``cd``; without one, bars
    join what does not differ.
    """
    k, free = len(ranks), list[float]()  # of every row of bars, the worst rank drawn so far
    bars = [] if control is None else [(min(ranks[control] + cd, k), max(ranks[control] - cd, 1.0), 0)]
    for group in cliques(ranks, cd) if control is None else ():
        best, worst = float(ranks[group[0]]), float(ranks[group[-1]])
        row = next((i for i, taken in enumerate(free) if best > taken + _APART * (k - 1)), len(free))
        free[row : row + 1] = [worst]
        bars.append((worst, best, row))
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(names, ranks, strict=True)]
    diagram = _Diagram(ranks, labels, 1 + max((row for *_, row in bars), default=-1))
    diagram.draw_scale(cd)
    for worst, best, row in bars:
        diagram.draw_bar(worst, best, row, 0.0 if control is not None else _OVERHANG, color)
    diagram.draw_names(control, color)
    return diagram.ax.figure


class _Diagram:
    """Axes of a new figure in inches; y runs down from 0 at the top."""

    def __init__(self, ranks: FloatArray, labels: Sequence[str], bar_rows: int) -> None:
        self.ranks, self.labels, self.k, margin = ranks, labels, len(ranks), 0.08
        figure: Any = optional("matplotlib.figure", "report").Figure
        self.ink = optional("matplotlib", "report").rcParams["text.color"]
        # names have the width of the longest on both sides, the scale what is between
        self.left = _text_width(labels)
        self.right = self.left + max(4.4, 0.3 * (self.k - 1))
        self.first_row = _SCALE_Y + _BAR_STEP * bar_rows + 1.1 * _LINE
        inner = np.array([self.right + self.left, self.first_row + _LINE * ((self.k + 1) // 2 - 0.35)])
        size = inner + 2 * margin
        self.ax = figure(figsize=tuple(size)).add_axes((*(margin / size), *(inner / size)))
        self.ax.set_axis_off()
        self.ax.set(xlim=(0, inner[0]), ylim=(inner[1], 0))

    def x(self, rank: Any) -> Any:
        """Place of a mean rank on the scale."""
        return self.left + (self.k - rank) / (self.k - 1) * (self.right - self.left)

    def rule(self, x: Sequence[float], y: Sequence[float], width: float = 1.0, **more: Any) -> None:
        self.ax.plot(x, y, **{"color": self.ink, "lw": width, **more})

    def write(self, x: float, y: float, text: str, **more: Any) -> None:
        self.ax.text(x, y, text, **{"va": "center", "fontsize": _FONT, **more})

    def draw_scale(self, cd: float) -> None:
        """The scale, and above it the critical difference; in words alone where it is longer than the scale."""
        step = int(np.ceil(1.6 * _LINE / ((self.right - self.left) / (self.k - 1))))
        self.rule([self.left, self.right], [_SCALE_Y, _SCALE_Y], solid_capstyle="butt")
        for rank in np.arange(1, self.k + 0.5, 0.5):
            major, x = rank % 1 == 0 and (rank - 1) % step == 0, self.x(rank)
            self.rule([x, x], [_SCALE_Y, _SCALE_Y - (0.35 if major else 0.18) * _LINE], 0.8)
            if major:
                self.write(x, _SCALE_Y - 0.5 * _LINE, f"{rank:.0f}", ha="center", va="bottom")
        y, text = 0.65 * _LINE, f"CD = {cd:.2f}"
        if cd > self.k - 1:
            self.write(self.left, y, f"{text}, longer than the scale")
            return
        ends = [self.left, self.x(self.k - cd)]
        self.rule(ends, [y, y])
        for end in ends:
            self.rule([end, end], [0.5 * _LINE, 0.8 * _LINE])
        self.write(ends[1] + 0.4 * _LINE, y, text, ha="left")

    def draw_bar(self, worst: float, best: float, row: int, overhang: float, color: str) -> None:
        """A bar that holds methods reaches a little beyond them, but never to one that it does not hold."""
        outside = self.ranks[(self.ranks < best) | (self.ranks > worst)]
        gaps = [np.abs(outside - end).min(initial=self.k) / 3 for end in (worst, best)]
        reach = np.minimum(overhang * (self.k - 1), gaps)
        ends, y = self.x(np.array([worst + reach[0], best - reach[1]])), _SCALE_Y + _BAR_STEP * (row + 1)
        self.rule(ends, [y, y], 3.4, color=color, solid_capstyle="butt", zorder=3, gid="bar")

    def draw_names(self, control: int | None, color: str) -> None:
        for place, method in enumerate(np.argsort(-self.ranks, kind="stable")):
            chosen, on_left = control == method, place < (self.k + 1) // 2
            x, y = self.x(self.ranks[method]), self.first_row + _LINE * min(place, self.k - 1 - place)
            end, side, align = (self.left - 0.1, -0.06, "right") if on_left else (self.right + 0.1, 0.06, "left")
            ink, width, above, weight = (color, 1.6, 4, "bold") if chosen else (self.ink, 0.8, 2, "normal")
            self.rule([x, x, end], [_SCALE_Y, y, y], width, color=ink, zorder=above)
            self.write(end + side, y, self.labels[method], ha=align, fontweight=weight, parse_math=False)


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
