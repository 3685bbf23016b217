"""ONNX graphs agree with Python on all eleven benchmark data sets."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK, load_dataset, to_onnx

onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(
    not os.environ.get("MLTSK_DATA"),
    reason="MLTSK_DATA names no folder with the benchmark data sets",
)

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("corel16k1", "rcv1s1", "rcv1s2", "bibtex")


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.filterwarnings(
    "ignore::UserWarning"
)  # collapse and the like: not the question here
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("name", DENSE + SPARSE)
def test_scores_agree_to_1e_5(name, preset):
    data, rng = load_dataset(name), np.random.default_rng(0)
    train, test = (
        np.sort(rng.choice(len(data), min(len(data), n), replace=False))
        for n in (400, 200)
    )
    model = MLTSKClassifier(n_rules=5) if preset == "default" else PaperMLTSK(n_rules=3)
    X, X_test = data.X[train], dense(data.X[test])
    model.fit(dense(X) if preset == "paper" else X, data.Y[train])
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    scores, labels, *chances = session.run(
        None, {"X": np.asarray(X_test, dtype=np.float64)}
    )
    assert_allclose(
        scores, model.decision_function(X_test) + model.thresholds_, rtol=0, atol=1e-5
    )
    assert_array_equal(labels, model.predict(X_test))
    assert len(chances) == (preset == "default")
    for chance in chances:
        assert_allclose(chance, model.predict_proba(X_test), rtol=0, atol=1e-5)
