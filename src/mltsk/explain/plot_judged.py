"""Figures of what a model is worth, on rows that were left out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core.arrays import Array
from ..metrics.curves import (
    calibration_groups,
    precision_recall_curve,
    ranking,
    roc_curve,
)
from . import views
from .canvas import LINE_COLOUR, MAX_DRAWN_LABELS, MUTED_COLOUR, draw_square, panels
from .page import RISE
from .subjects import Mask
from .views import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Judged = tuple[str, tuple[Mask, Array, Array]]


def calibration(model: Model, *labels: str) -> "Figure":
    """Of rows with a predicted probability, how many have the label.

    Each point is a group of rows, with a 95 % interval. Probabilities are honest, by
    leave-one-out; without names, the first twelve labels.
    """
    return _judged(
        model,
        labels,
        _draw_calibration,
        title="Predicted and observed",
        x="probability",
        y="share that has it",
    )


def precision_recall(model: Model, *labels: str) -> "Figure":
    """How many are found against how many of those found are right.

    At every threshold, on leave-one-out scores.
    """
    return _judged(
        model,
        labels,
        _draw_precision_recall,
        title="Precision and recall",
        x="recall: found of all",
        y="precision",
    )


def roc(model: Model, *labels: str) -> "Figure":
    """How many are found against how many are false alarms.

    At every threshold, on leave-one-out scores.
    """
    return _judged(
        model,
        labels,
        _draw_roc,
        title="Found against false alarms",
        x="false alarms among those without",
        y="found",
    )


def _judged(
    model: Model,
    labels: Sequence[str],
    draw: "Callable[[Axes, Judged], None]",
    *,
    title: str,
    x: str,
    y: str,
) -> "Figure":
    """A square for each label, drawn from scores of rows that were left out."""
    judged = list(views.left_out(model, *labels).items())
    judged = judged[: len(labels) or MAX_DRAWN_LABELS]
    figure = panels(
        judged,
        draw,
        min(4, len(judged)),
        size=(2.5, 2.5),
        title=f"{title}, leaving each row out",
        sharey=True,
    )
    figure.supxlabel(x, fontsize=9, color=MUTED_COLOUR)
    figure.supylabel(y, fontsize=9, color=MUTED_COLOUR)
    return figure


def _draw_calibration(ax: "Axes", judged: Judged) -> None:
    label, (has, probabilities, _) = judged
    groups = calibration_groups(has, probabilities)
    ax.plot([0, 1], [0, 1], color=LINE_COLOUR, lw=1)
    ax.vlines(groups.forecast, groups.low, groups.high, color=RISE, lw=1, alpha=0.5)
    ax.plot(groups.forecast, groups.observed, color=RISE, lw=1.6, ms=4, marker="o")
    draw_square(ax, label)


def _draw_precision_recall(ax: "Axes", judged: Judged) -> None:
    label, (has, _, scores) = judged
    ax.axhline(has.mean(), color=LINE_COLOUR, lw=1)
    ax.plot(*precision_recall_curve(has, scores), color=RISE, lw=1.6)
    draw_square(ax, f"{label}: AP {ranking(has, scores)[0][0]:.2f}")


def _draw_roc(ax: "Axes", judged: Judged) -> None:
    label, (has, _, scores) = judged
    ax.plot([0, 1], [0, 1], color=LINE_COLOUR, lw=1)
    ax.plot(*roc_curve(has, scores), color=RISE, lw=1.6)
    draw_square(ax, f"{label}: AUC {ranking(has, scores)[1][0]:.2f}")
