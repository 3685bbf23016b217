"""Rows by Riley's criteria, next to a worked example of the R package pmsampsize."""

import pytest

from mltsk.exceptions import InputError
from mltsk.metrics import required_rows


def test_required_rows_are_those_of_the_published_example():
    needed = required_rows(0.174, 24, cox_snell_r2=0.288)
    assert needed == (623, 662, 221)
    assert needed.rows == 662


def test_required_rows_grow_with_numbers_and_rarity():
    assert required_rows(0.2, 20).rows > required_rows(0.2, 10).rows
    assert required_rows(0.02, 10).rows > required_rows(0.2, 10).rows


@pytest.mark.parametrize(
    ("prevalence", "n_parameters", "r2"), [(0, 3, None), (0.5, 0, None), (0.1, 3, 0.9)]
)
def test_required_rows_refuse_what_cannot_be(prevalence, n_parameters, r2):
    with pytest.raises(InputError, match="must lie between 0 and"):
        required_rows(prevalence, n_parameters, cox_snell_r2=r2)
