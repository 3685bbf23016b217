import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.datasets import read_csv, read_parquet
from mltsk.exceptions import InputError


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write, delimiter):
    table = read_csv(write("a,b,c\n1,2,3\n4,5,6\n".replace(",", delimiter)))
    assert table.names == ("a", "b", "c")
    assert_array_equal(table.values, [[1, 2, 3], [4, 5, 6]])


def test_quotes_marks_line_ends_and_blank_lines(write):
    table = read_csv(write('\ufeff"a, b",c\r\n1,"x\ny"\r\n\r\n2,z\r\n'))
    assert table.names == ("a, b", "c")
    assert table.categories == ((), ("x\ny", "z"))
    assert table.name == "toy"


def test_text_columns_are_coded_in_sorted_order(write):
    table = read_csv(write("colour,n\nred,1\nblue,2\nred,3\n"))
    assert table.categories == (("blue", "red"), ())
    assert_array_equal(table.values[:, 0], [1, 0, 1])


@pytest.mark.parametrize("hole", ["", "?", "NA", "n/a", "NaN", "null", " "])
def test_missing_values_are_nan_in_numbers_and_in_text(write, hole):
    table = read_csv(write(f"n,t\n1,x\n{hole},{hole}\n"))
    assert table.categories == ((), ("x",))
    assert_array_equal(table.values, [[1, 0], [np.nan, np.nan]])


def test_numbers_in_any_notation_but_pythons(write):
    table = read_csv(write("a,b\n1e-3,1_0\n-.5,2\n"))
    assert_array_equal(table.values[:, 0], [1e-3, -0.5])
    assert table.categories[1] == ("1_0", "2")


def test_one_column_is_enough(write):
    assert_array_equal(read_csv(write("a\n1\n2\n")).values, [[1], [2]])


def test_compressed_files_are_read(write):
    assert_array_equal(read_csv(write(gzip.compress(b"a,b\n1,2\n"), "toy.csv.gz")).values, [[1, 2]])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("a,b\n", "no row below its header"),
        ("1,2\n3,4\n", "starts with numbers"),
        (",a\n0,1\n", "column 1 has no name (a row index?"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,b\n1,2\n3\n", "line 3: 1 values for 2 columns"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 values for 2 columns"),
        ('a,b\n1,"2\n', "cannot be read: unexpected end of data"),
        ("a,b\n" + "x" * 200_000 + ",1\n", "cannot be read: field larger"),
        (b"a,b\n\xff\xfe,1\n", "not a text file in UTF-8"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(write, text, complaint):
    path = write(text)
    with pytest.raises(InputError) as refused:
        read_csv(path)
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_or_damaged_file_is_a_sentence(tmp_path, write):
    with pytest.raises(InputError, match="No such file"):
        read_csv(tmp_path / "nowhere.csv")
    packed = gzip.compress(b"a,b\n1,2\n" * 99)
    for damaged in (packed[:15], packed[:12] + b"\xff" * 9 + packed[21:]):  # cut off; no valid stream
        with pytest.raises(InputError, match=r"toy\.csv\.gz cannot be read: .+\.$"):
            read_csv(write(damaged, "toy.csv.gz"))


def test_parquet_columns_of_every_kind(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "n": [1, 2],
            "f": [0.5, None],
            "b": [True, False],
            "t": ["red", None],
            "c": pandas.Categorical(["z", "a"]),
            "i": pandas.array([7, None], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "toy.parquet")
    table = read_parquet(tmp_path / "toy.parquet")
    assert table.names == tuple("nfbtci")
    assert table.categories == ((), (), (), ("red",), ("a", "z"), ())
    assert_array_equal(table.values, [[1, 0.5, 1, 0, 1, 7], [2, np.nan, 0, np.nan, 0, np.nan]])


def test_parquet_columns_that_cannot_be_read_are_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"when": pandas.to_datetime(["2020-01-01"])}).to_parquet(tmp_path / "toy.parquet")
    with pytest.raises(InputError, match="column 'when' is of type datetime"):
        read_parquet(tmp_path / "toy.parquet")


def test_a_file_that_is_not_parquet_is_a_sentence(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "toy.parquet").write_bytes(b"no parquet\nat all")
    with pytest.raises(InputError, match="not a readable Parquet file") as refused:
        read_parquet(tmp_path / "toy.parquet")
    assert "\n" not in str(refused.value)


def test_without_pyarrow_the_message_is_the_install_command(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError) as missing:
        read_parquet(tmp_path / "toy.parquet")
    assert str(missing.value) == 'pip install "mltsk[data]"'
