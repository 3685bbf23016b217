"""How figures of studies are drawn: small type for full-width figures of many panels, and colours of series.

Figures are drawn in the stand-in colours of `pages.figures`, which `report.pictures` turns into those of a page and of
files on white. Series have fixed colours that are told apart by every kind of eye (after Okabe and Ito) and show on
light and dark; what carries meaning also differs in marker or dash.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...pages.figures import LINE
from .pictures import page_colours

BLUE, ORANGE, GREEN, PURPLE, SKY, GREY, RED = (
    "#2a7fcc",
    "#e08214",
    "#1b9e77",
    "#b05fa6",
    "#56b4e9",
    "#8c8c8c",
    "#d1495b",
)
PAGE_WIDTH = 7.2  # inches: the width of a page of a report or of two columns of a paper

_SMALL = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
}


@contextmanager
def drawing() -> Iterator[Any]:
    """matplotlib's Figure class, to be used inside."""
    with page_colours():
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        with rc_context(_SMALL):
            yield Figure


def quiet(ax: Any, *, grid: str = "y") -> None:
    """A light grid behind the data, no ticks and no frame but the bottom line."""
    ax.grid(axis=grid, color=LINE, lw=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)


def numbers(values: Any) -> list[float]:
    """A list of plain data with NaN where there is None: what matplotlib leaves out."""
    return [float("nan") if value is None else float(value) for value in values]
