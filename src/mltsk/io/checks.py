"""Whether the parts of a fitted model fit together: files and plain data are judged by the same table.

Symbols in shapes: K rules, D features, L labels, P terms of the general rule, E rows of a consequent (1, or D + 1 with
slopes), Q knots of a scale, C percentiles (21).
"""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..thresholds import MultilabelThreshold

TABLES = {
    "centers_": "KD",
    "widths_": "KD",
    "coef_": "KEL",
    "prototypes_": "KD",
    "rule_weights_": "K",
    "quantiles_": "DC",
}
TABLES |= {
    "intercept_": "L",
    "general_coef_": "PL",
    "thresholds_": "L",
    "slopes_": "L",
    "offsets_": "L",
    "coupling_": "LL",
}
SCALING = {"values": "DQ", "levels": "DQ", "offset": "D", "spread": "D"}
TERMS = {"feature": "P", "low": "P", "high": "P", "mean": "P"}
MAY_BE_NONE = ("quantiles_", "coupling_", "slopes_", "offsets_", "low", "high")
# What scores and rules are made from; the paper's system has no general rule, so no more than the first of these.
RULES = (
    *("centers_", "widths_", "coef_", "prototypes_", "rule_weights_", "thresholds_", "quantiles_", "scale_"),
    *("scaling_", "label_names_", "classes_", "multilabel_", "n_features_in_"),
)
GENERAL = ("terms_", "intercept_", "general_coef_", "slopes_", "offsets_")
SCALES = ("quantile", "standard", "minmax", "unit", None)


def has_rules(model: Any) -> bool:
    """Whether a model is a fuzzy system of ours."""
    return hasattr(type(model), "system_")


def check_model(model: Any) -> None:
    """Refuse a model that would fail in a prediction: the error names the part and what it should be.

    Parameters that did not exist when the model was written get their defaults.
    """
    check_is_fitted(model)
    if hidden := [name for name in vars(model) if callable(getattr(type(model), name, None))]:
        raise ValueError(f"it puts data in the place of {hidden[0]}")
    for name, parameter in inspect.signature(type(model).__init__).parameters.items():
        if name not in vars(model) and parameter.default is not parameter.empty:
            setattr(model, name, parameter.default)
    if isinstance(model, MultilabelThreshold):
        check_model(model.estimator_)
        if has_rules(model.estimator_):
            _check_table(model.thresholds_, "thresholds_", model.estimator_.thresholds_.shape)
    if has_rules(model):
        check_parts(vars(model))


def check_parts(found: Mapping[str, Any]) -> None:
    """Refuse attributes of a fuzzy system that do not fit together."""
    general = GENERAL if any(name in found for name in GENERAL) else ()
    if missing := [name for name in (*RULES, *general) if name not in found]:
        raise ValueError(f"it has no {missing[0]}, which mltsk {__version__} needs: fit the model again")
    n = _sizes(found)
    if n["E"] not in (1, n["D"] + 1) or min(n["D"], n["L"]) < 1:
        raise ValueError(f"'coef_' has {n['E']} rows per rule for {n['D']} features")
    _check_tables(found, {name: shape for name, shape in TABLES.items() if name in found}, n)
    if not (found["widths_"] > 0).all():
        raise ValueError("'widths_' must be above 0")
    _check_names(found, n)
    _check_scale(found, n)
    if "terms_" in found:
        _check_terms(found, n)


def _sizes(found: Mapping[str, Any]) -> dict[str, int]:
    scaling, terms, coef = found["scaling_"], found.get("terms_"), found["coef_"]
    return {
        "K": len(found["centers_"]),
        "D": int(found["n_features_in_"]),
        "L": len(found["label_names_"]),
        "C": 21,
        "P": len(terms["feature"]) if terms else 0,
        "E": coef.shape[1] if coef.ndim == 3 else 1,
        "Q": np.shape(scaling["values"])[-1] if scaling else 0,
    }


def _check_tables(found: Mapping[str, Any], shapes: Mapping[str, str], n: Mapping[str, int]) -> None:
    for name, shape in shapes.items():
        if found[name] is not None or name not in MAY_BE_NONE:
            _check_table(found[name], name, tuple(n[symbol] for symbol in shape))


def _check_table(table: Any, name: str, shape: tuple[int, ...]) -> None:
    numbers = isinstance(table, np.ndarray) and table.dtype.kind in "fi"
    if not numbers or table.shape != shape or not (np.isfinite(table) | (name == "widths_") & (table > 0)).all():
        raise ValueError(f"{name!r} must be a table of {' x '.join(map(str, shape))} finite numbers")


def _check_names(found: Mapping[str, Any], n: Mapping[str, int]) -> None:
    for name, count in (("label_names_", n["L"]), ("feature_names_in_", n["D"])):
        names = list(found.get(name, [str(i) for i in range(count)]))
        if len(names) != count or len(set(names)) < count or not all(isinstance(text, str) for text in names):
            raise ValueError(f"{name!r} must be {count} different names")
    binary = not found["multilabel_"] and len(found["classes_"]) == 2
    if len(found["classes_"]) != n["L"] + binary:
        raise ValueError(f"there are {len(found['classes_'])} classes for {n['L']} labels")


def _check_scale(found: Mapping[str, Any], n: Mapping[str, int]) -> None:
    scale, scaling = found["scale_"], found["scaling_"]
    if scale not in SCALES:
        raise ValueError(f"this version knows no scale {str(scale)[:80]!r}")
    if (scaling is None) != (scale in ("unit", None)):
        raise ValueError(f"'scaling_' does not belong to the scale {scale!r}")
    if scaling is None:
        return
    _check_tables(scaling, SCALING, n)
    if any((np.diff(scaling[name], axis=1) < 0).any() for name in ("values", "levels")) or n["Q"] < 1:
        raise ValueError("knots of the scale must rise")
    if not (scaling["spread"] > 0).all() or not isinstance(scaling["bounded"], bool):
        raise ValueError("'spread' must be above 0, and 'bounded' true or false")


def _check_terms(found: Mapping[str, Any], n: Mapping[str, int]) -> None:
    terms = found["terms_"]
    _check_tables(terms, TERMS, n)
    feature, low, high = terms["feature"], terms["low"], terms["high"]
    if feature.dtype.kind != "i" or (np.diff(feature) < 0).any() or not np.isin(feature, np.arange(n["D"])).all():
        raise ValueError("'feature' must give the features of the terms, in order")
    if low is None and high is None:
        if n["P"] != n["D"]:
            raise ValueError("there must be a linear term per feature")
    elif low is None or high is None or not (high > low).all() or (n["P"] and found["scale_"] != "quantile"):
        raise ValueError("ramps must rise on a percentile scale")
