"""The registry: every method of the paper's tables, each with its grid and one pass over it."""

import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid

from mltsk.paper.methods import METHODS

GRID_SIZES = {
    "ml-knn": 35, "mlsf": 81, "hnoml": 125, "c2ae": 11, "bp-mll": 10, "jbnn": 10, "br": 48, "cc": 48, "ml-tsk-fs": 4000,
}  # fmt: skip


def test_it_holds_the_nine_methods():
    assert set(METHODS) == set(GRID_SIZES)


@pytest.mark.parametrize("key", GRID_SIZES)
def test_each_has_the_papers_grid(key):
    method = METHODS[key]
    assert is_classifier(method())
    assert len(ParameterGrid(dict(method.PAPER_GRID))) == GRID_SIZES[key]
    assert set(method.PAPER_GRID) <= set(method().get_params())
    assert callable(method.grid_path)
