"""What sparsity costs: AP and share of non-zero consequents as the L1 weight grows from half to four times the default.

"0" is the problem without the L1 term and with the ridge weight that leave-one-out gives it. Without ``--full`` dense
sets get one partition of five folds; with it three, and sparse sets one fold.
"""

import os
import warnings
from collections.abc import Iterable

import numpy as np

from benchmarks import Options, print_table
from benchmarks.defaults import DENSE, SPARSE
from mltsk import MLTSKClassifier, load_dataset
from mltsk.metrics import evaluate
from mltsk.paper.experiments.cross_validation import shuffled_folds

MULTIPLES = (0, 0.5, 1, 2, 4)


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    rows = [trade(name, range(3 if options.full else 1), n_folds=5) for name in DENSE]
    rows += [trade(name, range(1), n_folds=1) for name in SPARSE] if options.full else []
    print("AP (share of consequents that are not 0) at multiples of the default L1 weight; cost of the default")
    print_table(["data", *(f"{m:g}" for m in MULTIPLES), "cost"], rows)


def trade(name: str, seeds: Iterable[int], n_folds: int) -> list[str]:
    """A line of the table: means over seeds and folds."""
    data, values = load_dataset(name), []
    for seed in seeds:
        for train, test in list(shuffled_folds(len(data.Y), 5, random_state=seed))[:n_folds]:
            default = MLTSKClassifier().fit(data.X[train], data.Y[train])
            models = [model.fit(data.X[train], data.Y[train]) for model in neighbours(default)]
            values.append([score(model, data.X[test], data.Y[test]) for model in models])
    mean = np.mean(values, axis=0)
    cost = mean[0, 0] - mean[MULTIPLES.index(1), 0]
    return [name, *(f"{ap:.4f} ({filled:.2f})" for ap, filled in mean), f"{cost:+.4f}"]


def neighbours(default: MLTSKClassifier) -> Iterable[MLTSKClassifier]:
    """Models that differ from a fitted default in the L1 weight alone; 0 chooses its other weights anew."""
    for multiple in MULTIPLES:
        if multiple == 0:
            yield MLTSKClassifier(l1_weight=0.0)
        else:
            yield MLTSKClassifier(
                l1_weight=multiple * default.l1_weight_,
                ridge=default.ridge_,
                correlation_weight=default.correlation_weight_,
            )


def score(model: MLTSKClassifier, X, Y) -> tuple[float, float]:
    """AP on test rows, share of non-zero consequents."""
    found = evaluate(Y, model.decision_function(X), threshold=0.0, convention="paper")
    return found["AP"], float(np.mean(model.coef_[:, 1:] != 0))
