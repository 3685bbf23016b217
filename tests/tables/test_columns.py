"""Columns: values by the types of data frames, kinds that were said or that a model knows; labels; which kind it is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import read_table
from mltsk.exceptions import InputError

WORDS = [
    "a long sentence about patient",
    "quite another sentence on number",
    "something else was written about",
]
ISO, GERMAN = (
    [f"2020-01-{d:02}" for d in range(1, 13)],
    [f"{d}.11.2020" for d in range(1, 13)],
)
FRAME = pd.DataFrame({"x": [0.5, 1, 3], "p": [0, 1, 1], "q": ["no", "yes", None]})


def test_types_of_a_data_frame_say_the_kind():
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


def test_polars_frames_are_read():
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


def test_files_of_polars_are_read_as_its_frames(tmp_path):
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
    table, same = (
        read_table(source, label_column="l")
        for source in (tmp_path / "toy.parquet", frame)
    )
    assert table.kinds == same.kinds == {"d": "number", "o": ("y", "x"), "c": "nominal"}
    pd.testing.assert_frame_equal(table.X, same.X)
    pd.testing.assert_frame_equal(table.Y, same.Y)


def test_what_was_said_wins(column):
    assert column([1, 2, 2], nominal="it")[1] == ["1", "2", "2"]
    assert column([1.0, None, 3.0], nominal="it")[1] == [
        "1",
        np.nan,
        "3",
    ]  # as pandas stores 1 next to a hole
    assert column(list(range(20)), number="it")[1] == list(range(20))
    assert column([True, False], number="it")[1] == [1, 0]
    report, values = column(["b", "a", "b"], id="it")
    assert (report.kind, values, report.notes) == ("identifier", None, ())
    assert column([1, 5, 2], drop="it")[0].kind == "dropped"


@pytest.mark.parametrize(
    "ordinal",
    ["it: low < mid < high", ["it:low<mid<high"], {"it": ["low", "mid", "high"]}],
)
def test_ordered_levels_in_three_spellings(column, ordinal):
    report, values = column(["mid", "low", "high", ""], ordinal=ordinal)
    assert (report.kind, report.levels, report.model) == (
        "ordinal",
        ("low", "mid", "high"),
        "3 ordered levels",
    )
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
            "Column 'it' has no cell with the level 'top'; it holds 'high', 'low', 'mid'.",
        ),
        ("it: low < low < high", "needs two or more different levels"),
        ("it low, high", "is not written as"),
        ("its: low < high", "did you mean 'it'?"),
    ],
)
def test_levels_that_do_not_fit_are_refused(column, ordinal, complaint):
    with pytest.raises(InputError) as refused:
        column(["mid", "low", "high"], ordinal=ordinal)
    assert complaint in str(refused.value)


def test_infinite_and_complex_numbers_are_refused(refusal):
    assert "row 2: an infinite value" in refusal(pd.DataFrame({"it": [0.5, np.inf, 1]}))
    assert "holds complex numbers" in refusal(pd.DataFrame({"it": [0.5, 1j]}))


def test_sparse_columns_stay_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_array(np.eye(3)), columns=list("abc")
    )
    table = read_table(frame)
    assert all(isinstance(kind, pd.SparseDtype) for kind in table.X.dtypes)
    assert (table.columns[0].kind, table.columns[0].distinct) == ("number", 2)


def test_cells_are_read_by_the_kinds_that_a_model_knows():
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
    assert table.X["stage"].tolist() == [
        "1",
        "9",
        np.nan,
    ]  # numbers here, strings for the model
    assert table.X["dose"].tolist() == [
        7,
        8,
        9,
    ]  # rising and distinct: no identifier for the model
    assert table.X["smoker"].tolist() == [True, False, True]
    assert table.X["grade"].tolist() == ["high", "top", np.nan]
    assert "grade: 1 cell with 'top', which the model has not seen" in str(
        table.columns
    )
    assert table.ids["extra"].tolist() == ["a", "b", "c"]


def test_a_word_that_is_neither_yes_nor_no_is_new_to_a_model_and_no_mistake():
    table = read_table(
        pd.DataFrame({"smoker": ["1", "NO", "pipe", None]}), kinds={"smoker": "yes/no"}
    )
    assert table.X["smoker"].tolist() == ["yes", "no", "pipe", np.nan]
    assert (
        "smoker: 1 cell with 'pipe', which the model has not seen"
        in table.columns.notes
    )


@pytest.mark.parametrize(
    ("cells", "kinds", "complaint"),
    [
        (["x", "y", "z"], {"it": "number"}, "Column 'it', row 1: 'x' is not a number"),
        (
            [1, 2, 3],
            {"its": "number"},
            "data has no column 'its' (it has 1 columns); did you mean 'it'?",
        ),
        ([1, 2, 3], {"it": "date"}, "'date' is no kind that a model takes"),
    ],
)
def test_cells_that_a_model_cannot_take_are_named(refusal, cells, kinds, complaint):
    assert complaint in refusal(pd.DataFrame({"it": cells}), kinds=kinds)


def test_cells_that_the_user_calls_missing_are_missing_for_a_model():
    table = read_table(
        pd.DataFrame({"it": ["x", "2"]}), kinds={"it": "number"}, missing="x"
    )
    assert np.isnan(table.X["it"][0])


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
def test_ways_to_name_labels(labels, names):
    frame = FRAME if labels != -1 else FRAME.assign(x=[0, 1, 0])
    assert "".join(read_table(frame, labels).label_names) == names


def test_a_missing_label_is_not_observed():
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
def test_words_of_labels(cells, expected):
    assert_array_equal(read_table(FRAME.assign(p=cells), "p").Y["p"], expected)


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        (
            [-1, 1, 1],
            "holds '-1', '1', not 0 and 1 or yes and no: say which one means yes, labels={'p': '1'}",
        ),
        (
            [0, 7, 0],
            "holds '0', '7', not 0 and 1 or yes and no: say which one means yes, labels={'p': '7'}",
        ),
        (["neg", "pos", "neg"], "labels={'p': 'pos'} or --labels p=pos."),
        (
            [0, 0.5, 1],
            "holds '0', '0.5', '1', not 0 and 1 or yes and no: count words as missing",
        ),
    ],
)
def test_other_words_are_refused_until_somebody_says_what_means_yes(
    refusal, cells, complaint
):
    assert complaint in refusal(FRAME.assign(p=cells), "p")


def test_words_that_mean_yes():
    frame = FRAME.assign(p=["absent", "present", ""], q=[0, 0.5, 1])
    assert_array_equal(read_table(frame, "p=present").Y["p"], [0, 1, np.nan])
    assert_array_equal(
        read_table(FRAME.assign(p=[-1, 1, -1]), {"p": 1}).Y["p"], [0, 1, 0]
    )
    assert_array_equal(
        read_table(frame, {"p": "present", "q": [0.5, 1]}).Y,
        [[0, 0], [1, 1], [np.nan, 1]],
    )


def test_words_that_are_not_there(refusal):
    assert "has no cell with 'maybe'; it holds 'no', 'yes'" in refusal(
        FRAME, {"q": "maybe"}
    )
    assert "give all words that mean yes in a list" in refusal(
        FRAME.assign(p=["a", "b", "c"]), "p=c"
    )
    assert "has no column 'pp' (it has 3 columns); did you mean 'p'?" in refusal(
        FRAME, "pp,x"
    )
    assert "3 labels leave no feature" in refusal(FRAME, 3)
    assert "not 1.5" in refusal(FRAME, 1.5)


def test_a_column_of_lists():
    lists = ["gout; asthma", "asthma", None, "None", "asthma;;fever"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 5, 4], "sick": lists})
    table = read_table(frame, label_column="sick")
    assert table.label_names == (
        "asthma",
        "fever",
        "gout",
    )  # most frequent first, then by name
    assert_array_equal(
        table.Y, [[1, 0, 1], [1, 0, 0], [np.nan] * 3, [0, 0, 0], [1, 1, 0]]
    )
    assert (
        "sick: 1 empty cell, not observed; write none where there is no label"
        in str(table.columns)
    )
    assert table.feature_names == ("x",)


def test_lists_in_a_data_frame_and_another_separator():
    frame = pd.DataFrame({"x": [1.5, 2, 3], "sick": [["b"], [], None]})
    assert_array_equal(read_table(frame, label_column="sick").Y["b"], [1, 0, np.nan])
    frame["sick"] = ["a, b", "b", "none"]
    assert_array_equal(
        read_table(frame, label_column="sick", separator=",").Y,
        [[1, 1], [1, 0], [0, 0]],
    )


def test_lists_that_cannot_be_read(refusal):
    frame = pd.DataFrame({"x": [1.5, 2], "sick": ["none", ""]})
    assert "names no label in any row" in refusal(frame, label_column="sick")
    assert "separator of label lists is empty" in refusal(
        frame, label_column="sick", separator=""
    )
    assert "not both" in refusal(frame, "x", label_column="sick")
    assert "did you mean 'sick'?" in refusal(frame, label_column="sik")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1.5", "2.25", "3", "1.5"], "number"),
        (
            [f"{i}.5" for i in range(30)],
            "number",
        ),  # all distinct and rising, but measured
        ([3, 1, 2] * 5, "number"),
        (["5", "3", "9", "1"], "number"),  # distinct by chance
        (["0", "1", "1", "0"], "number"),
        (["Yes", "no", "YES"], "yes/no"),
        ([True, False, None], "yes/no"),
        (["t", "F", "t"], "yes/no"),
        (["male", "female", "male"], "nominal"),
        (["1", "2", "3a", "3b"] * 10, "nominal"),
        (["007", "012", "007"], "nominal"),  # codes, not numbers
        ([f"town {i % 30}" for i in range(400)], "nominal"),
        (["same", "same", None], "constant"),
        ([None, "NA", ""], "constant"),
        ([4, 4, 4], "constant"),
        (ISO, "date"),
        (GERMAN, "date"),
        (["3/14/21 12:30", "12/1/21 09:05"], "date"),
        (list(range(100, 120)), "identifier"),  # consecutive
        ([str(i) for i in range(100, 120)], "identifier"),
        ([f"P-{i:03}" for i in range(20)], "identifier"),
        ([f"{WORDS[i % 3]} {i}" for i in range(20)], "text"),
        ([f"town {i % 30}" for i in range(40)], "text"),  # hardly repeats
    ],
)
def test_kinds(column, cells, kind):
    report, values = column(cells)
    assert report.kind == kind
    assert (values is None) == (kind in ("constant", "date", "identifier", "text"))


@pytest.mark.parametrize(
    "name",
    ["id", "patient", "PatientID", "patient_id", "Nr.", "seqn", "case no", "sampleid"],
)
def test_names_of_identifiers(column, name):
    assert column([17, 12, 31], name)[0].kind == "identifier"
    assert column([17, 12, 12], name)[0].kind == "number"  # not unique


@pytest.mark.parametrize(
    "name", ["acid", "width", "grid", "age", "thyroid", "noise", "keyboard"]
)
def test_names_that_only_look_like_it(column, name):
    assert column([17, 12, 31], name)[0].kind == "number"


def test_what_was_left_out_and_what_may_be_codes_has_a_note(column):
    assert "say number or nominal" in column(list(range(20)))[0].notes[0]
    assert "days since" in column(ISO)[0].notes[0]
    assert column([None, None])[0].notes == ("left out: no value at all",)
    assert "say nominal for codes" in column([1, 2, 3] * 2)[0].notes[0]
    assert column(["31", "35", "38"])[0].notes == ()  # too few rows to tell
    assert column([0, 1, 1, 0])[0].notes == ()


def test_real_identifiers_are_found_and_real_measurements_kept(real_tables):
    pbc = read_table(real_tables / "pbc.csv", "ascites,hepatomegaly,spiders,edema")
    assert [c.name for c in pbc.columns if c.model.startswith("left out")] == [
        "patient"
    ]
    assert {c.name for c in pbc.columns if c.kind == "nominal"} == {"treatment", "sex"}
    assert pbc.Y.isna().sum().tolist() == [106, 106, 106, 0]
    nhefs = read_table(real_tables / "nhefs.csv", 15)
    assert [c.name for c in nhefs.columns if c.model.startswith("left out")] == ["seqn"]
    assert [c.name for c in nhefs.columns if c.kind == "yes/no"] == ["birthcontrol"]
    assert (
        nhefs.Y[["hbp", "diabetes", "boweltrouble", "hbpmed"]].isna().sum().tolist()
        == [791] * 4
    )
    assert nhefs.X.shape == (1629, 20)
