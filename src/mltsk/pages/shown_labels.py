"""Which labels a page shows where there are very many, and what it says about it."""

import numpy as np
from numpy.typing import NDArray

from ..system import FuzzySystem


def shown_labels(system: FuzzySystem, at_most: int) -> NDArray[np.intp]:
    """Return the numbers of the labels that a page shows, in their own order.

    They are those that most rows have; the first ones where no rows were counted.
    """
    every = np.arange(len(system.label_names))
    if len(every) <= at_most or system.members is None:
        return every[:at_most]
    n_cases = system.members.positives[-1]
    most_first = np.argsort(-n_cases, kind="stable")
    return np.sort(most_first[:at_most])


def note_on_shown_labels(n_shown: int, n_labels: int) -> str:
    """Say how many labels a page shows and how to see the others, if there are any.

    >>> note_on_shown_labels(500, 1200)[:70]
    'Of 1,200 labels, this page shows the 500 that most rows have. All are '
    >>> note_on_shown_labels(5, 5)
    ''
    """
    if n_shown == n_labels:
        return ""
    return (
        f"Of {n_labels:,} labels, this page shows the {n_shown:,} that most rows have. "
        f"All are shown with --max-labels {n_labels}, or max_labels={n_labels} in "
        "Python."
    )
