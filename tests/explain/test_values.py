import pickle
from dataclasses import replace

import pytest

from mltsk.explain import Condition, Consequent, GeneralRule, Rule, Shape
from mltsk.explain.values import Items, plain


def shape(change):
    return Shape("gout", "oil", "rises", change, size=0.1, at=3.4, percentile=0.7)


@pytest.fixture
def rule():
    condition = Condition(
        "oil", 8.1, 5.5, None, high=None, percentile=0.8, distinct=0.0
    )
    moved = Consequent("gout", 0.12, 0.05, shapes=(shape(0.21), shape(0.1)))
    return Rule(
        index=2,
        weight=0.12,
        conditions=(condition,) * 3,
        consequents=(moved, Consequent("asthma", -0.02, 0.01)),
    )


def test_a_rule_prints_itself_and_counts_what_it_leaves_out(rule):
    assert str(rule).splitlines()[0] == "Exception 3 — governs 12 % of the data"
    assert str(rule.consequents[1]) == "asthma -0.020"
    assert "<summary>Exception 3" in rule._repr_html_()
    sentences = [node.text for node in rule.nodes(1)[0].walk()]
    assert "gout +0.12 at its centre" in sentences
    assert {
        "and 2 conditions closer to the average",
        "and 1 label that it moves less",
        "and 1 smaller one",
    } < set(sentences)
    assert not any(node.muted for node in rule.nodes(None)[0].walk())


def test_a_rule_is_frozen_and_travels(rule):
    with pytest.raises(AttributeError):
        rule.weight = 1.0
    assert pickle.loads(pickle.dumps(rule)) == rule


def test_size_of_a_rule_that_few_are_wholly_in_is_told_by_those_nearest_to_it(rule):
    assert replace(rule, members=41, total=418).size == "41 samples, 10 % of the data"
    words = "governs 12 % of the data, told by the 5 samples nearest to it"
    assert replace(rule, members=5, total=418).size == words


def test_a_general_rule_prints_its_labels_and_counts_the_others(rule):
    general = GeneralRule(rule.consequents[:1], start="on average", n_labels=4)
    lines = general.to_text(top=1).splitlines()
    assert lines[:2] == ["In general", "  gout: 0.12 on average"]
    assert lines[-2:] == [
        "    and 1 smaller one",
        "  and 3 more labels, which for_label shows",
    ]
    assert len(general.conditions) == 0


def test_a_consequent_that_was_not_observed_among_the_members_has_no_count():
    counts = {"observed": 0, "positives": 0, "overall": (1200, 4000)}
    words = "gout: observed in none of them, 1,200 of 4,000 overall; +0.12"
    assert str(Consequent("gout", 0.12, 0.05, **counts)) == words


def test_plain_data_can_be_cut_short(rule):
    full = plain(rule, None)
    short = plain(rule, 1)
    assert len(full["conditions"]) == short["n_conditions"] == 3
    assert len(full["consequents"][0]["shapes"]) == 2
    assert len(short["conditions"]) == 1
    assert short["consequents"][0]["n_shapes"] == 2
    assert full["conditions"][0]["high"] is None


def test_items_are_made_on_access_only():
    made = []

    def make(i):
        made.append(i)
        return i

    lazy = Items(range(1000), make)
    assert (len(lazy), lazy[3], lazy[-1], lazy[:2]) == (1000, 3, 999, (0, 1))
    assert made == [3, 999, 0, 1]
    with pytest.raises(IndexError):
        lazy[1000]
