"""What a fit says of itself is true of fresh rows: simulations with known truth.

`python -m benchmarks honesty` measures the same on many more tables.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate, record
from mltsk.fit.left_out import rate_shifts
from mltsk.fit.rows import Block
from mltsk.fit.solve import left_out_scores
from mltsk.metrics import roc_auc_interval

N_FEATURES = 10
SEEDS = range(8)


def noise_table(seed, n_rows=300, rate=0.2):
    """Features, and a label that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    return X, (rng.random(n_rows) < rate).astype(int)


def noise_in_groups_of_3(seed):
    """`noise_table` of 100 rows, each of which is there three times, nearly alike."""
    rng = np.random.default_rng(seed)
    X, y = noise_table(rng, n_rows=100)
    groups = np.repeat(np.arange(100), 3)
    return X[groups] + 0.05 * rng.normal(size=(300, N_FEATURES)), y[groups], groups


def signal_table(rng, n_rows, strength, shift):
    """Features, and a label whose log-odds rise with the first of them."""
    X = rng.normal(size=(n_rows, N_FEATURES))
    chances = 1 / (1 + np.exp(-strength * X[:, 0] - shift))
    return X, (rng.random(n_rows) < chances).astype(int)


def auc_of(y, scores):
    return evaluate(y[:, None], scores, per_label=True)["AUC"].iloc[0]


@pytest.fixture(scope="module")
def fits_to_noise():
    """Tables of noise with the classifiers that were fitted to them."""
    fits = []
    for seed in SEEDS:
        X, y = noise_table(seed)
        fits.append((X, y, MLTSKClassifier().fit(X, y)))
    return fits


def test_predict_proba_is_near_the_rate_on_every_table_of_noise(fits_to_noise):
    for X, y, clf in fits_to_noise:
        mean = clf.predict_proba(X)[:, -1].mean()
        assert mean == pytest.approx(y.mean(), abs=0.02)


@pytest.mark.parametrize("seed", [28, 29, 43, 58])  # what exceptions gained by chance
def test_exceptions_that_gain_by_chance_do_not_move_the_mean_probability(seed):
    X, y, groups = noise_in_groups_of_3(seed)
    clf = MLTSKClassifier().fit(X, y, groups=groups)
    assert clf.n_rules_ == 0
    mean = clf.predict_proba(X)[:, -1].mean()
    assert mean == pytest.approx(y.mean(), abs=0.02)


def test_what_is_told_of_noise_costs_little():
    losses = []
    for seed in range(30):
        X, y = noise_table(seed, n_rows=100)
        fresh_X, fresh_y = noise_table(1_000 + seed, n_rows=4_000)
        clf = MLTSKClassifier().fit(X, y)
        p = clf.predict_proba(fresh_X)[:, -1]
        of_model = -np.log(np.where(fresh_y > 0, p, 1 - p))
        rate = y.mean()
        of_constant = -np.log(np.where(fresh_y > 0, rate, 1 - rate))
        losses.append(np.mean(of_model - of_constant))
    assert np.mean(losses) < 0.0065  # .0074 where rows are scored by what they chose


def test_loo_scores_of_rare_labels_are_as_good_as_those_of_fresh_rows():
    surplus = []
    for seed in range(100, 116):
        rng = np.random.default_rng(seed)
        X, y = signal_table(rng, n_rows=600, strength=1.35, shift=-4.2)
        fresh_X, fresh_y = signal_table(rng, n_rows=6000, strength=1.35, shift=-4.2)
        clf = MLTSKClassifier().fit(X, y)
        truth = auc_of(fresh_y, clf.decision_function(fresh_X)[:, None])
        surplus.append(auc_of(y, clf.loo_scores_) - truth)
    # -.05 where scores of other choices lie closer together than those of the model
    assert np.mean(surplus) == pytest.approx(0, abs=0.035)


def test_predict_proba_has_the_mean_of_the_rate_where_folds_choose_otherwise():
    for seed in (201, 205, 210, 217, 219):  # some fifths of the rows choose nothing
        rng = np.random.default_rng(seed)
        X, y = signal_table(rng, n_rows=150, strength=1.0, shift=-1.6)
        clf = MLTSKClassifier().fit(X, y)
        assert clf.fit_record_.choice_shifts is not None
        mean = clf.predict_proba(X)[:, -1].mean()
        # off by up to .016 where their scores lie closer together than the others
        assert mean == pytest.approx(y.mean(), abs=0.008)


def test_loo_scores_rank_noise_neither_for_nor_against_its_labels(fits_to_noise):
    aucs = [auc_of(y, clf.loo_scores_) for _, y, clf in fits_to_noise]
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.07)


def test_loo_scores_of_few_rows_are_not_flattered_by_what_these_rows_chose():
    honest = []
    flattered = []
    for seed in range(30):
        X, y = noise_table(seed, n_rows=100)
        clf = MLTSKClassifier().fit(X, y)
        honest.append(auc_of(y, clf.loo_scores_))
        flattered.append(auc_of(y, scores_of_chosen_design(clf)))
    assert np.mean(honest) == pytest.approx(0.5, abs=0.05)
    assert np.mean(flattered) - np.mean(honest) > 0.005


def scores_of_chosen_design(clf):
    """Leave-one-out scores of the design that was chosen on all rows."""
    rows = clf.fit_record_.training
    Z = rows.design.scale.apply(rows.X)
    block = Block(rows.X, rows.Y, rows.w)
    scores = left_out_scores(rows.design, rows.penalty, block, Z, rows.design.kernel(Z))
    return scores + rate_shifts(rows.Y, rows.w, groups=None)


def test_rules_say_that_noise_cannot_be_told(fits_to_noise):
    _, _, clf = fits_to_noise[0]
    for model in (clf, clf.shorten(3)):
        assert "cannot be predicted: AUC 0." in str(model.rules_)
        assert "cannot be predicted" in model.rules_.to_html()
        (told,) = model.rules_.to_dict()["told"]
        assert not told["is_better_than_guessing"]


def test_loo_scores_do_not_leak_where_cases_weigh_more():
    aucs = []
    for seed in SEEDS[:4]:
        X, y = noise_table(seed)
        weights = np.where(y > 0, 5, 1)
        clf = MLTSKClassifier().fit(X, y, sample_weight=weights)
        aucs.append(auc_of(y, clf.loo_scores_))
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.1)


def test_fit_leaves_rows_of_a_group_out_together():
    with_groups = []
    for seed in SEEDS[:4]:
        rng = np.random.default_rng(seed)
        X, y = noise_table(seed, n_rows=100)
        groups = np.repeat(np.arange(100), 3)
        X = X[groups] + 0.05 * rng.normal(size=(300, N_FEATURES))
        clf = MLTSKClassifier().fit(X, y[groups], groups=groups)
        with_groups.append(auc_of(y[groups], clf.loo_scores_))
    assert np.mean(with_groups) == pytest.approx(0.5, abs=0.12)
    alone = MLTSKClassifier().fit(X, y[groups])
    assert auc_of(y[groups], alone.loo_scores_) > 0.9  # copies tell of each other


def test_fit_chooses_the_same_in_every_order_of_rows():
    rng = np.random.default_rng(0)
    X, y = signal_table(rng, n_rows=700, strength=0.5, shift=-1.5)
    first = MLTSKClassifier().fit(X, y)
    order = rng.permutation(len(X))
    again = MLTSKClassifier().fit(X[order], y[order])
    assert (again.ridge_, again.n_rules_) == (first.ridge_, first.n_rules_)
    assert_allclose(again.predict_proba(X), first.predict_proba(X), rtol=1e-6)


def test_fit_warns_where_a_wanted_precision_is_not_sure():
    rng = np.random.default_rng(2)
    X, y = signal_table(rng, n_rows=500, strength=1.6, shift=-4.0)  # 27 cases
    with pytest.warns(UserWarning, match=r"Precision 0.8 cannot be reached for"):
        MLTSKClassifier(threshold=("precision", 0.8)).fit(X, y)


def test_fit_reaches_a_wanted_precision_on_fresh_rows_if_it_does_not_warn():
    rng = np.random.default_rng(1)
    X, y = signal_table(rng, n_rows=600, strength=4.0, shift=-1.5)
    clf = MLTSKClassifier(threshold=("precision", 0.8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X, y)
    fresh_X, fresh_y = signal_table(rng, n_rows=5000, strength=4.0, shift=-1.5)
    is_given = clf.predict(fresh_X) == 1
    assert fresh_y[is_given].mean() > 0.8


def test_given_by_folds_counts_as_many_cases_as_fresh_rows_have():
    surplus = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X, y = signal_table(rng, n_rows=150, strength=1.0, shift=-2.5)
        clf = MLTSKClassifier(threshold="f1", n_rules=0, ridge=5.0).fit(X, y)
        fresh_X, fresh_y = signal_table(rng, n_rows=3000, strength=1.0, shift=-2.5)
        by_folds = clf.fit_record_.given_by_folds("f1")[:, 0]
        tuned = clf.loo_scores_[:, 0] >= clf.system_.thresholds[0]
        truth = f1_of(fresh_y, clf.predict(fresh_X))
        surplus.append([f1_of(y, by_folds) - truth, f1_of(y, tuned) - truth])
    of_folds, of_tuned_rows = np.mean(surplus, axis=0)
    assert abs(of_folds) < 0.05
    assert of_tuned_rows > 0.05  # rows that thresholds were tuned on flatter


def f1_of(y, given):
    return 2 * (y * given).sum() / (y.sum() + given.sum())


def test_given_by_folds_is_nearer_to_fresh_rows_by_many_folds_than_by_few(monkeypatch):
    off = {5: [], 20: []}
    for seed in range(24):
        X, y = noise_table(seed, n_rows=200)
        clf = MLTSKClassifier(threshold="f1", n_rules=0, n_pairs=0, ridge=200.0)
        clf.fit(X, y)
        fresh_X, fresh_y = noise_table(10_000 + seed, n_rows=4000)
        true = clf.predict(fresh_X)[fresh_y > 0].mean()
        for n_folds, differences in off.items():
            monkeypatch.setattr(record, "THRESHOLD_FOLDS", n_folds)
            given = clf.fit_record_.given_by_folds("f1")[:, 0]
            differences.append(given[y > 0].mean() - true)
    error = {n_folds: np.std(differences) for n_folds, differences in off.items()}
    assert abs(np.mean(off[20])) < 0.03
    assert error[20] < 0.9 * error[5]


def test_intervals_of_loo_scores_hold_the_truth_of_noise():
    held = {"known": [], "left out of account": []}
    found = []
    for seed in range(120):
        X, y = noise_table(seed, n_rows=150)
        clf = MLTSKClassifier(n_rules=0, n_pairs=0, ridge=150.0).fit(X, y)
        worth = clf.fit_record_.judged_labels
        # how much of the spread of scores is chance in the labels of these rows
        intervals = {
            "known": worth.AUC[0, 1:],
            "left out of account": roc_auc_interval(y, clf.loo_scores_[:, 0])[1:],
        }
        for chance, (low, high) in intervals.items():
            held[chance].append(low <= 0.5 <= high)
        found.append(worth.is_better_than_guessing[0])
    assert 0.9 <= np.mean(held["known"]) <= 0.98
    assert np.mean(held["left out of account"]) < 0.9
    assert np.mean(found) <= 0.04
