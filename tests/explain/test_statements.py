"""Statements are the numbers of the system, in the caller's units and largest first."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table
from mltsk.explain import rule_base

from ..conftest import effects_of_features
from .conftest import CATEGORIES, DENSE_SCALES, FEATURES, LABELS, SCALES


def by_feature(statements):
    return {statement.feature: statement for statement in statements}


# what holds in general ----------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
def test_general_shapes_are_the_features_that_matter_largest_first(make_system, scale):
    system = make_system(scale)
    system.term_coef[system.terms.feature == 1] = 0.0
    for j, consequent in enumerate(rule_base(system).general):
        average = system.intercept[j] + system.rule_weights @ system.coef[:, 0, j]
        assert consequent.label == LABELS[j]
        assert consequent.shift == pytest.approx(average)
        assert set(by_feature(consequent.shapes)) == {"age", "smoker", "ward"}
        sizes = [shape.size for shape in consequent.shapes]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("scale", DENSE_SCALES)
def test_a_general_shape_has_the_effects_of_the_system_at_its_values(
    make_system, X, scale
):
    system = make_system(scale)
    for shape in rule_base(replace(system, categories=CATEGORIES)).general[1].shapes:
        d = FEATURES.index(shape.feature)
        rows = np.tile(X[0], (len(shape.x), 1))
        rows[:, d] = shape.x
        expected = effects_of_features(system, rows, 1)[:, d]
        assert_allclose(shape.y, expected, atol=1e-12)


def test_changes_of_shapes_hold_between_the_outer_tenths_unless_these_are_one_value(
    make_system, X
):
    X[:, 2] = np.arange(60) < 3  # a rare thing: its 90th percentile is still 0
    system = make_system("standard", X=X)
    shapes = by_feature(rule_base(system).general[0].shapes)
    low = [np.quantile(X[:, 0], 0.1), 0, 0, 0]
    high = [np.quantile(X[:, 0], 0.9), 0, 1, 0]
    low, high = system.scale(np.array([low, high]))
    expected = (high - low) * system.term_coef[:, 0]
    assert shapes["age"].change == pytest.approx(expected[0])
    assert shapes["smoker"].change == pytest.approx(expected[2])


def test_shapes_of_categories_are_told_by_name_and_never_as_high_or_low(make_system):
    rules = rule_base(make_system(order=1, categories=CATEGORIES))
    text = str(rules.for_feature("ward", "smoker"))
    assert "ward = " in text
    assert "where smoker is yes" in text
    assert "high" not in text.split("In general")[1]
    condition = rules.for_feature("ward").exceptions[0].conditions[0]
    assert condition.category in ("east", "north", "west")


def test_shapes_of_a_table_are_told_as_the_table_has_them(table):
    rules = MLTSKClassifier(n_rules=0).fit(*table).rules_
    assert rules.feature_names == tuple(table[0].columns)
    words = {}
    for shape in rules.for_label("copd").general[0].shapes:
        words[shape.feature, shape.kind] = str(shape)
    smoker = r"smoker = daily: \+[.0-9]+; (never|former|other) "
    assert re.match(smoker, words["smoker", "varies"])
    albumin = r"albumin not measured: \+[.0-9]+; measured -"
    assert re.match(albumin, words["albumin", "not measured"])
    stage = r"more likely with higher stage \(from (II|III) on, \+"
    assert re.match(stage, words["stage", "rises"])
    gout = by_feature(rules.for_label("gout").general[0].shapes)
    assert str(gout["fever"]).startswith("fever = yes: +")


def test_effects_in_shapes_of_values_are_those_of_the_system(table):
    clf = MLTSKClassifier(n_rules=0).fit(*table)
    shapes = clf.rules_.for_feature("smoker").general[0].shapes
    gap, smoker = sorted(shapes, key=lambda shape: len(shape.names))
    assert smoker.feature == gap.feature == "smoker"
    assert gap.kind == "not measured"
    values = ["never", "former", "daily", "pipe", None]
    rows = table[0].iloc[[0] * 5].assign(smoker=values)
    amounts = clf.explain(rows).feature_effects()[:, 1, 0]
    expected = np.array(smoker.y) + gap.values["measured"]
    assert_allclose(amounts[:4], expected, atol=1e-12)
    assert_allclose(amounts[4], gap.values["not measured"], atol=1e-12)


def test_a_general_shape_that_is_a_straight_line_is_told_per_round_unit():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 81, 500).astype(float)
    dose = np.exp(rng.normal(size=500))
    X = np.column_stack([age, dose])
    clf = MLTSKClassifier(n_rules=0).fit(X, rng.integers(0, 2, (500, 2)))
    system = clf.system_
    coef = np.zeros_like(system.term_coef)
    coef[system.terms.straight] = [[0.6, 0.0], [-0.9, 0.0]]
    system = replace(system, term_coef=coef, feature_names=("age", "dose"))
    shapes = by_feature(rule_base(system).general[0].shapes)
    assert (
        str(shapes["age"])
        == "more likely with higher age (+0.10 per 10, from 20 to 80)"
    )
    assert shapes["age"].per == 10.0
    slope = f"{-0.9 / np.ptp(dose):+#.2g} per 1"
    assert f"less likely with higher dose ({slope}, from 0.0" in str(shapes["dose"])


def test_a_general_shape_of_a_line_with_ramps_is_told_by_where_it_rises():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, size=(500, 1))
    Y = np.hstack([X > 70, X < 30]).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    (shape,) = clf.rules_.general[0].shapes
    assert shape.per is None
    assert str(shape).startswith("more likely with high ")


# exceptions ---------------------------------------------------------------------------


def test_shifts_of_an_exception_are_the_numbers_of_the_system_largest_first(
    make_system,
):
    system = make_system(labels=("a", "b", "c"))
    system.coef[1, 0, 2] = 0.0
    consequents = rule_base(system).exceptions[1].consequents
    shifts = {consequent.label: consequent.shift for consequent in consequents}
    assert shifts == {"a": system.coef[1, 0, 0], "b": system.coef[1, 0, 1]}
    sizes = np.abs(list(shifts.values())).tolist()
    assert sizes == sorted(sizes, reverse=True)


def test_an_exception_of_order_one_has_slopes_for_the_span_of_the_data(make_system, X):
    system = make_system("standard", order=1)
    consequents = rule_base(system).exceptions[1].consequents
    (consequent,) = [c for c in consequents if c.label == "asthma"]
    ends = np.quantile(X[:, 0], [0.1, 0.9])
    low, high = system.scale(np.tile(ends[:, None], (1, 4)))[:, 0]
    slope = by_feature(consequent.shapes)["age"]
    assert slope.change == pytest.approx(system.coef[1, 1, 1] * (high - low))
    assert "at its centre" in str(consequent)


@pytest.mark.parametrize("scale", SCALES)
def test_conditions_come_most_distinct_first_in_the_callers_units(
    make_system, X, scale
):
    for k, rule in enumerate(rule_base(make_system(scale)).exceptions):
        sizes = [abs(condition.distinct) for condition in rule.conditions]
        assert sizes == sorted(sizes, reverse=True)
        centers = {c.feature: c.center for c in rule.conditions}
        assert centers == pytest.approx(dict(zip(FEATURES, X[k], strict=True)))


def test_places_of_conditions_are_shares_of_the_training_data(make_system, X):
    below = (X < X[:3, None]).mean(axis=1)
    tied = (X == X[:3, None]).mean(axis=1)
    rules = rule_base(make_system()).exceptions
    for rule, places in zip(rules, below + tied / 2, strict=True):
        conditions = by_feature(rule.conditions)
        percentiles = [conditions[feature].percentile for feature in FEATURES]
        # there are 21 percentiles
        assert percentiles == pytest.approx(places, abs=0.06)


def test_conditions_on_sparse_features_have_no_place(make_system, texts):
    rule = rule_base(make_system("unit", X=texts)).exceptions[0]
    assert {condition.percentile for condition in rule.conditions} == {None}


@pytest.mark.parametrize("scale", SCALES)
def test_a_set_of_infinite_width_is_no_condition(make_system, scale):
    system = make_system(scale)
    system.widths[0, 1:] = system.widths[1] = np.inf
    rules = rule_base(replace(system, categories=CATEGORIES))
    short, always, long = rules.exceptions
    assert [condition.feature for condition in short.conditions] == ["age"]
    assert (len(always.conditions), len(long.conditions)) == (0, 4)
    assert (short.always, always.always) == (False, True)
    assert "IF\n    always\n  THEN" in str(always)
    assert "always" not in str(rules.for_feature("glucose").exceptions[0])
    assert len(rules.to_frame("if")) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"n_rules": 20, "order": 0},
        {"n_rules": 4, "order": 1},
        {"n_rules": 20, "max_statements": 6},
    ],
)
def test_conditions_on_a_table_are_values_and_levels(table, options):
    rules = MLTSKClassifier(**options).fit(*table).rules_
    count = r"(all \d+|\d+ of \d+)( measured)?"
    value = (
        rf"\w+( or \w+)* \({count}\)|not \w+ \({count} are\)"
        rf"|\w+ for {count} \((under |over )?\d+ % overall\)"
    )
    level = "(I|II|III|IV)"
    number = r"-?[\d.]+"
    words = dict.fromkeys(("smoker", "sex", "fever"), f"is ({value})")
    words["stage"] = f"({level} or (above|below)|is {level}|{level} to {level})"
    words["age"] = words["albumin"] = (
        rf"((above|below) {number}( \(wholly from {number} (on|down)\))?|is {number}"
        f"|{number} to {number}|{number} or (above|below))"
    )
    conditions = [c for rule in rules.exceptions for c in rule.conditions]
    for c in conditions:
        assert re.fullmatch(f"any {c.feature}|{c.feature} {words[c.feature]}", str(c))
        assert "not measured" not in str(c)
        ends = {end for end in (c.low, c.high) if end is not None}
        if c.reach is not None:  # of a short model, whose cut points are rounded
            assert all(end == round(end, 3) for end in ends)
        elif c.feature in ("age", "albumin"):
            assert ends <= {*table[0][c.feature]}
        if c.feature == "sex":
            assert c.category in ("f", "m")
        assert c.measured is None or c.measured <= c.members


def test_an_exception_tells_its_members_and_what_was_observed_among_them():
    table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
    clf = MLTSKClassifier(n_rules=20, order=0).fit(table.X, table.Y)
    M = clf.system_.firing_strengths(clf.system_.columns.expand(table.X))
    assert len(clf.rules_.exceptions) > 2
    for rule in clf.rules_.exceptions:
        inside = M[:, rule.index] >= 0.5
        assert (rule.members, rule.total) == (inside.sum(), len(table.X))
        size = f"{inside.sum()} samples, {100 * inside.mean():.0f} % of"
        assert str(rule).startswith(f"Exception {rule.index + 1} — {size}")
        for consequent in rule.consequents:
            observed = table.Y[consequent.label].dropna()
            members = table.Y[consequent.label][inside].dropna()
            assert consequent.positives == members.sum()
            assert consequent.observed == len(members)
            words = (
                f"{consequent.label}: {members.sum():.0f} of {len(members)} had it, "
                f"{observed.sum():.0f} of {len(observed)} overall; "
            )
            assert str(consequent).startswith(f"{words}{consequent.shift:+#.2g}")
    frame = clf.rules_.to_frame("then")
    assert set(frame.samples) == {rule.members for rule in clf.rules_.exceptions}
    assert json.loads(clf.rules_.to_json()) == clf.rules_.to_dict()


def test_an_exception_tells_conditions_that_set_its_members_apart_first():
    table = read_table("pbc")
    clf = MLTSKClassifier(n_rules=20, order=0).fit(table.X, table.Y)
    for rule in clf.rules_.exceptions:
        is_any = [str(condition).startswith("any ") for condition in rule.conditions]
        assert is_any == sorted(is_any)
        assert is_any.count(False) == rule.told
        assert "any " not in rule.to_text()
        assert rule.to_text(top=None).count("any ") == sum(is_any)
