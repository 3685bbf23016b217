"""Columns of a table as inputs of a graph: words, gaps, and words never seen."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, to_onnx

from .graphs import DATA, agrees
from .lines import with_lines

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def cells(made, X, dtype):
    """Columns of a frame as the inputs of a graph."""
    words = {True: "yes", False: "no"}
    feed = {}
    for value, (_, column) in zip(made.graph.input, X.items(), strict=True):
        if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            known = [
                "" if pd.isna(cell) else words.get(cell, cell)
                for cell in column.astype(object)
            ]
            feed[value.name] = np.array(known, dtype=object)[:, None]
        else:
            feed[value.name] = pd.to_numeric(column.astype(object)).to_numpy(
                dtype, na_value=np.nan
            )[:, None]
    return feed


def table_agrees(model, X, dtype="float64", atol=1e-9):
    made = to_onnx(model, dtype=dtype)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    scores, labels, chance = session.run(None, cells(made, X, dtype))
    thresholds = model.system_.thresholds
    assert_allclose(scores, model.decision_function(X) + thresholds, atol=atol)
    assert_array_equal(labels, model.predict(X))
    assert_allclose(chance, model.predict_proba(X), atol=10 * atol)
    return made


@pytest.mark.parametrize("max_statements", [None, 6])
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (20, 0), (5, 1)])
@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_to_onnx_takes_words_gaps_and_words_never_seen(
    scale, n_rules, order, max_statements, table
):
    X, Y, new = table
    model = MLTSKClassifier(
        n_rules, order=order, scale=scale, max_statements=max_statements
    ).fit(X, Y)
    table_agrees(model, new)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_to_onnx_takes_words_and_gaps_in_lines_and_pairs(dtype, table, own_rules):
    X, Y, new = table
    model = with_lines(MLTSKClassifier(3, n_pairs=12).fit(X, Y, rules=own_rules))
    if dtype == "float32":
        for name in ("age", "scores", "albumin"):
            new = new.assign(**{name: new[name].astype(dtype).astype("float64")})
    table_agrees(model, new, dtype)


def test_to_onnx_takes_cells_of_pairs_of_a_short_model(table):
    X, Y, new = table
    short = MLTSKClassifier(0, n_pairs=8, max_statements=20).fit(X, Y)
    assert len(short.centers_)
    table_agrees(short, new)


@pytest.mark.parametrize("max_statements", [None, 9])
def test_to_onnx_takes_rules_that_the_user_gave(max_statements, table, own_rules):
    X, Y, new = table
    table_agrees(
        MLTSKClassifier(3, order=0, max_statements=max_statements).fit(
            X, Y, rules=own_rules
        ),
        new,
    )
    numbers = MLTSKClassifier(0).fit(
        DATA.X, DATA.Y, rules=[{"x0": (0.2, 1.0), "x3": (None, 0.5)}]
    )
    agrees(numbers, DATA.X)


def test_to_onnx_has_an_input_of_its_own_type_for_each_column(table):
    X, Y, new = table
    made = table_agrees(
        MLTSKClassifier(n_rules=3).fit(X, Y),
        new.astype({"age": "f4", "albumin": "f4"}),
        "float32",
        1e-5,
    )
    number = onnx.TensorProto.FLOAT
    word = onnx.TensorProto.STRING
    types = {}
    for value in made.graph.input:
        types[value.name] = value.type.tensor_type.elem_type
    assert types == {
        "age": number,
        "smoker": word,
        "sex": word,
        "stage": word,
        "scores_": number,
        "fever": word,
        "clinic": number,
        "albumin": number,
    }
    columns = json.loads(
        {prop.key: prop.value for prop in made.metadata_props}["columns"]
    )
    assert columns["names"] == list(X.columns)
    assert (columns["kinds"][1], columns["values"][1]) == (
        "nominal",
        ["never", "former", "daily"],
    )


def test_to_onnx_takes_nominal_fractions_and_columns_that_say_nothing(table):
    X, Y, _ = table
    X = X[["age"]].assign(
        dose=np.array([0.1, 0.1 + 0.2, 1e6])[np.arange(len(X)) % 3],
        nothing=None,
        none="",
    )
    X["order"] = pd.Categorical([None] * len(X), [], ordered=True)
    model = MLTSKClassifier(
        n_rules=3, categorical_features=["dose", "nothing", "none"]
    ).fit(X, Y)
    table_agrees(model, X)


@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["unit", None])
def test_to_onnx_agrees_where_few_features_were_used(scale, n_rules, order):
    X = np.hstack([np.zeros((80, 15)), DATA.X])
    rows = sparse.csr_array(X)
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(rows, DATA.Y)
    assert model.system_.used is not None
    agrees(model, np.vstack([X, np.random.default_rng(0).normal(size=X.shape)]))


def test_to_onnx_joins_conditions_by_their_minimum(table):
    X, Y, new = table
    table_agrees(MLTSKClassifier(20, tnorm="minimum").fit(X, Y), new)
