"""Small parts of tables."""

import pytest

from mltsk.paper.experiments.table import Notes, TableCell, mark_of, mean_text, signed


def test_marks_go_on_after_the_alphabet_and_never_repeat():
    marks = [mark_of(i) for i in range(800)]
    assert len(set(marks)) == 800
    assert marks[25:28] == ["z", "aa", "ab"]
    assert marks[702] == "aaa"


def test_the_same_note_has_one_mark():
    notes = Notes()
    assert [notes.mark(text) for text in ("x", "y", "x")] == ["a", "b", "a"]
    assert notes == {"a": "x", "b": "y"}


@pytest.mark.parametrize(("value", "text"), [(-0.0004, "0.000"), (-0.0006, "−0.001"), (0.25, "+0.250"), (0.0, "0.000")])
def test_differences_have_a_sign_unless_they_vanish(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(("text", "difference"), [("0.82 (0.01)", "+2.00"), ("7", "+2"), ("0.5", "+2.0")])
def test_differences_have_as_many_decimals_as_the_value(text, difference):
    assert TableCell(text, difference=2).difference_text == difference


def test_a_single_fold_has_no_spread():
    assert mean_text(0.5, float("nan")) == "0.500"
    assert mean_text(0.5, 0.0) == "0.500 (0.000)"
