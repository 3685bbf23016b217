"""Every cell of a store with what its predictions are worth, as a frame.

AP is per row, in the paper's convention; macro AP and AUC are means over labels, on
rows where they were observed; log loss is that of all observed cells, of probabilities
cut at .001 and .999. Sets are judged by AP first, tables by macro AP.
"""

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from mltsk import evaluate

from .data import N_FOLDS, TaskFold, read_task
from .fits import METHODS
from .store import DONE, Store

LEAST_CHANCE = 1e-3
MEASURES = ("first", "AP", "macro AP", "AUC", "log loss")
COSTS = ("fit_s", "predict_s", "peak_mb", "size")


def results_of(store: Store, sets: Sequence[str], *, all_folds: bool) -> pd.DataFrame:
    """A row per method and data set: means over folds, or why there are none."""
    strangers = [name for name in store.methods() if name not in METHODS]
    rows = []
    for name in sets:
        task = read_task(name)
        n_folds = N_FOLDS if all_folds else task.default_folds
        folds = [task.fold(number) for number in range(1, n_folds + 1)]
        for method in (*METHODS, *strangers):
            outcomes = [outcome(store, method, fold) for fold in folds]
            rows.append(mean_outcome(outcomes) | {"data": name, "kind": task.kind})
    return pd.DataFrame(rows)


def outcome(store: Store, method: str, fold: TaskFold) -> dict[str, object]:
    """What a method reached on one fold and what that cost."""
    cell = store.cell(method, fold)
    known: dict[str, object] = {"method": method}
    known |= dict.fromkeys(("status", "why", "version"), "")
    known |= dict.fromkeys((*MEASURES, *COSTS), np.nan)
    if cell is not None:
        known |= {"status": cell.status, "why": cell.why, "version": cell.version}
        known |= {name: getattr(cell, name) for name in COSTS}
    chances = store.predictions(method, fold)
    if chances is None:
        return known
    return known | {"status": DONE} | worth(fold, chances)


def worth(fold: TaskFold, chances: np.ndarray) -> dict[str, float]:
    """All measures of predictions of a fold."""
    Y = fold.Y_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_row = evaluate(Y, chances, convention="paper")
        by_label = evaluate(Y, chances, per_label=True)
    observed = np.isfinite(Y)
    yes = Y[observed]
    likely = np.clip(chances[observed], LEAST_CHANCE, 1 - LEAST_CHANCE)
    log_loss = -np.mean(yes * np.log(likely) + (1 - yes) * np.log(1 - likely))
    values = {
        "AP": float(by_row["AP"]),
        "macro AP": float(by_label["AP"].mean()),
        "AUC": float(by_label["AUC"].mean()),
        "log loss": float(log_loss),
    }
    values["first"] = values["macro AP" if fold.task.kind == "table" else "AP"]
    return values


def mean_outcome(outcomes: Sequence[dict[str, object]]) -> dict[str, object]:
    """Means over folds, if all are there; else the first reason why not."""
    for one in outcomes:
        if one["status"] != DONE:
            return one
    frame = pd.DataFrame(list(outcomes))
    return dict(outcomes[0]) | frame[[*MEASURES, *COSTS]].mean().to_dict()
