"""What a model file says next to the model."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import __version__
from ..columns import Columns
from .system_state import Json

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

ColumnKind = str | tuple[str, ...]  # the levels of an ordered column are its kind


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says next to the model.

    Attributes
    ----------
    data : str
        Name of the data set.
    feature_names, label_names : tuple of str
    categories : dict
        Values of nominal features, if the model takes numbers alone: it then sees
        `mltsk.datasets.category_values` of them.
    fitted : dict
        How the model was fitted, numbers and text.
    kinds : dict
        Kinds of the features, as `mltsk.read_table` takes them.
    ids : tuple of str
        Columns that identify a row.
    reading : dict
        Other options that labels and missing cells were read with.
    units : dict
        Units that were taken off the numbers of features, by name.
    version : str
        The version of this package that wrote the file.
    """

    data: str = ""
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fitted: dict[str, Json] = field(default_factory=dict)
    kinds: dict[str, ColumnKind] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    reading: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    @classmethod
    def of(cls, model: "BaseEstimator") -> "ModelInfo":
        """What a fitted model itself knows."""
        from ..pipelines import taken_apart
        from ..rows.read import feature_names
        from ..tables.kinds import NUMBER

        names: tuple[str, ...] = ()
        if hasattr(model, "n_features_in_"):
            names = feature_names(model)
        _, classifier = taken_apart(model)
        kinds: dict[str, ColumnKind] = dict.fromkeys(names, NUMBER)
        columns = getattr(classifier, "columns_", None)
        if columns is not None:
            kinds |= _kinds(columns)
        label_names = getattr(classifier, "label_names_", ())
        return cls(feature_names=names, label_names=_texts(label_names), kinds=kinds)

    @classmethod
    def read(cls, plain: Json, version: str) -> "ModelInfo":
        """What a file says, as JSON has it."""
        kinds: dict[str, ColumnKind] = {}
        for name, kind in plain["kinds"].items():
            kinds[str(name)] = kind if isinstance(kind, str) else _texts(kind)
        categories = {}
        for name, values in plain["categories"].items():
            categories[str(name)] = _texts(values)
        reading = _named_texts(plain["reading"])
        return cls(
            data=str(plain["data"]),
            feature_names=_texts(plain["feature_names"]),
            label_names=_texts(plain["label_names"]),
            categories=categories,
            fitted=dict(plain["fitted"]),
            kinds=kinds,
            ids=_texts(plain["ids"]),
            reading=reading,
            units=_named_texts(plain.get("units", {})),
            version=version,
        )


def _kinds(columns: Columns) -> dict[str, ColumnKind]:
    """Kinds of the columns of a table, as `mltsk.read_table` takes them."""
    from ..tables.kinds import ORDINAL, YES_NO

    kinds: dict[str, ColumnKind] = {}
    for d, name in enumerate(columns.names):
        values = columns.values[d]
        kinds[name] = columns.kinds[d]
        if columns.kinds[d] == ORDINAL:
            kinds[name] = values
        elif values and {*values, *columns.rare[d]} <= {"yes", "no"}:
            kinds[name] = YES_NO
    return kinds


def _named_texts(items: Json) -> dict[str, str]:
    return {str(name): str(value) for name, value in items.items()}


def _texts(items: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(item) for item in items)
