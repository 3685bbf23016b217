"""The figures of the studies, the paper's Fig. 3 to 8, and in one to three plain sentences what they show.

Both are made from ``{data set: result of the study}``. The sentences are in `captions.toml` of the experiments;
``_say_*`` finds what they need, from all data sets together or from one, and whether the paper's claim holds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...tables.report import cut
from ...text import plural
from ..experiments.published import METRICS, read_toml
from . import figures as ink
from .figures import drawing, quiet

Found = Mapping[str, Mapping[str, Any]]

# Small type, for full-width figures of many panels.
_SMALL: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.titlelocation": "left",
}
_SMALL |= {
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
}
_SMALL |= {"lines.linewidth": 1.4, "lines.markersize": 4}
# What each arm of the coupling study is called, its colour and its marker.
_ARMS = {
    "off": ("off (alpha = 0)", ink.GREY, "x"),
    "paper": ("paper's R", ink.RED, "D"),
    "laplacian": ("Laplacian", ink.BLUE, "o"),
    "signed": ("signed", ink.ORANGE, "s"),
    "shift": ("shift", ink.GREEN, "^"),
    "precision": ("precision", ink.PURPLE, "v"),
}
_DIFFERS = (
    0.005  # a difference in AP below this is not called one: folds differ by more
)


def study_figure(name: str, results: Found) -> Any:
    """The figure of a study."""
    with drawing(**_SMALL) as figure_of:
        return _STUDIES[name][0](results, figure_of)


def study_caption(name: str, results: Found) -> str:
    """The caption of a study's figure; it ends with the rows and folds used."""
    sentence, by_note = (
        read_toml("captions.toml")["studies"][name],
        dict[str, list[str]](),
    )
    for dataset, found in results.items():
        by_note.setdefault(found["note"], []).append(dataset)
    used = [
        f"Used for {', '.join(datasets)}: {note}." for note, datasets in by_note.items()
    ]
    say = _STUDIES[name][1]
    if name in ("coupling-effect", "rules"):
        said = [sentence.format(sets=plural(len(results), "data set"), **say(results))]
    else:
        said = [
            sentence.format(name=dataset, **say(found))
            for dataset, found in results.items()
        ]
    return " ".join(said + used)


def _numbers(values: Any) -> Any:
    """Lists of plain data as an array, with NaN where there is None: what matplotlib leaves out."""
    return np.array(values, dtype=np.float64)


def _ap(found: Mapping[str, Any]) -> Any:
    """Mean AP of an arm, or along a curve."""
    return _numbers(found["mean"])[..., 0]


def _draw_label_correlation(results: Found, figure_of: Any) -> Any:
    """Fig. 3 and 4: label correlation next to consequent correlation, a row per data set."""
    figure = figure_of(2.75 * len(results))
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        models = found["models"]
        _heat(
            row[0], found["of_labels"], found["labels"], f"{name}: labels", names=True
        )
        kinds = (
            ("paper", "as published", "uncoupled"),
            ("ours", "our default", "coupled"),
        )
        for ax, (key, title, other) in zip(row[1:], kinds, strict=True):
            r = [models[model]["pearson"] for model in (key, f"{key}_{other}")]
            own, changed = (
                "undefined" if value is None else f"{value:.2f}" for value in r
            )
            title = f"consequents, {title}\nr = {own}, {other} {changed}"
            _heat(ax, models[key]["correlation"], found["labels"], title, names=False)
    return figure


def _heat(
    ax: Any, matrix: Any, labels: Sequence[str], title: str, *, names: bool
) -> None:
    C = _numbers(matrix)
    shown = np.nan_to_num(C)[..., None]
    rgba = np.concatenate(
        [np.where(shown >= 0, ink.POSITIVE, ink.NEGATIVE), np.abs(shown)], axis=2
    )
    rgba[np.eye(len(C), dtype=bool)] = (0.5, 0.5, 0.5, 0.15)
    ax.imshow(rgba, interpolation="nearest")
    for i, j in np.ndindex(*C.shape) if len(C) <= 10 else ():
        if i != j:
            ax.text(
                j,
                i,
                f"{C[i, j]:.2f}".replace("0.", "."),
                ha="center",
                va="center",
                fontsize=6.5,
            )
    where = range(len(C)) if len(C) <= 30 else ()
    short = [cut(labels[i], 16) for i in where]
    ax.set_xticks(where, short, rotation=90)
    ax.set(yticks=where, yticklabels=short if names else [""] * len(where), title=title)
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)


def _draw_coupling_effect(results: Found, figure_of: Any) -> Any:
    """Fig. 5: group B against A as the paper compares them; then every arm against the ridge control."""
    comparisons = {
        "groups": "The paper's comparison: group B - group A, settings chosen on the folds shown",
        "paper": "Choice on inner folds, the paper's rules: each arm - ridge control",
        "ours": "Our default, its weights from leave-one-out: each coupling - none",
    }
    figure = figure_of(3 * (0.15 * len(results) + 0.65) + 0.8)
    rows = figure.subfigures(3, 1)
    for part, (kind, title) in zip(rows, comparisons.items(), strict=True):
        axes = part.subplots(1, len(METRICS), sharey=True)
        part.suptitle(title, x=0.01, ha="left", fontsize=8.5)
        for m, ax in enumerate(axes):
            _draw_gains(ax, results, kind, m)
    parts = ", ".join(
        f"{name} {found['part']}" for name, found in results.items() if found["part"]
    )
    note = f"\n* {parts}" if parts else ""
    rows[2].supxlabel(
        f"improvement, mean over folds: to the right is better{note}", fontsize=8
    )
    handles = {
        h.get_label(): h
        for part in rows
        for h in part.axes[0].get_legend_handles_labels()[0]
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def _draw_gains(ax: Any, results: Found, kind: str, m: int) -> None:
    """Gains by one metric, a line per data set; linear up to 0.01, logarithmic beyond, where few points lie."""
    sign = 1.0 if METRICS[m] == "AP" else -1.0
    if kind == "groups":
        A, B = (
            _numbers([found["groups"][group]["mean"] for found in results.values()])[
                :, m
            ]
            for group in "AB"
        )
        ax.plot(
            sign * (B - A),
            range(len(A)),
            "D",
            color=ink.RED,
            mfc="none",
            label="group B - group A",
            ms=4.5,
        )
    for i, found in enumerate(results.values() if kind != "groups" else ()):
        arms = {
            arm: sign * _numbers(about["folds"])[:, m]
            for arm, about in found["arms"][kind].items()
        }
        gains = {
            arm: values - arms["ridge"]
            for arm, values in arms.items()
            if arm != "ridge"
        }
        for arm, gain in gains.items():
            title, colour, marker = _ARMS[arm]
            ax.plot(
                gain.mean(),
                i,
                marker,
                color=colour,
                ms=4,
                alpha=0.85,
                label=title if i == 0 else None,
            )
        convex = [gain for arm, gain in gains.items() if arm not in ("off", "paper")]
        errors = [
            gain.var(ddof=1) / len(gain) if len(gain) > 1 else 0.0 for gain in convex
        ]
        spread, label = (
            float(np.sqrt(np.mean(errors))),
            "standard error of a gain" if i == 0 else None,
        )
        ax.barh(
            i,
            2 * spread,
            left=-spread,
            height=0.7,
            color=ink.GREY,
            alpha=0.25,
            lw=0,
            label=label,
        )
    reach = 1.6 * max(
        *(abs(float(x)) for line in ax.lines for x in line.get_xdata()), 0.008
    )
    ticks = [t for t in (-0.1, -0.01, 0.0, 0.01, 0.1) if abs(t) <= reach]
    names = [f"{name} *" if found["part"] else name for name, found in results.items()]
    ax.axvline(0, color=ink.MUTED, lw=0.8)
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    quiet(ax, grid="both")
    ax.set_xscale("symlog", linthresh=0.01, linscale=1.0)
    ax.set(xlim=(-reach, reach), xticks=ticks, xticklabels=[f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_title(METRICS[m], fontweight="bold")


def _draw_rules(results: Found, figure_of: Any) -> Any:
    """Fig. 6: AP against the number of rules, and rule distinctness of the published method, a panel per data set."""
    columns = min(4, len(results))
    rows = -(-len(results) // columns)
    figure = figure_of(2.1 * rows + 0.4)
    axes = figure.subplots(
        2 * rows, columns, squeeze=False, sharex=True, height_ratios=[2.6, 1] * rows
    )
    panels = axes.reshape(rows, 2, columns).swapaxes(1, 2).reshape(-1, 2)
    for i, (name, found) in enumerate(results.items()):
        (top, under), published = panels[i], found["paper"]
        _curve(
            top,
            published["n_rules"],
            published,
            "ML-TSK FS as published",
            ink.ORANGE,
            "s",
        )
        _curve(
            top, found["ours"]["n_rules"], found["ours"], "our default", ink.BLUE, "o"
        )
        under.plot(
            published["n_rules"],
            _numbers(published["distinctness"]),
            "s-",
            color=ink.ORANGE,
            ms=2.5,
        )
        for ax in (top, under):
            _log_axis(ax, "x", [1, 2, 5, 10, 30])
            quiet(ax)
        top.set_title(f"{name}\n({found['part']})" if found["part"] else name)
        label = "number of rules" if i + columns >= len(results) else ""
        under.set(ylim=(-0.08, 1.0), yticks=[0, 0.5, 1], xlabel=label)
        under.tick_params(labelbottom=True)
    for top, under in panels[::columns]:
        top.set_ylabel("AP")
        under.set_ylabel("distinct-\nness")
    for ax in panels[len(results) :].ravel():
        ax.set_visible(False)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2
    )
    return figure


def _curve(
    ax: Any, x: Any, table: Mapping[str, Any], title: str, colour: str, marker: str
) -> None:
    AP, sd = (_numbers(table[part])[:, 0] for part in ("mean", "sd"))
    ax.plot(x, AP, f"{marker}-", color=colour, ms=3, label=title)
    ax.fill_between(x, AP - sd, AP + sd, color=colour, alpha=0.15, lw=0)


def _draw_sensitivity(results: Found, figure_of: Any) -> Any:
    """Fig. 7: AP against alpha and against beta, the others where they are best; a row per data set."""
    figure = figure_of(2.5 * len(results))
    axes = figure.subplots(len(results), 2, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for ax, symbol, key in zip(
            row, ("alpha", "beta"), ("correlation_weight", "l1_weight"), strict=True
        ):
            _curve(
                ax,
                found["values"],
                found["paper"][symbol],
                "ML-TSK FS as published",
                ink.ORANGE,
                "s",
            )
            ax.axvline(
                found["setting"][key],
                color=ink.ORANGE,
                lw=0.9,
                ls=":",
                label="its best, on the folds shown",
            )
            _curve(
                ax,
                found["values"],
                found["ours"][symbol],
                "the convex form of its problem",
                ink.BLUE,
                "o",
            )
            own = "its own choice, from the training rows"
            ax.axvline(
                found["weights"][symbol], color=ink.BLUE, lw=0.9, ls=":", label=own
            )
            _log_axis(ax, "x", [0.01, 0.1, 1, 10, 100])
            ax.set(xlabel=symbol, title=f"{name}: {symbol} moves")
            quiet(ax)
        row[0].set_ylabel("AP")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2
    )
    return figure


def _draw_convergence(results: Found, figure_of: Any) -> Any:
    """Fig. 8: the paper's objective past the authors' stop, their df, and a certificate; a row per data set."""
    figure = figure_of(2.3 * len(results) + 0.3)
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for line, colour, dash in zip(
            found["paper"],
            (ink.SKY, ink.ORANGE, ink.RED),
            ("-", "--", "-."),
            strict=False,
        ):
            at = (
                line["steps"].index(line["stop"])
                if line["stop"] in line["steps"]
                else -1
            )
            for ax, key, width in ((row[0], "objective", 1.4), (row[1], "df", 1)):
                label = f"alpha = {line['alpha']:g}"
                ax.plot(
                    line["steps"],
                    _numbers(line[key]),
                    dash,
                    color=colour,
                    lw=width,
                    label=label,
                )
                ax.plot(
                    line["steps"][at],
                    line[key][at],
                    "o",
                    color=colour,
                    mfc="none",
                    ms=6,
                )
        ours = found["ours"]
        row[2].plot(
            np.maximum(ours["steps"], 1),
            _numbers(ours["certificates"]),
            "o-",
            color=ink.BLUE,
            ms=2.5,
        )
        row[2].axhline(ours["default_tol"], color=ink.MUTED, lw=0.8, ls=":")
        row[2].text(
            1,
            ours["default_tol"],
            "default tolerance",
            va="bottom",
            fontsize=7,
            color=ink.MUTED,
        )
        _convergence_axes(row, name)
    axes[0, 0].plot(
        [], [], "o", color=ink.MUTED, mfc="none", ms=6, label="where the authors stop"
    )
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4
    )
    return figure


def _convergence_axes(row: Any, name: str) -> None:
    # below -1e12 a line has said what it has to say
    row[0].set_yscale("symlog", linthresh=1e3)
    row[0].set_yticks(
        [1e3, 0, -1e3, -1e6, -1e9, -1e12], ["1e3", "0", "-1e3", "-1e6", "-1e9", "-1e12"]
    )
    row[0].set_yticks([], minor=True)
    row[0].set_ylim(-1e12, 2e4)
    row[1].axhline(0.01, color=ink.MUTED, lw=0.8, ls=":")
    _log_axis(row[1], "y", [1e-4, 1e-2, 1, 1e3, 1e6, 1e9, 1e12])
    row[1].set_ylim(1e-5, 1e12)
    _log_axis(row[2], "y", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    titles = [f"{name}: objective of the paper", "df, the authors stop below 0.01"]
    for ax, title in zip(
        row, [*titles, "convex form: share left to the optimum"], strict=True
    ):
        _log_axis(ax, "x", [1, 10, 100, 1000])
        ax.set(xlabel="step", title=title)
        quiet(ax)


def _log_axis(ax: Any, which: str, ticks: Sequence[float]) -> None:
    """Logarithmic, with these ticks as plain numbers, not as mathematics."""
    texts = [
        f"{tick:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
        for tick in ticks
    ]
    ax.set(
        **{f"{which}scale": "log", f"{which}ticks": ticks, f"{which}ticklabels": texts}
    )
    getattr(ax, f"set_{which}ticks")([], minor=True)


def _say_label_correlation(found: Mapping[str, Any]) -> dict[str, Any]:
    r = {
        key: float(_numbers(model["pearson"])) for key, model in found["models"].items()
    }
    alike = (
        "agree in part"
        if r["paper"] >= 0.3
        else "do not agree, other than the paper says"
    )
    so = ""
    if found["positive_pairs"] == 0:
        so = "; no two labels correlate positively there"
    elif (
        np.nanmax(_numbers(found["by_alpha"])[:, 1]) - r["paper_uncoupled"] < 0.02
        and r["paper_uncoupled"] >= 0.3
    ):
        so = ": no alpha up to 100 makes them agree better than alpha = 0, so it is not the coupling's doing"
    return {
        **r,
        "agree": "agree, as the paper says" if r["paper"] >= 0.7 else alike,
        "so": so,
    }


def _say_coupling_effect(results: Found) -> dict[str, Any]:
    gains = [
        _ap(found["groups"]["B"]) - _ap(found["groups"]["A"])
        for found in results.values()
    ]
    said = {
        "small": _DIFFERS,
        "up": sum(gain > _DIFFERS for gain in gains),
        "mean": np.mean(gains),
    }
    for kind in ("paper", "ours"):
        arms = [found["arms"][kind] for found in results.values()]
        couplings = [arm for arm in arms[0] if arm not in ("off", "ridge")]
        mean = {
            arm: float(
                np.mean([_ap(found[arm]) - _ap(found["ridge"]) for found in arms])
            )
            for arm in couplings
        }
        names = {
            arm: "R with Algorithm I" if arm == "paper" else arm for arm in couplings
        }
        named = ", ".join(f"{names[arm]} {gain:+.3f}" for arm, gain in mean.items())
        well = (
            "a plain ridge does as well"
            if max(mean.values()) <= _DIFFERS
            else "some coupling adds to a plain ridge"
        )
        said[kind] = (
            f"the mean change in AP against the ridge control is {named}: so {well}."
        )
    return said


def _say_rules(results: Found) -> dict[str, Any]:
    paper, ours = (
        [found[key] for found in results.values()] for key in ("paper", "ours")
    )
    distinct = [
        [d for d in curve["distinctness"] if d is not None] or [1.0] for curve in paper
    ]
    return {
        "inside": sum(
            2 <= curve["n_rules"][int(np.nanargmax(_ap(curve)))] <= 6 for curve in paper
        ),
        "same": sum(np.median(values) < 0.05 for values in distinct),
        "swing": np.median([np.ptp(_ap(curve)) for curve in paper]),
        "gain": np.median([_ap(curve).max() - _ap(curve)[0] for curve in ours]),
    }


def _say_sensitivity(found: Mapping[str, Any]) -> dict[str, Any]:
    x = _numbers(found["values"])
    alpha, beta = (_ap(found["paper"][symbol]) for symbol in ("alpha", "beta"))
    parts = {"low": (0.01, 0.6), "middle": (0.6, 60), "high": (60, 900)}
    of_alpha = {
        part: _range(alpha[(x >= low) & (x <= high)])
        for part, (low, high) in parts.items()
    }
    ours = [_range(_ap(found["ours"][symbol])) for symbol in ("alpha", "beta")]
    return {
        **of_alpha,
        "beta": _range(beta[x <= 0.9]),
        "least": beta.min(),
        "ours": ours,
    }


def _say_convergence(found: Mapping[str, Any]) -> dict[str, Any]:
    lines, ours = found["paper"], found["ours"]
    stops, alphas = (
        ", ".join(f"{line[key]:g}" for line in lines) for key in ("stop", "alpha")
    )
    left = ", ".join(
        f"{line['lowest']:.0e} (alpha = {line['alpha']:g})"
        for line in lines
        if line["lowest"] < 0
    )
    low = min(line["curvature"] for line in lines)
    unbounded = all(line["unbounded"] for line in lines)
    verdict = (
        f"the curvature is negative (down to {low:.2g}), so there is no minimum"
        if unbounded
        else "it is bounded"
    )
    falls = f"; left alone the objective falls to {left}" if left else ""
    reached = {"certificate": ours["certificates"][-1], "steps": ours["steps"][-1]}
    return {
        "stops": stops,
        "alphas": alphas,
        "verdict": verdict,
        "falls": falls,
        **reached,
    }


def _range(values: Any) -> str:
    return f"{values.min():.3f} to {values.max():.3f}" if len(values) else "not tried"


_STUDIES: dict[
    str, tuple[Callable[[Found, Any], Any], Callable[[Any], dict[str, Any]]]
] = {
    "label-correlation": (_draw_label_correlation, _say_label_correlation),
    "coupling-effect": (_draw_coupling_effect, _say_coupling_effect),
    "rules": (_draw_rules, _say_rules),
    "sensitivity": (_draw_sensitivity, _say_sensitivity),
    "convergence": (_draw_convergence, _say_convergence),
}
