"""Batches of a stream: labels and columns are matched by name, or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.rows.batches import (
    StreamLabels,
    check_names_of_features,
    check_same_features,
    first_targets,
    in_form_of,
)
from mltsk.targets import Targets

Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
LISTS = [["a"], ["b"], ["a", "b"], []]
NAMED = {
    "frame": pd.DataFrame(Y, columns=["a", "b"]),
    "frame in another order": pd.DataFrame(Y[:, ::-1], columns=["b", "a"]),
    "booleans": pd.DataFrame(Y > 0, columns=["a", "b"]),
    "polars": pl.DataFrame(Y, schema=["a", "b"]),
    "polars in another order": pl.DataFrame(Y[:, ::-1], schema=["b", "a"]),
    "lists": LISTS,
    "sets": [set(labels) for labels in LISTS],
    "series of lists": pd.Series(LISTS),
    "polars lists": pl.Series(LISTS),
}
UNNAMED = {
    "array": Y,
    "lists of numbers": Y.tolist(),
    "CSR": sparse.csr_array(Y),
    "booleans": Y > 0,
}
CLASSES = np.array(["a", "b", "b", "a"])


def labels_of(y):
    return StreamLabels.of(Targets.of(y))


@pytest.mark.parametrize("later", NAMED)
@pytest.mark.parametrize("first", NAMED)
def test_indicator_matches_named_labels(first, later):
    labels = labels_of(NAMED[first])
    expected = Y[:, ["ab".index(name) for name in labels.names]]
    assert_array_equal(labels.indicator(NAMED[later]), expected)


@pytest.mark.parametrize("later", UNNAMED)
@pytest.mark.parametrize("first", UNNAMED)
def test_indicator_takes_columns_without_names_as_they_are(first, later):
    assert_array_equal(labels_of(UNNAMED[first]).indicator(UNNAMED[later]), Y)


@pytest.mark.parametrize("later", UNNAMED)
@pytest.mark.parametrize("first", NAMED)
def test_indicator_refuses_labels_without_names_after_named_ones(first, later):
    with pytest.raises(
        InputError, match=r"does not name its labels.*'[ab]' and '[ab]'"
    ):
        labels_of(NAMED[first]).indicator(UNNAMED[later])


@pytest.mark.parametrize("later", NAMED)
@pytest.mark.parametrize("first", UNNAMED)
def test_indicator_refuses_named_labels_after_labels_without_names(first, later):
    with pytest.raises(InputError, match="the first batch did not name its labels"):
        labels_of(UNNAMED[first]).indicator(NAMED[later])


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        ([["b"], ["c"], [], []], "Row 1 of y has the label 'c', which is none of"),
        (pd.DataFrame(Y, columns=["b", "c"]), "y has the label 'c', which is none of"),
        (pd.DataFrame(Y[:, :1], columns=["a"]), "y lacks the label 'b'"),
        (pd.DataFrame(Y, columns=["a", "a"]), "y lacks the label 'b'"),
        (
            pd.DataFrame(Y[:, [0, 1, 1]], columns=list("abb")),
            "Two labels are called 'b'",
        ),
        (CLASSES, "y has one class per row"),
        (Y[:, 0], "y has one class per row"),
        (pd.DataFrame(Y * 2, columns=["a", "b"]), "column 'a' of y holds 2 in row 0"),
        (pd.DataFrame(Y * np.nan, columns=["a", "b"]), "'a' was not observed in row 0"),
    ],
)
def test_indicator_refuses_other_labels_in_a_sentence(later, sentence):
    with pytest.raises(InputError, match=sentence):
        labels_of(NAMED["frame"]).indicator(later)


def test_indicator_of_rows_without_labels_is_zero():
    assert_array_equal(labels_of(LISTS).indicator([[], []]), np.zeros((2, 2)))


def test_indicator_matches_numbers_as_labels_by_their_text():
    labels = labels_of([[7], [8, 9], []])
    assert_array_equal(labels.indicator([[9], ["7", 8]]), [[0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        (np.array(["a", "c"]), "y holds 'c', which is none of the classes"),
        (np.array(["a", None]), "row 1 has no class"),
        (np.array([0, 1]), "y holds 0, which is none of the classes"),
        (Y, "y has labels in columns or lists, but the first batch had one of"),
        (NAMED["frame"], "y has labels in columns or lists"),
        (LISTS, "y has labels in columns or lists"),
    ],
)
def test_indicator_of_classes_refuses_anything_else(later, sentence):
    with pytest.raises(InputError, match=sentence):
        labels_of(CLASSES).indicator(later)


def test_indicator_tells_numbers_from_their_texts():
    with pytest.raises(InputError, match="y holds 1, which is none"):
        labels_of(np.array(["0", "1"])).indicator([1])


def test_indicator_of_classes_may_be_a_column():
    column = np.array([["b"], ["a"]])
    assert_array_equal(labels_of(CLASSES).indicator(column), [[1], [0]])


def test_first_targets_have_all_classes():
    assert first_targets(["a", "a"], classes=["b", "a"]).classes.tolist() == ["a", "b"]
    targets = first_targets(LISTS, classes=["c", "b", "a"])
    assert targets.names == ("c", "b", "a")
    assert_array_equal(targets.Y, np.column_stack([np.zeros(4), Y[:, ::-1]]))
    with pytest.raises(InputError, match="the label 'b', which is none of"):
        first_targets(LISTS, classes=["a", "c"])


@pytest.mark.parametrize("y", [Y, NAMED["frame"]])
def test_first_targets_ignore_classes_that_are_the_cells_of_an_indicator(y):
    assert first_targets(y, classes=[0, 1]).names == Targets.of(y).names
    with pytest.raises(InputError, match="classes has 'a' and 'c', but"):
        first_targets(y, classes=["a", "c"])


@pytest.mark.parametrize("classes", ["ab", [], 3, [["a"], ["b"]]])
def test_check_classes_refuses_what_is_no_list(classes):
    with pytest.raises(InputError, match="classes must list all labels"):
        labels_of(CLASSES).check_classes(classes)


def test_check_classes_takes_those_of_the_first_batch_in_any_order():
    labels_of(CLASSES).check_classes(np.array(["b", "a"]))
    labels_of(LISTS).check_classes(["b", "a"])
    labels_of(LISTS).check_classes(None)
    with pytest.raises(InputError, match="classes has 'a', 'b' and 'c', but"):
        labels_of(CLASSES).check_classes(["a", "b", "c"])


def test_check_names_of_features_takes_texts_and_positions():
    for columns in (["a", "b"], [0, 1], ["b", "a"]):
        check_names_of_features(pd.DataFrame(Y, columns=columns))
    check_names_of_features(Y)
    for columns in ([1, 0], [5, 7]):
        with pytest.raises(InputError, match="names that are text"):
            check_names_of_features(pd.DataFrame(Y, columns=columns))


def test_check_same_features_refuses_names_after_none_and_none_after_names():
    names = np.array(["a", "b"], dtype=object)
    check_same_features(names, NAMED["frame"])
    check_same_features(names, NAMED["polars"])
    check_same_features(None, Y)
    check_same_features(None, pd.DataFrame(Y))
    for X in (Y, sparse.csr_array(Y), Y.tolist(), pd.DataFrame(Y)):
        with pytest.raises(InputError, match="does not name its columns"):
            check_same_features(names, X)
    for X in (NAMED["frame"], NAMED["polars"]):
        with pytest.raises(InputError, match="names its columns, but the first"):
            check_same_features(None, X)


def test_in_form_of_makes_rows_dense_or_sparse():
    csr = sparse.csr_array(Y)
    assert in_form_of(Y, Y) is Y
    assert_array_equal(in_form_of(Y, csr), Y)
    assert sparse.issparse(in_form_of(csr, Y))
