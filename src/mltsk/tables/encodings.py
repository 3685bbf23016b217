"""The encoding of a text that is not UTF-8, told by the letters that its words have.

Bytes above 127 are other letters in each encoding. A file is in the one in which its
words have letters of one language; Windows-1252, the usual one of the West, needs no
proof.
"""

import re
from collections.abc import Iterator, Sequence
from typing import IO
from unicodedata import category, normalize

from mltsk.text import listing, quoted

FALLBACK_ENCODING = "cp1252"
# What a user is told, by the name that Python knows.
ENCODING_NAMES = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
    "iso8859-2": "ISO 8859-2",
    "cp850": "DOS 850",
    "mac-roman": "Mac Roman",
}
WEST = {
    "German": "äöüßé",
    "French": "àâæçéèêëîïôœùûüÿ",
    "Spanish": "áéíóúüñ",
    "Portuguese": "áâãàçéêíóôõúü",
    "Italian": "àèéìíîòóùú",
    "Nordic": "åäöæøéü",
    "Dutch": "ëïéèöüó",
    "Icelandic": "áéíóúýþæöð",
    "Finnish": "åäöõüšž",
}
CENTRE = {
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Croatian": "čćđšž",
    "Romanian": "ăâîşţșț",
}
TURKISH = {"Turkish": "çğıöşüâîû\u0307"}  # the dot of a small İ is one
BALTIC = {"Lithuanian": "ąčęėįšųūž", "Latvian": "āčēģīķļņšūž"}
# The first of those that are as good is taken.
ALPHABETS = {
    "cp1252": WEST,
    "cp1250": CENTRE,
    "iso8859-2": CENTRE,
    "cp1254": TURKISH,
    "cp1257": BALTIC,
    "mac-roman": WEST,
    "cp850": WEST,
}
# Letters that Icelandic hardly does without, and Turkish has not.
ICELANDIC_LETTERS = frozenset("áéíóúæ")
MIN_COVERED = 0.95  # of the letters, for another encoding than the usual one
MIN_LEAD = 0.1  # before Windows-1252
MIN_FOREIGN_LETTERS = 2  # one may be anything
UNKNOWN_LETTER = "\ufffd"
MAX_WORDS = 2000
BLOCK_BYTES = 1 << 16
# What text may be that makes no words as Windows-1252.
OTHER_SCRIPTS = (
    *("gbk", "big5", "shift_jis", "euc_jp", "euc_kr"),
    *("cp1251", "koi8-r", "cp1253", "cp1255", "cp1256", "cp874"),
)
_FOREIGN_WORD = re.compile(rb"[A-Za-z]*[\x80-\xff]+(?:[A-Za-z]|[\x80-\xff])*")
_POWER_OF_METRE = re.compile(rb"N?[cdkm]?m[\xb2\xb3]")  # in Polish ł is in that place
_EDGES = "°µμ²³¹±€£–—’‘‚“”„…•©®™½¼¾×·§ªº¿¡«»\xa0"


def foreign_words(file: IO[bytes]) -> list[bytes]:
    """Words of a file with bytes above 127, as they are written."""
    words: dict[bytes, None] = {}
    while len(words) < MAX_WORDS:
        block = file.read(BLOCK_BYTES)
        if not block:
            break
        block += file.readline(BLOCK_BYTES)  # no word is cut in two
        found = _FOREIGN_WORD.findall(block)
        words.update(dict.fromkeys(w for w in found if not _POWER_OF_METRE.match(w)))
    return list(words)[:MAX_WORDS]


def likely_encoding(words: Sequence[bytes]) -> str:
    """The encoding in which words have letters of one language.

    >>> likely_encoding(["Płeć".encode("cp1250"), "mężczyzna".encode("cp1250")])
    'cp1250'
    >>> likely_encoding(["Größe".encode("cp1252")])
    'cp1252'
    """
    best = FALLBACK_ENCODING
    usual = covered = _covered(words, best)
    for encoding in ALPHABETS:
        share = _covered(words, encoding)
        if share >= MIN_COVERED and share > max(covered, usual + MIN_LEAD):
            best = encoding
            covered = share
    return best


def _covered(words: Sequence[bytes], encoding: str) -> float:
    """The largest share of foreign letters that are of one language; 1 if none is."""
    letters = "".join(_foreign_letters(words, encoding))
    if not letters and encoding == FALLBACK_ENCODING:
        return 1.0
    if len(letters) < MIN_FOREIGN_LETTERS:
        return 0.0
    shares = []
    for language, alphabet in ALPHABETS[encoding].items():
        if language == "Icelandic" and not ICELANDIC_LETTERS.intersection(letters):
            continue
        n_known = sum(letter in alphabet for letter in letters)
        shares.append(n_known / len(letters))
    return max(shares)


def _foreign_letters(words: Sequence[bytes], encoding: str) -> Iterator[str]:
    """Letters beyond those of English, small; signs at the edges of words are none.

    A capital behind a small letter is no letter: it stands in no word.
    """
    for word in words:
        text = word.decode(encoding, errors="replace").strip(_EDGES)
        before = ""
        for character in text:
            if not character.isascii():
                is_within = before.islower() and character.isupper()
                small = character.lower().lstrip("i")  # of İ there is a dot, too
                yield UNKNOWN_LETTER if is_within else small
            before = character


def readings(word: str) -> str:
    """What a word of Windows-1252 would be in other scripts, for a sentence."""
    known = []
    for encoding in OTHER_SCRIPTS:
        reading = _read_as(encoding, word)
        if _is_word(reading) and normalize("NFKC", reading) == reading:
            known.append(f"{encoding} ({quoted(reading)})")
    return f", such as {listing(known, last='or')}" if known else ""


def _is_word(text: str) -> bool:
    """Whether a text has letters alone, and marks above and below them."""
    return bool(text) and all(category(sign)[0] in "LM" for sign in text)


def _read_as(encoding: str, word: str) -> str:
    """What a word would be in another encoding, "" for none."""
    try:
        return word.encode(FALLBACK_ENCODING).decode(encoding)
    except UnicodeError:
        return ""


def readings_of_bytes(words: Sequence[bytes]) -> str:
    """What bytes that are no Windows-1252 would be in other scripts, for a sentence."""
    known = []
    for encoding in OTHER_SCRIPTS:
        for word in words[:1]:
            try:
                known.append(f"{encoding} ({quoted(word.decode(encoding))})")
            except UnicodeError:
                continue
    return f", such as {listing(known, last='or')}" if known else ""
