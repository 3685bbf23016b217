"""Whether the plain form of rules with two conditions fits its system.

Symbols: C conditions, R rules, D columns of numbers, L labels.
"""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.pairs import Conditions, Pairs
from .number_checks import RAMP_SCALES, are_shares
from .requirements import check_table, is_bounded, is_finite, require
from .system_state import Attributes, restored_pairs

# The least length of a side of a triangle that is not flat, as a share of the data:
# slopes are then finite in single precision, too.
MIN_SIDE = 1e-30


def check_pairs(plain: Attributes, sizes: Mapping[str, int]) -> None:
    """Refuse pairs of features that would fail in a prediction.

    ``plain`` are attributes together with the fields of their records, which were
    checked before; ``sizes`` are those of the system, by symbol.
    """
    pairs = plain["pairs_"]
    if pairs is None:
        require(plain["pair_coef_"] is None, "'pair_coef_' must be None without pairs")
        return
    check_rules_of_pairs(pairs, plain, sizes["D"])
    require(len(pairs["first"]) > 0, "'pairs_' must be None where there are none")
    shape = (len(pairs["first"]), sizes["L"])
    check_table(plain["pair_coef_"], "'pair_coef_'", shape, is_bounded)


def check_rules_of_pairs(pairs: Attributes, plain: Attributes, n_columns: int) -> None:
    """Refuse rules of pairs, without their numbers, that do not fit a system."""
    _check_fields(pairs, "'pairs_'", Pairs)
    conditions = pairs["conditions"]
    _check_fields(conditions, "'conditions' of 'pairs_'", Conditions)
    _check_scale_of_pairs(plain)
    _check_conditions(conditions, n_columns)
    n_conditions = len(conditions["column"])
    n_rules = np.size(pairs["first"])
    for name in ("first", "second"):
        check_positions(
            pairs[name], f"{name!r} of 'pairs_'", size=n_rules, below=n_conditions
        )
    _check_levels(pairs["share"], "'share' of 'pairs_'", n_rules)
    _check_rules(restored_pairs(pairs))


def _check_fields(record: object, name: str, kind: type) -> None:
    """A record is a dict of exactly the fields of its class."""
    names = [field.name for field in fields(kind)]
    require(
        isinstance(record, Mapping) and record.keys() == set(names),
        f"{name} must hold {', '.join(names)}",
    )


def _check_scale_of_pairs(plain: Attributes) -> None:
    """Levels of samples, from which memberships come, lie between 0 and 1."""
    require(
        plain["scale_"] in RAMP_SCALES and plain["bounded"],
        "'pairs_' need a scale of percentiles, which ends with the data",
    )
    require(
        are_shares(plain["offset"]), "'offset' of percentiles must lie between 0 and 1"
    )


def _check_conditions(conditions: Attributes, n_columns: int) -> None:
    """Conditions are triangles on percentiles of columns that there are."""
    n_conditions = np.size(conditions["column"])
    check_positions(
        conditions["column"],
        "'column' of 'conditions'",
        size=n_conditions,
        below=n_columns,
    )
    ends = ("left", "peak", "right")
    for name in ends:
        _check_levels(conditions[name], f"{name!r} of 'conditions'", n_conditions)
    _check_levels(conditions["mean"], "'mean' of 'conditions'", n_conditions)
    left, peak, right = (conditions[name] for name in ends)
    for side in (peak - left, right - peak):
        is_side = (side == 0) | (side >= MIN_SIDE)
        require(is_side.all(), "'left', 'peak', 'right' of 'conditions' must rise")


def check_positions(
    positions: NDArray[np.intp], name: str, *, size: int, below: int
) -> None:
    """Positions are whole numbers from 0 on, below a limit."""
    is_list = isinstance(positions, np.ndarray) and positions.shape == (size,)
    require(
        is_list and positions.dtype.kind == "i",
        f"{name} must be {size} positions",
    )
    is_inside = (positions >= 0) & (positions < below)
    require(is_inside.all(), f"{name} must be positions below {below}")


def _check_levels(levels: FloatArray, name: str, size: int) -> None:
    """Levels, and averages of memberships, lie between 0 and 1."""
    check_table(levels, name, (size,), is_finite)
    require(are_shares(levels), f"{name} must lie between 0 and 1")


def _check_rules(pairs: Pairs) -> None:
    """All rules differ; those of the same two columns stand next to each other."""
    conditions = np.stack([pairs.first, pairs.second], axis=1)
    is_different = len(np.unique(conditions, axis=0)) == len(pairs)
    require(is_different, "no two rules of 'pairs_' may have the same conditions")
    columns = np.sort(pairs.columns, axis=1)
    require(
        (columns[:, 0] < columns[:, 1]).all(),
        "both conditions of a pair must be about different columns",
    )
    n_pairs = len(np.unique(columns, axis=0))
    require(
        len(pairs.starts) == n_pairs,
        "rules of the same two columns must stand next to each other",
    )
