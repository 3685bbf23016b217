"""Rules that a user writes: where they hold, what they are worth, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context

from mltsk import IncrementalMLTSK, MLTSKClassifier, evaluate
from mltsk.core.arrays import asnumpy
from mltsk.exceptions import InputError

RULES = [{"x0": (0.5, None), "x2": (None, 0.0)}, {"x1": (-0.5, 0.5)}]
OPTIONS = {"n_rules": 5, "order": 0, "ridge": 1.0}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(400, 4))


@pytest.fixture(scope="module")
def Y(X):
    first_rule_holds = (X[:, 0] >= 0.5) & (X[:, 2] <= 0)
    return np.column_stack([first_rule_holds, X[:, 1] > 0]).astype(int)


def test_rules_hold_where_all_that_they_ask_for_was_measured_and_holds(table):
    X, Y = table
    rules = [
        {"age": (50, None), "albumin": (None, 3.5)},
        {"smoker": "daily", "sex": "m"},
        {"smoker": ["never", "former"], "stage": ("II", "III")},
        {"fever": True},
        {"stage": "IV"},
    ]
    expected = [
        (X.age >= 50) & (X.albumin <= 3.5),
        (X.smoker == "daily") & (X.sex == "m"),
        X.smoker.isin(["never", "former"]) & X.stage.isin(["II", "III"]),
        X.fever == True,  # noqa: E712 - fever may be missing
        X.stage == "IV",
    ]
    clf = MLTSKClassifier(n_rules=0).fit(X, Y, rules=rules)
    holds = clf.columns_.expand(X)[:, -5:]
    assert_array_equal(holds, np.column_stack(expected).astype(float))
    assert_array_equal(clf.members_.given[:, 1, 0], holds.sum(axis=0))
    assert_array_equal(clf.members_.given[:, 0].T, Y.T @ holds)


@pytest.mark.parametrize("n_rules", [0, 30, "auto"])
def test_rules_that_are_right_lower_the_error_of_curves(X, Y, n_rules):
    without = MLTSKClassifier(n_rules).fit(X, Y)
    with_rules = MLTSKClassifier(n_rules).fit(X, Y, rules=RULES)
    assert with_rules.loo_error_ < 0.7 * without.loo_error_


# the same model, whatever X is --------------------------------------------------------


@pytest.fixture(scope="module")
def clf(X, Y):
    return MLTSKClassifier(**OPTIONS).fit(X, Y, rules=RULES)


@pytest.fixture(scope="module")
def expected_scores(clf, X):
    return clf.decision_function(X)


def test_rules_hold_in_tensors_as_in_arrays(clf, X, expected_scores, torch):
    scores = clf.decision_function(torch.as_tensor(X))
    assert_allclose(asnumpy(scores), expected_scores, atol=1e-9)


def test_rules_fitted_on_tensors_give_the_model_of_arrays(X, Y, expected_scores, torch):
    clf = MLTSKClassifier(**OPTIONS)
    clf.fit(torch.as_tensor(X), torch.as_tensor(Y), rules=RULES)
    assert_allclose(clf.decision_function(X), expected_scores, atol=1e-6)


def test_rules_fitted_on_dask_give_the_model_of_arrays(X, Y, expected_scores):
    da = pytest.importorskip("dask.array")
    X_lazy = da.from_array(X, chunks=(100, -1))
    Y_lazy = da.from_array(Y, chunks=(100, -1))
    clf = MLTSKClassifier(**OPTIONS).fit(X_lazy, Y_lazy, rules=RULES)
    scores = clf.decision_function(X_lazy).compute()
    assert_allclose(scores, expected_scores, atol=1e-6)


def test_rules_fitted_in_blocks_give_the_model_of_arrays(X, Y, expected_scores):
    with config_context(working_memory=0.01):
        clf = MLTSKClassifier(**OPTIONS).fit(X, Y, rules=RULES)
        scores = clf.decision_function(X)
    assert_allclose(scores, expected_scores, atol=1e-6)


def test_rules_fitted_on_a_stream_give_the_model_of_arrays(X, Y, expected_scores):
    stream = IncrementalMLTSK(**OPTIONS).partial_fit(X, Y, rules=RULES)
    assert_allclose(stream.decision_function(X), expected_scores, atol=1e-6)


# rules that nothing can be learned for, and bad ones ----------------------------------


def test_rules_that_match_no_sample_change_nothing(X, Y):
    with pytest.warns(UserWarning, match="Rule 1 matches no sample, so nothing"):
        clf = MLTSKClassifier(n_rules=0).fit(X, Y, rules=[{"x0": (99, None)}])
    without = MLTSKClassifier(n_rules=0).fit(X, Y)
    assert_allclose(clf.decision_function(X), without.decision_function(X))
    assert "Your rule 1 — 0 samples, 0 % of the data" in str(clf.rules_)


def test_rules_that_match_every_sample_are_named(X, Y):
    with pytest.warns(UserWarning, match="Rule 1 matches every sample"):
        MLTSKClassifier(n_rules=0).fit(X, Y, rules=[{"x0": (-99, 99)}])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            [{"agee": (60, None)}],
            "Rule 1 asks for 'agee', which X does not have: did you mean 'age'?",
        ),
        (
            [{"sex": "f"}, {"zzz": 1}],
            "Rule 2 asks for 'zzz', which X does not have: X has 'age', 'smoker'",
        ),
        (["age > 60"], "Rule 1 must map features to what it asks of them"),
        ([{}], "Rule 1 must map features"),
        (
            [{"age": (None, None)}],
            r"Rule 1 asks for 'age', which takes \(from, to\) with None for no end",
        ),
        ([{"age": (60, 50)}], "from 60 to 50, which is no range"),
        ([{"age": ("60", None)}], "'age', which is a number, but '60' is not"),
        ([{"age": (float("nan"), None)}], "'age', which is a number, but nan is not"),
        ([{"sex": "female"}], "'sex', whose values are f, m: 'female' is none of them"),
        (
            [{"smoker": "pipe"}],
            "'smoker', whose values are .*: 'pipe' is too rare to be told apart",
        ),
        ([{"sex": ["f", "m"]}], "'sex', but any value would do: leave 'sex' out"),
        (
            [{"stage": ("II", "V")}],
            "'stage', whose levels are I, II, III, IV: 'V' is none of them",
        ),
    ],
)
def test_with_rules_names_a_bad_rule_in_one_sentence(table, rules, message):
    X, Y = table
    with pytest.raises(InputError, match=message):
        MLTSKClassifier(n_rules=0).fit(X, Y, rules=rules)


@pytest.mark.parametrize("feature", ["age", "sex", "stage"])
def test_with_rules_quotes_the_beginning_of_what_is_long_or_deep(table, feature):
    X, Y = table
    assert feature in X
    deep = []
    for _ in range(5000):  # deeper than Python's own words for a list can be
        deep = [deep]
    for value in (deep, [deep, deep], "long" * 1000, [["long" * 1000]] * 1000):
        with pytest.raises(InputError) as refused:
            MLTSKClassifier(n_rules=0).fit(X, Y, rules=[{feature: value}])
        assert f"Rule 1 asks for '{feature}'" in str(refused.value)
        assert len(str(refused.value)) < 500


def test_check_rules_apply_refuses_sparse_x(X, Y):
    message = "Rules of your own need dense X .*, but X is sparse"
    with pytest.raises(InputError, match=message):
        MLTSKClassifier().fit(sparse.csr_array(abs(X)), Y, rules=RULES)


def test_check_rules_apply_refuses_a_scale_without_percentiles(X, Y):
    message = "Rules of your own need dense X .*, but scale is 'standard'"
    with pytest.raises(InputError, match=message):
        MLTSKClassifier(scale="standard").fit(X, Y, rules=RULES)


def test_max_statements_keeps_a_rule_that_is_worth_its_statements(X, Y):
    short = MLTSKClassifier(n_rules=0, max_statements=4).fit(X, Y, rules=RULES)
    precisions = evaluate(Y, short.decision_function(X), per_label=True)["AP"]
    kept = [rule.index for rule in short.rules_.given if len(rule.consequents)]
    assert short.n_statements_.max() <= 4
    assert precisions[0] > 0.99
    assert kept == [0]
