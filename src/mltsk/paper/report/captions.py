"""What the figures of the studies show, in one to three plain sentences made from their numbers.

Each function takes ``{data set: result of the study}``, as its figure does, and says whether the paper's claim holds.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .pictures import numbers

Found = Mapping[str, Mapping[str, Any]]
SMALL = 0.005  # a difference in AP below this is not called one: folds differ by more


def study_caption(name: str, results: Found) -> str:
    """The caption of a study's figure; it ends with the rows and folds used."""
    by_note: dict[str, list[str]] = {}
    for dataset, found in results.items():
        by_note.setdefault(found["note"], []).append(dataset)
    used = [f"Used for {', '.join(datasets)}: {note}." for note, datasets in by_note.items()]
    if name in _OF_ALL:
        said = [_OF_ALL[name](results)]
    else:
        said = [_OF_EACH[name](dataset, found) for dataset, found in results.items()]
    return " ".join(said + used)


def _label_correlation(name: str, found: Mapping[str, Any]) -> str:
    r = {key: float(numbers(model["pearson"])) for key, model in found["models"].items()}
    alike = "agree in part" if r["paper"] >= 0.3 else "do not agree, other than the paper says"
    sentence = (
        f"On {name} the correlations of labels and of published consequents "
        f"{'agree, as the paper says' if r['paper'] >= 0.7 else alike} (agreement {r['paper']:.2f}; "
        f"{r['paper_uncoupled']:.2f} with alpha = 0; convex form {r['ours']:.2f}, {r['ours_uncoupled']:.2f} without "
        "coupling)"
    )
    if found["positive_pairs"] == 0:
        return f"{sentence}; no two labels correlate positively there."
    if np.nanmax(numbers(found["by_alpha"])[:, 1]) - r["paper_uncoupled"] < 0.02 and r["paper_uncoupled"] >= 0.3:
        return (
            f"{sentence}: no alpha up to 100 makes them agree better than alpha = 0, so it is not the coupling's doing."
        )
    return f"{sentence}."


def _coupling_effect(results: Found) -> str:
    gains = [_ap(found["groups"]["B"]) - _ap(found["groups"]["A"]) for found in results.values()]
    up = sum(gain > SMALL for gain in gains)
    return (
        f"With the paper's comparison, coupling on (its best alpha on the folds shown) against off, AP rises by more "
        f"than {SMALL:g} on {up} of {_sets(results)} (mean {np.mean(gains):+.3f}). "
        f"Chosen on inner folds with the paper's rules, {_against_ridge(results, 'paper')} "
        f"With our default, whose weights come from leave-one-out, {_against_ridge(results, 'ours')}"
    )


def _against_ridge(results: Found, kind: str) -> str:
    arms = [found["arms"][kind] for found in results.values()]
    couplings = [arm for arm in arms[0] if arm not in ("off", "ridge")]
    mean = {arm: float(np.mean([_ap(found[arm]) - _ap(found["ridge"]) for found in arms])) for arm in couplings}
    named = ", ".join(f"{'R with Algorithm I' if arm == 'paper' else arm} {gain:+.3f}" for arm, gain in mean.items())
    well = "a plain ridge does as well" if max(mean.values()) <= SMALL else "some coupling adds to a plain ridge"
    return f"the mean change in AP against the ridge control is {named}: so {well}."


def _rules(results: Found) -> str:
    paper, ours = ([found[key] for found in results.values()] for key in ("paper", "ours"))
    distinct = [[d for d in curve["distinctness"] if d is not None] or [1.0] for curve in paper]
    inside = sum(2 <= curve["n_rules"][int(np.nanargmax(_aps(curve)))] <= 6 for curve in paper)
    swing = np.median([np.ptp(_aps(curve)) for curve in paper])
    gain = np.median([_aps(curve).max() - _aps(curve)[0] for curve in ours])
    return (
        f"The published method is at its best with 2 to 6 rules on {inside} of {_sets(results)} (the paper: in "
        f"general), but its rules are all but the same (median distinctness below 0.05) on "
        f"{sum(np.median(values) < 0.05 for values in distinct)} of them, and AP moves by {swing:.3f} (median) between "
        f"the best and the worst number. With our default the best number is worth {gain:.3f} AP (median) over a "
        "single rule."
    )


def _sensitivity(name: str, found: Mapping[str, Any]) -> str:
    x = numbers(found["values"])
    alpha, beta = (_aps(found["paper"][symbol]) for symbol in ("alpha", "beta"))
    parts = [_range(alpha[(x >= low) & (x <= high)]) for low, high in ((0.01, 0.6), (0.6, 60), (60, 900))]
    ours = [_range(_aps(found["ours"][symbol])) for symbol in ("alpha", "beta")]
    return (
        f"On {name} AP of the published method is {parts[0]} for alpha in 0.01 to 0.6, {parts[1]} in 0.6 to 60 and "
        f"{parts[2]} from 60 on (the paper: stable, fluctuating, rising to its best); for beta it is "
        f"{_range(beta[x <= 0.9])} up to 0.9 and falls to {beta.min():.3f} beyond (the paper: stable, then falling). "
        f"The convex form stays at {ours[0]} over all alpha and {ours[1]} over all beta: where the L1 term leaves "
        "nothing else, base rates remain."
    )


def _convergence(name: str, found: Mapping[str, Any]) -> str:
    lines, ours = found["paper"], found["ours"]
    stops, alphas = (", ".join(f"{line[key]:g}" for line in lines) for key in ("stop", "alpha"))
    left = ", ".join(f"{line['lowest']:.0e} (alpha = {line['alpha']:g})" for line in lines if line["lowest"] < 0)
    low = min(line["curvature"] for line in lines)
    unbounded = all(line["unbounded"] for line in lines)
    verdict = f"the curvature is negative (down to {low:.2g}), so there is no minimum" if unbounded else "it is bounded"
    falls = f"; left alone the objective falls to {left}" if left else ""
    return (
        f"On {name} Algorithm I stops after {stops} steps for alpha = {alphas}, but {verdict}{falls}. "
        f"The convex form has an optimum and is certified within {ours['certificates'][-1]:.0e} of it after "
        f"{ours['steps'][-1]} steps."
    )


def _ap(arm: Mapping[str, Any]) -> float:
    return float(numbers(arm["mean"])[0])


def _aps(curve: Mapping[str, Any]) -> Any:
    return numbers(curve["mean"])[:, 0]


def _range(values: Any) -> str:
    return f"{values.min():.3f} to {values.max():.3f}" if len(values) else "not tried"


def _sets(results: Found) -> str:
    return "1 data set" if len(results) == 1 else f"{len(results)} data sets"


_OF_ALL: dict[str, Callable[[Found], str]] = {"coupling-effect": _coupling_effect, "rules": _rules}
_OF_EACH: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
    "label-correlation": _label_correlation,
    "sensitivity": _sensitivity,
    "convergence": _convergence,
}
