"""One matplotlib figure in three forms: inline for a page, and as SVG and PNG files that stand alone.

Figures are drawn in the stand-in colours of `figures`. A page turns these into its CSS variables; a file gets the
page's light colours on a white ground.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...pages import figures

# The page's light palette, see templates/base.html.
LIGHT = {
    figures.INK: "#1d2129",
    figures.MUTED: "#667080",
    figures.LINE: "#e3e1dc",
    figures.SERIES[0]: "#1f6fb5",
    figures.SERIES[1]: "#c8511f",
    figures.SERIES[2]: "#6b7280",
    figures.CARD: "#ffffff",
}
_PNG_DPI = 160


@dataclass(frozen=True)
class Picture:
    """A figure: name of its files, what it shows, and its forms."""

    key: str
    title: str
    caption: str
    inline: str
    svg: bytes
    png: bytes


@contextmanager
def page_colours() -> Iterator[None]:
    """Draw in the stand-in colours while inside."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise ImportError(figures.INSTALL) from None
    with rc_context(figures._RC):
        yield


def picture(figure: Any, key: str, title: str, caption: str = "") -> Picture:
    """All forms of a figure that was drawn inside `page_colours`. The figure is recoloured, so use it no more."""
    from matplotlib import rc_context

    with rc_context({**figures._RC, "svg.hashsalt": key}):
        inline = figures._svg(figure, title)
        return Picture(key, title, caption, inline, _alone(inline), _png(figure))


def _alone(inline: str) -> bytes:
    """The inline drawing as a file: colours instead of variables, a ground, and the namespaces that it needs."""
    for stand_in, variable in figures._VARIABLES.items():
        inline = inline.replace(variable, LIGHT[stand_in])
    head, _, body = inline.partition(">")
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    style = "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif}</style>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}>{ground}{style}{body}'.encode()


def _png(figure: Any) -> bytes:
    figure.draw_without_rendering()  # ticks exist only from here on
    for artist in figure.findobj():
        _recolour(artist)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_PNG_DPI, facecolor="#ffffff")
    return buffer.getvalue()


def _recolour(artist: Any) -> None:
    """Stand-in colours of an artist replaced, whatever it calls them."""
    for name in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
        get, put = getattr(artist, f"get_{name}", None), getattr(artist, f"set_{name}", None)
        if get is not None and put is not None and not hasattr(artist, "get_array"):
            colour = _light(get())
            if colour is not None:
                put(colour)
        elif get is not None and put is not None and getattr(artist, "get_array", lambda: 0)() is None:
            put([_light(c) or c for c in get()])


def _light(colour: Any) -> str | None:
    """The light colour that a stand-in means; None for any other colour."""
    from matplotlib.colors import is_color_like, to_hex, to_rgba

    if not is_color_like(colour) or to_rgba(colour)[3] == 0:
        return None
    light = LIGHT.get(to_hex(colour))
    if light is None:
        return None
    return to_hex((*to_rgba(light)[:3], to_rgba(colour)[3]), keep_alpha=True)
