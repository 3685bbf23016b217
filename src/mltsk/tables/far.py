"""Numbers that are far from others: in another unit?"""

from ..core.arrays import FloatArray

FAR_RATIO = 5  # of numbers and a range, where these are positive


def are_far(values: FloatArray, low: float, high: float) -> bool:
    """Whether all values (n,) are far from a range, by its width or as multiples.

    >>> import numpy as np
    >>> are_far(np.array([70.0, 80.0]), 0.9, 1.4), are_far(np.array([1.8]), 0.9, 1.4)
    (True, False)
    """
    width = high - low
    if not len(values) or width <= 0:
        return False
    is_far = (values < low - width) | (values > high + width)
    if low > 0:
        is_far |= (values < low / FAR_RATIO) | (values > high * FAR_RATIO)
    return bool(is_far.all())
