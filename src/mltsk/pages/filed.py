"""What of a review is printed for the file: as much as two pages hold.

What is beyond a limit has class ``unfiled`` in the page, and a note that only this
paper has (class ``on-paper``) says how much that is. Names and sentences of any length
are cut by the style sheet, so that the limits hold whatever a table is called.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..text import plural
from .judged import JudgedLabel

# Labels with calibration and net benefit, and with what has changed elsewhere, if there
# are no more.
MAX_FILED_CURVES = 4
MAX_FILED_RULES = 6  # labels with their statements
MAX_FILED_LONG_RULES = 4  # of long names, which take lines everywhere
LONG_NAME = 35  # letters
MAX_FILED_ROWS = 12  # labels in the table of figures
MAX_FILED_EXCEPTIONS = 4
MAX_FILED_EDITS = 4
# Lines of statements from the head of the cards to their foot, two cards side by side;
# of a statement, the style sheet shows three.
LINES_OF_STATEMENTS = 27
MAX_LINES = 3
LETTERS_PER_LINE = 55


def best_predicted(labels: Sequence[JudgedLabel], at_most: int) -> NDArray[np.bool_]:
    """Mark the labels that are predicted best, by AUC; all if there are no more."""
    is_filed = np.zeros(len(labels), dtype=np.bool_)
    heights = [label.AUC[0] if label.is_known else 0.0 for label in labels]
    order = np.argsort(-np.array(heights), kind="stable")
    is_filed[order[:at_most]] = True
    return is_filed


def n_filed_rules(labels: Sequence[JudgedLabel]) -> int:
    """Of how many labels the statements are printed."""
    n_letters = np.median([len(label.name) for label in labels])
    return MAX_FILED_LONG_RULES if n_letters > LONG_NAME else MAX_FILED_RULES


def n_filed_statements(texts: Sequence[str], n_labels: int, warning: str = "") -> int:
    """How many statements of a label are printed: as many as have room.

    A warning above them takes some of it.

    >>> [n_filed_statements(["short"] * 20, n_labels) for n_labels in (1, 4, 7, 100)]
    [20, 13, 9, 9]
    >>> n_filed_statements(["long" * 50] * 20, n_labels=7)
    3
    """
    n_printed = min(max(n_labels, 1), MAX_FILED_RULES)
    room = LINES_OF_STATEMENTS // ceil(n_printed / 2)
    used, *lines = [
        min(ceil(len(text) / LETTERS_PER_LINE), MAX_LINES) for text in [warning, *texts]
    ]
    return int(np.searchsorted(np.cumsum(lines), room - used, side="right"))


def note_on_left_out(n_labels: int, at_most: int) -> str:
    """Say how many labels are not on paper, if there are any.

    >>> note_on_left_out(10, at_most=6)
    'On paper: the 6 labels that are predicted best. The page itself has 4 more labels.'
    """
    if n_labels <= at_most:
        return ""
    others = plural(n_labels - at_most, "more label")
    return (
        f"On paper: the {at_most} labels that are predicted best. The page itself has "
        f"{others}."
    )
