"""One matplotlib figure in three forms: inline for a page, and as SVG and PNG files that stand alone.

matplotlib draws inside `drawing`, in the stand-in colours below. A page turns these into its CSS variables, so that one
picture is right in light and in dark; a file gets the page's light colours on a white ground. Names are plain text
here, never mathematics: ``$`` stays ``$``. Series of studies have fixed colours that are told apart by every kind of
eye (after Okabe and Ito) and show on light and dark; what carries meaning also differs in marker or dash.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

import numpy as np

from ...exceptions import optional

# Stand-ins, one for each CSS variable of the page: colours that nothing else uses.
_NAMES = ("ink", "muted", "line", "series-1", "series-2", "series-3", "card")
_VARIABLES = {f"#0{i}0{i}0{i}": f"var(--{name})" for i, name in enumerate(_NAMES, 1)}
INK, MUTED, LINE, *SERIES, CARD = _VARIABLES
_RC = {
    **dict.fromkeys(["svg.fonttype", "figure.facecolor", "axes.facecolor", "savefig.facecolor"], "none"),
    **dict.fromkeys(["text.parse_math", "axes.spines.top", "axes.spines.right"], False),
    **dict.fromkeys(["axes.labelcolor", "xtick.color"], MUTED),
    **dict.fromkeys(["axes.titlecolor", "ytick.color", "text.color"], INK),
    "axes.edgecolor": LINE,
    "font.size": 10,
}
POSITIVE, NEGATIVE = (0.16, 0.50, 0.80), (0.86, 0.38, 0.18)  # blue and orange: told apart by every kind of eye
# The page's light palette, see templates/base.html.
_PALETTE = ("#1d2129", "#667080", "#e3e1dc", "#1f6fb5", "#c8511f", "#6b7280", "#ffffff")
LIGHT = dict(zip(_VARIABLES, _PALETTE, strict=True))
BLUE, ORANGE, GREEN, PURPLE, SKY = "#2a7fcc", "#e08214", "#1b9e77", "#b05fa6", "#56b4e9"
GREY, RED = "#8c8c8c", "#d1495b"
PAGE_WIDTH = 7.2  # inches: the width of a page of a report or of two columns of a paper
# Small type, for full-width figures of many panels.
SMALL: dict[str, Any] = {"font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8, "axes.titlelocation": "left"}
SMALL |= {"xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7.5, "legend.frameon": False}
SMALL |= {"lines.linewidth": 1.4, "lines.markersize": 4}
_PNG_DPI, _OF_MARKERS = 160, ("markerfacecolor", "markeredgecolor")


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
def drawing(**settings: Any) -> Iterator[Any]:
    """matplotlib's Figure class, for figures of the page's width in its colours."""
    with optional("matplotlib", "report").rc_context({**_RC, **settings}):
        figure = optional("matplotlib.figure", "report").Figure
        yield lambda height: figure(figsize=(PAGE_WIDTH, height), layout="constrained")


def picture(figure: Any, key: str, title: str, caption: str = "") -> Picture:
    """All forms of a figure that was made by `drawing`. The figure is recoloured, so use it no more."""
    with drawing(**{"svg.hashsalt": key}):
        inline = _svg(figure, title)
        return Picture(key, title, caption, inline, _alone(inline), _png(figure))


def quiet(ax: Any, *, grid: str = "y") -> None:
    """A light grid behind the data, no ticks and no frame but the bottom line."""
    ax.grid(axis=grid, color=LINE, lw=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)


def numbers(values: Any) -> Any:
    """Lists of plain data as an array, with NaN where there is None: what matplotlib leaves out."""
    return np.array(values, dtype=np.float64)


def _svg(figure: Any, title: str) -> str:
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # The browser's fonts draw the text; that matplotlib's own lack a letter does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="(?!p[0-9a-f]{10}|image|[mC][0-9a-f]{10})[^"]*"', "", text)  # only what is referred to
    text = re.sub(r"font: (?:\w+ )*([\d.]+px) [^;\"]*", r"font-size: \1", text)  # how older versions write it
    text = re.sub(r"; font-family: [^;\"]*", "", text)
    text = text.replace("*{stroke-linejoin: round; stroke-linecap: butt}", "", 1)  # would hold for the whole page
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    head, _, body = text.partition(">")
    width = float(re.findall(r'width="([\d.]+)pt"', head)[0]) * 4 / 3
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    head = head.replace("<svg", f'<svg role="img" aria-label="{escape(title)}" style="max-width: {width:.0f}px"', 1)
    return f"{head}>{body}"


def _alone(inline: str) -> bytes:
    """The inline drawing as a file: colours instead of variables, a ground, and the namespaces that it needs."""
    for stand_in, variable in _VARIABLES.items():
        inline = inline.replace(variable, LIGHT[stand_in])
    head, _, body = inline.partition(">")
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    style = "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif}</style>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}>{ground}{style}{body}'.encode()


def _png(figure: Any) -> bytes:
    figure.draw_without_rendering()  # ticks exist only from here on
    # stand-in colours replaced, whatever an artist calls them; collections have lists of them
    for artist, name in product(figure.findobj(), ("color", "facecolor", "edgecolor", *_OF_MARKERS)):
        get, put = getattr(artist, f"get_{name}", None), getattr(artist, f"set_{name}", None)
        if get is None or put is None:
            continue
        if not hasattr(artist, "get_array"):
            put(_light(get()))
        elif artist.get_array() is None:
            put([_light(colour) for colour in get()])
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_PNG_DPI, facecolor="#ffffff")
    return buffer.getvalue()


def _light(colour: Any) -> Any:
    """The light colour that a stand-in means; any other colour as it is."""
    from matplotlib.colors import is_color_like, to_hex, to_rgba

    if not is_color_like(colour) or to_rgba(colour)[3] == 0 or to_hex(colour) not in LIGHT:
        return colour
    return (*to_rgba(LIGHT[to_hex(colour)])[:3], to_rgba(colour)[3])
