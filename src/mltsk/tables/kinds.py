"""Which kind a column is, by simple rules.

| kind | the rule |
|---|---|
| constant | at most one distinct value |
| number | every cell is a number (not 007); nearly all, and the rest is refused by name |
| yes/no | two words such as yes and no, true and false; a column of booleans |
| date | nearly all cells are dates or times |
| identifier | every value is another one, and they run upwards or the name says so; short text that hardly repeats |
| text | words that hardly repeat, or too many of them for categories |
| nominal | any other text: few words that repeat; a data frame's unordered categories |
| ordinal | only if somebody says so: ``ordinal=``, or a data frame's ordered categories |
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mltsk.datasets.dataset import NO, YES

from .cells import Numbers, Texts

NUMBER, YES_NO, NOMINAL, ORDINAL = "number", "yes/no", "nominal", "ordinal"
DATE, IDENTIFIER, TEXT, CONSTANT = "date", "identifier", "text", "constant"
USED = (NUMBER, YES_NO, NOMINAL, ORDINAL)  # the kinds that a model takes

NEARLY = 0.95  # of the cells: one typo in twenty is a typo, more may be meant
MANY = 20  # distinct numbers: more than anybody has codes for
FEW = 10  # distinct whole numbers that may be codes: worth a note
ENOUGH = 10  # rows from which "every value is another one" or "they run upwards" is no accident
ROWS_PER_WORD = 2, 10  # on average, for up to MANY categories and for more: below, an effect has nothing to stand on
MOST_CATEGORIES = 1000
SENTENCE = 4  # words in a cell, on average: text for people, no name or key

_ID = re.compile(r"(patient|subject|person|case|record|row|sample|study|customer|user|visit|client)?_?ids?", re.I)
_ID_WORDS = re.compile(
    "ids?|uuid|guid|seqn|nr|no|num|code|key|index|idx|patient|subject|participant|person|case|record|row|mrn|identifier"
    "|barcode"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[AP]M|[-+]\d{2}:?\d{2}))?)?"
_DATE = re.compile(rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(\d{{4}}|\d{{2}})){_TIME}", re.I)


def decide(name: str, texts: Texts, numbers: Numbers) -> str:
    """The kind of a column of text, given its cells as text and as numbers."""
    present = [text for text in texts if text is not None]
    words, n = set(present), len(present)
    if len(words) <= 1:
        return CONSTANT
    values = numbers.values[~np.isnan(numbers.values)]
    measured = bool((values != np.floor(values)).any())
    padded = not measured and any(text[0] == "0" and len(text) > 1 and text.isdigit() for text in words)  # such as 007
    if not numbers.bad and not padded:
        return IDENTIFIER if counts_rows(name, values, len(words)) else NUMBER
    lower = {word.lower() for word in words}
    if lower <= YES | NO and lower & YES and lower & NO:
        return YES_NO
    if sum(_DATE.fullmatch(text) is not None for text in present) >= NEARLY * n:
        return DATE
    measured = measured or len(np.unique(values)) > MANY
    if not padded and (len(values) >= NEARLY * n or (2 * len(values) >= n and measured)):
        return NUMBER
    if len(words) >= NEARLY * n and (n >= ENOUGH or _named_id(name)):
        return TEXT if sum(len(text.split()) for text in present) >= SENTENCE * n else IDENTIFIER
    rows = ROWS_PER_WORD[len(words) > MANY]
    return NOMINAL if n < ENOUGH or (n >= rows * len(words) and len(words) <= MOST_CATEGORIES) else TEXT


def counts_rows(name: str, present: NDArray[np.float64], distinct: int) -> bool:
    """Whether numbers are an identifier: whole, all distinct, and running upwards or named like one."""
    if (present != np.floor(present)).any() or distinct < len(present):
        return False
    return _named_id(name) or bool(len(present) >= ENOUGH and (np.diff(present) >= 0).all())


def _named_id(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return _ID.fullmatch(name.strip()) is not None or any(map(_ID_WORDS.fullmatch, words))


_REASONS = {
    CONSTANT: "left out: the same value in every cell that has one",
    IDENTIFIER: "left out as an identifier, hardly a value twice; to use it say number or nominal",
    DATE: "left out as a date; turn it into a number first, such as days since a first visit",
    TEXT: "left out as text, too many different words; to use them as categories say nominal",
}


def why(kind: str, present: Any) -> tuple[str, ...]:
    """What a reader may want to overrule, and how, given the kind of a column and its cells that have a value."""
    if kind == NUMBER:
        distinct = len(np.unique(present))
        codes = 2 < distinct <= min(FEW, len(present) / 2) and not (present != np.floor(present)).any()
        return ("few whole numbers, read as numbers; say nominal for codes, ordinal for ranks",) if codes else ()
    return (_REASONS[kind],) if kind != CONSTANT or len(present) else ("left out: no value at all",)
