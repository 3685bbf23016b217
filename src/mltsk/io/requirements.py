"""What all checks of plain attributes use: one way to refuse, and simple questions."""

import numpy as np
from numpy.typing import NDArray

MAX_NUMBER = 1e100  # in a model: products of two are still finite


def require(is_met: object, sentence: str) -> None:
    """Refuse what was read with a sentence, unless a requirement is met."""
    if not is_met:
        raise ValueError(sentence)


def is_bounded(numbers: NDArray[np.generic]) -> bool:
    """Whether all numbers of an array are finite and small enough to be multiplied."""
    if numbers.dtype.kind != "f":
        return True
    return bool((abs(numbers.astype(np.float64)) <= MAX_NUMBER).all())  # NaN is not


def is_finite_number(
    value: object, *, above: float = -MAX_NUMBER, at_most: float = MAX_NUMBER
) -> bool:
    """Whether a value is one number, larger than ``above`` and not too large."""
    if isinstance(value, bool):
        return False
    if not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(above < value <= at_most)


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
