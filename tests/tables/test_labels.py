"""Label columns, and columns that list the labels of each row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table

FRAME = pd.DataFrame({"x": [0.5, 1, 3], "p": [0, 1, 1], "q": ["no", "yes", None]})


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (2, "pq"),
        ("1", "q"),
        (-1, "x"),
        ("q, p", "qp"),
        (["p", "p"], "p"),
        ({"q": "yes", "p": None}, "qp"),
        (0, ""),
    ],
)
def test_label_columns_can_be_named_in_many_ways(labels, names):
    frame = FRAME if labels != -1 else FRAME.assign(x=[0, 1, 0])
    assert "".join(read_table(frame, labels).label_names) == names


def test_read_label_says_not_observed_where_a_cell_is_missing():
    assert_array_equal(read_table(FRAME, "q").Y["q"], [0, 1, np.nan])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Yes", "NO", "?"], [1, 0, np.nan]),
        ([True, False, None], [1, 0, np.nan]),
        (["1.0", "0.0", "1"], [1, 0, 1]),
        (["y", "n", "F"], [1, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_read_label_knows_the_words_for_yes_and_no(cells, expected):
    assert_array_equal(read_table(FRAME.assign(p=cells), "p").Y["p"], expected)


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        (
            [-1, 1, 1],
            "holds '-1', '1', not 0 and 1 or yes and no: "
            "say which one means yes, labels={'p': '1'}",
        ),
        (
            [0, 7, 0],
            "holds '0', '7', not 0 and 1 or yes and no: "
            "say which one means yes, labels={'p': '7'}",
        ),
        (["neg", "pos", "neg"], "labels={'p': 'pos'} or --labels p=pos."),
        (
            [0, 0.5, 1],
            "holds '0', '0.5', '1', not 0 and 1 or yes and no: count words as missing",
        ),
    ],
)
def test_read_label_refuses_other_words_until_the_user_says_what_means_yes(
    refusal, cells, complaint
):
    assert complaint in refusal(FRAME.assign(p=cells), "p")


def test_read_label_takes_words_that_the_user_says_mean_yes():
    frame = FRAME.assign(p=["absent", "present", ""], q=[0, 0.5, 1])
    assert_array_equal(read_table(frame, "p=present").Y["p"], [0, 1, np.nan])
    signs = read_table(FRAME.assign(p=[-1, 1, -1]), {"p": 1})
    assert_array_equal(signs.Y["p"], [0, 1, 0])
    both = read_table(frame, {"p": "present", "q": [0.5, 1]})
    assert_array_equal(both.Y, [[0, 0], [1, 1], [np.nan, 1]])


def test_read_label_refuses_words_and_columns_that_are_not_there(refusal):
    sentence = refusal(FRAME, {"q": "maybe"})
    assert "has no cell with 'maybe'; it holds 'no', 'yes'" in sentence
    sentence = refusal(FRAME.assign(p=["a", "b", "c"]), "p=c")
    assert "give all words that mean yes in a list" in sentence
    sentence = refusal(FRAME, "pp,x")
    assert "has no column 'pp' (it has 3 columns); did you mean 'p'?" in sentence
    assert "3 labels leave no feature" in refusal(FRAME, 3)
    assert "not 1.5" in refusal(FRAME, 1.5)


def test_read_lists_makes_a_column_per_label():
    lists = ["gout; asthma", "asthma", None, "None", "asthma;;fever"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 5, 4], "sick": lists})
    table = read_table(frame, label_column="sick")
    # The most frequent label is the first, then they go by name.
    assert table.label_names == ("asthma", "fever", "gout")
    expected = [[1, 0, 1], [1, 0, 0], [np.nan] * 3, [0, 0, 0], [1, 1, 0]]
    assert_array_equal(table.Y, expected)
    note = "sick: 1 empty cell, not observed; write none where there is no label"
    assert note in str(table.columns)
    assert table.feature_names == ("x",)


def test_read_lists_takes_lists_and_other_separators():
    frame = pd.DataFrame({"x": [1.5, 2, 3], "sick": [["b"], [], None]})
    assert_array_equal(read_table(frame, label_column="sick").Y["b"], [1, 0, np.nan])
    frame["sick"] = ["a, b", "b", "none"]
    table = read_table(frame, label_column="sick", separator=",")
    assert_array_equal(table.Y, [[1, 1], [1, 0], [0, 0]])


def test_read_lists_refuses_a_column_without_labels(refusal):
    frame = pd.DataFrame({"x": [1.5, 2], "sick": ["none", ""]})
    assert "names no label in any row" in refusal(frame, label_column="sick")
    sentence = refusal(frame, label_column="sick", separator="")
    assert "separator of label lists is empty" in sentence
    assert "not both" in refusal(frame, "x", label_column="sick")
    assert "did you mean 'sick'?" in refusal(frame, label_column="sik")
