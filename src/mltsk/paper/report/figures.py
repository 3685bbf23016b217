"""Figures in three forms, and those that need no study of their own.

The forms are inline for a page, and SVG and PNG as files. matplotlib draws inside
`drawing`, in the page's light colours; inline these are its CSS variables, so that one
picture is right in light and in dark. Names are plain text here, never mathematics:
``$`` stays ``$``. Series of studies have fixed colours that are told apart by every
kind of eye (after Okabe and Ito) and show on light and dark; what carries meaning also
differs in marker or dash.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ...exceptions import optional
from ..experiments.ranks import RECOMPUTED, MethodComparison, widest_sources
from ..experiments.results import Results
from ..experiments.summary import CLOSE, NEAR
from ..significance import critical_difference_diagram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A new figure of that height in inches.
NewFigure: TypeAlias = "Callable[[float], Figure]"

# The page's CSS variables and what they are in light (templates/base.css): colours that
# nothing else here uses.
PAGE_INK = "#1d2129"
PAGE_MUTED = "#667080"
PAGE_LINE = "#e3e1dc"
SERIES = ("#1f6fb5", "#c8511f", "#6b7280")
PAGE_VARIABLES = {
    "ink": PAGE_INK,
    "muted": PAGE_MUTED,
    "line": PAGE_LINE,
    "series-1": SERIES[0],
    "series-2": SERIES[1],
    "series-3": SERIES[2],
}
BLUE = "#2a7fcc"
ORANGE = "#e08214"
GREEN = "#1b9e77"
PURPLE = "#b05fa6"
SKY = "#56b4e9"
GREY = "#8c8c8c"
RED = "#d1495b"
PAGE_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelcolor": PAGE_MUTED,
    "xtick.color": PAGE_MUTED,
    "axes.titlecolor": PAGE_INK,
    "ytick.color": PAGE_INK,
    "text.color": PAGE_INK,
    "axes.edgecolor": PAGE_LINE,
    "font.size": 10,
}
FIGURE_WIDTH = 7.2  # inches, two columns of a paper


class Picture(NamedTuple):
    """A figure: name of its files, what it shows, and its forms."""

    key: str
    title: str
    caption: str
    inline: str
    svg: bytes
    png: bytes


@contextmanager
def drawing(**settings: Any) -> Iterator[NewFigure]:
    """A function from a height to a new figure, in the page's colours and width."""
    figure = optional("matplotlib.figure", "report").Figure

    def new_figure(height: float) -> "Figure":
        return figure(figsize=(FIGURE_WIDTH, height), layout="constrained")

    with optional("matplotlib", "report").rc_context(PAGE_STYLE | settings):
        yield new_figure


def picture(figure: "Figure", key: str, title: str, caption: str = "") -> Picture:
    """All forms of a figure that was made by `drawing`."""
    svg = io.StringIO()
    png = io.BytesIO()
    no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with drawing(**{"svg.hashsalt": key}):
        with warnings.catch_warnings():
            # The browser's fonts draw the text; that matplotlib's own lack a letter
            # does not matter.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure.savefig(svg, format="svg", metadata=no_metadata)
        figure.savefig(png, format="png", dpi=160, facecolor="#ffffff")
    head, _, body = _plain_svg(svg.getvalue(), title).partition(">")
    return Picture(
        key=key,
        title=title,
        caption=caption,
        inline=f"{head}>{_with_variables(body)}",
        svg=_standalone_svg(head, body),
        png=png.getvalue(),
    )


def _plain_svg(text: str, title: str) -> str:
    """matplotlib's drawing without ids, names of fonts and a size of its own.

    These would disturb a page.
    """
    text = text[text.index("<svg") :]
    # keep only ids that are referred to
    text = re.sub(r' id="(?!p[0-9a-f]{10}|image|[mC][0-9a-f]{10})[^"]*"', "", text)
    # how older versions write fonts
    text = re.sub(r"font: (?:\w+ )*([\d.]+px) [^;\"]*", r"font-size: \1", text)
    text = re.sub(r"; font-family: [^;\"]*", "", text)
    # this would hold for the whole page
    text = text.replace("*{stroke-linejoin: round; stroke-linecap: butt}", "", 1)
    head, _, body = text.partition(">")
    width = float(re.findall(r'width="([\d.]+)pt"', head)[0]) * 4 / 3
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    label = f'role="img" aria-label="{escape(title)}"'
    head = head.replace("<svg", f'<svg {label} style="max-width: {width:.0f}px"', 1)
    return f"{head}>{body}"


def _with_variables(svg: str) -> str:
    """A drawing in the page's CSS variables instead of its light colours."""
    for variable, colour in PAGE_VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    return svg


def _standalone_svg(head: str, body: str) -> bytes:
    """The file of a drawing, on white and with fonts."""
    declaration = '<?xml version="1.0" encoding="utf-8"?>\n'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    style = "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif}</style>"
    return f"{declaration}{head}>{ground}{style}{body}".encode()


def quiet(ax: "Axes", *, grid: str = "y") -> None:
    """A light grid behind the data, no ticks and no frame but the bottom line."""
    ax.grid(axis=grid, color=PAGE_LINE, lw=0.5)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)


def closeness_picture(gaps: pd.DataFrame) -> list[Picture]:
    """AP less the paper's Table III: a dot per data set, a line per method.

    Nothing where the paper has none of the methods.
    """
    ap = gaps[gaps["metric"] == "AP"]
    methods = list(dict.fromkeys(ap["method"]))
    if not methods:
        return []
    title = "How close AP is to the paper's"
    caption = (
        "Each dot is a data set. The bands mark differences of up to "
        f"{CLOSE} and {NEAR}."
    )
    with drawing() as new_figure:
        figure = new_figure(0.9 + 0.34 * len(methods))
        ax = _line_per_name(
            figure, methods, "AP of this run less the paper's Table III"
        )
        ax.axvspan(-NEAR, NEAR, color=SERIES[0], alpha=0.10, lw=0)
        ax.axvspan(-CLOSE, CLOSE, color=SERIES[0], alpha=0.22, lw=0)
        lines = -ap["method"].map(methods.index)
        ax.plot(ap["gap"], lines, "o", color=SERIES[0], ms=6, alpha=0.75, mew=0)
        return [picture(figure, "closeness", title, caption)]


def protocol_picture(results: Results) -> list[Picture]:
    """Mean AP of each method under each protocol.

    Means are over the data sets that a method finished under all of them. Nothing where
    there is one protocol only.
    """
    if len(results.protocols) < 2:
        return []
    means = _protocol_means(results)
    if means.empty:
        return []
    title = "The same methods under each protocol"
    caption = (
        "Mean AP, settings chosen by AP; only data sets that a method finished under "
        "every protocol count."
    )
    with drawing() as new_figure:
        figure = new_figure(1.1 + 0.34 * len(means))
        names = [results.title(method) for method in means.index]
        ax = _line_per_name(figure, names, "mean AP over data sets")
        for i, values in enumerate(means.to_numpy()):
            ax.plot(values, np.full(len(values), -i), color=PAGE_LINE, lw=2, zorder=1)
        for j, protocol in enumerate(results.protocols):
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
        return [picture(figure, "protocols", title, caption)]


def _protocol_means(results: Results) -> pd.DataFrame:
    """Mean AP, methods by protocols, over data sets finished under all protocols."""
    columns = []
    for protocol in results.protocols:
        frame = results.of_metric(protocol, "AP", "AP")
        finished = frame[frame["status"] == "done"]
        columns.append(finished.set_index(["dataset", "method"])["mean"])
    means = pd.concat(columns, axis=1).dropna().groupby("method").mean()
    return means.loc[[method for method in results.methods if method in means.index]]


def _line_per_name(figure: "Figure", names: Sequence[str], label: str) -> "Axes":
    """Axes with a horizontal line for each name, the first on top."""
    ax = figure.subplots()
    lines = [-i for i in range(len(names))]
    ax.set(yticks=lines, yticklabels=names, xlabel=label, ymargin=0.08)
    quiet(ax, grid="x")
    ax.spines["bottom"].set_visible(False)
    return ax


def rank_pictures(comparisons: Sequence[MethodComparison]) -> dict[str, list[Picture]]:
    """Fig. 9: a critical difference diagram for each metric, by source.

    The paper's own comes first. Where a run has methods outside the paper, ours are the
    diagrams with all of them.
    """
    pictures: dict[str, list[Picture]] = {RECOMPUTED: []}
    for source in widest_sources(comparisons):
        pictures[source] = []
    for comparison in comparisons:
        if comparison.source in pictures:
            pictures[comparison.source].append(_rank_picture(comparison))
    return pictures


def _rank_picture(comparison: MethodComparison) -> Picture:
    """The critical difference diagram of one metric."""
    source = comparison.source
    metric = comparison.metric
    with drawing():
        figure = critical_difference_diagram(comparison.dunn, color=SERIES[0])
    slug = source.replace(", ", "-").replace(" ", "-")
    caption = ""
    if metric == "OE":
        caption = "One-error counts tied scores as right, so its ranks say little."
    return picture(
        figure,
        key=f"figure-9-{slug}-{metric.lower()}",
        title=f"{metric}, {source}",
        caption=caption,
    )
