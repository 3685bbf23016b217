"""Columns of ramps, lines and pairs by name, for plain data that people read.

In memory and in model files terms and conditions give the positions of their columns.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..limits import check_size
from .requirements import is_count
from .system_state import Attributes, Json, names_of_columns

# Where plain attributes give columns, as keys of dicts in dicts.
COLUMN_PATHS = (("terms_", "feature"), ("pairs_", "conditions", "column"))
NAME_BYTES = 200  # of a column, with its position


def with_names(plain: Attributes, names: Sequence[str]) -> Attributes:
    """Plain attributes in which ramps, lines and pairs name their columns.

    ``names`` are those of all columns of numbers. Positions stay where two columns have
    the same name, and for linear terms: there is one per column, in order.
    """
    if len(set(names)) < len(names) or plain["terms_"]["low"] is None:
        return plain
    for path in COLUMN_PATHS:
        positions = _value_at(plain, path)
        if positions is not None:
            columns = [names[position] for position in positions.tolist()]
            plain = _with_value_at(plain, path, columns)
    return plain


def with_positions(attributes: Attributes) -> Attributes:
    """Attributes that may name columns as those that give their positions.

    The attributes were not checked: those without columns stay as they are.
    """
    has_size = is_count(attributes.get("n_features_in_"))
    if not has_size or "columns_" not in attributes:
        return attributes
    named = {path: _value_at(attributes, path) for path in COLUMN_PATHS}
    if not any(isinstance(columns, tuple) for columns in named.values()):
        return attributes
    check_size(NAME_BYTES * attributes["n_features_in_"], "A row for this model")
    positions = {name: d for d, name in enumerate(names_of_columns(attributes))}
    for path, columns in named.items():
        if isinstance(columns, tuple):
            numbers = _positions_of(columns, positions)
            attributes = _with_value_at(attributes, path, numbers)
    return attributes


def _positions_of(
    columns: Sequence[Json], positions: Mapping[str, int]
) -> NDArray[np.intp]:
    """Positions of columns that are given by name."""
    numbers = []
    for name in columns:
        if not isinstance(name, str) or name not in positions:
            raise InputError(f"there is no column {str(name)[:80]!r}")
        numbers.append(positions[name])
    return np.array(numbers, dtype=np.intp)


def _value_at(record: Json, path: Sequence[str]) -> Json:
    """What is in dicts of dicts under some keys, None if nothing is."""
    for key in path:
        if not isinstance(record, Mapping):
            return None
        record = record.get(key)
    return record


def _with_value_at(
    record: Attributes, path: Sequence[str], value: object
) -> Attributes:
    """A copy of dicts of dicts with another value under some keys."""
    key, *others = path
    if others:
        value = _with_value_at(record[key], others, value)
    return {**record, key: value}
