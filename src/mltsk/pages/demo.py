"""The main job: ML-TSK FS on one data set, our default next to the paper's own setting and its printed values."""

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import MLTSKClassifier
from ..core.arrays import Array
from ..core.membership import rule_distinctness
from ..datasets import Dataset
from ..exceptions import InputError
from ..explain.views import label_correlation_view
from ..metrics import evaluate
from ..paper import PaperMLTSK
from ..paper.experiments.cross_validation import CrossValidation, cross_validate_metrics, shuffled_folds
from ..paper.experiments.published import METRICS, published, table_i
from ..paper.experiments.run import versions

Progress = Callable[[int, int], object]

# Chosen as the paper chooses: the best AP on the reported folds, here among 432 of the 4,000 settings of its grid
# (3 x 3 x 4 x 3 x 4 values of K, h, α, β, γ) on yeast. h made no difference; 1 leaves its rules least alike.
PAPER_SETTING = {"n_rules": 2, "width_scale": 1.0, "correlation_weight": 10.0, "l1_weight": 0.1, "init_ridge": 100.0}

LONG_NAMES = ("average precision", "Hamming loss", "one-error", "ranking loss", "coverage")
MAP_ROWS = 24  # rules in a firing map, those that govern most
MAP_COLUMNS = 240  # groups of samples in a firing map: more than a page has room to show


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

    ``data`` is one of the paper's data sets, ``n_rules`` the exceptions of the default model, ``seed`` that of the
    shuffling of folds; ``progress`` is called with (fits done, fits in all), ``n_jobs`` are processes.
    """
    if data.name not in table_i():
        raise InputError(f"The paper has no data set {data.name!r}; it has {', '.join(table_i())}.")
    start = time.perf_counter()
    models = {"default": MLTSKClassifier(n_rules=n_rules), "paper": PaperMLTSK(**PAPER_SETTING)}
    folds = shuffled_folds(len(data), n_folds, seed)
    options = {"folds": folds, "convention": "paper", "n_jobs": n_jobs}
    results = {}
    for name, model in models.items():
        told = _counted(progress, len(results) * n_folds, len(models) * n_folds)
        results[name] = cross_validate_metrics(model, data.X, data.Y, progress=told, **options)
    messages = {name: _fit(model, data) for name, model in models.items()}
    sizes = dict(zip(("samples", "features", "labels"), data.shape, strict=True))
    summary = {
        "title": f"ML-TSK FS on {data.name}",
        "data": {"name": data.name, **sizes, "cardinality": data.cardinality, "source": data.source},
        "protocol": {"folds": n_folds, "seed": seed, "convention": "paper"},
        "metrics": _metrics(data.name, results, left_out(models["default"], data.Y)),
        "models": {name: summarise_model(model, data.X) for name, model in models.items()},
        "agreement": summarise_agreement(data.Y, data.label_names, models["default"]),
        "cross_validation": {name: result.to_dict() for name, result in results.items()},
        "paper_setting": dict(PAPER_SETTING),
        "versions": versions(),
        "warnings": {name: sorted({*messages[name], *results[name].warnings}) for name in models},
    }
    return Demo({**summary, "seconds": time.perf_counter() - start}, models["default"])


def _counted(progress: Progress | None, before: int, total: int) -> Progress:
    """One count over several cross-validations."""
    return lambda done, _: progress(before + done, total) if progress and (done or not before) else None


def _fit(model: Any, data: Dataset) -> list[str]:
    """Fit on all rows, name features and labels, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data.frames())
    return [f"{warning.category.__name__}: {warning.message}" for warning in caught]


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
            "long_name": long_name,
            "better": "higher" if name == "AP" else "lower",
            **{key: {"mean": found.mean[name], "sd": found.sd[name]} for key, found in results.items()},
            "left_out": float(alone[name]),
            "published": {"mean": printed[name].mean, "sd": printed[name].sd},
        }
        for name, long_name in zip(METRICS, LONG_NAMES, strict=True)
    ]


def summarise_model(model: Any, X: Any) -> dict[str, Any]:
    """The rules of a fitted classifier: how many, how distinct, how they fire on rows X, and how many numbers."""
    system = model.system_
    M = np.asarray(system.firing(X), dtype=np.float64)
    shown = np.sort(np.argsort(-system.rule_weights, kind="stable")[:MAP_ROWS])
    return {
        "n_rules": system.shape[0],
        "order": system.order,
        "n_terms": len(system.terms),
        "n_numbers": int(np.count_nonzero(system.term_coef) + np.count_nonzero(system.coef)),
        "distinctness": rule_distinctness(M) if len(system.centers) else 1.0,
        "shares": system.rule_weights.tolist(),
        "largest_spread": float(np.ptp(M, axis=0).max(initial=0.0)),
        "firing_map": firing_map(M[:, shown]).tolist() if system.shape[0] else None,
        "firing_names": [f"{'exception' if len(system.terms) else 'rule'} {k + 1}" for k in shown],
        "ridge": float(model.ridge_),
        "parameters": {name: str(value) for name, value in sorted(model.get_params().items())},
    }


def firing_map(M: Array, columns: int = MAP_COLUMNS) -> Array:
    """Firing strengths for a picture, (K, columns): samples sorted by their strongest rule, neighbours averaged."""
    order = np.lexsort([-M.max(axis=1), M.argmax(axis=1)])
    groups = np.array_split(M[order], min(columns, len(M)))
    return np.array([group.mean(axis=0) for group in groups]).T


def summarise_agreement(Y: Any, label_names: Sequence[str], model: Any) -> dict[str, Any]:
    """Correlation of labels next to that of their THEN-parts in the model, and how far the two agree."""
    view = label_correlation_view(model, Y)
    tables = {"label_correlation": view.labels.tolist(), "consequent_correlation": view.consequents.tolist()}
    return {"labels": list(label_names), **tables, "agreement": view.agreement}
