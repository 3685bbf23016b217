"""Fits on Dask collections against fits in memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.fit.fit import fit_system
from mltsk.fit.options import Names, Options
from mltsk.rows.read import read_rows

dask = pytest.importorskip("dask", reason='Dask is missing: pip install "mltsk[dask]"')
da = pytest.importorskip("dask.array")

COMPARED_ATTRIBUTES = (
    "intercept_",
    "general_coef_",
    "loo_scores_",
    "thresholds_",
    "ridge_",
    "rule_share_",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=500, random_state=0)


@pytest.fixture(autouse=True)
def _work_in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(*arrays, chunks=150):
    """Arrays as Dask arrays."""
    return [da.from_array(array, chunks=chunks) for array in arrays]


def assert_same_model(clf, expected, X):
    for name in COMPARED_ATTRIBUTES:
        value = getattr(clf, name)
        assert_allclose(value, getattr(expected, name), atol=1e-8, err_msg=name)
    assert_allclose(clf.decision_function(X), expected.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("chunks", [(130, 4), ((1, 400, 99), -1)], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": "standard", "coupling": "signed"},
        {"n_rules": 3, "order": 1},
        {"n_pairs": 3},
    ],
    ids=str,
)
def test_fit_on_dask_gives_the_model_of_arrays(data, chunks, options):
    X, Y = lazy(data.X, data.Y, chunks=chunks)
    clf = MLTSKClassifier(**options).fit(X, Y)
    expected = MLTSKClassifier(**options).fit(data.X, data.Y)
    assert_same_model(clf, expected, data.X)


@pytest.mark.parametrize(
    "options",
    [
        Options(n_rules=4, order=1, ridge=1.0, width_scale=0.1, sample_rows=200),
        Options(n_rules=4, n_pairs=3, sample_rows=200),
    ],
    ids=["slopes", "pairs"],
)
def test_dask_rows_give_a_sample_and_the_sums_of_all_rows(data, options):
    clf = MLTSKClassifier()
    dask_rows, targets, features = read_rows(clf, *lazy(data.X, data.Y), None)
    rows, _, _ = read_rows(clf, data.X, data.Y, None)
    names = Names(features.column_names, targets.names)
    fit = fit_system(dask_rows, options, names)
    expected = fit_system(rows, options, names)
    assert_array_equal(fit.loo_rows, np.linspace(0, 499, 200).astype(int))
    assert_allclose(fit.loo_scores, expected.loo_scores[fit.loo_rows], atol=1e-8)
    for name in ("intercept", "term_coef", "pair_coef", "coef"):
        value = getattr(fit.system, name)
        assert_allclose(value, getattr(expected.system, name), atol=1e-8)


@pytest.mark.parametrize("is_lazy", [True, False])
def test_fit_on_dask_leaves_groups_out_as_a_fit_to_arrays_does(data, is_lazy):
    groups = np.random.default_rng(0).integers(0, 120, 500)
    given = lazy(groups)[0] if is_lazy else groups
    clf = MLTSKClassifier().fit(*lazy(data.X, data.Y), groups=given)
    expected = MLTSKClassifier().fit(data.X, data.Y, groups=groups)
    assert_same_model(clf, expected, data.X)
    assert_array_equal(clf.fit_record_.groups, expected.fit_record_.groups)


def test_a_sample_of_dask_rows_has_whole_groups_that_sums_of_all_rows_leave_out(data):
    groups = np.arange(500) % 120
    clf = MLTSKClassifier()
    collections = lazy(data.X, data.Y)
    dask_rows, targets, features = read_rows(clf, *collections, None, groups=groups)
    rows, _, _ = read_rows(clf, data.X, data.Y, None, groups=groups)
    names = Names(features.column_names, targets.names)
    options = Options(n_rules=4, order=0, ridge=5.0, sample_rows=200)
    fit = fit_system(dask_rows, options, names)
    expected = fit_system(rows, options, names)
    sampled = np.unique(groups[fit.loo_rows])
    assert_array_equal(fit.loo_rows, np.flatnonzero(np.isin(groups, sampled)))
    assert len(sampled) < 120
    assert_allclose(fit.loo_scores, expected.loo_scores[fit.loo_rows], atol=1e-8)


def test_groups_of_another_length_are_refused_on_dask(data):
    with pytest.raises(InputError, match="but X has 500 rows"):
        MLTSKClassifier().fit(*lazy(data.X, data.Y), groups=np.zeros(499))


@pytest.mark.parametrize(
    "w",
    [
        np.random.default_rng(0).integers(0, 3, 500),
        np.random.default_rng(0).random(500) + 0.1,
        np.full(500, 3.0),
    ],
    ids=["counts", "relative", "equal"],
)
def test_sample_weight_on_dask_means_what_it_means_in_memory(data, w):
    w = np.where(np.arange(500) < 150, 0, w)  # nothing is left of the first block
    clf = MLTSKClassifier(n_rules=3, order=1).fit(*lazy(data.X, data.Y, w))
    expected = MLTSKClassifier(n_rules=3, order=1).fit(data.X, data.Y, w)
    assert_same_model(clf, expected, data.X)


def test_classes_are_those_of_all_blocks(data):
    n_labels = np.minimum(data.Y.sum(axis=1), 2).astype(int)
    y = np.sort(np.array(["no", "once", "twice"])[n_labels])
    X_lazy, y_lazy = lazy(data.X, y)
    clf = MLTSKClassifier(n_rules=3).fit(X_lazy, y_lazy)
    expected = MLTSKClassifier(n_rules=3).fit(data.X, y)
    assert_array_equal(clf.classes_, expected.classes_)
    assert_array_equal(clf.predict(X_lazy).compute(), expected.predict(data.X))


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
@pytest.mark.parametrize("model", [MLTSKClassifier, IncrementalMLTSK])
def test_lazily_gives_answers_in_blocks_that_are_those_of_arrays(data, method, model):
    clf = model(n_rules=3)
    fit = getattr(clf, "partial_fit", clf.fit)
    fit(data.X, data.Y)
    answer_of = getattr(clf, method)
    expected = answer_of(data.X)
    answer = answer_of(da.from_array(data.X, chunks=(300, 4)))
    assert isinstance(answer, da.Array)
    assert answer.chunks == ((300, 200), (5,))
    assert answer.dtype == expected.dtype
    assert_allclose(answer.compute(), expected, atol=1e-12)


@pytest.fixture(scope="module")
def frames(data):
    """X and Y as frames of pandas."""
    feature_names = [f"f{d}" for d in range(data.X.shape[1])]
    label_names = [f"l{j}" for j in range(data.Y.shape[1])]
    X = pd.DataFrame(data.X, columns=feature_names)
    return X, pd.DataFrame(data.Y, columns=label_names)


def test_fit_on_dask_frames_names_features_and_labels(frames):
    dd = pytest.importorskip("dask.dataframe")
    X, Y = frames
    X_lazy = dd.from_pandas(X, npartitions=3)
    Y_lazy = dd.from_pandas(Y, npartitions=3)
    clf = MLTSKClassifier(n_rules=3).fit(X_lazy, Y_lazy)
    expected = MLTSKClassifier(n_rules=3).fit(X, Y)
    assert_same_model(clf, expected, X)
    assert clf.label_names_ == expected.label_names_
    assert list(clf.feature_names_in_) == list(X.columns)
    assert_array_equal(clf.predict(X_lazy).compute(), expected.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X_lazy.rename(columns={"f0": "other"}))


def test_predict_on_dask_refuses_another_number_of_features(data):
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    with pytest.raises(InputError, match="X has 2 features"):
        clf.predict(*lazy(data.X[:, :2]))


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
def test_fit_says_what_is_wrong_with_dask_collections(data, change, message):
    collections = change(data.X, data.Y)
    with pytest.raises(InputError, match=message):
        MLTSKClassifier(n_rules=3).fit(*collections)


FIT_AND_PREDICT_WITHOUT_DASK = """
import sys
import numpy as np
from mltsk import MLTSKClassifier
X = np.random.rand(30, 2)
MLTSKClassifier(n_rules=2).fit(X, X > .5).predict(X)
assert "dask" not in sys.modules
"""


def test_fit_on_arrays_does_not_import_dask():
    command = [sys.executable, "-W", "ignore", "-c", FIT_AND_PREDICT_WITHOUT_DASK]
    subprocess.run(command, check=True)


def test_fit_on_dask_with_missing_cells_gives_the_model_of_arrays(data):
    is_missing = np.random.default_rng(0).random(data.X.shape) < 0.2
    X = np.where(is_missing, np.nan, data.X)
    clf = MLTSKClassifier().fit(*lazy(X, data.Y))
    expected = MLTSKClassifier().fit(X, data.Y)
    assert clf.columns_ == expected.columns_
    assert_same_model(clf, expected, X)


@pytest.mark.parametrize(
    "options",
    [
        {"n_rules": 5, "scale": "triangles"},
        {"n_rules": 5, "tnorm": "minimum"},
        {"n_rules": "xie-beni"},
    ],
    ids=str,
)
def test_scale_tnorm_and_n_rules_are_the_same_on_dask_and_tensors(options, torch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = (X[:, :2] + rng.normal(size=(300, 2)) > 0).astype(int)
    clf = MLTSKClassifier(order=0, ridge=1.0, **options)
    expected = clf.fit(X, Y).decision_function(X)
    X_lazy, Y_lazy = lazy(X, Y, chunks=(100, -1))
    on_dask = clone(clf).fit(X_lazy, Y_lazy).decision_function(X_lazy)
    assert_allclose(np.asarray(on_dask), expected, atol=1e-9)
    X_tensor = torch.as_tensor(X)
    of_tensors = clone(clf).fit(X_tensor, torch.as_tensor(Y))
    scores = of_tensors.decision_function(X_tensor)
    assert_allclose(np.asarray(scores), expected, atol=1e-9)


def test_fit_on_dask_refuses_labels_that_were_not_observed(data):
    Y = np.where(np.arange(500)[:, None] == 400, np.nan, data.Y)
    words = np.where(np.isnan(Y), None, Y.astype(object))
    for y in (Y, words, Y[:, 0], words[:, 0]):
        with pytest.raises(InputError, match="on Dask all labels must be observed in"):
            MLTSKClassifier().fit(*lazy(data.X, y))
