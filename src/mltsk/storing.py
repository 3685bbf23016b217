"""What a fit found, as attributes of its estimator: the one place that writes them, of long models and of short ones.

An estimator keeps some of the rows that it was fitted on, ``_sample``, what these were told without themselves,
``_left_out``, and the short models of all sizes once they are chosen, ``_models``. None of that travels.
"""

from dataclasses import replace
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array, asnumpy, blas_threads
from .fit import Fitted, Options
from .fit.short import LARGEST, Sample, ShortModels
from .probabilities import find_thresholds, fit_curves

_WRITTEN = [
    "intercept",
    "centers",
    "prototypes",
    "rule_weights",
    "quantiles",
    "width_scale",
    "rule_share",
    "coupling",
]
_WRITTEN += ["loo_error", "loo_scores", "loo_rows"]


def store(model: Any, fitted: Fitted, rows: Any) -> None:
    """Write what a fit found on some rows, and what follows from it; turn short where that is asked for."""
    design, penalty = fitted.design, fitted.penalty
    scale, rules = (
        design.scale,
        replace(design.rules, centers=asnumpy(design.rules.centers)),
    )
    model.scale_, model.scaling_ = (
        scale.name,
        None if scale.scaling is None else dict(vars(scale.scaling)),
    )
    model.terms_, model.members_ = dict(vars(scale.terms)), dict(vars(fitted.members))
    # row by row, as they come back from a file: products of another layout round differently
    model.general_coef_, model.coef_ = map(
        np.ascontiguousarray, (fitted.general_coef, fitted.coef)
    )
    model.widths_ = np.full_like(fitted.centers, rules.width)
    model.tnorm_ = "minimum" if rules.firing == "minimum" else "product"
    model.n_rules_, model.order_ = len(fitted.centers), int(fitted.coef.shape[1] > 1)
    model.ridge_, model.coupling_weight_ = penalty.rho, penalty.alpha
    for name in _WRITTEN:
        setattr(model, f"{name}_", getattr(fitted, name))
    if model.columns_ and model.columns_["rules"]:
        _warn_of_rules(model, fitted.members.regions)
    some = rows.sample(
        Options.sample_rows if fitted.loo_rows is None else len(fitted.loo_rows)
    )
    loo = (
        fitted.loo_scores
        if fitted.loo_rows is not None
        else fitted.loo_scores[some.index]
    )
    Y, w, copies = asnumpy(some.Y), asnumpy(some.w), asnumpy(some.copies)
    model._sample, model._models = (
        Sample(some.X, Y, w, copies, loo, replace(design, rules=rules), penalty),
        None,
    )
    missed = calibrate(model, Y, w, loo)
    if (
        missed := missed
        if model.max_statements is None
        else turn_short(model, some.index)
    ):
        warn_of_thresholds(model, missed)


def _warn_of_rules(model: Any, regions: Any) -> None:
    """Say which given rules hold for no sample, or for all of them: there is nothing to learn about those."""
    for r, (held, of) in enumerate(regions[-1, -len(model.columns_["rules"]) :]):
        if held in (0, of):
            who = "all" if held else "none"
            warn(
                f"Rule {r + 1} holds for {who} of the samples: it has no number.",
                stacklevel=4,
            )


def calibrate(model: Any, Y: Array, w: Array, loo_scores: Array) -> list[str]:
    """Probabilities and thresholds from leave-one-out scores; names of labels whose threshold misses its goal."""
    model._left_out = (
        np.where((w if w.ndim == 2 else w[:, None]) > 0, Y, np.nan),
        loo_scores,
    )
    curves = fit_curves(loo_scores, Y, w)
    model.slopes_, model.offsets_ = curves.slopes, curves.offsets
    model.thresholds_, missed = find_thresholds(
        model.threshold, loo_scores, Y, w, curves
    )
    if (
        not model.multilabel_
        and len(curves.slopes) == 1
        and np.ndim(model.threshold) == 0
        and model.threshold == 0.5
    ):
        model.thresholds_ = (
            curves.middles
        )  # of two classes the more probable one is predicted
    return [
        name
        for name, is_missed in zip(model.label_names_, missed, strict=True)
        if is_missed
    ]


def warn_of_thresholds(model: Any, missed: list[str]) -> None:
    """Say for which labels what their threshold should reach cannot be had."""
    told = f"{', '.join(map(str, missed[:10]))}{', …' * (len(missed) > 10)}"
    goal, share = model.threshold
    nearest = "the thresholds of these labels come as near as possible"
    warn(
        f"{goal.capitalize()} {share:g} cannot be reached for {told}: {nearest}.",
        stacklevel=4,
    )


def turn_short(model: Any, index: Any) -> list[str]:
    """Turn a classifier into its short model; ``index`` are the rows of its sample among those that it was fitted on.

    Returns the names of labels whose threshold misses its goal.
    """
    sample, models = model._sample, short_models(model, model.max_statements)
    with blas_threads(0.0):  # many small products
        system, rows = models.system(model.max_statements), models.rows
        model.loo_scores_ = models.scores(model.max_statements)
    model.scale_ = model.scale_ if system.scaling is None else "range"
    model.scaling_ = None if system.scaling is None else dict(vars(system.scaling))
    model.terms_, model.members_ = dict(vars(system.terms)), dict(vars(system.members))
    model.certainty_, model.general_coef_ = (
        dict(vars(system.certainty)),
        system.term_coef,
    )
    for name in (
        "intercept",
        "centers",
        "widths",
        "coef",
        "prototypes",
        "rule_weights",
    ):
        setattr(model, f"{name}_", getattr(system, name))
    model.n_rules_, model.order_, model.tnorm_ = len(system.centers), 0, "product"
    if not (isinstance(index, slice) and isinstance(rows, slice)):  # some rows alone
        model.loo_rows_ = (
            np.arange(len(sample.loo))
            if isinstance(index, slice)
            else np.asarray(index)
        )[rows]
    return calibrate(model, sample.Y[rows], sample.w[rows], model.loo_scores_)


def short_models(model: Any, most: int, conditions: int | None = None) -> ShortModels:
    """Those of all sizes up to ``most`` terms, chosen once, from the long model that a short one came from."""
    conditions, found = conditions or getattr(model, "max_conditions", 5), model._models
    if found is None or found.most < most or found.max_conditions != conditions:
        long = model.system_ if found is None else found.long
        found = model._models = ShortModels(long, model._sample, conditions, most)
    return found


def size_path(model: Any) -> dict[str, NDArray[Any]]:
    """`MLTSKClassifier.size_path_`."""
    from .metrics import evaluate

    if not hasattr(model, "_sample"):
        raise AttributeError(
            "a model from a file holds no rows to measure shorter ones on: fit it again"
        )
    models, sizes = short_models(model, LARGEST), np.arange(1, LARGEST + 1)
    Y, w = model._sample.Y[models.rows], model._sample.w[models.rows]
    Y = np.where((w if w.ndim == 2 else w[:, None] + 0 * Y) > 0, Y, np.nan)
    with blas_threads(0.0):
        scores = [models.scores(size) for size in sizes.tolist()]
    AP, each = (
        [evaluate(Y, S)["AP"] for S in scores],
        [evaluate(Y, S, per_label=True)["AP"].mean() for S in scores],
    )
    return {"terms": sizes, "AP": np.array(AP), "macro_AP": np.array(each)}
