import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.datasets import NumericTable, split_labels
from mltsk.datasets.table import is_numeric, label_columns
from mltsk.exceptions import InputError

NAMES = ("size", "colour", "good", "cheap")


def table(values=((1.5, 0, 1, 0), (2.5, 1, 0, 0)), **more):
    parts = {"names": NAMES, "categories": ((), ("blue", "red"), (), ()), "name": "toy", **more}
    return NumericTable(np.array(values, dtype=float), **parts)


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
    odd = NumericTable(np.ones((1, 2)), ("x", "a, b"), ((), ()))
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
        ([1, 1, 1], (), [1, 1, 1]),
        ([0, 1, 0], ("no", "YES"), [0, 1, 0]),
        ([0, 1, 0], ("True", "False"), [1, 0, 1]),
        ([1, 0, 1], ("1", "0"), [1, 0, 1]),
        ([0, 0, 0], ("n", "y"), [0, 0, 0]),
    ],
)
def test_what_counts_as_a_label(column, categories, expected):
    values = np.column_stack([np.zeros(3), column])
    data = split_labels(NumericTable(values, ("x", "y"), ((), categories)), 1)
    assert data.Y[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("column", "categories", "complaint"),
    [
        ([0, 1, 2], (), "holds '0', '1', '2'"),
        ([-1, 0, 1], (), "holds '-1', '0', '1'"),
        ([-1, 1, 1], (), "holds '-1', '1'"),
        ([-1, 1, 1], ("-1", "1"), "holds '-1', '1'"),
        ([0, 1, 0], ("cat", "dog"), "holds 'cat', 'dog'"),
        ([1, np.nan, 0], (), "has no value in row 2"),
        ([0.5, 0.5, 1], (), "holds '0.5', '1'"),
    ],
)
def test_what_does_not_count_as_a_label(column, categories, complaint):
    values = np.column_stack([np.zeros(3), column])
    with pytest.raises(InputError) as refused:
        split_labels(NumericTable(values, ("x", "is it"), ((), categories), name="toy"), 1)
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


def test_sparse_tables_are_split_without_being_made_dense():
    flat = table()
    data = split_labels(NumericTable(sparse.csr_array(flat.values), flat.names, flat.categories), 2)
    assert data.is_sparse
    assert_array_equal(data.X.toarray(), flat.values[:, :2])


def test_which_categories_are_numbers():
    assert is_numeric(())
    assert is_numeric(("3", "1"))
    assert not is_numeric(("3", "x"))
    assert not is_numeric(("1", "1.0"))
