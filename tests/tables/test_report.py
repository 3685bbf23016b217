"""The column report in a terminal, in a notebook and as data."""

import pandas as pd

from mltsk import read_table
from mltsk.text import width_of

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


def report(**columns):
    return read_table(pd.DataFrame(columns)).columns


def test_column_report_fits_a_terminal():
    long = {
        f"a rather long name of a column, number {i}": [
            "a rather long word",
            "another long word",
        ]
        for i in range(3)
    }
    text = str(report(x=[1.5, 2], **long, when=["2020-01-01", "2020-01-02"]))
    assert max(map(len, text.splitlines())) <= 100
    assert "a rather long name of a c…" in text
    assert (
        text.splitlines()[0] == "data: 2 rows, 4 features, 0 labels, 1 column left out"
    )


def test_column_report_is_aligned_with_signs_that_are_two_columns_wide():
    text = str(report(年齢=[61.5, 48], 体重の測定値=[70.5, 81], hb=[1.5, 2]))
    rows = text.splitlines()[3:6]
    places = [width_of(row[: row.index("number")]) for row in rows]
    assert places == [places[0]] * 3
    wide = str(report(**{"年齢" * 30: ["病院" * 30, "内科" * 30]}, x=[1.5, 2]))
    assert max(map(width_of, wide.splitlines()[2:5])) <= 80


def test_column_report_wraps_the_name_of_a_file(tmp_path):
    path = tmp_path / f"{'export_of_the_clinic_' * 3}.csv"
    path.write_text("age,name\n61.5,ann\n48.2,bob\n")
    text = str(read_table(path, drop="name").columns)
    assert max(map(len, text.splitlines())) <= 80
    assert "1 column left out" in " ".join(text.split())


def test_column_report_gives_shares_of_missing_cells():
    text = str(
        report(
            a=[None, *range(2, 999)][::-1],
            b=[None, 1, 3] * 332 + [1, 2],
            c=[1.5, 2] * 499,
        )
    )
    assert "1 (<1%)" in text
    assert "332 (33%)" in text


def test_column_report_has_a_line_for_columns_with_the_same_note():
    text = str(report(x=[1.5, 2.5, 3.5] * 2, a=[1, 2, 3] * 2, b=[3, 2, 1] * 2))
    assert "a, b: few whole numbers" in text
    cells = {"x": ["NA", "2", "3.5"], "a": ["NA", "NA", "2.5"], "b": ["7", "?", "1.5"]}
    lines = str(report(**cells, c=["NA", "1.5", "2"])).splitlines()
    assert "x, a, c: cells with 'NA' counted as missing" in lines
    assert "b: 1 cell with '?' counted as missing" in lines


def test_column_report_prints_the_first_columns_of_a_wide_table():
    text = str(report(**{f"x{i}": [1.5, 2] for i in range(150)}))
    assert "… and 50 more columns" in text
    assert "x99 " in text
    assert "x100 " not in text


def test_column_report_shows_hostile_names_as_text():
    made = report(**{HOSTILE: [HOSTILE, "b"], "x": [1.5, 2]})
    assert "<img" not in made._repr_html_()
    assert "&lt;img" in made._repr_html_()
    assert "\x1b" not in str(made) + made._repr_html_()


def test_column_report_can_be_used_as_data():
    made = report(x=[1.5, 2, None], colour=["red", "blue", "red"])
    assert [column.name for column in made] == ["x", "colour"]
    assert (made[1].levels, len(made)) == (("blue", "red"), 2)
    assert [(column.kind, column.missing) for column in made] == [
        ("number", 1),
        ("nominal", 0),
    ]


def test_column_report_is_plain_for_numbers_and_labels_alone():
    frame = pd.DataFrame({"size": [1.5, 2, 0], "good": [1, None, 0]})
    assert read_table(frame, "good").columns.is_plain
    for words in (
        ["yes", "no", "no"],
        ["red", "blue", "red"],
        ["same"] * 3,
        ["1,5", "2,5", "3"],
    ):
        assert not read_table(frame.assign(more=words), "good").columns.is_plain
