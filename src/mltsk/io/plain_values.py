"""Values of models as JSON has them, and back: numbers, names, arrays and mappings.

What JSON has no word for is an object:

``{"array": [[…], …], "type": "float64", "shape": […]}``
    An array. Among numbers, None is infinity and "nan" is not a number.
``{"dict": {…}}`` and ``{"pairs": [[key, value], …]}``
    Tables by text, or by anything else.
``{"float": "nan"}``
    A number that is not finite.

Numbers come back exactly: Python writes floats so that they do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..exceptions import InputError
from .named_columns import with_names
from .system_state import Attributes, Json

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


def plain_model(
    kind: str,
    attributes: Attributes,
    *,
    parameters: Iterable[str],
    names: Sequence[str],
) -> dict[str, Json]:
    """A model as plain data, from its plain attributes.

    ``parameters`` are those attributes that its class is made with, and ``names`` those
    of all columns of numbers.
    """
    named = with_names(attributes, names)
    plain_parameters = {}
    for name in parameters:
        plain_parameters[name] = plain_value(named[name], f"The parameter {name}")
    plain_attributes = {}
    for name, value in named.items():
        if name not in plain_parameters and name not in ROW_ATTRIBUTES:
            plain_attributes[name] = plain_value(value, f"The attribute {name}")
    return {
        "format": NAME,
        "version": VERSION,
        "mltsk": __version__,
        "kind": kind,
        "parameters": plain_parameters,
        "attributes": plain_attributes,
    }


# writing ------------------------------------------------------------------------------


def plain_value(value: object, name: str) -> Json:
    """A value as JSON has it; ``name`` is how a message speaks of it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        return [plain_value(item, name) for item in value]
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
        by_text = {key: plain_value(value, name) for key, value in mapping.items()}
        return {"dict": by_text}
    pairs = []
    for key, value in mapping.items():
        pairs.append([plain_value(key, name), plain_value(value, name)])
    return {"pairs": pairs}


def _has_plain_cells(array: AnyArray) -> bool:
    """Whether an array holds numbers or texts."""
    return array.dtype.name in NUMBER_DTYPES or array.dtype.kind in "UO"


def _plain_array(array: AnyArray, name: str) -> Json:
    """An array as lists, its type and its shape."""
    dtype = "str" if array.dtype.kind == "U" else array.dtype.name
    cells = array.tolist()
    if dtype == "object":
        cells = plain_value(cells, name)
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


def read_value(
    value: Json, name: str, sequence: Callable[[Iterable[object]], Sequence[object]]
) -> object:
    """The value that `_plain` was given.

    Lists, which JSON has for tuples as well, become this kind of ``sequence``.
    """
    if isinstance(value, list):
        return sequence(read_value(item, name, sequence) for item in value)
    match value:
        case {"array": cells, "type": str(dtype), "shape": list(shape)}:
            return _read_array(cells, dtype, shape, name)
        case {"dict": dict(values)}:
            by_text = {}
            for key, item in values.items():
                by_text[key] = read_value(item, key, sequence)
            return by_text
        case {"pairs": list(pairs)}:
            mapping = {}
            for key, item in pairs:
                mapping[read_value(key, name, list)] = read_value(item, name, sequence)
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
