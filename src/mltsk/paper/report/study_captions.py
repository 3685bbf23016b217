"""What the figures of the studies show, in one to three plain sentences made from their numbers.

Each function takes ``{data set: result of the study}``, as its figure does, and says whether the paper's claim holds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .study_theme import numbers

Results = Mapping[str, Mapping[str, Any]]
SMALL = 0.005  # a difference in AP below this is not called one: folds differ by more


def label_correlation(results: Results) -> str:
    """Whether labels that go together have alike consequents, and whether the coupling has a part in it."""
    return " ".join(_one_correlation(name, found) for name, found in results.items())


def _one_correlation(name: str, found: Mapping[str, Any]) -> str:
    models = found["models"]
    r = {key: numbers([model["pearson"]])[0] for key, model in models.items()}
    alike = _verdict(r["paper"])
    sentence = (
        f"On {name} the correlations of labels and of published consequents {alike} (agreement {r['paper']:.2f}; "
        f"{r['paper_uncoupled']:.2f} with alpha = 0; ours {r['ours']:.2f}, {r['ours_uncoupled']:.2f} without coupling)"
    )
    if found["positive_pairs"] == 0:
        return f"{sentence}; no two labels correlate positively there."
    at_most = np.nanmax(numbers([value for _, value in found["by_alpha"]]))
    if at_most - r["paper_uncoupled"] < 0.02 and r["paper_uncoupled"] >= 0.3:
        return (
            f"{sentence}: no alpha up to 100 makes them agree better than alpha = 0, so it is not the coupling's doing."
        )
    return f"{sentence}."


def _verdict(r: float) -> str:
    if r >= 0.7:
        return "agree, as the paper says"
    return "agree in part" if r >= 0.3 else "do not agree, other than the paper says"


def coupling_effect(results: Results) -> str:
    """What the coupling is worth as the paper counts, and against a ridge of its own weight."""
    gains = {name: _ap(found["groups"]["B"]) - _ap(found["groups"]["A"]) for name, found in results.items()}
    up = sum(gain > SMALL for gain in gains.values())
    first = (
        f"With the paper's comparison, coupling on (its best alpha on the folds shown) against off, AP rises by more "
        f"than {SMALL:g} on {up} of {_sets(len(gains))} (mean {np.mean(list(gains.values())):+.3f})."
    )
    return f"{first} {_against_ridge(results, 'paper')} {_against_ridge(results, 'ours')}"


def _against_ridge(results: Results, kind: str) -> str:
    couplings = [arm for arm in next(iter(results.values()))["arms"][kind] if arm not in ("off", "ridge")]
    mean = {
        arm: float(
            np.mean([_ap(found["arms"][kind][arm]) - _ap(found["arms"][kind]["ridge"]) for found in results.values()])
        )
        for arm in couplings
    }
    named = ", ".join(f"{'R with Algorithm I' if arm == 'paper' else arm} {gain:+.3f}" for arm, gain in mean.items())
    verdict = (
        "so a plain ridge does as well" if max(mean.values()) <= SMALL else "so some coupling adds to a plain ridge"
    )
    rules = "the paper's rules" if kind == "paper" else "our rules"
    return f"Chosen on inner folds with {rules}, the mean change in AP against the ridge control is {named}: {verdict}."


def rules(results: Results) -> str:
    """Whether the number of rules matters, and whether they differ."""
    collapsed = [name for name, found in results.items() if _median(found["paper"]["distinctness"]) < 0.05]
    best = [found["paper"]["n_rules"][int(np.nanargmax(_aps(found["paper"])))] for found in results.values()]
    inside = sum(2 <= K <= 6 for K in best)
    swing = [float(np.ptp(_aps(found["paper"]))) for found in results.values()]
    gain = [float(_aps(found["ours"]).max() - _aps(found["ours"])[0]) for found in results.values()]
    distinct = [_median(found["ours"]["distinctness"]) for found in results.values()]
    return (
        f"The published method is at its best with 2 to 6 rules on {inside} of {_sets(len(results))} (the paper: in "
        f"general), but its rules are all but the same (median distinctness below 0.05) on {len(collapsed)} of them, "
        f"and AP moves by {np.median(swing):.3f} (median) between the best and the worst number. Ours keep a "
        f"distinctness of {min(distinct):.2f} or more; their best number is worth {np.median(gain):.3f} AP (median) "
        "over a single rule."
    )


def sensitivity(results: Results) -> str:
    """Where AP is stable in alpha and beta, beside what the paper says."""
    return " ".join(_one_sensitivity(name, found) for name, found in results.items())


def _one_sensitivity(name: str, found: Mapping[str, Any]) -> str:
    x = np.array(found["values"])
    alpha, beta = (_aps(found["paper"][symbol]) for symbol in ("alpha", "beta"))
    parts = [_range(alpha[(x >= low) & (x <= high)]) for low, high in ((0.01, 0.6), (0.6, 60), (60, 900))]
    ours = [_range(_aps(found["ours"][symbol])) for symbol in ("alpha", "beta")]
    return (
        f"On {name} AP of the published method is {parts[0]} for alpha in 0.01 to 0.6, {parts[1]} in 0.6 to 60 and "
        f"{parts[2]} from 60 on (the paper: stable, fluctuating, rising to its best); for beta it is "
        f"{_range(beta[x <= 0.9])} up to 0.9 and falls to {beta.min():.3f} beyond (the paper: stable, then falling). "
        f"Ours stays at {ours[0]} over all alpha and {ours[1]} over all beta: where the L1 term leaves nothing else, "
        "base rates remain."
    )


def convergence(results: Results) -> str:
    """Why the authors' iteration stops, and what it does when it is not stopped."""
    return " ".join(_one_convergence(name, found) for name, found in results.items())


def _one_convergence(name: str, found: Mapping[str, Any]) -> str:
    lines, ours = found["paper"], found["ours"]
    stops = ", ".join(str(line["stop"]) for line in lines)
    alphas = ", ".join(f"{line['alpha']:g}" for line in lines)
    fallen = [line for line in lines if line["lowest"] < 0]
    left = ", ".join(f"{line['lowest']:.0e} (alpha = {line['alpha']:g})" for line in fallen)
    low = min(line["curvature"] for line in lines)
    unbounded = all(line["unbounded"] for line in lines)
    verdict = f"the curvature is negative (down to {low:.2g}), so there is no minimum" if unbounded else "it is bounded"
    falls = f"; left alone the objective falls to {left}" if fallen else ""
    return (
        f"On {name} Algorithm I stops after {stops} steps for alpha = {alphas}, but {verdict}{falls}. "
        f"Our problem has an optimum and is certified within {ours['certificates'][-1]:.0e} of it after "
        f"{ours['steps'][-1]} steps."
    )


def _ap(arm: Mapping[str, Any]) -> float:
    return numbers(arm["mean"])[0]


def _aps(curve: Mapping[str, Any]) -> Any:
    return np.array([numbers(row)[0] for row in curve["mean"]])


def _range(values: Any) -> str:
    return f"{values.min():.3f} to {values.max():.3f}" if len(values) else "not tried"


def _median(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else 1.0


def _sets(n: int) -> str:
    return f"{n} data set" if n == 1 else f"{n} data sets"
