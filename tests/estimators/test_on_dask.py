"""Fits on Dask collections against fits in memory; one on a cluster of processes, one of which is killed."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mltsk import MLTSKClassifier
from mltsk.core import single
from mltsk.core.passes import antecedents, consequents
from mltsk.datasets import make_multilabel_rules
from mltsk.estimators import classifier, on_dask
from mltsk.exceptions import InputError, RuleCollapseWarning
from mltsk.scale.dask import DaskPasses

dask = pytest.importorskip("dask", reason='Dask is missing: pip install "mltsk[dask]"')
da = pytest.importorskip("dask.array")

NAMES = ("centers_", "widths_", "coef_", "coupling_", "rule_weights_", "prototypes_", "quantiles_")
NUMBERS = ("ridge_", "correlation_weight_", "l1_weight_", "width_scale_", "rule_distinctness_", "n_iter_")


@pytest.fixture(scope="module")
def data():
    data = make_multilabel_rules(n_samples=800, random_state=0)
    data.X[:, 0] = np.round(data.X[:, 0], 1)
    return data


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """Rows that stay in their blocks, however few they are."""
    monkeypatch.setattr(on_dask, "fits_together", lambda n_rows, n_bytes: False)
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(found, expected, atol=1e-8):
    for name in (*NAMES, *NUMBERS):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=atol, atol=atol, err_msg=name)


@pytest.mark.parametrize("chunks", [(800, -1), (130, 4), ((1, 500, 299), -1)], ids=str)
@pytest.mark.parametrize(
    "settings",
    [{}, {"scale": "standard", "n_rules": 7}, {"scale": None, "init": "random", "random_state": 2, "fuzzifier": 1.4}],
    ids=["default", "standard", "fuzzy"],
)
def test_numbers_are_those_of_a_fit_in_memory(data, chunks, settings):
    clf = MLTSKClassifier(**({"n_rules": 4} | settings))
    expected = MLTSKClassifier(**clf.get_params()).fit(data.X, data.Y)
    assert_same(clf.fit(da.from_array(data.X, chunks=chunks), da.from_array(data.Y, chunks=(200, 2))), expected)


def test_weights_count_and_rows_of_weight_zero_do_not(data):
    w = np.random.default_rng(0).integers(0, 3, 800) * 1.0
    w[:150] = 0  # the first block is empty
    expected = MLTSKClassifier(n_rules=4).fit(data.X, data.Y, w)
    rows = (da.from_array(a, chunks=150) for a in (data.X, data.Y, w))
    assert_same(MLTSKClassifier(n_rules=4).fit(*rows), expected)


@pytest.mark.parametrize("antecedents", ["distinct", "paper"])
def test_rules_of_many_rows_are_found_on_some_as_in_memory(data, monkeypatch, antecedents):
    for module in (on_dask, classifier):
        monkeypatch.setattr(module, "ANTECEDENT_ROWS", 300)
    clf = MLTSKClassifier(n_rules=4, antecedents=antecedents)
    expected = clone(clf).fit(data.X, data.Y)
    assert_same(clf.fit(da.from_array(data.X, chunks=170), da.from_array(data.Y, chunks=170)), expected)


def test_what_is_worth_distributing_gives_the_numbers_of_memory_by_default(monkeypatch):
    monkeypatch.setattr(single, "TOGETHER_ROWS", 2000)
    data = make_multilabel_rules(n_samples=2500, random_state=1)  # 550,000 entries of G: single precision would pay
    clf = MLTSKClassifier(n_rules=20)
    expected = clone(clf).fit(data.X, data.Y)
    assert_same(clf.fit(da.from_array(data.X, chunks=500), da.from_array(data.Y, chunks=500)), expected)


def test_nothing_that_comes_back_grows_with_the_rows(data, monkeypatch):
    for module, name in ((on_dask, "ANTECEDENT_ROWS"), (consequents, "LOO_ROWS"), (antecedents, "WIDTH_ROWS")):
        monkeypatch.setattr(module, name, 100)
    sizes, plain = {}, DaskPasses.reduce

    def reduce(self, name, *work):
        found = plain(self, name, *work)
        sizes[n][name] = max(sizes[n].get(name, 0), len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(DaskPasses, "reduce", reduce)
    for n in (200, 800):
        sizes[n] = {}
        X, Y = (da.from_array(a[:n], chunks=n // 4) for a in (data.X, data.Y))
        MLTSKClassifier(n_rules=3).fit(X, Y)
    for name in sizes[800]:
        assert sizes[800][name] <= 1.3 * sizes[200][name] + 500, name  # names of blocks, cuts of intervals


def test_few_rows_are_fitted_as_in_memory_to_the_bit(data, monkeypatch):
    monkeypatch.setattr(on_dask, "fits_together", single.fits_together)
    expected = MLTSKClassifier(n_rules=4).fit(data.X, data.Y)
    found = MLTSKClassifier(n_rules=4).fit(da.from_array(data.X, chunks=300), da.from_array(data.Y, chunks=300))
    assert_array_equal(found.coef_, expected.coef_)


def test_single_precision_stays_single_and_agrees_as_far_as_it_goes(data):
    X = data.X.astype(np.float32)
    expected = MLTSKClassifier(n_rules=4).fit(X, data.Y)
    found = MLTSKClassifier(n_rules=4).fit(da.from_array(X, chunks=250), da.from_array(data.Y, chunks=250))
    assert found.coef_.dtype == found.centers_.dtype == np.float32
    assert_allclose(found.decision_function(X), expected.decision_function(X), atol=2e-3)


def test_classes_are_found_in_all_blocks(data):
    y = np.array(["no", "once", "twice"])[np.minimum(data.Y.sum(axis=1), 2).astype(int)]
    expected = MLTSKClassifier(n_rules=3).fit(data.X, y)
    X = da.from_array(data.X, chunks=100)
    found = MLTSKClassifier(n_rules=3).fit(X, da.from_array(y, chunks=100))
    assert_array_equal(found.classes_, expected.classes_)
    assert_array_equal(found.predict(X).compute(), expected.predict(data.X))


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_results_wait_and_are_those_of_arrays(data, method):
    clf = MLTSKClassifier(n_rules=3).fit(data.X, data.Y)
    later = getattr(clf, method)(da.from_array(data.X, chunks=(300, 4)))
    assert isinstance(later, da.Array)
    assert later.chunks == ((300, 300, 200), (5,))
    expected = getattr(clf, method)(data.X)
    assert later.dtype == expected.dtype
    assert_allclose(later.compute(), expected, atol=1e-12)


def test_frames_name_features_and_labels(data):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, Y = (pd.DataFrame(a, columns=[f"{c}{j}" for j in range(a.shape[1])]) for a, c in ((data.X, "f"), (data.Y, "l")))
    expected = MLTSKClassifier(n_rules=3).fit(X, Y)
    lazy = dd.from_pandas(X, npartitions=3)
    found = MLTSKClassifier(n_rules=3).fit(lazy, dd.from_pandas(Y, npartitions=3))
    assert_same(found, expected)
    assert found.label_names_ == expected.label_names_
    assert list(found.feature_names_in_) == list(X.columns)
    assert_array_equal(found.predict(lazy).compute(), expected.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(lazy.rename(columns={"f0": "other"}))


def bad(X, Y, w=None, **parameters):
    chunks = {"chunks": 100}
    w = None if w is None else da.from_array(w, **chunks)
    MLTSKClassifier(n_rules=3, **parameters).fit(da.from_array(X, **chunks), da.from_array(Y, **chunks), w)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: bad(np.where(X > X.max() - 0.01, np.nan, X), Y), "NaN or infinity"),
        (lambda X, Y: bad(X, Y + 0.5), "indicator of 0 and 1"),
        (lambda X, Y: bad(X, Y[:, 0] + 0.5), "Unknown label type"),
        (lambda X, Y: bad(X, Y[:-1]), "X has 800 rows but y has 799"),
        (lambda X, Y: bad(X, Y, np.full(800, -1.0)), "none negative"),
        (lambda X, Y: bad(X, Y, np.zeros(800)), "0 for every row"),
        (lambda X, Y: bad(X, np.zeros(800, int)), "only one class"),
        (lambda X, Y: bad(X, Y, solver="algorithm1"), "algorithm1"),
        (lambda X, Y: bad(X, Y, max_terms=2), "max_terms=2"),
        (lambda X, Y: bad(X, Y, init=np.zeros((3, 2))), "init must be"),
        (lambda X, Y: MLTSKClassifier().fit(da.from_array(X), Y), "y must be one too"),
    ],
)
def test_bad_input_is_one_sentence(data, change, message):
    with pytest.raises(InputError, match=message):
        change(data.X, data.Y)


def test_equal_rows_give_fewer_rules_and_say_so(data):
    X = np.repeat(data.X[:2], 100, axis=0)
    with pytest.warns(RuleCollapseWarning, match="reduced to 2"):
        clf = MLTSKClassifier(n_rules=4, l1_weight=0.01).fit(
            da.from_array(X, chunks=50), da.from_array(X[:, :1] > X[0, 0])
        )
    assert len(clf.centers_) == 2


def test_dask_is_not_imported_unasked():
    code = (
        "import sys, numpy as np; from mltsk import MLTSKClassifier as C; X = np.random.rand(30, 2); "
        "C(n_rules=2).fit(X, X > .5).predict(X); assert 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_a_lost_worker_is_survived(data, monkeypatch):
    distributed = pytest.importorskip("distributed")
    expected, passes, plain = MLTSKClassifier(n_rules=3).fit(data.X, data.Y), [], DaskPasses.reduce
    options = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 60}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler=None),
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def reduce(self, name, *work):
            passes.append(name)
            if passes.count("clustering") == 2 and name == "clustering":
                os.kill(victim, signal.SIGKILL)  # it holds rows, and gets tasks until its loss is noticed
            return plain(self, name, *work)

        monkeypatch.setattr(DaskPasses, "reduce", reduce)
        clf = MLTSKClassifier(n_rules=3).fit(da.from_array(data.X, chunks=80), da.from_array(data.Y, chunks=80))
        assert victim not in client.run(os.getpid).values()
    assert passes.count("clustering") > 3
    assert_same(clf, expected)
