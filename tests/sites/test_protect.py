"""No count of few people leaves a site."""

import numpy as np
import pytest

from mltsk.sites.protect import _codes, _counted_features, _small_cells, protected
from mltsk.sites.sums import labels_of_table, numbers_of_table

LEAST = 10


@pytest.fixture
def safe(tables, plan):
    """The protected rows of a site."""
    table = tables[1]
    Y, observed = labels_of_table(table, plan)
    return protected(
        numbers_of_table(table, plan),
        Y,
        observed,
        columns=plan.columns,
        scaling=plan.scaling,
        label_names=plan.label_names,
        groups=table.groups,
        least=LEAST,
    )


def test_protected_leaves_no_small_cell_of_two_values_or_a_value_and_a_label(
    safe, plan
):
    counted = _counted_features(plan.columns, plan.scaling)
    codes = [_codes(safe.X[:, own]) for own in counted.values()]
    for one in codes:
        for other in codes:
            assert _small_cells(one, other, None, LEAST) == []
        for j in range(safe.Y.shape[1]):
            label = np.where(safe.observed[:, j], safe.Y[:, j], -1).astype(int)
            small = _small_cells(one, label, None, LEAST)
            assert [cell for cell in small if cell[1] != -1] == []


def test_protected_shares_no_few_people_by_which_two_labels_differ(safe):
    for i in range(2):
        for j in range(2):
            only = safe.observed[:, i] & ~safe.observed[:, j]
            assert only.sum() == 0 or only.sum() >= LEAST


def test_protected_moves_ends_in_and_says_all_that_it_did(safe, plan):
    age = safe.X[:, 0]
    assert (age == age.min()).sum() >= LEAST
    assert (age == age.max()).sum() >= LEAST
    assert any("moved in" in text for text in safe.told)


def test_people_of_several_rows_count_once():
    codes = np.array([0, 0, 0, 1, 1, 1])
    label = np.zeros(6, dtype=int)
    alone = np.arange(6)
    assert _small_cells(codes, label, alone, 3) == []
    together = np.array([0, 0, 0, 1, 2, 3])
    assert _small_cells(codes, label, together, 3) == [(0, 0)]
