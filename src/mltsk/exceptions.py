"""Errors and warnings that a caller may catch, and the import of optional packages."""

import collections
import collections.abc
import sys
import types
from importlib import import_module


class InputError(ValueError):
    """Something that the caller gave is wrong: the message says what, and what to do.

    The command line prints nothing but the message and exits with status 2. What it
    quotes is made `printable`.
    """

    def __init__(self, message: str, *others: object) -> None:
        super().__init__(printable(message), *others)


def printable(text: str) -> str:
    """Text that is safe to show: control characters are spelled out.

    A terminal would obey them.
    """
    if text.isprintable():
        return text
    return "".join(_spelled_out(character) for character in text)


def printable_lines(text: str) -> str:
    r"""Text of many lines that is safe to show: each line is made `printable`.

    >>> printable_lines("label  AP\n\x1b[2J    0.5\n")
    'label  AP\n\\x1b[2J    0.5\n'
    """
    return "\n".join(printable(line) for line in text.split("\n"))


def check_texts(texts: collections.abc.Iterable[str], what: str) -> None:
    """Refuse texts that no file could hold: half of a pair of UTF-16 in them.

    Python makes such texts of bytes that it cannot read (``surrogateescape``).
    ``what`` names the texts, such as "A label".
    """
    for text in texts:
        if not is_unicode(text):
            raise InputError(
                f"{what} is called {text!r:.80}, which is no valid Unicode, so no file "
                "could hold it: rename it, or read the data with the right encoding."
            )


def is_unicode(text: str) -> bool:
    """Whether a text can be written to a file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_different(
    names: collections.abc.Sequence[str], what: str, shown: str = ""
) -> None:
    """Refuse two things of one name; ``what`` they are, such as "labels"."""
    if len(set(names)) == len(names):
        return
    counts = collections.Counter(names)
    name = next(name for name in names if counts[name] > 1)
    number = "Two" if counts[name] == 2 else str(counts[name])
    all_but = "one" if counts[name] == 2 else "all but one"
    raise InputError(
        f"{number} {what} are called {name!r:.80}{shown}: rename {all_but} of them."
    )


def _spelled_out(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


class NoMinimumError(ValueError):
    """The chosen problem has no minimum: its objective falls without bound."""


class RuleCollapseWarning(UserWarning):
    """The rules of a fuzzy system do not differ: it is a linear model in disguise."""


class UnfiredRowsWarning(UserWarning):
    """No rule of a fuzzy system fires on some rows: their scores are all 0."""


class NonConvexWarning(UserWarning):
    """The objective is not convex: a solver returns where it stopped, not a minimum."""


class DegenerateScoresWarning(UserWarning):
    """Most rows of a score matrix have one score throughout.

    Ranking metrics say nothing about such a model.
    """


def calls_to_user() -> int:
    """How many calls lie between a warning and whoever called this package.

    It is the ``stacklevel`` of a warning that several methods lead to.
    """
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    calls = 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] == package:
        frame = frame.f_back
        calls += 1
    return calls


def optional(name: str, extra: str) -> types.ModuleType:
    """Import an optional module; if it is missing, say the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f'pip install "mltsk[{extra}]"') from None


def check_installed(*names: str, extra: str) -> None:
    """Refuse to begin work that would need a missing optional module at its end."""
    for name in names:
        optional(name, extra)
