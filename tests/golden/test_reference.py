"""Parity with the authors' own program: the same G, W, iterations and metrics.

The reference runs lie next to the data sets: ``$MLTSK_DATA/../reference``.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.fuzzymap import fuzzy_features
from mltsk.metrics import evaluate
from mltsk.paper.solvers.algorithm1 import algorithm1, algorithm1_grid

NAMES = ("cal500", "emotions", "flags")


@pytest.fixture(scope="module", params=NAMES)
def run(request):
    folder = os.environ.get("MLTSK_DATA")
    path = Path(folder or ".").parent / "reference" / f"{request.param}.npz"
    if not folder or not path.exists():
        pytest.skip(
            "the reference runs are not next to the folder that MLTSK_DATA names"
        )
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def bias_first(run):
    """The columns of the authors' G, whose bias is last in each rule, in our order."""
    n_rules, n_features = run["centers"].shape
    columns = np.arange(n_rules * (n_features + 1)).reshape(n_rules, n_features + 1)
    return np.roll(columns, 1, axis=1).ravel()


def train_and_test(run):
    n = int(run["n_train"])
    return (run["G"][:n], run["Y"][:n]), (run["G"][n:], run["Y"][n:])


def test_rule_mapped_features_are_the_authors(run):
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    assert_allclose(G, run["G"][:, bias_first(run)], atol=1e-12)


def test_consequents_and_iterations_are_the_authors(run):
    (G, Y), _ = train_and_test(run)
    for setting, W, n_iter in zip(run["params"], run["W"], run["n_iter"], strict=True):
        result = algorithm1(G, Y, *setting)
        assert result.n_iter == n_iter
        assert_allclose(result.P, W, rtol=0, atol=1e-8)


def test_the_whole_chain_in_our_own_column_order(run):
    n = int(run["n_train"])
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    for setting, W, n_iter in zip(run["params"], run["W"], run["n_iter"], strict=True):
        result = algorithm1(G[:n], run["Y"][:n], *setting)
        assert result.n_iter == n_iter
        assert_allclose(result.P, W[bias_first(run)], rtol=0, atol=1e-7)


def test_the_grid_meets_the_authors_where_they_ran(run):
    (G, Y), _ = train_and_test(run)
    grid = algorithm1_grid(G, Y, *(np.unique(column) for column in run["params"].T))
    for setting, W, n_iter in zip(run["params"], run["W"], run["n_iter"], strict=True):
        result = grid[tuple(setting)]
        assert result.n_iter == n_iter
        assert_allclose(result.P, W, rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.DegenerateScoresWarning")
def test_metrics_on_the_other_rows_are_the_authors(run):
    train, (G, Y) = train_and_test(run)
    assert_array_equal(run["metric_names"], ["AP", "HL", "OE", "RL", "CV"])
    for setting, expected in zip(run["params"], run["metrics"], strict=True):
        ours = evaluate(Y, G @ algorithm1(*train, *setting).P, convention="paper")
        assert_allclose(
            [ours[name] for name in run["metric_names"]], expected, atol=1e-12
        )
