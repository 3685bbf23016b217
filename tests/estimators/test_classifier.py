"""MLTSKClassifier as people use it: inputs of every kind, outputs that keep their promises, errors that help."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import NoMinimumError, RuleCollapseWarning


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=150, n_features=6, n_labels=4, random_state=0)


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier(n_rules=4).fit(data.X, data.Y)


def test_shapes_follow_the_interface(data, clf):
    assert clf.centers_.shape == clf.widths_.shape == (4, 6)
    assert clf.coef_.shape == (4, 7, 4)
    assert clf.coupling_.shape == (4, 4)
    assert clf.decision_function(data.X).shape == clf.predict_proba(data.X).shape == data.Y.shape
    assert_array_equal(clf.classes_, np.arange(4))
    assert clf.rule_weights_.sum() == pytest.approx(1)


def test_it_learns(data, clf):
    assert (clf.predict(data.X) == data.Y).mean() > max(data.Y.mean(), 1 - data.Y.mean()) + 0.1


def test_outputs_agree_with_each_other(data, clf):
    distance, proba, labels = clf.decision_function(data.X), clf.predict_proba(data.X), clf.predict(data.X)
    assert_array_equal(labels, distance > 0)
    assert_array_equal(proba > 0.5, distance > 0)
    assert proba.min() > 0
    assert proba.max() < 1


def test_thresholds_shift_decisions_and_a_tie_counts_as_predicted(data, clf):
    strict = clone(clf).set_params(threshold=[0.9, 0.5, 0.5, 0.5]).fit(data.X, data.Y)
    assert_allclose(strict.decision_function(data.X)[:, 0], clf.decision_function(data.X)[:, 0] - 0.4, atol=1e-12)
    tie = float(clf.decision_function(data.X)[0, 1] + 0.5)
    exact = clone(clf).set_params(threshold=tie).fit(data.X, data.Y)
    assert exact.decision_function(data.X)[0, 1] == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="one per label"):
        clone(clf).set_params(threshold=[0.5, 0.5]).fit(data.X, data.Y)


def test_default_fit_is_certified_and_sparse(clf):
    assert clf.certificate_ <= clf.tol
    assert 0 < (clf.coef_[:, 1:] != 0).mean() < 1
    assert min(clf.ridge_, clf.l1_weight_) > 0


@pytest.mark.parametrize("coupling", ["laplacian", "signed", "shift", "precision", "ridge", None])
def test_every_convex_coupling_fits(data, coupling):
    fitted = MLTSKClassifier(n_rules=3, coupling=coupling).fit(data.X, data.Y)
    assert fitted.certificate_ <= fitted.tol


def test_two_solvers_give_one_model(data):
    a, b = (MLTSKClassifier(n_rules=3, solver=s, tol=1e-9).fit(data.X, data.Y) for s in ("fista", "admm"))
    assert_allclose(a.decision_function(data.X), b.decision_function(data.X), atol=1e-4)


def test_init_ridge_moves_the_start_and_not_the_result(data):
    models = [MLTSKClassifier(n_rules=3, init_ridge=g, tol=1e-10).fit(data.X, data.Y) for g in (1e-3, 1e3)]
    assert_allclose(*(m.decision_function(data.X) for m in models), atol=1e-4)


def test_the_papers_coupling_with_an_exact_solver_is_refused_with_reasons(data):
    model = MLTSKClassifier(n_rules=3, coupling="paper", correlation_weight=1e3, ridge=0.1, l1_weight=0.1)
    with pytest.raises(NoMinimumError, match=r"alpha = 1000.*laplacian"):
        model.fit(data.X, data.Y)


def test_collapsed_rules_are_reported_with_advice():
    X = np.random.default_rng(0).random((100, 120))
    Y = (X[:, :3] > 0.5).astype(int)
    with pytest.warns(RuleCollapseWarning, match=r"distinctness 0\.0.*fuzzifier near 1"):
        model = MLTSKClassifier(n_rules=3, fuzzifier=2.0, scale="minmax").fit(X, Y)
    assert model.rule_distinctness_ < 0.05


def test_too_many_rules_are_reduced_with_a_warning(data):
    X = np.repeat(data.X[:3], 10, axis=0)
    with pytest.warns(RuleCollapseWarning, match="reduced to 3"):
        model = MLTSKClassifier(n_rules=9).fit(X, np.repeat(data.Y[:3], 10, axis=0))
    assert len(model.centers_) == 3


def test_names_come_from_data_frames(data):
    X = pd.DataFrame(data.X, columns=[f"feature {d}" for d in range(6)])
    Y = pd.DataFrame(data.Y, columns=["sad", "happy", "calm", "loud"])
    model = MLTSKClassifier(n_rules=3).fit(X, Y)
    assert model.label_names_ == ("sad", "happy", "calm", "loud")
    assert model.system_.feature_names[5] == "feature 5"
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"feature 0": "other"}))


def test_lists_sparse_labels_and_arrays_are_one(data):
    fits = [MLTSKClassifier(n_rules=2).fit(data.X, Y) for Y in (data.Y, data.Y.tolist(), sparse.csr_array(data.Y))]
    for other in fits[1:]:
        assert_allclose(fits[0].coef_, other.coef_)


def test_sparse_x_without_scale_equals_dense(data):
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.5)
    dense = MLTSKClassifier(n_rules=3, scale="unit", width_scale=0.5).fit(X, data.Y)
    csr = MLTSKClassifier(n_rules=3, scale="unit", width_scale=0.5).fit(sparse.csr_matrix(X), data.Y)
    assert_allclose(dense.decision_function(X), csr.decision_function(sparse.csr_matrix(X)), atol=1e-6)
    with pytest.raises(ValueError, match="would make sparse X dense"):
        MLTSKClassifier(scale="quantile").fit(sparse.csr_matrix(X), data.Y)


def test_sample_weights_are_copies(data):
    w = np.random.default_rng(1).integers(0, 3, size=150)
    a = MLTSKClassifier(n_rules=3, tol=1e-10).fit(data.X, data.Y, sample_weight=w)
    b = MLTSKClassifier(n_rules=3, tol=1e-10).fit(np.repeat(data.X, w, axis=0), np.repeat(data.Y, w, axis=0))
    assert_allclose(a.decision_function(data.X), b.decision_function(data.X), atol=1e-5)
    with pytest.raises(ValueError, match=r"non-zero|every row"):
        MLTSKClassifier().fit(data.X, data.Y, sample_weight=np.zeros(150))


def test_float32_in_float32_out(data):
    model = MLTSKClassifier(n_rules=3).fit(data.X.astype(np.float32), data.Y)
    scores = model.decision_function(data.X.astype(np.float32))
    assert scores.dtype == model.coef_.dtype == np.float32
    exact = MLTSKClassifier(n_rules=3).fit(data.X, data.Y).decision_function(data.X)
    assert np.abs(scores - exact).mean() < 0.01


def test_pickle_and_clone(data, clf):
    again = pickle.loads(pickle.dumps(clf))
    assert_allclose(again.decision_function(data.X), clf.decision_function(data.X))
    assert clone(clf).get_params() == clf.get_params()


def test_grid_search_and_pipeline(data):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MLTSKClassifier(n_rules=2)),
        {"mltskclassifier__n_rules": [1, 3]},
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(data.X, data.Y)
    assert search.best_params_["mltskclassifier__n_rules"] in (1, 3)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_multiclass_and_binary_targets():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = MLTSKClassifier(n_rules=3).fit(X, names)
    assert model.score(X, names) > 0.93
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    binary = MLTSKClassifier(n_rules=2).fit(X[:100], names[:100])
    assert binary.decision_function(X[:100]).shape == (100,)
    assert binary.score(X[:100], names[:100]) == 1.0


def test_constant_labels_empty_rows_and_one_label_work(data):
    Y = np.column_stack([np.ones(150), np.zeros(150), data.Y[:, 0]])
    model = MLTSKClassifier(n_rules=3).fit(data.X, Y)
    assert_array_equal(model.predict(data.X)[:, :2], [[1, 0]] * 150)
    assert np.isfinite(model.coupling_).all()
    nothing = MLTSKClassifier(n_rules=2).fit(data.X, np.zeros((150, 3), dtype=int))
    assert not nothing.predict(data.X).any()


def test_constant_features_and_duplicate_rows(data):
    X = np.column_stack([data.X, np.full(150, 3.0)])
    X[50:100] = X[0]
    assert np.isfinite(MLTSKClassifier(n_rules=4).fit(X, data.Y).coef_).all()


def test_it_says_when_the_solver_did_not_converge(data):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MLTSKClassifier(n_rules=3, max_iter=1, tol=1e-12, ridge=1e-3).fit(data.X, data.Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rules": 0}, "n_rules"),
        ({"coupling": "strong"}, "coupling"),
        ({"l1_weight": -1}, "l1_weight"),
        ({"device": "cuda"}, "device"),
        ({"init": [[0.0, 1.0]]}, "init must be centres"),
        ({"solver": "algorithm1"}, "coupling='paper'"),
    ],
)
def test_bad_parameters_are_named(data, change, message):
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier(**change).fit(data.X, data.Y)


def test_bad_targets_are_refused(data):
    with pytest.raises(ValueError, match="continuous"):
        MLTSKClassifier().fit(data.X, np.random.default_rng(0).random(150))
    with pytest.raises(ValueError, match=r"inconsistent|rows"):
        MLTSKClassifier().fit(data.X, pd.DataFrame(data.Y[:-1]))
    with pytest.raises(ValueError, match="NaN"):
        MLTSKClassifier().fit(np.where(data.X > 0.9, np.nan, data.X), data.Y)


def test_random_start_is_reproducible(data):
    kwargs = {"n_rules": 3, "init": "random", "fuzzifier": 1.5}
    a, b = (MLTSKClassifier(**kwargs, random_state=3).fit(data.X, data.Y) for _ in range(2))
    assert_allclose(a.coef_, b.coef_, atol=0)


def test_x_is_never_written_to(data):
    X = data.X.copy()
    MLTSKClassifier(n_rules=3).fit(X, data.Y).predict(X)
    assert_array_equal(X, data.X)
