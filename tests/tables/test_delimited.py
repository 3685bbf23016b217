"""Text files: delimiters and encodings."""

import gzip

import pytest

from mltsk import read_table
from mltsk.tables.delimited import find_delimiter, read_text_rows

TEXT = "Größe,gout\n1.5,1\n2.5,0\n"


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a,b", "1,2"], ","),
        (["a;b;c", "1,5;2,5;3,5"], ";"),
        (["Export, made, in, 2024", "a;b;c", "1,5;2,5;x", "1,5;2,5;y"], ";"),
        (["a\tb", "x, y\tz, u"], "\t"),
        (['"a;b;c",d', "1,2"], ","),
        (["a|b", "1|2"], "|"),
        (["alone", "1"], ","),
        ([], ","),
    ],
)
def test_find_delimiter_takes_the_one_that_makes_names_first(lines, delimiter):
    assert find_delimiter(lines) == delimiter


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"],
)
def test_read_text_rows_finds_encodings(write, encoding):
    content = TEXT.encode(encoding)
    for path in (write(content), write(gzip.compress(content), "toy.csv.gz")):
        text = read_text_rows(path)
        assert text.rows[0] == ["Größe", "gout"]
        assert bool(text.notes) == (encoding == "cp1252")


def test_read_text_rows_says_that_a_file_is_not_utf_8(write):
    assert read_text_rows(write(TEXT.encode("cp1252"))).notes == [
        "not UTF-8: read as Windows-1252 ('Größe'); --encoding to overrule"
    ]


def test_read_text_rows_takes_the_encoding_that_it_is_told(write):
    path = write(TEXT.encode("mac-roman"))
    assert read_table(path, encoding="mac-roman").columns[0].name == "Größe"
    assert read_text_rows(write(TEXT.encode("utf-8-sig")), "UTF8").rows[0][0] == "Größe"


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "x" * 99, "idna\0"])
def test_read_text_rows_refuses_encodings_that_are_none(write, refusal, encoding):
    assert "is not known: give one such as utf-8" in refusal(
        write(TEXT), encoding=encoding
    )


def test_read_text_rows_takes_the_delimiter_that_excel_names(write):
    rows = read_text_rows(write(b'"sep=;"\r\na,x;b\r\n1,5;2\r\n'))
    assert rows.rows == [["a,x", "b"], ["1,5", "2"]]
    assert list(rows.line_numbers) == [2, 3]
