"""The figures of the studies (the paper's Fig. 3 to 8): each takes ``{data set: result of the study}``.

What they show is computed by `mltsk.paper.experiments.studies`; `study_captions` says it in words and
`study_pages` puts both on the page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...pages.figures import MUTED, NEGATIVE, POSITIVE, _shortened
from .study_theme import BLUE, GREEN, GREY, ORANGE, PAGE_WIDTH, PURPLE, RED, SKY, drawing, numbers, quiet

Results = Mapping[str, Mapping[str, Any]]
METRICS = ("AP", "HL", "OE", "RL", "CV")

# What each arm of the coupling study is called, its colour and its marker.
ARMS = {
    "off": ("off (alpha = 0)", GREY, "x"),
    "paper": ("paper's R", RED, "D"),
    "ridge": ("ridge control", GREY, "|"),
    "laplacian": ("Laplacian", BLUE, "o"),
    "signed": ("signed", ORANGE, "s"),
    "shift": ("shift", GREEN, "^"),
    "precision": ("precision", PURPLE, "v"),
}


def label_correlation(results: Results) -> Any:
    """Fig. 3 and 4: label correlation beside consequent correlation, a row a data set."""
    with drawing() as Figure:
        figure = Figure(figsize=(PAGE_WIDTH, 2.75 * len(results)), layout="constrained")
        axes = figure.subplots(len(results), 3, squeeze=False)
        for row, (name, found) in zip(axes, results.items(), strict=True):
            models = found["models"]
            _heat(row[0], found["of_labels"], found["labels"], f"{name}: labels", names=True)
            for ax, key, title in ((row[1], "paper", "as published"), (row[2], "ours", "ours")):
                r, without = (_number(models[model]["pearson"]) for model in (key, f"{key}_uncoupled"))
                title = f"consequents, {title}\nr = {r}, uncoupled {without}"
                _heat(ax, models[key]["correlation"], found["labels"], title, names=False)
        return figure


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _heat(ax: Any, matrix: Any, labels: Sequence[str], title: str, *, names: bool) -> None:
    C = np.array([numbers(row) for row in matrix])
    C_shown = np.nan_to_num(C)
    rgba = np.concatenate([np.where(C_shown[..., None] >= 0, POSITIVE, NEGATIVE), np.abs(C_shown)[..., None]], axis=2)
    rgba[np.eye(len(C), dtype=bool)] = (0.5, 0.5, 0.5, 0.15)
    ax.imshow(rgba, interpolation="nearest")
    for i, j in np.ndindex(*C.shape) if len(C) <= 10 else ():
        if i != j:
            ax.text(j, i, f"{C[i, j]:.2f}".replace("0.", "."), ha="center", va="center", fontsize=6.5)
    where = range(len(C)) if len(C) <= 30 else ()
    ax.set_xticks(where, [_shortened(labels[i], 16) for i in where], rotation=90)
    ax.set_yticks(where, [_shortened(labels[i], 16) for i in where] if names else [""] * len(where))
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_title(title)


def coupling_effect(results: Results) -> Any:
    """Fig. 5: group B against A as the paper compares them; then every arm against the ridge control."""
    height = 0.15 * len(results) + 0.65
    with drawing() as Figure:
        figure = Figure(figsize=(PAGE_WIDTH, 3 * height + 0.8), layout="constrained")
        rows = figure.subfigures(3, 1)
        for part, (title, draw) in zip(rows, _COMPARISONS, strict=True):
            axes = part.subplots(1, len(METRICS), sharey=True)
            part.suptitle(title, x=0.01, ha="left", fontsize=8.5)
            for m, (ax, metric) in enumerate(zip(axes, METRICS, strict=True)):
                draw(ax, results, m, 1.0 if metric == "AP" else -1.0)
                _gain_axes(ax, list(results))
                ax.set_title(metric, fontweight="bold")
        rows[2].supxlabel("improvement, mean over folds: to the right is better", fontsize=8)
        handles = {h.get_label(): h for part in rows for h in part.axes[0].get_legend_handles_labels()[0]}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
        return figure


def _gains_of_group_b(ax: Any, results: Results, m: int, sign: float) -> None:
    for i, found in enumerate(results.values()):
        A, B = (numbers(found["groups"][group]["mean"])[m] for group in ("A", "B"))
        label = "group B - group A" if i == 0 else None
        ax.plot(sign * (B - A), i, "D", color=RED, mfc="none", label=label, ms=4.5)


def _gains_of_arms(ax: Any, results: Results, kind: str, m: int, sign: float) -> None:
    for i, found in enumerate(results.values()):
        arms, errors = found["arms"][kind], []
        control = np.array([numbers(fold)[m] for fold in arms["ridge"]["folds"]])
        for arm in arms:
            if arm == "ridge":
                continue
            gain = sign * (np.array([numbers(fold)[m] for fold in arms[arm]["folds"]]) - control)
            title, colour, marker = ARMS[arm]
            ax.plot(gain.mean(), i, marker, color=colour, ms=4, alpha=0.85, label=title if i == 0 else None)
            if arm not in ("off", "paper"):
                errors.append(gain.var(ddof=1) / len(gain) if len(gain) > 1 else 0.0)
        spread = float(np.sqrt(np.mean(errors)))
        label = "standard error of a gain" if i == 0 else None
        ax.barh(i, 2 * spread, left=-spread, height=0.7, color=GREY, alpha=0.25, lw=0, label=label)


# Rows of the figure: what is compared, and how a panel of it is drawn.
_COMPARISONS = (
    ("The paper's comparison: group B - group A, settings chosen on the folds shown", _gains_of_group_b),
    (
        "Choice on inner folds, the paper's rules: each arm - ridge control",
        lambda ax, results, m, sign: _gains_of_arms(ax, results, "paper", m, sign),
    ),
    (
        "Choice on inner folds, our rules: each coupling - ridge control",
        lambda ax, results, m, sign: _gains_of_arms(ax, results, "ours", m, sign),
    ),
)


def _gain_axes(ax: Any, names: list[str]) -> None:
    """Names on the left, zero in the middle; linear up to 0.01, logarithmic beyond, where few points lie."""
    reach = 1.6 * max(*(abs(float(x)) for line in ax.lines for x in line.get_xdata()), 0.008)
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    quiet(ax, grid="both")
    ax.set_xscale("symlog", linthresh=0.01, linscale=1.0)
    ax.set_xlim(-reach, reach)
    ticks = [t for t in (-0.1, -0.01, 0.0, 0.01, 0.1) if abs(t) <= reach]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()


def rules(results: Results) -> Any:
    """Fig. 6: AP against the number of rules, and rule distinctness under it, a panel a data set."""
    columns = min(4, len(results))
    rows = -(-len(results) // columns)
    with drawing() as Figure:
        figure = Figure(figsize=(PAGE_WIDTH, 2.1 * rows + 0.4), layout="constrained")
        axes = figure.subplots(2 * rows, columns, squeeze=False, sharex=True, height_ratios=[2.6, 1] * rows)
        for i, (name, found) in enumerate(results.items()):
            top, under = axes[2 * (i // columns), i % columns], axes[2 * (i // columns) + 1, i % columns]
            _rule_curves(top, under, found)
            top.set_title(name)
            if i % columns == 0:
                top.set_ylabel("AP")
                under.set_ylabel("distinct-\nness")
            if i + columns >= len(results):
                under.set_xlabel("number of rules")
        for i in range(len(results), rows * columns):
            axes[2 * (i // columns), i % columns].set_visible(False)
            axes[2 * (i // columns) + 1, i % columns].set_visible(False)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        return figure


def _rule_curves(top: Any, under: Any, found: Mapping[str, Any]) -> None:
    for key, title, colour, marker in (
        ("paper", "ML-TSK FS as published", ORANGE, "s"),
        ("ours", "our default", BLUE, "o"),
    ):
        curve = found[key]
        AP, sd = (np.array([numbers(row)[0] for row in curve[part]]) for part in ("mean", "sd"))
        top.plot(curve["n_rules"], AP, f"{marker}-", color=colour, ms=3, label=title)
        top.fill_between(curve["n_rules"], AP - sd, AP + sd, color=colour, alpha=0.15, lw=0)
        under.plot(curve["n_rules"], numbers(curve["distinctness"]), f"{marker}-", color=colour, ms=2.5)
    for ax in (top, under):
        _log_axis(ax, "x", [1, 2, 5, 10, 30])
        quiet(ax)
    under.set_ylim(-0.08, 1.0)
    under.set_yticks([0, 0.5, 1])
    under.tick_params(labelbottom=True)


def sensitivity(results: Results) -> Any:
    """Fig. 7: AP against alpha and against beta, the others where they are best; a row a data set."""
    with drawing() as Figure:
        figure = Figure(figsize=(PAGE_WIDTH, 2.5 * len(results)), layout="constrained")
        axes = figure.subplots(len(results), 2, squeeze=False)
        for row, (name, found) in zip(axes, results.items(), strict=True):
            for ax, symbol, key in zip(row, ("alpha", "beta"), ("correlation_weight", "l1_weight"), strict=True):
                at = {"paper": found["setting"][key], "ours": found["weights"][symbol]}
                _sensitivity_curves(ax, found, symbol, at)
                _log_axis(ax, "x", [0.01, 0.1, 1, 10, 100])
                ax.set_xlabel(symbol)
                ax.set_title(f"{name}: {symbol} moves")
                quiet(ax)
            row[0].set_ylabel("AP")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return figure


def _sensitivity_curves(ax: Any, found: Mapping[str, Any], symbol: str, at: Mapping[str, float]) -> None:
    x = np.array(found["values"])
    for key, title, colour, marker in (
        ("paper", "ML-TSK FS as published", ORANGE, "s"),
        ("ours", "our convex problem", BLUE, "o"),
    ):
        AP, sd = (np.array([numbers(row)[0] for row in found[key][symbol][part]]) for part in ("mean", "sd"))
        ax.plot(x, AP, f"{marker}-", color=colour, ms=2.5, label=title)
        ax.fill_between(x, AP - sd, AP + sd, color=colour, alpha=0.13, lw=0)
        stands = "its best, on the folds shown" if key == "paper" else "its own choice, from the training rows"
        ax.axvline(at[key], color=colour, lw=0.9, ls=":", label=stands)


def convergence(results: Results) -> Any:
    """Fig. 8: the paper's objective past the authors' stop, their df, and our certificate; a row a data set."""
    with drawing() as Figure:
        figure = Figure(figsize=(PAGE_WIDTH, 2.3 * len(results) + 0.3), layout="constrained")
        axes = figure.subplots(len(results), 3, squeeze=False)
        for row, (name, found) in zip(axes, results.items(), strict=True):
            for line, colour, dash in zip(found["paper"], (SKY, ORANGE, RED), ("-", "--", "-."), strict=False):
                _unstopped_curves(row[0], row[1], line, colour, dash)
            _certificate_curve(row[2], found["ours"])
            row[0].set_title(f"{name}: objective of the paper")
            row[1].set_title("df, the authors stop below 0.01")
            row[2].set_title("ours: share left to the optimum")
            _convergence_axes(row)
        axes[0, 0].plot([], [], "o", color=MUTED, mfc="none", ms=6, label="where the authors stop")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure


def _convergence_axes(row: Any) -> None:
    # below -1e12 a line has said what it has to say
    row[0].set_yscale("symlog", linthresh=1e3)
    row[0].set_yticks([1e3, 0, -1e3, -1e6, -1e9, -1e12], ["1e3", "0", "-1e3", "-1e6", "-1e9", "-1e12"])
    row[0].set_yticks([], minor=True)
    row[0].set_ylim(-1e12, 2e4)
    row[1].axhline(0.01, color=MUTED, lw=0.8, ls=":")
    _log_axis(row[1], "y", [1e-4, 1e-2, 1, 1e3, 1e6, 1e9, 1e12])
    row[1].set_ylim(1e-5, 1e12)
    _log_axis(row[2], "y", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    for ax in row:
        _log_axis(ax, "x", [1, 10, 100, 1000])
        ax.set_xlabel("step")
        quiet(ax)


def _log_axis(ax: Any, which: str, ticks: Sequence[float]) -> None:
    """Logarithmic, with these ticks as plain numbers, not as mathematics."""
    ax.set(**{f"{which}scale": "log"})
    getattr(ax, f"set_{which}ticks")(
        ticks, [f"{tick:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e") for tick in ticks]
    )
    getattr(ax, f"set_{which}ticks")([], minor=True)


def _unstopped_curves(objective: Any, df: Any, line: Mapping[str, Any], colour: str, dash: str) -> None:
    label = f"alpha = {line['alpha']:g}"
    objective.plot(line["steps"], numbers(line["objective"]), dash, color=colour, label=label)
    df.plot(line["steps"], numbers(line["df"]), dash, color=colour, lw=1)
    at = line["steps"].index(line["stop"]) if line["stop"] in line["steps"] else -1
    for ax, key in ((objective, "objective"), (df, "df")):
        ax.plot(line["steps"][at], line[key][at], "o", color=colour, mfc="none", ms=6)


def _certificate_curve(ax: Any, ours: Mapping[str, Any]) -> None:
    steps = np.maximum(ours["steps"], 1)
    ax.plot(steps, numbers(ours["certificates"]), "o-", color=BLUE, ms=2.5)
    ax.axhline(ours["default_tol"], color=MUTED, lw=0.8, ls=":")
    ax.text(1, ours["default_tol"], "default tolerance", va="bottom", fontsize=7, color=MUTED)
