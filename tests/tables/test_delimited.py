"""Text files: delimiters and encodings."""

import gzip

import pytest

from mltsk import read_table
from mltsk.exceptions import InputError
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
        (["said\tage", '"one, two', 'three, four"\t31'], "\t"),
        (["tall;age", '5";31', '6";42'], ";"),  # inches
        (["alone", "1"], ","),
        (["age weight", "51 70.5", "48 81"], " "),
        (['"age" "a b"', '"1" 51 70.5', '"2" 48 81'], " "),  # as R writes it
        (["   age   weight", "  51.0     70.5", "  48.0     81.0"], " "),
        (["what people said", "nothing at all", "it was fine"], ","),
        (["weight in kg", "70 and more", "81"], ","),
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


@pytest.mark.parametrize(
    ("encoding", "text", "reading"),
    [
        ("gbk", "病人,性别\n张三,男\n", "gbk ('病人')"),
        ("gbk", "id,sex\n1,男\n2,女\n", "gbk ('男')"),
        ("big5", "病人,性別\n張三,男\n", "which it has"),
        ("euc_kr", "환자,성별\n김철수,남\n", "euc_kr ('환자')"),
        ("cp1251", "пациент,пол\nИванов,м\n", "cp1251 ('пациент')"),
        ("koi8-r", "пациент,пол\nИванов,м\n", "koi8-r ('пациент')"),
        ("cp1253", "ασθενής,φύλο\n1,άνδρας\n", "cp1253 ('ασθενής')"),
        ("cp1255", "גיל,מין\n50,זכר\n", "cp1255 ('גיל')"),
        ("cp874", "อายุ,เพศ\n50,ชาย\n", "cp874 ('อายุ')"),
        ("euc_jp", "氏名,性別\n1,男\n", "euc_jp ('氏名')"),
        ("euc_kr", "이름,성별\n" + "1,남\n2,여\n" * 20, "euc_kr ('이름')"),
        ("shift_jis", "患者,年齢\n田中,50\n", "--encoding"),
    ],
)
def test_read_text_rows_asks_for_the_encoding_of_another_script(
    tmp_path, encoding, text, reading
):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match="--encoding") as refused:
        read_text_rows(path)
    assert reading in str(refused.value)
    expected = [line.split(",") for line in text.splitlines()]
    assert read_text_rows(path, encoding).rows == expected


@pytest.mark.parametrize(
    "text",
    [
        "Größe,à jeun,Prénom\n1,€€€,Zoë\n3,½ °C,Åsa\n",
        "year,Öl,ÅÄÖ,å\n1,2,3,Ærø\n3,4,5,é\n",
        "naïve,b\nÉté,à\n",
        "temp,u\n25 °C,µg/ml\n26 °C,m²\n",
        "a,b\n“quoted”,–\n…,•\n",
    ],
)
def test_read_text_rows_takes_western_text_for_windows_1252(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode("cp1252"))
    expected = [line.split(",") for line in text.splitlines()]
    assert read_text_rows(path).rows == expected


def test_read_text_rows_reads_columns_divided_by_spaces(write):
    path = write(' age  "a b" gout\n 51.5    x    1 \n  8   "y z"  0\n', "toy.txt")
    text = read_text_rows(path)
    assert text.rows == [["age", "a b", "gout"], ["51.5", "x", "1"], ["8", "y z", "0"]]
    assert text.notes == ["cells are divided by spaces"]
