"""Rows among the data that are none: names again, totals, other tables, short rows."""

import pytest

from mltsk import read_table
from mltsk.tables.strays import data_rows

NAMES = ["ward", "age", "weight", "gout"]
DATA = [["east", "61", "70.5", "1"], ["west", "48", "81.0", "0"]] * 3


def lines(*rows):
    return "\n".join(",".join(row) for row in rows) + "\n"


def test_data_rows_leaves_empty_rows_and_repeated_names_out():
    notes = []
    rows = [DATA[0], ["", " ", "", ""], NAMES, ["ward ", "age", "", ""], DATA[1]]
    assert data_rows(NAMES, rows, notes) == DATA[:2]
    assert notes == [
        "1 empty row among the data left out",
        "2 rows with the names again left out",
    ]


@pytest.mark.parametrize("line", ["---", ":---:", "====="])
def test_read_table_leaves_lines_below_names_out(write, line):
    path = write(lines(NAMES, [line] * 4, *DATA))
    table = read_table(path, "gout")
    assert len(table.X) == len(DATA)
    assert table.columns.notes[0] == "1 row of dashes left out"


def test_data_rows_knows_names_behind_a_mark_and_leaves_their_title_out():
    notes = []
    title = ["Second page", "", "", ""]
    marked = ["\ufeffward", *NAMES[1:]]
    assert data_rows(NAMES, [*DATA, title, marked, *DATA], notes) == [*DATA, *DATA]
    assert notes == [
        "1 row with the names again and titles above them ('Second page') left out"
    ]


@pytest.mark.parametrize(
    "total", ["Subtotal", "East Total", "Zwischensumme:", "Total east", "小計"]
)
def test_read_table_leaves_totals_among_the_data_out(write, total):
    path = write(lines(NAMES, *DATA, [total, "", "454.5", "3"], *DATA))
    table = read_table(path, "gout")
    assert len(table.X) == 2 * len(DATA)
    assert (
        f"1 row with totals among the data left out ({total!r}); --skip-end 0 to "
        "overrule" in table.columns.notes
    )
    path = write(lines(NAMES, *DATA, [total, "", "454.5", ""], *DATA))
    assert len(read_table(path, "gout", skip_end=0).X) == 2 * len(DATA) + 1


def test_read_table_keeps_rows_that_are_called_total_and_are_full(write):
    rows = [["Total", "50", "75.0", "1"], *DATA]
    assert len(read_table(write(lines(NAMES, *rows)), "gout").X) == len(rows)


def test_read_table_leaves_another_table_below_out(write, refusal):
    other = [["ward", "beds", "rooms", ""], ["east", "12", "3", ""]]
    other += [["west", "14", "4", ""], ["north", "9", "2", ""]]
    path = write(lines(NAMES, *DATA, ["Beds", "", "", ""], *other))
    table = read_table(path, "gout")
    assert len(table.X) == len(DATA)
    assert (
        "5 rows below left out as another table ('Beds'); --skip-end 0 to overrule"
        in table.columns.notes
    )
    assert "'rooms' is not a number" in refusal(path, "gout", skip_end=0)
    narrow = write(lines(NAMES, *DATA, *(row[:3] for row in other)))
    assert len(read_table(narrow, "gout").X) == len(DATA)


def test_read_table_takes_no_row_of_words_for_another_table(write):
    row = ["east", "unknown", "#N/A", "0"]
    table = read_table(write(lines(NAMES, *DATA, row, *DATA)), "gout")
    assert len(table.X) == 2 * len(DATA) + 1


def test_read_table_fills_short_rows_and_says_so(write):
    short = [["east", "61", "70.5"], ["west", "48"]]
    table = read_table(write(lines(NAMES, *DATA, *short, *DATA)), "gout")
    assert table.Y["gout"].isna().sum() == 2
    assert table.X["weight"].isna().sum() == 1
    assert (
        "2 rows have fewer cells than there are names: blank at the end"
        in table.columns.notes
    )


@pytest.mark.parametrize(
    "rows",
    [
        [*DATA, ["east", "61"]],  # the file may be cut off
        [["61", "70.5", "1"], ["48", "81.0", "0"], *DATA],  # a cell at the start
        [["page 2"], ["page 3"], *DATA],
    ],
)
def test_read_table_refuses_short_rows_that_may_be_something_else(write, refusal, rows):
    sentence = refusal(write(lines(NAMES, *rows)), "gout")
    assert "for 4 columns; a cell without a value needs its delimiter" in sentence


def test_read_table_refuses_a_row_of_data_for_names(write, refusal):
    rows = [["east", "55", "72.5", "1"], ["west", "48", "61.5", "0"]]
    path = write(lines(*rows, *DATA))
    sentence = refusal(path, 1)
    assert "starts with a row of data ('east', '55', '72.5', …): write a" in sentence
    assert read_table(path, 1, header_rows=1).label_names == ("1",)


@pytest.mark.parametrize(
    "names",
    [
        ["ward", "2019", "2020", "2021"],  # years above other numbers
        ["place", "50", "75", "1"],
    ],
)
def test_read_table_takes_numbers_above_others_for_names(write, names):
    table = read_table(write(lines(names, *DATA)), 1)
    assert table.feature_names == tuple(names[:3])
