"""Tensors: they give the model of arrays, and what is wrong with them is said."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.core.arrays import asnumpy

from .conftest import assert_same_model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_rules": 4, "order": 1, "max_statements": 5},
        {"scale": "standard", "threshold": "f1"},
        {"scale": None, "coupling": "precision"},
        {"scale": "unit"},
        {"n_pairs": 3},
        {"n_pairs": 2, "n_rules": 5, "coupling": "signed"},
    ],
    ids=str,
)
def test_fit_on_tensors_gives_the_model_of_arrays(data, options, torch):
    w = np.random.default_rng(0).integers(0, 3, len(data.X)).astype(float)
    X = torch.as_tensor(data.X)
    of_arrays = MLTSKClassifier(**options).fit(data.X, data.Y, w)
    of_tensors = MLTSKClassifier(**options)
    of_tensors.fit(X, torch.as_tensor(data.Y), torch.as_tensor(w))
    assert_same_model(of_tensors, of_arrays)
    for method in ("predict", "decision_function", "predict_proba"):
        expected = getattr(of_arrays, method)(data.X)
        answer = getattr(of_tensors, method)(X)
        assert torch.is_tensor(answer)
        assert_allclose(asnumpy(answer), expected, atol=1e-8)
        assert_allclose(getattr(of_tensors, method)(data.X), asnumpy(answer), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_takes_tensors_of_classes_and_of_single_precision(data, n_classes, torch):
    y = data.Y[:, :n_classes].argmax(axis=1) * 10
    X = torch.as_tensor(data.X)
    of_arrays = MLTSKClassifier(n_rules=3).fit(data.X, y)
    of_tensors = MLTSKClassifier(n_rules=3).fit(X, torch.as_tensor(y))
    assert_array_equal(asnumpy(of_tensors.predict(X)), of_arrays.predict(data.X))
    single = MLTSKClassifier(n_rules=3)
    single.fit(torch.as_tensor(data.X, dtype=torch.float32), torch.as_tensor(y))
    assert_allclose(
        single.predict_proba(data.X), of_arrays.predict_proba(data.X), atol=1e-3
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X, asnumpy(Y)), "y must be one there too; it is a ndarray"),
        (lambda X, Y: (X, Y[:3]), "y has 3"),
        (lambda X, Y: (X, X[:, 0]), "Unknown label type"),
        (lambda X, Y: (X / 0, Y), "contains infinity"),
        (lambda X, Y: (X[:, 0], Y), "rows and columns"),
        (lambda X, Y: (X[:1], Y[:1]), "minimum of 2"),
        (lambda X, Y: (X.to_sparse(), Y), "sparse tensor"),
        (lambda X, Y: (X, Y[:, 0] * 0), "only one class"),
        (lambda X, Y: (X, Y, -X[:, 0].abs() - 1), "0 or more"),
        (lambda X, Y: (X, Y, X[:, 0] * 0), "sample_weight is zero"),
    ],
)
def test_fit_says_what_is_wrong_with_tensors(data, change, message, torch):
    tensors = change(torch.as_tensor(data.X), torch.as_tensor(data.Y))
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier(n_rules=2).fit(*tensors)


def test_predict_refuses_tensors_with_another_number_of_features(data, torch):
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="expecting"):
        clf.predict(torch.ones(3, 2))
