"""Whether numbers of a system are of a size that keeps every answer finite.

Their shapes are checked before. A number may be finite and still ruin what is computed
with it: a width of 5e-324 divides by nearly 0, and a square of 1e200 is no number.

Symbol: P terms.
"""

from ..core.arrays import FloatArray
from ..core.straight import MIN_STRAIGHT_RAMP
from ..core.terms import PERCENTILE_TERMS
from ..system import STRAIGHT
from .requirements import MAX_NUMBER, OTHER_UNITS, is_bounded, require
from .system_state import Attributes

# Scales on which terms are ramps.
RAMP_SCALES = (*PERCENTILE_TERMS, STRAIGHT)
MIN_WIDTH = 1 / MAX_NUMBER
# Of the SD of a column on its scale, whose values lie between 0 and 1.
MAX_SPREAD = 1e30
# Percentiles and memberships may lie so much outside of 0 and 1, by rounding.
RAMP_ROUNDING = 1e-6
MIN_RAMP = 1e-9  # length between two percentiles


def check_numbers(parts: Attributes) -> None:
    """Refuse numbers of a system that are too large or too small to compute with.

    ``parts`` are attributes together with the fields of their records.
    """
    widths = parts["widths_"]
    require(
        widths.dtype == parts["centers_"].dtype,
        "'widths_' and 'centers_' must have one precision",
    )
    is_wide = (widths >= MIN_WIDTH).all()
    require(is_wide, f"'widths_' must be above 0: at least {MIN_WIDTH:g}")
    if parts["scaling_"] is not None:
        _check_scale_numbers(parts)
    if parts["low"] is not None and parts["high"] is not None:
        _check_ramps(parts["low"], parts["high"], parts["scale_"])
        require(
            are_shares(parts["mean"]), "'mean' of memberships must lie between 0 and 1"
        )


def _check_scale_numbers(parts: Attributes) -> None:
    """Samples on the scale, and their squares, are finite."""
    for name in ("spread", "share"):
        numbers = parts[name]
        is_ordinary = (numbers > 1 / MAX_SPREAD) & (numbers < MAX_SPREAD)
        require(
            is_ordinary.all(),
            f"{name!r} must be above 0: between {1 / MAX_SPREAD:g} and {MAX_SPREAD:g}",
            OTHER_UNITS,
        )
    require(is_bounded(parts["offset"]), f"'offset' must be below {MAX_NUMBER:g}")


def _check_ramps(low: FloatArray, high: FloatArray, scale: str | None) -> None:
    """Ramps (P,) rise within the range of their column."""
    least = MIN_STRAIGHT_RAMP if scale == STRAIGHT else MIN_RAMP
    require((high - low > least).all(), "ramps must rise on a percentile scale")
    is_inside = are_shares(low) and are_shares(high)
    require(is_inside, "'low' and 'high' of ramps must lie between 0 and 1")


def are_shares(numbers: FloatArray) -> bool:
    """Whether all numbers lie between 0 and 1, up to rounding."""
    is_share = (numbers >= -RAMP_ROUNDING) & (numbers <= 1 + RAMP_ROUNDING)
    return bool(is_share.all())
