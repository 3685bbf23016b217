import json
import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import RuleBase, rule_base

from ..conftest import effects_of_features
from .conftest import CATEGORIES, FEATURES, LABELS

SCALES = ["quantile", "standard", "minmax", None, "unit"]
KINDS = [{}, {"order": 1}, {"K": 0}, {"general": False, "order": 1}]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_rules_print_the_callers_names(make_system, scale, kind):
    rules = rule_base(make_system(scale, **kind), categories=CATEGORIES)
    for text in (str(rules), rules.to_markdown(), rules.to_html()):
        assert all(name in text for name in FEATURES + LABELS)
        assert text.count("governs") == len(rules)
    assert json.loads(rules.to_json()) == rules.to_dict()


@pytest.mark.parametrize("scale", SCALES)
def test_shapes_are_the_features_that_matter_largest_first(make_system, scale):
    system = make_system(scale)
    system.term_coef[system.terms.feature == 1] = 0.0
    for j, rule in enumerate(rule_base(system).general):
        assert (rule.label, rule.shift) == (LABELS[j], system.intercept[j])
        assert {shape.feature for shape in rule.shapes} == {"age", "smoker", "ward"}
        sizes = [shape.size for shape in rule.shapes]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("scale", SCALES[:-1])
def test_a_shape_has_the_effects_of_the_system_at_its_values(make_system, X, scale):
    system = make_system(scale)
    for shape in rule_base(system, categories=CATEGORIES).general[1].shapes:
        rows = np.tile(X[0], (len(shape.x), 1))
        rows[:, FEATURES.index(shape.feature)] = shape.x
        assert_allclose(
            shape.y,
            effects_of_features(system, rows, 1)[:, FEATURES.index(shape.feature)],
            atol=1e-12,
        )


def test_changes_hold_between_the_outer_tenths_unless_these_are_one_value(
    make_system, X
):
    X[:, 2] = np.arange(60) < 3  # a rare thing: its 90th percentile is still 0
    system = make_system("standard", X=X)
    changes = {
        shape.feature: shape.change for shape in rule_base(system).general[0].shapes
    }
    low, high = system.scale(
        np.array([[np.quantile(X[:, 0], q), 0, q > 0.5, 0] for q in (0.1, 0.9)])
    )
    expected = (high - low) * system.term_coef[:, 0]
    assert (changes["age"], changes["smoker"]) == pytest.approx(
        (expected[0], expected[2])
    )


def test_categories_are_told_by_name_and_never_as_high_or_low(make_system):
    rules = rule_base(make_system(order=1), categories=CATEGORIES)
    text = str(rules.for_feature("ward", "smoker"))
    assert "ward = " in text
    assert "where smoker is yes" in text
    assert "high" not in text.split("In general")[1]
    assert rules.for_feature("ward")[0].conditions[0].category in (
        "east",
        "north",
        "west",
    )


def test_exceptions_are_a_sequence(make_system):
    rules = rule_base(make_system())
    assert (
        [rule.index for rule in rules]
        == [0, 1, 2]
        == [rule.index for rule in rules.exceptions]
    )
    assert str(rules[-1]) == str(rules[2]) == str(rules.exceptions[2])
    assert isinstance(rules[1:], RuleBase)
    assert [rule.index for rule in rules[1:]] == [1, 2]
    with pytest.raises(IndexError):
        rules[3]


def test_shifts_are_the_numbers_of_the_system_largest_first(make_system):
    system = make_system(labels=("a", "b", "c"))
    system.coef[1, 0, 2] = 0.0
    shifts = {c.label: c.shift for c in rule_base(system)[1].consequents}
    assert shifts == {"a": system.coef[1, 0, 0], "b": system.coef[1, 0, 1]}
    assert np.abs(list(shifts.values())).tolist() == sorted(
        np.abs(list(shifts.values())), reverse=True
    )


def test_rules_of_order_one_have_slopes_for_the_span_of_the_data(make_system, X):
    system = make_system("standard", order=1)
    consequent = {c.label: c for c in rule_base(system)[1].consequents}["asthma"]
    slopes = {shape.feature: shape.change for shape in consequent.shapes}
    low, high = (
        system.scale(np.tile(np.quantile(X[:, 0], q), (1, 4)))[0, 0] for q in (0.1, 0.9)
    )
    assert slopes["age"] == pytest.approx(system.coef[1, 1, 1] * (high - low))
    assert "at its centre" in str(consequent)


def test_the_most_distinct_conditions_come_first_in_the_callers_units(make_system, X):
    for scale in SCALES:
        for k, rule in enumerate(rule_base(make_system(scale))):
            sizes = [abs(c.distinct) for c in rule.conditions]
            assert sizes == sorted(sizes, reverse=True)
            assert {c.feature: c.center for c in rule.conditions} == pytest.approx(
                dict(zip(FEATURES, X[k], strict=True))
            )


def test_places_of_conditions_are_shares_of_the_training_data(make_system, X, texts):
    below, tied = (X < X[:3, None]).mean(axis=1), (X == X[:3, None]).mean(axis=1)
    for rule, place in zip(rule_base(make_system()), below + tied / 2, strict=True):
        told = {c.feature: c.percentile for c in rule.conditions}
        assert [told[feature] for feature in FEATURES] == pytest.approx(
            place, abs=0.06
        )  # there are 21 percentiles
    assert {
        c.percentile for c in rule_base(make_system("unit", X=texts))[0].conditions
    } == {None}


@pytest.mark.parametrize("scale", SCALES[:-1])
def test_without_members_conditions_begin_between_the_average_and_the_centre(
    make_system, scale
):
    for c in (c for rule in rule_base(make_system(scale)) for c in rule.conditions):
        (limit,) = {c.low, c.high} - {None}
        assert (
            min(c.center, c.average) - 1e-9 <= limit <= max(c.center, c.average) + 1e-9
        )


@pytest.mark.parametrize("scale", SCALES)
def test_a_set_of_infinite_width_is_no_condition(make_system, scale):
    system = make_system(scale)
    system.widths[0, 1:] = system.widths[1] = np.inf
    short, always, long = rule_base(system, categories=CATEGORIES)
    assert [c.feature for c in short.conditions] == ["age"]
    assert (len(always.conditions), len(long.conditions)) == (0, 4)
    assert (short.always, always.always) == (False, True)
    assert "IF\n    always\n  THEN" in str(always)
    assert "always" not in str(rule_base(system).for_feature("glucose")[0])
    assert len(rule_base(system).to_frame("if")) == 5


def test_an_unknown_name_is_refused_with_what_comes_close(make_system):
    with pytest.raises(
        InputError, match="no feature called 'glucos': did you mean 'glucose'"
    ):
        rule_base(make_system()).for_feature("glucos")
    with pytest.raises(
        InputError, match="no feature called 'zzz': the first of 4 is 'age'"
    ):
        rule_base(make_system()).for_feature("zzz")
    with pytest.raises(InputError, match="at least one label"):
        rule_base(make_system()).for_label()


def test_filtering_by_label_and_feature(make_system):
    rules = rule_base(make_system())
    narrow = rules.for_label("asthma").for_feature("age", "ward")
    assert (narrow.label_names, narrow.feature_names) == (("asthma",), ("age", "ward"))
    assert {shape.feature for shape in narrow.general[0].shapes} == {"age", "ward"}
    assert [c.label for c in narrow[0].consequents] == ["asthma"]
    assert "gout" not in rules.to_text(label="asthma")
    with pytest.raises(
        InputError, match="no label called 'astma': did you mean 'asthma'"
    ):
        rules.for_label("astma")


def test_a_short_model_is_printed_whole(make_system):
    assert "These 14 statements cover the whole model." in str(rule_base(make_system()))


def test_a_shortened_classifier_is_printed_whole():
    clf = (
        MLTSKClassifier()
        .fit(*make_multilabel_rules(n_samples=200, random_state=0).frames())
        .shorten(max_statements=12)
    )
    statements = [shape for rule in clf.rules_.general for shape in rule.shapes]
    statements += [c for rule in clf.rules_.exceptions for c in rule.consequents]
    assert f"These {len(statements)} statements cover the whole model." in str(
        clf.rules_
    )
    assert len(statements) <= clf.n_statements_.sum()


def test_a_text_says_how_much_of_the_model_it_shows(make_system):
    rules = rule_base(make_system())
    tables = rules.tables
    shown = (
        sum(np.sort(tables.sizes, axis=0)[-1])
        + tables.shift_sizes[range(3), np.abs(tables.shifts).argmax(axis=1)].sum()
    )
    share = 100 * shown / (tables.sizes.sum() + tables.shift_sizes.sum())
    assert (
        f"These 5 statements carry {share:.0f} % of what the model does."
        in rules.to_text(top=1)
    )


def test_no_exceptions_and_no_general_rule_are_said(make_system):
    assert "this table needs no exceptions" in str(rule_base(make_system(K=0)))
    text = str(
        rule_base(
            make_system("minmax", order=1, general=False, slopes=None, firing="authors")
        )
    )
    assert text.startswith("3 rules on 4 features for 2 labels. Each adds what it says")
    assert "Rule 1 — governs" in text
    assert "In general" not in text


def test_thresholds_are_told_as_one_or_by_label(make_system):
    assert "its threshold, 0.5." in str(rule_base(make_system()))
    assert "its threshold: gout 0.7, asthma 0.2." in str(
        rule_base(make_system(thresholds=np.array([0.7, 0.2])))
    )


def test_html_stays_text(make_system):
    evil = ("<script>alert(1)</script>", "a&b", '"q"', "ward")
    page = rule_base(make_system(features=evil, labels=("<b>", "x")))._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_a_frame_has_one_row_for_each_statement(make_system):
    system = make_system(order=1)
    frame = rule_base(system).to_frame()
    assert frame.part.value_counts().to_dict() == {
        "then": system.coef.size,
        "if": 12,
        "general": 8,
    }
    assert set(frame.feature.dropna()) == set(FEATURES)
    assert set(rule_base(system).for_label("gout").to_frame("then").label) == {"gout"}
    with pytest.raises(InputError, match="'if', 'then' or None"):
        rule_base(system).to_frame("when")


def test_without_pandas_the_message_is_the_install_command(make_system, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[data\]"$'):
        rule_base(make_system()).to_frame()


def test_single_precision_reads_as_plain_numbers(make_system):
    system = make_system("standard", order=1)
    thin = {
        what: np.asarray(getattr(system, what), np.float32)
        for what in ("coef", "term_coef", "centers", "widths")
    }
    rules = rule_base(type(system)(**{**vars(system), **thin}))
    assert json.loads(rules.to_json()) == rules.to_dict()


def test_a_large_model_shows_its_largest_parts_without_making_the_others(
    make_system, monkeypatch
):
    X = np.random.default_rng(0).normal(size=(30, 300))
    names = tuple(f"f{d}" for d in range(300)), tuple(f"l{j}" for j in range(60))
    rules = rule_base(make_system(K=25, X=X, features=names[0], labels=names[1]))
    made = []
    original = RuleBase._shape
    monkeypatch.setattr(
        RuleBase,
        "_shape",
        lambda self, *known: made.append(known) or original(self, *known),
    )
    text = str(rules)
    assert "and 40 more labels, which for_label shows" in text
    assert "and 5 more exceptions" in text
    assert len(made) <= 2 * 20 * 5


def test_features_of_a_table_are_told_as_the_table_has_them(table):
    rules = MLTSKClassifier(n_rules=0).fit(*table).rules_
    assert rules.feature_names == tuple(table[0].columns)
    words = {
        (shape.feature, shape.kind): str(shape)
        for shape in rules.for_label("copd").general[0].shapes
    }
    assert re.match(
        r"smoker = daily: \+[.0-9]+; (never|former|other) ", words["smoker", "varies"]
    )
    assert re.match(
        r"albumin not measured: \+[.0-9]+; measured -", words["albumin", "not measured"]
    )
    assert re.match(
        r"more likely with higher stage \(from (II|III) on, \+", words["stage", "rises"]
    )
    fever = {
        shape.feature: shape for shape in rules.for_label("gout").general[0].shapes
    }["fever"]
    assert str(fever).startswith("fever = yes: +")


def test_effects_of_values_are_those_of_the_system(table):
    clf = MLTSKClassifier(n_rules=0).fit(*table)
    (smoker, gap) = sorted(
        clf.rules_.for_feature("smoker").general[0].shapes,
        key=lambda shape: len(shape.names),
    )[::-1]
    assert (smoker.feature, gap.feature, gap.kind) == (
        "smoker",
        "smoker",
        "not measured",
    )
    rows = (
        table[0].iloc[[0] * 5].assign(smoker=["never", "former", "daily", "pipe", None])
    )
    told = clf.explain(rows).feature_effects()[:, 1, 0]
    assert_allclose(told[:4], np.array(smoker.y) + gap.values["measured"], atol=1e-12)
    assert_allclose(told[4], gap.values["not measured"], atol=1e-12)


def test_plain_data_and_frames_carry_the_values(table):
    rules = MLTSKClassifier(n_rules=3).fit(*table).rules_
    general = rules.to_frame("general").set_index(["label", "feature", "kind"])
    assert set(general.loc[("copd", "smoker", "varies"), "values"]) == {
        "never",
        "former",
        "daily",
        "other",
    }
    shapes = json.loads(rules.to_json())["general"][0]["shapes"]
    assert {"never", "daily"} < {
        value
        for shape in shapes
        if shape["feature"] == "smoker"
        for value in shape["names"]
    }
    for text in (rules.to_markdown(), rules.to_html(), str(rules)):
        assert "smoker = daily: +" in text


@pytest.mark.parametrize(
    "kind",
    [
        {"n_rules": 20, "order": 0},
        {"n_rules": 4, "order": 1},
        {"n_rules": 20, "max_statements": 6},
    ],
)
def test_conditions_on_a_table_are_values_and_levels(table, kind):
    rules = MLTSKClassifier(**kind).fit(*table).rules_
    told = [condition for rule in rules.exceptions for condition in rule.conditions]
    of, level = r"(all \d+|\d+ of \d+)( measured)?", "(I|II|III|IV)"
    value = rf"\w+( or \w+)* \({of}\)|not \w+ \({of} are\)|\w+ for {of} \((under |over )?\d+ % overall\)"
    number = r"-?[\d.]+"
    words = dict.fromkeys(("smoker", "sex", "fever"), f"is ({value})")
    words["stage"] = f"({level} or (above|below)|is {level}|{level} to {level})"
    words["age"] = words["albumin"] = (
        f"((above|below) {number}|is {number}|{number} to {number}|{number} or (above|below))"
    )
    for c in told:
        assert re.fullmatch(f"any {c.feature}|{c.feature} {words[c.feature]}", str(c))
        data = table[0][c.feature]
        assert c.feature not in ("age", "albumin") or {c.low, c.high} <= {None, *data}
        assert c.measured is None or c.measured <= c.members
    assert not any("not measured" in str(condition) for condition in told)
    assert {condition.category for condition in told if condition.feature == "sex"} <= {
        "f",
        "m",
    }


def test_an_exception_tells_its_members_and_what_was_observed_among_them():
    table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
    X, Y = table.X, table.Y
    clf = MLTSKClassifier(n_rules=20, order=0).fit(X, Y)
    assert len(clf.rules_) > 2
    M = clf.system_.firing_strengths(clf.system_.columns.expand(X))
    for rule in clf.rules_.exceptions:
        inside = M[:, rule.index] >= 0.5
        assert (rule.members, rule.total) == (inside.sum(), len(X))
        assert str(rule).startswith(
            f"Exception {rule.index + 1} — {inside.sum()} samples, {100 * inside.mean():.0f} % of"
        )
        for c in rule.consequents:
            here, every = Y[c.label][inside].dropna(), Y[c.label].dropna()
            assert (c.positives, c.observed) == (here.sum(), len(here))
            said = f"{here.sum():.0f} of {len(here)} had it, {every.sum():.0f} of {len(every)} overall; "
            assert str(c).startswith(f"{c.label}: {said}{c.shift:+#.2g}")
        any_ = [str(condition).startswith("any ") for condition in rule.conditions]
        assert any_ == sorted(any_)
        assert any_.count(False) == rule.told
        assert "any " not in rule.to_text()
        assert rule.to_text(top=None).count("any ") == sum(any_)
    frame = clf.rules_.to_frame("then")
    assert set(frame.samples) == {rule.members for rule in clf.rules_}
    assert json.loads(clf.rules_.to_json()) == clf.rules_.to_dict()
