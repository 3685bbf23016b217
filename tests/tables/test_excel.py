"""Workbooks: what comes out of the process that reads them."""

import zipfile
from datetime import date, datetime, time, timedelta

import pytest

from mltsk import read_table
from mltsk.exceptions import InputError
from mltsk.tables.excel import read_workbook

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def path(tmp_path):
    """Where a workbook is written."""
    return tmp_path / "book.xlsx"


def test_read_workbook_gives_every_type_of_cell_as_it_is(path):
    book = openpyxl.Workbook()
    cells = [
        1,
        2.5,
        -1e-300,
        True,
        "ü, \U0001f4a9 and\na line",
        datetime(2024, 2, 29, 13, 30, 1),
        time(13, 30),
        timedelta(days=2, seconds=7),
    ]
    book.active.append(cells)
    book.active["J1"] = "=1/0"
    book.save(path)
    sheets, sheet, rows, *_ = read_workbook(path)
    assert (sheets, sheet) == (["Sheet"], "Sheet")
    assert rows[0][: len(cells)] == cells
    types = [type(cell) for cell in rows[0][: len(cells)]]
    assert types == [type(cell) for cell in cells]
    assert rows[0][len(cells) :] == ["", ""]  # a formula without a value is blank


def test_read_workbook_gives_days_as_dates(path):
    book = openpyxl.Workbook(iso_dates=True)
    book.active.append([date(2024, 2, 29)])
    book.save(path)
    rows = read_workbook(path).rows
    assert rows[0][0] in (date(2024, 2, 29), datetime(2024, 2, 29))


def test_read_workbook_holds_a_text_that_is_there_often_once(path):
    book = openpyxl.Workbook()
    for _ in range(2):
        book.active.append(["the same long text"])
    book.save(path)
    rows = read_workbook(path).rows
    assert rows[0][0] is rows[1][0]


def test_read_workbook_refuses_a_sheet_that_becomes_too_large(path, monkeypatch):
    book = openpyxl.Workbook()
    for i in range(2000):
        book.active.append([i] * 100)
    book.save(path)
    monkeypatch.setenv("MLTSK_MEMORY", "16M")
    with pytest.raises(InputError, match=r"book\.xlsx would take more than 16 MiB"):
        read_workbook(path)


def test_read_workbook_refuses_a_row_far_below_all_others(path):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    far = sheet.replace(b'<row r="1"', b'<row r="99999999999"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {"xl/worksheets/sheet1.xml": far}).items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match="it has more than 1,048,576 rows"):
        read_workbook(path)


def test_read_workbook_refuses_parts_that_are_too_large_unread(path, monkeypatch):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(4 << 20))
    monkeypatch.setenv("MLTSK_MEMORY", "8M")
    with pytest.raises(InputError, match=r"book\.xlsx would take more than 8 MiB"):
        read_workbook(path)


def test_read_workbook_says_what_is_wrong_with_a_file(path):
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="is no Excel file but text"):
        read_workbook(path)


@pytest.fixture
def book(path):
    """A workbook with remarks, a hidden sheet and two tables."""
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["These are our patients."])
    hidden = book.create_sheet("hidden")
    hidden.sheet_state = "hidden"
    for title in ("patients", "more"):
        book.create_sheet(title)
    for title in ("hidden", "patients", "more"):
        for row in (["name", title], ["a", 1], ["b", 2]):
            book[title].append(row)
    book.save(path)
    return path


def test_read_workbook_takes_the_first_sheet_with_a_table(book):
    found = read_workbook(book)
    assert found.sheets == ["Read me", "hidden", "patients", "more"]
    assert found.sheet == "patients"
    assert found.rows[0] == ["name", "patients"]


def test_read_table_names_the_sheet_that_has_no_such_column(book):
    with pytest.raises(InputError) as refused:
        read_table(book, "more")
    sentence = "book (sheet 'patients') has no column 'more' (it has 2 columns)."
    assert str(refused.value) == sentence


@pytest.mark.parametrize("sheet", ["more", 4, "4"])
def test_read_workbook_takes_the_sheet_that_is_wanted(book, sheet):
    assert read_workbook(book, sheet).rows[0] == ["name", "more"]


@pytest.mark.parametrize(
    ("sheet", "hint"),
    [("mor", "did you mean 'more'?"), (9, "it has 'Read me', 'hidden'")],
)
def test_read_workbook_refuses_a_sheet_that_is_not_there(book, sheet, hint):
    with pytest.raises(InputError) as refused:
        read_workbook(book, sheet)
    assert f"has no sheet {str(sheet)!r}: {hint}" in str(refused.value)


def test_read_workbook_fills_cells_that_are_merged_downwards(path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Wards", None, None],
        ["place", None, "gout"],
        ["ward", "age", None],
        ["north", 61, 1],
        [None, 48, 0],
        ["south", 55, 1],
        [None, None, 0],
    ):
        sheet.append(row)
    for cells in ("A1:C1", "A2:B2", "C2:C3", "A4:A5", "A6:A7", "B6:B7"):
        sheet.merge_cells(cells)
    book.save(path)
    rows = read_workbook(path).rows
    assert rows[3:5] == [["north", 61, 1], ["north", 48, 0]]
    assert rows[5:] == [["south", 55, 1], ["south", 55, 0]]
    assert rows[2][:2] == ["ward", "age"]  # names stay as they are
    assert read_workbook(path).n_filled == 3
    notes = " ".join(read_table(path, "gout").columns.notes)
    assert "3 cells of merged ones filled with what stands in the first" in notes


def test_read_workbook_leaves_blank_cells_beside_merged_ones(path):
    book = openpyxl.Workbook()
    for row in (["ward", "age"], ["north", 61], [None, 48], ["south", None]):
        book.active.append(row)
    book.active.merge_cells("A1:A2")  # a name, not data
    book.save(path)
    workbook = read_workbook(path)
    assert (workbook.rows[2], workbook.n_filled) == (["", 48], 0)


def test_read_table_says_that_formulas_have_no_value(path):
    book = openpyxl.Workbook()
    book.active.append(["age", "sum", "gout"])
    for i in range(12):
        book.active.append([40 + i, f"=A{i + 2}+1", i % 2])
    book.save(path)
    workbook = read_workbook(path)
    assert (workbook.n_without_value, workbook.rows[1]) == (12, [40, "", 0])
    note = "no value in the file for 12 formulas: open it in Excel and save it there"
    assert note in read_table(path, "gout", number="age").columns.notes


def test_read_table_reads_times_and_durations_of_a_sheet(path):
    book = openpyxl.Workbook()
    book.active.append(["came", "stay", "gout"])
    for i in range(12):
        book.active.append([time(i, 30), timedelta(hours=20 + 1.5 * i), i % 2])
    book.save(path)
    table = read_table(path, "gout", number="came")
    assert table.X["came"].tolist()[:2] == [0.5, 1.5]
    assert table.X["stay"].tolist()[:2] == [20.0, 21.5]
    assert read_table(path, "gout").columns[0].kind == "date"
