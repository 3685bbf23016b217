"""What all checks of plain attributes use: one way to refuse, and simple questions."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..exceptions import InputError

MAX_COMPLAINT = 200  # characters of what is wrong with a model
MAX_FLOAT = sys.float_info.max
MAX_NUMBER = 1e100  # in a model: products of two are still finite

OTHER_UNITS = (
    "fit it with X in other units, or with scale='quantile', so that its numbers stay "
    f"below {MAX_NUMBER:g}"
)


class UnusableError(ValueError):
    """Plain attributes make no working model; ``remedy`` is for who has fitted it."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence)
        self.remedy = remedy


def require(is_met: object, sentence: str, remedy: str = "") -> None:
    """Refuse what was read with a sentence, unless a requirement is met.

    ``remedy`` is what a user can do about a model that has just been fitted.
    """
    if not is_met:
        raise UnusableError(sentence, remedy)


@contextmanager
def refusing(beginning: str) -> Iterator[None]:
    """Turn whatever speaks against writing a model into one sentence, with a remedy."""
    try:
        yield
    # a model may be unusable in every way in which a file may be damaged
    except Exception as error:
        complaint = " ".join(str(error).split())[:MAX_COMPLAINT].rstrip(".")
        remedy = getattr(error, "remedy", "") or "fit it again"
        raise InputError(f"{beginning}, because {complaint}: {remedy}.") from None


def check_fields(plain: Any, name: str, expected: Sequence[str]) -> None:
    """A dict has exactly the expected keys."""
    require(
        isinstance(plain, Mapping) and plain.keys() == set(expected),
        f"{name!r} must hold {', '.join(expected)}",
    )


def check_table(
    table: FloatArray,
    name: str,
    shape: tuple[int, ...],
    is_allowed: Callable[[FloatArray], bool],
) -> None:
    """Refuse what is no array of a shape with numbers that are allowed."""
    is_table = isinstance(table, np.ndarray) and table.dtype.kind in "fi"
    require(
        is_table and table.shape == shape and is_allowed(table),
        f"{name} must be a table of {' x '.join(map(str, shape))} finite numbers",
        OTHER_UNITS,
    )


def is_finite(numbers: FloatArray) -> bool:
    """Whether all numbers of an array are finite."""
    return bool(np.isfinite(numbers).all())


def has_no_nan(numbers: FloatArray) -> bool:
    """Whether all numbers of an array are finite or infinite."""
    return not np.isnan(numbers).any()


def has_no_infinity(numbers: FloatArray) -> bool:
    """Whether all numbers of an array are finite or NaN."""
    return not np.isinf(numbers).any()


def is_bounded(numbers: NDArray[np.generic]) -> bool:
    """Whether all numbers of an array are finite and small enough to be multiplied."""
    if numbers.dtype.kind != "f":
        return True
    return bool((abs(numbers.astype(np.float64)) <= MAX_NUMBER).all())  # NaN is not


def is_finite_number(
    value: object, *, above: float = -np.inf, at_most: float = MAX_FLOAT
) -> bool:
    """Whether a value is one finite number, above one limit and at most another."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return above < value <= at_most


def is_count(value: object) -> bool:
    """Whether a value is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value > 0)


def are_different_words(words: object) -> bool:
    """Whether this is a sequence of texts, no two of them the same."""
    if not isinstance(words, list | tuple):
        return False
    are_texts = all(isinstance(word, str) for word in words)
    return are_texts and len(set(words)) == len(words)
