"""Marks of small pictures, as inline SVG without a library.

Colours come from the page's style sheet, by class. Every function returns markup that
is safe to be put into a page: what comes from a user's file is escaped here.
Coordinates have one decimal, as nobody sees a tenth of a pixel.
"""

from collections.abc import Iterable
from html import escape

from numpy.typing import ArrayLike

from ..core.arrays import Array
from .corners import simplified


def picture(
    kind: str,
    size: tuple[float, float],
    title: str,
    marks: Iterable[str],
    attributes: str = "",
) -> str:
    """Return a picture of a width and height that holds some marks."""
    width, height = size
    box = f'viewBox="0 0 {width:g} {height:g}"'
    name = f'role="img" aria-label="{escape(title)}"'
    head = f'class="pic {kind}" {box} {name}{attributes}'
    return f"<svg {head}>{''.join(marks)}</svg>"


def path(x: ArrayLike, y: ArrayLike, kind: str, end: str = "") -> str:
    """Return a line through points, with as few of them as it needs."""
    return drawn(*simplified(x, y), kind, end)


def drawn(x: Array, y: Array, kind: str, end: str = "") -> str:
    """Return a line through all of these points."""
    points = [f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return f'<path class="{kind}" d="M{"L".join(points)}{end}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line."""
    start = f'x1="{x1:.1f}" y1="{y1:.1f}"'
    end = f'x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{kind}" {start} {end}/>'


def dot(x: float, y: float, kind: str, radius: float = 3) -> str:
    """Return a circle."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle."""
    corner = f'x="{x:.1f}" y="{y:.1f}"'
    size = f'width="{max(width, 0.0):.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {corner} {size}/>'


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "middle",
    *,
    turned: bool = False,
    kind: str = "",
) -> str:
    """Return words at a place, turned to be read from below if asked for."""
    place = f'x="{x:.1f}" y="{y:.1f}"'
    if turned:
        place = f'transform="translate({x:g} {y:g}) rotate(-90)"'
    if kind:
        place = f'class="{kind}" {place}'
    return f'<text {place} text-anchor="{anchor}">{escape(words)}</text>'
