import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.exceptions import InputError
from mltsk.explain import RuleBase, rule_base

from .conftest import CATEGORIES, FEATURES, LABELS

SCALES = ["quantile", "standard", "minmax", None, "unit"]


@pytest.mark.parametrize("scale", SCALES)
def test_rules_print_the_callers_names(make_system, scale):
    text = str(rule_base(make_system(scale)))
    for name in FEATURES + LABELS:
        assert name in text
    assert text.count("governs") == 3


def test_rules_are_a_sequence(make_system):
    rules = rule_base(make_system("quantile"))
    assert [rule.index for rule in rules] == [0, 1, 2]
    assert rules[-1] == rules[2]
    assert isinstance(rules[1:], RuleBase)
    assert [rule.number for rule in rules[1:]] == [2, 3]
    with pytest.raises(IndexError):
        rules[3]


@pytest.mark.parametrize("scale", SCALES)
def test_terms_are_the_nonzero_weights_largest_first(make_system, scale):
    system = make_system(scale)
    for k, rule in enumerate(rule_base(system)):
        for j, consequent in enumerate(rule.consequents):
            kept = {FEATURES[d] for d in np.flatnonzero(system.coef[k, 1:, j])}
            assert {t.feature for t in consequent.terms} == kept
            sizes = [abs(t.effect) for t in consequent.terms]
            assert sizes == sorted(sizes, reverse=True)


def test_a_consequent_is_its_function_in_units(make_system, X):
    system = make_system("standard")
    consequent = rule_base(system)[1].consequents[0]
    stated = consequent.intercept + sum(t.weight * X[:, FEATURES.index(t.feature)] for t in consequent.terms)
    assert_allclose(stated, system.scale(X) @ system.coef[1, 1:, 0] + system.coef[1, 0, 0], atol=1e-12)


def test_the_most_distinct_conditions_come_first(make_system):
    for rule in rule_base(make_system("quantile")):
        sizes = [abs(c.distinct) for c in rule.conditions]
        assert sizes == sorted(sizes, reverse=True)
        assert {c.feature for c in rule.conditions} == set(FEATURES)


def test_conditions_hold_the_callers_units(make_system, X):
    for scale in SCALES:
        ages = [c for rule in rule_base(make_system(scale)) for c in rule.conditions if c.feature == "age"]
        assert_allclose([c.center for c in ages], X[:3, 0])
        assert all(0 <= c.percentile <= 1 for c in ages)


def test_categories_name_conditions_and_steps(make_system):
    rules = rule_base(make_system("quantile"), categories=CATEGORIES)
    ward = rules.for_feature("ward")[0].conditions[0]
    assert ward.category in ("east", "north", "west")
    assert str(ward) == f"ward is around {ward.category}"
    steps = {t.per for rule in rules.for_feature("smoker") for c in rule.consequents for t in c.terms}
    assert steps == {"yes instead of no"}
    assert "in the order of the categories" in str(rules)


def test_filtering_by_label_and_feature(make_system):
    rules = rule_base(make_system("quantile"))
    narrow = rules.for_label("asthma").for_feature("age", "ward")
    assert (narrow.label_names, narrow.feature_names) == (("asthma",), ("age", "ward"))
    assert [c.label for c in narrow[0].consequents] == ["asthma"]
    assert {c.feature for c in narrow[0].conditions} == {"age", "ward"}
    assert narrow[0].consequents[0].intercept == rules[0].consequents[1].intercept
    assert "gout" not in rules.to_text(label="asthma")


def test_an_unknown_label_is_refused(make_system):
    with pytest.raises(InputError, match="no label called 'astma': did you mean 'asthma'"):
        rule_base(make_system(None)).for_label("astma")


@pytest.mark.parametrize("scale", SCALES)
def test_json_is_plain_data_there_and_back(make_system, scale):
    rules = rule_base(make_system(scale), categories=CATEGORIES)
    plain = rules.to_dict()
    assert json.loads(rules.to_json()) == plain
    assert plain["rules"][1]["conditions"][0]["center"] == rules[1].conditions[0].center
    assert len(json.loads(rules.to_json(top=1, label="gout"))["rules"][0]["conditions"]) == 1


def test_html_stays_text(make_system):
    evil = ("<script>alert(1)</script>", "a&b", '"q"', "ward")
    page = rule_base(make_system("quantile", features=evil, labels=("<b>", "x")))._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page.replace("<b>IF</b>", "").replace("<b>THEN</b>", "")
    assert "&lt;script&gt;" in page


def test_markdown_has_a_heading_for_each_rule(make_system):
    assert rule_base(make_system("quantile")).to_markdown().count("\n### Rule ") == 3


def test_top_cuts_conditions_labels_and_terms(make_system):
    text = rule_base(make_system("quantile")).to_text(top=1)
    assert text.count("and 3 conditions closer to the average") == 3
    assert text.count("and 1 label closer to usual") == 3
    assert "smaller one" in text


def test_one_rule_one_label_one_feature(make_system, X):
    system = make_system("quantile", K=1, X=X[:, :1], features=("age",), labels=("gout",))
    rules = rule_base(system)
    assert len(rules) == len(rules[0].conditions) == len(rules[0].consequents) == 1
    assert str(rules).startswith("1 rule on 1 feature for 1 label.")
    assert "governs 100 % of the data" in str(rules)


def test_sparse_rules_compare_with_the_average(make_system, texts):
    rules = rule_base(make_system("unit", X=texts, features=("oil", "gas", "bank", "rain")))
    condition = rules[0].conditions[0]
    assert condition.percentile is None
    assert condition.low is None
    assert "average" in str(condition) or "absent" in str(condition)
    assert "full weight of the feature in a row of unit length" in str(rules)


def test_single_precision_reads_as_plain_numbers(make_system):
    rules = rule_base(make_system("standard", dtype=np.float32))
    assert json.loads(rules.to_json()) == rules.to_dict()


def test_making_a_rule_base_of_a_million_terms_makes_no_objects(make_system, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 500))
    names = tuple(f"f{d}" for d in range(500))
    system = make_system("standard", K=15, X=X, features=names, labels=tuple(f"l{j}" for j in range(160)))
    made = []
    monkeypatch.setattr("mltsk.explain.rules.Term", lambda **known: made.append(known))
    rules = rule_base(system)
    assert len(rules[3].consequents[7].terms) > 300
    assert rules[3].conditions[499].feature in names
    assert made == []


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
    json.loads(rule_base(system).to_json())
