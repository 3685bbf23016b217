"""Where a table lies in its file: titles, names, data, totals."""

import pytest

from mltsk.exceptions import InputError
from mltsk.tables.layout import Layout, lay_out

NAMES = ["age", "weight", "ward", "gout"]
DATA = [["61", "70.5", "east", "1"], ["48", "81.0", "west", "0"]] * 3


def laid_out(*rows, **said):
    return lay_out([list(row) for row in rows], Layout(**said), "toy.csv")


def test_lay_out_changes_nothing_in_a_plain_table():
    table = laid_out(NAMES, *DATA)
    assert table.names == NAMES
    assert table.rows == DATA
    assert (table.first, table.notes) == (1, [])


@pytest.mark.parametrize(
    "titles",
    [
        [["Patients 2024"]],  # of a text file: a line without a delimiter
        [["Patients", "2024"], ["made", "in", "March"]],
        [["Patients 2024", "", "", ""]],
        [["Patients 2024", "", "", ""], ["", "", "", ""], ["by", "", "", ""]],
    ],
)
def test_lay_out_skips_titles_and_says_so(titles):
    table = laid_out(*titles, NAMES, *DATA)
    assert table.names == NAMES
    assert table.rows == DATA
    assert table.first == len(titles) + 1
    assert table.notes[0].startswith(
        f"{len(titles)} row{'s' * (len(titles) > 1)} above the names skipped ("
    )
    assert table.notes[0].endswith("--skip-rows 0 to overrule")


def test_lay_out_takes_no_names_for_a_title_where_rows_have_a_cell_more():
    rows = [["1", *row] for row in DATA]
    assert laid_out(NAMES, *rows).names == NAMES


def test_lay_out_skips_as_many_rows_as_it_is_told():
    said = {"skip_rows": 0, "header_rows": 1}
    kept = laid_out(["Patients", "", "", ""], NAMES, *DATA, **said)
    assert kept.names == ["Patients", "column 2", "column 3", "column 4"]
    skipped = laid_out(["a", "b", "c", "d"], NAMES, *DATA, skip_rows=1)
    assert (skipped.names, skipped.notes) == (NAMES, [])


def test_lay_out_leaves_columns_at_both_sides_out_that_hold_nothing():
    names, units, *data = NAMES, ["(years)", "(kg)", "", "[0/1]"], *DATA
    rows = [["", "", *row] for row in [names, units, *data]]
    table = laid_out(["Patients 2024", *[""] * 5], *rows)
    assert (table.names, table.rows) == (NAMES, DATA)
    assert "left out as units ('(years)', '(kg)', '[0/1]')" in table.notes[1]
    ended = [[*row, "", ""] for row in [NAMES, *DATA]]  # ;; at the end of each line
    assert laid_out(*ended)[:2] == (NAMES, DATA)
    numbered = [["", row[0], *row[1:]] for row in [names, units]]
    numbered += [[str(i), *row] for i, row in enumerate(data)]
    table = laid_out(*numbered)
    assert table.names == ["column 1", *NAMES]
    assert [row[1:] for row in table.rows] == DATA


def test_lay_out_leaves_units_below_the_names_out():
    units = ["years", "kg", "", "0/1"]
    table = laid_out(NAMES, units, *DATA)
    assert (table.names, table.rows) == (NAMES, DATA)
    assert table.notes == [
        "the row below the names left out as units ('years', 'kg', '0/1'); "
        "--header-rows 1 to overrule"
    ]
    assert laid_out(NAMES, units, *DATA, header_rows=1).rows == [units, *DATA]


def test_lay_out_joins_names_of_two_rows_where_it_must():
    upper = ["before", "", "after", ""]
    lower = ["mean", "sd", "mean", "sd"]
    numbers = [["1.5", "2", "3", "4"]] * 4
    table = laid_out(upper, lower, *numbers)
    assert table.names == ["before mean", "before sd", "after mean", "after sd"]
    assert "names are in two rows" in table.notes[0]
    table = laid_out(["body", "", "", ""], lower, *numbers)
    assert table.names == ["mean", "sd", "mean (2)", "sd (2)"]
    table = laid_out(["who", "body", "", "gout"], ["", "age", "weight", ""], *numbers)
    assert table.names == ["who", "age", "weight", "gout"]


@pytest.mark.parametrize(
    "first_row",
    [["NA", "NA", "east", "1"], ["61", "?", "east", "1"], ["unknown", "-", "west", ""]],
)
def test_lay_out_takes_no_row_of_gaps_for_units(first_row):
    assert laid_out(NAMES, first_row, *DATA).rows == [first_row, *DATA]


def test_lay_out_numbers_blank_names_and_those_that_are_there_twice():
    table = laid_out(["", "a", "a", "a (2)", "a", ""], ["1"] * 6)
    assert table.names == ["column 1", "a", "a (3)", "a (2)", "a (4)", "column 6"]
    assert len(set(table.names)) == 6
    assert "names that were blank or there twice" in table.notes[0]


@pytest.mark.parametrize(
    "end",
    [
        [["Total", "151.5", "", "1"]],
        [["Grand total", "151.5", "", "1"]],
        [["Mean:", "75", "", ""], ["SD", "7", "", ""]],
        [["", "", "", ""], ["Source: registry", "", "", ""]],
        [["Source of these rows: registry", "", "", ""]],
    ],
)
def test_lay_out_leaves_totals_and_remarks_at_the_end_out(end):
    table = laid_out(NAMES, *DATA, *end)
    assert table.rows == DATA
    assert table.notes[-1].endswith("--skip-end 0 to overrule")
    assert laid_out(NAMES, *DATA, *end, skip_end=0).rows == [*DATA, *end]
    n_filled = sum(any(row) for row in end)
    told = laid_out(NAMES, *DATA, *end, skip_end=n_filled)
    assert (told.rows, told.notes) == (DATA, [])


@pytest.mark.parametrize(
    "last",
    [
        ["77", "", "", ""],
        ["P031", "", "", ""],
        ["totally", "1", "west", "0"],
        ["Max", "5", "", "1"],
    ],
)
def test_lay_out_keeps_a_last_row_that_may_be_data(last):
    assert laid_out(NAMES, *DATA, last).rows == [*DATA, last]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"skip_rows": -1}, "cannot be -1"),
        ({"skip_rows": 7}, "toy.csv has 7 rows: none is left after skipping 7."),
        ({"header_rows": 4}, "in 1 to 3 rows, not in 4"),
    ],
)
def test_lay_out_refuses_numbers_of_rows_that_cannot_be(said, complaint):
    with pytest.raises(InputError) as refused:
        laid_out(NAMES, *DATA, **said)
    assert complaint in str(refused.value)


def test_lay_out_refuses_a_table_without_names():
    with pytest.raises(InputError, match="starts with numbers"):
        laid_out(["1", "2"], ["3", "4"])


def test_lay_out_takes_groups_names_and_units_from_three_rows():
    groups = ["Body", "", "Place", "Diagnoses"]
    units = ["years", "kg", "", "0/1"]
    table = laid_out(groups, NAMES, units, *DATA)
    assert (table.names, table.rows, table.first) == (NAMES, DATA, 3)
    assert "names are in two rows" in table.notes[0]
    assert "left out as units ('years', 'kg', '0/1')" in table.notes[1]


def test_lay_out_takes_names_of_rows_as_r_writes_them():
    for row_names in (["1", "2", "5", "7", "9", "12"], ["a", "b", "c", "d", "e", "f"]):
        rows = [[name, *row] for name, row in zip(row_names, DATA, strict=True)]
        table = laid_out(NAMES, *rows)
        assert table.names == ["column 1", *NAMES]
        assert table.rows == rows
        assert "the first names the row" in table.notes[0]


@pytest.mark.parametrize(
    "first_cells",
    [
        ["79", "52", "42", "61", "58", "70"],  # 79,5 without quotes
        ["1", "1", "2", "2", "3", "3"],
        ["1.5", "2.5", "3.5", "4.5", "5.5", "6.5"],
    ],
)
def test_lay_out_takes_no_halves_of_numbers_for_names_of_rows(first_cells):
    rows = [[cell, *row] for cell, row in zip(first_cells, DATA, strict=True)]
    assert laid_out(NAMES, *rows).names == NAMES


def test_lay_out_leaves_questions_and_keys_of_a_survey_out():
    names = ["Q1", "Q2", "Q3", "Q4"]
    questions = ["How old?", "How heavy?", "Where?", "Gout?"]
    keys = [f'{{"ImportId":"QID{i}"}}' for i in range(4)]
    table = laid_out(names, questions, keys, *DATA)
    assert (table.names, table.rows) == (names, DATA)
    assert table.notes == [
        "2 rows below the names left out as questions and keys of a survey "
        "('How old?', '{\"ImportId\":\"QID0\"}'); --header-rows 1 to overrule"
    ]
    assert len(laid_out(names, questions, keys, *DATA, header_rows=1).rows) == 8


def test_lay_out_puts_answers_of_a_survey_below_their_question():
    questions = ["How old?", "How heavy?", "What do you have?", "", "Where?"]
    answers = ["Open-Ended Response", "Open-Ended Response", "Gout", "Asthma", ""]
    rows = [["61", "70.5", "Gout", "", "east"], ["48", "81.0", "", "Asthma", "west"]]
    table = laid_out(questions, answers, *rows * 3)
    assert table.names == [
        "How old? Open-Ended Response",
        "How heavy? Open-Ended Response",
        "Gout",
        "Asthma",
        "Where?",
    ]
    assert table.rows == rows * 3


def test_lay_out_keeps_a_first_row_that_fills_a_gap_among_the_names():
    names = ["age", "weight", "", "gout"]
    table = laid_out(names, *DATA)
    assert table.names == ["age", "weight", "column 3", "gout"]
    assert len(table.rows) == 6


def test_lay_out_takes_signs_that_nobody_sees_out_of_names():
    assert laid_out(["\ufeffage", "we\u200bight", "ward", "gout"], *DATA).names == NAMES


@pytest.mark.parametrize("remark", ["Fuente: INE", "Source: ward", "* on insulin"])
def test_lay_out_leaves_short_remarks_at_the_end_out(remark):
    end = [["Total", "", "", "9"], [remark, "", "", ""]]
    table = laid_out(NAMES, *DATA, *end)
    assert table.rows == DATA
    assert table.notes[0].startswith("2 rows at the end left out as totals or remarks")


def test_lay_out_names_blank_rows_above_the_names():
    table = laid_out(["", "", "", ""], ["", "", "", ""], NAMES, *DATA)
    assert table.names == NAMES
    assert table.notes == [
        "2 blank rows above the names skipped; --skip-rows 0 to overrule"
    ]
