"""Figures in three forms, inline for a page and as SVG and PNG files, and those that need no study of their own.

matplotlib draws inside `drawing`, in the page's light colours; inline these are its CSS variables, so that one picture
is right in light and in dark. Names are plain text here, never mathematics: ``$`` stays ``$``. Series of studies have
fixed colours that are told apart by every kind of eye (after Okabe and Ito) and show on light and dark; what carries
meaning also differs in marker or dash.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...exceptions import optional
from ..experiments.ranks import RECOMPUTED, MethodComparison, widest_sources
from ..experiments.results import Results
from ..experiments.summary import CLOSE, NEAR
from ..significance import critical_difference_diagram

# The page's CSS variables and what they are in light (templates/base.css): colours that nothing else here uses.
_VARIABLES = {"ink": "#1d2129", "muted": "#667080", "line": "#e3e1dc"}
_VARIABLES |= {"series-1": "#1f6fb5", "series-2": "#c8511f", "series-3": "#6b7280"}
INK, MUTED, LINE, *SERIES = _VARIABLES.values()
BLUE, ORANGE, GREEN, PURPLE, SKY = "#2a7fcc", "#e08214", "#1b9e77", "#b05fa6", "#56b4e9"
GREY, RED = "#8c8c8c", "#d1495b"
POSITIVE, NEGATIVE = (
    (0.16, 0.50, 0.80),
    (0.86, 0.38, 0.18),
)  # blue and orange: told apart by every kind of eye
_RC = {
    **dict.fromkeys(
        ["svg.fonttype", "figure.facecolor", "axes.facecolor", "savefig.facecolor"],
        "none",
    ),
    **dict.fromkeys(["text.parse_math", "axes.spines.top", "axes.spines.right"], False),
    **dict.fromkeys(["axes.labelcolor", "xtick.color"], MUTED),
    **dict.fromkeys(["axes.titlecolor", "ytick.color", "text.color"], INK),
    "axes.edgecolor": LINE,
    "font.size": 10,
}


class Picture(NamedTuple):
    """A figure: name of its files, what it shows, and its forms."""

    key: str
    title: str
    caption: str
    inline: str
    svg: bytes
    png: bytes


@contextmanager
def drawing(**settings: Any) -> Iterator[Any]:
    """matplotlib's Figure class, for figures in the page's colours and of its width, two columns of a paper."""
    with optional("matplotlib", "report").rc_context({**_RC, **settings}):
        figure = optional("matplotlib.figure", "report").Figure
        yield lambda height: figure(figsize=(7.2, height), layout="constrained")


def picture(figure: Any, key: str, title: str, caption: str = "") -> Picture:
    """All forms of a figure that was made by `drawing`."""
    svg, png = io.StringIO(), io.BytesIO()
    with drawing(**{"svg.hashsalt": key}):
        with warnings.catch_warnings():
            # The browser's fonts draw the text; that matplotlib's own lack a letter does not matter.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure.savefig(
                svg,
                format="svg",
                metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
            )
        figure.savefig(png, format="png", dpi=160, facecolor="#ffffff")
    head, _, body = _plain_svg(svg.getvalue(), title).partition(">")
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    style = "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif}</style>"
    alone = (
        f'<?xml version="1.0" encoding="utf-8"?>\n{head}>{ground}{style}{body}'.encode()
    )
    for variable, colour in _VARIABLES.items():
        body = body.replace(colour, f"var(--{variable})")
    return Picture(key, title, caption, f"{head}>{body}", alone, png.getvalue())


def _plain_svg(text: str, title: str) -> str:
    """matplotlib's drawing without what would disturb a page: ids, names of fonts, a size of its own."""
    text = text[text.index("<svg") :]
    text = re.sub(
        r' id="(?!p[0-9a-f]{10}|image|[mC][0-9a-f]{10})[^"]*"', "", text
    )  # only what is referred to
    text = re.sub(
        r"font: (?:\w+ )*([\d.]+px) [^;\"]*", r"font-size: \1", text
    )  # how older versions write it
    text = re.sub(r"; font-family: [^;\"]*", "", text)
    text = text.replace(
        "*{stroke-linejoin: round; stroke-linecap: butt}", "", 1
    )  # would hold for the whole page
    head, _, body = text.partition(">")
    width = float(re.findall(r'width="([\d.]+)pt"', head)[0]) * 4 / 3
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    head = head.replace(
        "<svg",
        f'<svg role="img" aria-label="{escape(title)}" style="max-width: {width:.0f}px"',
        1,
    )
    return f"{head}>{body}"


def quiet(ax: Any, *, grid: str = "y") -> None:
    """A light grid behind the data, no ticks and no frame but the bottom line."""
    ax.grid(axis=grid, color=LINE, lw=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)


def closeness_picture(gaps: pd.DataFrame) -> list[Picture]:
    """AP less the paper's Table III: a dot for each data set, a line for each method. None without any."""
    ap = gaps[gaps["metric"] == "AP"]
    methods = list(dict.fromkeys(ap["method"]))
    if not methods:
        return []
    with drawing() as figure_of:
        figure = figure_of(0.9 + 0.34 * len(methods))
        ax = _lines(figure, methods, "AP of this run less the paper's Table III")
        for reach, alpha in ((NEAR, 0.10), (CLOSE, 0.22)):
            ax.axvspan(-reach, reach, color=SERIES[0], alpha=alpha, lw=0)
        ax.plot(
            ap["gap"],
            -ap["method"].map(methods.index),
            "o",
            color=SERIES[0],
            ms=6,
            alpha=0.75,
            mew=0,
        )
        caption = f"Each dot is a data set. The bands mark differences of up to {CLOSE} and {NEAR}."
        return [picture(figure, "closeness", "How close AP is to the paper's", caption)]


def protocol_picture(results: Results) -> list[Picture]:
    """Mean AP of each method under each protocol, over the data sets that it finished under all of them."""
    protocols = results.protocols
    frames = [results.of_metric(protocol, "AP", "AP") for protocol in protocols]
    columns = [
        frame[frame["status"] == "done"].set_index(["dataset", "method"])["mean"]
        for frame in frames
    ]
    means: Any = (
        pd.concat(columns, axis=1).dropna().groupby("method").mean()
        if len(protocols) > 1
        else ()
    )
    if not len(means):
        return []
    means = means.loc[[method for method in results.methods if method in means.index]]
    with drawing() as figure_of:
        figure = figure_of(1.1 + 0.34 * len(means))
        ax = _lines(
            figure,
            [results.title(method) for method in means.index],
            "mean AP over data sets",
        )
        for i, values in enumerate(means.to_numpy()):
            ax.plot(values, np.full(len(values), -i), color=LINE, lw=2, zorder=1)
        for j, protocol in enumerate(protocols):
            ax.plot(
                means.iloc[:, j],
                -np.arange(len(means)),
                "o",
                color=SERIES[j],
                ms=7,
                label=protocol,
                zorder=2,
            )
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
        caption = "Mean AP, settings chosen by AP; only data sets that a method finished under every protocol count."
        return [
            picture(
                figure, "protocols", "The same methods under each protocol", caption
            )
        ]


def _lines(figure: Any, names: Sequence[str], label: str) -> Any:
    """Axes with a horizontal line for each name, the first on top."""
    ax = figure.subplots()
    ax.set(
        yticks=[-i for i in range(len(names))],
        yticklabels=names,
        xlabel=label,
        ymargin=0.08,
    )
    quiet(ax, grid="x")
    ax.spines["bottom"].set_visible(False)
    return ax


def rank_pictures(found: Sequence[MethodComparison]) -> dict[str, list[Picture]]:
    """Fig. 9: a critical difference diagram for each metric, by source; the paper's own first.

    Where a run has methods outside the paper, ours are the diagrams with all of them.
    """
    drawn: dict[str, list[Picture]] = {
        source: [] for source in (RECOMPUTED, *widest_sources(found))
    }
    for one in found:
        if one.source in drawn:
            with drawing():
                figure = critical_difference_diagram(one.dunn, color=SERIES[0])
            key = f"figure-9-{one.source.replace(', ', '-').replace(' ', '-')}-{one.metric.lower()}"
            caption = (
                "One-error counts tied scores as right, so its ranks say little."
                if one.metric == "OE"
                else ""
            )
            drawn[one.source].append(
                picture(figure, key, f"{one.metric}, {one.source}", caption)
            )
    return drawn
