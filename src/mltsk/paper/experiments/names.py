"""What names of data sets and keys of methods look like.

They come from definitions and from stores that strangers have written, and end up in
tables, pages, messages and shells.
"""

import re
from collections.abc import Callable
from typing import Annotated

from ...text import quoted

try:
    from pydantic import AfterValidator
except ImportError as error:  # pragma: no cover
    raise ImportError('pip install "mltsk[data,report]"') from error

MAX_NAME_LENGTH = 255
MAX_TITLE_LENGTH = 500
_DATASET_NAME = re.compile(r"[^/\\\s]+")
_METHOD_KEY = re.compile(r"[\w.+-]+")


def is_dataset_name(text: str) -> bool:
    """Whether a text may name a data set: one printable word that is no path.

    >>> is_dataset_name("yeast"), is_dataset_name("=1+1"), is_dataset_name("x/../y")
    (True, True, False)
    """
    return _is_word(text) and _DATASET_NAME.fullmatch(text) is not None


def is_method_key(text: str) -> bool:
    """Whether a text may be the key of a method: letters, digits, and ``. + - _``.

    >>> is_method_key("ml-tsk-fs"), is_method_key("<b>")
    (True, False)
    """
    return _is_word(text) and _METHOD_KEY.fullmatch(text) is not None


def dataset_name(text: str) -> str:
    """The nearest text that `is_dataset_name`, for a file that is called so.

    >>> dataset_name("my data")
    'my_data'
    """
    letters = [letter if is_dataset_name(f"a{letter}") else "_" for letter in text]
    return "".join(letters)[:MAX_NAME_LENGTH]


def _is_word(text: str) -> bool:
    """Whether a text is short and printable, and not made of dots alone."""
    is_short = len(text) <= MAX_NAME_LENGTH
    return is_short and text.isprintable() and text.strip(".") != ""


def _checked(is_right: Callable[[str], bool], rule: str) -> AfterValidator:
    """A validator of pydantic from a question about texts."""

    def check(text: str) -> str:
        if not is_right(text):
            raise ValueError(f"{quoted(text)} is not {rule}")
        return text

    return AfterValidator(check)


DatasetName = Annotated[
    str, _checked(is_dataset_name, "one printable word without slashes")
]
MethodKey = Annotated[
    str, _checked(is_method_key, "a word of letters, digits and . + - _")
]
