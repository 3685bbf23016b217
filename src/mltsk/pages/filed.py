"""What of a review is printed for the file: as much as two pages hold.

What is beyond a limit has class ``unfiled`` in the page, and a note that only this
paper has (class ``on-paper``) says how much that is. Names and sentences of any length
are cut by the style sheet, so that the limits hold whatever a table is called.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..text import plural
from .judged import JudgedLabel

MAX_FILED_CURVES = 4  # labels with calibration and net benefit, if there are no more
MAX_FILED_RULES = 6  # labels with their statements
MAX_FILED_ROWS = 12  # labels in the table of figures
MAX_FILED_EXCEPTIONS = 4
MAX_FILED_EDITS = 4
STATEMENTS_IN_ALL = 30
STATEMENTS_NEXT_TO_CURVES = 24
MAX_FILED_STATEMENTS = 12  # per label


def best_predicted(labels: Sequence[JudgedLabel], at_most: int) -> NDArray[np.bool_]:
    """Mark the labels that are predicted best, by AUC; all if there are no more."""
    is_filed = np.zeros(len(labels), dtype=np.bool_)
    heights = [label.AUC[0] if label.is_known else 0.0 for label in labels]
    order = np.argsort(-np.array(heights), kind="stable")
    is_filed[order[:at_most]] = True
    return is_filed


def n_filed_statements(n_labels: int) -> int:
    """How many statements of each label are printed.

    >>> [n_filed_statements(n_labels) for n_labels in (1, 4, 7, 100)]
    [12, 6, 5, 5]
    """
    n_printed = min(max(n_labels, 1), MAX_FILED_RULES)
    in_all = STATEMENTS_IN_ALL
    if n_labels <= MAX_FILED_CURVES:
        in_all = STATEMENTS_NEXT_TO_CURVES
    return min(in_all // n_printed, MAX_FILED_STATEMENTS)


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
