"""Figures without content: their style, small drawings side by side, bars, matrices.

matplotlib is imported where a figure is begun, and its global state is left alone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.arrays import Array
from ..exceptions import optional
from .page import FALL, RISE
from .wording import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

INK_COLOUR = "#1f2933"
MUTED_COLOUR = "#616e7c"
LINE_COLOUR = "#d5dae0"
MAX_DRAWN_LABELS = 12  # squares of one figure, unless labels are named
MAX_TICK_NAMES = 40  # on an axis; of more names, every second, third, … is written
STYLE_SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": LINE_COLOUR,
    "axes.labelcolor": MUTED_COLOUR,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK_COLOUR,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.facecolor": "white",
    "font.size": 9.5,
    "text.color": INK_COLOUR,
    "text.parse_math": False,
    "xtick.color": MUTED_COLOUR,
    "xtick.major.size": 0,
    "ytick.color": MUTED_COLOUR,
    "ytick.major.size": 0,
}

Drawn = TypeVar("Drawn")


@contextmanager
def styled_figure(
    width: float,
    height: float,
    *,
    rows: int = 1,
    columns: int = 1,
    sharey: bool = False,
    width_ratios: Sequence[float] | None = None,
) -> "Iterator[tuple[Figure, Any]]":
    """A new figure and its axes, within our style.

    matplotlib is imported here, and its global state is left alone.
    """
    with optional("matplotlib", "report").rc_context(STYLE_SETTINGS):
        Figure = optional("matplotlib.figure", "report").Figure
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, sharey=sharey, width_ratios=width_ratios)
        yield figure, axes


def panels(
    entries: Sequence[Drawn],
    draw: "Callable[[Axes, Drawn], None]",
    columns: int,
    *,
    size: tuple[float, float],
    title: str,
    sharey: bool = False,
) -> "Figure":
    """A small drawing of each entry, of ``size`` inches, row by row."""
    rows = max(1, -(-len(entries) // columns))
    width = size[0] * columns
    height = 0.5 + size[1] * rows
    with styled_figure(width, height, rows=rows, columns=columns, sharey=sharey) as (
        figure,
        grid,
    ):
        axes = np.atleast_1d(grid).ravel()
        for ax, entry in zip(axes, entries, strict=False):
            draw(ax, entry)
        for ax in axes[len(entries) :]:
            ax.set_axis_off()
        figure.suptitle(title, x=0.01, ha="left", color=INK_COLOUR)
    return figure


def draw_matrix(
    ax: "Axes",
    C: Array,
    *,
    across: Sequence[str],
    down: Sequence[str],
    colours: Sequence[str],
    **options: Any,
) -> "AxesImage":
    """A matrix in colours from the smallest to the largest value, with names."""
    from matplotlib.colors import LinearSegmentedColormap

    colour_map = LinearSegmentedColormap.from_list("own", colours)
    image = ax.imshow(C, cmap=colour_map, interpolation="nearest", **options)
    places, names, size = _tick_names(across, 22)
    ax.set_xticks(places, names, fontsize=size, rotation=90)
    places, names, size = _tick_names(down, 34)
    ax.set_yticks(places, names, fontsize=size)
    ax.spines[["left", "bottom"]].set_visible(False)
    return image


def _tick_names(names: Sequence[str], length: int) -> tuple[range, list[str], float]:
    """Which names have room on an axis, these cut to a length, and their font size."""
    places = range(0, len(names), -(-len(names) // MAX_TICK_NAMES))
    size = float(np.clip(170 / max(len(places), 1), 5.5, 9))
    return places, [shortened(names[i], length) for i in places], size


def draw_bars(
    ax: "Axes", names: Sequence[str], y: Array, error: Array | None = None
) -> None:
    """Bars with their names under them; many names are small and upright."""
    places = range(len(y))
    ax.bar(
        places,
        y,
        yerr=error,
        color=np.where(y > 0, RISE, FALL).tolist(),
        alpha=0.5,
        width=0.5,
        ecolor=MUTED_COLOUR,
    )
    if len(y) <= 4:
        ax.set_xticks(places, [shortened(name, 12) for name in names])
    else:
        names = [shortened(name, 18) for name in names]
        ax.set_xticks(places, names, rotation=90, fontsize=7)


def draw_square(ax: "Axes", title: str) -> None:
    """Axes from 0 to 1 on both sides."""
    limits = (-0.02, 1.02)
    ticks = [0, 0.5, 1]
    ax.set(xlim=limits, ylim=limits, xticks=ticks, yticks=ticks)
    ax.set_title(shortened(title, 30), fontsize=9)
