"""Where a table lies in its file: titles, names, data, totals."""

import pytest

from mltsk.exceptions import InputError
from mltsk.tables.layout import Layout, data_rows, lay_out

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
    assert laid_out(NAMES, *DATA, *end, skip_end=len(end)).notes == []


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


def test_data_rows_leaves_empty_rows_and_repeated_names_out():
    notes = []
    rows = [DATA[0], ["", " ", "", ""], NAMES, ["age ", "weight", "", ""], DATA[1]]
    assert data_rows(NAMES, rows, notes) == DATA[:2]
    assert notes == [
        "1 empty row among the data left out",
        "2 rows with the names again left out",
    ]
