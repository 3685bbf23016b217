"""What the studies show, in one to three plain sentences each.

The sentences are in `captions.toml` of the experiments. Here are the numbers that they
need, from all data sets together or from one, and whether the paper's claim holds.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ...core.arrays import Array
from ...text import plural
from ..experiments.published import read_toml

# What a study says of one data set: plain data, as JSON keeps it.
StudyResult: TypeAlias = Mapping[str, Any]
# Results of a study by data set.
StudyResults: TypeAlias = Mapping[str, StudyResult]
# Words and numbers of a sentence, by their names in `captions.toml`.
Words: TypeAlias = dict[str, object]

# A difference in AP below this is not called one: folds differ by more.
MIN_AP_DIFFERENCE = 0.005


def study_caption(name: str, results: StudyResults) -> str:
    """The caption of a study's figure; it ends with the rows and folds used."""
    template = read_toml("captions.toml")["studies"][name]
    if name in _WORDS_OF_ALL:
        words = _WORDS_OF_ALL[name](results)
        datasets = plural(len(results), "data set")
        sentences = [template.format(sets=datasets, **words)]
    else:
        sentences = []
        for dataset, result in results.items():
            words = _WORDS_OF_ONE[name](result)
            sentences.append(template.format(name=dataset, **words))
    return " ".join(sentences + _rows_used(results))


def _rows_used(results: StudyResults) -> list[str]:
    """A sentence for each set of rows and folds, with the data sets that share it."""
    datasets_by_note: dict[str, list[str]] = {}
    for dataset, result in results.items():
        datasets_by_note.setdefault(result["note"], []).append(dataset)
    sentences = []
    for note, datasets in datasets_by_note.items():
        sentences.append(f"Used for {', '.join(datasets)}: {note}.")
    return sentences


def as_numbers(values: object) -> Array:
    """Lists of plain data as an array, with NaN where there is None.

    matplotlib leaves NaN out.
    """
    return np.array(values, dtype=np.float64)


def mean_ap(result: StudyResult) -> Array:
    """Mean AP of an arm, or along a curve."""
    return np.asarray(as_numbers(result["mean"])[..., 0])


def _correlation_words(result: StudyResult) -> Words:
    """Whether correlations of consequents agree with those of labels, and why."""
    agreement = {}
    for key, model in result["models"].items():
        agreement[key] = float(as_numbers(model["pearson"]))
    if agreement["paper"] >= 0.7:
        verdict = "agree, as the paper says"
    elif agreement["paper"] >= 0.3:
        verdict = "agree in part"
    else:
        verdict = "do not agree, other than the paper says"
    reason = _agreement_reason(result, agreement["paper_uncoupled"])
    return {**agreement, "agree": verdict, "so": reason}


def _agreement_reason(result: StudyResult, uncoupled: float) -> str:
    """Why correlations agree as they do, where that is known."""
    if result["positive_pairs"] == 0:
        return "; no two labels correlate positively there"
    best = np.nanmax(as_numbers(result["by_alpha"])[:, 1])
    if best - uncoupled >= 0.02 or uncoupled < 0.3:
        return ""
    return (
        ": no alpha up to 100 makes them agree better than alpha = 0, "
        "so it is not the coupling's doing"
    )


def _coupling_words(results: StudyResults) -> Words:
    """What coupling is worth in AP: as the paper compares, then arm by arm."""
    gains = []
    for result in results.values():
        groups = result["groups"]
        gains.append(mean_ap(groups["B"]) - mean_ap(groups["A"]))
    return {
        "small": MIN_AP_DIFFERENCE,
        "up": sum(gain > MIN_AP_DIFFERENCE for gain in gains),
        "mean": np.mean(gains),
        "paper": _arms_sentence(results, "paper"),
        "ours": _arms_sentence(results, "ours"),
    }


def _arms_sentence(results: StudyResults, kind: str) -> str:
    """Mean change in AP of every coupling against the ridge control."""
    by_dataset = [result["arms"][kind] for result in results.values()]
    changes = {}
    for arm in by_dataset[0]:
        if arm not in ("off", "ridge"):
            gains = [mean_ap(arms[arm]) - mean_ap(arms["ridge"]) for arms in by_dataset]
            name = "R with Algorithm I" if arm == "paper" else arm
            changes[name] = float(np.mean(gains))
    listed = ", ".join(f"{name} {change:+.3f}" for name, change in changes.items())
    verdict = "some coupling adds to a plain ridge"
    if max(changes.values()) <= MIN_AP_DIFFERENCE:
        verdict = "a plain ridge does as well"
    return f"the mean change in AP against the ridge control is {listed}: so {verdict}."


def _rules_words(results: StudyResults) -> Words:
    """How AP and distinctness depend on the number of rules."""
    n_inside = 0
    n_alike = 0
    swings = []
    gains = []
    for result in results.values():
        paper = result["paper"]
        paper_ap = mean_ap(paper)
        n_inside += 2 <= paper["n_rules"][int(np.nanargmax(paper_ap))] <= 6
        distinctness = [value for value in paper["distinctness"] if value is not None]
        n_alike += bool(np.median(distinctness or [1.0]) < 0.05)
        swings.append(np.ptp(paper_ap))
        our_ap = mean_ap(result["ours"])
        gains.append(our_ap.max() - our_ap[0])
    return {
        "inside": n_inside,
        "same": n_alike,
        "swing": np.median(swings),
        "gain": np.median(gains),
    }


def _sensitivity_words(result: StudyResult) -> Words:
    """Ranges of AP along alpha, in the paper's three parts, and along beta."""
    x = as_numbers(result["values"])
    by_alpha = mean_ap(result["paper"]["alpha"])
    by_beta = mean_ap(result["paper"]["beta"])
    our_ranges = [
        _range(mean_ap(result["ours"][symbol])) for symbol in ("alpha", "beta")
    ]
    return {
        "low": _range(by_alpha[(x >= 0.01) & (x <= 0.6)]),
        "middle": _range(by_alpha[(x >= 0.6) & (x <= 60)]),
        "high": _range(by_alpha[(x >= 60) & (x <= 900)]),
        "beta": _range(by_beta[x <= 0.9]),
        "least": by_beta.min(),
        "ours": our_ranges,
    }


def _range(values: Array) -> str:
    """The smallest and the largest value."""
    if len(values) == 0:
        return "not tried"
    return f"{values.min():.3f} to {values.max():.3f}"


def _convergence_words(result: StudyResult) -> Words:
    """Where the authors stop, whether there is a minimum, and our certificate."""
    runs = result["paper"]
    verdict = "it is bounded"
    if all(run["unbounded"] for run in runs):
        lowest = min(run["curvature"] for run in runs)
        verdict = (
            f"the curvature is negative (down to {lowest:.2g}), so there is no minimum"
        )
    depths = []
    for run in runs:
        if run["lowest"] < 0:
            depths.append(f"{run['lowest']:.0e} (alpha = {run['alpha']:g})")
    falls = ""
    if depths:
        falls = f"; left alone the objective falls to {', '.join(depths)}"
    return {
        "stops": ", ".join(f"{run['stop']:g}" for run in runs),
        "alphas": ", ".join(f"{run['alpha']:g}" for run in runs),
        "verdict": verdict,
        "falls": falls,
        "certificate": result["ours"]["certificates"][-1],
        "steps": result["ours"]["steps"][-1],
    }


# Studies with a sentence about all data sets, and studies with a sentence for each.
_WORDS_OF_ALL: dict[str, Callable[[StudyResults], Words]] = {
    "coupling-effect": _coupling_words,
    "rules": _rules_words,
}
_WORDS_OF_ONE: dict[str, Callable[[StudyResult], Words]] = {
    "label-correlation": _correlation_words,
    "sensitivity": _sensitivity_words,
    "convergence": _convergence_words,
}
