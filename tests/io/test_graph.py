"""ONNX graphs give what Python gives."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK, to_onnx
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io.graph import Graph
from mltsk.paper.methods import MLkNN

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

DATA = make_multilabel_rules(n_samples=80, random_state=0)
TIED = np.round(DATA.X)  # few distinct values, and one feature with none
TIED[:, 3] = 2.0


def run(model, X, dtype="float64"):
    session = onnxruntime.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString()
    )
    return session.run(["scores", "labels"], {"X": np.asarray(X, dtype=dtype)})


def agrees(model, X, atol=1e-9):
    scores, labels = run(model, X)
    assert_allclose(scores, model.decision_function(X) + model.thresholds_, atol=atol)
    assert_array_equal(labels, model.predict(X))


@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("X", [DATA.X, TIED], ids=["continuous", "tied and constant"])
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
def test_to_onnx_agrees_on_every_scale_and_order_beyond_the_training_range(
    scale, X, n_rules, order
):
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(X[:60], DATA.Y[:60])
    agrees(model, np.vstack([X, 3 * X, np.zeros((1, 10))]))


@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["unit", None])
def test_to_onnx_agrees_where_few_features_were_used(scale, n_rules, order):
    X = np.hstack([np.zeros((80, 15)), DATA.X])
    rows = sparse.csr_array(X)
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(rows, DATA.Y)
    assert model.system_.used is not None
    agrees(model, np.vstack([X, np.random.default_rng(0).normal(size=X.shape)]))


@pytest.mark.parametrize("is_gappy", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["quantile", "triangles", "standard", "minmax", None])
def test_to_onnx_counts_missing_numbers_as_nothing(scale, n_rules, order, is_gappy):
    gaps = np.random.default_rng(0).random(DATA.X.shape) < 0.2
    gaps[0] = True
    gappy = np.where(gaps, np.nan, DATA.X)
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(
        gappy if is_gappy else DATA.X, DATA.Y
    )
    assert (model.columns_ is not None) == is_gappy
    agrees(model, np.vstack([gappy, DATA.X]))


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
    assert_allclose(scores, model.decision_function(X) + model.thresholds_, atol=atol)
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


def test_to_onnx_joins_conditions_by_their_minimum(table):
    X, Y, new = table
    table_agrees(MLTSKClassifier(20, tnorm="minimum").fit(X, Y), new)


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


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_to_onnx_agrees_on_the_papers_system_where_no_rule_fires():
    model = PaperMLTSK(n_rules=3).fit(TIED[:60], DATA.Y[:60])
    far = np.vstack([TIED, 1e3 * TIED, TIED + 0.25])
    assert (model.system_.firing_strengths(far).sum(axis=1) == 0).any()
    agrees(model, far)


def test_to_onnx_knows_absent_conditions_and_thresholds_of_each_label():
    model = MLTSKClassifier(n_rules=3, threshold=np.linspace(0.1, 0.9, 5)).fit(
        DATA.X, DATA.Y
    )
    model.widths_[0, 2:] = np.inf
    agrees(model, DATA.X)
    agrees(model.shorten(max_statements=3, max_conditions=2), DATA.X)


def test_to_onnx_gives_the_calibrated_probabilities():
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (found,) = session.run(["probabilities"], {"X": DATA.X})
    assert_allclose(found, model.predict_proba(DATA.X), atol=1e-9)
    paper = to_onnx(PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y))
    assert [output.name for output in paper.graph.output] == ["scores", "labels"]


def test_to_onnx_takes_one_label_one_rule_one_feature():
    model = MLTSKClassifier(n_rules=1).fit(DATA.X[:, :1], DATA.Y[:, 0])
    scores, labels = run(model, DATA.X[:, :1])
    assert_allclose(
        scores[:, 0],
        model.decision_function(DATA.X[:, :1]) + model.thresholds_,
        atol=1e-12,
    )
    assert_array_equal(labels, model.predict(DATA.X[:, :1]))


@pytest.mark.parametrize(
    "classes", [["no", "yes"], [-1, 1], ["a", "b", "c"], [1.0, 2.0, 7.0], [False, True]]
)
def test_to_onnx_gives_classes_where_the_model_has_classes(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    assert_array_equal(run(model, DATA.X)[1], model.predict(DATA.X))


def test_to_onnx_agrees_on_tuned_thresholds():
    model = MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)).fit(DATA.X, DATA.Y)
    assert_array_equal(run(model, DATA.X)[1], model.predict(DATA.X))


def test_to_onnx_scores_float32_rows_as_such():
    model = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    rows = DATA.X.astype(np.float32).astype(np.float64)
    assert_allclose(
        run(model, DATA.X, "float32")[0],
        model.decision_function(rows) + 0.5,
        atol=1e-12,
    )


def test_to_onnx_writes_names_and_thresholds_as_metadata():
    made = to_onnx(MLTSKClassifier(n_rules=2).fit(*DATA.frames()))
    props = {prop.key: prop.value for prop in made.metadata_props}
    assert props["label_names"].startswith('["label')
    assert props["thresholds"] == "[0.5, 0.5, 0.5, 0.5, 0.5]"
    assert len({node.op_type for node in made.graph.node}) < 25
    assert {node.domain for node in made.graph.node} == {""}


@pytest.mark.parametrize("model", [MLTSKClassifier(), MLkNN().fit(DATA.X, DATA.Y), 3])
def test_to_onnx_refuses_what_cannot_be_a_graph(model):
    with pytest.raises(InputError, match=r"is not fitted|cannot be written as ONNX"):
        to_onnx(model)


def test_to_onnx_names_the_install_command_of_a_missing_part(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[onnx\]"$'):
        to_onnx(MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y))


def test_graph_keeps_shapes_and_types_of_constants_and_chains_nodes_by_name():
    g = Graph(onnx)
    g.constant(2.0)
    g.integers([1, 2])
    g.constant(np.array(["a", "b"]), object)
    assert [onnx.numpy_helper.to_array(c).shape for c in g.constants] == [
        (),
        (2,),
        (2,),
    ]
    types = onnx.TensorProto
    assert [c.data_type for c in g.constants] == [
        types.DOUBLE,
        types.INT64,
        types.STRING,
    ]
    last = g.add("Neg", g.add("Abs", "X"), name="out")
    assert (last, g.nodes[1].input[0]) == ("out", g.nodes[0].output[0])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
@pytest.mark.parametrize("size", [1e-310, 1e-30, 1.0, 1e30, 1e300])
def test_to_onnx_answers_as_python_does_far_from_the_data_and_in_any_unit(
    size, scale, order
):
    if scale is None and not 1e-40 < size < 1e40:
        return  # such numbers are refused
    X = DATA.X * size
    model = MLTSKClassifier(n_rules=3, scale=scale, order=order).fit(X, DATA.Y)
    far = np.zeros((4, X.shape[1]))
    far[1:] = [[1e308], [-1e308], [5e-324]]
    scores, _ = run(model, np.vstack([X, far]))
    expected = model.decision_function(np.vstack([X, far])) + model.thresholds_
    assert np.isfinite(scores).all()
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
