"""Short models: few terms, few conditions, and nothing but what their text holds."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from mltsk import MLTSKClassifier, evaluate, read_table
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import rule_base


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=400, n_features=6, n_labels=4, random_state=0
    )


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier().fit(data.X, data.Y)


@pytest.mark.parametrize(
    ("max_statements", "max_conditions"), [(1, 1), (4, 2), (12, 6)]
)
def test_shorten_limits_statements_and_conditions(clf, max_statements, max_conditions):
    short = clf.shorten(max_statements, max_conditions)
    n_conditions = np.isfinite(short.widths_).sum(axis=1)
    assert short.n_statements_.max() <= max_statements
    assert (n_conditions <= max_conditions).all()
    assert short.general_coef_.any(axis=1).all()
    assert short.coef_.any(axis=(1, 2)).all()
    assert len(short.centers_) == short.n_rules_
    assert len(short.prototypes_) == short.n_rules_
    assert len(short.rule_weights_) == short.n_rules_


def test_shorten_keeps_nearly_the_quality_of_the_long_model(data):
    long = MLTSKClassifier().fit(data.X[:250], data.Y[:250])

    def precision(model):
        scores = model.decision_function(data.X[250:])
        return average_precision_score(data.Y[250:], scores)

    long_precision = precision(long)
    of_12_statements = precision(long.shorten(12))
    of_2_statements = precision(long.shorten(2))
    assert of_12_statements > long_precision - 0.03
    assert 0.5 < of_2_statements < of_12_statements


def test_shorten_is_the_same_every_time_and_leaves_the_long_model(data, clf):
    before = clf.decision_function(data.X)
    expected = clf.shorten(5).decision_function(data.X)
    assert_array_equal(clf.shorten(5).decision_function(data.X), expected)
    assert_array_equal(clf.decision_function(data.X), before)


def test_max_statements_fits_the_model_that_shorten_gives(data, clf):
    fitted = MLTSKClassifier(max_statements=5).fit(data.X, data.Y)
    assert_array_equal(
        fitted.decision_function(data.X), clf.shorten(5).decision_function(data.X)
    )


@pytest.mark.parametrize(
    "rules", [None, [{"x0": (0.5, None)}]], ids=["no rules", "rules of the user"]
)
def test_shorten_of_a_pickled_model_asks_for_its_rows_and_keeps_its_rules(data, rules):
    clf = MLTSKClassifier().fit(data.X, data.Y, rules=rules)
    loaded = pickle.loads(pickle.dumps(clf))
    with pytest.raises(InputError, match="pass its training data"):
        loaded.shorten(5)
    short = loaded.shorten(5, X=data.X, y=data.Y)
    assert_array_equal(
        short.predict_proba(data.X), clf.shorten(5).predict_proba(data.X)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_shorten_takes_sparse_rows_and_exceptions_of_any_order(data, order):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    short = MLTSKClassifier(n_rules=4, order=order).fit(X, data.Y).shorten(3)
    assert short.n_statements_.max() <= 3
    assert short.order_ == 0
    assert np.isfinite(short.decision_function(X)).all()


def test_shorten_takes_sparse_rows_that_are_fewer_than_their_columns():
    """Those without a fold are fitted again by the kernel of their rows."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 500), density=0.1, format="csr", rng=rng)
    Y = (X[:, [0, 1, 2]].toarray() > 0.3).astype(int)
    short = MLTSKClassifier(n_rules=0).fit(X, Y).shorten(3)
    unit = MLTSKClassifier(n_rules=0, scale="unit")
    dense = unit.fit(X.toarray(), Y).shorten(3)
    assert short.n_statements_.max() <= 3
    assert_allclose(short.decision_function(X), dense.decision_function(X))


def test_shorten_keeps_the_certainty_of_statements_and_not_of_all_columns():
    """Information about 30,000 columns would take 7 GB."""
    rng = np.random.default_rng(0)
    rare = sparse.random_array((100, 30_000), density=1e-3, format="csr", rng=rng)
    common = rng.random((100, 3))
    X = sparse.hstack([sparse.csr_array(common), rare], format="csr")
    Y = (common > 0.5).astype(int)
    short = MLTSKClassifier(n_rules=0).fit(X, Y).shorten(2)
    numbers = short.certainty_.numbers
    assert_array_equal(numbers, np.flatnonzero(short.general_coef_.any(axis=1)))
    assert short.certainty_.information.shape == (len(numbers), len(numbers))
    assert "x0 (+" in str(short.rules_)
    assert "±" in str(short.rules_)


def test_max_statements_does_not_look_at_labels_of_weight_0(data):
    w = np.ones(data.Y.shape)
    w[::2, 1] = 0
    other_where_not_counted = np.where(w > 0, data.Y, 1 - data.Y)
    expected = MLTSKClassifier(max_statements=4).fit(data.X, data.Y, w)
    short = MLTSKClassifier(max_statements=4).fit(data.X, other_where_not_counted, w)
    assert_allclose(short.decision_function(data.X), expected.decision_function(data.X))


def test_max_statements_of_0_is_refused(clf):
    with pytest.raises(ValueError, match="max_statements"):
        clf.shorten(0)


def test_loo_scores_of_a_short_model_find_nothing_in_labels_of_pure_noise():
    """Targets are scores of a long model that must not know the labels of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    Y = rng.integers(0, 2, size=(120, 3))
    short = MLTSKClassifier(n_rules=0, ridge=1.0).fit(X, Y).shorten(8)
    assert roc_auc_score(Y, short.loo_scores_) < 0.55


def test_size_path_has_the_honest_quality_of_every_size():
    data = make_multilabel_rules(n_samples=300, random_state=0)
    clf = MLTSKClassifier().fit(data.X, data.Y)
    path = clf.size_path_
    of_4_statements = evaluate(data.Y, clf.shorten(4).loo_scores_)
    assert path["statements"].tolist() == list(range(1, len(path) + 1))
    assert path["AP"][11] > path["AP"][0]
    assert path["AP"][3] == pytest.approx(of_4_statements["AP"])


def test_size_path_has_the_long_model_by_the_same_folds(data):
    clf = MLTSKClassifier(n_rules=0, n_pairs=0, ridge=1.0).fit(data.X, data.Y)
    long = clf.size_path_.attrs["long"]
    assert 0.5 < long["macro_AP"] <= 1
    assert long["AP"] > clf.size_path_["AP"][0]


def test_long_scores_are_those_of_fits_without_the_fold(data):
    X = np.random.default_rng(0).permutation(data.X)[:60]
    clf = MLTSKClassifier(n_rules=0, n_pairs=0, ridge=1.0).fit(X, data.Y[:60])
    models = clf.fit_record_.short_models(4, 2)
    scores = models.long_scores()
    rows = clf.fit_record_.training
    Phi = rows.design.rows(rows.design.scale.apply(rows.X))
    fold = models.fold_of_rows
    assert_array_equal(np.bincount(fold), 12)
    own = fold == 0
    others = ~own
    mean = Phi[others].mean(axis=0)
    A = Phi[others] - mean
    rates = rows.Y[others].mean(axis=0)
    H = A.T @ A + rows.penalty.rho * np.eye(A.shape[1])
    B = np.linalg.solve(H, A.T @ (rows.Y[others] - rates))
    expected = rows.Y.mean(axis=0) + (Phi[own] - mean) @ B
    assert_allclose(scores[own], expected, atol=1e-8)


def weighted_and_copied(data, **options):
    """A short model of weighted rows, and one of copies of rows in groups."""
    rng = np.random.default_rng(3)
    X = data.X[:150]
    Y = data.Y[:150]
    w = rng.integers(1, 4, size=150)
    copies = np.repeat(np.arange(150), w)
    options = {"max_statements": 6, **options}
    weighted = MLTSKClassifier(**options).fit(X, Y, sample_weight=w)
    copied = MLTSKClassifier(**options)
    copied.fit(X[copies], Y[copies], groups=copies)
    return weighted, copied


def test_max_statements_counts_whole_weights_as_copies_of_rows(data):
    weighted, copied = weighted_and_copied(data, n_rules=0, n_pairs=0, ridge=1.0)
    assert rules_of(weighted) == rules_of(copied)


def rules_of(clf):
    """The text of the rules without what counts rows: members, and labels told."""
    return str(rule_base(replace(clf.system_, members=None)))


@pytest.mark.parametrize("n_statements", [5, 12])
def test_max_statements_counts_weights_as_copies_whatever_is_chosen(n_statements):
    data = make_multilabel_rules(300, n_features=8, n_labels=3, random_state=0)
    weighted, copied = weighted_and_copied(data, max_statements=n_statements)
    assert rules_of(weighted) == rules_of(copied)


def test_max_statements_counts_weights_as_copies_in_a_table_with_gaps():
    labels = ["ascites", "hepatomegaly", "spiders", "edema"]
    table = read_table("pbc", labels)
    Y = np.asarray(table.Y)
    w = np.random.default_rng(3).integers(1, 4, size=len(Y))
    copies = np.repeat(np.arange(len(Y)), w)
    weighted = MLTSKClassifier(max_statements=12).fit(table.X, Y, sample_weight=w)
    copied = MLTSKClassifier(max_statements=12)
    copied.fit(table.X.iloc[copies], Y[copies], groups=copies)
    assert rules_of(weighted) == rules_of(copied)
    first = np.searchsorted(copies, np.arange(len(Y)))
    assert_allclose(copied.loo_scores_[first], weighted.loo_scores_, atol=1e-6)


def test_shorten_does_not_depend_on_the_order_of_rows(data):
    order = np.random.default_rng(0).permutation(len(data.X))
    clf = MLTSKClassifier(max_statements=5, n_rules=0, n_pairs=0, ridge=1.0)
    text = str(clf.fit(data.X, data.Y).rules_)
    assert str(clf.fit(data.X[order], data.Y[order]).rules_) == text
    groups = np.arange(len(order)) // 3
    grouped = str(clf.fit(data.X, data.Y, groups=groups).rules_)
    again = clf.fit(data.X[order], data.Y[order], groups=groups[order])
    assert str(again.rules_) == grouped


def test_short_models_say_the_same_whichever_is_made_first(data):
    first = MLTSKClassifier(n_rules=0, n_pairs=0, ridge=1.0).fit(data.X, data.Y)
    again = MLTSKClassifier(n_rules=0, n_pairs=0, ridge=1.0).fit(data.X, data.Y)
    sizes = (2, 4, 8)
    rising = [str(first.shorten(size).rules_) for size in sizes]
    falling = [str(again.shorten(size).rules_) for size in reversed(sizes)]
    assert rising == falling[::-1]


def test_certainty_of_a_short_model_counts_sixteen_halves(data, clf):
    certainty = clf.shorten(3).certainty_
    assert certainty.folds == 16
    assert certainty.chosen.max() == 16
    assert certainty.chosen.min() >= 0
