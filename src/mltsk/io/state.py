"""A fitted classifier as plain attributes for a file, and back.

In memory a classifier keeps one object, its `FuzzySystem`, and a stream or sums where
it has them. A file holds plain attributes: those of the system are in
`mltsk.io.system_state`.
"""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from ..classifier import MLTSKClassifier
from ..fit.ridge import Moments
from ..fit.rows import Block
from ..fitted import FittedAttributes
from ..stream import Stream, codes_of_keys
from .plain_sums import plain_sums, restored_sums
from .system_state import (
    OPTIONAL_FIELDS,
    SYSTEM_FIELDS,
    Attributes,
    pairs_as_dict,
    plain_system,
    restored_pairs,
    restored_system,
)

# What a stream keeps of its samples: fields of a `Block`.
KEPT_FIELDS = ("X", "Y", "w")
# What it knows of the pairs of features that were found without some of them.
FOLD_FIELDS = ("rows", "pairs")


def plain_attributes(model: BaseEstimator) -> Attributes:
    """All attributes of a classifier, with its system and its stream as plain ones."""
    attributes: Attributes = {}
    for name, value in vars(model).items():
        is_series = type(value).__module__.partition(".")[0] in ("pandas", "polars")
        attributes[name] = np.asarray(value) if is_series else value
    record = attributes.pop("fit_record_", None)
    system = attributes.pop("system_", None)
    if system is not None and record is not None:
        system = replace(system, worth=record.worth)
    if system is not None:
        attributes |= plain_system(system)
    if "stream_" in attributes:
        attributes["stream_"] = _plain_stream(attributes["stream_"])
    if "kept_sums_" in attributes:
        attributes["kept_sums_"] = plain_sums(attributes["kept_sums_"])
    return attributes


def with_plain_attributes(model: BaseEstimator) -> BaseEstimator:
    """A classifier whose attributes are those of a file, for a writer of estimators."""
    if not isinstance(model, FittedAttributes):
        return model  # it has no system: its attributes are plain already
    return from_attributes(type(model), plain_attributes(model))


def restored(kind: type[BaseEstimator], attributes: Attributes) -> BaseEstimator:
    """The classifier of a class with plain attributes, which were checked."""
    own = dict(attributes)
    if issubclass(kind, FittedAttributes):
        own["system_"] = restored_system(attributes)
        for name in (*SYSTEM_FIELDS, *OPTIONAL_FIELDS):
            own.pop(name, None)
    if issubclass(kind, MLTSKClassifier):
        own["fit_record_"] = None  # no rows travel
    if "stream_" in attributes:
        own["stream_"] = restored_stream(attributes["stream_"])
    if "kept_sums_" in attributes:
        own["kept_sums_"] = restored_sums(attributes["kept_sums_"], own["system_"])
    return from_attributes(kind, own)


def from_attributes(kind: type[BaseEstimator], attributes: Attributes) -> BaseEstimator:
    """An estimator of a class with these attributes, made without its constructor."""
    estimator = object.__new__(kind)
    vars(estimator).update(attributes)
    return estimator


def _plain_stream(stream: Stream) -> Attributes:
    """A stream as a dict of numbers and arrays."""
    plain = dict(vars(stream))
    plain["moments"] = dict(vars(stream.moments))
    plain["kept"] = {name: getattr(stream.kept, name) for name in KEPT_FIELDS}
    plain["folds"] = [
        {"rows": rows, "pairs": pairs_as_dict(pairs)} for rows, pairs in stream.folds
    ]
    return plain


def restored_stream(plain: Attributes) -> Stream:
    """The stream of such a dict, which was checked."""
    fields = dict(plain)
    fields["moments"] = Moments(**plain["moments"])
    codes = codes_of_keys(plain["group_keys"])
    fields["kept"] = Block(**plain["kept"], groups=codes)
    folds = []
    for fold in plain["folds"]:
        folds.append((fold["rows"], restored_pairs(fold["pairs"])))
    fields["folds"] = tuple(folds)
    return Stream(**fields)
