"""Numbers that leave a site are shared by enough neighbours."""

import numpy as np
import pytest

from mltsk.sites.cells import People
from mltsk.sites.neighbours import medians_of_neighbours


def test_medians_of_neighbours_count_people_and_not_rows():
    numbers = np.arange(8.0)
    people = People(groups=np.array([0, 0, 0, 0, 1, 2, 3, 4]), least=2)
    shared = medians_of_neighbours(numbers, people)
    assert shared.tolist() == [2.0] * 5 + [6.0] * 3


@pytest.mark.parametrize("least", [1, 3, 7])
def test_medians_of_neighbours_are_enough_in_every_part_of_the_rows(least):
    rng = np.random.default_rng(least)
    numbers = rng.normal(size=60)
    everybody = np.ones((60, 1), dtype=bool)
    parts = np.hstack([everybody, rng.random((60, 2)) < [0.8, 0.3]])
    people = People(groups=None, least=least)
    shared = medians_of_neighbours(numbers, people, parts)
    for part in parts.T:
        _, counts = np.unique(shared[part], return_counts=True)
        assert counts.min() >= least
