"""Parity with the program of ML-HDTSK FS on made-up data.

``scripts/hdtsk_program.py`` made the files next to this one. It is a transcription of
the program that shares nothing with our package, and it agrees with the program's own
functions: every number of steps, consequents to 2e-8 (the program keeps a width and its
momentum in single precision).
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper import fuzzy_c_means
from mltsk.paper.methods.ml_hdtsk_fs import (
    GroupSparseProblem,
    coupling_of,
    group_sparse_consequents,
    jaccard_distances,
)
from mltsk.paper.solvers.problem import quadratic

N_SETTINGS = 6


@pytest.fixture(scope="module", params=["few", "many"])
def run(request):
    """What the transcription was given, and what it found."""
    path = Path(__file__).with_name(f"made_up_hdtsk_{request.param}.npz")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def bias_first(run):
    """The columns of the program's G, whose bias is last in each rule, in our order."""
    n_rules, n_features = run["centers"].shape
    columns = np.arange(n_rules * (n_features + 1)).reshape(n_rules, n_features + 1)
    return np.roll(columns, 1, axis=1).ravel()


def mapped(run):
    """The rows mapped by the rules of the program."""
    centers = run["centers"]
    widths = np.full_like(centers, run["X"].shape[1] / 745)
    return FuzzyMap.of(run["X"], centers, widths)


def test_clusters_from_the_same_start_end_in_the_same_centres(run):
    weights = run["start"] ** 1.01
    start = weights @ run["X"] / weights.sum(axis=1)[:, None]
    clusters = fuzzy_c_means(run["X"], len(start), fuzzifier=1.01, init=start)
    ours = clusters.centers[np.argsort(clusters.centers[:, 0])]
    theirs = run["centers"][np.argsort(run["centers"][:, 0])]
    assert_allclose(ours, theirs, atol=1e-6)


def test_features_mapped_by_rules_are_those_of_the_program(run):
    assert_allclose(mapped(run).rows(), run["G"][:, bias_first(run)], atol=1e-12)


def test_coupling_is_that_of_the_program(run):
    Y = run["Y"][: int(run["n_train"])]
    Q = coupling_of(jaccard_distances(Y, np.ones(len(Y))))
    assert_allclose(Q, run["coupling"], atol=1e-14)


@pytest.mark.parametrize("with_gram", [True, False])
@pytest.mark.parametrize("setting", range(N_SETTINGS))
def test_consequents_and_steps_are_those_of_the_program(run, setting, with_gram):
    n_train = int(run["n_train"])
    G = mapped(run).take(slice(n_train))
    alpha, beta, gamma = run["params"][setting]
    problem = GroupSparseProblem(
        quadratic(G, run["Y"][:n_train], form=with_gram),
        run["coupling"],
        len(run["centers"]),
        n_train,
        alpha=alpha,
        beta=beta,
    )
    result = group_sparse_consequents(problem, gamma)
    assert result.n_iter == run["n_iter"][setting]
    assert_allclose(result.P, run["W"][setting][bias_first(run)], rtol=0, atol=1e-9)
    assert_allclose(result.losses[-1], run["last_loss"][setting], atol=1e-10)
