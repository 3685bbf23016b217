"""Numbers as people write them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table

DECIMAL_COMMAS = "decimal commas read as points; --decimal . to overrule"
PERCENT = "percent signs taken off: 5 % is 5; --nominal to overrule"


def thousands(example, noun="commas", overrule="; --decimal , to overrule"):
    return f"{noun} between thousands taken out ({example}){overrule}"


@pytest.mark.parametrize(
    ("cells", "numbers", "notes"),
    [
        (["3,5", "12", "-0,25"], [3.5, 12, -0.25], [DECIMAL_COMMAS]),
        (["1.234,5", "1,234", "0,125"], [1234.5, 1.234, 0.125], [DECIMAL_COMMAS]),
        (["1.234", "2,5", "1.000,5"], [1234, 2.5, 1000.5], [DECIMAL_COMMAS]),
        (["1 234,5", "12", "2,5"], [1234.5, 12, 2.5], [DECIMAL_COMMAS]),
        (
            ["1.234.567", "12"],
            [1234567, 12],
            [
                thousands(
                    "1.234.567 is 1234567",
                    noun="points",
                    overrule="; --decimal . to overrule",
                )
            ],
        ),
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
            [
                thousands(
                    "50 538 is 50538", noun="spaces", overrule="; --nominal to overrule"
                )
            ],
        ),
        (["5 %", "12.5%"], [5, 12.5], [PERCENT]),
        (
            ["12.5", "(3.5)", "7"],
            [12.5, -3.5, 7],
            ["brackets read as a minus: (3.5) is -3.5; --nominal to overrule"],
        ),
        (["2.5-", "3", "x" * 0], [-2.5, 3, np.nan], []),
        (
            ["CHF 1'250.50", "CHF 3"],
            [1250.5, 3],
            [
                "currency CHF taken off (CHF 1'250.50 is a number); "
                "--nominal to overrule",
                thousands(
                    "1'250.50 is 1250.5",
                    noun="apostrophes",
                    overrule="; --nominal to overrule",
                ),
            ],
        ),
        (
            ["6.96 lbs", "7 lbs"],
            [6.96, 7],
            ["unit lbs taken off (6.96 lbs is a number); --nominal to overrule"],
        ),
        (
            ["120mmHg", "95 mmHg"],
            [120, 95],
            ["unit mmHg taken off (120mmHg is a number); --nominal to overrule"],
        ),
        (
            ["$1,250", "$3", "-$2.50"],
            [1250, 3, -2.5],
            [
                "currency $ taken off ($1,250 is a number); --nominal to overrule",
                thousands("1,250 is 1250"),
            ],
        ),
        (
            ["3 €", "2,5 €", "10 €"],
            [3, 2.5, 10],
            [
                "currency € taken off (3 € is a number); --nominal to overrule",
                DECIMAL_COMMAS,
            ],
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
        (
            ["7/10", "7,5 / 10", "0/10"],
            [7, 7.5, 0],
            [
                "numbers out of 10 (7/10 is 7); --nominal to overrule",
                DECIMAL_COMMAS,
            ],
        ),
        (
            ["5.1", "6.25 (repeated)", "4.5", "7"],
            [5.1, 6.25, 4.5, 7],
            [
                "remarks behind numbers left out (6.25 (repeated) is 6.25); "
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
        (
            ["5 EUR", "6 EUR"],
            [5, 6],
            "currency EUR taken off (5 EUR is a number); --nominal to overrule",
        ),
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


GERMAN = ["79,5", "52,2", "42,3"]


@pytest.mark.parametrize(
    ("cells", "numbers", "note"),
    [
        (["1.684", "950", "12.300"], [1684, 950, 12300], "points between thousands"),
        (["1,684", "1,950", "2,024"], [1.684, 1.95, 2.024], "decimal commas"),
        # what can mean one thing alone is read so, whatever other columns hold
        (["1.5", "2.25", "3.125"], [1.5, 2.25, 3.125], ""),
        (["0.684", "1.250", "2.500"], [0.684, 1.25, 2.5], ""),
        (["1,234.5", "1,000", "2"], [1234.5, 1000, 2], "commas between thousands"),
    ],
)
def test_numbers_of_asks_other_columns_what_signs_mean(cells, numbers, note):
    table = read_table(pd.DataFrame({"age": GERMAN, "it": cells}))
    assert table.X["it"].tolist() == numbers
    notes = "; ".join(table.columns[1].notes)
    assert note in notes if note else not notes


def test_numbers_of_asks_columns_with_points_in_the_same_way():
    frame = pd.DataFrame({"age": ["79.5", "52.2"], "it": ["1,684", "1,950"]})
    assert read_table(frame).X["it"].tolist() == [1684, 1950]
    frame["other"] = ["2,5", "3,5"]  # one column each: nothing is usual
    assert read_table(frame).X["it"].tolist() == [1684, 1950]


@pytest.mark.parametrize(
    ("cells", "numbers", "note"),
    [
        (["4,78,876", "12,34,567", "950"], [478876, 1234567, 950], "4,78,876 is"),
        (["R$ 622,54", "R$ 1.864,27"], [622.54, 1864.27], "currency R$ taken off"),
        (["R$622,5", "R$3,5"], [622.5, 3.5], "currency R$ taken off"),
        (["12 zł", "13,5 zł"], [12, 13.5], "currency zł taken off"),
        (["%7", "%12"], [7, 12], "percent signs taken off"),
        (["79y", "52y"], [79, 52], "unit y taken off (79y is a number)"),
        (["1.62m", "1.75m"], [1.62, 1.75], "unit m taken off"),
        (["1 week", "3 weeks", "4 weeks"], [1, 3, 4], "unit weeks taken off"),
        (["5.4/nl", "6.1/nl"], [5.4, 6.1], "unit /nl taken off"),
        (["6.8 H", "7.1", "1.2 L"], [6.8, 7.1, 1.2], "signs behind numbers left out"),
        (["47.9 (H)", "5"], [47.9, 5], "(47.9 (H) is 47.9); --nominal to overrule"),
        (["79*", "52*"], [79, 52], "(52* is 52)"),
        (["5 h", "6 h"], [5, 6], "unit h taken off"),
        (["~5", "6"], [5, 6], "words before numbers left out (~5 is 5)"),
        (["ca. 5", "ca. 7"], [5, 7], "(ca. 5 is 5)"),
        (["6.5 x 10^3", "7.25 × 10³"], [6500, 7250], "(6.5 x 10^3 is 6.5e3)"),
        (["'79", "'52"], [79, 52], "('52 is 52)"),
        (['="12.5"', '="3"'], [12.5, 3], "2 cells written as formulas of text"),
        (["６．５", "７"], [6.5, 7], ""),
        (["81歳", "52歳"], [81, 52], "unit 歳 taken off (81歳 is a number)"),
        (["81 yrs", "1 year", "52 years"], [81, 1, 52], "unit yrs taken off"),
        (["below 0.5", "0.7", "1.5"], [0.5, 0.7, 1.5], '--missing "below 0.5"'),
        (["0,7", "poniżej 0,5", "1,5"], [0.7, 0.5, 1.5], "limit such as 'poniżej 0,5'"),
        (["2", "more than 90", "7"], [2, 90, 7], "limit such as 'more than 90'"),
        (["2", "5 or more", "3"], [2, 5, 3], "limit such as '5 or more'"),
        (
            ["4 or less hours", "5 hours", "6 hours", "7 hours"],
            [4, 5, 6, 7],
            "limit such as '4 or less hours'",
        ),
        (["6'2\"", "5' 11”", "5'"], [74, 71, 60], "(6'2\" is 74); --nominal"),
        (["6 ft 2 in", "5ft"], [74, 60], "feet and inches read as inches"),
        (["٧٩٫٥", "٥٢"], [79.5, 52], ""),
        (["6.8K", "1.25M", "950"], [6800, 1.25e6, 950], "(6.8K is 6800); --nominal"),
        (["3", "\\N", "4.5"], [3, np.nan, 4.5], "with '\\\\N' counted as missing"),
        (['60"', "61”"], [60, 61], 'unit " taken off (60" is a number)'),
        (["150#", "98 lbs"], [150, 98], "unit # taken off"),
        (['"44.3"', '"7"'], [44.3, 7], "quotation marks around all cells taken off"),
        (
            ["1 - never", "2", "3", "4 = always"],
            [1, 2, 3, 4],
            "words behind numbers left out (1 - never is 1); --nominal",
        ),
        (["2", "#WERT!", "3"], [2, np.nan, 3], "1 cell with '#WERT!' counted"),
    ],
)
def test_numbers_of_reads_what_laboratories_and_shops_write(
    column, cells, numbers, note
):
    report, values = column(cells)
    assert report.kind == "number"
    assert_array_equal(values, numbers)
    assert note in "; ".join(report.notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["5y", "6", "7y"] * 5,  # a letter behind some numbers is part of a code
        ["101m", "102g", "103m"] * 5,
    ],
)
def test_numbers_of_takes_letters_behind_some_numbers_for_codes(column, cells):
    assert column(cells)[0].kind == "nominal"


@pytest.mark.parametrize(
    "cells",
    [
        ["1 - never", "2 - often", "3 - always"] * 5,  # all steps have words
        ["1 - never", "1", "2"] * 5,  # one step is written in two ways
        ["6'2\"", "5'12\"", "5'"] * 5,  # there are no twelve inches
        ["81歳", "52", "61歳"] * 5,
        ["12B", "14K", "9M"] * 5,
    ],
)
def test_numbers_of_leaves_words_alone_that_are_no_numbers(column, cells):
    assert column(cells)[0].kind == "nominal"


def test_numbers_of_knows_what_a_comma_is_from_other_columns():
    commas = [f"{i % 9 + 1},{100 + i}" for i in range(60)]
    frame = pd.DataFrame({"age": ["79,5", "52,2"] * 31, "it": [*commas, "0,523", "3"]})
    assert read_table(frame).X["it"].tolist()[:2] == [1.1, 2.101]


def test_numbers_of_names_units_that_differ_where_a_column_is_left_out(column):
    cells = [f"{60 + i} kg" for i in range(20)] + [f"{130 + i} lbs" for i in range(10)]
    report, _ = column(cells)
    assert report.kind == "text"
    assert "left out: numbers in different units (kg and lbs)" in report.notes[0]
    cells = [f"{i}.5 %" for i in range(20)] + [f"0.{100 + i}" for i in range(15)]
    report, _ = column(cells)
    assert "left out: numbers in different units (% and none)" in report.notes[0]
