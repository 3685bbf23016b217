"""One curve of a feature, drawn: what it adds to a score, or its membership."""

from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import Array
from ..frames import MISSING
from .canvas import INK_COLOUR, LINE_COLOUR, MUTED_COLOUR, draw_bars
from .page import FALL, RISE
from .views import Curve
from .wording import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_shape(ax: "Axes", curve: Curve) -> None:
    """A curve with the data under it, or bars of named values."""
    ax.set_title(shortened(f"{curve.label} by {curve.feature}", 40), fontsize=8.5)
    ax.axhline(0, color=LINE_COLOUR, lw=0.8)
    if curve.categories:
        _draw_values(ax, curve)
        return
    for side, colour in ((curve.y >= 0, RISE), (curve.y <= 0, FALL)):
        ax.fill_between(
            curve.x,
            curve.y,
            where=side.tolist(),
            color=colour,
            alpha=0.2,
            lw=0,
            interpolate=True,
        )
    if curve.error is not None:
        for limit in (curve.y - curve.error, curve.y + curve.error):
            ax.plot(curve.x, limit, color=MUTED_COLOUR, lw=0.6, ls=(0, (3, 2)))
    ax.plot(curve.x, curve.y, color=INK_COLOUR, lw=1.4)
    _draw_data_marks(ax, curve.quantiles[1:-1])
    ax.set_xlim(curve.x[0], curve.x[-1])
    ax.locator_params(axis="x", nbins=4)
    if curve.missing is not None:
        _draw_missing(ax, curve.missing)


def _draw_values(ax: "Axes", curve: Curve) -> None:
    """Named values as bars, and "not measured" as one more."""
    names = list(curve.categories.values())
    y = curve.y
    error = curve.error
    if curve.missing is not None:
        names.append(MISSING)
        y = np.append(y, curve.missing)
        error = None if error is None else np.append(error, 0.0)
    draw_bars(ax, names, y, error)


def _draw_data_marks(ax: "Axes", quantiles: Array) -> None:
    """Marks at the foot where the training data lie."""
    ax.plot(
        quantiles,
        np.zeros(len(quantiles)),
        "|",
        color=MUTED_COLOUR,
        ms=5,
        mew=0.7,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )


def _draw_missing(ax: "Axes", missing: float) -> None:
    """A diamond beside the curve, on no value."""
    beside = ax.get_yaxis_transform()
    ax.plot(1.02, missing, "D", color=INK_COLOUR, ms=4, transform=beside, clip_on=False)
    ax.annotate(
        MISSING,
        (1.05, missing),
        xycoords=beside,
        fontsize=7,
        color=MUTED_COLOUR,
        rotation=90,
        va="center",
        annotation_clip=False,
    )


def draw_membership(ax: "Axes", curve: Curve) -> None:
    """The membership curve of one condition, with its words under it."""
    names = [shortened(name, 12) for name in curve.categories.values()]
    if curve.center is None:
        draw_bars(ax, list(curve.categories.values()), curve.y)
    else:
        ax.fill_between(curve.x, curve.y, color=RISE, alpha=0.15, lw=0)
        ax.plot(curve.x, curve.y, color=RISE, lw=2)
        ax.axvline(curve.center, color=MUTED_COLOUR, lw=1.2, ls=(0, (4, 3)))
        ax.set_xlim(curve.x[0], curve.x[-1])
        ax.locator_params(axis="x", nbins=4)
        if 0 < len(names) <= 8:
            ax.set_xticks(list(curve.categories), names)
    ax.set(ylim=(0, 1.06), yticks=[0, 0.5, 1])
    ax.set_title(shortened(curve.feature, 38), fontsize=9)
    words = curve.words.removeprefix(curve.feature).removeprefix(" is").strip()
    ax.set_xlabel(shortened(words, 52), fontsize=8)
