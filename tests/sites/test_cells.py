"""Cells of few people are found, and hidden in the rows."""

import numpy as np
import pytest

from mltsk.sites.cells import (
    UNKNOWN,
    People,
    hide_small_cells,
    parts_of_rows,
    small_cells,
    values_of_rows,
)


def test_values_of_rows_are_unknown_where_a_column_is_missing():
    cells = np.array([[1.0, 0.0], [0.0, 1.0], [np.nan, 1.0], [1.0, 0.0]])
    values = values_of_rows(cells).tolist()
    assert values[2] == UNKNOWN
    assert values[0] == values[3] != values[1]


def test_small_cells_count_people_of_several_rows_once():
    feature = np.array([0, 0, 0, 1, 1, 1])
    label = np.zeros(6, dtype=int)
    alone = People(groups=np.arange(6), least=3)
    assert small_cells(feature, label, alone) == []
    together = People(groups=np.array([0, 0, 0, 1, 2, 3]), least=3)
    assert small_cells(feature, label, together) == [(0, 0)]


def test_parts_of_rows_are_those_that_sums_and_their_differences_are_about():
    observed = np.array([[True, True], [True, False], [False, False]])
    parts = [rows.tolist() for rows in parts_of_rows(observed)]
    assert parts[0] == [True, True, False]  # in any sum
    assert [False, True, False] in parts  # the first label less the second
    assert not any(not any(rows) for rows in parts)


@pytest.mark.parametrize("seed", range(5))
def test_hide_small_cells_leaves_none_in_any_part(seed):
    rng = np.random.default_rng(seed)
    n = 800
    features = [rng.choice(4, n, p=[0.6, 0.3, 0.07, 0.03]) for _ in range(2)]
    observed = rng.random((n, 2)) < [0.9, 0.5]
    labels = [np.where(seen, rng.integers(0, 2, n), UNKNOWN) for seen in observed.T]
    parts = parts_of_rows(observed)
    people = People(groups=None, least=5)
    hide_small_cells(features, labels, parts, people)
    assert any((values != UNKNOWN).any() for values in features)
    for values in features:
        for label in labels:
            cells = small_cells(values, label, people)
            assert [cell for cell in cells if cell[1] != UNKNOWN] == []
        for other in features:
            for part in parts:
                among = people.of_rows(part)
                assert small_cells(values[part], other[part], among) == []
