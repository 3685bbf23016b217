import pickle
from dataclasses import replace

import pytest

from mltsk.explain import Condition, Consequent, Rule, Shape
from mltsk.explain.values import Items, plain


def condition(center=1.0, average=2.0, percentile=None, low=None, high=None, **known):
    return Condition("oil", center, average, low, high, percentile, 0.0, **known)


def shape(change=0.21, at=3.4, percentile=0.7, **known):
    return Shape(
        "gout",
        "oil",
        known.pop("kind", "rises" if change > 0 else "falls"),
        change,
        0.1,
        at,
        percentile,
        **known,
    )


@pytest.fixture
def rule():
    consequent = Consequent("gout", 0.12, 0.05, (shape(), shape(-0.1)))
    return Rule(
        2,
        0.12,
        (condition(8.1, 5.5, 0.83),) * 3,
        (consequent, Consequent("asthma", -0.02, 0.01)),
    )


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "more likely with high oil (above about 3.4, +0.21)"),
        (
            {"percentile": 0.5, "change": -0.21},
            "less likely with high oil (above about 3.4, -0.21)",
        ),
        (
            {"percentile": 0.9},
            "more likely with very high oil (above about 3.4, +0.21)",
        ),
        ({"percentile": 0.3}, "less likely with low oil (below about 3.4, -0.21)"),
        (
            {"percentile": 0.1, "change": -0.2},
            "more likely with very low oil (below about 3.4, +0.20)",
        ),
        (
            {"kind": "peaks", "percentile": 0.5},
            "more likely with medium oil (around 3.4, +0.21)",
        ),
        (
            {"kind": "dips", "change": -0.2, "percentile": 0.3},
            "less likely with low oil (around 3.4, -0.20)",
        ),
        ({"at": None, "percentile": None}, "more likely with oil (+0.21)"),
        (
            {
                "exact": True,
                "kind": "varies",
                "names": ("f", "m"),
                "y": (0.0, -0.13),
                "chosen": (2, 5),
            },
            "less likely where oil is m (-0.13, 2 of 5)",
        ),
        (
            {"error": 0.051},
            "more likely with high oil (above about 3.4, +0.21 ± 0.051)",
        ),
        (
            {
                "exact": True,
                "x": (1.2, 4.0),
                "y": (0.0, 0.215),
                "change": 0.215,
                "error": 0.1,
                "chosen": (4, 5),
            },
            "more likely with high oil (from 1.2 to 4, +0.215 ± 0.10, 4 of 5)",
        ),
        (
            {
                "exact": True,
                "x": (1.2, 4.0),
                "y": (-0.2, 0.0),
                "change": 0.2,
                "percentile": 0.1,
            },
            "less likely with very low oil (from 4 to 1.2, -0.2)",
        ),
        (
            {
                "exact": True,
                "x": (1.0, 2.0, 1500.0),
                "y": (-0.2, 0.0, 0.1),
                "error": 0.1,
            },
            "oil up to 1: -0.2; at 2: 0; from 1,500: +0.1 ± 0.10",
        ),
        ({"names": ("no", "yes")}, "more likely where oil is yes (+0.21)"),
        (
            {"names": ("I", "II", "III", "IV"), "y": (-0.2, -0.05, 0.05, 0.2)},
            "more likely with higher oil (from III on, +0.21)",
        ),
        (
            {"kind": "varies", "names": ("a", "b", "c"), "y": (0.1, -0.2, 0.0)},
            "oil = a: +0.10; c +0.0; b -0.20",
        ),
        (
            {"kind": "varies", "names": tuple("abcd"), "y": (-0.1, 0.3, -0.1, -0.1)},
            "oil = b: +0.30; any other -0.10",
        ),
        (
            {"kind": "varies", "names": tuple("abc"), "y": (0.1, 0.1, -0.3)},
            "oil = c: -0.30; any other +0.10",
        ),
        (
            {"kind": "varies", "names": tuple("abcdefghij"), "y": tuple(range(10))},
            "oil = j: +9.0; i +8.0; h +7.0; g +6.0; 2 between +4.5; d +3.0; c +2.0; b +1.0; a +0.0",
        ),
        (
            {
                "kind": "not measured",
                "names": ("measured", "not measured"),
                "y": (-0.02, 0.08),
            },
            "oil not measured: +0.080; measured -0.020",
        ),
    ],
)
def test_shapes_are_told_by_direction_and_place(known, words):
    assert str(shape(**known)) == words


@pytest.mark.parametrize(
    ("percentile", "words"),
    [
        (0.83, "oil is very high (≈ 8.1, top 17 %)"),
        (0.7, "oil is high (≈ 8.1, top 30 %)"),
        (0.5, "oil is medium (≈ 8.1, near the median)"),
        (0.25, "oil is low (≈ 8.1, bottom 25 %)"),
        (0.06, "oil is very low (≈ 8.1, bottom 6 %)"),
    ],
)
def test_conditions_are_placed_by_the_training_data(percentile, words):
    assert str(condition(center=8.1, percentile=percentile)) == words


def test_a_centre_at_the_edge_of_the_data_is_told_by_its_region():
    assert (
        str(condition(center=9.3, percentile=0.01, high=21.0))
        == "oil is very low (below about 21)"
    )
    assert (
        str(condition(center=89.0, percentile=0.99, low=62.0))
        == "oil is very high (above about 62)"
    )


@pytest.mark.parametrize(
    ("center", "average", "words"),
    [
        (0.34, 0.11, "oil is 3.1 times the average (0.34 against 0.11)"),
        (0.001, 0.1, "oil is nearly absent (0.001 against 0.1)"),
        (50.0, 0.1, "oil is 500 times the average (50 against 0.1)"),
        (-1.0, 0.5, "oil is below average (-1 against 0.5)"),
        (0.2, 0.0, "oil is above average (0.2 against 0)"),
    ],
)
def test_sparse_conditions_are_compared_with_the_average(center, average, words):
    assert str(condition(center, average)) == words


def test_two_values_are_told_by_the_one_that_the_rule_has_more_of():
    pair = {"names": ((0.0, "no"), (1.0, "yes"))}
    assert (
        str(condition(0.34, 0.14, 0.5, **pair))
        == "oil is yes for 34 % (14 % on average)"
    )
    assert (
        str(condition(0.04, 0.14, 0.5, **pair))
        == "oil is no for 96 % (86 % on average)"
    )
    assert str(condition(1.0, 0.14, 0.5, **pair)) == "oil is yes"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((("daily", 0.95, 0.2), ("former", 0.05, 0.3), ("never", 0.0, 0.5)), "daily"),
        (
            (("daily", 0.4, 0.2), ("former", 0.6, 0.3), ("never", 0.0, 0.5)),
            "former or daily",
        ),
        (
            (("daily", 0.25, 0.2), ("former", 0.45, 0.3), ("never", 0.3, 0.5)),
            "never for 30 % (50 % on average)",
        ),
        ((("male", 0.02, 0.6),), "not male"),
        ((("male", 0.35, 0.3),), "male for 35 % (30 % on average)"),
    ],
)
def test_nominal_conditions_tell_values_that_are_clearly_more_or_less_frequent(
    values, words
):
    assert str(condition(values=values)) == f"oil is {words}"


def test_levels_are_told_by_the_nearest_one():
    names = ((1.0, "east"), (2.0, "north"), (5.0, "west"))
    assert str(condition(4.1, percentile=0.9, names=names)) == "oil is around west"


def test_a_rule_prints_itself_and_counts_what_it_leaves_out(rule):
    assert str(rule).splitlines()[0] == "Exception 3 — governs 12 % of the data"
    assert str(rule.consequents[1]) == "asthma -0.020"
    assert "<summary>Exception 3" in rule._repr_html_()
    told = [node.text for node in rule.nodes(1)[0].walk()]
    assert "gout +0.12 at its centre" in told
    assert {
        "and 2 conditions closer to the average",
        "and 1 label that it moves less",
        "and 1 smaller one",
    } < set(told)
    assert not any(node.muted for node in rule.nodes(None)[0].walk())


def test_a_rule_is_frozen_and_travels(rule):
    with pytest.raises(AttributeError):
        rule.weight = 1.0
    assert pickle.loads(pickle.dumps(rule)) == rule


def test_a_line_of_one_point_still_has_words():
    assert (
        str(shape(exact=True, x=(1.2,), y=(0.1,)))
        == "more likely with high oil (from 1.2 to 1.2, +0.1)"
    )


def test_plain_data_can_be_cut_short(rule):
    full, short = plain(rule, None), plain(rule, 1)
    assert [len(full["conditions"]), len(full["consequents"][0]["shapes"])] == [3, 2]
    assert [
        len(short["conditions"]),
        short["n_conditions"],
        short["consequents"][0]["n_shapes"],
    ] == [1, 3, 2]
    assert full["conditions"][0]["high"] is None


@pytest.mark.parametrize(
    ("low", "high", "known", "said"),
    [
        (None, 3.14159, {}, "oil below 3.14"),
        (3.3, None, {}, "oil above 3.3"),
        (55.0, 70.0, {}, "oil 55 to 70"),
        (3.0, None, {}, "oil 3 or above"),
        (None, 2.0, {}, "oil 2 or below"),
        (4.0, 4.0, {}, "oil is 4"),
        (None, None, {}, "any oil"),
        (1.0, None, {"names": ((0.0, "I"), (1.0, "II"))}, "oil II or above"),
        (0.0, 0.0, {"names": ((0.0, "no"), (1.0, "yes"))}, "oil is no"),
        (
            None,
            None,
            {"values": (("f", 1.0, 0.8), ("m", 0.0, 0.2)), "measured": 41},
            "oil is f (all 41)",
        ),
        (
            None,
            None,
            {"values": (("f", 0.95, 0.8), ("m", 0.05, 0.2)), "measured": 20},
            "oil is f (19 of 20 measured)",
        ),
        (
            None,
            None,
            {"values": (("f", 0.85, 0.8), ("m", 0.15, 0.2)), "measured": 41},
            "any oil",
        ),
        (
            None,
            None,
            {"values": (("a", 0.5, 0.3), ("b", 0.5, 0.7)), "measured": 40},
            "oil is a for 20 of 40 measured",
        ),
        (
            None,
            None,
            {"values": (("a", 0.0, 0.3),), "measured": 41},
            "oil is not a (0 of 41 are)",
        ),
    ],
)
def test_members_are_told_by_where_they_lie(low, high, known, said):
    told = str(condition(low=low, high=high, members=41, **known))
    assert told.removesuffix(" (30 % overall)") == said


def test_a_rule_that_few_are_wholly_in_is_told_by_those_nearest_to_it(rule):
    assert replace(rule, members=41, total=418).size == "41 samples, 10 % of the data"
    told = replace(rule, members=5, total=418).size
    assert told == "governs 12 % of the data, told by the 5 samples nearest to it"


def test_labels_that_were_not_observed_among_the_members_are_no_count():
    told = Consequent("gout", 0.12, 0.05, observed=0, positives=0, overall=(1200, 4000))
    assert str(told) == "gout: observed in none of them, 1,200 of 4,000 overall; +0.12"


def test_items_are_made_on_access_only():
    made = []
    lazy = Items(range(1000), lambda i: made.append(i) or i)
    assert (len(lazy), lazy[3], lazy[-1], lazy[:2]) == (1000, 3, 999, (0, 1))
    assert made == [3, 999, 0, 1]
    with pytest.raises(IndexError):
        lazy[1000]
