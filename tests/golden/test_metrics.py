"""Metrics against published numbers: models of zeros, runs of the authors' program."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.metrics import five_metrics

DATA = os.environ.get("MLTSK_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="MLTSK_DATA is not set: no data sets at hand"
)

# AP, HL, OE, RL, CV of a score table of zeros, in the paper's convention
ZERO_MODEL = {
    "bibtex": (0.0425, 0.0151, 0, 1, 0.6086),
    "birds": (0.1053, 0.0534, 0.4558, 0.5442, 0.2596),
    "cal500": (0.1205, 0.1497, 0, 1, 0.8721),
    "corel16k1": (0.0513, 0.0187, 0, 1, 0.7850),
    "emotions": (0.5352, 0.3114, 0, 1, 0.5571),
    "flags": (0.4765, 0.4845, 0, 1, 0.6171),
    "image": (0.5063, 0.2470, 0, 1, 0.4540),
    "rcv1s1": (0.1127, 0.0285, 0, 1, 0.6624),
    "rcv1s2": (0.0810, 0.0261, 0, 1, 0.6074),
    "yeast": (0.4132, 0.3026, 0, 1, 0.7222),
}


def read(folder, name):
    """The arrays of a file, if it is at hand."""
    path = folder / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand")
    return np.load(path, allow_pickle=False)


@needs_data
@pytest.mark.parametrize("name", sorted(ZERO_MODEL))
def test_five_metrics_of_a_model_of_zeros_are_the_published_ones(name):
    Y = read(Path(DATA), name)["Y"]
    metrics = five_metrics(Y, np.zeros(Y.shape), convention="paper")
    assert_allclose(metrics, ZERO_MODEL[name], atol=5.1e-5)


@needs_data
@pytest.mark.parametrize("name", ["cal500", "emotions", "flags"])
def test_five_metrics_are_those_that_the_authors_program_printed(name):
    run = read(Path(DATA).parent / "reference", name)
    n_train = int(run["n_train"])
    G = run["G"][n_train:]
    Y = run["Y"][n_train:]
    scores = np.stack([G @ W for W in run["W"]])
    metrics = five_metrics(Y, scores, convention="paper")
    assert_allclose(metrics, run["metrics"], atol=1e-12)
