"""The figures of the studies, the paper's Fig. 3 to 8.

Each is drawn from ``{data set: result of the study}``; `study_captions` says in words
what it shows.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Array
from ...tables.report import cut
from ..experiments.published import METRICS
from .figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PAGE_MUTED,
    PURPLE,
    RED,
    SKY,
    NewFigure,
    drawing,
    quiet,
)
from .study_captions import StudyResult, StudyResults, as_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Small type, for full-width figures of many panels.
SMALL_TYPE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.titlelocation": "left",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
}
# Blue and orange, which every kind of eye tells apart.
POSITIVE_RGB = (0.16, 0.50, 0.80)
NEGATIVE_RGB = (0.86, 0.38, 0.18)
# Labels up to which a heat map shows its numbers, and their names.
MAX_LABELS_WITH_NUMBERS = 10
MAX_LABELS_WITH_NAMES = 30
# Name, colour and marker of each arm of the coupling study.
ARM_STYLES = {
    "off": ("off (alpha = 0)", GREY, "x"),
    "paper": ("paper's R", RED, "D"),
    "laplacian": ("Laplacian", BLUE, "o"),
    "signed": ("signed", ORANGE, "s"),
    "shift": ("shift", GREEN, "^"),
    "precision": ("precision", PURPLE, "v"),
}
# The three comparisons of the coupling study.
COUPLING_TITLES = {
    "groups": (
        "The paper's comparison: group B - group A, settings chosen on the folds shown"
    ),
    "paper": "Choice on inner folds, the paper's rules: each arm - ridge control",
    "ours": "Our default, its weights from leave-one-out: each coupling - none",
}
# Gains are linear up to this, and logarithmic beyond, where few points lie.
LINEAR_GAIN = 0.01


def study_figure(name: str, results: StudyResults) -> "Figure":
    """The figure of a study."""
    with drawing(**SMALL_TYPE) as new_figure:
        return _DRAWERS[name](results, new_figure)


def _draw_label_correlation(results: StudyResults, new_figure: NewFigure) -> "Figure":
    """Fig. 3 and 4: correlation of labels next to that of consequents.

    A row per data set.
    """
    figure = new_figure(2.75 * len(results))
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, (name, result) in zip(axes, results.items(), strict=True):
        names = _short_names(result["labels"])
        _draw_heat_map(row[0], result["of_labels"], names)
        row[0].set(title=f"{name}: labels", yticklabels=names)
        models = result["models"]
        _draw_heat_map(row[1], models["paper"]["correlation"], names)
        row[1].set(title=_agreement(models, "as published", "paper", "uncoupled"))
        _draw_heat_map(row[2], models["ours"]["correlation"], names)
        row[2].set(title=_agreement(models, "our default", "ours", "coupled"))
    return figure


def _short_names(labels: Sequence[str]) -> list[str]:
    """Names as short as a heat map needs them; none where labels are many."""
    if len(labels) > MAX_LABELS_WITH_NAMES:
        return []
    return [cut(label, 16) for label in labels]


def _agreement(models: StudyResult, title: str, key: str, other: str) -> str:
    """Title of a panel: agreement of a model with the labels, and of its control."""
    own = _correlation_text(models[key]["pearson"])
    control = _correlation_text(models[f"{key}_{other}"]["pearson"])
    return f"consequents, {title}\nr = {own}, {other} {control}"


def _correlation_text(value: float | None) -> str:
    """A correlation with two decimals."""
    if value is None:
        return "undefined"
    return f"{value:.2f}"


def _draw_heat_map(ax: "Axes", matrix: object, names: Sequence[str]) -> None:
    """Correlations (L, L) as colours; with few labels, as numbers too.

    Names stand below, and a tick without a name at the left.
    """
    C = as_numbers(matrix)
    ax.imshow(_colours(C), interpolation="nearest")
    if len(C) <= MAX_LABELS_WITH_NUMBERS:
        for i, j in np.argwhere(~np.eye(len(C), dtype=bool)):
            text = f"{C[i, j]:.2f}".replace("0.", ".")
            ax.text(j, i, text, ha="center", va="center", fontsize=6.5)
    places = range(len(names))
    ax.set_xticks(places, names, rotation=90)
    ax.set(yticks=places, yticklabels=[""] * len(names))
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)


def _colours(C: Array) -> Array:
    """RGBA (L, L, 4): sign as colour, size as opacity, the diagonal in grey."""
    shown = np.nan_to_num(C)[..., None]
    rgb = np.where(shown >= 0, POSITIVE_RGB, NEGATIVE_RGB)
    rgba = np.concatenate([rgb, np.abs(shown)], axis=2)
    rgba[np.eye(len(C), dtype=bool)] = (0.5, 0.5, 0.5, 0.15)
    return rgba


def _draw_coupling_effect(results: StudyResults, new_figure: NewFigure) -> "Figure":
    """Fig. 5: group B against A as the paper compares them, then every arm.

    Arms are compared with the ridge control.
    """
    figure = new_figure(3 * (0.15 * len(results) + 0.65) + 0.8)
    rows = figure.subfigures(3, 1, squeeze=False)[:, 0]
    handles = {}
    for row, (kind, title) in zip(rows, COUPLING_TITLES.items(), strict=True):
        axes = row.subplots(1, len(METRICS), sharey=True)
        row.suptitle(title, x=0.01, ha="left", fontsize=8.5)
        for m, ax in enumerate(axes):
            if kind == "groups":
                _draw_group_gains(ax, results, m)
            else:
                _draw_arm_gains(ax, results, kind, m)
            _finish_gains(ax, results)
            ax.set_title(METRICS[m], fontweight="bold")
        for handle in axes[0].get_legend_handles_labels()[0]:
            handles[handle.get_label()] = handle
    label = "improvement, mean over folds: to the right is better"
    reduced = [
        f"{name} {result['part']}" for name, result in results.items() if result["part"]
    ]
    if reduced:
        label += f"\n* {', '.join(reduced)}"
    rows[2].supxlabel(label, fontsize=8)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def _sign(m: int) -> float:
    """1 for a metric that should be large, -1 for a loss."""
    return 1.0 if METRICS[m] == "AP" else -1.0


def _draw_group_gains(ax: "Axes", results: StudyResults, m: int) -> None:
    """Gain of group B over A by metric m, a line per data set."""
    groups = [result["groups"] for result in results.values()]
    A = as_numbers([group["A"]["mean"] for group in groups])[:, m]
    B = as_numbers([group["B"]["mean"] for group in groups])[:, m]
    ax.plot(
        _sign(m) * (B - A),
        range(len(A)),
        "D",
        color=RED,
        mfc="none",
        label="group B - group A",
        ms=4.5,
    )


def _draw_arm_gains(ax: "Axes", results: StudyResults, kind: str, m: int) -> None:
    """Gain of each arm over the ridge control by metric m, a line per data set."""
    for i, result in enumerate(results.values()):
        gains = _gains(result["arms"][kind], m)
        for arm, gain in gains.items():
            title, colour, marker = ARM_STYLES[arm]
            ax.plot(
                gain.mean(),
                i,
                marker,
                color=colour,
                ms=4,
                alpha=0.85,
                label=title if i == 0 else None,
            )
        error = _standard_error(gains)
        ax.barh(
            i,
            2 * error,
            left=-error,
            height=0.7,
            color=GREY,
            alpha=0.25,
            lw=0,
            label="standard error of a gain" if i == 0 else None,
        )


def _gains(arms: StudyResult, m: int) -> dict[str, Array]:
    """Gain of each arm over the ridge control by metric m, fold by fold."""
    folds = {}
    for arm, outcome in arms.items():
        folds[arm] = _sign(m) * as_numbers(outcome["folds"])[:, m]
    ridge = folds.pop("ridge")
    return {arm: values - ridge for arm, values in folds.items()}


def _standard_error(gains: dict[str, Array]) -> float:
    """Standard error of a mean gain, pooled over the convex couplings."""
    variances = []
    for arm, gain in gains.items():
        if arm not in ("off", "paper"):
            variances.append(gain.var(ddof=1) / len(gain) if len(gain) > 1 else 0.0)
    return float(np.sqrt(np.mean(variances)))


def _finish_gains(ax: "Axes", results: StudyResults) -> None:
    """Axes of gains: a line at 0, names of data sets, a scale as wide as the points."""
    largest = 0.008
    for line in ax.lines:
        largest = max(largest, float(np.abs(line.get_xdata()).max()))
    reach = 1.6 * largest
    ticks = [tick for tick in (-0.1, -0.01, 0.0, 0.01, 0.1) if abs(tick) <= reach]
    names = []
    for name, result in results.items():
        names.append(f"{name} *" if result["part"] else name)
    ax.axvline(0, color=PAGE_MUTED, lw=0.8)
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    quiet(ax, grid="both")
    ax.set_xscale("symlog", linthresh=LINEAR_GAIN, linscale=1.0)
    ax.set(xlim=(-reach, reach), xticks=ticks, xticklabels=[f"{t:g}" for t in ticks])
    ax.minorticks_off()


def _draw_rules(results: StudyResults, new_figure: NewFigure) -> "Figure":
    """Fig. 6: AP against the number of rules, and below it how distinct rules are.

    A panel per data set; distinctness is that of the published method.
    """
    n_columns = min(4, len(results))
    n_rows = -(-len(results) // n_columns)
    figure = new_figure(2.1 * n_rows + 0.4)
    axes = figure.subplots(
        2 * n_rows,
        n_columns,
        squeeze=False,
        sharex=True,
        height_ratios=[2.6, 1] * n_rows,
    )
    panels = axes.reshape(n_rows, 2, n_columns).swapaxes(1, 2).reshape(-1, 2)
    for i, (name, result) in enumerate(results.items()):
        top, below = panels[i]
        _draw_rules_panel(top, below, result)
        top.set_title(f"{name}\n({result['part']})" if result["part"] else name)
        if i + n_columns >= len(results):
            below.set_xlabel("number of rules")
    for top, below in panels[::n_columns]:
        top.set_ylabel("AP")
        below.set_ylabel("distinct-\nness")
    for ax in panels[len(results) :].ravel():
        ax.set_visible(False)
    legend = axes[0, 0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside upper center", ncols=2)
    return figure


def _draw_rules_panel(top: "Axes", below: "Axes", result: StudyResult) -> None:
    """AP of both methods, and distinctness of the published one."""
    paper = result["paper"]
    ours = result["ours"]
    _draw_curve(top, paper["n_rules"], paper, "ML-TSK FS as published", ORANGE, "s")
    _draw_curve(top, ours["n_rules"], ours, "our default", BLUE, "o")
    distinctness = as_numbers(paper["distinctness"])
    below.plot(paper["n_rules"], distinctness, "s-", color=ORANGE, ms=2.5)
    for ax in (top, below):
        _log_axis(ax, "x", [1, 2, 5, 10, 30])
        quiet(ax)
    below.set(ylim=(-0.08, 1.0), yticks=[0, 0.5, 1])
    below.tick_params(labelbottom=True)


def _draw_curve(
    ax: "Axes",
    x: Sequence[float],
    curve: StudyResult,
    title: str,
    colour: str,
    marker: str,
) -> None:
    """AP along x, with a band of one standard deviation."""
    AP = as_numbers(curve["mean"])[:, 0]
    sd = as_numbers(curve["sd"])[:, 0]
    ax.plot(x, AP, f"{marker}-", color=colour, ms=3, label=title)
    ax.fill_between(x, AP - sd, AP + sd, color=colour, alpha=0.15, lw=0)


def _draw_sensitivity(results: StudyResults, new_figure: NewFigure) -> "Figure":
    """Fig. 7: AP against alpha and against beta, a row per data set.

    All other weights are where they are best.
    """
    figure = new_figure(2.5 * len(results))
    axes = figure.subplots(len(results), 2, squeeze=False)
    for row, (name, result) in zip(axes, results.items(), strict=True):
        setting = result["setting"]
        _draw_weight(row[0], result, "alpha", setting["correlation_weight"])
        _draw_weight(row[1], result, "beta", setting["l1_weight"])
        row[0].set(ylabel="AP", title=f"{name}: alpha moves")
        row[1].set(title=f"{name}: beta moves")
    legend = axes[0, 0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=2)
    return figure


def _draw_weight(ax: "Axes", result: StudyResult, symbol: str, best: float) -> None:
    """AP of both methods against one weight, and the values that they choose."""
    x = result["values"]
    paper = result["paper"][symbol]
    ours = result["ours"][symbol]
    _draw_curve(ax, x, paper, "ML-TSK FS as published", ORANGE, "s")
    ax.axvline(best, color=ORANGE, lw=0.9, ls=":", label="its best, on the folds shown")
    _draw_curve(ax, x, ours, "the convex form of its problem", BLUE, "o")
    ax.axvline(
        result["weights"][symbol],
        color=BLUE,
        lw=0.9,
        ls=":",
        label="its own choice, from the training rows",
    )
    _log_axis(ax, "x", [0.01, 0.1, 1, 10, 100])
    ax.set(xlabel=symbol)
    quiet(ax)


def _draw_convergence(results: StudyResults, new_figure: NewFigure) -> "Figure":
    """Fig. 8: the paper's objective past the authors' stop, df, and a certificate.

    A row per data set.
    """
    figure = new_figure(2.3 * len(results) + 0.3)
    axes = figure.subplots(len(results), 3, squeeze=False)
    styles = ((SKY, "-"), (ORANGE, "--"), (RED, "-."))
    for row, (name, result) in zip(axes, results.items(), strict=True):
        for run, (colour, dash) in zip(result["paper"], styles, strict=False):
            _draw_steps(row[0], run, "objective", dash, color=colour, lw=1.4)
            _draw_steps(row[1], run, "df", dash, color=colour, lw=1)
        _draw_certificates(row[2], result["ours"])
        _finish_convergence(row, name)
    axes[0, 0].plot(
        [], [], "o", color=PAGE_MUTED, mfc="none", ms=6, label="where the authors stop"
    )
    legend = axes[0, 0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=4)
    return figure


def _draw_steps(
    ax: "Axes", run: StudyResult, key: str, dash: str, *, color: str, lw: float
) -> None:
    """A quantity step by step, with a circle where the authors stop."""
    steps = run["steps"]
    label = f"alpha = {run['alpha']:g}"
    ax.plot(steps, as_numbers(run[key]), dash, color=color, lw=lw, label=label)
    stop = steps.index(run["stop"]) if run["stop"] in steps else -1
    ax.plot(steps[stop], run[key][stop], "o", color=color, mfc="none", ms=6)


def _draw_certificates(ax: "Axes", ours: StudyResult) -> None:
    """The certificate of the convex form step by step, and the default tolerance."""
    steps = np.maximum(ours["steps"], 1)
    tolerance = ours["default_tol"]
    ax.plot(steps, as_numbers(ours["certificates"]), "o-", color=BLUE, ms=2.5)
    ax.axhline(tolerance, color=PAGE_MUTED, lw=0.8, ls=":")
    ax.text(
        1, tolerance, "default tolerance", va="bottom", fontsize=7, color=PAGE_MUTED
    )


def _finish_convergence(row: NDArray[Any], name: str) -> None:
    """Scales, ticks and titles of the three panels of a data set."""
    objective, df, certificate = row
    objective.set_yscale("symlog", linthresh=1e3)
    objective.set_yticks(
        [1e3, 0, -1e3, -1e6, -1e9, -1e12],
        ["1e3", "0", "-1e3", "-1e6", "-1e9", "-1e12"],
    )
    objective.set_yticks([], minor=True)
    # below -1e12 a line has said what it has to say
    objective.set_ylim(-1e12, 2e4)
    objective.set_title(f"{name}: objective of the paper")
    df.axhline(0.01, color=PAGE_MUTED, lw=0.8, ls=":")
    _log_axis(df, "y", [1e-4, 1e-2, 1, 1e3, 1e6, 1e9, 1e12])
    df.set_ylim(1e-5, 1e12)
    df.set_title("df, the authors stop below 0.01")
    _log_axis(certificate, "y", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    certificate.set_title("convex form: gap to the optimum")
    for ax in row:
        _log_axis(ax, "x", [1, 10, 100, 1000])
        ax.set(xlabel="step")
        quiet(ax)


def _log_axis(ax: "Axes", which: str, ticks: Sequence[float]) -> None:
    """A logarithmic axis, with ticks as plain numbers, not as mathematics."""
    texts = []
    for tick in ticks:
        text = f"{tick:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
        texts.append(text)
    if which == "x":
        ax.set(xscale="log", xticks=ticks, xticklabels=texts)
        ax.set_xticks([], minor=True)
    else:
        ax.set(yscale="log", yticks=ticks, yticklabels=texts)
        ax.set_yticks([], minor=True)


_DRAWERS: "dict[str, Callable[[StudyResults, NewFigure], Figure]]" = {
    "label-correlation": _draw_label_correlation,
    "coupling-effect": _draw_coupling_effect,
    "rules": _draw_rules,
    "sensitivity": _draw_sensitivity,
    "convergence": _draw_convergence,
}
