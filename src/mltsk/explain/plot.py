"""Figures of a model, one call each; those of its worth are in `plot_judged`.

Each takes a fitted classifier (or its ``system_``) and returns a matplotlib ``Figure``,
which a notebook shows and ``figure.savefig("name.png")`` writes. What is drawn comes
from `mltsk.explain.views`. Names are plain text here, never mathematics: ``$`` stays
``$``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Array, Matrix
from ..exceptions import InputError
from . import views
from .canvas import (
    INK_COLOUR,
    LINE_COLOUR,
    MUTED_COLOUR,
    draw_matrix,
    panels,
    styled_figure,
)
from .page import FALL, RISE
from .pair_effects import feature_pairs
from .pairs import FeaturePair
from .plot_curves import draw_membership, draw_shape
from .plot_judged import calibration, precision_recall, roc
from .plot_pairs import HeatMap, draw_heat_map
from .subjects import Index, largest_first
from .views import Model
from .wording import percent, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

DARKEST_RISE = "#0b3a66"
MAX_CORRELATED_LABELS = 60
MAX_IMPORTANCE_LABELS = 30
HOW_HEAT_MAPS_READ = (
    "Blue makes a label more likely, orange less likely, on top of what each feature "
    "does alone. Hatched: hardly any data."
)
MANY_PAIRS = 500  # of labels: beyond, the dots of a figure are small and faint

# features -----------------------------------------------------------------------------


class ModelFigures:
    """The figures of one model: ``clf.plot.shapes()`` is ``shapes(clf)``."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def shapes(self, *labels: str, top: int = 6) -> "Figure":
        """What features add to labels, see `mltsk.explain.plot.shapes`."""
        return shapes(self._model, *labels, top=top)

    def pair(self, index: int, *labels: str) -> "Figure":
        """Two features that act together, see `mltsk.explain.plot.pair`."""
        return pair(self._model, index, *labels)

    def pairs(self, *labels: str, top: int = 6) -> "Figure":
        """The largest pairs of features, see `mltsk.explain.plot.pairs`."""
        return pairs(self._model, *labels, top=top)

    def feature_importance(self, top: int = 20) -> "Figure":
        """How much features matter, see `mltsk.explain.plot.feature_importance`."""
        return feature_importance(self._model, top)

    def label_correlation(self, Y: ArrayLike | None = None) -> "Figure":
        """Which labels go together, see `mltsk.explain.plot.label_correlation`."""
        return label_correlation(self._model, Y)

    def rule_map(self, X: Matrix | None = None) -> "Figure":
        """How exceptions lie to each other, see `mltsk.explain.plot.rule_map`."""
        return rule_map(self._model, X)

    def membership(self, rule: int, top: int = 6) -> "Figure":
        """Conditions of an exception, see `mltsk.explain.plot.membership`."""
        return membership(self._model, rule, top)

    def size_path(self) -> "Figure":
        """What brevity costs, see `mltsk.explain.plot.size_path`."""
        return size_path(self._model)

    def calibration(self, *labels: str) -> "Figure":
        """Whether probabilities are right, see `mltsk.explain.plot.calibration`."""
        return calibration(self._model, *labels)

    def precision_recall(self, *labels: str) -> "Figure":
        """Precision over recall, see `mltsk.explain.plot.precision_recall`."""
        return precision_recall(self._model, *labels)

    def roc(self, *labels: str) -> "Figure":
        """Cases found over false alarms, see `mltsk.explain.plot.roc`."""
        return roc(self._model, *labels)


def shapes(model: Model, *labels: str, top: int = 6) -> "Figure":
    """What the ``top`` features add to some labels, a small curve each.

    They add to log-odds: 0 is a probability of 50 %, 1 of 73 %, 2 of 88 %. Without
    names, the four labels are shown that features move most. Marks at the foot are the
    5, 10, …, 95 per cent of the training data; blue is above the average of the curve,
    orange below. Named values are bars; a diamond next to a curve is what is added if
    the feature was not measured. Between the dashed lines, or the ends of those on
    bars, the effect lies in 95 of 100 cases, by the covariance of the ridge; a long
    model from a file has none.
    """
    if not labels:
        importance = views.feature_importance(model, None)
        largest = _largest(importance.values.sum(axis=0), 4)
        labels = tuple(importance.labels[j] for j in largest)
    curves = views.shapes(model, *labels, top=top)
    title = f"What features add to {_scale_of(model)}"
    if not curves:
        title = "This model has no general rule: its rules say everything"
    size = (2.8, 1.6)
    return panels(curves, draw_shape, len(labels), size=size, title=title, sharey=True)


def pair(model: Model, index: int, *labels: str) -> "Figure":
    """What two features add to log-odds together, a heat map for each label.

    Pairs are counted from 0, the largest, as in ``clf.pairs_``. Without names, the four
    labels are shown that the pair moves most. Blue makes a label more likely, orange
    less likely. The numbers are what is added, 0 on average over the data; between two
    values they change evenly. Cells with hardly any data are hatched.
    """
    every = feature_pairs(views.effects_of(model))
    if not 0 <= index < len(every):
        choices = "there are none"
        if every:
            choices = f"they are counted from 0 to {len(every) - 1}"
        raise InputError(f"There is no pair {index}: {choices}.")
    chosen = every[index]
    places = _pair_labels(chosen, labels)
    reach = float(np.abs(chosen.surface[:, :, places]).max(initial=0.0)) or 1.0
    maps = [HeatMap(chosen, j, reach, chosen.labels[j]) for j in places]
    scale = _scale_of(model)
    title = f"{chosen.title}: what both together add to {scale}, 0 on average"
    return _heat_maps(maps, title)


def pairs(model: Model, *labels: str, top: int = 6) -> "Figure":
    """The ``top`` pairs of features, each for the label that it moves most.

    With names of labels, the label is one of these.
    """
    maps = []
    for chosen in feature_pairs(views.effects_of(model))[:top]:
        j = _pair_labels(chosen, labels)[0]
        reach = float(np.abs(chosen.surface[:, :, j]).max(initial=0.0)) or 1.0
        maps.append(HeatMap(chosen, j, reach, chosen.labels[j]))
    scale = _scale_of(model)
    title = f"Two features together: what both values add to {scale}, 0 on average"
    if not maps:
        title = "No features act together in this model"
    return _heat_maps(maps, title)


def _pair_labels(chosen: FeaturePair, labels: Sequence[str]) -> list[int]:
    """Positions of some labels, or of four, that a pair moves most, largest first."""
    if not labels:
        return chosen.largest_labels(4)
    every = np.arange(len(chosen.labels))
    named = positions(chosen.labels, labels, every, "label")
    return largest_first(named, chosen.sizes[named])


def _heat_maps(maps: Sequence[HeatMap], title: str) -> "Figure":
    """Heat maps next to each other, with the meaning of their colours."""
    columns = max(1, min(2, len(maps)))
    figure = panels(maps, draw_heat_map, columns, size=(4.4, 2.9), title=title)
    figure.supxlabel(HOW_HEAT_MAPS_READ, fontsize=8, color=MUTED_COLOUR)
    return figure


def feature_importance(model: Model, top: int = 20) -> "Figure":
    """The ``top`` features and what each does to each label.

    That is the standard deviation of what it adds to log-odds. Of more than 30 labels
    the map shows those that features move most.
    """
    view = views.feature_importance(model, top)
    shown = _largest(view.values.sum(axis=0), MAX_IMPORTANCE_LABELS)
    width = min(12.0, 5.2 + 0.24 * len(shown))
    height = max(3.2, 1.7 + 0.24 * len(view.features))
    ratios = [max(len(shown), 4), 4]
    with styled_figure(width, height, columns=2, width_ratios=ratios, sharey=True) as (
        figure,
        (left, right),
    ):
        image = draw_matrix(
            left,
            view.values[:, shown],
            across=[view.labels[j] for j in shown],
            down=view.features,
            colours=("#ffffff", RISE, DARKEST_RISE),
            vmin=0,
            aspect="auto",
        )
        left.set_title("Effect on each label")
        _draw_totals(right, view)
        bar = figure.colorbar(
            image,
            ax=right,
            shrink=0.6,
            pad=0.04,
            label="standard deviation of the effect",
        )
        bar.outline.set_visible(False)
    return figure


def _draw_totals(ax: "Axes", view: views.FeatureImportance) -> None:
    """What each feature does to all labels together, as bars."""
    total = view.values.sum(axis=1)
    ax.barh(np.arange(len(view.features)), total, color=RISE, height=0.62)
    ax.tick_params(labelleft=False)
    ax.grid(axis="x", color=LINE_COLOUR, lw=0.6)
    every = float(total.sum() + view.rest.sum())
    rest = float(view.rest.sum()) / max(every, 1e-300)
    others = f"the others: {percent(rest)} of all" if rest > 0 else ""
    ax.set(title="All labels", xlabel=others)


# rules and labels ---------------------------------------------------------------------


def rule_map(model: Model, X: Matrix = None) -> "Figure":
    """Rules as discs and as a table: what they govern and how they differ.

    Of many rules, the 60 are shown that govern most. Discs are larger where rules
    govern more, and apart as far as they fire on different samples. ``X`` are samples
    to fire on, training ones say; without, rules are compared at each other's centres.
    """
    view = views.rule_map(model, X)
    K = len(view.coverage)
    height = max(4.6, 0.9 + 0.21 * K)
    with styled_figure(10.0, height, columns=2, width_ratios=[1.25, 1]) as (
        figure,
        (left, right),
    ):
        _draw_discs(left, view)
        _draw_coverage(right, view)
        rules = f"{K} rules"
        n_rules = len(views.effects_of(model).system.centers)
        if n_rules > K:
            rules = f"{K} of {n_rules:,} rules"
        title = f"{rules}: what they govern and how they differ"
        figure.suptitle(title, x=0.01, ha="left", color=INK_COLOUR)
    return figure


def _draw_discs(ax: "Axes", view: views.RuleMap) -> None:
    """Rules in the plane, with their numbers."""
    # a little apart, so that equal rules do not hide each other
    turn = 2.4 * np.arange(len(view.coverage))
    places = view.positions + 0.02 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    areas = 700 * view.coverage / max(float(view.coverage.mean()), 1e-12)
    ax.scatter(places[:, 0], places[:, 1], s=areas, color=RISE, alpha=0.3)
    for k, (x, y) in zip(view.rules.tolist(), places, strict=True):
        ax.text(x, y, str(k + 1), ha="center", va="center", fontweight="bold")
    ax.margins(0.18)
    explained = percent(view.explained)
    ax.set(
        xticks=[],
        yticks=[],
        title=f"Far apart: fire on different samples (shows {explained} of it)",
        aspect="equal",
        adjustable="datalim",
    )
    ax.spines[["left", "bottom"]].set_visible(False)


def _draw_coverage(ax: "Axes", view: views.RuleMap) -> None:
    """What each rule governs, and how far it is from the one most like it."""
    places = np.arange(len(view.coverage))
    ax.barh(
        places,
        view.coverage,
        color=RISE,
        height=0.62,
        label="share of the data that it governs",
    )
    ax.plot(
        view.nearest,
        places,
        "o",
        color=FALL,
        ms=5,
        label="distance from the rule most like it",
    )
    ax.set_yticks(places, [f"rule {k + 1}" for k in view.rules.tolist()])
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.grid(axis="x", color=LINE_COLOUR, lw=0.6)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), frameon=False)


def label_correlation(model: Model, Y: ArrayLike | None = None) -> "Figure":
    """How alike labels are and how alike their THEN-parts, and pair against pair.

    ``Y`` (N, L) are labels to correlate, training ones say; without, the scores at the
    centres of the rules are taken. Of more than 60 labels the map shows those most
    correlated with any other.
    """
    view = views.label_correlation_view(model, Y)
    with styled_figure(10.4, 4.9, columns=2, width_ratios=[1.2, 1]) as (
        figure,
        (left, right),
    ):
        image = _draw_both_correlations(left, view)
        bar = figure.colorbar(image, ax=left, shrink=0.7, pad=0.02)
        bar.outline.set_visible(False)
        _draw_pairs(right, view)
    return figure


def _draw_both_correlations(ax: "Axes", view: views.LabelCorrelation) -> "AxesImage":
    """Correlations of labels below the diagonal, of their THEN-parts above."""
    strength = np.abs(view.labels - np.eye(len(view.names))).max(axis=1)
    shown = _largest(strength, MAX_CORRELATED_LABELS)
    both = np.ix_(shown, shown)
    below = np.tri(len(shown), dtype=bool)
    C = np.where(below, view.labels[both], view.consequents[both])
    np.fill_diagonal(C, np.nan)
    reach = max(float(np.nanmax(np.abs(C), initial=0.0)), 0.1)
    names = [view.names[j] for j in shown]
    ax.set_title("Below: labels. Above: their THEN-parts.")
    return draw_matrix(
        ax,
        C,
        across=names,
        down=names,
        colours=(FALL, "#ffffff", RISE),
        vmin=-reach,
        vmax=reach,
    )


def _draw_pairs(ax: "Axes", view: views.LabelCorrelation) -> None:
    """A dot for each pair of labels: how alike they are, and their THEN-parts."""
    ax.axhline(0, color=LINE_COLOUR, lw=0.8)
    ax.axvline(0, color=LINE_COLOUR, lw=0.8)
    pairs = np.triu_indices(len(view.names), 1)
    size = 26
    alpha = 0.7
    if len(pairs[0]) > MANY_PAIRS:
        size = 6
        alpha = 0.25
    x = view.labels[pairs]
    ax.scatter(x, view.consequents[pairs], s=size, color=RISE, alpha=alpha)
    source = "data" if view.from_data else "scores of the rules"
    title = "Each pair of labels"
    if not np.isnan(view.agreement):
        title += f": they agree at {view.agreement:.2f}"
    ax.set(
        xlabel=f"correlation of two labels in the {source}",
        ylabel="correlation of their THEN-parts",
        title=title,
    )


def membership(model: Model, rule: int, top: int = 6) -> "Figure":
    """Membership curves of the ``top`` most distinct conditions of a rule.

    Rules are counted from 0; values are in the caller's units.
    """
    curves = views.membership_curves(model, rule, top)
    title = f"Rule {rule + 1}"
    if not curves:
        title += ": always, it has no conditions"
    columns = max(1, min(3, len(curves)))
    return panels(curves, draw_membership, columns, size=(3.5, 2.1), title=title)


# what a model is worth ----------------------------------------------------------------


def size_path(model: Model) -> "Figure":
    """What brevity costs: honest average precision against statements per label.

    ``model`` is a fitted classifier with its rows, whose ``size_path_`` is drawn.
    """
    path = model.size_path_
    lines = (("AP", RISE, "mean over samples"), ("macro_AP", FALL, "mean over labels"))
    with styled_figure(6.4, 3.6) as (figure, ax):
        for metric, colour, words in lines:
            ax.plot(path["statements"], path[metric], color=colour, lw=1.8, label=words)
            ax.annotate(
                words,
                tuple(path[["statements", metric]].iloc[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                color=colour,
            )
        ax.set(
            xlabel="statements per label",
            ylabel="average precision",
            xlim=(0, None),
            title="What brevity costs, on rows that were left out",
        )
    return figure


# shared -------------------------------------------------------------------------------


def _scale_of(model: Model) -> str:
    """What the numbers of a model add up to, in words."""
    return "log-odds" if views.effects_of(model).system.has_log_odds else "scores"


def _largest(sizes: Array, most: int) -> Index:
    """Where the ``most`` largest sizes are, in their order."""
    return np.sort(np.argsort(-sizes, kind="stable")[:most])
