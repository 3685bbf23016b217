"""Files of every format, and files that are none."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mltsk import read_table
from mltsk.datasets import Dataset, write_npz

TEXT = "a,b,c\n1.5,x,yes\n2,y,no\n0,x,\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_read_raw_finds_the_delimiter(write, delimiter):
    table = read_table(write(TEXT.replace(",", delimiter), "toy.tsv"), "c")
    assert table.feature_names == ("a", "b")
    assert_array_equal(table.Y["c"], [1, 0, np.nan])


def test_read_raw_knows_quotes_marks_line_ends_and_blank_lines(write):
    table = read_table(write('\ufeff"a, b; c; d",e\r\n1.5,"x\ny"\r\n\r\n2,z\r\n'))
    assert table.feature_names == ("a, b; c; d", "e")
    assert table.X["e"].tolist() == ["x\ny", "z"]
    assert table.name == "toy"


def test_read_raw_reads_the_same_from_excel_parquet_and_compressed_files(
    tmp_path, write
):
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": [1.5, 2, 0], "b": ["x", "y", "x"], "c": [True, False, None]}
    )
    frame.to_parquet(tmp_path / "toy.parquet")
    with pd.ExcelWriter(tmp_path / "toy.xlsx") as book:
        frame.to_excel(book, sheet_name="data", index=False)
        frame.to_excel(book, sheet_name="more", index=False)
    write(gzip.compress(TEXT.encode()), "toy.csv.gz")
    expected = read_table(write(TEXT), "c")
    for name in ("toy.parquet", "toy.xlsx", "toy.csv.gz"):
        table = read_table(tmp_path / name, "c")
        pd.testing.assert_frame_equal(table.X, expected.X)
        pd.testing.assert_frame_equal(table.Y, expected.Y)
        says_sheet = "sheet 'data' was read, of 2; --sheet" in str(table.columns)
        assert says_sheet == (name == "toy.xlsx")


def test_read_raw_leaves_out_blank_edges_of_spreadsheets(tmp_path, write):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["a", "b", None],
        [1.5, "x", None],
        [2, None, None],
        [None, "y", " "],
        [None, " ", None],
    ):
        book.active.append(row)
    book.save(tmp_path / "toy.xlsx")
    for path in (tmp_path / "toy.xlsx", write("a,b\n1.5,x\n2,\n,y\n,\n")):
        table = read_table(path)
        assert table.X.shape == (3, 2)
        assert table.X["b"].isna().tolist() == [False, True, False]
        assert "empty rows at the end left out: 1" in str(table.columns)


def test_read_raw_reads_data_sets(refusal):
    data = Dataset(
        [[0.5, 1], [2, 0]],
        [[1], [0]],
        "pq",
        "a",
        name="toy",
        categories=[(), ("no", "yes")],
    )
    table = read_table(data)
    assert "two columns are called 'p'" in refusal(Dataset([[0.5]], [[1]], "p", "p"))
    assert (table.name, table.label_names, table.kinds) == (
        "toy",
        ("a",),
        {"p": "number", "q": "nominal"},
    )


def test_read_raw_reads_files_that_declare_their_columns(tmp_path, write):
    data = Dataset(
        [[0.5, 1], [2, 0], [3, 1]],
        [[1, 0], [0, 0], [1, 1]],
        "pq",
        "ab",
        categories=[(), ("no", "yes")],
    )
    write_npz(tmp_path / "toy.npz", data)
    savemat(tmp_path / "toy.mat", {"data": data.X, "target": data.Y})
    header = (
        "@relation toy\n@attribute p real\n@attribute q {no,yes}\n"
        "@attribute a {0,1}\n@attribute b {0,1}\n"
    )
    arff = write(header + "@data\n0.5,yes,1,0\n2,no,0,0\n3,yes,1,1\n", "toy.arff")
    write('<labels><label name="b"/><label name="a"/></labels>', "toy.xml")
    for path in (tmp_path / "toy.npz", arff):
        table = read_table(path)
        assert table.label_names == ("a", "b")
        assert table.X["q"].tolist() == ["yes", "no", "yes"]
        assert_array_equal(table.Y, data.Y)
    assert read_table(arff, "a").label_names == ("a",)
    assert read_table(tmp_path / "toy.mat", "target").Y.shape == (3, 2)
    write_npz(tmp_path / "toy.npz", Dataset(sparse.csr_array(data.X), data.Y))
    assert read_table(tmp_path / "toy.npz").X.shape == (3, 2)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("a,b\n", "no row below its header"),
        ("1,2\n3,4\n", "starts with numbers"),
        ("a,b\n1,2\n3\n", "line 3: 1 value for 2 columns"),
        ('a,b\n1,"2\n', "line 2: a quotation mark opens a cell and is not closed"),
        ('a,b\n1,2\n"x"y,2\n', "line 3: a quotation mark opens a cell and is not"),
        (
            b"a,b\n\x81,1\n",
            "is not in UTF-8: say with --encoding which encoding it has",
        ),
        ("a,b\n1,2\n1\0,2\n", "line 3: there is a NUL byte"),
    ],
)
def test_read_raw_refuses_bad_text_files_in_a_sentence(
    write, refusal, content, complaint
):
    path = write(content)
    said = refusal(path)
    assert complaint in said
    assert str(path) in said


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "npz", "mat", "csv.gz"])
def test_read_raw_refuses_damaged_and_missing_files(write, refusal, tmp_path, ending):
    if ending in ("xlsx", "parquet"):
        pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    assert f"toy.{ending}" in refusal(
        write(b"nothing of the kind\nat all", f"toy.{ending}")
    )
    assert "no such file" in refusal(tmp_path / f"none.{ending}")


def test_read_raw_refuses_a_damaged_stream_and_an_unknown_ending(write, refusal):
    packed = gzip.compress(b"a,b\n1,2\n" * 99)
    for damaged in (packed[:15], packed[:12] + b"\xff" * 9 + packed[21:]):
        assert "cannot be read" in refusal(write(damaged, "toy.csv.gz"))
    assert "those are .csv, .tsv" in refusal(write("a\n1\n", "toy.doc"))


@pytest.mark.parametrize("source", [[1, 2], np.eye(2), None, pd.Series([1])])
def test_read_raw_refuses_what_is_neither_a_file_nor_a_frame(refusal, source):
    assert refusal(source).startswith(
        "A table is read from a file or a data frame, not from an object of type "
    )


def test_read_raw_refuses_files_larger_than_memory_is(
    write, refusal, tmp_path, monkeypatch
):
    monkeypatch.setenv("MLTSK_MEMORY", "50M")
    too_large = (
        "would take more than 50 MiB of memory: save it in parts, or set MLTSK_MEMORY="
    )
    assert too_large in refusal(
        write(gzip.compress(b"a\n" + b"1\n" * (1 << 20)), "toy.csv.gz")
    )
    assert "line 1 is longer than" in refusal(
        write(gzip.compress(bytes([48]) * (1 << 25)), "line.csv.gz")
    )
    savemat(
        tmp_path / "toy.mat",
        {"data": np.zeros((1000, 10_000)), "target": np.zeros((1, 1000))},
        do_compression=True,
    )
    assert too_large in refusal(tmp_path / "toy.mat")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": np.zeros(10_000_000)}).to_parquet(tmp_path / "toy.parquet")
    assert too_large in refusal(tmp_path / "toy.parquet")
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "toy.xlsx") as book:
        pd.DataFrame(index=range(100)).to_excel(book, index=False)
        for row in range(1, 100):
            # The last column: the others are blank, and take memory.
            book.book.active.cell(row, 16_384, 1)
    assert too_large in refusal(tmp_path / "toy.xlsx")
    monkeypatch.setenv("MLTSK_MEMORY", "much")
    assert (
        refusal(write("a\n1\n"))
        == "MLTSK_MEMORY is 'much': give a size such as 500M or 8G."
    )


@pytest.mark.parametrize(
    ("module", "name"), [("openpyxl", "toy.xlsx"), ("pyarrow", "toy.parquet")]
)
def test_read_raw_says_how_to_install_an_optional_package(
    write, monkeypatch, module, name
):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ImportError) as missing:
        read_table(write("", name))
    assert str(missing.value) == 'pip install "mltsk[data]"'


def test_read_raw_numbers_names_that_are_there_twice_among_many(write, refusal):
    names = ",".join(f"x{i % 10}" for i in range(100_000))
    assert "has no row below its header" in refusal(write(f"{names}\n"))


@pytest.mark.parametrize(
    ("name", "said", "complaint"),
    [
        ("toy.csv", {"sheet": "more"}, "has no sheets: --sheet is for Excel files"),
        ("toy.arff", {"encoding": "cp1252"}, "is no text file: --encoding is for text"),
        ("toy.arff", {"skip_rows": 2}, "says itself where its columns are"),
    ],
)
def test_read_raw_refuses_what_a_file_does_not_have(
    write, refusal, name, said, complaint
):
    assert complaint in refusal(write(TEXT, name), **said)


def test_read_raw_refuses_rules_of_files_for_a_frame(refusal):
    sentence = refusal(pd.DataFrame({"a": [1.5, 2]}), skip_rows=1)
    assert sentence == (
        "Sheets, encodings and rows to skip are of files: this table is none."
    )


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"PK\x03\x04...", "is an Excel file or another archive: call an"),
        ("a.csv", b"\xd0\xcf\x11\xe0", "is a file of an old Excel: save it there"),
        ("a.csv", b"%PDF-1.7", "is a PDF: export the table as .csv or .xlsx."),
        ("a.csv", b"\n<!DOCTYPE html><html>", "is a web page: save its table"),
        ("a.csv", b'[{"age": 5},\n{"age": 6}]', "is JSON: save its table"),
        ("a.sav", b"$FL2", "is a file of SPSS: save it there as .csv or .xlsx."),
        ("a.xls", b"x", "is a file of an old Excel: save it there"),
        ("a.dat", b"age gout\n1 2\n", "may be called .csv or .txt."),
    ],
)
def test_read_raw_says_what_a_file_is_that_is_no_table(
    write, refusal, name, content, complaint
):
    assert complaint in refusal(write(content, name))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"age,gout\n1,2\n", "is no Excel file but text: if it holds a table, call"),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "is locked by a password, or of an old"),
        (b"PK\x03\x04" + bytes(99), "is not a readable Excel file: "),
    ],
)
def test_read_raw_says_what_a_workbook_is_that_is_none(
    write, refusal, content, complaint
):
    pytest.importorskip("openpyxl")
    assert complaint in refusal(write(content, "a.xlsx"))
