"""Errors and warnings that a caller may want to catch, and how optional packages are imported."""

import types
from importlib import import_module


class InputError(ValueError):
    """Something that the caller gave is wrong: the message says what, where, and what to do.

    The command line prints nothing but the message and exits with status 2. What it quotes is made `printable`.
    """

    def __init__(self, message: str, *others: object) -> None:
        super().__init__(printable(message), *others)


def printable(text: str) -> str:
    """Text of a file, safe to show: control characters, which a terminal would obey, are spelled out."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text
    )


class NoMinimumError(ValueError):
    """The chosen problem has no minimum: its objective falls without bound along some direction."""


class RuleCollapseWarning(UserWarning):
    """The rules of a fuzzy system do not differ from each other: it is a linear model in disguise."""


class NonConvexWarning(UserWarning):
    """The objective is not convex: what a solver returns is where it stopped, not a minimum."""


class DegenerateScoresWarning(UserWarning):
    """Most rows of a score matrix are tied throughout: ranking metrics say nothing about such a model."""


def optional(name: str, extra: str) -> types.ModuleType:
    """Import an optional module; if it is missing, the message of the ImportError is the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f'pip install "mltsk[{extra}]"') from None
