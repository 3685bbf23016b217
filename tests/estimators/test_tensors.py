"""Tensors in, tensors out; arrays in, arrays out, whatever computes; the same numbers either way."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

torch = pytest.importorskip("torch", reason="torch is not installed: tensors cannot be tested")

STATE = ("centers_", "widths_", "coef_", "coupling_", "rule_weights_", "prototypes_", "quantiles_")


@pytest.fixture(scope="module")
def data():
    made = make_multilabel_rules(n_samples=220, random_state=0)
    return np.asarray(made.X), np.asarray(made.Y)


@pytest.fixture
def gpu(monkeypatch):
    """The host's memory in the part of a GPU: what moves and comes back is the same."""
    monkeypatch.setattr("mltsk.scale.torch.find_device", lambda name: torch.device("cpu"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": "standard", "solver": "admm"},
        {"scale": None, "coupling": None},
        {"scale": "unit", "fuzzifier": 1.2},
        {"init": "random", "random_state": 0, "l1_weight": 0.1},
    ],
)
def test_tensors_fit_the_model_of_arrays(data, options):
    X, Y = data
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    ours = MLTSKClassifier(n_rules=4, **options).fit(X, Y, w)
    theirs = MLTSKClassifier(n_rules=4, **options).fit(*map(torch.as_tensor, (X, Y, w)))
    for name in STATE:
        assert isinstance(getattr(theirs, name), np.ndarray)
        assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-8, err_msg=name)
    assert theirs.n_iter_ == ours.n_iter_
    assert theirs.rule_distinctness_ == pytest.approx(ours.rule_distinctness_, abs=1e-10)
    assert_allclose(pickle.loads(pickle.dumps(theirs)).predict_proba(X), ours.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_tensors_in_tensors_out(data, method):
    X, Y = data
    clf = MLTSKClassifier(n_rules=3).fit(X, Y)
    for dtype in (torch.float64, torch.float32):
        found = getattr(clf, method)(torch.as_tensor(X, dtype=dtype))
        assert torch.is_tensor(found)
        assert_allclose(found.cpu().numpy(), getattr(clf, method)(X), atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_dimensional_classes(data, classes):
    X, Y = data
    y = Y[:, :classes].argmax(axis=1) * 10
    ours = MLTSKClassifier(n_rules=3).fit(X, y)
    theirs = MLTSKClassifier(n_rules=3).fit(torch.as_tensor(X), torch.as_tensor(y))
    assert_array_equal(theirs.classes_, ours.classes_)
    tensor = torch.as_tensor(X)
    assert_array_equal(theirs.predict(tensor).cpu().numpy(), ours.predict(X))
    assert_allclose(theirs.predict_proba(tensor).cpu().numpy(), ours.predict_proba(X), atol=1e-8)


def test_a_device_takes_arrays_and_gives_arrays(data, gpu):
    X, Y = data
    ours, theirs = MLTSKClassifier(n_rules=3).fit(X, Y), MLTSKClassifier(n_rules=3, device="cuda").fit(X, Y)
    assert_allclose(theirs.coef_, ours.coef_, atol=1e-8)
    for method in ("predict", "decision_function", "predict_proba"):
        found = getattr(theirs, method)(X)
        assert isinstance(found, np.ndarray)
        assert_allclose(found, getattr(ours, method)(X), atol=1e-8)


def test_single_precision_stays_single(data):
    X, Y = data
    clf = MLTSKClassifier(n_rules=3).fit(torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y))
    assert clf.coef_.dtype == np.float32
    assert clf.decision_function(torch.as_tensor(X, dtype=torch.float32)).dtype == torch.float32


def test_no_gpu_is_one_sentence(data, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="sees no CUDA device here"):
        MLTSKClassifier(device="cuda").fit(*data)


def test_a_named_host_needs_no_torch_for_arrays(data):
    X, Y = data
    assert isinstance(MLTSKClassifier(n_rules=3, device="cpu").fit(X, Y).predict(X), np.ndarray)


def wrong(X, Y):
    X, Y = torch.as_tensor(X), torch.as_tensor(Y)
    return {
        "y must be one there too; it is a ndarray": (X, Y.cpu().numpy()),
        "y has 3": (X, Y[:3]),
        "indicator of 0 and 1": (X, Y + 1),
        "Unknown label type": (X, X[:, 0]),
        "NaN or infinity": (X / 0, Y),
        "rows and columns": (X[:, 0], Y),
        "minimum of 2": (X[:1], Y[:1]),
        "only one class": (X, Y[:, 0] * 0),
        "none negative": (X, Y, -X[:, 0].abs() - 1),
        "sample_weight is 0": (X, Y, X[:, 0] * 0),
    }


@pytest.mark.parametrize("message", wrong(np.ones((3, 2)), np.ones((3, 2))))
def test_wrong_tensors_are_named(data, message):
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier(n_rules=2).fit(*wrong(*data)[message])


def test_rows_of_another_width_are_refused(data):
    clf = MLTSKClassifier(n_rules=2).fit(*data)
    with pytest.raises(ValueError, match="expecting"):
        clf.predict(torch.ones(3, 2))
