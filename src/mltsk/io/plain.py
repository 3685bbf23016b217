"""A model as plain data for JSON: names, numbers and lists, nothing that a reader would have to run.

A model is its ``kind``, its ``parameters`` and, under their documented names, its ``attributes``; what it knows of
single training rows, leave-one-out scores or a stream to go on with, stays out. What JSON has no word for is an
object: ``{"array": [[…], …], "type": "float64", "shape": […]}`` is an array (of numbers, None is infinity and "nan"
none), ``{"dict": {…}}`` and ``{"pairs": [[key, value], …]}`` are tables by text, or by anything else, and
``{"float": "nan"}`` is a number that is not finite. Numbers come back exactly: Python writes floats so that they do.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import mltsk

from .. import __version__
from ..exceptions import InputError
from ..pipelines import without_steps
from .checks import check_model
from .state import plain_state

NAME, VERSION = "mltsk model", 4
KINDS = ("MLTSKClassifier", "IncrementalMLTSK", "PaperMLTSK")
OF_ROWS = ("loo_scores_", "loo_rows_", "stream_")
_NUMBERS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64")


def to_dict(model: Any) -> dict[str, Any]:
    """A fitted model as plain data, ready for JSON.

    `from_dict` makes a model of it that gives exactly the same scores, probabilities, labels and rules.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK

    Examples
    --------
    >>> import json
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> text = json.dumps(to_dict(clf), allow_nan=False)
    >>> bool((from_dict(json.loads(text)).decision_function(data.X) == clf.decision_function(data.X)).all())
    True
    """
    model = without_steps(model, "plain data")
    kind = type(model).__name__
    if kind not in KINDS or type(model) is not getattr(mltsk, kind):
        raise InputError(f"A {kind} has no plain form: pass a fitted MLTSKClassifier.")
    parameters = model.get_params(deep=False)
    kept = {
        name: value
        for name, value in plain_state(model).items()
        if name not in {*parameters, *OF_ROWS}
    }
    head: dict[str, Any] = {
        "format": NAME,
        "version": VERSION,
        "mltsk": __version__,
        "kind": kind,
    }
    for part, values in (("parameter", parameters), ("attribute", kept)):
        head[f"{part}s"] = {
            name: _plain(value, f"The {part} {name}") for name, value in values.items()
        }
    check_fitted(model, "to_dict")
    return head


def from_dict(data: Mapping[str, Any]) -> Any:
    """The model of what `to_dict` returned, for instance of ``json.load`` of a file.

    Data of anything else, of a version that is not known, or whose parts do not fit together are refused with an
    `InputError`.
    """
    if not isinstance(data, Mapping) or data.get("format") != NAME:
        raise InputError(
            f"These are not the data of a model: mltsk.to_dict writes {{'format': {NAME!r}, …}}."
        )
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(
            f"The model's data have version {version!r}, and versions are 1 to {VERSION}."
        )
    if version != VERSION:
        what = (
            "upgrade with `pip install --upgrade mltsk`"
            if version > VERSION
            else "fit the model again"
        )
        raise InputError(
            f"The model's data have version {version}, and mltsk {__version__} reads {VERSION}: {what}."
        )
    try:
        if data["kind"] not in KINDS:
            raise InputError(
                f"this version knows {', '.join(KINDS)}, and no {str(data['kind'])[:80]!r}"
            )
        kind = getattr(mltsk, data["kind"])
        parameters = {
            name: _read(part, name, list) for name, part in data["parameters"].items()
        }
        if strange := [
            name for name in parameters if name not in kind._get_param_names()
        ]:
            raise InputError(
                f"{data['kind']} has no parameter {str(strange[0])[:80]!r}: upgrade mltsk, or fit again"
            )
        model = kind(**parameters)
        model._validate_params()
        vars(model).update(
            {
                name: _read(part, name, tuple)
                for name, part in data["attributes"].items()
            }
        )
        check_model(model)
    except (
        Exception
    ) as error:  # whatever is wrong with data from elsewhere becomes one sentence
        why = (
            f"{error.args[0]!r} is missing"
            if isinstance(error, KeyError)
            else " ".join(str(error).split())
        )
        raise InputError(
            f"The model's data are damaged: {why[:300].rstrip('.')}."
        ) from None
    return model


def check_fitted(model: Any, before: str) -> None:
    """Refuse an estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            f"This {type(model).__name__} is not fitted: call fit before {before}."
        ) from None


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {"dict": {key: _plain(part, name) for key, part in value.items()}}
        return {
            "pairs": [
                [_plain(key, name), _plain(part, name)] for key, part in value.items()
            ]
        }
    if not isinstance(value, np.ndarray) or (
        value.dtype.name not in _NUMBERS and value.dtype.kind not in "UO"
    ):
        raise InputError(
            f"{name}={value!r:.80} is neither number nor text, so the model has no plain form."
        )
    kind, parts = value.dtype.kind, value.tolist()
    if kind == "O":
        parts = _plain(parts, name)
    elif kind == "f" and not np.isfinite(value).all():
        if np.isneginf(value).any():
            raise InputError(
                f"{name} holds numbers that are not finite, so the model has no plain form."
            )
        parts = np.select(
            [np.isnan(value), np.isinf(value)],
            ["nan", np.array(None)],
            value.astype(object),
        ).tolist()
    return {
        "array": parts,
        "type": "str" if kind == "U" else value.dtype.name,
        "shape": list(value.shape),
    }


def _read(value: Any, name: str, sequence: Any) -> Any:
    """What `_plain` was given, with lists, which JSON has for tuples as well, as this kind of ``sequence``."""
    if isinstance(value, list):
        return sequence(_read(item, name, sequence) for item in value)
    match value:
        case {"array": parts, "type": str(kind), "shape": list(shape)}:
            return _read_array(parts, kind, shape, name)
        case {"dict": dict(parts)}:
            return {key: _read(part, key, sequence) for key, part in parts.items()}
        case {"pairs": list(parts)}:
            return {
                _read(key, name, list): _read(part, name, sequence)
                for key, part in parts
            }
        case {"float": "nan" | "inf" | "-inf" as number}:
            return float(number)
        case {}:
            raise InputError(f"{name!r} cannot be {str(value)[:40]!r}")
    return value


def _read_array(parts: Any, kind: str, shape: list[int], name: str) -> np.ndarray:
    if kind not in (*_NUMBERS, "str", "object"):
        raise InputError(f"{name!r} cannot be of type {kind[:40]!r}")
    found = np.array(parts, dtype=object)
    if found.shape != tuple(shape) and found.size:
        raise InputError(f"{name!r} has shape {found.shape} instead of {tuple(shape)}")
    flat = found.ravel().tolist()
    if kind.startswith("float"):
        flat = [
            np.inf if part is None else np.nan if part == "nan" else part
            for part in flat
        ]
    allowed = {
        "b": bool,
        "i": int,
        "u": int,
        "f": int | float,
        "s": str,
        "o": bool | int | float | str,
    }[kind[0]]
    if not all(
        isinstance(part, allowed) and (kind[0] in "bo" or not isinstance(part, bool))
        for part in flat
    ):
        raise InputError(f"{name!r} is of type {kind} and holds something else")
    return np.array(flat, dtype=kind).reshape(shape)
