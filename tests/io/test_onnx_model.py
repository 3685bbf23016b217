"""ONNX models: what they answer, what they say of themselves, what is refused."""

import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, to_onnx
from mltsk.exceptions import InputError
from mltsk.paper.methods import MLkNN
from mltsk.pipelines import with_thresholds

from .graphs import DATA, run

onnxruntime = pytest.importorskip("onnxruntime")


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
        model.decision_function(DATA.X[:, :1]) + model.system_.thresholds,
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


@pytest.mark.parametrize("threshold", [0.5, [0.2, 0.5, 0.9]])
def test_to_onnx_gives_probabilities_of_classes_that_sum_to_1(threshold):
    y = np.array(["a", "b", "c"])[np.arange(80) % 3]
    model = MLTSKClassifier(n_rules=2, threshold=threshold).fit(DATA.X, y)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (chances,) = session.run(["probabilities"], {"X": DATA.X})
    assert_allclose(chances, model.predict_proba(DATA.X), atol=1e-12)
    assert_allclose(chances.sum(axis=1), 1.0)


def test_to_onnx_agrees_on_tuned_thresholds():
    model = MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)).fit(DATA.X, DATA.Y)
    assert_array_equal(run(model, DATA.X)[1], model.predict(DATA.X))


def test_to_onnx_gives_labels_exactly_where_its_probabilities_reach_thresholds():
    model = MLTSKClassifier(n_rules=0, max_statements=4).fit(DATA.X, DATA.Y)
    proba = model.predict_proba(DATA.X)
    for row in range(5):  # many rows of so short a model have these probabilities
        fixed = with_thresholds(model, proba[row])
        session = onnxruntime.InferenceSession(to_onnx(fixed).SerializeToString())
        labels, chances = session.run(["labels", "probabilities"], {"X": DATA.X})
        assert_array_equal(labels, chances >= fixed.thresholds_)


def test_to_onnx_scores_float32_rows_as_such():
    model = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    rows = DATA.X.astype(np.float32).astype(np.float64)
    assert_allclose(
        run(model, DATA.X, "float32")[0],
        model.decision_function(rows),  # a probability of .5 has log-odds of 0
        atol=1e-12,
    )


def test_to_onnx_writes_names_and_thresholds_as_metadata():
    made = to_onnx(MLTSKClassifier(n_rules=2).fit(*DATA.frames()))
    props = {prop.key: prop.value for prop in made.metadata_props}
    assert props["label_names"].startswith('["label')
    # log-odds, as scores: the least that are a probability of .5
    assert_allclose(json.loads(props["thresholds"]), np.zeros(5), atol=1e-15)
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


@pytest.mark.parametrize(("formulas", "given"), [("program", 1), ("text", 0)])
def test_to_onnx_gives_a_score_on_the_threshold_by_the_program_alone(formulas, given):
    model = PaperMLTSK(
        2,
        formulas=formulas,
        underflow="authors",
        correlation_weight=0.01,
        threshold=0.0,
    ).fit(DATA.X, DATA.Y)
    far = DATA.X[:3] + 1e4  # no rule fires, so that every score is 0
    scores, labels = run(model, far)
    assert (scores == 0).all()
    assert (labels == given).all()
    assert (model.predict(far) == given).all()
    assert ("not given" in str(model.explain(far[:1]))) == (not given)
