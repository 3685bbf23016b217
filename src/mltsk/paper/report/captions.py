"""What the figures of the studies show, in one to three plain sentences made from their numbers.

Sentences are in `captions.toml` of the experiments. A function finds what they need in ``{data set: result of the
study}``, or in the result of one data set, and whether the paper's claim holds.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...tables.cells import count
from ..experiments.published import read_toml
from .pictures import numbers

Found = Mapping[str, Mapping[str, Any]]
SMALL = 0.005  # a difference in AP below this is not called one: folds differ by more


def study_caption(name: str, results: Found) -> str:
    """The caption of a study's figure; it ends with the rows and folds used."""
    sentence, by_note = read_toml("captions.toml")["studies"][name], dict[str, list[str]]()
    for dataset, found in results.items():
        by_note.setdefault(found["note"], []).append(dataset)
    used = [f"Used for {', '.join(datasets)}: {note}." for note, datasets in by_note.items()]
    if name in _OF_ALL:
        said = [sentence.format(sets=count(len(results), "data set"), **_OF_ALL[name](results))]
    else:
        said = [sentence.format(name=dataset, **_OF_EACH[name](found)) for dataset, found in results.items()]
    return " ".join(said + used)


def _label_correlation(found: Mapping[str, Any]) -> dict[str, Any]:
    r = {key: float(numbers(model["pearson"])) for key, model in found["models"].items()}
    alike = "agree in part" if r["paper"] >= 0.3 else "do not agree, other than the paper says"
    so = ""
    if found["positive_pairs"] == 0:
        so = "; no two labels correlate positively there"
    elif np.nanmax(numbers(found["by_alpha"])[:, 1]) - r["paper_uncoupled"] < 0.02 and r["paper_uncoupled"] >= 0.3:
        so = ": no alpha up to 100 makes them agree better than alpha = 0, so it is not the coupling's doing"
    return {**r, "agree": "agree, as the paper says" if r["paper"] >= 0.7 else alike, "so": so}


def _coupling_effect(results: Found) -> dict[str, Any]:
    gains = [_ap(found["groups"]["B"]) - _ap(found["groups"]["A"]) for found in results.values()]
    fair = {kind: _against_ridge(results, kind) for kind in ("paper", "ours")}
    return {"small": SMALL, "up": sum(gain > SMALL for gain in gains), "mean": np.mean(gains), **fair}


def _against_ridge(results: Found, kind: str) -> str:
    arms = [found["arms"][kind] for found in results.values()]
    couplings = [arm for arm in arms[0] if arm not in ("off", "ridge")]
    mean = {arm: float(np.mean([_ap(found[arm]) - _ap(found["ridge"]) for found in arms])) for arm in couplings}
    named = ", ".join(f"{'R with Algorithm I' if arm == 'paper' else arm} {gain:+.3f}" for arm, gain in mean.items())
    well = "a plain ridge does as well" if max(mean.values()) <= SMALL else "some coupling adds to a plain ridge"
    return f"the mean change in AP against the ridge control is {named}: so {well}."


def _rules(results: Found) -> dict[str, Any]:
    paper, ours = ([found[key] for found in results.values()] for key in ("paper", "ours"))
    distinct = [[d for d in curve["distinctness"] if d is not None] or [1.0] for curve in paper]
    return {
        "inside": sum(2 <= curve["n_rules"][int(np.nanargmax(_ap(curve)))] <= 6 for curve in paper),
        "same": sum(np.median(values) < 0.05 for values in distinct),
        "swing": np.median([np.ptp(_ap(curve)) for curve in paper]),
        "gain": np.median([_ap(curve).max() - _ap(curve)[0] for curve in ours]),
    }


def _sensitivity(found: Mapping[str, Any]) -> dict[str, Any]:
    x = numbers(found["values"])
    alpha, beta = (_ap(found["paper"][symbol]) for symbol in ("alpha", "beta"))
    parts = {"low": (0.01, 0.6), "middle": (0.6, 60), "high": (60, 900)}
    of_alpha = {part: _range(alpha[(x >= low) & (x <= high)]) for part, (low, high) in parts.items()}
    ours = [_range(_ap(found["ours"][symbol])) for symbol in ("alpha", "beta")]
    return {**of_alpha, "beta": _range(beta[x <= 0.9]), "least": beta.min(), "ours": ours}


def _convergence(found: Mapping[str, Any]) -> dict[str, Any]:
    lines, ours = found["paper"], found["ours"]
    stops, alphas = (", ".join(f"{line[key]:g}" for line in lines) for key in ("stop", "alpha"))
    left = ", ".join(f"{line['lowest']:.0e} (alpha = {line['alpha']:g})" for line in lines if line["lowest"] < 0)
    low = min(line["curvature"] for line in lines)
    unbounded = all(line["unbounded"] for line in lines)
    verdict = f"the curvature is negative (down to {low:.2g}), so there is no minimum" if unbounded else "it is bounded"
    falls = f"; left alone the objective falls to {left}" if left else ""
    reached = {"certificate": ours["certificates"][-1], "steps": ours["steps"][-1]}
    return {"stops": stops, "alphas": alphas, "verdict": verdict, "falls": falls, **reached}


def _ap(found: Mapping[str, Any]) -> Any:
    """Mean AP of an arm, or along a curve."""
    return numbers(found["mean"])[..., 0]


def _range(values: Any) -> str:
    return f"{values.min():.3f} to {values.max():.3f}" if len(values) else "not tried"


_OF_ALL: dict[str, Callable[[Found], dict[str, Any]]] = {"coupling-effect": _coupling_effect, "rules": _rules}
_OF_EACH = {"label-correlation": _label_correlation, "sensitivity": _sensitivity, "convergence": _convergence}
