"""Arrays as text for a page: exact, and in the shortest form."""

from base64 import b64decode

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.pages.packing import packed, packed_bits, packed_nonzero, shortest_form


def unpacked(text, kind="<f8"):
    return np.frombuffer(b64decode(text), kind)


def test_packed_numbers_come_back_exactly_and_none_stays_none():
    numbers = np.array([[0.1, -1e300], [np.nan, 3.0]])
    assert_array_equal(unpacked(packed(numbers)), numbers.ravel())
    assert unpacked(packed([1, 70_000], "<u4"), "<u4").tolist() == [1, 70_000]
    assert packed(None) is None


def test_packed_bits_begin_with_the_lowest():
    mask = np.array([True, False, True, *[False] * 6, True])
    assert unpacked(packed_bits(mask), "u1").tolist() == [5, 2]


@pytest.mark.parametrize(("is_single", "kind"), [(True, "<f4"), (False, "<f8")])
def test_packed_nonzero_leaves_zeros_out(is_single, kind):
    array = np.array([[0.0, 0.25], [-8.0, 0.0]])
    data = packed_nonzero(array, is_single=is_single)
    assert unpacked(data["values"], kind).tolist() == [0.25, -8.0]
    assert unpacked(data["mask"], "u1").tolist() == [0b0110]
    assert data["single"] is is_single


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (RNG.integers(0, 9, 900).astype(float), "u1"),
        (RNG.integers(0, 9999, 900).astype(float), "<i2"),
        ((9 * RNG.normal(size=900)).round(5), "<i4"),
        (RNG.normal(size=900), "<f8"),
        (RNG.integers(2**40, 2**41, 900).astype(float), "<f8"),
    ],
)
def test_shortest_form_takes_the_fewest_bytes_and_is_exact(column, kind):
    column = np.where(RNG.random(900) < 0.1, np.nan, column)
    form = shortest_form(column)
    assert form.kind == kind
    stored_kind, text, distinct, decimals = form.data()
    assert stored_kind == kind
    numbers = unpacked(text, kind)
    if distinct is not None:
        values = unpacked(distinct)[numbers]
        n_bytes = len(numbers) + 8 * len(unpacked(distinct))
    elif kind == "<f8":
        values = numbers
        n_bytes = 8 * len(numbers)
    else:
        is_missing = numbers == np.iinfo(kind).min
        values = np.where(is_missing, np.nan, numbers / 10.0**decimals)
        n_bytes = numbers.nbytes
    assert_array_equal(values, column)
    assert form.n_bytes == n_bytes
