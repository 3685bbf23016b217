"""Which of very many labels a page shows, and what it says about it."""

from dataclasses import replace

import numpy as np
import pytest

from mltsk import MLTSKClassifier
from mltsk.pages.shown_labels import note_on_shown_labels, shown_labels


@pytest.fixture(scope="module")
def system():
    """A system of four labels, which 10, 40, 20 and 40 of 100 rows have."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    Y = np.arange(100)[:, None] < [10, 40, 20, 40]
    return MLTSKClassifier(n_rules=0).fit(X, Y.astype(int)).system_


def test_shown_labels_are_those_that_most_rows_have_in_their_order(system):
    assert shown_labels(system, 1).tolist() == [1]
    assert shown_labels(system, 3).tolist() == [1, 2, 3]
    assert shown_labels(system, 9).tolist() == [0, 1, 2, 3]


def test_shown_labels_are_the_first_where_no_rows_were_counted(system):
    uncounted = replace(system, members=None)
    assert shown_labels(uncounted, 2).tolist() == [0, 1]
    assert "this page shows the first 2. " in note_on_shown_labels(uncounted, 2)


def test_note_on_shown_labels_says_how_to_see_all(system):
    note = note_on_shown_labels(system, 3)
    assert note.startswith("Of 4 labels, this page shows the 3 that most rows have.")
    assert "--max-labels 4, or max_labels=4" in note
    assert note_on_shown_labels(system, 4) == ""
