"""A model as plain data for JSON: names, numbers and lists, nothing that would be run.

A model is its ``kind``, its ``parameters`` and, under their documented names, its
``attributes``. What it knows of its training rows stays out: leave-one-out scores, sums
over rows, and a stream to go on with. What JSON has no word for is an object:

``{"array": [[…], …], "type": "float64", "shape": […]}``
    An array. Among numbers, None is infinity and "nan" is not a number.
``{"dict": {…}}`` and ``{"pairs": [[key, value], …]}``
    Tables by text, or by anything else.
``{"float": "nan"}``
    A number that is not finite.

Ramps and lines (``terms_``) and conditions of pairs of features (``pairs_``) name their
columns, such as "age" and "smoker = daily".

Numbers come back exactly: Python writes floats so that they do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import mltsk

from .. import __version__
from ..exceptions import InputError
from ..fitted import FittedAttributes
from ..pipelines import without_steps
from .archive import advice
from .named_columns import with_names, with_positions
from .rebuild import rebuilt_classifier
from .requirements import refusing
from .state import Json, plain_attributes

AnyArray: TypeAlias = NDArray[np.generic]

NAME = "mltsk model"
VERSION = 5
# Attributes about single training rows, which stay out.
ROW_ATTRIBUTES = ("loo_scores_", "loo_rows_", "stream_", "kept_sums_")
NUMBER_DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)
# What cells of an array may be, by the first letter of its type.
CELL_TYPES: Mapping[str, tuple[type, ...]] = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (int, float),
    "s": (str,),
    "o": (bool, int, float, str),
}


def to_dict(model: BaseEstimator) -> dict[str, Json]:
    """A fitted model as plain data, ready for JSON.

    `from_dict` makes a model of it that gives exactly the same scores, probabilities,
    labels and rules.

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
    >>> scores = from_dict(json.loads(text)).decision_function(data.X)
    >>> bool((scores == clf.decision_function(data.X)).all())
    True
    """
    model = without_steps(model, "plain data")
    kind = type(model).__name__
    if _public_class(kind) is not type(model):
        raise InputError(f"A {kind} has no plain form: pass a fitted MLTSKClassifier.")
    check_fitted(model, "to_dict")
    plain = with_names(plain_attributes(model), model.system_.feature_names)
    parameters = {}
    for name in model.get_params(deep=False):
        parameters[name] = _plain(plain[name], f"The parameter {name}")
    attributes = {}
    for name, value in plain.items():
        if name not in parameters and name not in ROW_ATTRIBUTES:
            attributes[name] = _plain(value, f"The attribute {name}")
    data = {
        "format": NAME,
        "version": VERSION,
        "mltsk": __version__,
        "kind": kind,
        "parameters": parameters,
        "attributes": attributes,
    }
    # what `from_dict` would refuse is refused now, while the model is still there
    with refusing(f"This {kind} has no plain form"):
        _model(data)
    return data


def from_dict(data: Mapping[str, Json]) -> Any:
    """The model of what `to_dict` returned, for instance of ``json.load`` of a file.

    Data of anything else, of a version that is not known, or whose parts do not fit
    together are refused with an `InputError`.
    """
    if not isinstance(data, Mapping) or data.get("format") != NAME:
        raise InputError(
            "These are not the data of a model: "
            f"mltsk.to_dict writes {{'format': {NAME!r}, …}}."
        )
    _check_version(data.get("version"))
    try:
        return _model(data)
    # whatever is wrong with data from elsewhere becomes one sentence
    except Exception as error:
        complaint = " ".join(str(error).split())
        if isinstance(error, KeyError):
            complaint = f"{error.args[0]!r} is missing"
        raise InputError(
            f"The model's data are damaged: {complaint[:300].rstrip('.')}."
        ) from None


def check_fitted(model: BaseEstimator, before: str) -> None:
    """Refuse an estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            f"This {type(model).__name__} is not fitted: call fit before {before}."
        ) from None


def _public_class(name: str) -> type[BaseEstimator] | None:
    """The public classifier with this name whose fit keeps a system, or None."""
    kind = getattr(mltsk, name) if name in mltsk.__all__ else None
    if isinstance(kind, type) and issubclass(kind, FittedAttributes):
        return kind
    return None


def _check_version(version: object) -> None:
    """Refuse data of a version that is not known."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(
            f"The model's data have version {version!r}, "
            f"and versions are 1 to {VERSION}."
        )
    if version != VERSION:
        raise InputError(
            f"The model's data have version {version}, "
            f"and mltsk {__version__} reads {VERSION}: {advice(version > VERSION)}."
        )


def _model(data: Mapping[str, Json]) -> BaseEstimator:
    """The model of data that have the right version."""
    kind = _public_class(data["kind"])
    if kind is None:
        raise InputError(f"this version knows no {str(data['kind'])[:80]!r}")
    parameters = {}
    for name, value in data["parameters"].items():
        if name not in kind._get_param_names():
            raise InputError(
                f"{data['kind']} has no parameter {str(name)[:80]!r}: "
                "upgrade mltsk, or fit again"
            )
        parameters[name] = _read(value, name, list)
    kind(**parameters)._validate_params()
    attributes = {}
    for name, value in data["attributes"].items():
        attributes[name] = _read(value, name, tuple)
    return rebuilt_classifier(kind, {**parameters, **with_positions(attributes)})


# writing ------------------------------------------------------------------------------


def _plain(value: object, name: str) -> Json:
    """A value as JSON has it; ``name`` is how a message speaks of it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, Mapping):
        return _plain_mapping(value, name)
    if isinstance(value, np.ndarray) and _has_plain_cells(value):
        return _plain_array(value, name)
    raise InputError(
        f"{name}={value!r:.80} is neither number nor text, "
        "so the model has no plain form."
    )


def _plain_mapping(mapping: Mapping[object, object], name: str) -> Json:
    """A mapping by text as a dict, any other one as pairs."""
    if all(isinstance(key, str) for key in mapping):
        return {"dict": {key: _plain(value, name) for key, value in mapping.items()}}
    pairs = []
    for key, value in mapping.items():
        pairs.append([_plain(key, name), _plain(value, name)])
    return {"pairs": pairs}


def _has_plain_cells(array: AnyArray) -> bool:
    """Whether an array holds numbers or texts."""
    return array.dtype.name in NUMBER_DTYPES or array.dtype.kind in "UO"


def _plain_array(array: AnyArray, name: str) -> Json:
    """An array as lists, its type and its shape."""
    dtype = "str" if array.dtype.kind == "U" else array.dtype.name
    cells = array.tolist()
    if dtype == "object":
        cells = _plain(cells, name)
    elif array.dtype.kind == "f":
        cells = _plain_floats(array.astype(np.float64), name).tolist()
    return {"array": cells, "type": dtype, "shape": list(array.shape)}


def _plain_floats(numbers: NDArray[np.float64], name: str) -> AnyArray:
    """Numbers, with None for infinity and "nan" for what is no number."""
    if np.isfinite(numbers).all():
        return numbers
    if np.isneginf(numbers).any():
        raise InputError(
            f"{name} holds numbers that are not finite, so the model has no plain form."
        )
    cells = numbers.astype(object)
    cells[np.isnan(numbers)] = "nan"
    cells[np.isinf(numbers)] = None
    return cells


# reading ------------------------------------------------------------------------------


def _read(
    value: Json, name: str, sequence: Callable[[Iterable[object]], Sequence[object]]
) -> object:
    """The value that `_plain` was given.

    Lists, which JSON has for tuples as well, become this kind of ``sequence``.
    """
    if isinstance(value, list):
        return sequence(_read(item, name, sequence) for item in value)
    match value:
        case {"array": cells, "type": str(dtype), "shape": list(shape)}:
            return _read_array(cells, dtype, shape, name)
        case {"dict": dict(values)}:
            return {key: _read(item, key, sequence) for key, item in values.items()}
        case {"pairs": list(pairs)}:
            mapping = {}
            for key, item in pairs:
                mapping[_read(key, name, list)] = _read(item, name, sequence)
            return mapping
        case {"float": "nan" | "inf" | "-inf" as number}:
            return float(number)
        case {}:
            raise InputError(f"{name!r} cannot be {str(value)[:40]!r}")
    return value


def _read_array(cells: Json, dtype: str, shape: list[int], name: str) -> AnyArray:
    """The array of lists, once shape and cells are those that it claims."""
    if dtype not in (*NUMBER_DTYPES, "str", "object"):
        raise InputError(f"{name!r} cannot be of type {dtype[:40]!r}")
    array = np.array(cells, dtype=object)
    if array.shape != tuple(shape) and array.size:
        raise InputError(f"{name!r} has shape {array.shape} instead of {tuple(shape)}")
    flat = array.ravel().tolist()
    if dtype.startswith("float"):
        flat = [_float_cell(cell) for cell in flat]
    if not all(_is_cell(cell, dtype) for cell in flat):
        raise InputError(f"{name!r} is of type {dtype} and holds something else")
    return np.array(flat, dtype=dtype).reshape(shape)


def _float_cell(cell: Json) -> Json:
    """A cell of an array of floats, where None is infinity."""
    if cell is None:
        return np.inf
    return np.nan if cell == "nan" else cell


def _is_cell(cell: Json, dtype: str) -> bool:
    """Whether an array of this type may hold a cell; True and False are no numbers."""
    letter = dtype[0]
    if isinstance(cell, bool) and letter not in "bo":
        return False
    return isinstance(cell, CELL_TYPES[letter])
