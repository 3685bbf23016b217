"""MLTSKClassifier as people use it: inputs of every kind, promises, helpful errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.core.coupling import CONVEX
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
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


def same(a, b, X, atol=1e-8):
    assert_allclose(a.decision_function(X), b.decision_function(X), atol=atol)
    assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=atol)


# what a fit gives ---------------------------------------------------------------------


def test_shapes_follow_the_interface(data, clf):
    n_rules, n_terms = clf.n_rules_, len(clf.terms_.feature)
    assert (
        clf.centers_.shape == clf.widths_.shape == clf.prototypes_.shape == (n_rules, 6)
    )
    assert clf.coef_.shape == (n_rules, 7 if clf.order_ else 1, 4)
    assert clf.general_coef_.shape == (n_terms, 4)
    assert clf.quantiles_.shape == (6, 21)
    assert (
        clf.loo_scores_.shape
        == clf.decision_function(data.X).shape
        == clf.predict_proba(data.X).shape
        == (200, 4)
    )
    assert_array_equal(
        clf.n_statements_, np.full(4, n_terms + n_rules * (clf.coef_.shape[1] + 6))
    )
    assert_array_equal(clf.classes_, np.arange(4))


def test_it_learns_and_knows_how_well(data, clf):
    honest = ((clf.loo_scores_ > 0.5) == data.Y).mean()
    base = np.maximum(data.Y.mean(axis=0), 1 - data.Y.mean(axis=0)).mean()
    assert (clf.predict(data.X) == data.Y).mean() > honest > base + 0.1
    assert clf.loo_error_ == pytest.approx(
        ((clf.loo_scores_ - data.Y) ** 2).mean(), rel=1e-3
    )


def test_outputs_agree_with_each_other(data, clf):
    distance, proba = clf.decision_function(data.X), clf.predict_proba(data.X)
    assert_array_equal(clf.predict(data.X), distance > 0)
    assert str(clf.rules_)
    assert str(clf.explain(data.X[:1]))
    assert 0 < proba.min() < proba.max() < 1


def test_scores_without_itself_are_those_of_a_fit_without_the_row(data):
    X, Y = data.X[:40], data.Y[:40]
    clf = MLTSKClassifier(n_rules=0, scale=None, ridge=0.5).fit(X, Y)
    for i in range(40):
        rest = np.arange(40) != i
        ridge = (
            0.5 * X.var(axis=0).sum() / X[rest].var(axis=0).sum()
        )  # ridges are in units of the total variance
        without = MLTSKClassifier(n_rules=0, scale=None, ridge=ridge).fit(
            X[rest], Y[rest]
        )
        assert_allclose(
            without.system_.scores(X[[i]])[0], clf.loo_scores_[i], atol=1e-10
        )


def test_given_parameters_are_used(data):
    clf = MLTSKClassifier(n_rules=5, order=1, width_scale=0.2, ridge=3.0).fit(
        data.X, data.Y
    )
    assert (clf.n_rules_, clf.order_, clf.width_scale_, clf.ridge_) == (5, 1, 0.2, 3.0)
    none = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    assert none.coef_.shape == (0, 1, 4)
    smooth = MLTSKClassifier(n_rules=0, ridge=1e6).fit(data.X, data.Y)
    assert_allclose(
        smooth.system_.scores(data.X), np.tile(data.Y.mean(axis=0), (200, 1)), atol=1e-2
    )


def test_a_fit_is_the_same_every_time_however_many_threads(data):
    found = []
    for threads in (1, 1, 2):
        with threadpool_limits(threads):
            found.append(MLTSKClassifier().fit(data.X, data.Y))
    assert_array_equal(found[0].loo_scores_, found[1].loo_scores_)
    same(found[0], found[2], data.X, atol=1e-6)


@pytest.mark.parametrize("kind", CONVEX)
def test_a_coupling_pulls_by_its_weight(data, kind):
    options = {"n_rules": 0, "scale": "standard", "ridge": 2.0}
    alone = MLTSKClassifier(**options).fit(data.X, data.Y)
    same(
        MLTSKClassifier(coupling=kind, coupling_weight=0.0, **options).fit(
            data.X, data.Y
        ),
        alone,
        data.X,
    )
    tied = MLTSKClassifier(coupling=kind, coupling_weight=5.0, **options).fit(
        data.X, data.Y
    )
    Z = (
        (data.X - data.X.mean(axis=0)) / data.X.std(axis=0) / 6**0.5
    )  # of total variance 1
    ridges = 2.0 * np.eye(4) + 5.0 * tied.coupling_
    A = np.kron(np.eye(4), Z.T @ Z) + np.kron(ridges, np.eye(6))
    B = np.linalg.solve(A, (Z.T @ data.Y).ravel(order="F")).reshape(6, 4, order="F")
    assert_allclose(
        tied.system_.scores(data.X), data.Y.mean(axis=0) + Z @ B, atol=1e-10
    )


def test_leave_one_out_says_whether_labels_should_be_tied(data):
    clf = MLTSKClassifier(coupling="laplacian").fit(
        data.X, np.repeat(data.Y[:, :1], 3, axis=1)
    )
    assert 0 <= clf.coupling_weight_ <= 3 * clf.ridge_
    assert clf.coupling_.shape == (3, 3)
    with pytest.raises(InputError, match="same weights"):
        clf.fit(data.X, data.Y, np.random.default_rng(0).random(data.Y.shape))


# weights ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"threshold": "f1"}, {"coupling": "signed"}], ids=str
)
def test_whole_weights_are_copies_and_zeros_are_nothing(data, options):
    w = np.random.default_rng(1).integers(0, 4, size=200)
    a = MLTSKClassifier(**options).fit(data.X, data.Y, sample_weight=w)
    b = MLTSKClassifier(**options).fit(
        np.repeat(data.X, w, axis=0), np.repeat(data.Y, w, axis=0)
    )
    same(a, b, data.X, atol=1e-6)
    assert_allclose(np.repeat(a.loo_scores_, w, axis=0), b.loo_scores_, atol=1e-6)


def test_only_ratios_of_other_weights_matter(data, clf):
    w = np.random.default_rng(1).random(200) + 0.1
    a, b = (
        MLTSKClassifier().fit(data.X, data.Y, sample_weight=c * w) for c in (1.0, 1e4)
    )
    same(a, b, data.X)
    assert (
        np.abs(a.decision_function(data.X) - clf.decision_function(data.X)).max() > 1e-3
    )
    for equal in (np.ones(200), np.full(200, 7), np.full((200, 4), 0.1)):
        same(MLTSKClassifier().fit(data.X, data.Y, sample_weight=equal), clf, data.X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w[:-1], "sample_weight.shape"),
        (lambda w: np.tile(w[:, None], (1, 3)), "weight per label"),
        (lambda w: w - 2, "Negative"),
        (lambda w: w * np.nan, "NaN"),
        (lambda w: w * 0, "every row"),
        (lambda w: np.tile(w[:, None], (1, 4)) * [1, 1, 0, 1], "every row of label 2"),
    ],
)
def test_weights_that_make_no_sense_are_refused(data, change, message):
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier().fit(data.X, data.Y, sample_weight=change(np.ones(200)))


# thresholds ---------------------------------------------------------------------------


def test_thresholds_shift_decisions_and_a_tie_counts_as_predicted(data, clf):
    strict = MLTSKClassifier(threshold=[0.9, 0.5, 0.5, 0.5]).fit(data.X, data.Y)
    assert_allclose(
        strict.decision_function(data.X)[:, 0],
        clf.decision_function(data.X)[:, 0] - 0.4,
        atol=1e-12,
    )
    tie = MLTSKClassifier(threshold=float(clf.system_.scores(data.X)[0, 1])).fit(
        data.X, data.Y
    )
    assert 0 < tie.decision_function(data.X)[0, 1] < 1e-300
    assert tie.predict(data.X)[0, 1] == 1


@pytest.mark.parametrize("threshold", [np.nan, [0.5, 0.5], [0.5, 0.5, np.inf, 0.5]])
def test_thresholds_are_finite_and_one_per_label(data, threshold):
    with pytest.raises(ValueError, match="one per label"):
        MLTSKClassifier(threshold=threshold).fit(data.X, data.Y)


# data of every shape ------------------------------------------------------------------


def test_names_come_from_data_frames(data):
    X = pd.DataFrame(data.X, columns=[f"feature {d}" for d in range(6)])
    clf = MLTSKClassifier(n_rules=3).fit(
        X, pd.DataFrame(data.Y, columns=["sad", "happy", "calm", "loud"])
    )
    assert clf.label_names_ == ("sad", "happy", "calm", "loud")
    assert clf.system_.feature_names[5] == "feature 5"
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X.rename(columns={"feature 0": "other"}))


def test_sparse_rows_are_dense_ones_of_unit_length(data):
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.5)
    X[7] = 0
    dense, csr = (
        MLTSKClassifier(scale="unit").fit(X, data.Y),
        MLTSKClassifier().fit(sparse.csr_matrix(X), data.Y),
    )
    assert csr.scale_ == "unit"
    same(dense, csr, X)
    same(dense, csr, sparse.csc_array(X))
    with pytest.raises(ValueError, match="would make sparse X dense"):
        MLTSKClassifier(scale="quantile").fit(sparse.csr_matrix(X), data.Y)


def test_single_precision_is_nearly_double(data, clf):
    model = MLTSKClassifier().fit(data.X.astype(np.float32), data.Y)
    assert_allclose(
        model.decision_function(data.X.astype(np.float32)),
        clf.decision_function(data.X),
        atol=1e-3,
    )


def test_classes_of_one_dimension():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = MLTSKClassifier().fit(X, names)
    assert model.score(X, names) > 0.93
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert_array_equal(
        model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X)
    )
    binary = MLTSKClassifier().fit(X[:100], names[:100])
    assert binary.decision_function(X[:100]).shape == (100,)
    assert_array_equal(binary.predict(X[:100]), names[:100])
    assert_array_equal(
        binary.predict_proba(X[:100])[:, 1] > 0.5, names[:100] == "versicolor"
    )


def test_labels_that_everybody_or_nobody_has(data):
    Y = np.column_stack([np.ones(200), np.zeros(200), data.Y[:, 0]]).astype(int)
    for options in (
        {},
        {"coupling": "precision"},
        {"threshold": "f1"},
        {"max_statements": 3},
    ):
        assert_array_equal(
            MLTSKClassifier(**options).fit(data.X, Y).predict(data.X)[:, :2],
            [[1, 0]] * 200,
        )
    assert not MLTSKClassifier().fit(data.X, 0 * Y).predict(data.X).any()


@pytest.mark.parametrize("scale", ["auto", "standard", "minmax", "unit", None])
@pytest.mark.parametrize("n_rules", ["auto", 0, 4])
def test_constant_features_and_equal_rows(data, scale, n_rules):
    X = np.column_stack([data.X, np.full(200, 3.0)])
    X[50:150] = X[0]
    assert np.isfinite(
        MLTSKClassifier(n_rules, scale=scale).fit(X, data.Y).decision_function(X)
    ).all()
    constant = MLTSKClassifier(n_rules, scale=scale).fit(np.full((200, 3), 7.0), data.Y)
    assert_allclose(
        constant.system_.scores(np.full((2, 3), 7.0)),
        [data.Y.mean(axis=0)] * 2,
        atol=1e-9,
    )


@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (20, 60), (200, 1)])
def test_few_samples_and_few_features(shape):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=shape), rng.random((shape[0], 2)) < 0.5
    clf = MLTSKClassifier().fit(X, Y)
    assert np.isfinite(clf.decision_function(10 * X)).all()
    assert np.isfinite(clf.loo_scores_).all()


def test_thousands_of_labels_and_tens_of_thousands_of_features_fit():
    rng = np.random.default_rng(0)
    labels = MLTSKClassifier().fit(
        rng.normal(size=(120, 20)), rng.random((120, 5000)) < 0.05
    )
    assert labels.loo_scores_.shape == (120, 5000)
    assert 0.03 < labels.loo_error_ < 0.07
    X = rng.normal(size=(60, 50_000))
    assert MLTSKClassifier().fit(X, X[:, :3] > 0).predict(X).shape == (60, 3)


@pytest.mark.parametrize(("ridge", "largest"), [(1e-8, 2), (1e8, 2), ("auto", 10**6)])
def test_ridges_and_counts_of_any_size(data, ridge, largest):
    w = np.random.default_rng(0).integers(1, largest, size=200)
    assert np.isfinite(
        MLTSKClassifier(ridge=ridge).fit(data.X, data.Y, w).decision_function(data.X)
    ).all()
    with pytest.raises(ValueError, match="take a larger one"):
        MLTSKClassifier(ridge=1e-300, scale="unit", n_rules=3).fit(
            np.repeat(data.X, 3, axis=0), np.repeat(data.Y, 3, 0)
        )


# the rest of the contract -------------------------------------------------------------


def test_pickle_and_clone(data, clf):
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.decision_function(data.X), clf.decision_function(data.X))
    assert len(pickle.dumps(again)) == len(pickle.dumps(clf))
    assert clone(clf).get_params() == clf.get_params()


def test_grid_search_and_pipeline(data):
    pipe = make_pipeline(StandardScaler(), MLTSKClassifier())
    grid = {"mltskclassifier__n_rules": [0, 3]}
    search = GridSearchCV(pipe, grid, cv=KFold(3, shuffle=True, random_state=0)).fit(
        data.X, data.Y
    )
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
def test_bad_parameters_are_named(data, name, value):
    with pytest.raises(ValueError, match=name):
        MLTSKClassifier(**{name: value}).fit(data.X, data.Y)


def test_bad_targets_are_refused(data):
    with pytest.raises(ValueError, match="continuous"):
        MLTSKClassifier().fit(data.X, np.random.default_rng(0).random(200))
    with pytest.raises(ValueError, match="rows"):
        MLTSKClassifier().fit(data.X, pd.DataFrame(data.Y[:-1]))
    with pytest.raises(ValueError, match="infinity"):
        MLTSKClassifier().fit(np.where(data.X > 0.9, np.inf, data.X), data.Y)
    with pytest.raises(InputError, match="only 'a'"):
        MLTSKClassifier().fit(data.X, ["a"] * 200)


def test_data_are_never_written_to(data):
    X, Y = data.X.copy(), data.Y.copy()
    MLTSKClassifier(scale=None, n_rules=3, max_statements=2).fit(X, Y).predict(X)
    assert_array_equal(X, data.X)
    assert_array_equal(Y, data.Y)


# missing cells and labels -------------------------------------------------------------


@pytest.fixture(scope="module")
def gaps(data):
    rng = np.random.default_rng(0)
    return np.where(rng.random(data.X.shape) < 0.15, np.nan, data.X)


@pytest.mark.parametrize(
    "options",
    [{"n_rules": 0}, {"n_rules": 8, "order": 0}, {"n_rules": 4, "order": 1}],
    ids=str,
)
@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_a_missing_cell_counts_as_nothing_but_that_it_is_missing(
    data, gaps, options, scale
):
    clf = MLTSKClassifier(scale=scale, **options).fit(gaps, data.Y)
    system, Z = clf.system_, read_samples(clf, gaps, clf.columns_)
    effects = effects_of_features(system, Z, 0)
    assert_array_equal(effects[np.isnan(Z)], 0.0)
    assert np.isfinite(clf.predict_proba(gaps)).all()
    total = (
        system.intercept[0]
        + effects.sum(axis=1)
        + effects_of_exceptions(system, Z, 0).sum(axis=1)
    )
    assert_allclose(total, system.scores(Z)[:, 0], atol=1e-10)


def test_that_a_cell_is_missing_may_be_what_counts(data):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    X[rng.random(300) < 0.3, 1] = np.nan
    Y = np.column_stack([np.isnan(X[:, 1]), X[:, 0] > 0]).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    assert "x1 not measured" in clf.system_.feature_names
    assert_array_equal(clf.predict(X)[:, 0], Y[:, 0])


def test_exceptions_measure_what_is_there(data, gaps):
    clf = MLTSKClassifier(n_rules=6, order=0).fit(data.X, data.Y)
    part = data.X[:50].copy()
    part[:, 0] = np.nan
    system = clf.system_
    Z = system.scale(data.X[:50])
    square = ((Z[:, None, 1:] - system.centers[None, :, 1:]) ** 2).sum(
        axis=2
    ) / system.widths[0, 0]
    scaled_up = square * Z.shape[1] / (Z.shape[1] - 1)
    assert_allclose(system.firing_strengths(part), np.exp(-scaled_up))


def test_gaps_are_the_same_in_tensors_and_arrays(data, gaps):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    for options in (
        {"n_rules": 0},
        {"n_rules": 4, "order": 1},
        {"n_rules": 4, "scale": "standard"},
    ):
        here = MLTSKClassifier(**options).fit(gaps, data.Y)
        there = MLTSKClassifier(**options).fit(torch.tensor(gaps), torch.tensor(data.Y))
        assert_allclose(
            there.decision_function(torch.tensor(gaps)).numpy(),
            here.decision_function(gaps),
            atol=1e-8,
        )


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
def test_each_label_learns_from_the_rows_where_it_was_observed(data, form):
    hidden = np.random.default_rng(2).random(data.Y.shape) < 0.3
    hidden[:, 1] = False
    Y = np.where(hidden, np.nan, data.Y)
    options = {
        "n_rules": 0,
        "scale": None,
        "ridge": 1e-9,
    }  # so small that its unit does not matter
    clf = MLTSKClassifier(**options).fit(data.X, form(Y))
    for label in range(Y.shape[1]):
        seen = ~hidden[:, label]
        alone = MLTSKClassifier(**options).fit(
            data.X[seen], pd.DataFrame(data.Y[seen][:, [label]])
        )
        assert_allclose(
            clf.general_coef_[:, label], alone.general_coef_[:, 0], atol=1e-6
        )
        assert_allclose(
            clf.loo_scores_[seen, label], alone.loo_scores_[:, 0], atol=1e-6
        )


def test_cells_that_were_not_observed_are_not_looked_at(data):
    hidden = np.random.default_rng(3).random(data.Y.shape) < 0.4
    one = MLTSKClassifier(threshold="f1").fit(data.X, np.where(hidden, np.nan, data.Y))
    weights = MLTSKClassifier(threshold="f1").fit(
        data.X, np.where(hidden, 1 - data.Y, data.Y), (~hidden).astype(float)
    )
    assert_allclose(one.predict_proba(data.X), weights.predict_proba(data.X))
    assert_allclose(one.thresholds_, weights.thresholds_)


def test_a_label_that_was_never_observed_is_named(data):
    Y = data.Y.astype(float)
    Y[:, 2] = np.nan
    with pytest.raises(InputError, match="'label 2' was observed in no row"):
        MLTSKClassifier().fit(data.X, Y)


@pytest.mark.parametrize("values", [(-1, 1), (0, 7), (0, 2), ("a", "b")])
def test_what_is_no_clear_yes_or_no_is_refused(data, values):
    Y = np.where(data.Y == 1, values[1], values[0])
    with pytest.raises(InputError, match="Labels are 0 and 1"):
        MLTSKClassifier().fit(data.X, Y)
    if not isinstance(values[0], str):
        with pytest.raises(InputError, match="Labels are 0 and 1"):
            MLTSKClassifier().fit(data.X, sparse.csr_array(Y))


def test_labels_may_be_words_lists_and_booleans(data):
    expected = MLTSKClassifier(n_rules=3).fit(data.X, data.Y).decision_function(data.X)
    names = [f"l{j}" for j in range(data.Y.shape[1])]
    lists = [[names[j] for j in np.flatnonzero(row)] for row in data.Y]
    words = pd.DataFrame(np.where(data.Y == 1, "yes", "no"), columns=names)
    for y in (
        lists,
        words,
        data.Y.astype(bool),
        sparse.csr_array(data.Y),
        data.Y.tolist(),
    ):
        assert_allclose(
            MLTSKClassifier(n_rules=3).fit(data.X, y).decision_function(data.X),
            expected,
        )
    assert MLTSKClassifier(n_rules=0).fit(data.X, lists).label_names_ == tuple(names)


def test_polars_frames_come_back_as_polars_frames(table):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    X, Y = (polars.from_pandas(part) for part in table)
    X = X.cast(
        {"stage": polars.Enum(table[0]["stage"].cat.categories)}
    )  # whose order is lost on the way
    clf, same = (
        MLTSKClassifier(n_rules=2).fit(X, Y),
        MLTSKClassifier(n_rules=2).fit(*table),
    )
    assert clf.label_names_ == tuple(Y.columns)
    assert_array_equal(clf.predict_proba(X), same.predict_proba(table[0]))
    told, expected = (
        clf.explain(X[:3]).to_frame(),
        same.explain(table[0][:3]).to_frame(),
    )
    assert isinstance(told, polars.DataFrame)
    assert told.columns == list(expected.columns)
    assert_array_equal(told["contribution"], expected["contribution"])
    assert told["words"].to_list() == expected["words"].tolist()


def test_polars_frames_without_rows_yet_are_refused(table):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    X, Y = (polars.from_pandas(part) for part in table)
    for fit in (MLTSKClassifier().fit, IncrementalMLTSK().partial_fit):
        with pytest.raises(InputError, match="X is a LazyFrame of polars"):
            fit(X.lazy(), Y)
    with pytest.raises(InputError, match="y is a LazyFrame of polars"):
        MLTSKClassifier().fit(X, Y.lazy())


def test_conditions_joined_by_their_minimum_are_short_and_streams_too(data):
    clf = MLTSKClassifier(20, tnorm="minimum").fit(data.X, data.Y)
    assert (clf.tnorm_, clf.order_, clf.system_.firing) == ("minimum", 0, "minimum")
    Z = clf.system_.scale(data.X)
    far = ((Z[:, None] - clf.centers_) ** 2).max(axis=2)
    assert_allclose(
        clf.system_.firing_strengths(data.X),
        np.exp(-far / clf.widths_[0, 0]),
        atol=1e-12,
    )
    assert clf.shorten(6).tnorm_ == "product"
    stream = IncrementalMLTSK(20, tnorm="minimum").partial_fit(data.X, data.Y)
    assert_allclose(
        stream.decision_function(data.X), clf.decision_function(data.X), atol=1e-7
    )
    for X, order, says in (
        (data.X, 1, "order is 1"),
        (sparse.csr_array(data.X), 0, "X is sparse"),
    ):
        with pytest.raises(InputError, match=f"order 0 and dense X, but {says}"):
            MLTSKClassifier(20, order=order, tnorm="minimum").fit(X, data.Y)
