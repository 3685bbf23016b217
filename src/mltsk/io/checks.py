"""Whether the parts of a fitted model fit together: files and plain data are judged by the same table.

Symbols in shapes: K rules, D features (of a table with words or gaps, its columns of numbers), L labels, P terms of the
general rule, E rows of a consequent (1, or D + 1 with slopes), Q knots of a scale, C percentiles (21), A rules and all
data (K + 1), G rules that the user gave, R ends of a region (2).
"""

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..columns import Columns
from ..core.arrays import is_sound
from ..core.certainty import Certainty
from ..core.membership import Members
from ..core.terms import PERCENTILE_TERMS, Scaling, Terms
from ..fitted import FittedAttributes
from ..pipelines import taken_apart
from .state import restore

SHAPES = {
    "centers_": "KD",
    "widths_": "KD",
    "prototypes_": "KD",
    "coef_": "KEL",
    "rule_weights_": "K",
}
SHAPES |= {
    "quantiles_": "DC",
    "thresholds_": "L",
    "intercept_": "L",
    "slopes_": "L",
    "offsets_": "L",
}
SHAPES |= {
    "coupling_": "LL",
    "general_coef_": "PL",
    "feature": "P",
    "low": "P",
    "high": "P",
    "mean": "P",
}
SHAPES |= {"values": "DQ", "levels": "DQ", "offset": "D", "spread": "D", "share": "D"}
SHAPES |= {
    "count": "A",
    "observed": "AL",
    "positives": "AL",
    "regions": "ADR",
    "given": "GRL",
}
SHAPES |= {"information": "UU", "noise": "L", "chosen": "DL"}
MAY_BE_NONE = ("quantiles_", "coupling_", "low", "high", "regions", "chosen")
# What scores and rules are made from; the paper's system has no general rule, so no more than the first of these.
RULES = (
    *(
        "centers_",
        "widths_",
        "coef_",
        "prototypes_",
        "rule_weights_",
        "thresholds_",
        "quantiles_",
        "scale_",
    ),
    *(
        "scaling_",
        "firing_",
        "label_names_",
        "classes_",
        "multilabel_",
        "n_features_in_",
    ),
)
GENERAL = ("terms_", "intercept_", "general_coef_", "slopes_", "offsets_", "columns_")
# attributes that are the fields of these
TABLES: Any = {
    "scaling_": Scaling,
    "terms_": Terms,
    "columns_": Columns,
    "members_": Members,
    "certainty_": Certainty,
}
KINDS = ("number", "ordinal", "nominal")
ON_THE_SCALE = (
    "centers_",
    "coef_",
    "general_coef_",
    "intercept_",
    "thresholds_",
    "slopes_",
    "offsets_",
    "mean",
)
LARGEST = 1e100  # number in a model: products of two are still finite
MOST_FEATURES = 10**8
SCALES = (*PERCENTILE_TERMS, "standard", "minmax", "range", "unit", None)
Faults = Iterator[tuple[Any, str]]


def check_model(model: Any) -> None:
    """Refuse a model that would fail in a prediction: the error names the part and what it should be.

    Parameters that did not exist when the model was written get their defaults.
    """
    for wrong, why in _faults(model):
        if wrong:
            raise ValueError(why)


def _faults(model: Any) -> Faults:
    """What may be wrong, whether it is, and the sentence that says so; each relies on all before it being right."""
    steps, last = taken_apart(model)
    for part in (model, *(step for _, step in steps), last):
        check_is_fitted(part)
        hidden = next(
            (name for name in vars(part) if callable(getattr(type(part), name, None))),
            None,
        )
        yield hidden, f"it puts data in the place of {hidden}"
        broken = [
            name
            for name, value in vars(part).items()
            if hasattr(value, "indptr") and not is_sound(value)
        ]
        yield (
            broken,
            f"the parts of {', '.join(map(repr, broken))} do not fit each other",
        )
        for name, parameter in inspect.signature(
            type(part).__init__
        ).parameters.items():
            if name not in vars(part) and parameter.default is not parameter.empty:
                setattr(part, name, parameter.default)
    is_ours = type(last).__module__.startswith("mltsk.")
    yield (
        not is_ours,
        f"it ends in a {type(last).__name__}, which is no classifier of mltsk",
    )
    classes = getattr(last, "classes_", np.empty(0))
    differ = (
        isinstance(classes, np.ndarray)
        and classes.ndim == 1
        and len({*classes.tolist()}) == len(classes)
    )
    yield not differ, "'classes_' must be different values"
    yield from (
        _faults_of_rules(vars(last))
        if isinstance(last, FittedAttributes)
        else _faults_of_arrays(vars(last))
    )
    restore(last)
    sane = isinstance(last.multilabel_, bool) and _is_bounded(last.classes_)
    yield not sane, "'multilabel_' must be true or false, and 'classes_' finite"
    yield from _faults_of_scores(last, L := len(last.label_names_))
    # steps of columns with names may want words in them, and those of texts have no columns
    if (
        steps
        and hasattr(model, "n_features_in_")
        and not hasattr(model, "feature_names_in_")
    ):
        yield from _faults_of_scores(model, L)


def _faults_of_arrays(found: Mapping[str, Any]) -> Faults:
    """Of a model without rules: numbers that are not finite, above all."""
    for name in ("coef_", "intercept_"):  # one of a single label would serve all
        fits = name not in found or np.shape(found[name])[-1:] == (
            len(found["label_names_"]),
        )
        yield not fits, f"{name!r} must have as many columns as there are labels"
    fits = "X_" not in found or (
        len(found["Y_"]) == found["X_"].shape[0] and np.isin(found["Y_"], (0, 1)).all()
    )
    yield not fits, "'Y_' must hold 0 and 1 for every row of 'X_'"
    waiting = [(name, part) for name, part in found.items() if name.endswith("_")]
    while waiting:
        name, part = waiting.pop()
        waiting += (
            [(name, inner) for inner in part] if isinstance(part, list | tuple) else []
        )
        strange = isinstance(part, np.ndarray) and (
            part.dtype.kind not in "biufUO" or not _is_bounded(part)
        )
        yield strange, f"{name!r} must hold finite numbers"


def _is_bounded(part: Any) -> bool:
    return part.dtype.kind != "f" or bool(
        (abs(part.astype(np.float64)) <= LARGEST).all()
    )  # which NaN is not


def _faults_of_scores(model: Any, L: int) -> Faults:
    """A model must give a finite score per label to rows of zeros."""
    system = getattr(model, "system_", None)
    D = model.n_features_in_ if system is None else system.shape[1]
    known = isinstance(D, int | np.integer) and 0 < D < MOST_FEATURES
    yield not known, f"'n_features_in_' must be a number of features, not {str(D)[:40]}"
    for n in (2, 3):  # what fits both by chance fits any number of rows
        with warnings.catch_warnings(action="ignore"):
            rows = np.zeros((n, int(D)))
            scores = np.asarray(
                model.decision_function(rows) if system is None else system.scores(rows)
            )
        sane = (
            scores.shape in ((n, L), (n,))
            and scores.dtype.kind == "f"
            and np.isfinite(scores).all()
        )
        yield not sane, "its parts give no finite score per label"


def _faults_of_rules(found: Mapping[str, Any]) -> Faults:
    needed = (*RULES, *(GENERAL if any(name in found for name in GENERAL) else ()))
    missing = next((name for name in needed if name not in found), None)
    yield (
        missing,
        f"it has no {missing}, which mltsk {__version__} needs: fit the model again",
    )
    parts = dict(found)
    for name, kind in TABLES.items():
        table, known = found.get(name), [field.name for field in fields(kind)]
        old = {
            field.name
            for field in fields(kind)
            if field.default is field.default_factory
        }  # others may be newer
        fits = table is None or (
            isinstance(table, Mapping) and old <= table.keys() <= {*known}
        )
        yield not fits, f"{name!r} must hold {', '.join(known)}"
        parts |= table if table is not None and name != "columns_" else {}
    if found.get("columns_") is not None:
        yield from _faults_of_columns(found["columns_"], found)
    n = _sizes(parts)
    fits = n["E"] in (1, n["D"] + 1) and min(n["D"], n["L"]) > 0
    yield not fits, f"'coef_' has {n['E']} rows per rule for {n['D']} features"
    for name, symbols in SHAPES.items():
        shape = tuple(n[symbol] for symbol in symbols)
        fits = name not in parts or _is_table(parts[name], name, shape)
        yield (
            not fits,
            f"{name!r} must be a table of {' x '.join(map(str, shape))} finite numbers",
        )
    yield from _faults_of_values(parts, n)


def _sizes(parts: Mapping[str, Any]) -> dict[str, int]:
    coef, columns, Q = (
        parts["coef_"],
        parts.get("columns_"),
        parts.get("values", np.empty((0, 0))).shape[-1],
    )
    D = (
        int(parts["n_features_in_"])
        if columns is None
        else len(Columns(**columns).parts)
    )
    K, L, P = (
        len(parts["centers_"]),
        len(parts["label_names_"]),
        len(parts.get("feature", ())),
    )
    G, E = (
        0 if columns is None else len(columns.get("rules", ())),
        coef.shape[1] if coef.ndim == 3 else 1,
    )
    return {
        "K": K,
        "A": K + 1,
        "G": G,
        "D": D,
        "L": L,
        "C": 21,
        "R": 2,
        "U": K + P,
        "P": P,
        "Q": Q,
        "E": E,
    }


def _is_table(table: Any, name: str, shape: tuple[int, ...]) -> bool:
    if table is None:
        return name in MAY_BE_NONE
    if (
        not isinstance(table, np.ndarray)
        or table.dtype.kind not in "fi"
        or table.shape != shape
    ):
        return False
    allowed: Any = {"widths_": lambda x: x > 0, "regions": np.isnan}.get(
        name, np.isfinite
    )
    return bool((np.isfinite(table) | allowed(table)).all()) and (
        name not in ON_THE_SCALE or _is_bounded(table)
    )


def _faults_of_columns(columns: Mapping[str, Any], found: Mapping[str, Any]) -> Faults:
    D = int(found["n_features_in_"])
    for name, parts in columns.items():
        fits = isinstance(parts, list | tuple) and (name == "rules" or len(parts) == D)
        yield not fits, f"{name!r} of 'columns_' must be {D}, one for each feature"
    own = [str(text) for text in found.get("feature_names_in_", columns["names"])]
    fits = _are_words(columns["names"]) and list(columns["names"]) == own
    yield (
        not fits,
        "'names' of 'columns_' must be different words, those of the features",
    )
    known = all(isinstance(kind, str) and kind in KINDS for kind in columns["kinds"])
    yield not known, f"'kinds' of 'columns_' must be {', '.join(KINDS)}"
    yield (
        not all(isinstance(gap, bool) for gap in columns["gaps"]),
        "'gaps' of 'columns_' must be true or false",
    )
    for title, kind, values, rare in zip(
        own, *(columns[key] for key in ("kinds", "values", "rare")), strict=True
    ):
        for name, part, may_hold in (
            ("values", values, kind != "number"),
            ("rare", rare, kind == "nominal"),
        ):
            what = "different words" if may_hold else "empty"
            fits = _are_words(part) and (may_hold or not part)
            yield (
                not fits,
                f"{name!r} of column {title[:80]!r} must be {what}: it is of kind {kind}",
            )
        yield (
            set(values) & set(rare),
            f"'rare' of column {title[:80]!r} names a value that is frequent, too",
        )
    for r, rule in enumerate(columns.get("rules", ())):
        fits = rule and all(_is_asked(asked, columns) for asked in rule)
        yield (
            not fits,
            f"rule {r + 1} of 'columns_' must hold conditions on features: feature, low, high, words",
        )


def _is_asked(asked: Any, columns: Mapping[str, Any]) -> bool:
    """Whether this is a condition of a given rule, on a feature that there is."""
    match asked:
        case [int(d), low, high, words] if 0 <= d < len(
            columns["names"]
        ) and _are_words(words):
            ends = [end for end in (low, high) if end is not None]
            if columns["kinds"][d] == "nominal":
                return not ends and bool(words)
            most = (
                len(columns["values"][d]) - 1
                if columns["kinds"][d] == "ordinal"
                else LARGEST
            )
            return bool(ends) and all(
                isinstance(end, int | float) and -LARGEST <= end <= most for end in ends
            )
    return False


def _are_words(part: Any) -> bool:
    are_texts = isinstance(part, list | tuple) and all(
        isinstance(word, str) for word in part
    )
    return are_texts and len(set(part)) == len(part)


def _faults_of_values(parts: Mapping[str, Any], n: Mapping[str, int]) -> Faults:
    yield not (parts["widths_"] > 0).all(), "'widths_' must be above 0"
    for name, count in (
        ("label_names_", n["L"]),
        ("feature_names_in_", int(parts["n_features_in_"])),
    ):
        names = {
            text
            for text in parts.get(name, map(str, range(count)))
            if isinstance(text, str)
        }
        yield len(names) != count, f"{name!r} must be {count} different names"
    yield (
        parts["firing_"] not in ("plain", "softmax", "minimum", "authors"),
        "'firing_' must be plain, softmax, minimum or authors",
    )
    classes, binary = (
        len(parts["classes_"]),
        not parts["multilabel_"] and len(parts["classes_"]) == 2,
    )
    yield classes != n["L"] + binary, f"there are {classes} classes for {n['L']} labels"
    scale, scaling = parts["scale_"], parts["scaling_"]
    yield scale not in SCALES, f"this version knows no scale {str(scale)[:80]!r}"
    yield (
        (scaling is None) != (scale in ("unit", None)),
        f"'scaling_' does not belong to the scale {scale!r}",
    )
    if scaling is not None:
        rises = all(
            (np.diff(parts[name], axis=1) >= 0).all() for name in ("values", "levels")
        )
        yield not rises, "knots of the scale must rise"
        yield (
            parts["levels"].min() < 0 or parts["levels"].max() > 1,
            "'levels' must lie between 0 and 1",
        )
        for name in ("spread", "share"):
            yield (
                not ((parts[name] > 1 / LARGEST) & (parts[name] < LARGEST)).all(),
                f"{name!r} must be above 0",
            )
        yield not isinstance(parts["bounded"], bool), "'bounded' must be true or false"
    yield from _faults_of_statements(parts, n)


def _faults_of_statements(parts: Mapping[str, Any], n: Mapping[str, int]) -> Faults:
    """Of who is in each rule, and of the terms of the general one."""
    if "count" in parts:
        count, observed, positives, ends = (
            parts[name] for name in ("count", "observed", "positives", "regions")
        )
        rise = [np.zeros(1), positives, observed, count[:, None], count[-1:, None]]
        yield (
            any((a > b).any() for a, b in pairwise(rise)),
            "'positives' must be some of 'observed', these of 'count'",
        )
        yield (
            (ends is None) != (parts["quantiles_"] is None),
            "'regions' must be there where 'quantiles_' are",
        )
        yield (
            ends is not None and (ends[..., 0] > ends[..., 1]).any(),
            "'regions' must end above where they begin",
        )
    if "terms_" not in parts:
        return
    scale, feature, low, high = (
        parts[name] for name in ("scale_", "feature", "low", "high")
    )
    known = feature.dtype.kind == "i" and np.isin(feature, np.arange(n["D"])).all()
    yield (
        not known or (np.diff(feature) < 0).any(),
        "'feature' must give the features of the terms, in order",
    )
    linear = low is None and high is None
    yield linear and n["P"] != n["D"], "there must be a linear term per feature"
    are_ramps = (
        low is not None
        and high is not None
        and (high > low + (0.0 if scale == "range" else 1e-9)).all()
    )
    ramps = are_ramps and (scale in (*PERCENTILE_TERMS, "range") or not n["P"])
    yield not (linear or ramps), "ramps must rise on a percentile scale"
