"""What grows where there are thousands of rows: pairs, and exceptions."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.fit.pair_search import PAIR_NUMBERS

N_FEATURES = 6
# A default fit of rows as wide as those on which OpenBLAS once ended the process.
WIDE_FIT = """
import json, sys
import numpy as np
from mltsk import MLTSKClassifier

parameters = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((16_000, 400))
scores = X[:, :2] + 0.3 * X[:, 2:4]
Y = (scores + rng.standard_normal((16_000, 2)) > 0.5) * 1
model = MLTSKClassifier(**parameters).fit(X, Y)
has_label = model.predict_proba(X)[:, 0] > 0.5
print(json.dumps({"accuracy": float((has_label == Y[:, 0]).mean())}))
"""


def features(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, N_FEATURES))


def labels_of(signals, seed=1):
    """Labels that are likelier the larger their signals (n, L) are."""
    noise = np.random.default_rng(seed).logistic(size=signals.shape)
    return (2.0 * signals + noise > 0) * 1


def additive(n):
    """Labels whose rates are sums of curves of single features."""
    X = features(n)
    first = 0.5 + 0.2 * np.tanh(X[:, 0]) + 0.2 * np.cos(2 * X[:, 1])
    second = 0.3 + 0.1 * np.sin(2 * X[:, 2]) + 0.2 * np.tanh(X[:, 3])
    rates = np.column_stack([first, second])
    return X, (np.random.default_rng(1).random(rates.shape) < rates) * 1


def joint(n):
    """Labels that depend on features 0 and 1 together, and on 2 and 3 together."""
    X = features(n)
    return X, labels_of(np.column_stack([X[:, 0] * X[:, 1], X[:, 2] * X[:, 3]]))


def named_pairs(model):
    return [set(pair.features) for pair in model.pairs_]


# pairs --------------------------------------------------------------------------------


def test_grow_finds_the_pairs_of_features_that_act_together():
    X, Y = joint(4_000)
    model = MLTSKClassifier(n_rules=0).fit(X, Y)
    names = list(model.system_.feature_names)
    assert model.n_pairs_ in PAIR_NUMBERS
    largest = named_pairs(model)[:2]
    assert {names[0], names[1]} in largest
    assert {names[2], names[3]} in largest


def test_grow_ranks_pairs_of_a_label_that_was_seldom_observed():
    X, Y = joint(4_000)
    seldom = Y.astype(float)
    seldom[np.random.default_rng(2).random(4_000) < 0.5, 1] = np.nan
    model = MLTSKClassifier(n_rules=0, n_pairs=2).fit(X, seldom)
    names = list(model.system_.feature_names)
    for pair in ({names[0], names[1]}, {names[2], names[3]}):
        assert pair in named_pairs(model)


def test_grow_lowers_the_error_by_pairs_on_rows_that_it_has_not_seen():
    X, Y = joint(8_000)
    with_pairs = MLTSKClassifier(n_rules=0).fit(X[:4_000], Y[:4_000])
    without = MLTSKClassifier(n_rules=0, n_pairs=0).fit(X[:4_000], Y[:4_000])
    errors = [
        ((model.predict_proba(X[4_000:]) - Y[4_000:]) ** 2).mean()
        for model in (with_pairs, without)
    ]
    assert errors[0] < 0.8 * errors[1]
    assert without.n_pairs_ == 0
    assert len(without.pairs_) == 0


@pytest.mark.parametrize(("turns", "n_conditions"), [(1, 5), (2, 8)])
def test_grow_takes_conditions_as_fine_as_what_features_do_together(
    turns, n_conditions
):
    X = np.random.default_rng(0).uniform(-1, 1, size=(6_000, N_FEATURES))
    waves = np.sin(0.5 * turns * np.pi * X[:, :2])
    y = labels_of(2.0 * waves[:, [0]] * waves[:, [1]])[:, 0]
    model = MLTSKClassifier(n_rules=0).fit(X, y)
    assert len(model.pairs_[0].axes[0]) == n_conditions


def test_grow_takes_no_pairs_where_features_act_alone():
    assert MLTSKClassifier(n_rules=0).fit(*additive(4_000)).n_pairs_ == 0


def test_fit_takes_no_pairs_on_some_hundreds_of_rows():
    assert MLTSKClassifier().fit(*joint(500)).n_pairs_ == 0


def test_grow_keeps_what_fine_curves_tell_next_to_pairs_that_tell_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 8))
    X[:, 0] = rng.integers(0, 200, 8_000)  # numbers that are names
    is_often = np.random.default_rng(5).random(200) < 0.5
    rates = np.where(is_often[X[:, 0].astype(int)], 0.8, 0.2)
    y = (rng.random(8_000) < rates) * 1

    def error(n_pairs):
        model = MLTSKClassifier(n_rules=0, n_pairs=n_pairs)
        model.fit(X[:4_000], y[:4_000])
        return ((model.predict_proba(X[4_000:])[:, 1] - y[4_000:]) ** 2).mean()

    # .183 and .169 where pairs have one weight
    assert error(n_pairs=20) < 1.02 * error(n_pairs=0)


@pytest.mark.parametrize("n_pairs", [1, 3])
def test_grow_takes_as_many_pairs_as_the_user_asks_for(n_pairs):
    X, Y = additive(500)
    assert MLTSKClassifier(n_pairs=n_pairs).fit(X, Y).n_pairs_ == n_pairs


def test_grow_takes_all_pairs_where_the_user_asks_for_more():
    X, Y = joint(500)
    model = MLTSKClassifier(n_pairs=1000, n_rules=0).fit(X, Y)
    assert model.n_pairs_ == N_FEATURES * (N_FEATURES - 1) // 2


def test_grow_takes_pairs_of_a_general_rule_alone_whatever_the_order():
    X, Y = joint(500)
    model = MLTSKClassifier(n_pairs=2, n_rules=0, order=1).fit(X, Y)
    assert model.n_pairs_ == 2


@pytest.mark.parametrize("n", [300, 3_000])
@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"scale": "standard"}, "the scale is 'standard'"),
        ({"scale": "triangles"}, "the scale is 'triangles'"),
        ({"scale": "unit"}, "the scale is 'unit'"),
        ({"order": 1}, "order is 1"),
        ({"order": 1, "n_rules": 3}, "order is 1"),
    ],
)
def test_fit_refuses_pairs_that_it_would_have_to_leave_out(n, parameters, reason):
    X, Y = joint(n)
    with pytest.raises(InputError, match=f"n_pairs=2 needs .*, but {reason}: .*"):
        MLTSKClassifier(n_pairs=2, **parameters).fit(X, Y)
    assert MLTSKClassifier(n_pairs=0, ridge=1.0, **parameters).fit(X, Y).n_pairs_ == 0


def test_fit_refuses_pairs_of_sparse_rows():
    X, Y = joint(300)
    with pytest.raises(InputError, match=r"n_pairs=2 needs dense X .* X is sparse: "):
        MLTSKClassifier(n_pairs=2).fit(sparse.csr_array(X), Y)


def test_fit_refuses_pairs_of_very_many_features():
    X = np.random.default_rng(0).normal(size=(40, 400))
    _, Y = joint(40)
    with pytest.raises(InputError, match=r"at most 2,000 terms, .* it has 2,800: "):
        MLTSKClassifier(n_pairs=2).fit(X, Y)


def test_grow_pairs_a_category_with_a_number_and_with_a_category():
    rng = np.random.default_rng(3)
    n = 4_000
    is_old = rng.random(n) < 0.5
    sex = rng.choice(["f", "m"], n)
    ward = rng.choice(["east", "west"], n)
    X = pd.DataFrame(
        {
            "age": np.where(is_old, 70, 40) + rng.normal(size=n),
            "sex": sex,
            "ward": ward,
            "height": rng.normal(size=n),
        }
    )
    signals = [
        np.where(is_old == (sex == "f"), 1.0, -1.0),
        np.where((ward == "east") == (sex == "f"), 1.0, -1.0),
    ]
    model = MLTSKClassifier(n_rules=0, n_pairs=2).fit(
        X, labels_of(np.column_stack(signals))
    )
    assert {"age", "sex"} in named_pairs(model)
    assert {"sex", "ward"} in named_pairs(model)


def test_leave_one_out_scores_of_grown_pairs_are_as_good_as_those_of_new_rows():
    X, Y = joint(8_000)
    model = MLTSKClassifier(n_rules=0).fit(X[:4_000], Y[:4_000])
    left_out = ((model.loo_proba_ - Y[:4_000]) ** 2).mean()
    new = ((model.predict_proba(X[4_000:]) - Y[4_000:]) ** 2).mean()
    assert left_out == pytest.approx(new, rel=0.03)


# exceptions ---------------------------------------------------------------------------


def test_grow_takes_more_exceptions_where_there_are_more_rows():
    def n_rules(n):
        X = features(n)
        waves = np.sin(2 * X[:, 0]) * np.sin(2 * X[:, 1]) * np.sign(X[:, 2])
        Y = labels_of(4 * np.column_stack([waves, -waves]))
        return MLTSKClassifier(n_pairs=0).fit(X, Y).n_rules_

    few = n_rules(3_000)
    assert 0 < few <= 1_000
    assert n_rules(6_000) == 2 * few


def test_grow_takes_no_exceptions_where_features_act_alone():
    assert MLTSKClassifier().fit(*additive(4_000)).n_rules_ == 0


def test_grow_tries_exceptions_where_cells_are_missing_and_pairs_are_not_wanted():
    X, Y = additive(4_000)
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    model = MLTSKClassifier(n_pairs=0).fit(X, Y)
    assert np.isfinite(model.predict_proba(X)).all()


def ward_numbers(n, seed=0):
    """Labels that depend on a number whose neighbours have nothing in common."""
    rng = np.random.default_rng(seed)
    ward = rng.integers(0, 120, size=n)
    rates = np.random.default_rng(99).uniform(0.1, 0.9, size=120)
    X = np.column_stack([ward, rng.normal(size=(n, 2))])
    return X, (rng.random(n) < rates[ward]) * 1


def test_grow_makes_a_curve_finer_where_neighbouring_values_have_nothing_in_common():
    X, Y = ward_numbers(6_000)
    X_new, Y_new = ward_numbers(4_000, seed=1)
    model = MLTSKClassifier().fit(X, Y)
    n_ramps = np.bincount(model.system_.terms.feature)
    assert n_ramps[0] > 100 > 40 > max(n_ramps[1:])
    # with the ramps that other curves of so many rows have, this is .575
    assert roc_auc_score(Y_new, model.predict_proba(X_new)[:, 1]) > 0.70


def test_grow_makes_no_curve_finer_where_curves_are_smooth():
    X, Y = additive(6_000)
    n_ramps = np.bincount(MLTSKClassifier().fit(X, Y).system_.terms.feature)
    assert max(n_ramps) < 40


def test_grow_takes_as_many_exceptions_as_the_user_asks_for():
    X, Y = joint(3_000)
    assert MLTSKClassifier(n_rules=7, n_pairs=0).fit(X, Y).n_rules_ == 7


# size ---------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"n_rules": 0, "n_pairs": 0, "ridge": 1.0}, {}])
def test_fit_of_16_000_rows_of_400_features_ends_alive(parameters):
    done = subprocess.run(
        [sys.executable, "-c", WIDE_FIT, json.dumps(parameters)],
        # two threads of BLAS: with one nothing happened
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"] > 0.7
