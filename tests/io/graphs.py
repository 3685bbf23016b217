"""What tests of ONNX graphs share: data, and a run of a graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import to_onnx
from mltsk.datasets import make_multilabel_rules

pytest.importorskip("onnx")
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
    thresholds = model.system_.thresholds
    assert_allclose(scores, model.decision_function(X) + thresholds, atol=atol)
    assert_array_equal(labels, model.predict(X))
