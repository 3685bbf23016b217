"""ONNX graphs agree with Python on all eleven benchmark data sets."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, load_dataset, to_onnx
from mltsk.core.arrays import dense

onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(
    not os.environ.get("MLTSK_DATA"),
    reason="MLTSK_DATA names no folder with the benchmark data sets",
)

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("corel16k1", "rcv1s1", "rcv1s2", "bibtex")


@pytest.fixture(params=DENSE + SPARSE)
def samples(request):
    """At most 400 rows to fit, their labels, and at most 200 dense rows to score."""
    data = load_dataset(request.param)
    rng = np.random.default_rng(0)
    n_rows = len(data)
    train = np.sort(rng.choice(n_rows, min(n_rows, 400), replace=False))
    test = np.sort(rng.choice(n_rows, min(n_rows, 200), replace=False))
    return data.X[train], data.Y[train], dense(data.X[test])


def run_graph(model, X):
    """What the graph of a model gives for samples, in double precision."""
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    return session.run(None, {"X": np.asarray(X, dtype=np.float64)})


def assert_same_scores_and_labels(scores, labels, model, X):
    expected = model.decision_function(X) + model.system_.thresholds
    assert_allclose(scores, expected, rtol=0, atol=1e-5)
    assert_array_equal(labels, model.predict(X))


def test_to_onnx_of_the_default_agrees_to_1e_5(samples):
    X, Y, X_test = samples
    model = MLTSKClassifier(n_rules=5).fit(X, Y)
    scores, labels, probabilities = run_graph(model, X_test)
    assert_same_scores_and_labels(scores, labels, model, X_test)
    assert_allclose(probabilities, model.predict_proba(X_test), rtol=0, atol=1e-5)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.UnfiredRowsWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_to_onnx_of_the_papers_model_agrees_to_1e_5(samples):
    X, Y, X_test = samples
    model = PaperMLTSK(n_rules=3).fit(dense(X), Y)
    scores, labels = run_graph(model, X_test)
    assert_same_scores_and_labels(scores, labels, model, X_test)
