import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.datasets import Dataset, Table, split_labels
from mltsk.datasets.table import is_numeric, label_columns
from mltsk.exceptions import InputError

NAMES = ("size", "colour", "good", "cheap")


def table(values=((1.5, 0, 1, 0), (2.5, 1, 0, 0)), **more):
    parts = {"names": NAMES, "categories": ((), ("blue", "red"), (), ()), "name": "toy", **more}
    return Table(np.array(values, dtype=float), **parts)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (2, ("good", "cheap")),
        ("2", ("good", "cheap")),
        (-1, ("size",)),
        (0, ()),
        ("cheap,good", ("cheap", "good")),
        (["cheap", "good", "cheap"], ("cheap", "good")),
        (("good",), ("good",)),
    ],
)
def test_ways_to_say_which_columns_are_labels(labels, expected):
    assert label_columns(table(), labels) == expected


def test_a_name_with_a_comma_can_be_quoted():
    odd = Table(np.ones((1, 2)), ("x", "a, b"), ((), ()))
    assert label_columns(odd, '"a, b"') == ("a, b",)


def test_what_the_file_declares_is_used_only_when_nothing_else_is_said():
    declared = table(label_names=("cheap",))
    assert label_columns(declared, None) == ("cheap",)
    assert label_columns(declared, 2) == ("good", "cheap")
    with pytest.raises(InputError, match="does not say which of its 4 columns are labels"):
        label_columns(table(), None)


def test_features_keep_their_order_and_labels_take_the_given_one():
    data = split_labels(table(), "cheap,good")
    assert data.feature_names == ("size", "colour")
    assert data.label_names == ("cheap", "good")
    assert data.categories == ((), ("blue", "red"))
    assert data.nominal == (False, True)
    assert_array_equal(data.Y, [[0, 1], [0, 0]])
    assert data.X.flags.c_contiguous


@pytest.mark.parametrize(
    ("column", "categories", "expected"),
    [
        ([0, 1, 0], (), [0, 1, 0]),
        ([-1, 1, 1], (), [0, 1, 1]),
        ([1, 1, 1], (), [1, 1, 1]),
        ([-1, -1, -1], (), [0, 0, 0]),
        ([0, 1, 0], ("no", "YES"), [0, 1, 0]),
        ([0, 1, 0], ("True", "False"), [1, 0, 1]),
        ([1, 0, 1], ("1", "0"), [1, 0, 1]),
        ([-1, 1, 1], ("-1", "1"), [0, 1, 1]),
        ([0, 0, 0], ("n", "y"), [0, 0, 0]),
    ],
)
def test_what_counts_as_a_label(column, categories, expected):
    values = np.column_stack([np.zeros(3), column])
    data = split_labels(Table(values, ("x", "y"), ((), categories)), 1)
    assert data.Y[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("column", "categories", "complaint"),
    [
        ([0, 1, 2], (), "holds '0', '1', '2'"),
        ([-1, 0, 1], (), "holds '-1', '0', '1'"),
        ([0, 1, 0], ("cat", "dog"), "holds 'cat', 'dog'"),
        ([1, np.nan, 0], (), "has no value in row 2"),
        ([0.5, 0.5, 1], (), "holds '0.5', '1'"),
    ],
)
def test_what_does_not_count_as_a_label(column, categories, complaint):
    values = np.column_stack([np.zeros(3), column])
    with pytest.raises(InputError) as refused:
        split_labels(Table(values, ("x", "is it"), ((), categories), name="toy"), 1)
    assert str(refused.value).startswith("Label 'is it' of toy")
    assert complaint in str(refused.value)


@pytest.mark.parametrize("labels", [4, -4, 100])
def test_a_feature_must_be_left(labels):
    with pytest.raises(InputError, match="would leave no feature"):
        split_labels(table(), labels)


def test_a_missing_column_is_named_with_the_nearest_one():
    with pytest.raises(InputError) as refused:
        split_labels(table(), "chaep")
    assert "toy has no column 'chaep'" in str(refused.value)
    assert "did you mean 'cheap'?" in str(refused.value)


def test_select_takes_columns_by_name_whatever_else_there_is():
    assert_array_equal(table().select(["colour", "size"]), [[0, 1.5], [1, 2.5]])


def test_select_codes_text_as_it_was_at_fitting_time():
    X = table().select(["colour", "size"], {"colour": ("amber", "blue", "red")})
    assert_array_equal(X, [[1, 1.5], [2, 2.5]])
    assert_array_equal(table().select(["colour", "size"], [("red", "blue"), ()])[:, 0], [1, 0])


def test_select_refuses_a_category_that_the_model_has_not_seen():
    with pytest.raises(InputError) as refused:
        table().select(["colour"], {"colour": ("blue", "green")})
    assert str(refused.value) == (
        "Column 'colour' of toy holds 'red' in row 2; the model knows only 'blue', 'green' there."
    )


def test_select_refuses_text_where_the_model_expects_numbers():
    with pytest.raises(InputError, match="holds 'blue' in row 1; the model knows only numbers"):
        table().select(["size", "colour"], {})


def test_select_takes_numbers_for_numeric_categories_and_for_categories_that_look_like_numbers():
    assert_array_equal(table().select(["good"], {"good": ("1", "2")})[:, 0], [1, 0])
    assert_array_equal(table().select(["good"], {"good": ("none", "0", "1")})[:, 0], [2, 1])


def test_select_keeps_missing_values_and_does_not_write_to_the_table():
    holes = table([[1, np.nan, 0, 0], [1, 1, 0, 0]])
    X = holes.select(["colour"], {"colour": ("x", "red")})
    assert_array_equal(X, [[np.nan], [1]])
    assert holes.values[1, 1] == 1


def test_sparse_tables_are_split_and_selected_without_being_made_dense():
    flat = table()
    sparse_table = Table(sparse.csr_array(flat.values), flat.names, flat.categories)
    data = split_labels(sparse_table, 2)
    assert data.is_sparse
    assert_array_equal(data.X.toarray(), flat.values[:, :2])
    X = sparse_table.select(["colour", "size"], {"colour": ("red", "blue")})
    assert_array_equal(X.toarray(), [[1, 1.5], [0, 2.5]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_data_set_as_a_table_and_back(make):
    data = Dataset(make(np.eye(3)), np.eye(3, 2), feature_names="abc", label_names="pq", split=[0, 1, 0])
    back = split_labels(Table.of(data))
    assert (back.feature_names, back.label_names) == (data.feature_names, data.label_names)
    assert back.split.tolist() == [0, 1, 0]
    assert_array_equal(back.Y, data.Y)


def test_which_categories_are_numbers():
    assert is_numeric(())
    assert is_numeric(("3", "1"))
    assert not is_numeric(("3", "x"))
    assert not is_numeric(("1", "1.0"))
