"""MLTSKClassifier as people use it: inputs of every kind, promises, helpful errors."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.core.arrays import asnumpy
from mltsk.core.coupling import CONVEX
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pipelines import with_feature_names
from mltsk.rows.read import read_samples

from .conftest import effects_of_exceptions, effects_of_features


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=200, n_features=6, n_labels=4, random_state=0
    )


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier().fit(data.X, data.Y)


def assert_same_answers(clf, expected, X, atol=1e-8):
    assert_allclose(clf.decision_function(X), expected.decision_function(X), atol=atol)
    assert_allclose(clf.predict_proba(X), expected.predict_proba(X), atol=atol)


# what a fit gives ---------------------------------------------------------------------


def test_fitted_attributes_have_the_documented_shapes(data, clf):
    n_rules = clf.n_rules_
    n_terms = len(clf.terms_.feature)
    n_numbers = 7 if clf.order_ else 1
    n_conditions = 6
    assert clf.centers_.shape == (n_rules, 6)
    assert clf.widths_.shape == (n_rules, 6)
    assert clf.prototypes_.shape == (n_rules, 6)
    assert clf.coef_.shape == (n_rules, n_numbers, 4)
    assert clf.general_coef_.shape == (n_terms, 4)
    assert clf.quantiles_.shape == (6, 21)
    assert clf.loo_scores_.shape == (200, 4)
    assert clf.decision_function(data.X).shape == (200, 4)
    assert clf.predict_proba(data.X).shape == (200, 4)
    n_slopes = n_numbers - 1
    n_statements = n_terms + n_rules * (n_slopes + n_conditions)
    assert_array_equal(clf.n_statements_, np.full(4, n_statements))
    assert_array_equal(clf.classes_, np.arange(4))


def test_predict_learns_and_loo_scores_tell_how_well(data, clf):
    honest_accuracy = ((clf.loo_scores_ > 0.5) == data.Y).mean()
    rates = data.Y.mean(axis=0)
    accuracy_of_the_commoner_value = np.maximum(rates, 1 - rates).mean()
    assert (clf.predict(data.X) == data.Y).mean() > honest_accuracy
    assert honest_accuracy > accuracy_of_the_commoner_value + 0.1


def test_loo_error_is_the_mean_squared_error_of_loo_scores(data, clf):
    # before base rates are made those of all rows and scores are made log-odds
    mean_error = ((clf.fit_record_.scores - data.Y) ** 2).mean()
    assert clf.loo_error_ == pytest.approx(mean_error, rel=0.02)


def test_predict_is_where_decision_function_is_above_0(data, clf):
    probabilities = clf.predict_proba(data.X)
    assert_array_equal(clf.predict(data.X), clf.decision_function(data.X) > 0)
    assert 0 < probabilities.min() < probabilities.max() < 1


def test_rules_and_explain_have_a_text(data, clf):
    assert str(clf.rules_)
    assert str(clf.explain(data.X[:1]))


def test_loo_scores_are_those_of_a_fit_without_the_row(data):
    X = data.X[:40]
    Y = data.Y[:40]
    clf = MLTSKClassifier(n_rules=0, scale=None, ridge=0.5).fit(X, Y)
    for i in range(40):
        is_kept = np.arange(40) != i
        # ridges are in units of the total variance
        ridge = 0.5 * X.var(axis=0).sum() / X[is_kept].var(axis=0).sum()
        without = MLTSKClassifier(n_rules=0, scale=None, ridge=ridge)
        without.fit(X[is_kept], Y[is_kept])
        score = without.fit_record_.long.scores(X[[i]])[0]
        shift = Y.mean(axis=0) - Y[is_kept].mean(axis=0)
        expected = clf.fit_record_.curves.log_odds(score + shift)
        assert_allclose(clf.loo_scores_[i], expected, atol=1e-9)


def test_n_rules_order_width_scale_and_ridge_are_used_as_they_are_given(data):
    clf = MLTSKClassifier(n_rules=5, order=1, width_scale=0.2, ridge=3.0)
    clf.fit(data.X, data.Y)
    assert clf.n_rules_ == 5
    assert clf.order_ == 1
    assert clf.width_scale_ == 0.2
    assert clf.ridge_ == 3.0


def test_n_rules_of_0_is_the_general_rule_alone(data):
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    assert clf.coef_.shape == (0, 1, 4)


def test_ridge_that_is_large_gives_everybody_the_base_rate(data):
    clf = MLTSKClassifier(n_rules=0, ridge=1e6).fit(data.X, data.Y)
    rates = np.tile(data.Y.mean(axis=0), (200, 1))
    assert_allclose(clf.predict_proba(data.X), rates, atol=1e-2)


def test_fit_is_the_same_every_time_however_many_threads(data):
    def fitted_with(n_threads):
        with threadpool_limits(n_threads):
            return MLTSKClassifier().fit(data.X, data.Y)

    first = fitted_with(1)
    assert_array_equal(fitted_with(1).loo_scores_, first.loo_scores_)
    assert_same_answers(fitted_with(2), first, data.X, atol=1e-6)


@pytest.mark.parametrize("coupling", CONVEX)
def test_coupling_pulls_by_its_coupling_weight(data, coupling):
    def fitted(**options):
        clf = MLTSKClassifier(n_rules=0, scale="standard", ridge=2.0, **options)
        return clf.fit(data.X, data.Y)

    separate = fitted()
    untied = fitted(coupling=coupling, coupling_weight=0.0)
    assert_same_answers(untied, separate, data.X)

    tied = fitted(coupling=coupling, coupling_weight=5.0)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    Z = Z / 6**0.5  # of total variance 1
    penalty = 2.0 * np.eye(4) + 5.0 * tied.coupling_
    A = np.kron(np.eye(4), Z.T @ Z) + np.kron(penalty, np.eye(6))
    right = (Z.T @ data.Y).ravel(order="F")
    B = np.linalg.solve(A, right).reshape(6, 4, order="F")
    expected = data.Y.mean(axis=0) + Z @ B
    scores = tied.fit_record_.long.scores(data.X)
    assert_allclose(scores, expected, atol=1e-10)


def test_size_path_judges_models_of_coupled_labels(data):
    clf = MLTSKClassifier(0, coupling="laplacian", coupling_weight=1.0)
    path = clf.fit(data.X, data.Y).size_path_
    assert 0 < path.attrs["long"]["AP"] <= 1


def test_coupling_weight_is_chosen_by_leave_one_out(data):
    Y = np.repeat(data.Y[:, :1], 3, axis=1)
    clf = MLTSKClassifier(coupling="laplacian").fit(data.X, Y)
    assert 0 <= clf.coupling_weight_ <= 3 * clf.ridge_
    assert clf.coupling_.shape == (3, 3)


def test_coupling_refuses_weights_that_differ_between_labels(data):
    w = np.random.default_rng(0).random(data.Y.shape)
    with pytest.raises(InputError, match="same weights"):
        MLTSKClassifier(coupling="laplacian").fit(data.X, data.Y, w)


# weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"threshold": "f1"}], ids=str)
def test_sample_weight_of_whole_numbers_is_rows_that_belong_together(data, options):
    w = np.random.default_rng(1).integers(0, 4, size=200)
    X_repeated = np.repeat(data.X, w, axis=0)
    Y_repeated = np.repeat(data.Y, w, axis=0)
    weighted = MLTSKClassifier(**options).fit(data.X, data.Y, sample_weight=w)
    row = np.repeat(np.arange(200), w)
    repeated = MLTSKClassifier(**options).fit(X_repeated, Y_repeated, groups=row)
    assert_same_answers(weighted, repeated, data.X, atol=1e-6)
    loo_scores = np.repeat(weighted.loo_scores_, w, axis=0)
    assert_allclose(loo_scores, repeated.loo_scores_, atol=1e-6)


def test_sample_weight_counts_by_its_ratios(data, clf):
    w = np.random.default_rng(1).random(200) + 0.1
    small = MLTSKClassifier().fit(data.X, data.Y, sample_weight=w)
    large = MLTSKClassifier().fit(data.X, data.Y, sample_weight=1e4 * w)
    assert_same_answers(small, large, data.X)
    change = small.decision_function(data.X) - clf.decision_function(data.X)
    assert np.abs(change).max() > 1e-3


@pytest.mark.parametrize(
    "w",
    [np.ones(200), np.full(200, 7), np.full((200, 4), 0.1)],
    ids=["ones", "sevens", "tenths per label"],
)
def test_sample_weight_that_is_equal_everywhere_changes_nothing(data, clf, w):
    weighted = MLTSKClassifier().fit(data.X, data.Y, sample_weight=w)
    assert_same_answers(weighted, clf, data.X)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (np.ones(199), "sample_weight has the shape"),
        (np.ones((200, 3)), "weight per label"),
        (np.full(200, -1.0), "holds -1.0 in row 0"),
        (np.full(200, np.nan), "NaN"),
        (np.zeros(200), "every row"),
        (np.ones((200, 4)) * [1, 1, 0, 1], "every row of label .label 2"),
    ],
    ids=["short", "few columns", "negative", "NaN", "zeros", "zeros of a label"],
)
def test_sample_weight_that_makes_no_sense_is_refused(data, w, message):
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier().fit(data.X, data.Y, sample_weight=w)


# thresholds ---------------------------------------------------------------------------


def test_threshold_shifts_the_decision_function(data, clf):
    strict = MLTSKClassifier(threshold=[0.9, 0.5, 0.5, 0.5]).fit(data.X, data.Y)
    expected = clf.decision_function(data.X)[:, 0] - np.log(0.9 / 0.1)
    assert_allclose(strict.decision_function(data.X)[:, 0], expected, atol=1e-12)
    is_likely = strict.predict_proba(data.X)[:, 0] >= 0.9
    assert_array_equal(strict.predict(data.X)[:, 0] == 1, is_likely)


def test_threshold_that_a_score_just_reaches_predicts_the_label(data, clf):
    tie = MLTSKClassifier(ridge=1.0, n_rules=0).fit(data.X, data.Y)
    scores = tie.system_.scores(data.X)
    tie.system_ = replace(tie.system_, thresholds=scores[0])
    distances = tie.decision_function(data.X)[0]
    assert (distances > 0).all()
    assert distances.max() < 1e-300
    assert tie.predict(data.X)[0].all()


@pytest.mark.parametrize("threshold", [np.nan, [0.5, 0.5], [0.5, 0.5, np.inf, 0.5]])
def test_threshold_must_be_finite_and_one_per_label(data, threshold):
    with pytest.raises(ValueError, match="one per label"):
        MLTSKClassifier(threshold=threshold).fit(data.X, data.Y)


# data of every shape ------------------------------------------------------------------


def test_label_names_and_feature_names_come_from_data_frames(data):
    X = pd.DataFrame(data.X, columns=[f"feature {d}" for d in range(6)])
    Y = pd.DataFrame(data.Y, columns=["sad", "happy", "calm", "loud"])
    clf = MLTSKClassifier(n_rules=3).fit(X, Y)
    assert clf.label_names_ == ("sad", "happy", "calm", "loud")
    assert clf.system_.feature_names[5] == "feature 5"
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X.rename(columns={"feature 0": "other"}))


def test_fit_takes_sparse_rows_as_dense_ones_of_unit_length(data):
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.5)
    X[7] = 0
    of_dense = MLTSKClassifier(scale="unit").fit(X, data.Y)
    of_sparse = MLTSKClassifier().fit(sparse.csr_matrix(X), data.Y)
    assert of_sparse.scale_ == "unit"
    assert_same_answers(of_dense, of_sparse, X)
    assert_same_answers(of_dense, of_sparse, sparse.csc_array(X))


@pytest.fixture(scope="module")
def vocabulary():
    """Sparse X of 1,000 features of which some 350 are used, y, and new rows of all."""
    rng = np.random.default_rng(0)
    of_used = sparse.random_array((120, 400), density=0.02, rng=rng)
    X = sparse.hstack([of_used, sparse.csr_array((120, 600))], format="csr")
    new = sparse.random_array((30, 1_000), density=0.02, format="csr", rng=rng)
    scores = X[:, :20].sum(axis=1) + 0.3 * rng.normal(size=(3, 120))
    return X, (scores > 0.2).astype(int).T, new


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_rules": 7, "order": 0},
        {"n_rules": 3, "order": 1},
        {"n_rules": 4, "order": 0, "scale": None},
    ],
    ids=str,
)
def test_fit_leaves_out_features_that_no_row_uses_and_answers_the_same(
    vocabulary, options, monkeypatch
):
    # folds choose narrow slopes here, and rounding says which of two equally near rules
    # has an empty row
    monkeypatch.setattr("mltsk.fit.choose.CHOICE_FOLDS", 0)
    X, Y, new = vocabulary
    clf = MLTSKClassifier(**options).fit(X, Y)
    # a row that does not count has every feature
    X_full = sparse.vstack([X, np.ones((1, 1_000))], format="csr")
    w = np.append(np.ones(120), 0)
    full = MLTSKClassifier(**options).fit(X_full, np.vstack([Y, Y[:1]]), w)
    assert clf.system_.shape[1] < 401
    assert full.system_.shape[1] == 1_000
    assert_same_answers(clf, full, new, atol=1e-10)
    assert_same_answers(clf, full, new.toarray(), atol=1e-10)
    assert str(clf.explain(new[:2])) == str(full.explain(new[:2]))
    names = ("centers_", "widths_", "prototypes_", "coef_", "general_coef_")
    for name in names:
        assert_allclose(getattr(clf, name), getattr(full, name), atol=1e-10)
    assert_allclose(clf.terms_.mean, full.terms_.mean)
    assert_array_equal(clf.terms_.feature, full.terms_.feature)


def test_fit_leaves_out_unused_features_of_rows_that_are_read_in_blocks(vocabulary):
    X, Y, new = vocabulary
    expected = MLTSKClassifier().fit(X, Y)
    with config_context(working_memory=0.01):
        clf = MLTSKClassifier().fit(X, Y)
        assert_same_answers(clf, expected, new)
    assert clf.system_.shape == expected.system_.shape


def test_rules_do_not_list_features_that_no_row_uses(vocabulary):
    X, Y, _ = vocabulary
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    used = np.unique(X.indices)
    assert clf.rules_.feature_names == tuple(f"x{d}" for d in used)
    words = [f"word {d}" for d in range(1_000)]
    renamed = with_feature_names(clf, words)
    assert renamed.rules_.feature_names == tuple(words[d] for d in used)
    assert renamed.shorten(2).rules_.feature_names == renamed.rules_.feature_names


def test_scale_that_would_make_sparse_rows_dense_is_refused(data):
    with pytest.raises(ValueError, match="would make sparse X dense"):
        MLTSKClassifier(scale="quantile").fit(sparse.csr_matrix(data.X), data.Y)


def test_fit_in_single_precision_is_nearly_that_in_double(data, clf):
    X = data.X.astype(np.float32)
    scores = MLTSKClassifier().fit(X, data.Y).decision_function(X)
    assert_allclose(scores, clf.decision_function(data.X), atol=1e-3)


def test_classes_of_one_dimensional_y_have_probabilities_that_sum_to_1():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = MLTSKClassifier().fit(X, names)
    probabilities = clf.predict_proba(X)
    most_probable = clf.classes_[probabilities.argmax(axis=1)]
    assert clf.score(X, names) > 0.93
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(most_probable, clf.predict(X))


def test_decision_function_of_two_classes_is_one_dimensional():
    X, y = load_iris(return_X_y=True)
    X = X[:100]
    names = np.array(["setosa", "versicolor"])[y[:100]]
    clf = MLTSKClassifier().fit(X, names)
    assert clf.decision_function(X).shape == (100,)
    assert_array_equal(clf.predict(X), names)
    assert_array_equal(clf.predict_proba(X)[:, 1] > 0.5, names == "versicolor")


@pytest.mark.parametrize(
    "options",
    [{}, {"coupling": "precision"}, {"threshold": "f1"}, {"max_statements": 3}],
    ids=str,
)
def test_predict_gives_labels_that_everybody_or_nobody_has(data, options):
    Y = data.Y[:, [0, 0, 0]]
    Y[:, 0] = 1
    Y[:, 1] = 0
    predicted = MLTSKClassifier(**options).fit(data.X, Y).predict(data.X)
    assert_array_equal(predicted[:, :2], Y[:, :2])


@pytest.mark.parametrize("options", [{}, {"max_statements": 4}])
def test_fit_of_other_labels_is_the_same_next_to_one_that_nobody_has(data, options):
    Y = data.Y.astype(float)
    Y[::3, 0] = np.nan  # so that rows have different weights
    classifier = MLTSKClassifier(threshold="f1", **options)
    without = clone(classifier).fit(data.X, Y)
    for value in (0.0, 1.0):
        clf = clone(classifier).fit(data.X, np.insert(Y, 1, value, axis=1))
        others = [0, 2, 3, 4]
        probabilities = clf.predict_proba(data.X)[:, others]
        assert_allclose(probabilities, without.predict_proba(data.X), atol=1e-12)
        assert_allclose(clf.loo_proba_[:, others], without.loo_proba_, atol=1e-12)
        assert_allclose(clf.thresholds_[others], without.thresholds_, atol=1e-12)


def test_weights_of_one_label_do_not_move_the_model_of_the_others(data):
    plain = MLTSKClassifier().fit(data.X, data.Y)
    weights = np.ones(data.Y.shape)
    weights[:, 1] = np.where(data.Y[:, 1] > 0, 5.0, 1.0)
    weighted = MLTSKClassifier().fit(data.X, data.Y, sample_weight=weights)
    others = np.arange(data.Y.shape[1]) != 1
    expected = numbers_of_length_1(plain)
    actual = numbers_of_length_1(weighted)
    assert_allclose(actual[:, others], expected[:, others], atol=1e-9)
    assert np.abs(actual[:, 1] - expected[:, 1]).max() > 0.01
    # the slopes of probabilities are drawn towards what all labels have in common
    moved = weighted.predict_proba(data.X) - plain.predict_proba(data.X)
    assert np.abs(moved[:, others]).max() < 0.03


def numbers_of_length_1(clf):
    """The numbers of each label, whatever the slope of its probabilities."""
    return clf.general_coef_ / np.linalg.norm(clf.general_coef_, axis=0)


def test_weights_that_are_equal_for_each_label_change_nothing(data):
    plain = MLTSKClassifier().fit(data.X, data.Y)
    weights = np.ones(data.Y.shape) * np.arange(1, data.Y.shape[1] + 1)
    weighted = MLTSKClassifier().fit(data.X, data.Y, sample_weight=weights)
    assert_allclose(
        weighted.predict_proba(data.X), plain.predict_proba(data.X), rtol=1e-12
    )


def test_predict_gives_no_label_where_nobody_has_any(data):
    Y = np.zeros((200, 3), dtype=int)
    assert not MLTSKClassifier().fit(data.X, Y).predict(data.X).any()


@pytest.mark.parametrize("scale", ["auto", "standard", "minmax", "unit", None])
@pytest.mark.parametrize("n_rules", ["auto", 0, 4])
def test_fit_takes_constant_features_and_equal_rows(data, scale, n_rules):
    X = np.column_stack([data.X, np.full(200, 3.0)])
    X[50:150] = X[0]
    clf = MLTSKClassifier(n_rules, scale=scale).fit(X, data.Y)
    assert np.isfinite(clf.decision_function(X)).all()

    constant = np.full((200, 3), 7.0)
    clf = MLTSKClassifier(n_rules, scale=scale).fit(constant, data.Y)
    rates = data.Y.mean(axis=0)
    assert_allclose(clf.predict_proba(constant[:2]), [rates, rates], atol=0.005)


@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (20, 60), (200, 1)])
def test_fit_takes_few_samples_and_few_features(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    Y = rng.random((shape[0], 2)) < 0.5
    clf = MLTSKClassifier().fit(X, Y)
    assert np.isfinite(clf.decision_function(10 * X)).all()
    assert np.isfinite(clf.loo_scores_).all()


def test_fit_takes_thousands_of_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 20))
    Y = rng.random((120, 5000)) < 0.05
    clf = MLTSKClassifier().fit(X, Y)
    assert clf.loo_scores_.shape == (120, 5000)
    assert 0.03 < clf.loo_error_ < 0.07


def test_fit_takes_tens_of_thousands_of_features():
    X = np.random.default_rng(0).normal(size=(60, 50_000))
    clf = MLTSKClassifier().fit(X, X[:, :3] > 0)
    assert clf.predict(X).shape == (60, 3)


@pytest.mark.parametrize(("ridge", "max_count"), [(1e-8, 2), (1e8, 2), ("auto", 10**6)])
def test_ridge_and_sample_weight_may_be_of_any_size(data, ridge, max_count):
    w = np.random.default_rng(0).integers(1, max_count, size=200)
    clf = MLTSKClassifier(ridge=ridge).fit(data.X, data.Y, w)
    assert np.isfinite(clf.decision_function(data.X)).all()


def test_ridge_that_is_too_small_for_equal_rows_is_refused(data):
    clf = MLTSKClassifier(ridge=1e-300, scale="unit", n_rules=3)
    X = np.repeat(data.X, 3, axis=0)
    Y = np.repeat(data.Y, 3, axis=0)
    with pytest.raises(InputError, match="take a larger one, such as ridge=1"):
        clf.fit(X, Y)


# the rest of the contract -------------------------------------------------------------


def test_pickle_of_a_classifier_gives_the_same_decision_function(data, clf):
    loaded = pickle.loads(pickle.dumps(clf))
    assert_array_equal(loaded.decision_function(data.X), clf.decision_function(data.X))
    assert len(pickle.dumps(loaded)) == len(pickle.dumps(clf))


def test_clone_keeps_get_params(clf):
    assert clone(clf).get_params() == clf.get_params()


def test_fit_works_in_a_pipeline_and_a_grid_search(data):
    pipeline = make_pipeline(StandardScaler(), MLTSKClassifier())
    grid = {"mltskclassifier__n_rules": [0, 3]}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, grid, cv=folds).fit(data.X, data.Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_rules", -1),
        ("order", 2),
        ("coupling", "strong"),
        ("ridge", 0),
        ("width_scale", -1),
        ("scale", "log"),
    ],
)
def test_fit_names_a_bad_parameter(data, name, value):
    clf = MLTSKClassifier().set_params(**{name: value})
    with pytest.raises(ValueError, match=name):
        clf.fit(data.X, data.Y)


def test_fit_refuses_continuous_y(data):
    y = np.random.default_rng(0).random(200)
    with pytest.raises(ValueError, match="continuous"):
        MLTSKClassifier().fit(data.X, y)


def test_fit_refuses_y_of_another_length(data):
    with pytest.raises(ValueError, match="rows"):
        MLTSKClassifier().fit(data.X, pd.DataFrame(data.Y[:-1]))


def test_fit_refuses_infinity_in_x(data):
    X = np.where(data.X > 0.9, np.inf, data.X)
    with pytest.raises(ValueError, match="infinity"):
        MLTSKClassifier().fit(X, data.Y)


def test_fit_refuses_y_of_one_class(data):
    with pytest.raises(InputError, match="only 'a'"):
        MLTSKClassifier().fit(data.X, ["a"] * 200)


def test_fit_and_predict_never_write_to_the_data(data):
    X = data.X.copy()
    Y = data.Y.copy()
    MLTSKClassifier(scale=None, n_rules=3, max_statements=2).fit(X, Y).predict(X)
    assert_array_equal(X, data.X)
    assert_array_equal(Y, data.Y)


# missing cells ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def X_with_gaps(data):
    is_missing = np.random.default_rng(0).random(data.X.shape) < 0.15
    return np.where(is_missing, np.nan, data.X)


@pytest.mark.parametrize(
    "options",
    [{"n_rules": 0}, {"n_rules": 8, "order": 0}, {"n_rules": 4, "order": 1}],
    ids=str,
)
@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_scores_count_a_missing_cell_as_nothing_but_that_it_is_missing(
    data, X_with_gaps, options, scale
):
    clf = MLTSKClassifier(scale=scale, **options).fit(X_with_gaps, data.Y)
    system = clf.system_
    samples = read_samples(clf, X_with_gaps, clf.columns_)
    effects = effects_of_features(system, samples, 0)
    shifts = effects_of_exceptions(system, samples, 0)
    total = system.intercept[0] + effects.sum(axis=1) + shifts.sum(axis=1)
    assert_array_equal(effects[np.isnan(samples)], 0.0)
    assert np.isfinite(clf.predict_proba(X_with_gaps)).all()
    assert_allclose(total, system.scores(samples)[:, 0], atol=1e-10)


def test_fit_learns_from_a_cell_that_it_is_missing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    X[rng.random(300) < 0.3, 1] = np.nan
    Y = np.column_stack([np.isnan(X[:, 1]), X[:, 0] > 0]).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    assert "x1 not measured" in clf.system_.feature_names
    assert_array_equal(clf.predict(X)[:, 0], Y[:, 0])


def test_firing_strengths_measure_distances_in_cells_that_are_there(data):
    clf = MLTSKClassifier(n_rules=6, order=0).fit(data.X, data.Y)
    system = clf.system_
    X = data.X[:50].copy()
    X[:, 0] = np.nan
    Z = system.scale(data.X[:50])
    steps = Z[:, None, 1:] - system.centers[None, :, 1:]
    distances = (steps**2).sum(axis=2) * 6 / 5  # as if all six had been measured
    expected = np.exp(-distances / system.widths[0, 0])
    assert_allclose(system.firing_strengths(X), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"n_rules": 0},
        {"n_rules": 4, "order": 1},
        {"n_rules": 4, "scale": "standard"},
    ],
    ids=str,
)
def test_fit_takes_gaps_in_tensors_as_in_arrays(data, X_with_gaps, options, torch):
    X_tensor = torch.tensor(X_with_gaps)
    of_arrays = MLTSKClassifier(**options).fit(X_with_gaps, data.Y)
    of_tensors = MLTSKClassifier(**options).fit(X_tensor, torch.tensor(data.Y))
    scores = of_tensors.decision_function(X_tensor)
    expected = of_arrays.decision_function(X_with_gaps)
    assert_allclose(asnumpy(scores), expected, atol=1e-8)


# labels that were not observed --------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
def test_fit_learns_each_label_from_the_rows_where_it_was_observed(data, form):
    is_hidden = np.random.default_rng(2).random(data.Y.shape) < 0.3
    is_hidden[:, 1] = False
    Y = np.where(is_hidden, np.nan, data.Y)
    # a ridge so small that its unit does not matter
    clf = MLTSKClassifier(n_rules=0, scale=None, ridge=1e-9).fit(data.X, form(Y))
    for label in range(4):
        observed = ~is_hidden[:, label]
        own = pd.DataFrame(data.Y[observed][:, [label]])
        alone = MLTSKClassifier(n_rules=0, scale=None, ridge=1e-9)
        alone.fit(data.X[observed], own)
        # before they are log-odds: curves of labels are pulled towards each other
        numbers = clf.fit_record_.long.term_coef[:, label]
        own_numbers = alone.fit_record_.long.term_coef[:, 0]
        assert_allclose(numbers, own_numbers, atol=1e-6)
        scores = clf.fit_record_.scores[observed, label]
        assert_allclose(scores, alone.fit_record_.scores[:, 0], atol=1e-6)


def test_fit_takes_labels_that_were_not_observed_as_nan_or_of_weight_0(data):
    is_hidden = np.random.default_rng(3).random(data.Y.shape) < 0.4
    as_nan = np.where(is_hidden, np.nan, data.Y)
    other_where_hidden = np.where(is_hidden, 1 - data.Y, data.Y)
    w = (~is_hidden).astype(float)
    of_nan = MLTSKClassifier(threshold="f1").fit(data.X, as_nan)
    weighted = MLTSKClassifier(threshold="f1").fit(data.X, other_where_hidden, w)
    assert_allclose(of_nan.predict_proba(data.X), weighted.predict_proba(data.X))
    assert_allclose(of_nan.thresholds_, weighted.thresholds_)


def test_fit_names_a_label_that_was_never_observed(data):
    Y = data.Y.astype(float)
    Y[:, 2] = np.nan
    with pytest.raises(InputError, match="'label 2' was observed in no row"):
        MLTSKClassifier().fit(data.X, Y)


# labels in every form -----------------------------------------------------------------


@pytest.mark.parametrize("values", [(-1, 1), (0, 7), (0, 2), ("a", "b")])
def test_fit_refuses_labels_that_are_no_clear_yes_or_no(data, values):
    no, yes = values
    Y = np.where(data.Y == 1, yes, no)
    with pytest.raises(InputError, match="Labels are 0 and 1"):
        MLTSKClassifier().fit(data.X, Y)


@pytest.mark.parametrize("values", [(-1, 1), (0, 7), (0, 2)])
def test_fit_refuses_sparse_labels_that_are_no_clear_yes_or_no(data, values):
    no, yes = values
    Y = sparse.csr_array(np.where(data.Y == 1, yes, no))
    with pytest.raises(InputError, match="Labels are 0 and 1"):
        MLTSKClassifier().fit(data.X, Y)


LABEL_NAMES = ("l0", "l1", "l2", "l3")


def as_names(Y):
    """The names of the labels of each sample."""
    return [[LABEL_NAMES[j] for j in np.flatnonzero(row)] for row in Y]


def as_words(Y):
    """A frame of yes and no."""
    return pd.DataFrame(np.where(Y == 1, "yes", "no"), columns=LABEL_NAMES)


@pytest.mark.parametrize(
    "form",
    [as_names, as_words, lambda Y: Y.astype(bool), sparse.csr_array, np.ndarray.tolist],
    ids=["names", "words", "booleans", "sparse", "lists"],
)
def test_fit_takes_labels_in_every_form(data, form):
    expected = MLTSKClassifier(n_rules=3).fit(data.X, data.Y)
    clf = MLTSKClassifier(n_rules=3).fit(data.X, form(data.Y))
    scores = clf.decision_function(data.X)
    assert_allclose(scores, expected.decision_function(data.X))


def test_label_names_come_from_lists_of_names(data):
    clf = MLTSKClassifier(n_rules=0).fit(data.X, as_names(data.Y))
    assert clf.label_names_ == LABEL_NAMES


# frames of polars ---------------------------------------------------------------------


def test_explain_gives_a_polars_frame_for_a_polars_frame(table, polars):
    X, Y = table
    X_polars = polars.from_pandas(X)
    Y_polars = polars.from_pandas(Y)
    levels = polars.Enum(X["stage"].cat.categories)
    X_polars = X_polars.cast({"stage": levels})  # whose order is lost on the way
    clf = MLTSKClassifier(n_rules=2).fit(X_polars, Y_polars)
    of_pandas = MLTSKClassifier(n_rules=2).fit(X, Y)
    assert clf.label_names_ == tuple(Y.columns)
    assert_array_equal(clf.predict_proba(X_polars), of_pandas.predict_proba(X))
    frame = clf.explain(X_polars[:3]).to_frame()
    expected = of_pandas.explain(X[:3]).to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == list(expected.columns)
    assert_array_equal(frame["contribution"], expected["contribution"])
    assert frame["words"].to_list() == expected["words"].tolist()


def test_fit_and_partial_fit_refuse_a_polars_lazyframe(table, polars):
    X = polars.from_pandas(table[0])
    Y = polars.from_pandas(table[1])
    with pytest.raises(InputError, match="X is a LazyFrame of polars"):
        MLTSKClassifier().fit(X.lazy(), Y)
    with pytest.raises(InputError, match="X is a LazyFrame of polars"):
        IncrementalMLTSK().partial_fit(X.lazy(), Y)
    with pytest.raises(InputError, match="y is a LazyFrame of polars"):
        MLTSKClassifier().fit(X, Y.lazy())


# conditions joined by their minimum ---------------------------------------------------


@pytest.fixture(scope="module")
def clf_minimum(data):
    return MLTSKClassifier(20, tnorm="minimum").fit(data.X, data.Y)


def test_tnorm_minimum_fires_by_the_feature_that_is_farthest_away(data, clf_minimum):
    assert clf_minimum.tnorm_ == "minimum"
    assert clf_minimum.order_ == 0
    assert clf_minimum.system_.firing == "minimum"
    Z = clf_minimum.system_.scale(data.X)
    distances = ((Z[:, None] - clf_minimum.centers_) ** 2).max(axis=2)
    expected = np.exp(-distances / clf_minimum.widths_[0, 0])
    firing = clf_minimum.system_.firing_strengths(data.X)
    assert_allclose(firing, expected, atol=1e-12)


def test_tnorm_of_a_short_model_is_the_product(clf_minimum):
    assert clf_minimum.shorten(6).tnorm_ == "product"


def test_tnorm_minimum_of_a_stream_is_that_of_a_fit(data, clf_minimum):
    stream = IncrementalMLTSK(20, tnorm="minimum").partial_fit(data.X, data.Y)
    scores = stream.decision_function(data.X)
    assert_allclose(scores, clf_minimum.decision_function(data.X), atol=1e-7)


def test_tnorm_minimum_refuses_order_1(data):
    with pytest.raises(InputError, match="order 0 and dense X, but order is 1"):
        MLTSKClassifier(20, order=1, tnorm="minimum").fit(data.X, data.Y)


def test_tnorm_minimum_refuses_sparse_x(data):
    X = sparse.csr_array(data.X)
    with pytest.raises(InputError, match="order 0 and dense X, but X is sparse"):
        MLTSKClassifier(20, order=0, tnorm="minimum").fit(X, data.Y)
