"""What a user passes, as rows: larger than memory, mapped from files, in tensors."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.arrays import asnumpy
from mltsk.datasets import make_multilabel_rules
from mltsk.rows.read import read_weights, rows_at_once

STATE = (
    "intercept_",
    "general_coef_",
    "loo_scores_",
    "slopes_",
    "offsets_",
    "thresholds_",
)
NUMBERS = (
    "n_rules_",
    "order_",
    "ridge_",
    "width_scale_",
    "rule_share_",
    "coupling_weight_",
    "loo_error_",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=600, n_features=6, n_labels=4, random_state=0
    )


@pytest.fixture
def little_memory():
    with sklearn.config_context(working_memory=0.01):
        yield


def assert_same(found, expected, atol=1e-8):
    for name in (*STATE, *NUMBERS):
        rtol = (
            1e-3 if name == "loo_error_" else 1e-8
        )  # the error is computed in single precision
        assert_allclose(
            getattr(found, name),
            getattr(expected, name),
            atol=atol,
            rtol=rtol,
            err_msg=name,
        )


def mapped(array, path):
    out = np.memmap(path, dtype=array.dtype, mode="w+", shape=array.shape)
    out[:] = array
    return out


# larger than the memory ---------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"n_rules": 4, "order": 1}, {"coupling": "precision"}], ids=str
)
def test_a_mapped_file_gives_the_model_of_an_array(
    data, options, tmp_path, little_memory
):
    X, w = mapped(data.X, tmp_path / "X"), np.arange(600) % 3
    assert rows_at_once(X) is not None
    found = MLTSKClassifier(**options).fit(X, data.Y, w)
    with sklearn.config_context(working_memory=100):
        expected = MLTSKClassifier(**options).fit(data.X, data.Y, w)
    assert_same(found, expected)
    assert_allclose(
        found.predict_proba(X), expected.predict_proba(data.X[:600]), atol=1e-8
    )


def test_csr_of_mapped_arrays(data, tmp_path, little_memory):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    files = (
        mapped(X.data, tmp_path / "data"),
        mapped(X.indices, tmp_path / "indices"),
        X.indptr,
    )
    found = MLTSKClassifier(n_rules=3).fit(
        sparse.csr_array(files, shape=X.shape), sparse.csr_array(data.Y)
    )
    with sklearn.config_context(working_memory=100):
        assert_same(found, MLTSKClassifier(n_rules=3).fit(X, data.Y))


def test_integers_frames_and_classes_in_blocks_are_those_of_a_fit(data, little_memory):
    X = np.round(data.X * 100).astype(np.int16)
    y = np.array(["no", "once", "twice"])[np.minimum(data.Y.sum(axis=1), 2).astype(int)]
    for labels in (
        y,
        list(y),
        data.Y[:, [0]],
        pd.DataFrame(data.Y, columns=list("abcd")),
    ):
        blocks = MLTSKClassifier(n_rules=3).fit(X, labels)
        with sklearn.config_context(working_memory=100):
            whole = MLTSKClassifier(n_rules=3).fit(
                X, np.ravel(labels) if np.shape(labels)[1:] == (1,) else labels
            )
        assert_array_equal(whole.predict(X), blocks.predict(X))
        assert whole.label_names_ == blocks.label_names_


def test_bad_values_are_found_in_any_block(data, little_memory):
    spoiled = data.X.copy()
    spoiled[-1, 2] = np.inf
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    for ask in (clf.predict, lambda X: clf.fit(X, data.Y)):
        with pytest.raises(ValueError, match="infinity"):
            ask(spoiled)


def test_labels_are_read_in_blocks_too(tmp_path):
    rng = np.random.default_rng(0)
    X = mapped(rng.standard_normal((300_000, 3)).astype(np.float32), tmp_path / "X")
    Y = (X[:, :1] + rng.standard_normal((len(X), 40)) > 0).astype(
        np.int8
    )  # 96 MB as floats
    with sklearn.config_context(working_memory=2):
        tracemalloc.start()
        clf = MLTSKClassifier(n_rules=0).fit(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 80 * 10**6
    assert clf.loo_scores_.shape == (20_000, 40)
    assert_array_equal(clf.loo_rows_, np.linspace(0, 299_999, 20_000).astype(int))


# weights ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "weights", "copies"),
    [
        (None, None, None),
        ([3.0, 3.0, 0.0], [1, 1, 0], None),
        ([1.0, 2.0, 0.0], [1, 2, 0], [1, 2, 1]),
        ([0.5, 1.5, 0.0], [0.5, 1.5, 0], None),
    ],
)
def test_weights_are_equal_counts_or_relative(given, weights, copies):
    for found, expected in zip(
        read_weights(given, (3, 2)), (weights, copies), strict=True
    ):
        assert (None if found is None else found.tolist()) == expected


# tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_rules": 4, "order": 1, "max_statements": 5},
        {"scale": "standard", "threshold": "f1"},
        {"scale": None, "coupling": "precision"},
        {"scale": "unit"},
    ],
    ids=str,
)
def test_tensors_fit_the_model_of_arrays(data, options):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    w = np.random.default_rng(0).integers(0, 3, len(data.X)).astype(float)
    ours = MLTSKClassifier(**options).fit(data.X, data.Y, w)
    theirs = MLTSKClassifier(**options).fit(*map(torch.as_tensor, (data.X, data.Y, w)))
    assert_same(theirs, ours)
    for method in ("predict", "decision_function", "predict_proba"):
        found = getattr(theirs, method)(torch.as_tensor(data.X))
        assert torch.is_tensor(found)
        assert_allclose(asnumpy(found), getattr(ours, method)(data.X), atol=1e-8)
        assert_allclose(getattr(theirs, method)(data.X), asnumpy(found), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tensors_of_classes_and_of_single_precision(data, n_classes):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    y = data.Y[:, :n_classes].argmax(axis=1) * 10
    ours = MLTSKClassifier(n_rules=3).fit(data.X, y)
    theirs = MLTSKClassifier(n_rules=3).fit(torch.as_tensor(data.X), torch.as_tensor(y))
    assert_array_equal(
        theirs.predict(torch.as_tensor(data.X)).cpu().numpy(), ours.predict(data.X)
    )
    single = MLTSKClassifier(n_rules=3).fit(
        torch.as_tensor(data.X, dtype=torch.float32), torch.as_tensor(y)
    )
    assert_allclose(single.predict_proba(data.X), ours.predict_proba(data.X), atol=1e-3)


def wrong(torch, X, Y):
    X, Y = torch.as_tensor(X), torch.as_tensor(Y)
    return {
        "y must be one there too; it is a ndarray": (X, Y.cpu().numpy()),
        "y has 3": (X, Y[:3]),
        "Unknown label type": (X, X[:, 0]),
        "contains infinity": (X / 0, Y),
        "rows and columns": (X[:, 0], Y),
        "minimum of 2": (X[:1], Y[:1]),
        "sparse tensor": (X.to_sparse(), Y),
        "only one class": (X, Y[:, 0] * 0),
        "Negative": (X, Y, -X[:, 0].abs() - 1),
        "sample_weight is zero": (X, Y, X[:, 0] * 0),
    }


def test_wrong_tensors_are_named(data):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    for message, rows in wrong(torch, data.X, data.Y).items():
        with pytest.raises(ValueError, match=message):
            MLTSKClassifier(n_rules=2).fit(*rows)
    with pytest.raises(ValueError, match="expecting"):
        MLTSKClassifier(n_rules=2).fit(data.X, data.Y).predict(torch.ones(3, 2))


def test_large_whole_weights_are_importance_not_copies(data):
    w = np.random.default_rng(0).integers(1, 1000, len(data.X))
    ours = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w)
    same = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w / 7.3)
    assert_allclose(
        ours.decision_function(data.X), same.decision_function(data.X), atol=1e-8
    )
