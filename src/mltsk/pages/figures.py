"""Figures of a page as inline SVG that follows the page's colours.

matplotlib draws with the stand-in colours below; `_svg` replaces them by CSS variables, so that one picture is right
in light and in dark. Names of features and labels are plain text here, never mathematics: ``$`` stays ``$``.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np

from ..exceptions import optional

INSTALL = 'pip install "mltsk[report]"'

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
MAX_VECTOR_CELLS = 2500  # a larger map becomes a picture inside the SVG


def metric_panel(metric: dict[str, Any], names: dict[str, str]) -> str:
    """Mean and standard deviation of one metric for each of ``names`` (key of the metric: what to call it)."""
    with _figure(3.3, 1.5, f"{metric['long_name']}: mean and standard deviation") as (ax, done):
        for i, key in enumerate(names):
            mean, sd = metric[key]["mean"], metric[key]["sd"]
            ax.errorbar(mean, -i, xerr=sd, fmt="o", color=SERIES[i], ms=7, lw=2, capsize=3)
            ax.text(1.03, -i, f"{mean:.3f}", transform=ax.get_yaxis_transform(), va="center", color=INK)
        ax.set_yticks([-i for i in range(len(names))], list(names.values()))
        ax.set_ylim(-len(names) + 0.4, 0.6)
        ax.margins(x=0.12)
        ax.locator_params(axis="x", nbins=4)
        ax.grid(axis="x", color=LINE, lw=0.6)
        ax.tick_params(length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
    return done()


def correlation_map(matrix: Sequence[Sequence[float]], labels: Sequence[str], title: str) -> str:
    """A symmetric matrix of correlations: blue for positive, orange for negative, stronger where larger."""
    C = np.asarray(matrix, dtype=np.float64)
    with _figure(4.2, 4.2, title) as (ax, done):
        strength = np.abs(C) / max(np.abs(C[~np.eye(len(C), dtype=bool)]).max(initial=0.0), 0.2)
        colours = np.where(C[..., None] >= 0, POSITIVE, NEGATIVE)
        rgba = np.concatenate([colours, np.clip(strength, 0, 1)[..., None]], axis=2)
        rgba[np.eye(len(C), dtype=bool)] = (*POSITIVE, 0.0)
        _cells(ax, rgba)
        where = range(0, len(labels), -(-len(labels) // 40))  # beyond forty, only every so-many-th name has room
        names, size = [_shortened(labels[i]) for i in where], float(np.clip(130 / max(len(where), 1), 5, 9))
        ax.set_xticks(where, names, rotation=90, fontsize=size)
        ax.set_yticks(where, names, fontsize=size)
        ax.tick_params(length=0, colors=MUTED)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set_aspect("equal")
    return done()


def firing_map(values: Sequence[Sequence[float]], names: Sequence[str], title: str) -> str:
    """Firing strength of rules (rows) over sorted samples (columns)."""
    M = np.asarray(values, dtype=np.float64)
    with _figure(4.8, 0.7 + 0.17 * len(M), title) as (ax, done):
        rgba = np.concatenate([np.broadcast_to(POSITIVE, (*M.shape, 3)), (M / M.max())[..., None] ** 0.7], axis=2)
        ax.imshow(rgba, aspect="auto", interpolation="nearest")
        ax.hlines(np.arange(1, len(M)) - 0.5, -0.5, M.shape[1] - 0.5, color=CARD, lw=1.2)
        ax.set_yticks(range(len(M)), names, fontsize=8)
        ax.set_xticks([])
        ax.set_xlabel("samples, by the rule that fires most")
        ax.tick_params(length=0)
    return done()


def _cells(ax: Any, rgba: Any) -> None:
    n = len(rgba)
    if n * n > MAX_VECTOR_CELLS:
        ax.imshow(rgba, interpolation="nearest")
        return
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    boxes = [Rectangle((j - 0.46, i - 0.46), 0.92, 0.92) for i in range(n) for j in range(n)]
    ax.add_collection(PatchCollection(boxes, facecolors=rgba.reshape(-1, 4), edgecolors="none"))
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)


def _shortened(name: str, length: int = 18) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"


@contextmanager
def _figure(width: float, height: float, title: str) -> Iterator[tuple[Any, Any]]:
    """Axes of a new figure, and a function that returns the SVG once the block is done."""
    result: list[str] = []
    with optional("matplotlib", "report").rc_context({**_RC, "svg.hashsalt": title}):
        figure = optional("matplotlib.figure", "report").Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots(), lambda: result[0]
        result.append(_svg(figure, title))


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
    width = float(re.search(r'width="([\d.]+)pt"', head)[1]) * 4 / 3
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    head = head.replace("<svg", f'<svg role="img" aria-label="{escape(title)}" style="max-width: {width:.0f}px"', 1)
    return f"{head}>{body}"
