"""The figures of a report: closeness to the paper, protocols, Fig. 9, and the paper's Fig. 3 to 8.

`mltsk.paper.experiments.studies` computes what Fig. 3 to 8 show, and `captions` says the same in words.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...tables.report import cut
from ..experiments.published import METRICS
from ..experiments.ranks import RECOMPUTED, Comparison, widest_sources
from ..experiments.results import Results
from ..experiments.summary import CLOSE, NEAR
from ..significance import critical_difference_diagram
from . import pictures as ink
from .pictures import SMALL, Picture, drawing, numbers, picture, quiet

Found = Mapping[str, Mapping[str, Any]]

# What each arm of the coupling study is called, its colour and its marker.
ARMS = {
    "off": ("off (alpha = 0)", ink.GREY, "x"),
    "paper": ("paper's R", ink.RED, "D"),
    "ridge": ("ridge control", ink.GREY, "|"),
    "laplacian": ("Laplacian", ink.BLUE, "o"),
    "signed": ("signed", ink.ORANGE, "s"),
    "shift": ("shift", ink.GREEN, "^"),
    "precision": ("precision", ink.PURPLE, "v"),
}


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
            ax.axvspan(-reach, reach, color=ink.SERIES[0], alpha=alpha, lw=0)
        ax.plot(ap["gap"], -ap["method"].map(methods.index), "o", color=ink.SERIES[0], ms=6, alpha=0.75, mew=0)
        caption = f"Each dot is a data set. The bands mark differences of up to {CLOSE} and {NEAR}."
        return [picture(figure, "closeness", "How close AP is to the paper's", caption)]


def protocol_picture(results: Results) -> list[Picture]:
    """Mean AP of each method under each protocol, over the data sets that it finished under all of them."""
    protocols = results.protocols
    frames = [results.of_metric(protocol, "AP", "AP") for protocol in protocols]
    columns = [frame[frame["status"] == "done"].set_index(["dataset", "method"])["mean"] for frame in frames]
    if len(protocols) < 2:
        return []
    means = pd.concat(columns, axis=1).dropna().groupby("method").mean()
    if not len(means):
        return []
    means = means.loc[[method for method in results.methods if method in means.index]]
    with drawing() as figure_of:
        figure = figure_of(1.1 + 0.34 * len(means))
        ax = _lines(figure, [results.title(method) for method in means.index], "mean AP over data sets")
        for i, values in enumerate(means.to_numpy()):
            ax.plot(values, np.full(len(values), -i), color=ink.LINE, lw=2, zorder=1)
        for j, protocol in enumerate(protocols):
            ax.plot(means.iloc[:, j], -np.arange(len(means)), "o", color=ink.SERIES[j], ms=7, label=protocol, zorder=2)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
        caption = "Mean AP, settings chosen by AP; only data sets that a method finished under every protocol count."
        return [picture(figure, "protocols", "The same methods under each protocol", caption)]


def _lines(figure: Any, names: Sequence[str], label: str) -> Any:
    """Axes with a horizontal line for each name, the first on top."""
    ax = figure.subplots()
    ax.set(yticks=[-i for i in range(len(names))], yticklabels=names, xlabel=label, ymargin=0.08)
    quiet(ax, grid="x")
    ax.spines["bottom"].set_visible(False)
    return ax


def rank_pictures(found: Sequence[Comparison]) -> dict[str, list[Picture]]:
    """Fig. 9: a critical difference diagram for each metric, by source; the paper's own first.

    Where a run has methods outside the paper, ours are the diagrams with all of them.
    """
    sources = [RECOMPUTED, *widest_sources(found)]
    return {source: [_rank_picture(one) for one in found if one.source == source] for source in sources}


def _rank_picture(one: Comparison) -> Picture:
    with drawing():
        figure = critical_difference_diagram(one.dunn, color=ink.SERIES[0])
        key = f"figure-9-{one.source.replace(', ', '-').replace(' ', '-')}-{one.metric.lower()}"
        caption = "One-error counts tied scores as right, so its ranks say little." if one.metric == "OE" else ""
        return picture(figure, key, f"{one.metric}, {one.source}", caption)


def _label_correlation(results: Found, figure_of: Any) -> Any:
    """Fig. 3 and 4: label correlation next to consequent correlation, a row per data set."""
    figure = figure_of(2.75 * len(results))
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        models = found["models"]
        _heat(row[0], found["of_labels"], found["labels"], f"{name}: labels", names=True)
        kinds = (("paper", "as published", "uncoupled"), ("ours", "our default", "coupled"))
        for ax, (key, title, other) in zip(row[1:], kinds, strict=True):
            r = [models[model]["pearson"] for model in (key, f"{key}_{other}")]
            own, changed = ("undefined" if value is None else f"{value:.2f}" for value in r)
            title = f"consequents, {title}\nr = {own}, {other} {changed}"
            _heat(ax, models[key]["correlation"], found["labels"], title, names=False)
    return figure


def _heat(ax: Any, matrix: Any, labels: Sequence[str], title: str, *, names: bool) -> None:
    C = numbers(matrix)
    shown = np.nan_to_num(C)[..., None]
    rgba = np.concatenate([np.where(shown >= 0, ink.POSITIVE, ink.NEGATIVE), np.abs(shown)], axis=2)
    rgba[np.eye(len(C), dtype=bool)] = (0.5, 0.5, 0.5, 0.15)
    ax.imshow(rgba, interpolation="nearest")
    for i, j in np.ndindex(*C.shape) if len(C) <= 10 else ():
        if i != j:
            ax.text(j, i, f"{C[i, j]:.2f}".replace("0.", "."), ha="center", va="center", fontsize=6.5)
    where = range(len(C)) if len(C) <= 30 else ()
    short = [cut(labels[i], 16) for i in where]
    ax.set_xticks(where, short, rotation=90)
    ax.set(yticks=where, yticklabels=short if names else [""] * len(where), title=title)
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)


def _coupling_effect(results: Found, figure_of: Any) -> Any:
    """Fig. 5: group B against A as the paper compares them; then every arm against the ridge control."""
    comparisons: dict[str, Callable[..., None]] = {
        "The paper's comparison: group B - group A, settings chosen on the folds shown": _gains_of_group_b,
        "Choice on inner folds, the paper's rules: each arm - ridge control": _gains_of_arms("paper"),
        "Our default, its weights from leave-one-out: each coupling - none": _gains_of_arms("ours"),
    }
    figure = figure_of(3 * (0.15 * len(results) + 0.65) + 0.8)
    rows = figure.subfigures(3, 1)
    for part, (title, draw) in zip(rows, comparisons.items(), strict=True):
        axes = part.subplots(1, len(METRICS), sharey=True)
        part.suptitle(title, x=0.01, ha="left", fontsize=8.5)
        for m, (ax, metric) in enumerate(zip(axes, METRICS, strict=True)):
            draw(ax, results, m, 1.0 if metric == "AP" else -1.0)
            _gain_axes(ax, [f"{name} *" if found["part"] else name for name, found in results.items()])
            ax.set_title(metric, fontweight="bold")
    parts = ", ".join(f"{name} {found['part']}" for name, found in results.items() if found["part"])
    note = f"\n* {parts}" if parts else ""
    rows[2].supxlabel(f"improvement, mean over folds: to the right is better{note}", fontsize=8)
    handles = {h.get_label(): h for part in rows for h in part.axes[0].get_legend_handles_labels()[0]}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def _gains_of_group_b(ax: Any, results: Found, m: int, sign: float) -> None:
    groups = [found["groups"] for found in results.values()]
    gains = [sign * (numbers(group["B"]["mean"])[m] - numbers(group["A"]["mean"])[m]) for group in groups]
    ax.plot(gains, range(len(gains)), "D", color=ink.RED, mfc="none", label="group B - group A", ms=4.5)


def _gains_of_arms(kind: str) -> Callable[..., None]:
    def draw(ax: Any, results: Found, m: int, sign: float) -> None:
        for i, found in enumerate(results.values()):
            arms = {arm: sign * numbers(about["folds"])[:, m] for arm, about in found["arms"][kind].items()}
            gains = {arm: values - arms["ridge"] for arm, values in arms.items() if arm != "ridge"}
            for arm, gain in gains.items():
                title, colour, marker = ARMS[arm]
                ax.plot(gain.mean(), i, marker, color=colour, ms=4, alpha=0.85, label=title if i == 0 else None)
            convex = [gain for arm, gain in gains.items() if arm not in ("off", "paper")]
            errors = [gain.var(ddof=1) / len(gain) if len(gain) > 1 else 0.0 for gain in convex]
            spread, label = float(np.sqrt(np.mean(errors))), "standard error of a gain" if i == 0 else None
            ax.barh(i, 2 * spread, left=-spread, height=0.7, color=ink.GREY, alpha=0.25, lw=0, label=label)

    return draw


def _gain_axes(ax: Any, names: list[str]) -> None:
    """Names on the left, zero in the middle; linear up to 0.01, logarithmic beyond, where few points lie."""
    reach = 1.6 * max(*(abs(float(x)) for line in ax.lines for x in line.get_xdata()), 0.008)
    ticks = [t for t in (-0.1, -0.01, 0.0, 0.01, 0.1) if abs(t) <= reach]
    ax.axvline(0, color=ink.MUTED, lw=0.8)
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    quiet(ax, grid="both")
    ax.set_xscale("symlog", linthresh=0.01, linscale=1.0)
    ax.set(xlim=(-reach, reach), xticks=ticks, xticklabels=[f"{t:g}" for t in ticks])
    ax.minorticks_off()


def _rules(results: Found, figure_of: Any) -> Any:
    """Fig. 6: AP against the number of rules, and rule distinctness of the published method, a panel per data set."""
    columns = min(4, len(results))
    rows = -(-len(results) // columns)
    figure = figure_of(2.1 * rows + 0.4)
    axes = figure.subplots(2 * rows, columns, squeeze=False, sharex=True, height_ratios=[2.6, 1] * rows)
    panels = axes.reshape(rows, 2, columns).swapaxes(1, 2).reshape(-1, 2)
    for i, (name, found) in enumerate(results.items()):
        _rule_curves(panels[i, 0], panels[i, 1], found)
        panels[i, 0].set_title(_named(name, found))
        if i + columns >= len(results):
            panels[i, 1].set_xlabel("number of rules")
    for top, under in panels[::columns]:
        top.set_ylabel("AP")
        under.set_ylabel("distinct-\nness")
    for ax in panels[len(results) :].ravel():
        ax.set_visible(False)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _named(name: str, found: Mapping[str, Any]) -> str:
    """A data set, with how many of its rows were used where they are not all."""
    return f"{name}\n({found['part']})" if found["part"] else name


def _rule_curves(top: Any, under: Any, found: Mapping[str, Any]) -> None:
    published = found["paper"]
    _curve(top, published["n_rules"], published, "ML-TSK FS as published", ink.ORANGE, "s")
    _curve(top, found["ours"]["n_rules"], found["ours"], "our default", ink.BLUE, "o")
    under.plot(published["n_rules"], numbers(published["distinctness"]), "s-", color=ink.ORANGE, ms=2.5)
    for ax in (top, under):
        _log_axis(ax, "x", [1, 2, 5, 10, 30])
        quiet(ax)
    under.set(ylim=(-0.08, 1.0), yticks=[0, 0.5, 1])
    under.tick_params(labelbottom=True)


def _curve(ax: Any, x: Any, table: Mapping[str, Any], title: str, colour: str, marker: str) -> None:
    AP, sd = (numbers(table[part])[:, 0] for part in ("mean", "sd"))
    ax.plot(x, AP, f"{marker}-", color=colour, ms=3, label=title)
    ax.fill_between(x, AP - sd, AP + sd, color=colour, alpha=0.15, lw=0)


def _sensitivity(results: Found, figure_of: Any) -> Any:
    """Fig. 7: AP against alpha and against beta, the others where they are best; a row per data set."""
    figure = figure_of(2.5 * len(results))
    axes = figure.subplots(len(results), 2, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for ax, symbol, key in zip(row, ("alpha", "beta"), ("correlation_weight", "l1_weight"), strict=True):
            _curve(ax, found["values"], found["paper"][symbol], "ML-TSK FS as published", ink.ORANGE, "s")
            ax.axvline(found["setting"][key], color=ink.ORANGE, lw=0.9, ls=":", label="its best, on the folds shown")
            _curve(ax, found["values"], found["ours"][symbol], "the convex form of its problem", ink.BLUE, "o")
            own = "its own choice, from the training rows"
            ax.axvline(found["weights"][symbol], color=ink.BLUE, lw=0.9, ls=":", label=own)
            _log_axis(ax, "x", [0.01, 0.1, 1, 10, 100])
            ax.set(xlabel=symbol, title=f"{name}: {symbol} moves")
            quiet(ax)
        row[0].set_ylabel("AP")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _convergence(results: Found, figure_of: Any) -> Any:
    """Fig. 8: the paper's objective past the authors' stop, their df, and a certificate; a row per data set."""
    figure = figure_of(2.3 * len(results) + 0.3)
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for line, colour, dash in zip(found["paper"], (ink.SKY, ink.ORANGE, ink.RED), ("-", "--", "-."), strict=False):
            at = line["steps"].index(line["stop"]) if line["stop"] in line["steps"] else -1
            for ax, key, width in ((row[0], "objective", 1.4), (row[1], "df", 1)):
                label = f"alpha = {line['alpha']:g}"
                ax.plot(line["steps"], numbers(line[key]), dash, color=colour, lw=width, label=label)
                ax.plot(line["steps"][at], line[key][at], "o", color=colour, mfc="none", ms=6)
        ours = found["ours"]
        row[2].plot(np.maximum(ours["steps"], 1), numbers(ours["certificates"]), "o-", color=ink.BLUE, ms=2.5)
        row[2].axhline(ours["default_tol"], color=ink.MUTED, lw=0.8, ls=":")
        row[2].text(1, ours["default_tol"], "default tolerance", va="bottom", fontsize=7, color=ink.MUTED)
        row[0].set_title(f"{name}: objective of the paper")
        row[1].set_title("df, the authors stop below 0.01")
        row[2].set_title("convex form: share left to the optimum")
        _convergence_axes(row)
    axes[0, 0].plot([], [], "o", color=ink.MUTED, mfc="none", ms=6, label="where the authors stop")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _convergence_axes(row: Any) -> None:
    # below -1e12 a line has said what it has to say
    row[0].set_yscale("symlog", linthresh=1e3)
    row[0].set_yticks([1e3, 0, -1e3, -1e6, -1e9, -1e12], ["1e3", "0", "-1e3", "-1e6", "-1e9", "-1e12"])
    row[0].set_yticks([], minor=True)
    row[0].set_ylim(-1e12, 2e4)
    row[1].axhline(0.01, color=ink.MUTED, lw=0.8, ls=":")
    _log_axis(row[1], "y", [1e-4, 1e-2, 1, 1e3, 1e6, 1e9, 1e12])
    row[1].set_ylim(1e-5, 1e12)
    _log_axis(row[2], "y", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    for ax in row:
        _log_axis(ax, "x", [1, 10, 100, 1000])
        ax.set_xlabel("step")
        quiet(ax)


def _log_axis(ax: Any, which: str, ticks: Sequence[float]) -> None:
    """Logarithmic, with these ticks as plain numbers, not as mathematics."""
    texts = [f"{tick:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e") for tick in ticks]
    ax.set(**{f"{which}scale": "log", f"{which}ticks": ticks, f"{which}ticklabels": texts})
    getattr(ax, f"set_{which}ticks")([], minor=True)


_STUDIES: dict[str, Callable[[Found, Any], Any]] = {
    "label-correlation": _label_correlation,
    "coupling-effect": _coupling_effect,
    "rules": _rules,
    "sensitivity": _sensitivity,
    "convergence": _convergence,
}


def study_figure(name: str, results: Found) -> Any:
    """The figure of a study of ``{data set: result of the study}``."""
    with drawing(**SMALL) as figure_of:
        return _STUDIES[name](results, figure_of)
