"""Numbers, shares, places in the data and names, as people read them."""

from collections.abc import Iterable, Sequence
from math import ceil, isnan

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..text import did_you_mean

SHARE_OF_ROUNDING = 1e-12
MAX_IN_FULL = 1e7  # larger changes are written with an exponent
DIGITS_IN_FULL = 9  # after the point, of numbers that were rounded before
FIFTHS = ("very low", "low", "medium", "high", "very high")


def number(x: float, size: float = 1.0) -> str:
    """A number of three significant digits; an exponent only where people use one.

    What is nothing next to ``size`` is 0, which may be left of it by rounding. A value
    of the data is as it is: its size is 0.

    >>> number(3e-17), number(3e-17, size=0), number(3e-17, size=1e-16)
    ('0', '3e-17', '3e-17')
    """
    if isnan(x):
        return "unknown"
    if abs(x) <= SHARE_OF_ROUNDING * size:
        return "0"
    if 1000 <= abs(x) < 1e9:
        return f"{x:,.0f}"
    return f"{x:.3g}"


def exactly(x: float) -> str:
    """A number as it is, up to ten digits."""
    return f"{x:,.10g}" if abs(x) < 1e9 else f"{x:.10g}"


def in_full(x: float, sign: str = "") -> str:
    """A number of a short model with all its digits, and two after the point or more.

    >>> in_full(-4.4), in_full(0.125, sign="+"), in_full(0.0)
    ('-4.40', '+0.125', '0')
    """
    if x == 0:
        return "0"
    if abs(x) >= MAX_IN_FULL:
        return f"{x:{sign}.10g}"
    digits = f"{x:{sign},.{DIGITS_IN_FULL}f}".rstrip("0")
    n_after_point = len(digits) - digits.index(".") - 1
    return digits + "0" * max(0, 2 - n_after_point)


def signed(x: float) -> str:
    """A change with its sign and two significant digits, or all before the point."""
    if 10 <= abs(x) < MAX_IN_FULL:
        return f"{x:+,.0f}"
    return f"{x:+#.2g}".removesuffix(".")


def margin(error: float | None) -> str:
    """The half width of an interval as it stands after a number, or nothing."""
    return "" if error is None else f" ± {error:#.2g}".removesuffix(".")


def percent(share: float) -> str:
    """A share in whole per cent; only all is 100 %, and only nothing is 0 %."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def fifth(percentile: float) -> str:
    """Where a percentile (0..1) lies, in one of five words."""
    return FIFTHS[min(int(percentile * 5), 4)]


def place_words(
    value: float, percentile: float, *, about: bool = False, size: float = 0.0
) -> str:
    """A value in one of five words, and at which end of the data it lies.

    The ``size`` is that of `number`.

    >>> place_words(2, 0.115), place_words(5.3, 0.5, about=True)
    ('very low (2, bottom 12 %)', 'medium (≈ 5.3, near the median)')
    """
    # rounding up agrees with the words: 20 % is still "very", 21 % is not
    share = max(1, ceil(round(100 * min(percentile, 1 - percentile), 6)))
    if 0.4 <= percentile < 0.6:
        place = "near the median"
    elif percentile > 0.5:
        place = f"top {share} %"
    else:
        place = f"bottom {share} %"
    return f"{fifth(percentile)} ({'≈ ' * about}{number(value, size)}, {place})"


def name(text: str) -> str:
    """A caller's name on one line, without control characters.

    These could rewrite a terminal.
    """
    one_line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "?" for c in one_line)


def shortened(text: str, length: int) -> str:
    """`name` of a text, cut to at most ``length`` characters."""
    text = name(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def shortened_within(text: str, length: int) -> str:
    """`name` of a text without its middle: names that begin alike end differently.

    >>> shortened_within("Mean_Acc1000_MFCC2", 11)
    'Mean_…MFCC2'
    """
    text = name(text)
    if len(text) <= length:
        return text
    n_last = length // 2
    return f"{text[: length - 1 - n_last]}…{text[-n_last:]}"


def positions(
    names: Sequence[str], wanted: Iterable[str], kept: NDArray[np.intp], kind: str
) -> NDArray[np.intp]:
    """The entries of ``kept`` whose ``names`` are wanted.

    A name that is not there is an error, which says what comes close; ``kind`` is
    what the names are called in it.
    """
    places_of: dict[str, list[int]] = {}
    for i, other in enumerate(names):
        places_of.setdefault(other, []).append(i)
    places: list[int] = []
    for wish in wanted:
        if not isinstance(wish, str) or wish not in places_of:
            first = f"the first of {len(names)} is {names[0]!r}."
            hint = did_you_mean(wish, names) or first
            raise InputError(f"There is no {kind} called {wish!r}: {hint}")
        places += places_of[wish]
    if not places:
        raise InputError(f"Name at least one {kind} to keep.")
    return kept[places]
