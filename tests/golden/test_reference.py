"""Parity with the authors' own program: the same G, W, iterations and metrics.

The reference runs lie next to the data sets: ``$MLTSK_DATA/../reference``.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.clustering import fuzzy_c_means, memberships, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.metrics import evaluate
from mltsk.paper.solvers.algorithm1 import algorithm1, algorithm1_grid


@pytest.fixture(scope="module", params=["cal500", "emotions", "flags"])
def run(request):
    """What the authors' program was given, and what it found."""
    folder = os.environ.get("MLTSK_DATA")
    path = Path(folder or ".").parent / "reference" / f"{request.param}.npz"
    if not folder or not path.exists():
        pytest.skip(
            "the reference runs are not next to the folder that MLTSK_DATA names"
        )
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def settings_with_results(run):
    """(alpha, beta, gamma), W and the number of iterations of each of their fits."""
    return zip(run["params"], run["W"], run["n_iter"], strict=True)


def bias_first(run):
    """The columns of the authors' G, whose bias is last in each rule, in our order."""
    n_rules, n_features = run["centers"].shape
    columns = np.arange(n_rules * (n_features + 1)).reshape(n_rules, n_features + 1)
    return np.roll(columns, 1, axis=1).ravel()


def training_rows(run):
    """G and Y of the rows that they fitted."""
    n_train = int(run["n_train"])
    return run["G"][:n_train], run["Y"][:n_train]


def test_clusters_from_the_authors_centres_stay_there(run):
    clusters = fuzzy_c_means(run["X"], len(run["centers"]), init=run["centers"])
    distances = abs(clusters.centers[:, None] - run["centers"]).max(axis=2)
    assert_allclose(distances.min(axis=1), 0, atol=2e-3)
    assert_array_equal(np.sort(distances.argmin(axis=1)), np.arange(len(distances)))


def test_widths_from_the_authors_centres_are_theirs(run):
    X = run["X"]
    squares = ((X[:, None] - run["centers"]) ** 2).sum(axis=2)
    spread = variances(X, run["centers"], memberships(squares, 2.0), np.ones(len(X)))
    widths = authors_widths(spread, float(run["h"]))
    assert_allclose(widths, run["widths"], atol=5e-5)


def test_fuzzy_features_are_the_authors(run):
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    assert_allclose(G, run["G"][:, bias_first(run)], atol=1e-12)


def test_algorithm1_gives_the_authors_consequents_and_iterations(run):
    G, Y = training_rows(run)
    for setting, W, n_iter in settings_with_results(run):
        result = algorithm1(G, Y, *setting)
        assert result.n_iter == n_iter
        assert_allclose(result.P, W, rtol=0, atol=1e-8)


def test_algorithm1_on_our_fuzzy_features_gives_the_authors_consequents(run):
    n_train = int(run["n_train"])
    Y = run["Y"][:n_train]
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    for setting, W, n_iter in settings_with_results(run):
        result = algorithm1(G[:n_train], Y, *setting)
        assert result.n_iter == n_iter
        assert_allclose(result.P, W[bias_first(run)], rtol=0, atol=1e-7)


def test_algorithm1_grid_gives_the_authors_consequents_where_they_ran(run):
    G, Y = training_rows(run)
    alphas, betas, gammas = (np.unique(column) for column in run["params"].T)
    grid = algorithm1_grid(G, Y, alphas, betas, gammas)
    for setting, W, n_iter in settings_with_results(run):
        result = grid[tuple(setting)]
        assert result.n_iter == n_iter
        assert_allclose(result.P, W, rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.DegenerateScoresWarning")
def test_evaluate_gives_the_authors_metrics_on_the_other_rows(run):
    G, Y = training_rows(run)
    n_train = len(Y)
    G_test = run["G"][n_train:]
    Y_test = run["Y"][n_train:]
    names = run["metric_names"]
    assert_array_equal(names, ["AP", "HL", "OE", "RL", "CV"])
    for setting, expected in zip(run["params"], run["metrics"], strict=True):
        P = algorithm1(G, Y, *setting).P
        metrics = evaluate(Y_test, G_test @ P, convention="paper")
        assert_allclose([metrics[name] for name in names], expected, atol=1e-12)
