"""Words and numbers as people read them: how sizes, shares, signs and positions on a scale are put."""

from math import ceil, isnan

_FIFTHS = ("very low", "low", "medium", "high", "very high")


def number(x: float) -> str:
    """A number with three digits that count, without an exponent where people would not use one.

    Examples
    --------
    >>> number(8.1234), number(12345.6), number(0.000123), number(-0.0)
    ('8.12', '12,346', '0.000123', '0')
    """
    if x == 0 or isnan(x):
        return "0" if x == 0 else "unknown"
    return f"{x:,.0f}" if 1000 <= abs(x) < 1e9 else f"{x:.3g}"


def signed(x: float) -> str:
    """A change, with its sign and two digits that count.

    Examples
    --------
    >>> signed(0.01234), signed(0.3), signed(-0.02), signed(-12.3), signed(54321.0)
    ('+0.012', '+0.30', '-0.020', '-12', '+54,321')
    """
    return f"{x:+#.2g}" if abs(x) < 10 else f"{x:+,.0f}"


def percent(share: float) -> str:
    """A share in whole per cent; neither all nor nothing is rounded to it.

    Examples
    --------
    >>> percent(0.126), percent(0.001), percent(0.9999), percent(1.0)
    ('13 %', 'under 1 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"


def fifth(percentile: float) -> str:
    """Where a percentile (0..1) lies, in one of five words.

    Examples
    --------
    >>> [fifth(p) for p in (0.1, 0.3, 0.5, 0.7, 0.9)]
    ['very low', 'low', 'medium', 'high', 'very high']
    """
    return _FIFTHS[min(int(percentile * 5), 4)]


def place_words(value: float, percentile: float, *, about: bool = False) -> str:
    """A value on the scale of five words.

    Examples
    --------
    >>> place_words(2.0, 0.12)
    'very low (2, bottom 12 %)'
    """
    return f"{fifth(percentile)} ({'≈ ' if about else ''}{number(value)}, {tail(percentile)})"


def tail(percentile: float) -> str:
    """Which end of the data a percentile (0..1) belongs to.

    Examples
    --------
    >>> tail(0.83), tail(0.2), tail(0.55)
    ('top 17 %', 'bottom 20 %', 'near the median')
    """
    if 0.4 <= percentile < 0.6:
        return "near the median"
    if percentile > 0.5:
        return f"top {_rounded_up(1 - percentile)} %"
    return f"bottom {_rounded_up(percentile)} %"


def _rounded_up(share: float) -> int:
    # rounding up agrees with the words: 20 % is still "very", 21 % is not
    return max(1, ceil(round(100 * share, 6)))


def name(text: str) -> str:
    """A caller's name on one line and without control characters, which could rewrite a terminal.

    Examples
    --------
    >>> name("blood\\n sugar\\x1b[2J")
    'blood sugar?[2J'
    """
    return "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))


def times(count: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> times(1, "rule"), times(3, "rule")
    ('1 rule', '3 rules')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def likely(change: float) -> str:
    """What a change of a score means for its label."""
    return "more likely" if change > 0 else "less likely"
