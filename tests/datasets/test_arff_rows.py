import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.datasets import arff_rows
from mltsk.datasets.arff_rows import Rows
from mltsk.datasets.arff_text import Fault

COLUMNS = {"size": (), "colour": ("red", "dark blue"), "zone": ("1", "2"), "flag": ("0", "1")}


def read(*lines, columns=COLUMNS):
    rows = Rows(tuple(columns), tuple(columns.values()))
    for number, line in enumerate(lines, start=10):
        rows.add(line, number)
    return rows.finish()


def test_dense_rows_with_every_kind_of_value():
    X = read("1.5,red,2,1", "?, 'dark blue' ,1, 0", "-1e-3,?,?,?")
    assert_array_equal(X, [[1.5, 0, 2, 1], [np.nan, 1, 1, 0], [-1e-3, np.nan, np.nan, np.nan]])


def test_sparse_rows_go_straight_to_csr_and_omitted_means_the_first_category():
    X = read("{0 1.5,1 'dark blue'}", "{}", "{ 2 2 , 3 1 }", "{0 ?,1 red}")
    assert X.format == "csr"
    # zone's first category is the number 1; a colour that is not given is red, the number 0
    assert_array_equal(X.toarray(), [[1.5, 1, 1, 0], [0, 0, 1, 0], [0, 0, 2, 1], [np.nan, 0, 1, 0]])


def test_zeros_that_were_written_out_are_not_stored():
    assert read("{0 0,3 1}", columns={"a": (), "b": (), "c": (), "d": ()}).nnz == 1


def test_items_may_come_in_any_order():
    columns = {"a": (), "b": (), "c": ()}
    assert_array_equal(read("{2 3,0 1}", columns=columns).toarray(), [[1, 0, 3]])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,red,1", "3 values for 4 attributes"),
        ("1,red,1,0,0", "5 values for 4 attributes"),
        ("1,pink,1,0", "'colour' has no category 'pink'"),
        ("big,red,1,0", "'size' is numeric and cannot be 'big'"),
        ("1_0,red,1,0", "'size' is numeric and cannot be '1_0'"),
        (",red,1,0", "'size' is numeric and cannot be ''"),
        ("'?',red,1,0", "cannot be '?'"),
        ("{0 1}", "cannot read"),
        ("1,red,1,0,{5}", "cannot read"),
    ],
)
def test_bad_dense_rows_say_what_is_wrong(line, complaint):
    with pytest.raises(Fault) as fault:
        read("1,red,1,0", line)
    assert complaint in fault.value.args[0]


@pytest.mark.parametrize(
    ("line", "complaint", "at"),
    [
        ("{0 1", "cut off", None),
        ("1,red,1,0", "in braces", None),
        ("{4 1}", "no attribute 4", None),
        ("{0 1 2}", "cannot read", None),
        ("{0 1,}", "cannot read", None),
        ("{1 pink}", "no category 'pink'", None),
        ("{0 x}", "cannot be 'x'", None),
        ("{-1 1}", "no attribute -1", 11),
        ("{0 1,0 2}", "'size' is given twice", 11),
    ],
)
def test_bad_sparse_rows_say_what_is_wrong_and_where(line, complaint, at):
    with pytest.raises(Fault) as fault:
        read("{0 1}", line)
    assert complaint in fault.value.args[0]
    assert (*fault.value.args, None)[1] == at


def test_no_rows_at_all_are_a_fault():
    with pytest.raises(Fault, match="no row"):
        read()


def test_a_small_sparse_file_cannot_ask_for_a_large_dense_matrix(monkeypatch):
    monkeypatch.setattr(arff_rows, "MAX_FILLED", 3)
    with pytest.raises(Fault, match="too many"):
        read(*["{}"] * 4, columns={"a": ("1", "2")})
