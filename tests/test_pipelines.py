"""Pipelines that end in a classifier of ours: names of their features, rows, pages."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mltsk import (
    MLTSKClassifier,
    explore,
    load,
    pipeline_classifier,
    pipeline_features,
    read_table,
    save,
    to_dict,
    to_onnx,
)
from mltsk.exceptions import InputError
from mltsk.pipelines import with_system

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.integers(20, 90, 80),
        "albumin": np.where(RNG.random(80) < 0.2, np.nan, RNG.normal(3.5, 0.5, 80)),
        "smoker": RNG.choice(["never", "daily"], 80),
    }
)
Y = pd.DataFrame({"old": X.age > 50, "ill": X.smoker == "daily"}).astype(int)
NAMES = ["age", "albumin", "smoker_daily", "smoker_never"]


def pipeline(last=None, **given):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, ["age", "albumin"]),
        (OneHotEncoder(sparse_output=False), ["smoker"]),
        **given,
    )
    return make_pipeline(columns, last or MLTSKClassifier(n_rules=2))


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.filterwarnings("error")
def test_pipeline_classifier_speaks_in_the_names_of_the_table(output):
    pipe = pipeline().set_output(transform=output).fit(X, Y)
    clf = pipeline_classifier(pipe)
    assert clf.feature_names_in_.tolist() == NAMES
    assert "smoker_daily" in str(clf.rules_)
    rows = pipeline_features(pipe, X)
    assert_array_equal(clf.decision_function(rows), pipe.decision_function(X))
    assert "smoker_daily" in str(clf.explain(rows[:1]))
    assert clf.shorten(max_statements=2).n_statements_.max() <= 2
    # The pipeline stays as it was.
    assert "smoker_daily" not in getattr(pipe[-1], "feature_names_in_", ())


@pytest.mark.parametrize("output", ["default", "polars"])
@pytest.mark.filterwarnings("error")
def test_pipeline_features_keep_polars_frames(output):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    pipe, frame = pipeline().set_output(transform=output), polars.from_pandas(X)
    rows = pipeline_features(pipe.fit(frame, polars.from_pandas(Y)), frame)
    assert (type(rows), rows.columns) == (polars.DataFrame, NAMES)
    assert_array_equal(
        pipeline_classifier(pipe).decision_function(rows), pipe.decision_function(frame)
    )


def test_pipeline_classifier_is_shortened_in_the_names_of_the_table():
    pipe = pipeline().fit(X, Y)
    pipe[-1].shorten(max_statements=3)  # in the names that the classifier has
    short = pipeline_classifier(pipe).shorten(max_statements=3)
    assert list(short.rules_.feature_names) == NAMES


def test_pipeline_classifier_keeps_prefixes_where_names_would_repeat():
    columns = make_column_transformer(
        (SimpleImputer(), ["age"]), (StandardScaler(), ["age"])
    )
    pipe = make_pipeline(columns, MLTSKClassifier(n_rules=0)).fit(X, Y)
    assert pipeline_classifier(pipe).feature_names_in_.tolist() == [
        "simpleimputer__age",
        "standardscaler__age",
    ]


def test_pipeline_classifier_names_gaps_that_steps_leave():
    pipe = make_pipeline(StandardScaler(), MLTSKClassifier(n_rules=0)).fit(
        X[["age", "albumin"]], Y
    )
    assert pipeline_classifier(pipe).system_.feature_names == (
        "age",
        "albumin",
        "albumin not measured",
    )


def test_pipeline_classifier_returns_what_is_no_pipeline():
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    pipe = Pipeline([("nothing", "passthrough"), ("clf", clf)])
    for model in (clf, pipe):
        assert pipeline_classifier(model) is clf
        assert pipeline_features(model, X) is X
        assert to_dict(model)["kind"] == "MLTSKClassifier"


def test_pipeline_features_leave_the_callers_frame_as_it_is():
    frame = X[["age"]].rename(columns={"age": "same__age"})
    same = make_column_transformer(("passthrough", ["same__age"])).set_output(
        transform="pandas"
    )
    keeps = FunctionTransformer(feature_names_out="one-to-one")
    pipe = make_pipeline(keeps, same, MLTSKClassifier(n_rules=0)).fit(frame, Y)
    pipeline_features(pipe, frame)
    assert list(frame.columns) == ["same__age"]


@pytest.mark.parametrize(
    "last", [None, MLTSKClassifier(n_rules=2, threshold=("recall", 0.9))]
)
def test_explore_takes_a_pipeline(last, tmp_path):
    pipe = pipeline(last).fit(X, Y)
    page = explore(pipe, tmp_path / "page.html", X, Y).read_text(encoding="utf-8")
    assert "smoker_daily" in page
    assert "onehotencoder__" not in page


def test_pipeline_classifier_names_a_step_without_names():
    steps = [
        ("fill", SimpleImputer()),
        ("log", FunctionTransformer(np.log1p)),
        ("clf", MLTSKClassifier(n_rules=0)),
    ]
    pipe = Pipeline(steps).fit(X[["age", "albumin"]], Y)
    step = r"Step 'log' \(FunctionTransformer\)"
    sentence = rf"^{step} does not name the columns .* pipe\[-1\]"
    with pytest.raises(InputError, match=sentence):
        pipeline_classifier(pipe)
    with pytest.raises(NotFittedError):
        pipeline_classifier(pipeline())


@pytest.mark.parametrize(
    ("write", "done"), [(to_onnx, "written as ONNX"), (to_dict, "plain data")]
)
def test_to_onnx_and_to_dict_name_a_step_that_cannot_be_written(write, done):
    pipe = pipeline().fit(X, Y)
    step = r"Step 'columntransformer' \(ColumnTransformer\)"
    advice = "fit MLTSKClassifier on the table itself"
    with pytest.raises(InputError, match=rf"^{step} cannot be {done}: {advice}"):
        write(pipe)
    assert write(pipe[-1])


def test_explore_refuses_a_pipeline_that_ends_in_something_else(tmp_path):
    pipe = pipeline(LogisticRegression()).fit(X, Y["ill"])
    with pytest.raises(
        InputError, match="A LogisticRegression has no rules to explore"
    ):
        explore(pipe, tmp_path / "page.html", X)


def test_pipeline_classifier_names_texts_by_their_words(tmp_path):
    texts = pd.Series(["red apple", "green pear", "red pear", "blue sky"] * 20)
    Y = np.stack(
        [texts.str.contains("apple"), texts.str.contains("red")], axis=1
    ).astype(int)
    pipe = make_pipeline(TfidfVectorizer(), MLTSKClassifier(n_rules=0)).fit(texts, Y)
    assert "more likely with apple" in str(pipeline_classifier(pipe).rules_)
    assert_array_equal(
        load(save(pipe, tmp_path / "m.skops")).predict(texts), pipe.predict(texts)
    )
    assert "apple" in explore(pipe, tmp_path / "page.html", texts, Y).read_text(
        encoding="utf-8"
    )


def test_a_bare_short_model_predicts_what_the_short_model_predicts():
    table = read_table("pbc")
    long = MLTSKClassifier().fit(table.X, table.Y)
    system = long.fit_record_.bare_system(5, long.max_conditions)
    bare = with_system(long, system)
    short = long.shorten(5)
    assert_array_equal(bare.predict_proba(table.X), short.predict_proba(table.X))
    assert system.certainty is None
    assert short.system_.certainty is not None
