"""Other methods, and ours, each with its library's defaults: one fit to one fold.

Every library lives in an environment of its own, and nothing of `mltsk` is at hand
there, so this package needs NumPy alone until a method is asked for; it runs as
``fits``, with the folder above this one in PYTHONPATH.
"""

from importlib import import_module
from typing import Any, NamedTuple

HERE = ""  # the environment of the benchmarks themselves
SHORT = 12  # statements, terms, coefficients or splits of a short model, per label


class Method(NamedTuple):
    """Where a method lives, and what its results depend on beside the library."""

    module: str  # of this package, with a function of the name below
    function: str
    environment: str
    packages: tuple[str, ...]
    is_readable: bool
    settings: str  # a change of these words runs the method again


SCIKIT_LEARN = ("scikit-learn",)
OURS = "mltsk"
OURS_SHORT = "mltsk, 12 statements"

METHODS: dict[str, Method] = {
    "random forest": Method(
        module="scikit_learn",
        function="random_forest",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=False,
        settings="defaults",
    ),
    "extra trees": Method(
        module="scikit_learn",
        function="extra_trees",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=False,
        settings="defaults",
    ),
    "kernel ridge": Method(
        module="scikit_learn",
        function="kernel_ridge",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=False,
        settings="RBF, standardised, gamma 1/D, alpha 1",
    ),
    "logistic regression": Method(
        module="scikit_learn",
        function="logistic_regression",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=True,
        settings="weight by inner folds",
    ),
    "logistic, 12 features": Method(
        module="scikit_learn",
        function="short_logistic",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=True,
        settings="weakest L1 with at most 12 coefficients, refitted",
    ),
    "tree, 12 splits": Method(
        module="scikit_learn",
        function="short_tree",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=True,
        settings="leaves of ten rows at least",
    ),
    "LightGBM": Method(
        module="boosters",
        function="lightgbm",
        environment=".venv-boosters",
        packages=("lightgbm",),
        is_readable=False,
        settings="defaults",
    ),
    "XGBoost": Method(
        module="boosters",
        function="xgboost",
        environment=".venv-boosters",
        packages=("xgboost-cpu",),
        is_readable=False,
        settings="defaults",
    ),
    "BOOMER": Method(
        module="boomer",
        function="boomer",
        environment=".venv-boomer",
        packages=("mlrl-boomer",),
        is_readable=False,
        settings="defaults",
    ),
    "histogram boosting": Method(
        module="scikit_learn",
        function="histogram_boosting",
        environment=HERE,
        packages=SCIKIT_LEARN,
        is_readable=False,
        settings="defaults",
    ),
    "APLR, 12 terms": Method(
        module="additive",
        function="short_aplr",
        environment=".venv-additive",
        packages=("aplr",),
        is_readable=True,
        settings="max_terms 12, one inner fold",
    ),
    "APLR": Method(
        module="additive",
        function="aplr",
        environment=".venv-additive",
        packages=("aplr",),
        is_readable=True,
        settings="defaults",
    ),
    "CatBoost": Method(
        module="boosters",
        function="catboost",
        environment=".venv-boosters",
        packages=("catboost",),
        is_readable=False,
        settings="defaults",
    ),
    "CatBoost, all labels": Method(
        module="boosters",
        function="catboost_all_labels",
        environment=".venv-boosters",
        packages=("catboost",),
        is_readable=False,
        settings="MultiLogloss",
    ),
    "EBM, quick": Method(
        module="additive",
        function="quick_ebm",
        environment=".venv-additive",
        packages=("interpret-core",),
        is_readable=True,
        settings="no pairs, 2 bags, 32 bins",
    ),
    "multi-task GAM": Method(
        module="additive",
        function="multi_task",
        environment=".venv-additive",
        packages=("imodels", "interpret-core"),
        is_readable=True,
        settings="no pairs, 2 bags, 32 bins",
    ),
    "EBM": Method(
        module="additive",
        function="ebm",
        environment=".venv-additive",
        packages=("interpret-core",),
        is_readable=True,
        settings="defaults",
    ),
    OURS_SHORT: Method(
        module="ours",
        function="short",
        environment=HERE,
        packages=("mltsk",),
        is_readable=True,
        settings="shorten(12)",
    ),
    OURS: Method(
        module="ours",
        function="whole",
        environment=HERE,
        packages=("mltsk",),
        is_readable=True,
        settings="defaults",
    ),
}


class CannotFit(Exception):
    """A method does not take such data; its words say why."""


class TooSlow(Exception):
    """The labels fitted so far took so long that all of them cannot be in time."""


def model_of(name: str, fold: Any) -> Any:
    """The model of a method for a fold: it has fit(), chances() and size()."""
    method = METHODS[name]
    module = import_module(f".{method.module}", __package__)
    return getattr(module, method.function)(fold)
