"""Numbers as people write them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table

DECIMAL_COMMAS = "decimal commas read as points; --decimal . to overrule"
PERCENT = "percent signs taken off: 5 % is 5"


def thousands(example, noun="commas", overrule="; --decimal , to overrule"):
    return f"{noun} between thousands taken out ({example}){overrule}"


@pytest.mark.parametrize(
    ("cells", "numbers", "notes"),
    [
        (["3,5", "12", "-0,25"], [3.5, 12, -0.25], [DECIMAL_COMMAS]),
        (["1.234,5", "1,234", "0,125"], [1234.5, 1.234, 0.125], [DECIMAL_COMMAS]),
        (["1.234", "2,5", "1.000,5"], [1234, 2.5, 1000.5], [DECIMAL_COMMAS]),
        (["1 234,5", "12", "2,5"], [1234.5, 12, 2.5], [DECIMAL_COMMAS]),
        (["1.234.567", "12"], [1234567, 12], [DECIMAL_COMMAS]),
        (
            ["1,234,567", "12", "1.5"],
            [1234567, 12, 1.5],
            [thousands("1,234,567 is 1234567")],
        ),
        (
            ["50,538", "950", "10,000"],
            [50538, 950, 10000],
            [thousands("50,538 is 50538")],
        ),
        (["1.5", "1,234", "1.7"], [1.5, 1234, 1.7], [thousands("1,234 is 1234")]),
        (
            ["50 538", "1\u00a0000", "7'000"],
            [50538, 1000, 7000],
            [thousands("50 538 is 50538", noun="spaces", overrule="")],
        ),
        (["5 %", "12.5%"], [5, 12.5], [PERCENT]),
        (
            ["12.5", "(3.5)", "7"],
            [12.5, -3.5, 7],
            ["brackets read as a minus: (3.5) is -3.5"],
        ),
        (["2.5-", "3", "x" * 0], [-2.5, 3, np.nan], []),
        (
            ["CHF 1'250.50", "CHF 3"],
            [1250.5, 3],
            [
                "currency CHF taken off (CHF 1'250.50 is a number)",
                thousands("1'250.50 is 1250.5", noun="apostrophes", overrule=""),
            ],
        ),
        (
            ["6.96 lbs", "7 lbs"],
            [6.96, 7],
            ["unit lbs taken off (6.96 lbs is a number)"],
        ),
        (
            ["120mmHg", "95 mmHg"],
            [120, 95],
            ["unit mmhg taken off (120mmHg is a number)"],
        ),
        (
            ["$1,250", "$3", "-$2.50"],
            [1250, 3, -2.5],
            ["currency $ taken off ($1,250 is a number)", thousands("1,250 is 1250")],
        ),
        (
            ["3 €", "2,5 €", "10 €"],
            [3, 2.5, 10],
            ["currency € taken off (3 € is a number)", DECIMAL_COMMAS],
        ),
        (
            ["0.7", "<0.5", "1.5", "> 200", "3"],
            [0.7, 0.5, 1.5, 200, 3],
            [
                "2 limits such as '<0.5' read as the number alone; "
                '--missing "<0.5" to overrule'
            ],
        ),
        (
            ["1.5", "unknown", "-", "2"],
            [1.5, np.nan, np.nan, 2],
            [
                "1 cell with 'unknown' counted as missing",
                "1 cell with '-' counted as missing",
            ],
        ),
        (
            ["1:64", "1:8", "1: 128"],
            [64, 8, 128],
            [
                "titers read as their second number (1: 128 is 128); "
                "--nominal to overrule"
            ],
        ),
        (["\u22121.5", "2"], [-1.5, 2], []),
        (["1e-3", "-.5", "+2"], [0.001, -0.5, 2], []),
        (
            ["1.234", "2.345", "3.456"],
            [1.234, 2.345, 3.456],
            [
                "points read as decimal points (1.234 is not 1234); "
                "--decimal , to overrule"
            ],
        ),
    ],
)
def test_numbers_of_reads_and_reports_notations(column, cells, numbers, notes):
    report, values = column(cells)
    assert report.kind == "number"
    assert_array_equal(values, numbers)
    assert list(report.notes) == notes


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["0.105", "0.1O5", "0.2", "0.3"], "row 2: '0.1O5'"),
        (["0.5", "1_0", "2"], "row 2: '1_0'"),
        (["0.5", "inf", "2"], "row 2: 'inf'"),
        # among decimal commas: thousands, or decimals after all?
        (["3,5", "4,5", "5.5"], "row 3: '5.5'"),
    ],
)
def test_numbers_of_refuses_a_cell_that_is_no_number_by_name(refusal, cells, first):
    sentence = refusal(pd.DataFrame({"it": cells}), number="it")
    assert sentence.startswith(f"Column 'it', {first} is not a number (")
    assert '--missing "' in sentence
    assert "call the column nominal" in sentence


@pytest.mark.parametrize(
    "cells",
    [
        ["5 %", "6", "7.5"],
        ["70 kg", "80", "90.5"],
        ["70 kg", "154 lbs", "90", "1.5", "2"],
    ],
)
def test_numbers_of_refuses_units_that_differ(refusal, cells):
    sentence = refusal(pd.DataFrame({"it": cells}), number="it")
    first = f"Column 'it', row 1: '{cells[0]}' is in another unit than other cells, or "
    assert sentence.startswith(first)
    assert sentence.endswith("or leave the column out (--drop).")


@pytest.mark.parametrize(
    ("cells", "numbers", "note"),
    [
        (
            ["8", "9", "10+", "<5", "7", "6"],
            [8, 9, 10, 5, 7, 6],
            "2 limits such as '10+' read as the number alone",
        ),
        (["5 EUR", "6 EUR"], [5, 6], "currency EUR taken off (5 EUR is a number)"),
    ],
)
def test_numbers_of_knows_open_ends_and_currencies_behind_numbers(
    column, cells, numbers, note
):
    summary, values = column(cells)
    assert values == numbers
    assert note in "; ".join(summary.notes)


def test_numbers_of_leaves_dip_sticks_with_a_plus_alone(column):
    assert column(["1+", "2+", "3+", "neg"] * 5)[0].kind == "nominal"


@pytest.mark.parametrize(
    "cells",
    [
        ["<=50K", ">50K", "<=50K"] * 5,  # limits alone are categories
        ["A1", "A2", "A12"] * 5,
        ["101A", "102A", "103A"] * 5,  # codes
        ["18-25", "26-40", "41-60"] * 5,
        ["Grade 1", "Grade 2"] * 8,
        ["1 child", "2 children", "3 children"] * 5,
    ],
)
def test_numbers_of_takes_no_categories_for_numbers(column, cells):
    assert column(cells)[0].kind == "nominal"


@pytest.mark.parametrize(
    "cells",
    [
        ["1,234"] * 60 + ["2,5"],  # one typo, or one notation?
        ["1,234", "5678", "12"] * 20,  # some thousands without a comma
    ],
)
def test_numbers_of_does_not_read_commas_that_can_mean_two_things(refusal, cells):
    sentence = refusal(pd.DataFrame({"it": cells}), number="it")
    assert "say what commas mean (--decimal , or --decimal .)" in sentence


def test_numbers_of_follows_the_decimal_sign_of_the_user():
    frame = pd.DataFrame({"it": ["1,234", "5678", "1.000"], "x": [1.5, 2, 2.5]})
    assert read_table(frame[:2], decimal=",").X["it"].tolist() == [1.234, 5678]
    assert read_table(frame, decimal=",").X["it"].tolist() == [1.234, 5678, 1000]
    assert read_table(frame, decimal=".").X["it"].tolist() == [1234, 5678, 1]
    # columns that are no text have no sign
    assert read_table(frame, decimal=",").X["x"].tolist() == [1.5, 2, 2.5]


def test_numbers_of_refuses_other_decimal_signs(refusal):
    sentence = refusal(pd.DataFrame({"it": [1.5, 2]}), decimal="'")
    assert sentence == 'The sign before decimals is a point or a comma, not "\'".'


def test_numbers_of_names_other_columns_with_such_cells_too(refusal):
    frame = pd.DataFrame(
        {"a": ["0.5", "x", "1"], "b": ["1", "2", "3"], "c": ["0.5", "1.5", "2,x"]}
    )
    sentence = refusal(frame)
    assert sentence.endswith("There is something to correct in 'c', too.")
