"""Wrong labels: AP when a share of all training labels is turned into its opposite.

The nine methods of the paper's Section IV, what came after them and our default, on the
same folds and with the same cells flipped at random. A method with a grid has that of
`mltsk reproduce --grid fast` and chooses its setting on a third of its training rows,
as they are, with their wrong labels; it is then fitted to all of them. AP is the
paper's, on test rows whose labels are right: the mean of five folds.

C2AE, whose nets take most of the time, is left out without ``--full``.
"""

import warnings

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, load_dataset
from mltsk.core.arrays import Array
from mltsk.datasets import Dataset
from mltsk.metrics import average_precision_score
from mltsk.model_selection import IterativeStratification
from mltsk.paper.experiments.definition import (
    MethodDefinition,
    class_of,
    grid_of,
    pick_methods,
    section_iv,
)
from mltsk.paper.experiments.execute import minmax

SETS = ("flags", "emotions")
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
SEED = 0
SLOW_METHOD = "c2ae"
SUCCESSORS = ["ml-hdtsk-fs"]


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    *papers, ours = section_iv().methods
    methods = [*papers, *pick_methods(section_iv(), SUCCESSORS), ours]
    if not options.full:
        methods = [method for method in methods if method.key != SLOW_METHOD]
    rows = []
    for name in SETS:
        data = load_dataset(name)
        for method in methods:
            aps = [mean_ap(method, data, share) for share in SHARES]
            cost = aps[0] - aps[2]
            rows.append([name, method.title, *(f"{ap:.3f}" for ap in (*aps, cost))])
    shares = [f"{share:.0%} flipped" for share in SHARES]
    print_table(["data", "method", *shares, "cost of 20 %"], rows)


def mean_ap(method: MethodDefinition, data: Dataset, share: float) -> float:
    """AP on the test rows, mean over folds."""
    is_flipped = np.random.default_rng(SEED).random(data.Y.shape) < share
    Y = np.where(is_flipped, 1 - data.Y, data.Y)
    aps = []
    for train, test in folds(len(Y), SEED):
        scores = scores_of(method, data.X[train], Y[train], data.X[test])
        truth = data.Y[test]
        aps.append(average_precision_score(truth, scores, convention="paper"))
    return float(np.mean(aps))


def scores_of(method: MethodDefinition, X: Array, Y: Array, X_test: Array) -> Array:
    """Scores of the test rows by a method whose setting the training rows chose."""
    if class_of(method) is MLTSKClassifier:
        return MLTSKClassifier().fit(X, Y).decision_function(X_test)
    model = class_of(method)(**method.params)
    X_test = minmax(X_test, X)
    X = minmax(X, X)
    fit, check = next(IterativeStratification(3, random_state=SEED).split(Y, Y))
    best = None
    best_ap = -1.0
    for point in model.grid_path(X[fit], Y[fit], X[check], grid_of(method, "fast")):
        ap = average_precision_score(Y[check], point.scores, convention="paper")
        if ap > best_ap:
            best_ap = ap
            best = {name: [value] for name, value in point.params.items()}
    (chosen,) = model.grid_path(X, Y, X_test, best)
    return chosen.scores
