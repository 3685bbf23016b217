"""The drawing of a critical difference diagram: mean ranks on a line.

Symbols are those of `significance`: k methods, and the critical difference CD.

A diagram is laid out in inches, so that text keeps its distance whatever the number of
methods. From top to bottom it has a ruler of the critical difference, the scale from k
(left) to 1 (right, best), bars, and one row per pair of names, the worse half of the
methods on the left and the better on the right. The names nearest the ends of the scale
come first: then no two lines cross.
"""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.arrays import Array
from ..exceptions import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT_POINTS = 10.0
LINE_INCHES = 1.55 * 10 / 72  # from line to line
SCALE_Y = 2.4 * LINE_INCHES  # from the top to the scale
BAR_STEP = 0.62 * LINE_INCHES  # from the scale to the first bar, and from bar to bar
MARGIN_INCHES = 0.08
# Shares of the scale: bars closer than this get rows of their own, and bars reach this
# far beyond the methods at their ends.
MIN_BAR_GAP = 0.06
BAR_OVERHANG = 0.01


class RankBar(NamedTuple):
    """A bar from the worst to the best mean rank that it holds, and its row."""

    worst: float
    best: float
    row: int


def draw_diagram(
    ranks: Array,
    names: Sequence[str],
    *,
    critical_difference: float,
    control: int | None,
    color: str,
) -> "Figure":
    """Draw mean ranks (k,) with a band around a control, or with bars over cliques."""
    if control is None:
        bars = clique_bars(ranks, critical_difference)
        overhang = BAR_OVERHANG
    else:
        bars = [band_around(float(ranks[control]), critical_difference, len(ranks))]
        overhang = 0.0
    n_rows = 1 + max((bar.row for bar in bars), default=-1)
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(names, ranks, strict=True)]
    diagram = _Diagram(ranks, labels, n_rows)
    diagram.draw_scale()
    diagram.draw_ruler(critical_difference)
    for bar in bars:
        diagram.draw_bar(bar, overhang, color)
    diagram.draw_names(control, color)
    return diagram.figure


def band_around(rank: float, critical_difference: float, k: int) -> RankBar:
    """All mean ranks of k methods that do not differ from that of a control."""
    worst = min(rank + critical_difference, k)
    best = max(rank - critical_difference, 1.0)
    return RankBar(worst, best, row=0)


def clique_bars(ranks: Array, critical_difference: float) -> list[RankBar]:
    """A bar per clique; bars that would touch get rows of their own."""
    gap = MIN_BAR_GAP * (len(ranks) - 1)
    bars: list[RankBar] = []
    worst_by_row: list[float] = []  # the worst rank drawn so far
    for clique in cliques(ranks, critical_difference):
        best = float(ranks[clique[0]])
        worst = float(ranks[clique[-1]])
        row = 0
        while row < len(worst_by_row) and best <= worst_by_row[row] + gap:
            row += 1
        worst_by_row[row : row + 1] = [worst]
        bars.append(RankBar(worst, best, row))
    return bars


def cliques(ranks: Array, critical_difference: float) -> tuple[tuple[int, ...], ...]:
    """Largest sets of two or more methods less than the critical difference apart.

    A set holds the positions of its methods, ordered by rank.
    """
    order = np.argsort(ranks, kind="stable")
    in_order = ranks[order]
    sets = []
    last_end = 0
    for start, rank in enumerate(in_order):
        end = int(np.sum(in_order - rank < critical_difference))
        if end - start > 1 and end > last_end:
            sets.append(tuple(order[start:end].tolist()))
        last_end = end
    return tuple(sets)


class _Diagram:
    """Axes of a new figure in inches; y runs down from 0 at the top."""

    def __init__(self, ranks: Array, labels: Sequence[str], n_bar_rows: int) -> None:
        new_figure = optional("matplotlib.figure", "report").Figure
        self.ink = optional("matplotlib", "report").rcParams["text.color"]
        self.ranks = ranks
        self.labels = labels
        self.k = len(ranks)
        # names have the width of the longest on both sides, the scale is in between
        self.left = _width_of(labels) + 0.25
        self.right = self.left + max(4.4, 0.3 * (self.k - 1))
        self.first_row = SCALE_Y + BAR_STEP * n_bar_rows + 1.1 * LINE_INCHES
        width = self.right + self.left
        height = self.first_row + LINE_INCHES * ((self.k + 1) // 2 - 0.35)
        inner = np.array([width, height])
        size = inner + 2 * MARGIN_INCHES
        self.figure: Figure = new_figure(figsize=tuple(size))
        self.ax = self.figure.add_axes((*(MARGIN_INCHES / size), *(inner / size)))
        self.ax.set_axis_off()
        self.ax.set(xlim=(0, width), ylim=(height, 0))

    def x(self, rank: float) -> float:
        """Place of a mean rank on the scale."""
        return self.left + (self.k - rank) / (self.k - 1) * (self.right - self.left)

    def rule(
        self, x: Sequence[float], y: Sequence[float], width: float = 1.0, **style: Any
    ) -> None:
        """A line through points, in the colour of text unless another is given."""
        style.setdefault("color", self.ink)
        self.ax.plot(x, y, lw=width, **style)

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Text at a point, centred on the line unless ``va`` says otherwise."""
        style.setdefault("va", "center")
        self.ax.text(x, y, text, fontsize=FONT_POINTS, **style)

    def draw_scale(self) -> None:
        """The scale with a tick per half rank, and numbers where there is room."""
        unit = (self.right - self.left) / (self.k - 1)
        step = int(np.ceil(1.6 * LINE_INCHES / unit))
        self.rule([self.left, self.right], [SCALE_Y, SCALE_Y], solid_capstyle="butt")
        for rank in np.arange(1, self.k + 0.5, 0.5):
            x = self.x(rank)
            has_number = rank % 1 == 0 and (rank - 1) % step == 0
            length = 0.35 if has_number else 0.18
            self.rule([x, x], [SCALE_Y, SCALE_Y - length * LINE_INCHES], width=0.8)
            if has_number:
                y = SCALE_Y - 0.5 * LINE_INCHES
                self.write(x, y, f"{rank:.0f}", ha="center", va="bottom")

    def draw_ruler(self, critical_difference: float) -> None:
        """The critical difference; in words alone where it is longer than the scale."""
        y = 0.65 * LINE_INCHES
        text = f"CD = {critical_difference:.2f}"
        if critical_difference > self.k - 1:
            self.write(self.left, y, f"{text}, longer than the scale")
            return
        end = self.x(self.k - critical_difference)
        self.rule([self.left, end], [y, y])
        for x in (self.left, end):
            self.rule([x, x], [0.5 * LINE_INCHES, 0.8 * LINE_INCHES])
        self.write(end + 0.4 * LINE_INCHES, y, text, ha="left")

    def draw_bar(self, bar: RankBar, overhang: float, color: str) -> None:
        """A bar that reaches a little beyond its methods, but never to another one."""
        left = self.x(bar.worst + self._reach(bar, bar.worst, overhang))
        right = self.x(bar.best - self._reach(bar, bar.best, overhang))
        y = SCALE_Y + BAR_STEP * (bar.row + 1)
        self.rule(
            [left, right],
            [y, y],
            width=3.4,
            color=color,
            solid_capstyle="butt",
            zorder=3,
            gid="bar",
        )

    def _reach(self, bar: RankBar, end: float, overhang: float) -> float:
        """How far a bar goes beyond one of its ends: at most a third of the way."""
        outside = self.ranks[(self.ranks < bar.best) | (self.ranks > bar.worst)]
        nearest = np.abs(outside - end).min(initial=self.k)
        return min(overhang * (self.k - 1), float(nearest) / 3)

    def draw_names(self, control: int | None, color: str) -> None:
        """Each name with its line to the scale; that of the control in colour."""
        for place, method in enumerate(np.argsort(-self.ranks, kind="stable")):
            ink = self.ink
            width = 0.8
            zorder = 2
            weight = "normal"
            if method == control:
                ink = color
                width = 1.6
                zorder = 4
                weight = "bold"
            end = self.right + 0.1
            text_x = end + 0.06
            align = "left"
            if place < (self.k + 1) // 2:
                end = self.left - 0.1
                text_x = end - 0.06
                align = "right"
            x = self.x(self.ranks[method])
            y = self.first_row + LINE_INCHES * min(place, self.k - 1 - place)
            self.rule([x, x, end], [SCALE_Y, y, y], width, color=ink, zorder=zorder)
            self.write(
                text_x,
                y,
                self.labels[method],
                ha=align,
                fontweight=weight,
                parse_math=False,
            )


def _width_of(labels: Sequence[str]) -> float:
    """Inches that the longest label takes in bold.

    Control points enclose their curve; exact extents took three quarters of the time of
    a diagram.
    """
    text_path = optional("matplotlib.textpath", "report").TextPath
    properties = optional("matplotlib.font_manager", "report").FontProperties
    bold = properties(weight="bold")
    widths = []
    with warnings.catch_warnings():
        # drawing will say so
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        for label in labels:
            plain = label.replace("$", r"\$")
            path = text_path((0, 0), plain, size=FONT_POINTS, prop=bold)
            widths.append(float(path.vertices[:, 0].max()))
    return max(widths) / 72
