"""Cells: what is missing, what is a number, and in which notation."""

import numpy as np
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


@pytest.mark.parametrize(
    ("cells", "numbers", "note"),
    [
        (["3,5", "12", "-0,25"], [3.5, 12, -0.25], "decimal commas read as points"),
        (
            ["1.234,5", "1,234", "0,125"],
            [1234.5, 1.234, 0.125],
            "decimal commas read as points",
        ),
        (
            ["1,234,567", "12", "1.5"],
            [1234567, 12, 1.5],
            "commas between thousands taken out",
        ),
        (["5 %", "12.5%"], [5, 12.5], "percent signs taken off: 5 % is 5"),
        ([" 1.5", "2"], [1.5, 2], "spaces at the ends of 1 cell taken off"),
        (["1e-3", "-.5", "+2"], [0.001, -0.5, 2], None),
    ],
)
def test_numbers_of_reads_and_reports_notations(column, cells, numbers, note):
    report, values = column(cells)
    assert values == numbers
    assert report.notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["0.105", "0.1O5", "0.2", "0.3"], "row 2: '0.1O5'"),
        (["1.5", "2.5", "<4.0", "3"], "row 3: '<4.0'"),
        (["0.5", "1_0", "2"], "row 2: '1_0'"),
        (["0.5", "inf", "2"], "row 2: 'inf'"),
        (
            ["3,5", "4,5", "5.5"],
            "row 3: '5.5'",
        ),  # among decimal commas: thousands, or decimals after all?
        (["5 %", "6", "7.5"], "row 1: '5 %'"),
    ],
)
def test_numbers_of_refuses_a_cell_that_is_no_number_by_name(
    frame, refusal, cells, first
):
    said = refusal(frame(it=cells))
    assert said.startswith(
        f"Column 'it', {first} is not a number (1 such cell): correct the file, "
    )
    assert 'missing="' in said
    assert "call the column nominal" in said


@pytest.fixture
def frame():
    import pandas as pd

    return lambda **columns: pd.DataFrame(columns)


def test_numbers_of_does_not_read_commas_that_can_mean_two_things(frame, refusal):
    ambiguous = ["1,234", "2,345", "12"] * 20
    assert "is not a number (40 such cells: '1,234', '2,345')" in refusal(
        frame(it=ambiguous), number="it"
    )
    assert "(61 such cells: '1,234', '2,5')" in refusal(
        frame(it=["1,234"] * 60 + ["2,5"]), number="it"
    )
    assert "row 2: '1,234' is not a number (1 such cell)" in refusal(
        frame(it=["1.5", "1,234", "1.7"])
    )


def test_numbers_of_names_other_columns_with_such_cells_too(frame, refusal):
    said = refusal(
        frame(a=["0.5", "x", "1"], b=["1", "2", "3"], c=["0.5", "1.5", "2,x"])
    )
    assert said.endswith("There is something to correct in 'c', too.")


def test_texts_of_refuses_cells_that_hold_lists_or_bytes(frame, refusal):
    assert refusal(frame(it=[["a"], ["b", "c"]], x=[1, 2])).startswith(
        "Column 'it' holds lists; "
    )
    assert "cells of type bytes" in refusal(frame(it=[b"a", b"b"], x=[1, 2]))
