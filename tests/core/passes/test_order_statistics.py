import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from mltsk.core.passes.order_statistics import Tables, select
from mltsk.core.passes.rows import Block, InMemory


def rows_of(x, w, n_blocks):
    parts = zip(np.array_split(x, n_blocks), np.array_split(w, n_blocks), strict=True)
    return InMemory([Block(a[:, None], a[:, None], b, i) for i, (a, b) in enumerate(parts)])


def asked(rows, x, shares, ranks, total):
    return select(rows, np.array([0]), x.min()[None], x.max()[None], shares[None], ranks, total)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.integers(2, 60), elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.integers(1, 5),
)
def test_ranks_are_those_of_a_sort_for_any_numbers(x, n_blocks):
    found = asked(rows_of(x, np.ones(len(x)), n_blocks), x, np.empty(0), np.arange(len(x)), len(x))
    assert_array_equal(found.values[0], np.sort(x))


@pytest.mark.parametrize("n_blocks", [1, 7])
def test_percentiles_are_the_first_values_that_reach_them(n_blocks):
    rng = np.random.default_rng(0)
    x, w = np.round(rng.lognormal(0, 3, 2000), 2), rng.integers(1, 4, 2000).astype(float)
    shares = np.linspace(0.001, 0.99, 40)
    found = asked(rows_of(x, w, n_blocks), x, shares, np.empty(0), w.sum())
    values, where = np.unique(x, return_inverse=True)
    mass = np.bincount(where, weights=w)
    percentile = (np.cumsum(mass) - mass / 2) / w.sum()
    expected = np.searchsorted(percentile, shares)
    assert_array_equal(found.values[0], values[expected])
    assert_array_equal(found.mass[0], mass[expected])
    assert_array_equal(found.below[0], np.cumsum(mass)[expected])


def test_ordinary_values_take_few_passes():
    x = np.random.default_rng(1).normal(size=50_000)
    rows, passes = rows_of(x, np.ones(len(x)), 4), []
    counted = type("Counted", (), {"reduce": lambda self, *a: passes.append(a[0]) or rows.reduce(*a)})()
    asked(counted, x, np.linspace(0.01, 0.99, 256), np.arange(0, 50_000, 2500), len(x))
    assert len(passes) <= 6


def test_few_values_are_told_from_many_and_counted():
    x = np.arange(10.0)
    few, many = (rows_of(x, x + 1, 3).reduce("values", Tables.of, limit) for limit in (10, 9))
    assert few.complete == (True,)
    assert_array_equal(few.tables[0].mass, x + 1)
    assert many.complete == (False,)
    assert_array_equal(many.tables[0].values, [0, 9])
    assert_array_equal(many.tables[0].mass, [1, 10])
