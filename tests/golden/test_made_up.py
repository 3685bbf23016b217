"""Parity with the paper's program on made-up data, for whoever has no other.

``scripts/papers_program.py`` made the files next to this one. It is a transcription of
the program that shares nothing with our package, and it agrees with the authors' own
output: W to 1e-9, every number of steps, metrics to 1e-15. Of "narrow", 50 % of the
rows fire no rule.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.clustering import variances
from mltsk.core.membership import authors_widths
from mltsk.metrics import evaluate
from mltsk.paper import algorithm1, fuzzy_c_means, fuzzy_features
from mltsk.paper.solvers.algorithm1 import algorithm1_grid

N_SETTINGS = 6


@pytest.fixture(scope="module", params=["wide", "narrow"])
def run(request):
    """What the transcription was given, and what it found."""
    path = Path(__file__).with_name(f"made_up_{request.param}.npz")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def bias_first(run):
    """The columns of the program's G, whose bias is last in each rule, in our order."""
    n_rules, n_features = run["centers"].shape
    columns = np.arange(n_rules * (n_features + 1)).reshape(n_rules, n_features + 1)
    return np.roll(columns, 1, axis=1).ravel()


def heaviest_first(run):
    """The program's rules in the order in which our clustering returns them."""
    return np.argsort(-run["memberships"].sum(axis=1))


def training_rows(run):
    """Our G and the labels of the rows that were fitted."""
    n_train = int(run["n_train"])
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    return G[:n_train], run["Y"][:n_train]


def test_clusters_from_the_same_start_end_in_the_same_centres(run):
    weights = run["start"] ** 2
    start = weights @ run["X"] / weights.sum(axis=1)[:, None]
    clusters = fuzzy_c_means(run["X"], len(start), init=start, max_iter=5000, tol=1e-15)
    order = heaviest_first(run)
    assert_allclose(clusters.centers, run["settled_centers"][order], atol=1e-6)
    stopped = fuzzy_c_means(run["X"], len(start), init=start)
    assert_allclose(stopped.centers, run["centers"][order], atol=1e-3)


def test_widths_are_those_of_the_program(run):
    w = np.ones(len(run["X"]))
    spread = variances(run["X"], run["centers"], run["memberships"].T, w)
    widths = authors_widths(spread, float(run["h"]))
    assert_allclose(widths, run["widths"], rtol=1e-10)


def test_fuzzy_features_are_those_of_the_program(run):
    G = fuzzy_features(run["X"], run["centers"], run["widths"], underflow="authors")
    assert_allclose(G, run["G"][:, bias_first(run)], atol=1e-12)


@pytest.mark.parametrize("setting", range(N_SETTINGS))
def test_algorithm1_gives_consequents_and_steps_of_the_program(run, setting):
    result = algorithm1(*training_rows(run), *run["params"][setting])
    assert result.n_iter == run["n_iter"][setting]
    assert_allclose(result.P, run["W"][setting][bias_first(run)], rtol=0, atol=1e-9)


def test_algorithm1_grid_gives_the_same_where_the_program_ran(run):
    axes = (np.unique(column) for column in run["params"].T)
    grid = algorithm1_grid(*training_rows(run), *axes)
    for setting, W, n_iter in zip(run["params"], run["W"], run["n_iter"], strict=True):
        result = grid[tuple(setting)]
        assert result.n_iter == n_iter
        assert_allclose(result.P, W[bias_first(run)], rtol=0, atol=1e-8)


@pytest.mark.parametrize("setting", range(N_SETTINGS))
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.DegenerateScoresWarning")
def test_evaluate_gives_the_metrics_of_the_program(run, setting):
    n_train = int(run["n_train"])
    scores = run["G"][n_train:] @ run["W"][setting]
    metrics = evaluate(run["Y"][n_train:], scores, convention="paper")
    found = [metrics[name] for name in ("AP", "HL", "OE", "RL", "CV")]
    assert_allclose(found, run["metrics"][setting], atol=1e-12)
