"""A fitted classifier as plain attributes for a file, and back.

In memory a classifier keeps one object, its `FuzzySystem`. A file holds the parts of that
system under their documented names (``centers_``, ``terms_``, …): arrays, numbers, names,
and dicts of these. Nothing else of our own has to be trusted by whoever reads the file.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

from ..columns import Columns
from ..core.certainty import Certainty
from ..core.membership import Members
from ..core.terms import Scaling, Terms
from ..fit.ridge import Moments
from ..fit.rows import Block
from ..incremental import Stream
from ..rows.read import default_names
from ..system import FuzzySystem

# Fields of a `FuzzySystem` by the attribute that they are in a file.
FIELDS = {
    "scale_": "scale_name",
    "scaling_": "scaling",
    "intercept_": "intercept",
    "terms_": "terms",
    "general_coef_": "term_coef",
    "centers_": "centers",
    "widths_": "widths",
    "coef_": "coef",
    "prototypes_": "prototypes",
    "rule_weights_": "rule_weights",
    "thresholds_": "thresholds",
    "quantiles_": "quantiles",
    "slopes_": "slopes",
    "offsets_": "offsets",
    "firing_": "firing",
    "columns_": "columns",
    "members_": "members",
    "certainty_": "certainty",
}
# Attributes that are objects of these in memory, and dicts of their fields in a file.
RECORDS = {
    "scaling_": Scaling,
    "terms_": Terms,
    "columns_": Columns,
    "members_": Members,
    "certainty_": Certainty,
}


def plain_state(model: Any) -> dict[str, Any]:
    """All attributes of a classifier, its system and stream as plain ones."""
    state = dict(model.__getstate__())
    state.pop("fit_record_", None)
    system = state.pop("system_", None)
    if system is not None:
        state |= _plain_system(system)
    stream = state.pop("stream_", None)
    if stream is not None:
        state["stream_"] = _plain_stream(stream)
    return state


def with_plain_state(model: Any) -> Any:
    """A copy of a classifier whose attributes are those of a file."""
    plain = copy(model)
    vars(plain).clear()
    vars(plain).update(plain_state(model))
    return plain


def restore(model: Any) -> None:
    """Give a classifier that was read from a file its system and stream back."""
    attributes = vars(model)
    if "centers_" in attributes:
        attributes["system_"] = _system(attributes)
        for name in (*FIELDS, "categories_"):
            attributes.pop(name, None)
        attributes["fit_record_"] = None
    if "stream_" in attributes:
        attributes["stream_"] = _stream(attributes["stream_"])


def _plain_system(system: FuzzySystem) -> dict[str, Any]:
    """The fields of a system as attributes of a file."""
    state: dict[str, Any] = {}
    for name, field in FIELDS.items():
        value = getattr(system, field)
        if name in RECORDS and value is not None:
            value = dict(vars(value))
        state[name] = value
    if system.categories:
        state["categories_"] = {
            feature: [list(pair) for pair in names.items()]
            for feature, names in system.categories.items()
        }
    return state


def _system(attributes: Mapping[str, Any]) -> FuzzySystem:
    """The system of attributes that were read from a file and checked."""
    fields: dict[str, Any] = {}
    for name, field in FIELDS.items():
        value = attributes[name]
        if name in RECORDS and value is not None:
            value = RECORDS[name](**value)
        fields[field] = value
    columns = fields["columns"]
    if columns is not None:
        names = columns.part_names
    elif "feature_names_in_" in attributes:
        names = tuple(str(name) for name in attributes["feature_names_in_"])
    else:
        names = default_names(attributes["n_features_in_"])
    categories = {
        feature: dict(pairs)
        for feature, pairs in attributes.get("categories_", {}).items()
    }
    return FuzzySystem(
        feature_names=names,
        label_names=tuple(attributes["label_names_"]),
        categories=categories,
        **fields,
    )


def _plain_stream(stream: Stream) -> dict[str, Any]:
    """A stream as a dict of numbers and arrays."""
    state = dict(vars(stream))
    state["moments"] = dict(vars(stream.moments))
    kept = stream.kept
    state["kept"] = {"X": kept.X, "Y": kept.Y, "w": kept.w, "copies": kept.copies}
    return state


def _stream(state: Mapping[str, Any]) -> Stream:
    """The stream of a dict that was read from a file."""
    return Stream(
        **{
            **state,
            "moments": Moments(**state["moments"]),
            "kept": Block(**state["kept"]),
        }
    )
