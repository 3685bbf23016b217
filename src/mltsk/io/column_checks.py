"""Whether plain attributes about the columns of a table fit together."""

from collections.abc import Sequence

from .requirements import MAX_FLOAT, are_different_words, is_finite_number, require
from .system_state import Attributes

COLUMN_KINDS = ("number", "ordinal", "nominal")


def check_columns(columns: Attributes, attributes: Attributes) -> None:
    """Refuse ``columns_`` that are not those of the features.

    ``columns`` has the fields of `mltsk.columns.Columns`.
    """
    _check_lengths(columns, attributes["n_features_in_"])
    names = [str(name) for name in columns["names"]]
    features = attributes.get("feature_names_in_", names)
    require(
        are_different_words(columns["names"]) and names == list(map(str, features)),
        "'names' of 'columns_' must be different words, those of the features",
    )
    require(
        all(
            isinstance(kind, str) and kind in COLUMN_KINDS for kind in columns["kinds"]
        ),
        f"'kinds' of 'columns_' must be {', '.join(COLUMN_KINDS)}",
    )
    require(
        all(isinstance(has_gap, bool) for has_gap in columns["gaps"]),
        "'gaps' of 'columns_' must be true or false",
    )
    for d, name in enumerate(names):
        _check_words(f"column {name[:80]!r}", columns, d)
    for number, rule in enumerate(columns.get("rules", ()), start=1):
        require(
            rule and all(_is_condition(condition, columns) for condition in rule),
            f"rule {number} of 'columns_' must hold conditions on features: "
            "feature, low, high, words",
        )


def _check_lengths(columns: Attributes, n_features: int) -> None:
    """Every field but the rules has one entry per feature."""
    for name, entries in columns.items():
        is_sequence = isinstance(entries, list | tuple)
        require(
            is_sequence and (name == "rules" or len(entries) == n_features),
            f"{name!r} of 'columns_' must be {n_features}, one for each feature",
        )


def _check_words(column: str, columns: Attributes, d: int) -> None:
    """Only nominal columns have rare values, and numbers have none at all."""
    kind = columns["kinds"][d]
    values = columns["values"][d]
    rare = columns["rare"][d]
    _check_values(f"'values' of {column}", kind, values, may_hold=kind != "number")
    _check_values(f"'rare' of {column}", kind, rare, may_hold=kind == "nominal")
    require(
        not set(values) & set(rare),
        f"'rare' of {column} names a value that is frequent, too",
    )


def _check_values(
    name: str, kind: str, words: Sequence[str], *, may_hold: bool
) -> None:
    """Values of a column are different words, or there are none."""
    expected = "different words" if may_hold else "empty"
    require(
        are_different_words(words) and (may_hold or not words),
        f"{name} must be {expected}: it is of kind {kind}",
    )


def _is_condition(condition: object, columns: Attributes) -> bool:
    """Whether this is a condition of a given rule, on a feature that there is."""
    match condition:
        case [int(feature), low, high, words] if are_different_words(words):
            if not 0 <= feature < len(columns["names"]):
                return False
            ends = [end for end in (low, high) if end is not None]
            if columns["kinds"][feature] == "nominal":
                return bool(words) and not ends
            last = MAX_FLOAT
            if columns["kinds"][feature] == "ordinal":  # by places in the order
                last = len(columns["values"][feature]) - 1
            return bool(ends) and all(is_finite_number(e, at_most=last) for e in ends)
    return False


def check_categories(categories: Attributes) -> None:
    """Refuse ``categories_`` that are not pairs of a value and its name by feature."""
    require(
        isinstance(categories, dict),
        "'categories_' must hold the values of features by name",
    )
    for feature, pairs in categories.items():
        require(
            isinstance(feature, str) and _are_named_values(pairs),
            f"'categories_' of {str(feature)[:80]!r} must be pairs of a number "
            "and its name",
        )


def _are_named_values(pairs: object) -> bool:
    if not isinstance(pairs, list | tuple):
        return False
    for pair in pairs:
        match pair:
            case [value, str()] if is_finite_number(value):
                continue
        return False
    return True
