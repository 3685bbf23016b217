"""A small experiment that runs in a second, and results with a variant.

The experiment has synthetic data in a file, and two quick methods.
"""

import pytest

from mltsk.datasets import make_multilabel_rules, write_npz
from mltsk.paper.experiments.definition import Definition

QUICK = {
    "key": "ml-knn",
    "title": "ML-kNN",
    "paper": "ML-kNN",
    "class": "mltsk.paper.methods:MLkNN",
    "scale": "minmax",
    "grids": {"paper": {"n_neighbors": [1, 3, 5], "smoothing": [0.1, 1.0]}},
}
RULES = {
    "key": "ml-tsk-fs",
    "class": "mltsk.paper.methods:PaperMLTSK",
    "scale": "minmax",
    "split": "n_rules",
    "grids": {
        "paper": {
            "n_rules": [1, 2],
            "width_scale": [1.0, 10.0],
            "l1_weight": [0.01, 100.0],
        }
    },
}
C2AE = {"title": "C2AE", "paper": "C2AE", "grid": {}, "settings": 1}
SHORT = {
    "title": "C2AE, 50 epochs",
    "paper": None,
    "variant_of": "c2ae",
    "grid": {},
    "settings": 1,
}


@pytest.fixture
def data_file(tmp_path):
    data = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
    return write_npz(tmp_path / "toy.npz", data)


@pytest.fixture
def small(data_file):
    """A function that makes a definition with some fields replaced."""

    def make(**changes):
        content = {
            "folds": 3,
            "inner_folds": 2,
            "studies": False,
            "datasets": [{"name": "toy", "file": str(data_file)}],
            "methods": [QUICK, RULES],
        }
        return Definition.model_validate({**content, **changes})

    return make


@pytest.fixture
def variant_alone(make_results):
    """A run of another reading of C2AE without C2AE itself."""
    return make_results(datasets=("yeast",), methods={"short": SHORT})


@pytest.fixture
def with_variant(make_results):
    """C2AE .2 above the paper, and another reading of it .01 above."""
    results = make_results(
        datasets=("emotions", "yeast"), methods={"short": SHORT, "c2ae": C2AE}
    )
    scores = results.scores
    scores.loc[scores["method"] == "c2ae", "AP"] += 0.2
    scores.loc[scores["method"] == "short", "AP"] = 0.57 + 0.01
    return results
