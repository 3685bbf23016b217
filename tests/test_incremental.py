"""IncrementalMLTSK: rows that arrive give the model of a fit that holds them all."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mltsk import IncrementalMLTSK, MLTSKClassifier, incremental
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=600, n_features=6, n_labels=4, random_state=0
    )


def in_parts(clf, X, Y, w=None, size=150):
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        clf.partial_fit(X[part], Y[part], sample_weight=None if w is None else w[part])
    return clf


def refitted(clf, X, Y, w):
    """Scores of the ridge problem of the classifier's own columns on all rows."""
    scaling, stream = clf.scaling_, clf.stream_
    Z = scaling.apply(X)
    M = np.exp(-((Z[:, None] - clf.centers_) ** 2 / clf.widths_).sum(axis=2))
    T = clf.terms_.memberships(Z, scaling)
    columns = np.hstack([stream.term_weights**0.5 * T, stream.rule_weight**0.5 * M])
    mean, rates = (
        np.average(columns, axis=0, weights=w),
        np.average(Y, axis=0, weights=w),
    )
    weighted = w[:, None] * (columns - mean)
    H = weighted.T @ (columns - mean) + clf.ridge_ * np.eye(columns.shape[1])
    scores = rates + (columns - mean) @ np.linalg.solve(H, weighted.T @ (Y - rates))
    return clf.fit_record_.curves.log_odds(scores)


def left_out_score(design, ridge, rows, i):
    """Score of row i by the ridge problem of a design without this row."""
    X, Y = rows
    is_kept = np.arange(len(X)) != i
    Phi = design.rows(design.scale.apply(X))
    mean = Phi[is_kept].mean(axis=0)
    rates = Y[is_kept].mean(axis=0)
    centred = Phi[is_kept] - mean
    penalty = ridge * design.shrunk(np.eye(design.n_columns))
    H = centred.T @ centred + penalty
    B = np.linalg.solve(H, centred.T @ (Y[is_kept] - rates))
    return rates + (Phi[i] - mean) @ B


def honest_score(clf, design, rows, i):
    """Log-odds of row i without it, at the base rates of all rows."""
    Y = rows[1]
    shift = Y.mean(axis=0) - np.delete(Y, i, axis=0).mean(axis=0)
    score = left_out_score(design, clf.ridge_, rows, i) + shift
    return clf.fit_record_.curves.log_odds(score)


def test_partial_fit_scores_rows_by_pairs_that_were_found_without_them(data):
    clf = IncrementalMLTSK(n_pairs=2, n_rules=0)
    clf.partial_fit(data.X[:400], data.Y[:400])
    clf.partial_fit(data.X[400:], data.Y[400:])
    stream = clf.stream_
    design = stream.design(clf.system_)
    assert len(clf.system_.pairs) > 0
    in_folds = np.concatenate([rows for rows, _ in stream.folds])
    assert_array_equal(np.sort(in_folds), np.arange(400))
    rows = (data.X, data.Y)
    expected = honest_score(clf, design, rows, 500)
    assert_allclose(clf.loo_scores_[500], expected, atol=1e-8)
    for fold_rows, pairs in stream.folds:
        i = fold_rows[0]
        expected = honest_score(clf, replace(design, pairs=pairs), rows, i)
        assert_allclose(clf.loo_scores_[i], expected, atol=1e-8)


def test_partial_fit_keeps_the_kernels_prior_of_exceptions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    waves = np.column_stack([np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]), X[:, 2]])
    Y = (waves > 0) * 1.0
    clf = IncrementalMLTSK().partial_fit(X[:500], Y[:500]).partial_fit(X[500:], Y[500:])
    assert clf.stream_.has_kernel_prior
    design = clf.stream_.design(clf.system_)
    expected = honest_score(clf, design, (X, Y), 600)
    assert_allclose(clf.loo_scores_[600], expected, atol=1e-5)


@pytest.mark.parametrize("weights", [None, "counts"])
def test_a_stream_equals_a_fit_of_its_rules_on_all_rows(data, weights):
    w = (
        None
        if weights is None
        else np.random.default_rng(0).integers(0, 3, size=600).astype(float)
    )
    clf = in_parts(IncrementalMLTSK(n_rules=5, order=0), data.X, data.Y, w)
    expected = refitted(clf, data.X, data.Y, np.ones(600) if w is None else w)
    assert_allclose(clf.system_.scores(data.X), expected, atol=1e-7)
    assert clf.n_seen_ == 600


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_rules": 3, "order": 1},
        {"coupling": "signed", "n_rules": 2},
        {"n_pairs": 3},
        {"n_pairs": 2, "n_rules": 5, "coupling": "signed"},
    ],
    ids=str,
)
def test_one_call_with_all_rows_is_a_fit(data, options):
    stream, whole = (
        IncrementalMLTSK(**options).partial_fit(data.X, data.Y),
        MLTSKClassifier(**options),
    )
    whole.fit(data.X, data.Y)
    assert_allclose(stream.loo_scores_, whole.loo_scores_, atol=1e-7)
    assert_allclose(
        stream.predict_proba(data.X), whole.predict_proba(data.X), atol=1e-6
    )
    assert_allclose(IncrementalMLTSK(**options).fit(data.X, data.Y).coef_, whole.coef_)


def test_the_parts_do_not_matter_and_weights_keep_their_unit(data):
    w = np.random.default_rng(0).random(600) + 0.1
    start = IncrementalMLTSK(n_rules=3).partial_fit(
        data.X[:200], data.Y[:200], sample_weight=w[:200]
    )
    a, b = (
        in_parts(
            pickle.loads(pickle.dumps(start)), data.X[200:], data.Y[200:], w[200:], n
        )
        for n in (400, 37)
    )
    single = in_parts(
        pickle.loads(pickle.dumps(start)), data.X[200:], data.Y[200:], w[200:], 1
    )
    for other in (b, single):
        assert_allclose(
            other.decision_function(data.X), a.decision_function(data.X), atol=1e-8
        )
        assert_allclose(other.loo_scores_, a.loo_scores_, atol=1e-8)


def test_rows_for_leave_one_out_stay_few_and_spread(data):
    X, Y = np.tile(data.X, (8, 1)), np.tile(data.Y, (8, 1))
    clf = in_parts(IncrementalMLTSK(n_rules=3, n_pairs=2), X, Y, size=700)
    assert_array_equal(clf.loo_rows_, np.arange(0, 4800, 4))  # 2,000 at most
    assert clf.loo_scores_.shape == (1200, 4)
    assert_array_equal(clf.stream_.kept.X, X[::4])
    in_folds = np.concatenate([rows for rows, _ in clf.stream_.folds])
    assert_array_equal(np.sort(in_folds), np.arange(0, 700, 4) // 4)


def test_triangles_stream_too(data):
    whole = MLTSKClassifier(n_rules=3, scale="triangles", ridge=1.0).fit(data.X, data.Y)
    stream = IncrementalMLTSK(n_rules=3, scale="triangles", ridge=1.0).partial_fit(
        data.X, data.Y
    )
    assert_allclose(
        stream.decision_function(data.X), whole.decision_function(data.X), atol=1e-8
    )


def test_what_was_seen_before_counts_half_as_much_with_half_forgotten(data):
    half = (
        IncrementalMLTSK(forgetting=0.5)
        .partial_fit(data.X, data.Y)
        .partial_fit(data.X, data.Y)
    )
    once = IncrementalMLTSK().partial_fit(data.X, data.Y)
    for name in ("H", "B", "phi", "y", "total"):
        assert_allclose(
            getattr(half.stream_.moments, name),
            1.5 * getattr(once.stream_.moments, name),
            rtol=1e-12,
        )


def test_forgetting_follows_a_stream_that_changes(data):
    flipped = 1 - data.Y
    old, new = (
        in_parts(
            in_parts(IncrementalMLTSK(forgetting=f), data.X, data.Y), data.X, flipped
        )
        for f in (0.0, 0.6)
    )
    assert (
        (new.predict(data.X) == flipped).mean()
        > 0.8
        > (old.predict(data.X) == flipped).mean()
    )


def test_classes_may_come_later(data):
    y = np.array(["a", "b", "c"])[
        np.digitize(data.X[:, 0], np.quantile(data.X[:, 0], [1 / 3, 2 / 3]))
    ]
    for classes in (["a", "b", "c"], ["a", "b"]):
        clf = IncrementalMLTSK(n_rules=3).partial_fit(
            data.X[y == "a"], y[y == "a"], classes=classes
        )
        known = np.isin(y, classes)
        clf.partial_fit(data.X[known], y[known])
        assert set(clf.predict(data.X)) == set(classes)
    with pytest.raises(InputError, match="'c', which is none of the classes"):
        clf.partial_fit(data.X, y)


def test_sparse_rows_stream(data):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    clf = in_parts(IncrementalMLTSK(n_rules=3), X, data.Y)
    assert_allclose(
        clf.decision_function(X), clf.decision_function(X.toarray()), atol=1e-10
    )


def test_a_stream_can_be_pickled_and_goes_on(data):
    clf = IncrementalMLTSK(n_rules=3).partial_fit(data.X[:300], data.Y[:300])
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.decision_function(data.X), clf.decision_function(data.X))
    again.partial_fit(data.X[300:], data.Y[300:])
    assert_array_equal(again.coef_, clf.partial_fit(data.X[300:], data.Y[300:]).coef_)
    assert clone(again).get_params() == clf.get_params()


def test_a_copy_can_be_short_and_no_longer_learns(data):
    short = IncrementalMLTSK().partial_fit(data.X, data.Y).shorten(3)
    assert short.n_statements_.max() <= 3
    assert not hasattr(short, "partial_fit")


def test_asking_what_it_has_does_no_work(monkeypatch):
    monkeypatch.setattr(incremental, "fit_system", None)
    clf = IncrementalMLTSK()
    assert hasattr(clf, "partial_fit")
    assert not hasattr(clf, "n_seen_")
    assert not hasattr(clf, "rules_")
    assert not hasattr(MLTSKClassifier(), "partial_fit")


def as_lists(Y, names):
    """The names of the labels of each row."""
    return [[name for name, cell in zip(names, row, strict=True) if cell] for row in Y]


def test_partial_fit_learns_labels_of_lists_by_name(data):
    Y = data.Y[:, :2]
    stream = IncrementalMLTSK(n_rules=3).partial_fit(data.X, as_lists(Y, "ab"))
    only_b = np.column_stack([np.zeros(600), Y[:, 1]])
    stream.partial_fit(data.X, as_lists(only_b, "ab"))
    by_position = IncrementalMLTSK(n_rules=3).partial_fit(data.X, Y)
    by_position.partial_fit(data.X, only_b)
    assert_array_equal(stream.predict_proba(data.X), by_position.predict_proba(data.X))
    with pytest.raises(InputError, match=r"the label 'c', .* 'a' and 'b'.*classes="):
        stream.partial_fit(data.X, as_lists(Y, "bc"))


def test_partial_fit_learns_labels_of_frames_by_name(data):
    X, Y = data.frames()
    stream = IncrementalMLTSK(n_rules=3).partial_fit(X, Y)
    same = pickle.loads(pickle.dumps(stream)).partial_fit(X, Y)
    stream.partial_fit(X, Y[Y.columns[::-1]])
    assert_array_equal(stream.predict_proba(X), same.predict_proba(X))


def test_partial_fit_takes_all_labels_as_classes_in_its_first_call(data):
    Y = data.Y[:, :3]
    first = as_lists(Y * [1, 1, 0], "abc")
    stream = IncrementalMLTSK(n_rules=0).partial_fit(data.X, first, classes=list("abc"))
    stream.partial_fit(data.X, as_lists(Y, "abc"), classes=list("cab"))
    assert stream.label_names_ == ("a", "b", "c")
    assert stream.predict(data.X)[:, 2].any()
    with pytest.raises(InputError, match="classes has 'a' and 'd', but"):
        stream.partial_fit(data.X, first, classes=["a", "d"])


@pytest.mark.parametrize("scale", ["auto", "unit", None])
def test_partial_fit_takes_dense_and_sparse_batches_in_turn(data, scale):
    dense = np.maximum(data.X - 0.3, 0)
    csr = sparse.csr_array(dense)
    for first, later in ((dense, csr), (csr, dense)):
        mixed = IncrementalMLTSK(3, ridge=1.0, scale=scale).partial_fit(first, data.Y)
        alike = IncrementalMLTSK(3, ridge=1.0, scale=scale).partial_fit(first, data.Y)
        mixed.partial_fit(later, data.Y)
        alike.partial_fit(first, data.Y)
        assert_allclose(
            mixed.predict_proba(dense), alike.predict_proba(dense), atol=1e-10
        )
    with pytest.raises(InputError, match="sparse data have none"):
        alike.partial_fit(np.where(dense > 0.5, np.nan, dense), data.Y)


def test_what_cannot_stream_says_so(data):
    clf = IncrementalMLTSK(n_rules=0).partial_fit(data.X, data.Y)
    for X, Y, w, message in (
        (data.X, data.Y[:, :2], None, "there are 4 labels"),
        (data.X, data.Y[:-1], None, "X has 600 rows"),
        (data.X[:, :2], data.Y, None, "expecting 6 features"),
        (data.X, data.Y, np.ones(data.Y.shape), "sample_weight has the shape"),
        (data.X, data.Y, np.zeros(600), "zero for every row"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(X, Y, sample_weight=w)
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    with pytest.raises(InputError, match="takes arrays"):
        clf.partial_fit(torch.as_tensor(data.X), torch.as_tensor(data.Y))


@pytest.mark.parametrize(
    "form", [np.asarray, pd.DataFrame, pd.DataFrame.convert_dtypes]
)
@pytest.mark.parametrize("n_batches", [0, 1])
def test_partial_fit_refuses_labels_that_were_not_observed(data, form, n_batches):
    names = list("abcd")
    stream = IncrementalMLTSK(n_rules=0)
    sound = form(pd.DataFrame(data.Y, columns=names))
    for _ in range(n_batches):
        stream.partial_fit(data.X, sound)
    Y = np.where(np.arange(600)[:, None] == 7, np.nan, data.Y)
    sentence = "was not observed in row 7. Leave such rows out, or fit an MLTSKClass"
    with pytest.raises(InputError, match=sentence):
        stream.partial_fit(data.X, form(pd.DataFrame(Y, columns=names)))
    stream.partial_fit(data.X, sound)
    assert stream.n_seen_ == 600 * (n_batches + 1)


def test_partial_fit_refuses_a_ridge_that_is_too_small_for_a_batch(data):
    stream = IncrementalMLTSK(n_rules=0, ridge=1e-300, scale="standard")
    twice = np.hstack([data.X, data.X])
    with pytest.raises(InputError, match="take a larger one, such as ridge=1"):
        stream.partial_fit(twice, data.Y)


def test_groups_of_a_stream_are_left_out_whole_whichever_calls_they_come_in(data):
    X = data.X[:300]
    Y = data.Y[:300].astype(float)
    groups = np.arange(300) % 90  # every group comes in several calls
    clf = IncrementalMLTSK(n_rules=0, n_pairs=0, ridge=5.0)
    for start in range(0, 300, 100):
        part = slice(start, start + 100)
        clf.partial_fit(X[part], Y[part], groups=groups[part])
    design = clf.stream_.design(clf.system_)
    scores = (clf.loo_scores_ - clf.fit_record_.curves.offsets) / (
        clf.fit_record_.curves.slopes
    )
    for group in (0, 17, 89):
        own = groups == group
        alone = scores_without(design, 5.0, X, Y, own)
        shift = Y.mean(axis=0) - Y[~own].mean(axis=0)  # all start from one base rate
        assert_allclose(scores[own], alone + shift, atol=1e-6)


def scores_without(design, ridge, X, Y, is_own):
    """Scores of some rows by the ridge problem of a design without them."""
    Phi = design.rows(design.scale.apply(X))
    mean = Phi[~is_own].mean(axis=0)
    rates = Y[~is_own].mean(axis=0)
    centred = Phi[~is_own] - mean
    H = centred.T @ centred + ridge * design.shrunk(np.eye(design.n_columns))
    B = np.linalg.solve(H, centred.T @ (Y[~is_own] - rates))
    return rates + (Phi[is_own] - mean) @ B


def test_a_stream_keeps_all_samples_of_some_groups(data, monkeypatch):
    monkeypatch.setattr("mltsk.stream.KEPT_ROWS", 50)
    patients = np.random.default_rng(0).integers(0, 150, 600)
    clf = IncrementalMLTSK(n_rules=0, n_pairs=0, ridge=5.0)
    for start in range(0, 600, 200):
        part = slice(start, start + 200)
        clf.partial_fit(data.X[part], data.Y[part], groups=patients[part])
    rows = clf.loo_rows_
    assert 0 < len(rows) <= 100
    assert_array_equal(rows, np.flatnonzero(np.isin(patients, patients[rows])))
    names = patients.astype(float)  # as a table with gaps would have them
    again = IncrementalMLTSK(n_rules=0, n_pairs=0, ridge=5.0)
    again.partial_fit(data.X[:200], data.Y[:200], groups=names[:200])
    again.partial_fit(data.X[200:], data.Y[200:], groups=patients[200:])
    assert_array_equal(again.loo_rows_, rows)


def test_a_stream_of_one_group_keeps_it(data, monkeypatch):
    monkeypatch.setattr("mltsk.stream.KEPT_ROWS", 50)
    clf = IncrementalMLTSK(n_rules=0, n_pairs=0, ridge=5.0)
    clf.partial_fit(data.X[:200], data.Y[:200], groups=np.full(200, "eve"))
    assert len(clf.fit_record_.training) == 200


@pytest.mark.parametrize("first", [True, False])
def test_partial_fit_refuses_groups_at_some_calls_alone(data, first):
    groups = np.arange(100) // 2
    clf = IncrementalMLTSK(n_rules=0, ridge=5.0)
    clf.partial_fit(data.X[:100], data.Y[:100], groups=groups if first else None)
    with pytest.raises(InputError, match="at every call which rows belong together"):
        clf.partial_fit(data.X[:100], data.Y[:100], groups=None if first else groups)
