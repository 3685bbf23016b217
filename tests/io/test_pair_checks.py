"""Pairs of features that do not fit together, or their system, are refused."""

import copy

import numpy as np
import pytest

from mltsk import MLTSKClassifier
from mltsk.io.pair_checks import check_pairs
from mltsk.io.rebuild import rebuilt_classifier
from mltsk.io.state import plain_attributes

from .lines import X, Y, fitted

N_RULES = len(fitted().system_.pairs)


@pytest.fixture
def plain():
    return copy.deepcopy(plain_attributes(fitted()))


def refused(plain, says):
    with pytest.raises(ValueError, match=says):
        rebuilt_classifier(MLTSKClassifier, plain)


def test_check_pairs_lets_fitted_pairs_pass(plain):
    flat = {**plain, **plain["scaling_"]}
    check_pairs(flat, {"D": 4, "L": 3})
    rebuilt_classifier(MLTSKClassifier, plain)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("first", lambda v: v[1:], "'second' of 'pairs_' must be"),
        ("first", lambda v: v - 1, "'first' of 'pairs_' must be positions below"),
        ("second", lambda v: v + 999, "'second' of 'pairs_' must be positions below"),
        ("second", lambda v: v + 0.0, "'second' of 'pairs_' must be .* positions"),
        ("second", lambda v: v[:, None], "'second' of 'pairs_' must be .* positions"),
        ("second", lambda v: v.tolist(), "'second' of 'pairs_' must be .* positions"),
        ("first", lambda v: np.full_like(v, 2**62), "positions below"),
        ("first", lambda v: v.astype(bool), "'first' of 'pairs_' must be"),
        ("first", lambda v: None, "'first' of 'pairs_' must be"),
        ("share", lambda v: v[1:], f"'share' of 'pairs_' must be a table of {N_RULES}"),
        ("share", lambda v: v * np.nan, "'share' of 'pairs_' must be a table"),
        ("share", lambda v: v + 2, "'share' of 'pairs_' must lie between 0 and 1"),
        ("share", lambda v: v - 2, "'share' of 'pairs_' must lie between 0 and 1"),
        ("other", lambda v: 1, "'pairs_' must hold conditions, first, second, share"),
        ("conditions", lambda v: None, "must hold column, left, peak, right"),
        ("conditions", lambda v: {**v, "x": 1}, "must hold column, left, peak, right"),
    ],
)
def test_check_pairs_refuses_each_damaged_part(plain, name, change, says):
    pairs = plain["pairs_"]
    plain["pairs_"] = {**pairs, name: change(pairs.get(name))}
    refused(plain, says)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("column", lambda v: v + 4, "'column' of 'conditions' must be positions below"),
        ("column", lambda v: v - 4, "'column' of 'conditions' must be positions below"),
        ("column", lambda v: v + 0.5, "'column' of 'conditions' must be .* positions"),
        ("column", lambda v: v[:0], "'left' of 'conditions' must be a table of 0"),
        ("column", lambda v: 0 * v, "must be about different columns"),
        ("left", lambda v: v[1:], "'left' of 'conditions' must be a table"),
        ("left", lambda v: v * np.inf, "'left' of 'conditions' must be a table"),
        ("left", lambda v: v - 1, "'left' of 'conditions' must lie between 0 and 1"),
        ("right", lambda v: v + 1, "'right' of 'conditions' must lie between 0 and 1"),
        ("peak", lambda v: 0 * v, "'left', 'peak', 'right' of 'conditions' must rise"),
        ("peak", lambda v: 0 * v + 1, "'peak', 'right' of 'conditions' must rise"),
        ("peak", lambda v: v.astype("U9"), "'peak' of 'conditions' must be a table"),
    ],
)
def test_check_pairs_refuses_each_damaged_condition(plain, name, change, says):
    conditions = plain["pairs_"]["conditions"]
    conditions[name] = change(conditions[name])
    refused(plain, says)


def test_check_pairs_refuses_sides_too_short_for_a_finite_slope(plain):
    conditions = plain["pairs_"]["conditions"]
    conditions["left"][:] = 0
    conditions["peak"][:] = 1e-40
    conditions["right"][:] = 1
    refused(plain, "must rise")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "'pair_coef_' must be a table of"),
        (np.zeros((2, 3)), "'pair_coef_' must be a table of"),
        (np.full((N_RULES, 3), 1e200), "'pair_coef_' must be a table of"),
        (np.full((N_RULES, 3), np.nan), "'pair_coef_' must be a table of"),
        (np.zeros((N_RULES, 3), dtype="U1"), "'pair_coef_' must be a table of"),
    ],
)
def test_check_pairs_refuses_numbers_that_do_not_fit(plain, value, says):
    refused({**plain, "pair_coef_": value}, says)


def test_check_pairs_refuses_numbers_without_pairs(plain):
    refused({**plain, "pairs_": None}, "'pair_coef_' must be None without pairs")
    rebuilt_classifier(MLTSKClassifier, {**plain, "pairs_": None, "pair_coef_": None})


def test_check_pairs_refuses_pairs_without_rules(plain):
    pairs = plain["pairs_"]
    for name in ("first", "second", "share"):
        pairs[name] = pairs[name][:0]
    plain["pair_coef_"] = plain["pair_coef_"][:0]
    refused(plain, "'pairs_' must be None where there are none")


def test_check_pairs_refuses_a_rule_that_is_there_twice(plain):
    for name in ("first", "second"):
        plain["pairs_"][name][1] = plain["pairs_"][name][0]
    refused(plain, "no two rules of 'pairs_' may have the same conditions")


def test_check_pairs_refuses_pairs_whose_rules_do_not_stand_together(plain):
    order = np.arange(N_RULES)
    order[[0, -1]] = order[[-1, 0]]
    for name in ("first", "second", "share"):
        plain["pairs_"][name] = plain["pairs_"][name][order]
    refused(plain, "must stand next to each other")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("bounded", False, "'pairs_' need a scale of percentiles"),
        ("offset", np.full(4, 1e50), "'offset' of percentiles must lie between 0 and"),
    ],
)
def test_check_pairs_needs_a_scale_that_ends_with_the_data(plain, name, value, says):
    plain["scaling_"][name] = value
    refused(plain, says)


@pytest.mark.parametrize("scale", ["standard", "unit", None])
def test_check_pairs_refuses_pairs_on_another_scale(plain, scale):
    other = plain_attributes(MLTSKClassifier(2, scale=scale).fit(X, Y))
    pairs = {name: plain[name] for name in ("pairs_", "pair_coef_")}
    refused({**other, **pairs}, "'pairs_' need a scale of percentiles")
