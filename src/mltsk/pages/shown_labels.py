"""Which labels a page shows where there are very many, and what it says about it."""

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..system import FuzzySystem

# Of 1,000 labels with 20 features, a review of 500 labels had 29 MB, of 120 it has 9.
MAX_REVIEWED_LABELS = 120


def check_max_labels(max_labels: int) -> None:
    """Refuse a page without labels."""
    if max_labels < 1:
        raise InputError(f"max_labels must be at least 1, got {max_labels}.")


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


def note_on_shown_labels(system: FuzzySystem, n_shown: int) -> str:
    """Say how many labels a page shows and how to see the others, if there are any."""
    n_labels = len(system.label_names)
    if n_shown == n_labels:
        return ""
    which = f"the {n_shown:,} that most rows have"
    if system.members is None:
        which = f"the first {n_shown:,}"
    return (
        f"Of {n_labels:,} labels, this page shows {which}. All are shown with "
        f"--max-labels {n_labels}, or max_labels={n_labels} in Python."
    )
