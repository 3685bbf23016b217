"""5-fold AP on emotions of every compared method, with the best setting of its grid.

Settings are chosen on the reported folds, as in the paper. Next to it stands what the
paper prints (Table III). A second table has other ways to run a method that explain
printed values. Without ``--full`` C2AE and ML-TSK FS are left out: their grids take
minutes.
"""

import warnings
from functools import cache

import numpy as np
from sklearn.preprocessing import minmax_scale

from benchmarks import Options, folds, has_data, print_table
from mltsk import load_dataset
from mltsk.metrics import five_metrics
from mltsk.paper.experiments import published
from mltsk.paper.methods import METHODS

SLOW_METHODS = ("c2ae", "ml-tsk-fs")
NO_CONSTANT = "unscaled features, no constant column"
OTHER_WAYS = (
    ("ml-knn", "emotions", "unscaled features", {}),
    ("ml-knn", "birds", "unscaled features", {}),
    ("hnoml", "yeast", NO_CONSTANT, {"fit_intercept": False}),
    ("c2ae", "emotions", "50 epochs", {"epochs": 50}),
)


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    keys = [key for key in METHODS if options.full or key not in SLOW_METHODS]
    rows = []
    for key in keys:
        rows.append([key, *best(key, "emotions"), printed("emotions", key)])
    print_table(["method", "best AP", "settings", "paper"], rows)
    rows = []
    for key, data, how, params in OTHER_WAYS:
        if key in keys:
            usual, _ = best(key, data)
            other, _ = best(key, data, scaled="unscaled" not in how, **params)
            rows.append([f"{key} on {data}", usual, how, other, printed(data, key)])
    print_table(["method", "best AP", "run otherwise", "best AP", "paper"], rows)


def printed(data: str, key: str) -> str:
    """AP in Table III of the paper."""
    titles = {
        title.lower().replace(" ", "-"): title for title in published.PAPER_METHODS
    }
    cell = published.published_table("III")[data, "AP", titles[key]]
    return f"{cell.mean:.2f}"


@cache
def best(key: str, name: str, scaled: bool = True, **params) -> tuple[str, str]:
    """Best mean AP over a method's grid, and how many settings that has."""
    data = load_dataset(name)
    method = METHODS[key](**params)
    X = minmax_scale(data.X) if scaled else data.X
    aps: dict[tuple, list[float]] = {}
    for train, test in folds(len(data.Y)):
        for point in method.grid_path(X[train], data.Y[train], X[test]):
            metrics = five_metrics(data.Y[test], point.scores, convention="paper")
            setting = tuple(sorted(point.params.items()))
            aps.setdefault(setting, []).append(metrics[0])
    return f"{max(map(np.mean, aps.values())):.4f}", str(len(aps))
