"""Columns of a table as columns of numbers: kinds, rare values, gaps, new values."""

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.columns import Columns, read_columns
from mltsk.exceptions import InputError
from mltsk.frames import MISSING

from .conftest import effects_of_features


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    smoker = rng.choice(["never", "former", "daily"], n, p=[0.5, 0.3, 0.2]).astype(
        object
    )
    smoker[:2] = "pipe", "cigar"  # rare ones
    albumin = np.where(rng.random(n) < 0.3, np.nan, rng.normal(3.5, 0.5, n))
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "smoker": smoker,
            "sex": pd.Categorical(rng.choice(["f", "m"], n, p=[0.7, 0.3])),
            "stage": pd.Categorical(
                rng.choice(["I", "II", "III"], n), ["I", "II", "III"], ordered=True
            ),
            "fever": pd.array(rng.random(n) < 0.4, dtype="boolean"),
            "albumin": albumin,
        }
    )


def columns_of(X, **given):
    return read_columns(
        X, list(X.columns), given.get("nominal"), np.ones(len(X), dtype=bool)
    )


def test_read_columns_takes_kinds_from_types():
    columns = columns_of(frame())
    assert columns.kinds == (
        "number",
        "nominal",
        "nominal",
        "ordinal",
        "nominal",
        "number",
    )
    assert columns.part_names == (
        "age", "smoker = never", "smoker = former", "smoker = daily", "smoker = other",
        "sex = m", "stage", "fever = yes", "albumin", "albumin not measured",
    )  # fmt: skip
    assert set(columns.rare[1]) == {"pipe", "cigar"}
    assert columns.monotone.tolist() == [part == "stage" for part in columns.part_names]


def test_expand_makes_values_zeros_and_ones_and_keeps_gaps():
    X = frame()
    columns = columns_of(X)
    new = pd.DataFrame(
        {
            "age": [50, np.nan],
            "smoker": ["snuff", None],  # never seen; missing
            "sex": ["m", "f"],
            "stage": ["II", None],
            "fever": [True, pd.NA],
            "albumin": [np.nan, 3.0],
        }
    )
    Z = dict(zip(columns.part_names, columns.expand(new).T, strict=True))
    assert_array_equal(Z["age"], [50, np.nan])
    for value in ("never", "former", "daily", "other"):
        assert np.isnan(Z[f"smoker = {value}"]).all()
    assert_array_equal(Z["sex = m"], [1, 0])
    assert_array_equal(Z["stage"], [1, np.nan])
    assert_array_equal(Z["fever = yes"], [1, np.nan])
    assert_array_equal(Z["albumin not measured"], [1, 0])
    assert_array_equal(
        columns.expand(X)[:2, columns.part_names.index("smoker = other")], [1, 1]
    )


def test_shares_of_a_feature_are_those_of_a_number_and_gaps_count_as_nothing():
    columns = columns_of(frame())
    by_feature = np.zeros(6)
    for share, column in zip(columns.shares, columns.parts, strict=True):
        if column.value != MISSING:
            by_feature[column.feature] += share
    assert_allclose(by_feature, 1.0)
    assert columns.shares[-1] < 1e-9


def test_columns_are_made_again_from_plain_data():
    columns = columns_of(frame())
    again = Columns(**dict(vars(columns)))
    assert_array_equal(again.expand(frame(seed=1)), columns.expand(frame(seed=1)))


def test_expand_lets_any_value_of_a_column_that_was_empty_count_as_nothing():
    X = people([None] * 40).astype({"sex": object})
    columns = read_columns(X, ["sex", "age"], None, np.full(40, True))
    empty = columns.expand(X[:3])
    for values in (["male"] * 3, [True, False, None]):
        assert_array_equal(columns.expand(people(values)), empty)


def test_expand_lets_a_value_that_was_never_seen_count_as_nothing():
    X, Y = frame(200), np.random.default_rng(1).integers(0, 2, (200, 2))
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    new = X.iloc[:5].copy()
    new["smoker"] = "snuff"
    effects = effects_of_features(clf.system_, clf.columns_.expand(new), 0)
    smoker = [i for i, (d, _) in enumerate(clf.columns_.parts) if d == 1]
    assert_array_equal(effects[:, smoker], 0.0)


def test_read_columns_reads_polars_frames_as_pandas_frames():
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    X = frame()
    same = polars.DataFrame(
        {
            "age": X["age"].to_list(),
            "smoker": X["smoker"].to_list(),
            "sex": X["sex"].astype(object).to_list(),
            "stage": polars.Series(
                X["stage"].astype(object).to_list(),
                dtype=polars.Enum(["I", "II", "III"]),
            ),
            "fever": X["fever"].astype(object).to_list(),
            "albumin": [None if x != x else x for x in X["albumin"]],
        }
    )
    assert_array_equal(columns_of(same).expand(same), columns_of(X).expand(X))
    assert columns_of(same) == columns_of(X)
    exact = same.with_columns(polars.col("age", "albumin").cast(polars.Decimal(20, 16)))
    assert (
        columns_of(exact.to_pandas()).kinds
        == columns_of(exact).kinds
        == columns_of(X).kinds
    )
    assert_allclose(columns_of(exact).expand(exact), columns_of(X).expand(X))


def test_read_columns_takes_named_nominal_features():
    X = np.column_stack([np.repeat([1.0, 2.0, 5.0], 20), np.linspace(0, 1, 60)])
    Y = np.column_stack([X[:, 0] == 2, X[:, 1] > 0.5]).astype(int)
    for features in ([0], [True, False]):
        clf = MLTSKClassifier(n_rules=0, categorical_features=features).fit(X, Y)
        assert clf.system_.feature_names == ("x0 = 1", "x0 = 2", "x0 = 5", "x1")
        assert (
            clf.predict_proba(X[25:26])[0, 0] > 0.5 > clf.predict_proba(X[45:46])[0, 0]
        )
    named = MLTSKClassifier(n_rules=0, categorical_features=["kind"]).fit(
        pd.DataFrame(X, columns=["kind", "size"]), Y
    )
    assert_allclose(
        named.decision_function(pd.DataFrame(X, columns=["kind", "size"])),
        clf.decision_function(X),
    )


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.date_range("2020-01-01", periods=60), "'strange' holds dates"),
        ([datetime.date(2020, 1, 1)] * 60, "'strange' holds dates"),
        (np.full(60, 1 + 2j), "complex"),
        ([[1, 2]] * 60, "a list per cell"),
        ([np.inf] + [1.0] * 59, "infinity in column 'strange'"),
    ],
)
def test_read_columns_refuses_by_name_what_is_no_column(column, message):
    X = frame().assign(strange=column)
    with pytest.raises(InputError, match=message):
        MLTSKClassifier().fit(X, np.random.default_rng(0).integers(0, 2, (60, 2)))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["colour"], "names 'colour'"),
        ([7], "names 7"),
        ([True], "mask"),
        (None, "'smoker' holds words"),
    ],
)
def test_read_columns_names_wrong_categorical_features(features, message):
    with pytest.raises(InputError, match=message):
        MLTSKClassifier(categorical_features=features).fit(
            frame(), np.eye(60, 2, dtype=int)
        )


def test_expand_names_a_number_that_became_a_word():
    clf = MLTSKClassifier(n_rules=0).fit(
        frame(), np.random.default_rng(0).integers(0, 2, (60, 2))
    )
    with pytest.raises(InputError, match=r"'age' holds 'old'; it held numbers"):
        clf.predict(frame().assign(age="old"))


def test_read_columns_warns_of_words_that_are_all_different():
    X = frame().assign(note=[f"text {i}" for i in range(60)])
    with pytest.warns(UserWarning, match="'note' holds 60 different words"):
        MLTSKClassifier(n_rules=0).fit(
            X, np.random.default_rng(0).integers(0, 2, (60, 2))
        )


def test_words_are_those_of_the_table():
    X = frame()
    words = columns_of(X).words(X.assign(smoker=["snuff", None] + ["daily"] * 58))
    assert words[:3, 1].tolist() == ["snuff", None, "daily"]
    assert words[0, 0] is None
    assert words[0, 4] in ("yes", "no")


def test_expand_takes_a_number_that_is_missing_in_every_row():
    X = frame()
    assert np.isnan(columns_of(X).expand(X.assign(age=None))[:, 0]).all()


def test_expand_takes_a_new_word_as_neither_measured_nor_not():
    X = pd.DataFrame({"a": ["x", "y", None] * 20})
    columns = columns_of(X)
    assert columns.part_names == ("a = y", "a not measured")
    assert_array_equal(
        columns.expand(pd.DataFrame({"a": ["x", "z", None]})),
        [[0, 0], [np.nan, np.nan], [np.nan, 1]],
    )


def test_part_names_keep_our_own_words_apart():
    X = pd.DataFrame(
        {
            "a": ["x", "other"] * 30
            + ["rare", "not measured", "not measured", None, None, None]
        }
    )
    columns = columns_of(X)
    assert columns.part_names == (
        "a = other",
        "a = x",
        "a = other values",
        "a not measured",
    )
    assert_array_equal(columns.expand(X)[-5:, 3], 1.0)


@pytest.mark.parametrize("words", [["1.0", "2.50"] * 30, ["east", "west"] * 30])
def test_expand_refuses_numbers_where_the_model_knows_words(words):
    columns = columns_of(pd.DataFrame({"a": words}))
    with pytest.raises(InputError) as refused:
        columns.expand(pd.DataFrame({"a": [1.0, 2.5]}))
    assert str(refused.value).startswith("Column 'a' holds numbers (1); it held words")


def test_expand_refuses_booleans_as_text_where_the_model_knows_booleans():
    columns = columns_of(pd.DataFrame({"a": [True, False] * 30}))
    assert_array_equal(columns.expand(pd.DataFrame({"a": [True, False]})), [[1], [0]])
    with pytest.raises(InputError, match="'a' holds the text 'False'; it held True"):
        columns.expand(pd.DataFrame({"a": ["False", "True"]}))


def test_expand_takes_numbers_that_are_written_as_the_words_of_the_model():
    columns = columns_of(pd.DataFrame({"a": ["1", "2"] * 30}))
    new = columns.expand(pd.DataFrame({"a": [2.0, 1.0, 7.0]}))
    assert_array_equal(new, [[1], [0], [np.nan]])  # 7 was never seen


def people(words):
    ages = np.arange(float(len(words)))
    return pd.DataFrame({"sex": words, "age": ages})


def test_expand_reads_other_capitals_of_one_known_word_as_this_word_and_warns():
    X = people(["male", "female"] * 20)
    ill = pd.DataFrame({"ill": X["sex"] == "male"})
    clf = MLTSKClassifier(n_rules=0).fit(X, ill)
    new = X.assign(sex=X["sex"].str.title())
    says = "Column 'sex' holds 'Female', which is read as 'female'"
    with pytest.warns(UserWarning, match=says) as warned:
        probabilities = clf.predict_proba(new)
    assert_array_equal(probabilities, clf.predict_proba(X))
    assert [warning.filename for warning in warned] == [__file__]
    with pytest.warns(UserWarning, match="'Male', which is read as 'male'"):
        assert "never seen" not in str(clf.explain(new[:1]))
    points = clf.points(2)
    with pytest.warns(UserWarning, match=says):
        assert_array_equal(points.predict_proba(new), points.predict_proba(X))


def test_expand_reads_no_in_other_capitals_as_it_reads_yes():
    X = people(["yes", "no"] * 20)
    columns = read_columns(X, ["sex", "age"], None, np.full(40, True))
    with pytest.warns(UserWarning, match="'No', which is read as 'no'"):
        numbers = columns.expand(people(["Yes", "No"] * 20))
    assert_array_equal(numbers, columns.expand(X))


@pytest.mark.parametrize(
    ("known", "new", "says"),
    [
        (["north", "south"], [True, False], "holds True and False; it held words"),
        (["3", "4"], ["3.0", "4.0"], "'3.0', which was '3' when"),
        (["3", "4"], ["03", "4"], "'03', which was '3' when"),
    ],
)
def test_expand_refuses_a_column_of_words_that_changed_its_kind(known, new, says):
    X = people(known * 20)
    columns = read_columns(X, ["sex", "age"], None, np.full(40, True))
    with pytest.raises(InputError, match=says):
        columns.expand(people(new * 20))


@pytest.mark.parametrize(
    ("known", "new"),
    [(("male", "Male"), "MALE"), (("Aa", "aA"), "AA"), (("aa", "bb"), "AA")],
    ids=["known in two ways", "genotypes", "short"],
)
def test_expand_lets_capitals_that_may_mean_something_count_as_never_seen(known, new):
    X = people([*known] * 20)
    columns = read_columns(X, ["sex", "age"], None, np.full(40, True))
    numbers = columns.expand(people([new] * 3))
    assert np.isnan(numbers[:, 0]).all()
    assert columns.words(people([new]))[0, 0] == new
