"""Words and numbers as people read them: how sizes, shares, signs and positions on a scale are put."""

from math import ceil, isnan


def number(x: float) -> str:
    """A number with three digits that count, without an exponent where people would not use one."""
    if abs(x) < 1e-12 or isnan(x):
        return "unknown" if isnan(x) else "0"
    return f"{x:,.0f}" if 1000 <= abs(x) < 1e9 else f"{x:.3g}"


def signed(x: float) -> str:
    """A change, with its sign and two digits that count."""
    return f"{x:+#.2g}" if abs(x) < 10 else f"{x:+,.0f}"


def likely(change: float) -> str:
    """What a change of a score means for its label."""
    return "more likely" if change > 0 else "less likely"


def percent(share: float) -> str:
    """A share in whole per cent; neither all nor nothing is rounded to it."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"


def fifth(percentile: float) -> str:
    """Where a percentile (0..1) lies, in one of five words."""
    return ("very low", "low", "medium", "high", "very high")[min(int(percentile * 5), 4)]


def tail(percentile: float) -> str:
    """Which end of the data a percentile (0..1) belongs to."""
    if 0.4 <= percentile < 0.6:
        return "near the median"
    # rounding up agrees with the words: 20 % is still "very", 21 % is not
    share = max(1, ceil(round(100 * min(percentile, 1 - percentile), 6)))
    return f"{'top' if percentile > 0.5 else 'bottom'} {share} %"


def place_words(value: float, percentile: float, *, about: bool = False) -> str:
    """A value on the scale of five words: very low (2, bottom 12 %)."""
    return f"{fifth(percentile)} ({'≈ ' if about else ''}{number(value)}, {tail(percentile)})"


def name(text: str) -> str:
    """A caller's name on one line and without control characters, which could rewrite a terminal."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))


def times(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
