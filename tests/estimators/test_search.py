"""MLTSKClassifierCV: what GridSearchCV would find, with any scorer, any splitter, weights, and any number of jobs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold

from mltsk import MLTSKClassifier, MLTSKClassifierCV, load, save
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.metrics.scorers import get_scorer

GRID = {
    "n_rules": [2, 4],
    "width_scale": ["auto", 1.0],
    "coupling": ["precision", "laplacian"],
    "correlation_weight": ["loo", 2.0],
    "l1_weight": [0.0, 0.5, "auto"],
}
FOLDS = KFold(3, shuffle=True, random_state=1)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=120, n_features=5, n_labels=4, random_state=0)


@pytest.fixture(scope="module")
def search(data):
    return MLTSKClassifierCV(GRID, estimator=MLTSKClassifier(tol=1e-9), cv=FOLDS).fit(data.X, data.Y)


def test_the_result_is_that_of_grid_search(data, search):
    plain = GridSearchCV(MLTSKClassifier(tol=1e-9), GRID, scoring=get_scorer("average_precision"), cv=FOLDS)
    plain.fit(data.X, data.Y)
    assert search.cv_results_["params"] == plain.cv_results_["params"]
    assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-3)
    assert np.median(np.abs(search.cv_results_["mean_test_score"] - plain.cv_results_["mean_test_score"])) < 1e-6
    assert search.best_params_ == plain.best_params_
    assert_allclose(search.decision_function(data.X), plain.decision_function(data.X), atol=1e-9)


def test_single_precision_stays_within_the_certificate(data, search):
    quick = MLTSKClassifierCV(GRID, cv=FOLDS).fit(data.X, data.Y)
    assert_allclose(quick.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=5e-3)


def test_the_answer_does_not_depend_on_the_jobs(data, search):
    parallel = MLTSKClassifierCV(GRID, estimator=MLTSKClassifier(tol=1e-9), cv=FOLDS, n_jobs=2).fit(data.X, data.Y)
    assert_array_equal(parallel.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_default_points_are_plain_numbers_around_what_suits_the_data(data):
    search = MLTSKClassifierCV(refit=False).fit(data.X, data.Y)
    points = search.cv_results_["params"]
    assert len(points) == 200
    assert len({repr(p) for p in points}) == 200
    assert {name for p in points for name in p} == {*GRID, "ridge"}
    assert all(len({p[name] for p in points}) > 1 for name in (*GRID, "ridge"))
    assert max(p["n_rules"] for p in points) == MLTSKClassifier().n_rules
    with pytest.raises(InputError, match="refit=False"):
        search.predict(data.X)


def test_any_scorer_serves(data):
    def size(estimator, X, y):
        return -len(estimator.centers_) - 0.1 * estimator.predict(X).mean()

    assert MLTSKClassifierCV({"n_rules": [3, 2]}, scoring=size).fit(data.X, data.Y).best_params_ == {"n_rules": 2}
    for scoring in ("micro_f1", "f1_macro", make_scorer(lambda y, p: (y == p).mean())):
        found = MLTSKClassifierCV({"n_rules": [2, 3]}, scoring=scoring).fit(data.X, data.Y)
        assert 0 < found.best_score_ <= 1
        assert 0 < found.score(data.X, data.Y) <= 1


def test_weights_count_as_copies_in_fits_and_scores(data):
    w = np.random.default_rng(0).integers(0, 3, size=len(data.X))
    many = np.repeat(np.arange(len(w)), w)
    fold = np.arange(len(w)) % 3
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    repeated = [(np.flatnonzero(fold[many] != f), np.flatnonzero(fold[many] == f)) for f in range(3)]
    a = MLTSKClassifierCV({"n_rules": [2, 3]}, cv=splits).fit(data.X, data.Y, sample_weight=w)
    b = MLTSKClassifierCV({"n_rules": [2, 3]}, cv=repeated).fit(data.X[many], data.Y[many])
    assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], atol=1e-5)


def test_weights_are_routed_where_routing_is_on(data):
    w = np.linspace(0.5, 1.5, len(data.X))
    with config_context(enable_metadata_routing=True):
        base = MLTSKClassifier().set_fit_request(sample_weight=True)
        scorer = get_scorer("average_precision").set_score_request(sample_weight=False)
        routed = MLTSKClassifierCV({"n_rules": [2]}, estimator=base, scoring=scorer).fit(data.X, data.Y, w)
    unweighted = MLTSKClassifierCV({"n_rules": [2]}).fit(data.X, data.Y, sample_weight=w)
    assert_allclose(routed.decision_function(data.X), unweighted.decision_function(data.X))
    assert routed.best_score_ != unweighted.best_score_


def test_pruning_saves_folds_and_keeps_the_winner(data):
    grid = {"n_rules": [1, 4], "l1_weight": [0.1, 1e4]}
    whole = MLTSKClassifierCV({"n_rules": [4], "l1_weight": [0.1]}, cv=5).fit(data.X, data.Y)
    pruned = MLTSKClassifierCV(
        [{"n_rules": [4], "l1_weight": [0.1]}, {"n_rules": [2], "l1_weight": [1e4]}], cv=5, prune=True
    )
    pruned.fit(data.X, data.Y)
    assert np.isnan(pruned.cv_results_["split4_test_score"][1])
    assert pruned.best_score_ == pytest.approx(whole.best_score_)
    assert not np.isnan(MLTSKClassifierCV(grid, cv=5).fit(data.X, data.Y).cv_results_["split4_test_score"]).any()


def test_other_solvers_and_sparse_rows_take_single_fits(data):
    preset = MLTSKClassifier(n_rules=2, coupling="paper", solver="algorithm1", correlation_weight=0.01)
    paper = MLTSKClassifierCV({"l1_weight": [0.1, 1.0]}, estimator=preset).fit(data.X, data.Y)
    assert paper.best_estimator_.solver == "algorithm1"
    X = sparse.csr_matrix(np.maximum(data.X, 0))
    assert MLTSKClassifierCV({"n_rules": [2]}).fit(X, data.Y).predict(X).shape == data.Y.shape


def test_short_rules_are_searched_as_short_rules(data):
    limits = {"max_conditions": [2], "max_terms": [2], "n_rules": [2, 3]}
    exact = MLTSKClassifier(tol=1e-9)  # which terms are kept hangs on the last digits
    search = MLTSKClassifierCV(limits, estimator=exact, cv=FOLDS).fit(data.X, data.Y)
    plain = GridSearchCV(exact, limits, scoring=get_scorer("average_precision"), cv=FOLDS)
    assert_allclose(
        search.cv_results_["mean_test_score"], plain.fit(data.X, data.Y).cv_results_["mean_test_score"], atol=2e-3
    )


def test_progress_is_told(data, capsys):
    seen = []
    MLTSKClassifierCV({"n_rules": [2, 3]}, verbose=1, callback=lambda *at: seen.append(at)).fit(data.X, data.Y)
    assert seen[-1] == (6, 6)
    assert "fold 3" in capsys.readouterr().out


def test_bad_input_is_answered_with_a_sentence(data):
    with pytest.raises(InputError, match="does not have"):
        MLTSKClassifierCV({"rules": [2]}).fit(data.X, data.Y)
    with pytest.raises(InputError, match="GridSearchCV"):
        MLTSKClassifierCV(estimator=KFold()).fit(data.X, data.Y)


def test_the_best_model_can_be_saved(data, search, tmp_path):
    file = save(search, tmp_path / "best.skops")
    assert_array_equal(load(file).predict(data.X), search.predict(data.X))
    assert str(search.rules_) == str(search.best_estimator_.rules_)
