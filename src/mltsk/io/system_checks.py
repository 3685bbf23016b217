"""Whether plain attributes of a fuzzy system fit together.

Symbols in shapes: K rules, D features (of a table with words or gaps, its columns of
numbers), L labels, P terms of the general rule, E rows of a consequent (1, or D + 1
with slopes), Q knots of a scale, C percentiles (21), A rules and all data (K + 1), G
rules that the user gave, R ends of a region (2), F rules of pairs of features, U
numbers per label (P + F + K).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.membership import Firing
from ..core.used import UsedFeatures
from ..text import listing
from .column_checks import check_categories, check_columns
from .number_checks import RAMP_SCALES, check_numbers
from .pair_checks import check_pairs
from .requirements import (
    check_table,
    has_no_infinity,
    has_no_nan,
    is_bounded,
    is_finite,
    require,
)
from .system_state import RECORDS, Attributes
from .wish_checks import check_edits, check_wishes
from .worth_checks import check_sites, check_worth

# Shapes of attributes and of the fields of records.
SHAPES = {
    # attributes
    "centers_": "KD",
    "widths_": "KD",
    "prototypes_": "KD",
    "coef_": "KEL",
    "rule_weights_": "K",
    "quantiles_": "DC",
    "thresholds_": "L",
    "intercept_": "L",
    "coupling_": "LL",
    "general_coef_": "PL",
    # terms_
    "feature": "P",
    "low": "P",
    "high": "P",
    "mean": "P",
    # scaling_
    "values": "DQ",
    "levels": "DQ",
    "offset": "D",
    "spread": "D",
    "share": "D",
    # members_
    "count": "A",
    "observed": "AL",
    "positives": "AL",
    "regions": "ADR",
    "given": "GRL",
    # certainty_
    "information": "VV",
    "numbers": "V",
    "noise": "L",
    "chosen": "DL",
    "shrunk": "L",
}
MAY_BE_NONE = (
    *("quantiles_", "coupling_", "low", "high", "regions"),
    *("chosen", "numbers", "shrunk"),
)
# Which numbers a table may hold, where that is not all finite ones. Those that are
# multiplied with others when a sample is scored must not be too large.
IS_ALLOWED: Mapping[str, Callable[[FloatArray], bool]] = {
    "centers_": is_bounded,
    "coef_": is_bounded,
    "general_coef_": is_bounded,
    "intercept_": is_bounded,
    "thresholds_": is_bounded,
    "mean": is_bounded,
    "widths_": has_no_nan,  # an infinite one is no condition
    "regions": has_no_infinity,  # NaN if no member was measured
}
# Tables that samples are scored with. Arrays of their type are made for other numbers,
# which would be lost in one of whole numbers.
FLOATS = (
    *("centers_", "widths_", "coef_", "general_coef_", "intercept_", "thresholds_"),
    *("low", "high", "mean"),
    *("values", "levels", "offset", "spread", "share"),
    *("pair_coef_", "left", "peak", "right"),
)
SCALES = (*RAMP_SCALES, "standard", "minmax", "unit", None)
FIRINGS = get_args(Firing)
N_QUANTILES = 21


def check_system(attributes: Attributes, *, is_calibrated: bool) -> None:
    """Refuse attributes of a system that would fail in a prediction.

    Each check relies on those before it. ``is_calibrated`` asks for probabilities.
    """
    for name, kind in RECORDS.items():
        _check_record(attributes[name], name, kind)
    columns = attributes["columns_"]
    if columns is not None:
        check_columns(columns, attributes)
    if "used_" in attributes:
        _check_used(attributes)
    plain = _flat(attributes)
    sizes = _sizes(plain)
    _check_sizes(sizes)
    _check_shapes(plain, sizes, MAY_BE_NONE)
    log_odds = "true" if is_calibrated else "false"
    require(
        plain["has_log_odds_"] is is_calibrated,
        f"'has_log_odds_' must be {log_odds} for this class",
    )
    _check_names(plain, sizes)
    require(
        plain["firing_"] in FIRINGS, f"'firing_' must be {listing(FIRINGS, last='or')}"
    )
    _check_classes(plain, sizes["L"])
    _check_scale(plain)
    _check_members(plain)
    _check_terms(plain, sizes)
    _check_certainty(plain, sizes["U"])
    check_numbers(plain)
    check_pairs(plain, sizes)
    check_categories(plain.get("categories_", {}))
    if "worth_" in plain:
        check_worth(plain, sizes["L"])
    if "stream_" in plain:
        from .stream_checks import check_stream  # imports scikit-learn

        check_stream(plain["stream_"], plain, sizes)
    if "kept_sums_" in plain:
        from .sums_checks import check_kept_sums  # imports linear algebra

        check_kept_sums(plain["kept_sums_"], plain, sizes)
    check_wishes(plain)
    check_edits(plain)
    check_sites(plain)


def _check_record(value: object, name: str, kind: type) -> None:
    """A record is a dict of the fields of its class; newer ones have a default."""
    if value is None and name != "terms_":
        return
    names = [field.name for field in fields(kind)]
    needed = set()
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING:
            needed.add(field.name)
    require(
        isinstance(value, Mapping) and needed <= value.keys() <= set(names),
        f"{name!r} must hold {', '.join(names)}",
    )


def _check_used(attributes: Attributes) -> None:
    """Features that have columns are some of all, in order; no table has such."""
    used = attributes["used_"]
    require(used is not None, "'used_' must not be None")
    _check_record(used, "used_", UsedFeatures)
    n_features = attributes["n_features_in_"]
    positions = used["positions"]
    is_list = isinstance(positions, np.ndarray) and positions.ndim == 1
    require(
        is_list and positions.dtype.kind == "i" and used["n_features"] == n_features,
        "'used_' must give positions of features",
    )
    ends = np.concatenate([[-1], positions, [n_features]])
    require(
        len(positions) > 0 and (np.diff(ends) > 0).all(),
        "'used_' must give positions of features, in order",
    )
    require(attributes["columns_"] is None, "'used_' must not be there with 'columns_'")


def _flat(attributes: Attributes) -> Attributes:
    """Attributes together with the fields of records; those of columns stay apart."""
    plain = dict(attributes)
    for name in RECORDS:
        if name != "columns_" and attributes[name] is not None:
            plain |= attributes[name]
    return plain


def _sizes(plain: Attributes) -> dict[str, int]:
    """The number that each symbol of a shape stands for."""
    columns = plain["columns_"]
    n_columns = plain["n_features_in_"]
    n_given = 0
    if "used_" in plain:
        n_columns = UsedFeatures(**plain["used_"]).n_columns
    if columns is not None:
        table = Columns(**columns)
        n_columns = len(table.parts)
        n_given = len(table.rules)
    coef_shape = np.shape(plain["coef_"])
    knots_shape = np.shape(plain.get("values", ()))
    n_rules = len(plain["centers_"])
    n_terms = len(plain["feature"])
    paired_shape = np.shape(plain["pair_coef_"])
    n_paired = paired_shape[0] if paired_shape else 0
    numbers = plain.get("numbers")
    n_numbers = n_terms + n_paired + n_rules
    return {
        "K": n_rules,
        "A": n_rules + 1,
        "G": n_given,
        "D": n_columns,
        "L": len(plain["label_names_"]),
        "C": N_QUANTILES,
        "R": 2,
        "F": n_paired,
        "U": n_numbers,
        "V": n_numbers if numbers is None else np.size(numbers),
        "P": n_terms,
        "Q": knots_shape[-1] if knots_shape else 0,
        "E": coef_shape[1] if len(coef_shape) == 3 else 1,
    }


def _check_sizes(sizes: Mapping[str, int]) -> None:
    """There are features and labels, and consequents with or without slopes."""
    n_rows = sizes["E"]
    n_features = sizes["D"]
    has_all = min(n_features, sizes["L"]) > 0
    require(
        has_all and n_rows in (1, n_features + 1),
        f"'coef_' has {n_rows} rows per rule for {n_features} features",
    )


def _check_shapes(
    plain: Attributes, sizes: Mapping[str, int], may_be_none: tuple[str, ...]
) -> None:
    """Every table has its shape and holds numbers that are allowed."""
    for name, symbols in SHAPES.items():
        if name not in plain or (plain[name] is None and name in may_be_none):
            continue
        shape = tuple(sizes[symbol] for symbol in symbols)
        is_allowed = IS_ALLOWED.get(name, is_finite)
        check_table(plain[name], repr(name), shape, is_allowed)
        is_float = plain[name].dtype in (np.float32, np.float64)
        require(
            is_float or name not in FLOATS,
            f"{name!r} must hold floats of 32 or 64 bits, not {plain[name].dtype}",
        )


def _check_names(plain: Attributes, sizes: Mapping[str, int]) -> None:
    """Labels and features have different names."""
    n_names = {"label_names_": sizes["L"], "feature_names_in_": plain["n_features_in_"]}
    for name, count in n_names.items():
        if name not in plain:
            continue  # features without names are x0, x1, …
        texts = {text for text in plain[name] if isinstance(text, str)}
        require(
            len(texts) == count,
            f"{name!r} must be {count} different names",
            "rename those that are the same",
        )


def _check_classes(plain: Attributes, n_labels: int) -> None:
    """There is one label per class, or one for two classes."""
    n_classes = len(plain["classes_"])
    is_binary = n_classes == 2 and not plain["multilabel_"]
    require(
        n_classes == n_labels + is_binary,
        f"there are {n_classes} classes for {n_labels} labels",
    )


def _check_scale(plain: Attributes) -> None:
    """The scale is known, and its knots rise from 0 to 1."""
    scale = plain["scale_"]
    has_knots = plain["scaling_"] is not None
    require(scale in SCALES, f"this version knows no scale {str(scale)[:80]!r}")
    require(
        has_knots != (scale in ("unit", None)),
        f"'scaling_' does not belong to the scale {scale!r}",
    )
    if not has_knots:
        return
    for name in ("values", "levels"):
        rises = (np.diff(plain[name], axis=1) >= 0).all()
        require(rises, "knots of the scale must rise")
    levels = plain["levels"]
    require(
        levels.min() >= 0 and levels.max() <= 1, "'levels' must lie between 0 and 1"
    )
    require(isinstance(plain["bounded"], bool), "'bounded' must be true or false")


def _check_members(plain: Attributes) -> None:
    """Of all samples some are in a rule, some of these are observed, some positive."""
    if plain["members_"] is None:
        return
    count = plain["count"]
    observed = plain["observed"]
    positives = plain["positives"]
    is_part = (
        (positives >= 0).all()
        and (positives <= observed).all()
        and (observed <= count[:, None]).all()
        and (count <= count[-1]).all()
    )
    require(is_part, "'positives' must be some of 'observed', these of 'count'")
    regions = plain["regions"]
    require(
        (regions is None) == (plain["quantiles_"] is None),
        "'regions' must be there where 'quantiles_' are",
    )
    if regions is not None:
        ends_before = regions[..., 0] > regions[..., 1]  # NaN is neither
        require(not ends_before.any(), "'regions' must end above where they begin")


def _check_terms(plain: Attributes, sizes: Mapping[str, int]) -> None:
    """Terms are one line per feature, or ramps on a percentile scale."""
    feature = plain["feature"]
    are_features = feature.dtype.kind == "i" and np.isin(feature, np.arange(sizes["D"]))
    require(
        np.all(are_features) and (np.diff(feature) >= 0).all(),
        "'feature' must give the features of the terms, in order",
    )
    low = plain["low"]
    high = plain["high"]
    straight = plain.get("straight")
    if low is None and high is None:
        require(straight is None, "linear terms must not be 'straight' as well")
        is_one_each = sizes["P"] == sizes["D"]
        require(is_one_each, "there must be a linear term per feature")
        return
    has_ramps = plain["scale_"] in RAMP_SCALES or not sizes["P"]
    has_ends = low is not None and high is not None
    require(has_ramps and has_ends, "ramps must rise on a percentile scale")
    has_quantiles = plain["quantiles_"] is not None or not sizes["P"]
    require(has_quantiles, "ramps need the 'quantiles_' of their features")
    if straight is not None:
        _check_lines(straight, low, high)


def _check_lines(
    straight: NDArray[np.bool_], low: FloatArray, high: FloatArray
) -> None:
    """Straight terms go from the least to the largest value; all arrays are (P,)."""
    is_list = isinstance(straight, np.ndarray) and straight.shape == low.shape
    require(
        is_list and straight.dtype.kind == "b",
        f"'straight' must be {len(low)} times true or false",
    )
    goes_far = (low[straight] == 0) & (high[straight] == 1)
    require(goes_far.all(), "'low' and 'high' of straight terms must be 0 and 1")


def _check_certainty(plain: Attributes, n_numbers: int) -> None:
    """What is certain is about every number of the model that is not 0."""
    numbers = plain.get("numbers")
    if numbers is None:
        return
    ends = np.concatenate([[-1], numbers, [n_numbers]])
    require(
        numbers.dtype.kind == "i" and (np.diff(ends) > 0).all(),
        "'numbers' must give positions of numbers, in order",
    )
    of_terms = plain["general_coef_"].any(axis=1)
    of_pairs = np.zeros(0, dtype=bool)
    if plain["pair_coef_"] is not None:
        of_pairs = plain["pair_coef_"].any(axis=1)
    of_rules = plain["coef_"].any(axis=(1, 2))
    has_number = np.concatenate([of_terms, of_pairs, of_rules])
    has_number[numbers] = False
    require(not has_number.any(), "'numbers' must name all that are not 0")
