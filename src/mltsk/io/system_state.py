"""A fuzzy system as plain attributes for a file, and back.

A file holds the parts of a system under their documented names (``centers_``,
``terms_``, …): arrays, numbers, names, and dicts of these. Nothing else of our own has
to be trusted by whoever reads the file. Nothing here needs scikit-learn.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..columns import Columns
from ..core.certainty import Certainty
from ..core.members import Members
from ..core.pairs import Conditions, Pairs
from ..core.scales import Scaling
from ..core.terms import Terms
from ..core.used import UsedFeatures
from ..core.worth import Worth
from ..frames import default_names
from ..system import FuzzySystem

# What JSON has: None, bool, int, float, str, lists and dicts.
Json: TypeAlias = Any
# Plain attributes by name. Those that were read may hold anything until they are
# checked.
Attributes: TypeAlias = dict[str, Any]

# Fields of a `FuzzySystem` by the attribute that they are in a file.
SYSTEM_FIELDS = {
    "scale_": "scale_name",
    "scaling_": "scaling",
    "intercept_": "intercept",
    "terms_": "terms",
    "general_coef_": "term_coef",
    "pairs_": "pairs",
    "pair_coef_": "pair_coef",
    "centers_": "centers",
    "widths_": "widths",
    "coef_": "coef",
    "prototypes_": "prototypes",
    "rule_weights_": "rule_weights",
    "thresholds_": "thresholds",
    "quantiles_": "quantiles",
    "has_log_odds_": "has_log_odds",
    "firing_": "firing",
    "columns_": "columns",
    "members_": "members",
    "certainty_": "certainty",
}
# Attributes of a system that a file has where they are needed.
OPTIONAL_FIELDS = ("categories_", "used_", "worth_")
# Attributes that are objects of these classes in memory, and dicts of their fields in a
# file. All of them but the terms may be None.
RECORDS: Mapping[str, type] = {
    "scaling_": Scaling,
    "terms_": Terms,
    "columns_": Columns,
    "members_": Members,
    "certainty_": Certainty,
}


def plain_system(system: FuzzySystem) -> Attributes:
    """The fields of a system as attributes of a file."""
    attributes: Attributes = {}
    for name, field in SYSTEM_FIELDS.items():
        value = getattr(system, field)
        if name in RECORDS and value is not None:
            value = dict(vars(value))
        attributes[name] = value
    if system.used is not None:
        attributes["used_"] = dict(vars(system.used))
    if system.worth is not None:
        attributes["worth_"] = dict(vars(system.worth))
    attributes |= _plain_pairs(system)  # these are records in a record
    if system.categories:
        attributes["categories_"] = named_values(system.categories)
    return attributes


def _plain_pairs(system: FuzzySystem) -> Attributes:
    """The pairs of a system and their numbers, both None where there are none."""
    if not len(system.pairs):
        return {"pairs_": None, "pair_coef_": None}
    return {"pairs_": pairs_as_dict(system.pairs), "pair_coef_": system.pair_coef}


def pairs_as_dict(pairs: Pairs) -> Attributes:
    """Pairs as a dict of their fields, conditions included."""
    plain = dict(vars(pairs))
    plain["conditions"] = dict(vars(pairs.conditions))
    return plain


def named_values(categories: Mapping[str, Mapping[float, str]]) -> Attributes:
    """Names of the values of features as pairs: files know no numbers as keys."""
    pairs = {}
    for feature, names in categories.items():
        pairs[feature] = [list(pair) for pair in names.items()]
    return pairs


def restored_system(attributes: Attributes) -> FuzzySystem:
    """The system of plain attributes, which were checked."""
    fields: Attributes = {}
    for name, field in SYSTEM_FIELDS.items():
        value = attributes[name]
        if name in RECORDS and value is not None:
            value = RECORDS[name](**value)
        fields[field] = value
    fields["pairs"] = restored_pairs(attributes["pairs_"])
    categories = {}
    for feature, pairs in attributes.get("categories_", {}).items():
        categories[feature] = dict(pairs)
    used = _used_features(attributes)
    return FuzzySystem(
        feature_names=_column_names(attributes, fields["columns"], used),
        label_names=tuple(attributes["label_names_"]),
        used=used,
        worth=Worth(**attributes["worth_"]) if "worth_" in attributes else None,
        categories=categories,
        **fields,
    )


def restored_pairs(plain: Attributes | None) -> Pairs:
    """The pairs of plain attributes, which were checked."""
    if plain is None:
        return Pairs.none()
    fields = dict(plain)
    fields["conditions"] = Conditions(**plain["conditions"])
    return Pairs(**fields)


def names_of_columns(attributes: Attributes) -> tuple[str, ...]:
    """Names of the columns of numbers that plain attributes are about."""
    columns = attributes["columns_"]
    table = None if columns is None else Columns(**columns)
    return _column_names(attributes, table, _used_features(attributes))


def _used_features(attributes: Attributes) -> UsedFeatures | None:
    """Which features the columns of plain attributes are, None for all."""
    if "used_" not in attributes:
        return None
    return UsedFeatures(**attributes["used_"])


def _column_names(
    attributes: Attributes, columns: Columns | None, used: UsedFeatures | None
) -> tuple[str, ...]:
    """Names of the columns of numbers that a system is about."""
    if columns is not None:
        return columns.part_names
    names = default_names(attributes["n_features_in_"])
    if "feature_names_in_" in attributes:
        names = tuple(str(name) for name in attributes["feature_names_in_"])
    return names if used is None else used.names(names)
