"""The simple questions that all checks ask."""

import numpy as np
import pytest

from mltsk.io.requirements import (
    are_different_words,
    check_table,
    is_bounded,
    is_count,
    is_finite,
    is_finite_number,
    require,
)


def test_require_raises_its_sentence_if_it_is_not_met():
    require([1], "there must be one")
    with pytest.raises(ValueError, match="there must be one"):
        require([], "there must be one")


@pytest.mark.parametrize(
    "table",
    [
        None,
        [[1.0, 2.0]],
        np.zeros((2, 1)),
        np.zeros((1, 2), dtype=bool),
        np.full((1, 2), np.nan),
    ],
)
def test_check_table_refuses_what_is_no_table_of_the_shape(table):
    check_table(np.zeros((1, 2)), "'x'", (1, 2), is_finite)
    with pytest.raises(
        ValueError, match=r"^'x' must be a table of 1 x 2 finite numbers$"
    ):
        check_table(table, "'x'", (1, 2), is_finite)


def test_is_bounded_takes_numbers_whose_products_are_finite():
    assert is_bounded(np.array([1e100, -1e100]))
    assert is_bounded(np.array(["a"]))
    assert not is_bounded(np.array([1.1e100]))
    assert not is_bounded(np.array([np.nan]))
    assert not is_bounded(np.array([np.inf], dtype=np.float32))


@pytest.mark.parametrize("value", [True, "1", None, np.inf, np.nan, 10**400, 1j, [1]])
def test_is_finite_number_refuses_what_is_none(value):
    assert not is_finite_number(value)


def test_is_finite_number_knows_limits():
    assert is_finite_number(np.float32(1.5))
    assert is_finite_number(0)
    assert not is_finite_number(0, above=0.0)
    assert is_finite_number(3, at_most=3)
    assert not is_finite_number(4, at_most=3)


@pytest.mark.parametrize("value", [True, 0, -1, 1.0, "1", None])
def test_is_count_refuses_what_is_none(value):
    assert not is_count(value)
    assert is_count(np.int64(1))


@pytest.mark.parametrize("words", ["ab", ["a", "a"], ("a", 1), None, {"a"}])
def test_are_different_words_refuses_other_things(words):
    assert not are_different_words(words)
    assert are_different_words(("a", "b"))
    assert are_different_words([])
