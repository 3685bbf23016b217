"""Cells as text: which are missing, and which cannot be read."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal


@pytest.mark.parametrize("hole", ["", "?", "NA", "n/a", "NaN", "null", "  ", "#N/A"])
def test_texts_of_finds_missing_cells_of_numbers_and_of_words(column, hole):
    report, values = column(["1.5", hole, "2"])
    assert_array_equal(values, [1.5, np.nan, 2])
    assert report.missing == 1
    report, values = column(["red", "blue", hole])
    assert (report.missing, report.levels) == (1, ("blue", "red"))


def test_texts_of_reports_words_for_missing_cells_and_takes_more(column):
    report, values = column(
        ["NA", "<4.0", "5.5", "6.0", "7.25", "-999.0"], missing="<4.0,-999"
    )
    assert_array_equal(values, [np.nan, np.nan, 5.5, 6, 7.25, np.nan])
    assert report.notes == tuple(
        f"1 cell with '{word}' counted as missing" for word in ("NA", "<4.0", "-999.0")
    )
    report, values = column([1.5, -999, 2], missing=["-999"])
    assert_array_equal(values, [1.5, np.nan, 2])
    assert report.notes == ("1 cell counted as missing, as asked",)


def test_texts_of_takes_quotation_marks_off_where_all_cells_have_them(column):
    report, values = column(["'a'", "'b'", "'a'"] * 4)
    assert values[:2] == ["a", "b"]
    assert report.notes[0] == "quotation marks around all cells taken off"
    assert column(["'a'", "b", "'a'"] * 4)[1][0] == "'a'"


def test_texts_of_takes_spaces_off(column):
    report, values = column([" 1.5", "2"])
    assert values == [1.5, 2]
    assert report.notes == ("spaces at the ends of 1 cell taken off",)


def test_texts_of_refuses_cells_that_hold_lists_or_bytes(refusal):
    lists = pd.DataFrame({"it": [["a"], ["b", "c"]], "x": [1, 2]})
    assert refusal(lists).startswith("Column 'it' holds lists; ")
    octets = pd.DataFrame({"it": [b"a", b"b"], "x": [1, 2]})
    assert "cells of type bytes" in refusal(octets)
