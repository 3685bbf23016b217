"""Words as people write them: remarks around an answer, capitals, and order."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from mltsk.text import MIN_LETTERS, SHORT_ANSWERS, plural, quoted, respelled

from .kinds import answers_yes_and_no
from .notation import Texts
from .words import LADDERS, NO_WORDS, NOT_OBSERVED_WORDS, UNKNOWN_WORDS, YES_WORDS

ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
LETTERS_OF_UNIT = 3  # by which "week" and "weeks" are one unit
MIN_LEVELS = 3  # of words that may be ranks
# Behind a word: 1:64 is a titer and 1-3 a range, not a yes with a remark.
_REMARK = re.compile(r"([^\W\d]\w*)\s*[(\[,;:–-].*", re.DOTALL)
_CODED = re.compile(r"\(?\d{1,2}(?:\)|_|\s*[.:=)–-])\s*([^\W\d].*)", re.DOTALL)
_NUMBER_OF_CODE = re.compile(r"\(?(\d{1,2})")
_RANGE = re.compile(
    r"(?:\d+_)?[<>≤≥]?\s*(\d+(?:\.\d+)?)\s*(?:(?:-|–|to)\s*\d+(?:\.\d+)?|\+)?(?:\s?(\w+))?"
)


def without_remarks(
    texts: Texts, notes: list[str], overrule: str = "--nominal"
) -> Texts:
    """Answers without what is said around them: "Yes (2019)" is Yes, "0. no" is no.

    Nothing changes unless all answers then are words for yes, for no, or for unknown.
    ``overrule`` is the option that the note names.
    """
    answers = {text: _first_word(text) for text in set(texts) if text is not None}
    known = YES_WORDS | NO_WORDS | NOT_OBSERVED_WORDS
    with_remark = [text for text, answer in answers.items() if text != answer]
    if not with_remark or not all(word.lower() in known for word in answers.values()):
        return texts
    example = min(with_remark)
    notes.append(
        f"remarks around yes and no left out ({example} is {answers[example]}); "
        f"{overrule} to overrule"
    )
    return [None if text is None else answers[text] for text in texts]


def _first_word(text: str) -> str:
    """The answer in a text, without a number before it and without a remark."""
    coded = _CODED.fullmatch(text)
    answer = text if coded is None else coded[1]
    match = _REMARK.fullmatch(answer)
    return answer if match is None else match[1]


def without_unknown(
    texts: Texts,
    notes: list[str],
    *,
    keep: Collection[str] = (),
    called: str = "missing",
) -> Texts:
    """Texts without words such as unknown, which are no answer; ``keep`` stays."""
    no_answers = NOT_OBSERVED_WORDS if answers_yes_and_no(texts) else UNKNOWN_WORDS
    unknown = [
        text
        for text in texts
        if text is not None and text.lower() in no_answers and text not in keep
    ]
    for word, count in Counter(unknown).items():
        notes.append(f"{plural(count, 'cell')} with {quoted(word)} counted as {called}")
    absent = set(unknown)
    return [None if text in absent else text for text in texts]


def one_spelling(
    texts: Texts, notes: list[str], overrule: str = "--nominal to overrule"
) -> Texts:
    """Words that differ in capitals alone as the most frequent one of them.

    ``overrule`` is what the note says to who wants it otherwise.

    >>> notes = []
    >>> one_spelling(["female", "Female", "male", "female"], notes)
    ['female', 'female', 'male', 'female']
    >>> notes
    ["1 cell with 'Female' read as 'female'; --nominal to overrule"]
    """
    counts = Counter(text for text in texts if text is not None)
    frequent = sorted(counts, key=lambda word: (-counts[word], word.swapcase()))
    usual: dict[str, str] = {}
    for word in frequent:
        if len(word) >= MIN_LETTERS or word.casefold() in SHORT_ANSWERS:
            usual.setdefault(word.casefold(), word)
    changed = respelled(counts, usual)
    for word, known in changed.items():
        cells = plural(counts[word], "cell")
        notes.append(f"{cells} with {quoted(word)} read as {quoted(known)}; {overrule}")
    return [changed.get(text, text) if text else text for text in texts]


def note_on_ranks(name: str, words: Sequence[str]) -> str:
    """The note on words that have an order, ready to be typed; "" if they have none.

    >>> note_on_ranks("pain", ["mild", "none", "severe"])
    'may be ranks; --ordinal "pain: none < mild < severe" to use their order'
    >>> note_on_ranks("pain", ["2 - some", "1 - none", "3 - much"])
    'may be ranks; --ordinal "pain: 1 - none < 2 - some < 3 - much" to use their order'
    >>> note_on_ranks("age", ["18-29", "30-49", "50+"])
    'may be ranks; --ordinal "age: 18-29 < 30-49 < 50+" to use their order'
    """
    levels = _levels_of(words)
    if len(levels) < MIN_LEVELS or ":" in name or any("<" in word for word in words):
        return ""
    order = " < ".join(levels)
    return f'may be ranks; --ordinal "{name}: {order}" to use their order'


def _levels_of(words: Sequence[str]) -> list[str]:
    """Words in the order that everybody knows; none where there is no such order."""
    return _on_a_ladder(words) or _by_code(words) or _by_range(words)


def _on_a_ladder(words: Sequence[str]) -> list[str]:
    """Words such as mild and severe, from the lowest step to the highest."""
    by_lower = {word.lower().replace("_", " "): word for word in words}
    for ladder in LADDERS:
        if set(by_lower) <= set(ladder):
            return [by_lower[level] for level in ladder if level in by_lower]
    return []


def _by_code(words: Sequence[str]) -> list[str]:
    """Words with a number of their own before them, such as "1 - none"."""
    numbers = [_NUMBER_OF_CODE.match(word) for word in words if _CODED.fullmatch(word)]
    places = [int(match[1]) for match in numbers if match]
    if len(set(places)) < len(words):
        return []
    return [word for _, word in sorted(zip(places, words, strict=True))]


def _by_range(words: Sequence[str]) -> list[str]:
    """Ranges of numbers in one unit, such as "18-29" and "50+"."""
    starts = {}
    units = set()
    for word in words:
        match = _RANGE.fullmatch(word)
        if match is None or word.isdigit():
            return []
        starts[word] = float(match[1])
        unit = (match[2] or "").lower()
        if unit and unit not in ORDINAL_ENDINGS:
            units.add(unit[:LETTERS_OF_UNIT])
    if len(units) > 1:  # 3 days and 2 weeks
        return []
    return sorted(words, key=starts.__getitem__)
