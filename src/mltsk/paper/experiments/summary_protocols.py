"""Sentences on what the leak and the selection are worth, for `summary`."""

from collections.abc import Mapping, Sequence

import numpy as np

from .protocol_tables import WORTH, pairs_of, worths
from .rank_tables import CONTROL
from .results import Results
from .selection import methods_of
from .table import signed
from .tables import Choices, method_title

_WHAT = {
    "leak": "Scaling and clustering on all rows (protocol paper against strict, whose folds are cut otherwise)",
    "selection": "Choosing settings on the reported folds (protocol strict against nested)",
    "both": "Both together (protocol paper against nested)",
}


def protocol_sentences(results: Results, choices: Choices) -> list[str]:
    """What each step from a lenient to a strict protocol is worth in AP, settings chosen by AP."""
    sentences = []
    for pair in pairs_of(results):
        gains = worths(results, choices, pair, by="AP")
        by_method = {key: gains[key, "AP"] for key in methods_of(results) if gains[key, "AP"]}
        if by_method:
            sentences.append(_sentence(results, _WHAT[WORTH[pair]], by_method))
    return sentences


def _sentence(results: Results, what: str, by_method: Mapping[str, Sequence[float]]) -> str:
    every = np.concatenate([np.asarray(gains) for gains in by_method.values()])
    parts = [
        f"{what} is worth {signed(float(every.mean()))} AP on average over {len(every)} pairs of method and data set "
        f"({signed(float(every.min()))} to {signed(float(every.max()))})"
    ]
    for key, gains in by_method.items():
        if results.run["methods"][key].get("paper") == CONTROL:
            parts.append(f"{signed(float(np.mean(gains)))} for {CONTROL} on {len(gains)}")
    most = max(by_method, key=lambda key: float(np.mean(by_method[key])))
    parts.append(f"most for {method_title(results, most)} ({signed(float(np.mean(by_method[most])))})")
    return ", ".join(parts) + "."
