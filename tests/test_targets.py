"""Targets of every form become an indicator, and predictions go back."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.targets import Targets, predicted


@pytest.mark.parametrize(
    "form", [np.asarray, np.ndarray.tolist, sparse.csr_matrix, pd.DataFrame]
)
def test_targets_of_many_forms_of_labels(form):
    Y = np.array([[1, 0, 1], [0, 1, 1]])
    targets = Targets.of(form(Y))
    assert targets.multilabel
    assert_array_equal(targets.Y, Y)
    assert_array_equal(targets.classes, [0, 1, 2])


def test_targets_of_two_classes_have_one_column_and_of_more_one_each():
    assert Targets.of(["no", "yes", "no"]).Y.tolist() == [[0.0], [1.0], [0.0]]
    assert Targets.of([3, 1, 2]).Y.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_predicted_gives_labels_and_classes():
    scores = np.array([[0.2, 0.7], [0.6, 0.1]])
    assert predicted(scores, np.array([0.5, 0.5]), np.arange(2), True).tolist() == [
        [0, 1],
        [1, 0],
    ]
    assert predicted(
        scores[:, [0]], np.array([0.5]), np.array(["no", "yes"]), False
    ).tolist() == ["no", "yes"]


def test_indicator_puts_other_rows_in_the_same_columns():
    targets = Targets.of(["a", "c", "b"])
    assert targets.indicator(np.array(["c", "c"])).tolist() == [[0, 0, 1], [0, 0, 1]]
    assert Targets.of([0, 1]).indicator([1, 1, 0]).tolist() == [[1], [1], [0]]
    with pytest.raises(InputError, match="'d', which is none of the classes"):
        targets.indicator(np.array(["a", "d"]))


def test_targets_of_a_frame_have_the_names_of_its_columns():
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=["sad", "happy"])
    assert Targets.of(frame).names == ("sad", "happy")
    assert Targets.of(frame.to_numpy()).names == ("label 0", "label 1")
    assert Targets.of(["no", "yes"]).names == ("yes",)


@pytest.mark.parametrize("y", [[0.1, 0.5, 0.9], [[1, 2], [3, 4], [5, 6]]])
def test_targets_of_anything_else_are_refused(y):
    with pytest.raises(ValueError, match="Unknown label type"):
        Targets.of(y)


def test_targets_of_polars_columns_are_those_of_pandas_columns():
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    targets = Targets.of(
        polars.DataFrame({"sad": [True, None], "happy": [0, 1]}), may_miss=True
    )
    assert (targets.names, targets.observed.tolist()) == (
        ("sad", "happy"),
        [[True, True], [False, True]],
    )
    lists = polars.Series([["sad"], [], ["happy", "sad"]])
    assert Targets.of(lists).Y.tolist() == [[0, 1], [0, 0], [1, 1]]
    with pytest.raises(InputError, match="column 'mood' of y holds"):
        Targets.of(polars.DataFrame({"mood": lists}))


@pytest.mark.parametrize(
    "y",
    [
        [],
        (),
        np.array([]),
        pd.Series([], dtype=float),
        np.zeros((0, 2)),
        pd.DataFrame(),
    ],
    ids=repr,
)
def test_targets_of_no_sample_are_refused(y):
    with pytest.raises(InputError, match=r"y is empty: .* 0 samples"):
        Targets.of(y)


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b"],
        np.array(["a", None, "b"], dtype=object),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(pd.Categorical(["a", None, "b"])),
        pd.Series([1, None, 0], dtype="Int64"),
        [1, float("nan"), 0],
        ["a", float("nan"), 1.0],
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', '')}",
)
def test_targets_of_classes_refuse_a_sample_without_one(y):
    with pytest.raises(InputError, match="Input y contains NaN: row 1 has no class"):
        Targets.of(y, may_miss=True)


@pytest.mark.parametrize("y", [["a", None], [0.0, np.nan]])
def test_indicator_refuses_a_sample_without_a_class(y):
    targets = Targets.of(["a", "b"] if y[0] == "a" else [0.0, 1.0])
    with pytest.raises(InputError, match="row 1 has no class"):
        targets.indicator(y)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([["a", "b"], None, ["b"]], "Row 1 of y is None, but row 0 lists labels"),
        (pd.Series(["a", ["a"]]), "Row 0 of y is 'a', but row 1 lists labels"),
        ([["a"], ["a", None]], "Row 1 of y lists None, which names no label"),
        ([["a"], [float("nan")]], "Row 1 of y lists nan, which names no label"),
    ],
)
def test_targets_of_lists_refuse_what_names_no_label(y, sentence):
    with pytest.raises(InputError, match=sentence):
        Targets.of(y)
