import pytest

from mltsk.explain.text import condition_words, consequent_words, legend, place_words, rule_words, term_words
from mltsk.explain.values import Condition, Consequent, Rule, Term


def condition(center=1.0, average=2.0, percentile=None, **known):
    return Condition("oil", center, average, None, None, percentile, 0.0, **known)


def consequent(label="gout", level=0.6, usual=0.3, effects=(0.3, -0.2, 0.1)):
    terms = tuple(Term(f"f{i}", e / 10, "1 unit", e) for i, e in enumerate(effects))
    return Consequent(label, 0.0, level, usual, 0.5, terms)


@pytest.mark.parametrize(
    ("percentile", "words"),
    [
        (0.83, "oil is very high (≈ 8.1, top 17 %)"),
        (0.7, "oil is high (≈ 8.1, top 30 %)"),
        (0.5, "oil is medium (≈ 8.1, near the median)"),
        (0.25, "oil is low (≈ 8.1, bottom 25 %)"),
        (0.04, "oil is very low (≈ 8.1, bottom 4 %)"),
    ],
)
def test_conditions_are_placed_by_the_training_data(percentile, words):
    assert condition_words(condition(center=8.1, percentile=percentile)) == words


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
    assert condition_words(condition(center, average)) == words


def test_two_values_are_told_by_the_one_that_the_rule_has_more_of():
    pair = {"values": (0.0, 1.0), "value_names": ("no", "yes"), "category": "no"}
    assert condition_words(condition(0.34, 0.14, 0.5, **pair)) == "oil is yes for 34 % (14 % on average)"
    assert condition_words(condition(0.04, 0.14, 0.5, **pair)) == "oil is no for 96 % (86 % on average)"
    assert condition_words(condition(1.0, 0.14, 0.5, **pair)) == "oil is yes throughout (14 % on average)"


def test_nominal_conditions_go_by_category():
    assert condition_words(condition(percentile=0.9, category="west")) == "oil is around west"


def test_a_step_is_told_only_where_it_is_not_the_usual_one():
    term = Term("oil", 0.12, "1 instead of 0", 0.1)
    assert term_words(term, "10 percentile points") == "oil +0.12 (1 instead of 0)"
    assert term_words(term, "1 instead of 0") == "oil +0.12"


def test_what_raises_stands_apart_from_what_lowers_and_the_rest_is_summed():
    words = consequent_words(consequent(effects=(0.4, -0.3, 0.2, 0.1)), 2, "1 unit")
    assert words.rises == ("f0 +0.040",)
    assert words.falls == ("f1 -0.030",)
    assert words.rest == "and 2 smaller ones (30 % of all effects)"


def test_nothing_left_out_is_not_mentioned():
    assert consequent_words(consequent(), 3).rest == ""
    words = rule_words(Rule(0, 1.0, (condition(),), (consequent(),)), 5)
    assert (words.more_conditions, words.more_consequents) == ("", "")


@pytest.mark.parametrize(
    ("level", "usual", "words"),
    [
        (0.6, 0.3, "up to 0.60 from 0.30, given"),
        (0.5, 0.8, "down to 0.50 from 0.80, given"),
        (0.46, 0.14, "up to 0.46 from 0.14, not given"),
        (0.301, 0.299, "stays at 0.30, not given"),
    ],
)
def test_the_level_of_a_label(level, usual, words):
    assert consequent_words(consequent(level=level, usual=usual), 5).level == words


def test_the_labels_that_a_rule_moves_most_come_first():
    labels = [consequent("a", 0.31, 0.3), consequent("b", 0.1, 0.6), consequent("c", 0.9, 0.6)]
    words = rule_words(Rule(0, 0.5, (), labels), 2)
    assert [c.label for c in words.consequents] == ["b", "c"]
    assert words.more_consequents == "and 1 label closer to usual"


def test_conditions_left_out_are_counted():
    words = rule_words(Rule(4, 0.5, (condition(),) * 9, ()), 2)
    assert words.title == "Rule 5 — governs 50 % of the data"
    assert len(words.conditions) == 2
    assert words.more_conditions == "and 7 conditions closer to the average"


def test_the_legend_tells_size_threshold_and_step():
    sharing, reading = legend(3, 1, [0.5, 0.5], "10 percentile points")
    assert sharing.startswith("3 rules on 1 feature for 2 labels.")
    assert sharing.endswith("its threshold, 0.5.")
    assert "per 10 percentile points" in reading
    assert "which is 0.2 to 0.7." in legend(3, 1, [0.7, 0.2], "1 unit")[0]


def test_place_words_of_a_sample_are_exact():
    assert place_words(2.0, 0.12) == "very low (2, bottom 12 %)"
