import pickle

import pytest

from mltsk.explain.values import Condition, Consequent, Items, Rule, Term, rule_dict


def items(*values):
    return Items(len(values), values.__getitem__)


def test_items_are_made_on_access_only():
    made = []
    lazy = Items(1000, lambda i: made.append(i) or i)
    assert len(lazy) == 1000
    assert (lazy[3], lazy[-1], lazy[:2]) == (3, 999, (0, 1))
    assert made == [3, 999, 0, 1]


def test_items_behave_like_a_tuple():
    assert items(4, 5) == (4, 5)
    assert items(4, 5) != items(4, 6)
    assert 5 in items(4, 5)
    assert hash(items(4, 5)) == hash((4, 5))
    with pytest.raises(IndexError):
        items(4, 5)[2]


def test_a_long_sequence_shows_its_length():
    assert repr(items(*"abcd")) == "('a', 'b', … 4 in all)"


@pytest.fixture
def rule():
    condition = Condition("glucose", 8.1, 5.5, 7.0, None, percentile=0.83, distinct=1.4)
    terms = (Term("age", 0.031, "1 unit", 0.4), Term("glucose", -0.02, "1 unit", -0.1))
    return Rule(2, 0.12, (condition,), (Consequent("gout", 0.1, 0.62, 0.3, 0.5, terms),), "1 unit")


def test_a_rule_is_frozen_and_travels(rule):
    with pytest.raises(AttributeError):
        rule.weight = 1.0
    assert pickle.loads(pickle.dumps(rule)) == rule


def test_every_part_prints_itself(rule):
    assert str(rule.conditions[0]) == "glucose is very high (≈ 8.1, top 17 %)"
    assert str(rule.consequents[0].terms[0]) == "age +0.031 (1 unit)"
    assert str(rule.consequents[0]).startswith("gout: up to 0.62 from 0.30, given")
    assert str(rule).startswith("Rule 3 — governs 12 % of the data\n")
    assert str(rule).endswith("(after a feature: change of the score per 1 unit)")


def test_plain_data_can_be_cut_short(rule):
    full, short = rule_dict(rule), rule_dict(rule, top=1)
    assert [t["feature"] for t in full["consequents"][0]["terms"]] == ["age", "glucose"]
    assert [t["feature"] for t in short["consequents"][0]["terms"]] == ["age"]
    assert short["consequents"][0]["n_terms"] == 2
    assert full["conditions"][0]["high"] is None
