"""Columns: values by types of data frames, and by kinds that a user or model says."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import read_table
from mltsk.exceptions import InputError


def test_read_column_takes_the_kind_from_the_types_of_a_data_frame():
    frame = pd.DataFrame(
        {
            "number": pd.array([7, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "free": pd.Categorical([2, 10, None]),
            "ordered": pd.Categorical(
                ["low", "high", "low"], ["low", "medium", "high"], ordered=True
            ),
            "when": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
            "same": pd.Categorical(["a", "a", "a"]),
        }
    )
    table = read_table(frame)
    assert [column.kind for column in table.columns] == [
        "number",
        "yes/no",
        "nominal",
        "ordinal",
        "date",
        "constant",
    ]
    assert table.X.dtypes.astype(str).tolist() == [
        "float64",
        "boolean",
        "category",
        "category",
    ]
    assert table.X["free"].tolist() == ["2", "10", np.nan]
    assert table.X["ordered"].cat.categories.tolist() == ["low", "medium", "high"]
    assert table.X["ordered"].cat.ordered
    assert not table.X["free"].cat.ordered
    assert table.kinds == {
        "number": "number",
        "flag": "yes/no",
        "free": "nominal",
        "ordered": ("low", "medium", "high"),
    }


def test_read_column_reads_durations_as_hours():
    hours = pd.to_timedelta([1.5, 48, 7] * 4, unit="h")
    table = read_table(pd.DataFrame({"stay": hours}))
    assert table.X["stay"].tolist()[:3] == [1.5, 48, 7]
    assert table.columns[0].unit == "h"


def test_read_column_reads_columns_of_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "n": [1.5, None, 2],
            "b": [True, None, False],
            "c": list("xyx"),
            "l": [["p"], [], None],
        }
    )
    table = read_table(frame, label_column="l")
    assert table.kinds == {"n": "number", "b": "yes/no", "c": "nominal"}
    assert_array_equal(table.Y["p"], [1, 0, np.nan])
    with pytest.raises(InputError, match="The table is a LazyFrame of polars"):
        read_table(frame.lazy())


def test_read_column_reads_files_of_polars_as_its_frames(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "d": ["1.5", None, "2"],
            "o": list("xyx"),
            "c": list("xyx"),
            "l": [["p"], [], None],
        }
    )
    kinds = {
        "d": polars.Decimal(9, 2),
        "o": polars.Enum(["y", "x"]),
        "c": polars.Categorical,
    }
    frame = frame.cast(kinds)
    frame.write_parquet(tmp_path / "toy.parquet")
    table = read_table(tmp_path / "toy.parquet", label_column="l")
    same = read_table(frame, label_column="l")
    assert table.kinds == same.kinds == {"d": "number", "o": ("y", "x"), "c": "nominal"}
    pd.testing.assert_frame_equal(table.X, same.X)
    pd.testing.assert_frame_equal(table.Y, same.Y)


def test_read_column_does_what_the_user_says(column):
    assert column([1, 2, 2], nominal="it")[1] == ["1", "2", "2"]
    # This is how pandas stores 1 next to a hole.
    assert column([1.0, None, 3.0], nominal="it")[1] == ["1", np.nan, "3"]
    assert column(list(range(20)), number="it")[1] == list(range(20))
    assert column([True, False], number="it")[1] == [1, 0]
    report, values = column(["b", "a", "b"], id="it")
    assert (report.kind, values, report.notes) == ("identifier", None, ())
    assert column([1, 5, 2], drop="it")[0].kind == "dropped"


@pytest.mark.parametrize(
    "ordinal",
    ["it: low < mid < high", ["it:low<mid<high"], {"it": ["low", "mid", "high"]}],
)
def test_read_column_takes_ordered_levels_in_three_spellings(column, ordinal):
    report, values = column(["mid", "low", "high", ""], ordinal=ordinal)
    assert report.kind == "ordinal"
    assert report.levels == ("low", "mid", "high")
    assert report.model == "3 ordered levels"
    assert values == ["mid", "low", "high", np.nan]


@pytest.mark.parametrize(
    ("ordinal", "complaint"),
    [
        (
            "it: low < mid",
            "Column 'it' holds 'high', not among its levels 'low', 'mid'.",
        ),
        (
            "it: low < mid < high < top",
            "Column 'it' has no cell with the level 'top'; "
            "it holds 'high', 'low', 'mid'.",
        ),
        ("it: low < low < high", "needs two or more different levels"),
        ("it low, high", "is not written as"),
        ("its: low < high", "did you mean 'it'?"),
    ],
)
def test_read_column_refuses_levels_that_do_not_fit(column, ordinal, complaint):
    with pytest.raises(InputError) as refused:
        column(["mid", "low", "high"], ordinal=ordinal)
    assert complaint in str(refused.value)


def test_read_column_refuses_infinite_and_complex_numbers(refusal):
    assert "row 2: an infinite value" in refusal(pd.DataFrame({"it": [0.5, np.inf, 1]}))
    assert "holds complex numbers" in refusal(pd.DataFrame({"it": [0.5, 1j]}))


def test_read_column_keeps_sparse_columns_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_array(np.eye(3)), columns=list("abc")
    )
    table = read_table(frame)
    assert all(isinstance(kind, pd.SparseDtype) for kind in table.X.dtypes)
    assert (table.columns[0].kind, table.columns[0].distinct) == ("number", 2)


def test_read_column_reads_cells_by_the_kinds_that_a_model_knows():
    known = {
        "stage": "nominal",
        "dose": "number",
        "smoker": "yes/no",
        "grade": ("low", "high"),
    }
    new = {"extra": ["a", "b", "c"], "dose": [7, 8, 9], "grade": ["high", "top", None]}
    frame = pd.DataFrame(new | {"stage": [1.0, 9.0, None], "smoker": [1, 0, 1]})
    table = read_table(frame, kinds=known, id="extra")
    assert table.feature_names == tuple(known)
    # Numbers in this file, words for the model.
    assert table.X["stage"].tolist() == ["1", "9", np.nan]
    # Rising and distinct, but no identifier for the model.
    assert table.X["dose"].tolist() == [7, 8, 9]
    assert table.X["smoker"].tolist() == [True, False, True]
    assert table.X["grade"].tolist() == ["high", "top", np.nan]
    note = "grade: 1 cell with 'top', which the model has not seen"
    assert note in str(table.columns)
    assert table.ids["extra"].tolist() == ["a", "b", "c"]


def test_read_column_takes_a_third_word_as_new_to_a_model_and_no_mistake():
    table = read_table(
        pd.DataFrame({"smoker": ["1", "NO", "pipe", None]}), kinds={"smoker": "yes/no"}
    )
    assert table.X["smoker"].tolist() == ["yes", "no", "pipe", np.nan]
    note = "smoker: 1 cell with 'pipe', which the model has not seen"
    assert note in table.columns.notes


@pytest.mark.parametrize(
    ("cells", "kinds", "complaint"),
    [
        (["x", "y", "z"], {"it": "number"}, "Column 'it', row 1: 'x' is not a number"),
        (
            [f"{i}.5" for i in range(30)] + ["ward", "north"],
            {"it": "number"},
            "nor is there one below it: leave rows at the end that are no data out (--",
        ),
        (
            [1, 2, 3],
            {"its": "number"},
            "data has no column 'its' (it has 1 column); did you mean 'it'?",
        ),
        ([1, 2, 3], {"it": "date"}, "'date' is no kind that a model takes"),
    ],
)
def test_read_column_names_cells_that_a_model_cannot_take(
    refusal, cells, kinds, complaint
):
    assert complaint in refusal(pd.DataFrame({"it": cells}), kinds=kinds)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("k.A.", np.nan),
        (".", np.nan),
        ("(1,009)", -1009),
        ("<0.5", 0.5),
        ("1 - none", 1),
        ("3 kg", 3),
        ("6'2\"", 74),
        ("1.25M", 1_250_000),
    ],
)
def test_read_column_reads_a_single_cell_for_a_model_that_knows_numbers(cell, number):
    table = read_table(pd.DataFrame({"it": [cell]}), kinds={"it": "number"})
    assert_array_equal(table.X["it"], [number])


def test_read_column_counts_words_of_the_user_as_missing_for_a_model():
    table = read_table(
        pd.DataFrame({"it": ["x", "2"]}), kinds={"it": "number"}, missing="x"
    )
    assert np.isnan(table.X["it"][0])
