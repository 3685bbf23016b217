import numpy as np
import pytest

from mltsk.exceptions import InputError
from mltsk.explain.items import Items, positions


def test_items_are_made_on_access_only():
    made = []
    lazy = Items(1000, lambda i: made.append(i) or i)
    assert (len(lazy), lazy[3], lazy[-1], lazy[:2]) == (1000, 3, 999, (0, 1))
    assert made == [3, 999, 0, 1]
    with pytest.raises(IndexError):
        lazy[1000]


def test_items_compare_like_a_tuple():
    assert Items(2, "ab".__getitem__) == ("a", "b")
    assert Items(2, "ab".__getitem__) != Items(2, "ac".__getitem__)


def test_an_unknown_name_is_refused_with_what_comes_close():
    with pytest.raises(InputError, match="no feature called 'glucos': did you mean 'glucose'"):
        positions(("age", "glucose"), ["glucos"], np.arange(2), "feature")
    with pytest.raises(InputError, match="at least one label"):
        positions(("gout",), [], np.arange(1), "label")
