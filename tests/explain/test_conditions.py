import pytest

from mltsk.explain import Condition
from mltsk.explain.conditions import ValueRange, ValueShare


def condition(center=1.0, average=2.0, **known):
    defaults = {"low": None, "high": None, "percentile": None, "distinct": 0.0}
    if "values" in known:
        known["values"] = tuple(ValueShare(*value) for value in known["values"])
    return Condition(
        feature="oil", center=center, average=average, **(defaults | known)
    )


def test_value_range_from_ends_takes_nan_for_an_open_end():
    assert ValueRange.from_ends(1.0, float("nan")) == ValueRange(1.0, None)
    assert ValueRange(None, 2.0).ends == [2.0]


def test_value_range_words_say_whether_an_end_belongs_to_it():
    assert ValueRange(None, 3.0).words("oil", ["3"]) == "oil 3 or below"
    assert ValueRange(3.0, None).words("oil", ["3"], included=False) == "oil above 3"


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
def test_a_condition_is_placed_by_the_training_data(percentile, words):
    assert str(condition(center=8.1, percentile=percentile)) == words


def test_a_condition_at_the_edge_of_the_data_is_told_by_its_region():
    lowest = condition(center=9.3, percentile=0.01, high=21.0)
    highest = condition(center=89.0, percentile=0.99, low=62.0)
    assert str(lowest) == "oil is very low (below about 21)"
    assert str(highest) == "oil is very high (above about 62)"


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
def test_a_sparse_condition_is_compared_with_the_average(center, average, words):
    assert str(condition(center, average)) == words


@pytest.mark.parametrize(
    ("center", "words"),
    [
        (0.34, "oil is yes for 34 % (14 % on average)"),
        (0.04, "oil is no for 96 % (86 % on average)"),
        (1.0, "oil is yes"),
    ],
)
def test_a_condition_on_two_values_tells_the_one_that_the_rule_has_more_of(
    center, words
):
    names = ((0.0, "no"), (1.0, "yes"))
    assert str(condition(center, 0.14, percentile=0.5, names=names)) == words


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
def test_a_nominal_condition_tells_values_that_are_clearly_more_or_less_frequent(
    values, words
):
    assert str(condition(values=values)) == f"oil is {words}"


def test_a_condition_on_levels_tells_the_nearest_one():
    names = ((1.0, "east"), (2.0, "north"), (5.0, "west"))
    assert str(condition(4.1, percentile=0.9, names=names)) == "oil is around west"


@pytest.mark.parametrize(
    ("low", "high", "names", "words"),
    [
        (None, 3.14159, (), "oil below 3.14"),
        (3.3, None, (), "oil above 3.3"),
        (55.0, 70.0, (), "oil 55 to 70"),
        (3.0, None, (), "oil 3 or above"),
        (None, 2.0, (), "oil 2 or below"),
        (4.0, 4.0, (), "oil is 4"),
        (None, None, (), "any oil"),
        (1.0, None, ((0.0, "I"), (1.0, "II")), "oil II or above"),
        (0.0, 0.0, ((0.0, "no"), (1.0, "yes")), "oil is no"),
    ],
)
def test_a_condition_with_members_tells_where_they_lie(low, high, names, words):
    assert str(condition(low=low, high=high, names=names, members=41)) == words


@pytest.mark.parametrize(
    ("values", "measured", "words"),
    [
        ((("f", 1.0, 0.8), ("m", 0.0, 0.2)), 41, "oil is f (all 41)"),
        ((("f", 0.95, 0.8), ("m", 0.05, 0.2)), 20, "oil is f (19 of 20 measured)"),
        ((("f", 0.85, 0.8), ("m", 0.15, 0.2)), 41, "any oil"),
        (
            (("a", 0.5, 0.3), ("b", 0.5, 0.7)),
            40,
            "oil is a for 20 of 40 measured (30 % overall)",
        ),
        ((("a", 0.0, 0.3),), 41, "oil is not a (0 of 41 are)"),
    ],
)
def test_a_nominal_condition_with_members_tells_counts(values, measured, words):
    assert str(condition(values=values, measured=measured, members=41)) == words
