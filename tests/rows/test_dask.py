"""Fits on Dask collections against fits in memory."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.fit import Names, Options, fit_system
from mltsk.rows.read import read_rows

dask = pytest.importorskip("dask", reason='Dask is missing: pip install "mltsk[dask]"')
da = pytest.importorskip("dask.array")

STATE = (
    "intercept_",
    "general_coef_",
    "loo_scores_",
    "slopes_",
    "offsets_",
    "thresholds_",
    "ridge_",
    "rule_share_",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=500, random_state=0)


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(*arrays, chunks=150):
    return [da.from_array(a, chunks=chunks) for a in arrays]


def assert_same(found, expected, X, atol=1e-8):
    for name in STATE:
        assert_allclose(
            getattr(found, name), getattr(expected, name), atol=atol, err_msg=name
        )
    assert_allclose(
        found.decision_function(X), expected.decision_function(X), atol=atol
    )


@pytest.mark.parametrize("chunks", [(130, 4), ((1, 400, 99), -1)], ids=str)
@pytest.mark.parametrize(
    "options",
    [{}, {"scale": "standard", "coupling": "signed"}, {"n_rules": 3, "order": 1}],
)
def test_numbers_are_those_of_a_fit_in_memory(data, chunks, options):
    found = MLTSKClassifier(**options).fit(
        da.from_array(data.X, chunks=chunks), da.from_array(data.Y, chunks=chunks)
    )
    assert_same(found, MLTSKClassifier(**options).fit(data.X, data.Y), data.X)


def test_sums_are_made_where_rows_lie(data):
    options = Options(n_rules=4, order=1, ridge=1.0, width_scale=0.1, sample_rows=200)
    clf = MLTSKClassifier()
    rows, targets, features = read_rows(clf, *lazy(data.X, data.Y), None)
    here, _, _ = read_rows(clf, data.X, data.Y, None)
    names = Names(features.column_names, targets.names)
    found = fit_system(rows, options, names)
    expected = fit_system(here, options, names)
    assert_array_equal(found.loo_rows, np.linspace(0, 499, 200).astype(int))
    assert_allclose(found.loo_scores, expected.loo_scores[found.loo_rows], atol=1e-8)
    for name in ("intercept", "term_coef", "coef"):
        assert_allclose(
            getattr(found.system, name), getattr(expected.system, name), atol=1e-8
        )


@pytest.mark.parametrize("kind", ["counts", "relative", "equal"])
def test_weights_count_and_rows_of_weight_zero_do_not(data, kind):
    rng = np.random.default_rng(0)
    w = {
        "counts": rng.integers(0, 3, 500),
        "relative": rng.random(500) + 0.1,
        "equal": np.full(500, 3.0),
    }[kind]
    w = np.where(np.arange(500) < 150, 0, w)  # nothing is left of the first block
    expected = MLTSKClassifier(n_rules=3, order=1).fit(data.X, data.Y, w)
    assert_same(
        MLTSKClassifier(n_rules=3, order=1).fit(*lazy(data.X, data.Y, w)),
        expected,
        data.X,
    )


def test_classes_are_found_in_all_blocks(data):
    y = np.sort(
        np.array(["no", "once", "twice"])[np.minimum(data.Y.sum(axis=1), 2).astype(int)]
    )
    X, later = lazy(data.X, y)
    found, expected = (
        MLTSKClassifier(n_rules=3).fit(X, later),
        MLTSKClassifier(n_rules=3).fit(data.X, y),
    )
    assert_array_equal(found.classes_, expected.classes_)
    assert_array_equal(found.predict(X).compute(), expected.predict(data.X))


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
@pytest.mark.parametrize("model", [MLTSKClassifier, IncrementalMLTSK])
def test_results_wait_and_are_those_of_arrays(data, method, model):
    clf = model(n_rules=3)
    getattr(clf, "partial_fit", clf.fit)(data.X, data.Y)
    later, expected = (
        getattr(clf, method)(da.from_array(data.X, chunks=(300, 4))),
        getattr(clf, method)(data.X),
    )
    assert isinstance(later, da.Array)
    assert later.chunks == ((300, 200), (5,))
    assert later.dtype == expected.dtype
    assert_allclose(later.compute(), expected, atol=1e-12)


def test_frames_name_features_and_labels(data):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, Y = (
        pd.DataFrame(a, columns=[f"{c}{j}" for j in range(a.shape[1])])
        for a, c in ((data.X, "f"), (data.Y, "l"))
    )
    expected, rows = (
        MLTSKClassifier(n_rules=3).fit(X, Y),
        dd.from_pandas(X, npartitions=3),
    )
    found = MLTSKClassifier(n_rules=3).fit(rows, dd.from_pandas(Y, npartitions=3))
    assert_same(found, expected, X)
    assert found.label_names_ == expected.label_names_
    assert list(found.feature_names_in_) == list(X.columns)
    assert_array_equal(found.predict(rows).compute(), expected.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(rows.rename(columns={"f0": "other"}))
    with pytest.raises(InputError, match="X has 2 features"):
        MLTSKClassifier(n_rules=0).fit(data.X, data.Y).predict(*lazy(data.X[:, :2]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: lazy(np.where(X > X.max() - 0.01, np.inf, X), Y), "infinity"),
        (lambda X, Y: lazy(X, Y + 0.5), "indicator of 0 and 1"),
        (lambda X, Y: lazy(X, Y[:, 0] + 0.5), "Unknown label type"),
        (lambda X, Y: lazy(X, Y[:-1]), "A block of X has 50 rows but that of y has 49"),
        (lambda X, Y: lazy(X, Y, np.full(500, -1.0)), "none negative"),
        (lambda X, Y: lazy(X, Y, np.zeros(500)), "0 for every row"),
        (lambda X, Y: lazy(X, Y, np.ones(Y.shape)), "one number per row"),
        (lambda X, Y: lazy(X, np.zeros(500, int)), "only one class"),
        (lambda X, Y: (*lazy(X), Y), "y must be one too"),
        (
            lambda X, Y: (*lazy(X), *lazy(Y, chunks=250)),
            "rechunk one to the blocks of the other",
        ),
    ],
)
def test_bad_input_is_one_sentence(data, change, message):
    with pytest.raises(InputError, match=message):
        MLTSKClassifier(n_rules=3).fit(*change(data.X, data.Y))


def test_dask_is_not_imported_unasked():
    code = (
        "import sys, numpy as np; from mltsk import MLTSKClassifier as C; "
        "X = np.random.rand(30, 2); "
        "C(n_rules=2).fit(X, X > .5).predict(X); assert 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_missing_cells_are_those_of_a_fit_in_memory(data):
    X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.2, np.nan, data.X)
    found, expected = (
        MLTSKClassifier().fit(*lazy(X, data.Y)),
        MLTSKClassifier().fit(X, data.Y),
    )
    assert found.columns_ == expected.columns_
    assert_same(found, expected, X)


@pytest.mark.parametrize(
    "part",
    [{"scale": "triangles"}, {"tnorm": "minimum"}, {"n_rules": "xie-beni"}],
)
def test_other_fuzzy_parts_are_the_same_on_dask_and_tensors(part):
    rng, torch = np.random.default_rng(0), pytest.importorskip("torch")
    X = rng.normal(size=(300, 4))
    Y = (X[:, :2] + rng.normal(size=(300, 2)) > 0).astype(int)
    clf = MLTSKClassifier(**{"n_rules": 5, "order": 0, "ridge": 1.0} | part)
    expected = clf.fit(X, Y).decision_function(X)
    blocks, tensors = (
        [da.from_array(A, chunks=(100, -1)) for A in (X, Y)],
        [torch.as_tensor(A) for A in (X, Y)],
    )
    for given in (blocks, tensors):
        assert_allclose(
            np.asarray(clone(clf).fit(*given).decision_function(given[0])),
            expected,
            atol=1e-9,
        )
