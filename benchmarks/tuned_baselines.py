"""5-fold AP on emotions of every compared method, best setting of its grid on the reported folds, as in the paper.

Next to it what the paper prints (Table III). A second table has other ways to run a method that explain printed values.
Without ``--full`` C2AE and ML-TSK FS are left out: their grids take minutes.
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

LONG = ("c2ae", "ml-tsk-fs")
OTHER_WAYS = (
    ("ml-knn", "emotions", "unscaled features", {}),
    ("ml-knn", "birds", "unscaled features", {}),
    (
        "hnoml",
        "yeast",
        "unscaled features, no constant column",
        {"fit_intercept": False},
    ),
    ("c2ae", "emotions", "50 epochs", {"epochs": 50}),
)


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    keys = [key for key in METHODS if options.full or key not in LONG]
    rows = [[key, *best(key, "emotions"), printed("emotions", key)] for key in keys]
    print_table(["method", "best AP", "settings", "paper"], rows)
    rows = []
    for key, data, how, params in (way for way in OTHER_WAYS if way[0] in keys):
        usual, other = (
            best(key, data),
            best(key, data, scaled="unscaled" not in how, **params),
        )
        rows.append([f"{key} on {data}", usual[0], how, other[0], printed(data, key)])
    print_table(["method", "best AP", "run otherwise", "best AP", "paper"], rows)


def printed(data: str, key: str) -> str:
    """AP in Table III of the paper."""
    (title,) = (
        title
        for title in published.PAPER_METHODS
        if title.lower().replace(" ", "-") == key
    )
    return f"{published.published_table('III')[data, 'AP', title].mean:.2f}"


@cache
def best(key: str, name: str, scaled: bool = True, **params) -> list[str]:
    """Best mean AP over a method's grid, and how many settings that has."""
    data, method, found = load_dataset(name), METHODS[key](**params), {}
    X = minmax_scale(data.X) if scaled else data.X
    for train, test in folds(len(data.Y)):
        for point in method.grid_path(X[train], data.Y[train], X[test]):
            ap = five_metrics(data.Y[test], point.scores, convention="paper")[0]
            found.setdefault(tuple(sorted(point.params.items())), []).append(ap)
    return [f"{max(map(np.mean, found.values())):.4f}", str(len(found))]
