"""The main job: ML-TSK FS on one data set, our default next to the paper's own setting and its printed values.

`run_demo` fits and measures, and returns plain data; `mltsk.pages.render.demo_page` makes a page of it.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import MLTSKClassifier
from ..datasets import Dataset
from ..exceptions import InputError
from ..metrics import evaluate
from ..paper import PaperMLTSK
from ..paper.experiments.cross_validation import CrossValidation, cross_validate_metrics, shuffled_folds
from ..paper.experiments.published import METRICS, published, table_i
from .summarise import summarise_agreement, summarise_model, versions

Progress = Callable[[int, int], object]

# Chosen as the paper chooses: the best AP on the reported folds, here among 432 of the 4,000 settings of its grid
# (3 x 3 x 4 x 3 x 4 values of K, h, α, β, γ) on yeast. h made no difference; 1 leaves its rules least alike.
PAPER_SETTING = {"n_rules": 2, "width_scale": 1.0, "correlation_weight": 10.0, "l1_weight": 0.1, "init_ridge": 100.0}

LONG_NAMES = {
    "AP": "average precision",
    "HL": "Hamming loss",
    "OE": "one-error",
    "RL": "ranking loss",
    "CV": "coverage",
}


class Demo(NamedTuple):
    """Plain data for a page, and the fitted default model."""

    summary: dict[str, Any]
    model: Any


def run_demo(
    data: Dataset,
    *,
    n_rules: int | str = "auto",
    n_folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> Demo:
    """Cross-validate the default and the paper's setting on the same folds, then fit both on all rows.

    Parameters
    ----------
    data : Dataset
        One of the paper's data sets.
    n_rules : int or "auto"
        Exceptions of the default model.
    n_folds, seed : int
        Folds and the seed of their shuffling.
    progress : callable, optional
        Called with (fits done, fits in all).
    n_jobs : int, optional
        Processes.
    """
    if data.name not in table_i():
        raise InputError(f"The paper has no data set {data.name!r}; it has {', '.join(table_i())}.")
    start = time.perf_counter()
    models = {"default": MLTSKClassifier(n_rules=n_rules), "paper": PaperMLTSK(**PAPER_SETTING)}
    folds = shuffled_folds(len(data), n_folds, seed)
    report = _Counter(progress, len(models) * n_folds)
    results = {
        name: cross_validate_metrics(
            model, data.X, data.Y, folds=folds, convention="paper", progress=report.part(i * n_folds), n_jobs=n_jobs
        )
        for i, (name, model) in enumerate(models.items())
    }
    messages = {name: _fit(model, data) for name, model in models.items()}
    summary = _summary(data, models, results, seed)
    summary["warnings"] = {name: sorted({*messages[name], *results[name].warnings}) for name in models}
    summary["seconds"] = time.perf_counter() - start
    return Demo(summary, models["default"])


class _Counter:
    """One count over several cross-validations."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total = progress or (lambda done, total: None), total

    def part(self, before: int) -> Progress:
        return lambda done, _: self.progress(before + done, self.total) if done or not before else None


def _fit(model: Any, data: Dataset) -> list[str]:
    """Fit on all rows, name features and labels, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data.frames())
    return [f"{warning.category.__name__}: {warning.message}" for warning in caught]


def _summary(data: Dataset, models: dict[str, Any], results: dict[str, CrossValidation], seed: int) -> dict[str, Any]:
    n, d, n_labels = data.shape
    return {
        "title": f"ML-TSK FS on {data.name}",
        "data": {
            "name": data.name,
            "samples": n,
            "features": d,
            "labels": n_labels,
            "cardinality": data.cardinality,
            "source": data.source,
        },
        "protocol": {"folds": len(results["default"].table), "seed": seed, "convention": "paper"},
        "metrics": _metrics(data.name, results, left_out(models["default"], data.Y)),
        "models": {name: summarise_model(model, data.X) for name, model in models.items()},
        "agreement": summarise_agreement(data.Y, data.label_names, models["default"]),
        "cross_validation": {name: result.to_dict() for name, result in results.items()},
        "paper_setting": dict(PAPER_SETTING),
        "versions": versions(),
    }


def left_out(model: Any, Y: Any) -> dict[str, float]:
    """The paper's metrics of what each training row would have scored without itself."""
    rows = slice(None) if model.loo_rows_ is None else model.loo_rows_
    return evaluate(np.asarray(Y)[rows], model.loo_scores_, convention="paper")


def _metrics(dataset: str, results: dict[str, CrossValidation], alone: dict[str, float]) -> list[dict[str, Any]]:
    """One entry per metric: our two means and standard deviations, leave-one-out, and the paper's Table III."""
    printed = published("III", dataset)
    return [
        {
            "name": name,
            "long_name": LONG_NAMES[name],
            "better": "higher" if name == "AP" else "lower",
            "default": {"mean": results["default"].mean[name], "sd": results["default"].sd[name]},
            "paper": {"mean": results["paper"].mean[name], "sd": results["paper"].sd[name]},
            "left_out": float(alone[name]),
            "published": {"mean": printed[name].mean, "sd": printed[name].sd},
        }
        for name in METRICS
    ]
