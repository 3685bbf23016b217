"""Shorter models for the explorer: what each says and computes, as far as it differs, and how good it honestly is."""

import json
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.arrays import spread_rows
from ..fit.short import ROWS
from ..metrics import evaluate
from ..storing import short_models
from .explorer_model import system_data

SIZES = (3, 5, 8, 12, 20, 30)  # terms per label
NAMES = ("feature_names_in_", "label_names_", "categories_", "columns_")


def sizes_data(model: Any, X: Any = None, Y: Any = None, room: float = np.inf) -> list[dict[str, Any]]:
    """Models of at most ``size`` terms per label with their honest ``AP``, the model itself last; [] if it is alone.

    AP is the mean over labels on what rows score without themselves, all models on the same rows. A model that holds no
    rows, since it comes from a file, is fitted again, once, if X and Y are what it was fitted on. Those that do not fit
    into ``room``, in characters of JSON, are left out, the longest first.
    """
    if room <= 0 or (long := _with_rows(model, X, Y)) is None:
        return []
    whole, most = system_data(model), int(model.n_terms_.max())
    rows = spread_rows(len(long._sample.loo), ROWS)
    known, scores = (part[rows] for part in long._left_out)
    short_models(long, SIZES[-1])  # one choice for all of them
    found: list[dict[str, Any]] = []
    for size in (size for size in SIZES if size < most):
        short = long.shorten(size)
        own = {key: part for key, part in system_data(short).items() if part != whole[key]}
        room -= len(json.dumps(own, ensure_ascii=False, separators=(",", ":")))
        if room < 0:
            break
        found.append({"size": size, "AP": _mean_ap(known, short.loo_scores_), **own})
    return [*found, {"size": most, "AP": _mean_ap(known, scores)}] if found else []


def _mean_ap(Y: Any, scores: Any) -> float | None:
    mean = float(np.mean(evaluate(Y, scores, per_label=True)["AP"]))
    return mean if np.isfinite(mean) else None


def _with_rows(model: Any, X: Any, Y: Any) -> Any:
    """The model where it holds rows to be shortened by, one that is fitted again and equal, or None."""
    if not hasattr(model, "shorten") or getattr(model, "max_terms", None) is not None:
        return None
    if hasattr(model, "_sample"):
        return model
    if X is None or Y is None or model.loo_rows_ is not None or len(model.loo_scores_) != X.shape[0]:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first fit has told
            again = clone(model).fit(X, Y)
    except ValueError:
        return None
    if again.loo_scores_.shape != model.loo_scores_.shape:
        return None
    names = {name: getattr(model, name) for name in NAMES if hasattr(model, name)}  # X and Y may come without
    vars(again).update(names)
    return again if np.allclose(again.loo_scores_, model.loo_scores_, rtol=0, atol=1e-6) else None
