"""The model next to other methods, as the review shows it."""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from . import svg, worth
from .baselines import COMPARISON_FOLDS, FOREST, LINEAR, OURS, BaselineComparison
from .judged import JudgedLabel
from .packing import PageData


def comparison_facts(
    comparison: BaselineComparison | None, labels: list[JudgedLabel], n_rows: int
) -> PageData | None:
    """The model next to other methods, label by label and on average."""
    if comparison is None:
        return None
    is_known = np.isfinite(comparison.AP[OURS])
    leads = comparison.leads()
    rows = []
    for i in np.flatnonzero(is_known):
        j = comparison.labels[i]
        AP = {method: float(values[i]) for method, values in comparison.AP.items()}
        better = [method for method, lead in leads.items() if j in lead.labels]
        rows.append(_compared_label(labels[j], AP, comparison.best, better))
    means = {}
    if rows:
        means["AP"] = _means(comparison.AP, is_known)
        means["AUC"] = _means(comparison.AUC, is_known)
    some = []
    if comparison.rows != n_rows:
        some.append(f"{comparison.rows:,} of {n_rows:,} rows")
    if len(comparison.labels) != len(labels):
        some.append(f"{len(comparison.labels)} of {len(labels)} labels")
    folds = f"{COMPARISON_FOLDS} folds, drawn once"
    if comparison.n_draws > 1:
        folds = f"{COMPARISON_FOLDS} folds, drawn {comparison.n_draws} times"
    return {
        "lines": worth.lines_on_better_methods(labels, comparison),
        "rows": rows,
        "mean": means,
        "methods": list(comparison.AP),
        "drawn": [comparison.best, LINEAR, FOREST],
        "some": " and ".join(some),
        "folds": folds,
    }


def _compared_label(
    label: JudgedLabel, AP: dict[str, float], ours: str, better: list[str]
) -> PageData:
    """AP of all methods for one label, and which of them are clearly better.

    The better of our models, ``ours``, is drawn next to the others.
    """
    drawn = {method: AP[method] for method in (ours, LINEAR, FOREST)}
    return {
        "name": label.name,
        "guessed_AP": label.guessed_AP,
        "AP": AP,
        "picture": svg.compared(f"AP of {label.name}", drawn, label.guessed_AP),
        "better": better,
    }


def _means(
    values: dict[str, FloatArray], is_known: NDArray[np.bool_]
) -> dict[str, float]:
    """Means over the labels that are known, by method."""
    return {method: float(each[is_known].mean()) for method, each in values.items()}
