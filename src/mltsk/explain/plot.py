"""Figures of a model, one call each, and of what it is worth on rows that were left out.

Each takes a fitted classifier (or its ``system_``) and returns a matplotlib ``Figure``, which a notebook shows and
``figure.savefig("name.png")`` writes; what is drawn comes from `mltsk.explain.views`. Names are plain text here, never
mathematics: ``$`` stays ``$``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..columns import MISSING
from ..core.arrays import Array
from ..exceptions import optional
from ..metrics.curves import (
    calibration_groups,
    precision_recall_curve,
    ranking,
    roc_curve,
)
from . import views
from .wording import FALL, RISE, percent, shortened

FIGURES = [
    "shapes",
    "feature_importance",
    "label_correlation",
    "rule_map",
    "membership",
    "size_path",
]
FIGURES += ["calibration", "precision_recall", "roc"]
INK, MUTED, LINE = "#1f2933", "#616e7c", "#d5dae0"
MAX_NAMES = 40  # beyond, only every so-many-th name has room
_RC: Any = (
    dict.fromkeys(["axes.labelcolor", "xtick.color", "ytick.color"], MUTED)
    | dict.fromkeys(["axes.titlecolor", "text.color"], INK)
    | dict.fromkeys(["axes.spines.top", "axes.spines.right", "text.parse_math"], False)
    | dict.fromkeys(["xtick.major.size", "ytick.major.size"], 0)
    | {
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.titlelocation": "left",
        "axes.axisbelow": True,
    }
    | {"axes.edgecolor": LINE, "figure.facecolor": "white"}
)


def shapes(model: Any, *labels: str, top: int = 6) -> Any:
    """What the ``top`` features add to the score of some labels, a small curve each, with the data under it.

    Without names, the four labels are shown that features move most. Marks at the foot are the 5, 10, …, 95 per cent
    of the training data; blue is above the average of the curve, orange below. Named values are bars; a diamond next
    to a curve is what is added if the feature was not measured. Between the dashed lines, or the ends of those on bars,
    the effect lies in 95 of 100 cases, by the covariance of the ridge; a long model from a file has none.
    """
    if not labels:
        view = views.feature_importance(model, None)
        labels = tuple(
            view.labels[j]
            for j in np.sort(np.argsort(-view.values.sum(axis=0), kind="stable")[:4])
        )
    curves = views.shapes(model, *labels, top=top)
    title = (
        "What features add to scores"
        if curves
        else "This model has no general rule: its rules say everything"
    )
    return _panels(curves, _filled, len(labels), 2.8, 1.6, title, sharey=True)


def _filled(ax: Any, curve: views.Curve) -> None:
    ax.set_title(shortened(f"{curve.label} by {curve.feature}", 40), fontsize=8.5)
    ax.axhline(0, color=LINE, lw=0.8)
    if curve.categories:
        named = list(zip(curve.categories.values(), curve.y, strict=True))
        named += [] if curve.missing is None else [(MISSING, curve.missing)]
        error = (
            None
            if curve.error is None
            else np.append(curve.error, [0.0] * (len(named) - len(curve.error)))
        )
        _named_bars(
            ax, [name for name, _ in named], np.array([y for _, y in named]), error
        )
        return
    ax.fill_between(
        curve.x,
        curve.y,
        where=curve.y >= 0,
        color=RISE,
        alpha=0.2,
        lw=0,
        interpolate=True,
    )
    ax.fill_between(
        curve.x,
        curve.y,
        where=curve.y <= 0,
        color=FALL,
        alpha=0.2,
        lw=0,
        interpolate=True,
    )
    if curve.error is not None:
        for side in (-1, 1):
            ax.plot(
                curve.x,
                curve.y + side * curve.error,
                color=MUTED,
                lw=0.6,
                ls=(0, (3, 2)),
            )
    ax.plot(curve.x, curve.y, color=INK, lw=1.4)
    at = curve.quantiles[1:-1]
    ax.plot(
        at,
        np.zeros(len(at)),
        "|",
        color=MUTED,
        ms=5,
        mew=0.7,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )
    ax.set_xlim(curve.x[0], curve.x[-1])
    ax.locator_params(axis="x", nbins=4)
    if curve.missing is not None:  # beside the curve, on no value
        ax.plot(
            1.02,
            curve.missing,
            "D",
            color=INK,
            ms=4,
            transform=ax.get_yaxis_transform(),
            clip_on=False,
        )
        ax.annotate(MISSING, (1.05, curve.missing), xycoords=ax.get_yaxis_transform(), fontsize=7, color=MUTED,
                    rotation=90, va="center", annotation_clip=False)  # fmt: skip


def _named_bars(ax: Any, names: Sequence[str], y: Array, error: Any = None) -> None:
    where = range(len(y))
    ax.bar(
        where,
        y,
        yerr=error,
        color=np.where(y > 0, RISE, FALL),
        alpha=0.5,
        width=0.5,
        ecolor=MUTED,
    )
    length, many = (12, {}) if len(y) <= 4 else (18, {"rotation": 90, "fontsize": 7})
    ax.set_xticks(where, [shortened(name, length) for name in names], **many)


def rule_map(model: Any, X: Any = None) -> Any:
    """Rules as discs, larger where they govern more, apart as far as they fire on different samples; and a table of it.

    ``X`` are samples to fire on, training ones say; without, rules are compared at each other's centres.
    """
    view = views.rule_map(model, X)
    K, where = len(view.coverage), np.arange(len(view.coverage))
    turn = 2.4 * where  # a little apart, so that equal rules do not hide each other
    places = view.positions + 0.02 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    title = (
        f"Far apart: fire on different samples (shows {percent(view.explained)} of it)"
    )
    with _figure(10.0, max(4.6, 0.9 + 0.21 * K), 1, 2, width_ratios=[1.25, 1]) as (
        figure,
        (left, right),
    ):
        left.scatter(
            *places.T,
            s=700 * view.coverage / max(float(view.coverage.mean()), 1e-12),
            color=RISE,
            alpha=0.3,
        )
        for k, (a, b) in enumerate(places):
            left.text(a, b, str(k + 1), ha="center", va="center", fontweight="bold")
        left.margins(0.18)
        left.set(
            xticks=[], yticks=[], title=title, aspect="equal", adjustable="datalim"
        )
        left.spines[["left", "bottom"]].set_visible(False)
        right.barh(
            where,
            view.coverage,
            color=RISE,
            height=0.62,
            label="share of the data that it governs",
        )
        right.plot(
            view.nearest,
            where,
            "o",
            color=FALL,
            ms=5,
            label="distance from the rule most like it",
        )
        right.set_yticks(where, [f"rule {k + 1}" for k in where])
        right.invert_yaxis()
        right.set_xlim(left=0)
        right.xaxis.set_major_formatter("{x:.0%}")
        right.grid(axis="x", color=LINE, lw=0.6)
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), frameon=False)
        figure.suptitle(
            f"{K} rules: what they govern and how they differ",
            x=0.01,
            ha="left",
            color=INK,
        )
    return figure


def label_correlation(model: Any, Y: Any = None) -> Any:
    """How alike labels are (below the diagonal) and how alike their THEN-parts (above), and pair against pair.

    ``Y`` (N, L) are labels to correlate, training ones say; without, the scores at the centres of the rules are taken.
    Of more than 60 labels the map shows those most correlated with any other.
    """
    view = views.label_correlation_view(model, Y)
    strength = np.abs(view.labels - np.eye(len(view.names))).max(axis=1)
    shown, pairs = (
        np.sort(np.argsort(-strength, kind="stable")[:60]),
        np.triu_indices(len(view.names), 1),
    )
    labels, consequents = (
        view.labels[np.ix_(shown, shown)],
        view.consequents[np.ix_(shown, shown)],
    )
    C = np.where(np.tri(len(shown), dtype=bool), labels, consequents)
    np.fill_diagonal(C, np.nan)
    reach = max(float(np.nanmax(np.abs(C), initial=0.0)), 0.1)
    with _figure(10.4, 4.9, 1, 2, width_ratios=[1.2, 1]) as (figure, (left, right)):
        image = _image(
            left,
            C,
            [view.names[j] for j in shown],
            None,
            FALL,
            "#ffffff",
            RISE,
            vmin=-reach,
            vmax=reach,
        )
        left.set_title("Below: labels. Above: their THEN-parts.")
        figure.colorbar(image, ax=left, shrink=0.7, pad=0.02).outline.set_visible(False)
        right.axhline(0, color=LINE, lw=0.8)
        right.axvline(0, color=LINE, lw=0.8)
        size, alpha = (6, 0.25) if len(pairs[0]) > 500 else (26, 0.7)
        right.scatter(
            view.labels[pairs], view.consequents[pairs], s=size, color=RISE, alpha=alpha
        )
        of = f"correlation of two labels in the {'data' if view.from_data else 'scores of the rules'}"
        told = (
            "" if np.isnan(view.agreement) else f": they agree at {view.agreement:.2f}"
        )
        right.set(
            xlabel=of,
            ylabel="correlation of their THEN-parts",
            title=f"Each pair of labels{told}",
        )
    return figure


def feature_importance(model: Any, top: int = 20) -> Any:
    """The ``top`` features and what each does to each label: the standard deviation of what it adds to the score.

    Of more than 30 labels the map shows those that features move most.
    """
    view = views.feature_importance(model, top)
    shown, total = (
        np.sort(np.argsort(-view.values.sum(axis=0), kind="stable")[:30]),
        view.values.sum(axis=1),
    )
    size = min(12.0, 5.2 + 0.24 * len(shown)), max(3.2, 1.7 + 0.24 * len(view.features))
    with _figure(*size, 1, 2, width_ratios=[max(len(shown), 4), 4], sharey=True) as (
        figure,
        (left, right),
    ):
        names, colours = [view.labels[j] for j in shown], ("#ffffff", RISE, "#0b3a66")
        image = _image(
            left,
            view.values[:, shown],
            names,
            view.features,
            *colours,
            vmin=0,
            aspect="auto",
        )
        left.set_title("Effect on each label")
        right.barh(np.arange(len(view.features)), total, color=RISE, height=0.62)
        right.tick_params(labelleft=False)
        right.grid(axis="x", color=LINE, lw=0.6)
        rest = float(view.rest.sum()) / max(
            float(total.sum() + view.rest.sum()), 1e-300
        )
        right.set(
            title="All labels",
            xlabel=f"the others: {percent(rest)} of all" if rest > 0 else "",
        )
        bar = figure.colorbar(
            image,
            ax=right,
            shrink=0.6,
            pad=0.04,
            label="standard deviation of the effect",
        )
        bar.outline.set_visible(False)
    return figure


def size_path(model: Any) -> Any:
    """What brevity costs: average precision of honest scores against terms per label, next to that of the model itself.

    ``model`` is a fitted classifier with its rows, whose ``size_path_`` is drawn.
    """
    path = model.size_path_
    with _figure(6.4, 3.6, 1, 1) as (figure, ax):
        for name, colour, words in (
            ("AP", RISE, "mean over samples"),
            ("macro_AP", FALL, "mean over labels"),
        ):
            ax.plot(path["terms"], path[name], color=colour, lw=1.8, label=words)
            end = path["terms"][-1], path[name][-1]
            ax.annotate(
                words, end, xytext=(6, 0), textcoords="offset points", color=colour
            )
        title = "What brevity costs, on rows that were left out"
        ax.set(
            xlabel="terms per label",
            ylabel="average precision",
            xlim=(0, None),
            title=title,
        )
    return figure


def calibration(model: Any, *labels: str) -> Any:
    """Of rows that were told a probability, how many have the label: per group of rows, with a 95 % interval.

    Rows were told by leave-one-out, so as if they had not been there; without names, the first twelve labels.
    """
    return _judged(
        model,
        labels,
        "shares",
        "What was told, and what was so",
        "probability",
        "share that has it",
    )


def precision_recall(model: Any, *labels: str) -> Any:
    """How many are found against how many of those found are right, at every threshold, on leave-one-out scores."""
    return _judged(
        model, labels, "AP", "Precision and recall", "recall: found of all", "precision"
    )


def roc(model: Any, *labels: str) -> Any:
    """How many are found against how many are false alarms, at every threshold, on leave-one-out scores."""
    return _judged(
        model,
        labels,
        "AUC",
        "Found against false alarms",
        "false alarms among those without",
        "found",
    )


def _judged(
    model: Any, labels: Sequence[str], kind: str, title: str, x: str, y: str
) -> Any:
    """A square for each label, drawn from what its rows were told without themselves."""

    def draw(ax: Any, found: tuple[str, Any]) -> None:
        name, (has, chances, scores) = found
        if kind == "AP":
            ax.axhline(has.mean(), color=LINE, lw=1)
            told, curve = (
                f": AP {ranking(has, scores)[0][0]:.2f}",
                precision_recall_curve(has, scores),
            )
        elif kind == "AUC":
            ax.plot([0, 1], [0, 1], color=LINE, lw=1)
            told, curve = (
                f": AUC {ranking(has, scores)[1][0]:.2f}",
                roc_curve(has, scores),
            )
        else:
            groups = calibration_groups(has, chances)
            ax.plot([0, 1], [0, 1], color=LINE, lw=1)
            ax.vlines(
                groups.forecast, groups.low, groups.high, color=RISE, lw=1, alpha=0.5
            )
            told, curve = "", (groups.forecast, groups.observed)
        ax.plot(
            *curve, color=RISE, lw=1.6, ms=4, marker="o" if kind == "shares" else None
        )
        ax.set(
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            xticks=[0, 0.5, 1],
            yticks=[0, 0.5, 1],
        )
        ax.set_title(shortened(name + told, 30), fontsize=9)

    judged = list(views.left_out(model, *labels).items())[: len(labels) or 12]
    figure = _panels(
        judged,
        draw,
        min(4, len(judged)),
        2.5,
        2.5,
        f"{title}, leaving each row out",
        sharey=True,
    )
    figure.supxlabel(x, fontsize=9, color=MUTED)
    figure.supylabel(y, fontsize=9, color=MUTED)
    return figure


def membership(model: Any, rule: int, top: int = 6) -> Any:
    """Membership curves of the ``top`` most distinct conditions of a rule (counted from 0), in the caller's units."""

    def draw(ax: Any, curve: views.Curve) -> None:
        if curve.center is None:
            _named_bars(ax, list(curve.categories.values()), curve.y)
        else:
            ax.fill_between(curve.x, curve.y, color=RISE, alpha=0.15, lw=0)
            ax.plot(curve.x, curve.y, color=RISE, lw=2)
            ax.axvline(curve.center, color=MUTED, lw=1.2, ls=(0, (4, 3)))
            ax.set_xlim(curve.x[0], curve.x[-1])
            ax.locator_params(axis="x", nbins=4)
            if 0 < len(curve.categories) <= 8:
                ax.set_xticks(
                    list(curve.categories),
                    [shortened(name, 12) for name in curve.categories.values()],
                )
        ax.set(ylim=(0, 1.06), yticks=[0, 0.5, 1])
        ax.set_title(shortened(curve.feature, 38), fontsize=9)
        ax.set_xlabel(
            shortened(
                curve.words.removeprefix(curve.feature).removeprefix(" is").strip(), 52
            ),
            fontsize=8,
        )

    curves = views.membership_curves(model, rule, top)
    told = "" if curves else ": always, it has no conditions"
    return _panels(
        curves, draw, max(1, min(3, len(curves))), 3.5, 2.1, f"Rule {rule + 1}{told}"
    )


def _panels(
    curves: Any,
    draw: Any,
    columns: int,
    width: float,
    height: float,
    title: str,
    **options: Any,
) -> Any:
    """A small drawing of each curve, row by row."""
    rows = max(1, -(-len(curves) // columns))
    with _figure(
        width * columns, 0.5 + height * rows, rows, columns, squeeze=False, **options
    ) as (figure, axes):
        for ax, curve in zip(axes.flat, curves, strict=False):
            draw(ax, curve)
        for ax in axes.flat[len(curves) :]:
            ax.set_axis_off()
        figure.suptitle(title, x=0.01, ha="left", color=INK)
    return figure


def _image(
    ax: Any,
    C: Array,
    across: Sequence[str],
    down: Sequence[str] | None,
    *colours: str,
    **options: Any,
) -> Any:
    """A matrix in colours from the smallest to the largest value, with names."""
    from matplotlib.colors import LinearSegmentedColormap

    image = ax.imshow(
        C,
        cmap=LinearSegmentedColormap.from_list("own", colours),
        interpolation="nearest",
        **options,
    )
    for axis, names, length in (
        ("x", across, 22),
        ("y", across if down is None else down, 34),
    ):
        where = range(0, len(names), -(-len(names) // MAX_NAMES))
        size, turned = (
            float(np.clip(170 / max(len(where), 1), 5.5, 9)),
            {"rotation": 90} if axis == "x" else {},
        )
        getattr(ax, f"set_{axis}ticks")(
            where, [shortened(names[i], length) for i in where], fontsize=size, **turned
        )
    ax.spines[["left", "bottom"]].set_visible(False)
    return image


@contextmanager
def _figure(
    width: float,
    height: float,
    rows: int,
    columns: int,
    sharey: bool = False,
    squeeze: bool = True,
    **grid: Any,
) -> Iterator[tuple[Any, Any]]:
    """A new figure and its axes; matplotlib is imported here, and its global state is left alone."""
    with optional("matplotlib", "report").rc_context(_RC):
        figure = optional("matplotlib.figure", "report").Figure(
            figsize=(width, height), layout="constrained"
        )
        yield (
            figure,
            figure.subplots(
                rows, columns, squeeze=squeeze, sharey=sharey, gridspec_kw=grid or None
            ),
        )
