"""Rows in blocks and rows that arrive: the same model as a fit that holds them all."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, load, save
from mltsk.core.fit import fit_consequents
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.scaling import Scaling
from mltsk.datasets import make_multilabel_rules
from mltsk.estimators import streams
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=600, n_features=6, n_labels=4, random_state=0)


@pytest.fixture(scope="module")
def whole(data):
    return MLTSKClassifier(n_rules=4, tol=1e-10).fit(data.X, data.Y)


def in_parts(clf, X, Y, w=None, size=150):
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        clf.partial_fit(X[part], Y[part], sample_weight=None if w is None else w[part])
    return clf


@pytest.mark.parametrize("working_memory", [0.02, 0.002])
def test_a_fit_in_blocks_is_the_fit(data, whole, working_memory, tmp_path):
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=data.X.shape)
    mapped[:] = data.X
    clf = MLTSKClassifier(n_rules=4, tol=1e-10, working_memory=working_memory)
    assert clf._needs_blocks(mapped)
    clf.fit(mapped, data.Y)
    assert_allclose(clf.coef_, whole.coef_, atol=1e-8)
    assert_array_equal(clf.centers_, whole.centers_)
    assert_allclose(clf.decision_function(mapped), whole.decision_function(data.X), atol=1e-8)
    assert "stream_" not in vars(clf)


def test_blocks_of_csr_with_mapped_arrays_and_weights(data, tmp_path):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    w = np.random.default_rng(0).integers(0, 3, size=len(data.Y)).astype(float)
    maps = [
        np.memmap(tmp_path / n, dtype=a.dtype, mode="w+", shape=a.shape) for n, a in (("d", X.data), ("i", X.indices))
    ]
    maps[0][:], maps[1][:] = X.data, X.indices
    mapped = sparse.csr_array((*maps, X.indptr), shape=X.shape)
    a = MLTSKClassifier(n_rules=3, tol=1e-10).fit(X, data.Y, w)
    b = MLTSKClassifier(n_rules=3, tol=1e-10, working_memory=0.01).fit(mapped, data.Y, w)
    assert b._needs_blocks(mapped)
    assert_allclose(b.decision_function(mapped), a.decision_function(X), atol=1e-8)
    assert_allclose(b.rule_weights_, a.rule_weights_)


def test_integers_are_converted_block_by_block_and_bad_values_found(data):
    X = np.round(data.X * 100).astype(np.int16)
    small = MLTSKClassifier(n_rules=3, tol=1e-10, working_memory=0.01)
    assert_allclose(small.fit(X, data.Y).coef_, MLTSKClassifier(n_rules=3, tol=1e-10).fit(X, data.Y).coef_, atol=1e-8)
    spoiled = data.X.copy()
    spoiled[-1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        small.fit(spoiled, data.Y)


def test_labels_are_read_in_blocks_too(tmp_path):
    rng = np.random.default_rng(0)
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(200_000, 3))
    X[:] = rng.standard_normal(X.shape)
    Y = (X[:, :1] + rng.standard_normal((len(X), 40)) > 0).astype(np.int8)  # 64 MB as floats
    clf = MLTSKClassifier(n_rules=2, working_memory=2.0, ridge=1.0, l1_weight=1.0, correlation_weight=0.0)
    tracemalloc.start()
    clf.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * 10**6
    assert clf.coef_.shape == (2, 4, 40)


def test_classes_and_frames_in_blocks_are_those_of_a_fit(data):
    y = np.sort(np.array(["no", "once", "twice"])[np.minimum(data.Y.sum(axis=1), 2).astype(int)])
    frame = pd.DataFrame(data.Y, columns=[f"l{j}" for j in range(data.Y.shape[1])])
    for labels in (y, list(y), frame):
        whole, blocks = (MLTSKClassifier(n_rules=3, working_memory=m).fit(data.X, labels) for m in (None, 0.02))
        assert_array_equal(whole.predict(data.X), blocks.predict(data.X))
        assert whole.label_names_ == blocks.label_names_


def test_many_rows_find_their_rules_on_some_of_them(data, monkeypatch):
    for module in (streams, __import__("mltsk.estimators.classifier", fromlist=["x"])):
        monkeypatch.setattr(module, "ANTECEDENT_ROWS", 100)
    a = MLTSKClassifier(n_rules=4, tol=1e-10).fit(data.X, data.Y)
    b = MLTSKClassifier(n_rules=4, tol=1e-10, working_memory=0.01).fit(data.X, data.Y)
    assert_allclose(b.coef_, a.coef_, atol=1e-8)
    assert_array_equal(
        b.centers_,
        MLTSKClassifier(n_rules=4)
        .fit(data.X[np.linspace(0, 599, 100).astype(int)], data.Y[np.linspace(0, 599, 100).astype(int)])
        .centers_,
    )


def test_a_stream_equals_a_fit_of_its_rules_on_all_rows(data):
    clf = in_parts(MLTSKClassifier(n_rules=4, tol=1e-10), data.X, data.Y)
    Z = Scaling(**clf.scaling_).apply(data.X)
    G = FuzzyMap.of(Z, clf.centers_, clf.widths_)
    exact = fit_consequents(G, data.Y.astype(float), np.ones(len(Z)), tol=1e-10)
    assert clf.ridge_ == pytest.approx(exact.rho)
    assert_allclose(clf.coef_.reshape(exact.P.shape), exact.P, atol=1e-8)
    assert_allclose(clf.rule_weights_, G.M.mean(axis=0))


def test_one_call_with_all_rows_is_a_fit(data, whole):
    clf = MLTSKClassifier(n_rules=4, tol=1e-10).partial_fit(data.X, data.Y)
    assert_allclose(clf.coef_, whole.coef_, atol=1e-8)
    assert str(clf.rules_) == str(whole.rules_)


def test_the_parts_do_not_matter_and_weights_count(data):
    w = np.random.default_rng(0).integers(0, 3, size=len(data.Y)).astype(float)
    start = MLTSKClassifier(n_rules=3, tol=1e-10).partial_fit(data.X[:200], data.Y[:200], sample_weight=w[:200])
    a, b = pickle.loads(pickle.dumps(start)), pickle.loads(pickle.dumps(start))
    in_parts(a, data.X[200:], data.Y[200:], w[200:], size=400)
    in_parts(b, data.X[200:], data.Y[200:], w[200:], size=37)
    assert_allclose(a.coef_, b.coef_, atol=1e-8)


def test_the_sample_for_leave_one_out_stays_small_and_spread(data, monkeypatch):
    monkeypatch.setattr(streams, "LOO_ROWS", 40)
    clf = in_parts(MLTSKClassifier(n_rules=3), data.X, data.Y, size=70)
    assert clf.stream_["stride"] == 8
    assert_allclose(clf.stream_["Z"], Scaling(**clf.scaling_).apply(data.X[::8]))


def test_forgetting_follows_a_stream_that_changes(data):
    flipped = 1 - data.Y
    old = in_parts(in_parts(MLTSKClassifier(n_rules=4), data.X, data.Y), data.X, flipped)
    new = in_parts(in_parts(MLTSKClassifier(n_rules=4, forgetting=0.6), data.X, data.Y), data.X, flipped)
    assert (new.predict(data.X) == flipped).mean() > 0.8 > (old.predict(data.X) == flipped).mean()
    assert not np.allclose(old.centers_, new.centers_)


def test_classes_may_come_later(data):
    y = np.array(["a", "b", "c"])[np.digitize(data.X[:, 0], np.quantile(data.X[:, 0], [1 / 3, 2 / 3]))]
    first = np.flatnonzero(y != "c")[:200]
    clf = MLTSKClassifier(n_rules=3).partial_fit(data.X[first], y[first], classes=["a", "b", "c"])
    assert set(clf.partial_fit(data.X, y).predict(data.X)) == {"a", "b", "c"}
    with pytest.raises(InputError, match="none of the classes"):
        clf.partial_fit(data.X[:2], np.array(["a", "d"]))


def test_what_cannot_stream_says_so(data):
    for cannot in (MLTSKClassifier(max_terms=2), MLTSKClassifier(coupling="paper")):
        assert not hasattr(cannot, "partial_fit")
    with pytest.raises(AttributeError, match="by simplify"):
        MLTSKClassifier(max_terms=2).partial_fit(data.X, data.Y)
    with pytest.raises(InputError, match="fewer rules"):
        MLTSKClassifier(n_rules=50, working_memory=0.1).fit(np.ones((100, 200)), data.Y[:100])


def test_a_stream_can_be_saved_and_goes_on(data, tmp_path):
    clf = MLTSKClassifier(n_rules=3).partial_fit(data.X[:300], data.Y[:300])
    again = load(save(clf, tmp_path / "m.skops"))
    assert_allclose(again.decision_function(data.X), clf.decision_function(data.X))
    again.partial_fit(data.X[300:], data.Y[300:])
    assert_allclose(again.coef_, clf.partial_fit(data.X[300:], data.Y[300:]).coef_)


def test_single_precision_all_the_way(data):
    X = data.X.astype(np.float32)
    for clf in (
        MLTSKClassifier(n_rules=3, working_memory=0.01).fit(X, data.Y),
        in_parts(MLTSKClassifier(n_rules=3), X, data.Y),
    ):
        for values in (clf.coef_, clf.centers_, clf.widths_, clf.decision_function(X), clf.predict_proba(X)):
            assert values.dtype == np.float32
