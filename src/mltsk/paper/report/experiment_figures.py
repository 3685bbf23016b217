"""Figures of an experiment's report that come from its tables: closeness to the paper, protocols, Fig. 9."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...pages import figures
from ..experiments.protocol_tables import protocols_of
from ..experiments.rank_tables import RECOMPUTED, Comparison, widest_sources
from ..experiments.results import Results
from ..experiments.selection import methods_of
from ..experiments.summary import CLOSE, NEAR
from ..experiments.tables import Choices, method_title
from ..significance import critical_difference_diagram
from .pictures import Picture, page_colours, picture

_ONE_ERROR = "One-error counts tied scores as right, so its ranks say little."


def closeness_picture(gaps: pd.DataFrame) -> Picture | None:
    """AP less the paper's Table III: a dot for each data set, a line for each method. None without any."""
    ap = gaps[gaps["metric"] == "AP"]
    methods = list(dict.fromkeys(ap["method"]))[::-1]
    if not methods:
        return None
    with page_colours():
        figure, ax = _axes(7.2, 0.9 + 0.34 * len(methods))
        ax.axvspan(-NEAR, NEAR, color=figures.SERIES[0], alpha=0.10, lw=0)
        ax.axvspan(-CLOSE, CLOSE, color=figures.SERIES[0], alpha=0.22, lw=0)
        for i, method in enumerate(methods[::-1]):
            values = ap[ap["method"] == method]["gap"].to_numpy()
            ax.plot(values, np.full(len(values), -i), "o", color=figures.SERIES[0], ms=6, alpha=0.75, mew=0)
        ax.set_yticks([-i for i in range(len(methods))], methods[::-1])
        ax.set_xlabel("AP of this run less the paper's Table III")
        _quiet(ax, "x")
        caption = f"Each dot is a data set. The bands mark differences of up to {CLOSE} and {NEAR}."
        return picture(figure, "closeness", "How close AP is to the paper's", caption)


def protocol_picture(results: Results, choices: Choices) -> Picture | None:
    """Mean AP of each method under each protocol, over the data sets that it finished under all of them."""
    protocols = protocols_of(results)
    means = _protocol_means(results, choices, protocols) if len(protocols) > 1 else {}
    if not means:
        return None
    with page_colours():
        figure, ax = _axes(7.2, 1.1 + 0.34 * len(means))
        for i, values in enumerate(means.values()):
            ax.plot(values, [-i] * len(values), color=figures.LINE, lw=2, zorder=1)
            for j, value in enumerate(values):
                label = protocols[j] if i == 0 else None
                ax.plot(value, -i, "o", color=figures.SERIES[j], ms=7, label=label, zorder=2)
        ax.set_yticks([-i for i in range(len(means))], list(means))
        ax.set_xlabel("mean AP over data sets")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
        _quiet(ax, "x")
        caption = "Mean AP, settings chosen by AP; only data sets that a method finished under every protocol count."
        return picture(figure, "protocols", "The same methods under each protocol", caption)


def rank_pictures(found: Sequence[Comparison]) -> dict[str, list[Picture]]:
    """Fig. 9: a critical difference diagram for each metric, by source; the paper's own first.

    Where a run has methods outside the paper, ours are the diagrams with all of them.
    """
    sources = [RECOMPUTED, *widest_sources(found)]
    return {source: [_rank_picture(one) for one in found if one.source == source] for source in sources}


def _rank_picture(one: Comparison) -> Picture:
    with page_colours():
        figure = critical_difference_diagram(one.dunn, color=figures.SERIES[0])
        kind = one.source.replace(", ", "-").replace(" ", "-")
        title = f"{one.metric}, {one.source}"
        return picture(figure, f"figure-9-{kind}-{one.metric.lower()}", title, _ONE_ERROR if one.metric == "OE" else "")


def _protocol_means(results: Results, choices: Choices, protocols: Sequence[str]) -> dict[str, list[float]]:
    frames = [choices[protocol, "AP"] for protocol in protocols]
    frames = [frame[(frame["metric"] == "AP") & (frame["status"] == "done")] for frame in frames]
    means = {}
    for method in methods_of(results):
        columns = [frame[frame["method"] == method].set_index("dataset")["mean"] for frame in frames]
        both = pd.concat(columns, axis=1).dropna()
        if len(both):
            means[method_title(results, method)] = both.mean().tolist()
    return means


def _axes(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _quiet(ax: Any, grid: str) -> None:
    ax.grid(axis=grid, color=figures.LINE, lw=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)
    ax.margins(y=0.08)
    ax.spines[["left", "bottom"]].set_visible(False)
