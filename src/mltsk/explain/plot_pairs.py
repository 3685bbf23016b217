"""Heat maps of two features that act together."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .canvas import INK_COLOUR, MUTED_COLOUR
from .page import FALL, RISE
from .pairs import FeaturePair
from .wording import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HARDLY_ANY_DATA = 0.002  # a cell with a smaller share of the data is hatched
DARK_CELL = 0.65  # from this share of the largest height on, numbers are white
MAX_UPRIGHT_TICKS = 4  # of more, those under the columns are turned


class HeatMap(NamedTuple):
    """A pair and the position of a label; ``reach`` is the height of full colour."""

    pair: FeaturePair
    label: int
    reach: float
    title: str


def draw_heat_map(ax: "Axes", heat_map: HeatMap) -> None:
    """The heights of a pair for one label, with larger values up and to the right."""
    from matplotlib.colors import LinearSegmentedColormap

    pair = heat_map.pair
    down, across = pair.axes
    ax.imshow(
        pair.surface[:, :, heat_map.label],
        cmap=LinearSegmentedColormap.from_list("heights", (FALL, "#ffffff", RISE)),
        vmin=-heat_map.reach,
        vmax=heat_map.reach,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    _draw_numbers(ax, heat_map)
    _hatch_empty_cells(ax, pair)
    ticks = [shortened(tick, 14) for tick in across.ticks]
    ax.set_xticks(range(len(across)), ticks, fontsize=7.5)
    if len(ticks) > MAX_UPRIGHT_TICKS:
        for words in ax.get_xticklabels():
            words.set(rotation=30, ha="right", rotation_mode="anchor")
    ticks = [shortened(tick, 14) for tick in down.ticks]
    ax.set_yticks(range(len(down)), ticks, fontsize=7.5)
    ax.set_xlabel(shortened(across.title, 34), fontsize=8.5)
    ax.set_ylabel(shortened(down.title, 26), fontsize=8.5)
    ax.set_title(shortened(heat_map.title, 40), fontsize=9)
    ax.spines[["left", "bottom"]].set_visible(False)


def _draw_numbers(ax: "Axes", heat_map: HeatMap) -> None:
    """The height of each cell, in words."""
    heights = heat_map.pair.surface[:, :, heat_map.label]
    written = heat_map.pair.written(heat_map.label)
    for (a, b), height in np.ndenumerate(heights):
        is_dark = abs(height) > DARK_CELL * heat_map.reach
        ax.text(
            b,
            a,
            written[a][b],
            ha="center",
            va="center",
            fontsize=7.5,
            color="#ffffff" if is_dark else INK_COLOUR,
        )


def _hatch_empty_cells(ax: "Axes", pair: FeaturePair) -> None:
    """Hatch cells that have hardly any data."""
    from matplotlib.patches import Rectangle

    for a, b in np.argwhere(pair.shares < HARDLY_ANY_DATA).tolist():
        ax.add_patch(
            Rectangle(
                (b - 0.5, a - 0.5),
                1,
                1,
                fill=False,
                hatch="///",
                edgecolor=MUTED_COLOUR,
                alpha=0.45,
                lw=0,
            )
        )
