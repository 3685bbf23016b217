"""Rules that a user writes: where they hold, what they are worth, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context

from mltsk import IncrementalMLTSK, MLTSKClassifier, evaluate
from mltsk.exceptions import InputError

RULES = [{"x0": (0.5, None), "x2": (None, 0.0)}, {"x1": (-0.5, 0.5)}]


@pytest.fixture(scope="module")
def numbers():
    X = np.random.default_rng(0).normal(size=(400, 4))
    both = (X[:, 0] >= 0.5) & (X[:, 2] <= 0)
    return X, np.column_stack([both, X[:, 1] > 0]).astype(int)


def test_a_rule_holds_where_all_that_it_asks_for_was_measured_and_holds(table):
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
    held = clf.system_.columns.expand(X)[:, -5:]
    assert_array_equal(held, np.column_stack([e.astype(float) for e in expected]))
    assert_array_equal(clf.members_.given[:, 1, 0], held.sum(axis=0))
    assert_array_equal(clf.members_.given[:, 0].T, Y.T @ held)


@pytest.mark.parametrize("n_rules", [0, 30, "auto"])
def test_a_rule_that_is_right_tells_what_curves_cannot(numbers, n_rules):
    errors = [
        MLTSKClassifier(n_rules).fit(*numbers, rules=rules).loo_error_
        for rules in (None, RULES)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_tensors_dask_streams_and_large_arrays_give_the_same(numbers):
    torch, da = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    (X, Y), torch_like, chunks = numbers, torch.as_tensor, (100, -1)
    clf = MLTSKClassifier(n_rules=5, order=0, ridge=1.0).fit(X, Y, rules=RULES)
    expected = clf.decision_function(X)
    assert_allclose(clf.decision_function(torch_like(X)), expected, atol=1e-9)
    again = MLTSKClassifier(**clf.get_params())
    assert_allclose(
        again.fit(torch_like(X), torch_like(Y), rules=RULES).decision_function(X),
        expected,
        atol=1e-6,
    )
    blocks = [da.from_array(part, chunks=chunks) for part in (X, Y)]
    assert_allclose(
        again.fit(*blocks, rules=RULES).decision_function(blocks[0]).compute(),
        expected,
        atol=1e-6,
    )
    with config_context(working_memory=0.01):
        assert_allclose(
            again.fit(X, Y, rules=RULES).decision_function(X), expected, atol=1e-6
        )
    stream = IncrementalMLTSK(n_rules=5, order=0, ridge=1.0).partial_fit(
        X, Y, rules=RULES
    )
    assert_allclose(stream.decision_function(X), expected, atol=1e-6)


def test_a_rule_for_nobody_or_everybody_has_no_number(numbers):
    with pytest.warns(UserWarning, match="Rule 1 matches no sample, so nothing"):
        clf = MLTSKClassifier(n_rules=0).fit(*numbers, rules=[{"x0": (99, None)}])
    assert_allclose(
        clf.decision_function(numbers[0]),
        MLTSKClassifier(n_rules=0).fit(*numbers).decision_function(numbers[0]),
    )
    assert "Your rule 1 — 0 samples, 0 % of the data" in str(clf.rules_)
    with pytest.warns(UserWarning, match="Rule 1 matches every sample"):
        MLTSKClassifier(n_rules=0).fit(*numbers, rules=[{"x0": (-99, 99)}])


@pytest.mark.parametrize(
    ("rules", "says"),
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
def test_a_bad_rule_is_one_sentence_that_names_it(table, rules, says):
    with pytest.raises(InputError, match=says):
        MLTSKClassifier(n_rules=0).fit(*table, rules=rules)


def test_rules_need_dense_rows_on_their_percentile_scale(numbers):
    X, Y = numbers
    for given, scale, says in (
        (sparse.csr_array(abs(X)), "auto", "X is sparse"),
        (X, "standard", "scale is 'standard'"),
    ):
        with pytest.raises(
            InputError, match=f"Rules of your own need dense X .*, but {says}"
        ):
            MLTSKClassifier(scale=scale).fit(given, Y, rules=RULES)


def test_a_short_model_keeps_a_rule_that_is_worth_its_statements(numbers):
    X, Y = numbers
    short = MLTSKClassifier(n_rules=0, max_statements=4).fit(X, Y, rules=RULES)
    assert short.n_statements_.max() <= 4
    assert evaluate(Y, short.decision_function(X), per_label=True)["AP"][0] > 0.99
    assert [rule.index for rule in short.rules_.given if len(rule.consequents)] == [0]
