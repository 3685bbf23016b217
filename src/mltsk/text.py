"""Words of sentences for users: counts with nouns, lists, likely misspellings."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

# Short words that are no code: "No" and "no" are one answer, "F" and "f" one sex.
SHORT_ANSWERS = frozenset({"no", "ja", "si", "sí", "sì", "f", "m", "w"})
# Not the joiners of Persian and Hindi, which change what is seen.
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2060\ufe0f\ufeff\u00ad"))
MIN_LETTERS = 3  # of a word whose capitals mean nothing: AA, Aa and aa are genotypes


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """A count with its noun in the singular or plural.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "category", "categories")
    ('1 row', '1,200 rows', '2 categories')
    """
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {nouns or noun + 's'}"


def listing(items: Iterable[object], *, last: str = "and", at_most: int = 0) -> str:
    """Items as a person lists them; beyond ``at_most`` of them, if not 0, "…" follows.

    >>> listing(["a"]), listing(["a", "b"]), listing("abc"), listing("ab", last="or")
    ('a', 'a and b', 'a, b and c', 'a or b')
    >>> listing(["a", "b", "c"], at_most=2)
    'a, b, …'
    """
    texts = [str(item) for item in items]
    if at_most and len(texts) > at_most:
        return ", ".join([*texts[:at_most], "…"])
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def closest(name: object, choices: Iterable[object], cutoff: float = 0.6) -> str | None:
    """The choice that is most like a name, or None where nothing is alike.

    >>> closest("bilirubn", ["albumin", "bilirubin"]), closest("age", ["AGE"])
    ('bilirubin', 'AGE')
    """
    names: dict[str, str] = {}
    for choice in choices:
        names.setdefault(str(choice).casefold(), str(choice))
    close = get_close_matches(str(name).casefold(), names, n=1, cutoff=cutoff)
    return names[close[0]] if close else None


def did_you_mean(name: object, choices: Iterable[object], cutoff: float = 0.6) -> str:
    """The question about a likely misspelling, or nothing where no choice is alike.

    >>> did_you_mean("bilirubn", ["albumin", "bilirubin"])
    "did you mean 'bilirubin'?"
    >>> did_you_mean("x", ["albumin"])
    ''
    """
    close = closest(name, choices, cutoff)
    return "" if close is None else f"did you mean {close!r}?"


def visible(text: str) -> str:
    """Text without signs that nobody sees, such as a mark of the order of bytes.

    >>> visible("\ufeffage"), visible("no\u200b")
    ('age', 'no')
    """
    return text if text.isascii() else text.translate(_INVISIBLE)


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for a sign of East Asia.

    >>> width_of("age"), width_of("年齢"), width_of("हाँ")
    (3, 4, 2)
    """
    if text.isascii():
        return len(text)
    width = 0
    for sign in text:
        is_wide = unicodedata.east_asian_width(sign) in ("W", "F")
        is_above = unicodedata.category(sign) in ("Mn", "Me", "Cf")
        width += 0 if is_above else 1 + is_wide
    return width


def shortened(text: str, width: int) -> str:
    """Text of at most ``width`` columns of a terminal, with "…" where it was cut.

    >>> shortened("haemoglobin", 6), shortened("年齢", 3)
    ('haemo…', '年…')
    """
    if width_of(text) <= width:
        return text
    kept = text[: width - 1]
    while width_of(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"


def padded(text: str, width: int) -> str:
    """Text with spaces behind it, up to ``width`` columns of a terminal."""
    return text + " " * (width - width_of(text))


def quoted(text: str, at_most: int = 40) -> str:
    """A piece of a user's file for a message: in quotes, printable, and not long.

    >>> quoted("flu"), quoted("influenza", at_most=3)
    ("'flu'", "'inf…'")
    """
    return repr(text if len(text) <= at_most else text[:at_most] + "…")


def typed(text: str) -> str:
    """A word as a shell takes it: in quotes where it would divide or change it.

    >>> typed("age"), typed("age at visit")
    ('age', '"age at visit"')
    """
    return text if re.fullmatch(r"[\w=.+-]+", text) else f'"{text}"'


def quoted_list(texts: Sequence[str], at_most: int = 5) -> str:
    """Pieces of a user's file in quotes; beyond ``at_most`` of them "…" follows.

    >>> quoted_list(["flu", "gout"]), quoted_list(["a", "b", "c"], at_most=2)
    ("'flu', 'gout'", "'a', 'b', …")
    """
    pieces = [quoted(text) for text in texts[:at_most]]
    if len(texts) > at_most:
        pieces.append("…")
    return ", ".join(pieces)


def respelled(words: Iterable[str], usual: Mapping[str, str]) -> dict[str, str]:
    """Words that are known with other capitals, and how they are known.

    ``usual`` are known words by what they are in small letters.

    >>> respelled(["MALE", "female", "AA"], {"male": "male", "aa": "Aa"})
    {'MALE': 'male'}
    """
    changed = {}
    for word in words:
        usual_word = usual.get(word.casefold(), word)
        is_word = len(word) >= MIN_LETTERS or word.casefold() in SHORT_ANSWERS
        if usual_word != word and is_word:
            changed[word] = usual_word
    return changed


def known_capitals(new: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """New words that differ from one known word in capitals alone, and that word.

    A word that is known in two ways could be either, and stays new.

    >>> known_capitals(["MALE", "Other"], ["male", "female", "other", "OTHER"])
    {'MALE': 'male'}
    """
    words = dict.fromkeys(known)
    counts = Counter(word.casefold() for word in words)
    usual = {}
    for word in words:
        if counts[word.casefold()] == 1:
            usual[word.casefold()] = word
    return respelled((word for word in new if word not in words), usual)


def escape_markdown(text: str) -> str:
    r"""Text that stays text in a cell: no markup, no line breaks.

    Examples
    --------
    >>> print(escape_markdown("a_b |\nc"))
    a\_b \| c
    """
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", " ".join(text.split()))
