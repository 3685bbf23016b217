"""Interpolation where NumPy's own does not serve.

That is on tensors, which are interpolated where they lie, and between numbers so far
apart, or so close together, that their distance or the slope is not finite.
"""

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, FloatArray, asnumpy, namespace
from .tensors import Tensor

# The distance of two numbers up to here is finite.
MAX_SAFE_SUM = 8e307


def interpolated_by_shares(
    x: FloatArray, values: FloatArray, levels: FloatArray
) -> NDArray[np.float64]:
    """NumPy's `interp` of x (n,) between knots (Q,), by the share of the way.

    Levels are added up by the share of the way between two knots at which x lies.
    """
    last = len(values) - 1
    if last == 0:
        return levels[0] + 0 * x
    left = (np.searchsorted(values, x, side="right") - 1).clip(0, last - 1)
    share = _share_of_way(x, values[left], values[left + 1])
    z = (1 - share) * levels[left] + share * levels[left + 1]
    z = np.where(x <= values[0], levels[0], z)
    return np.where(x >= values[-1], levels[-1], z)


def _share_of_way(x: Array, start: Array, stop: Array) -> Array:
    """The share of the way from start to stop at which x lies; all of one shape.

    It is in [0, 1], and 0 where start and stop are the same.
    """
    xp = namespace(x)
    # the distance of two very large numbers may be larger than all numbers
    factor = xp.where(xp.maximum(abs(start), abs(stop)) > MAX_SAFE_SUM, 0.25, 1.0)
    way = stop * factor - start * factor
    gone = xp.clip(x, start, stop) * factor - start * factor
    share = gone / xp.where(way > 0, way, 1.0)
    return xp.where(way > 0, share, 0 * share)


def interpolated_tensor(x: Tensor, values: Tensor, levels: Tensor) -> Tensor:
    """NumPy's `interp` for each row of x (D, n), between knots (D, Q).

    NaN stays NaN.
    """
    xp = namespace(x)
    last = values.shape[1] - 1
    above = xp.searchsorted(values.contiguous(), x.contiguous(), right=True)
    left = (above - 1).clip(0, last - 1)
    start = xp.gather(values, 1, left)
    stop = xp.gather(values, 1, left + 1)
    level = xp.gather(levels, 1, left)
    rise = xp.gather(levels, 1, left + 1) - level
    slope = rise / xp.where(stop > start, stop - start, 1.0)
    z = level + slope * (x - start)
    if not bool(xp.isfinite(z).all()):
        next_level = xp.gather(levels, 1, left + 1)
        share = _share_of_way(x, start, stop)
        z = xp.where(xp.isfinite(z), z, (1 - share) * level + share * next_level)
    z = xp.where(x <= values[:, :1], levels[:, :1], z)
    return xp.where(x >= values[:, -1:], levels[:, -1:], z)


def tensor_quantiles(X: Tensor, shares: FloatArray) -> FloatArray:
    """Quantiles (D, Q) of each column of X (N, D), which is sorted where it lies.

    Missing values are left out; a column without any value gets 0. ``shares`` is (Q,).
    """
    xp = namespace(X)
    ordered = asnumpy(xp.nan_to_num(X.sort(0)[0]))  # missing values are last
    last = np.maximum(asnumpy((~xp.isnan(X)).sum(0)) - 1, 0)
    columns = np.arange(len(last))
    position = np.outer(shares, last)
    before = np.floor(position).astype(int)
    low = ordered[np.minimum(before, last), columns]
    high = ordered[np.minimum(before + 1, last), columns]
    beyond = position - before
    if float(np.abs(ordered).max(initial=0.0)) <= MAX_SAFE_SUM:
        quantiles = low + (high - low) * beyond
    else:
        quantiles = low * (1 - beyond) + high * beyond
    return np.ascontiguousarray(quantiles.T)
