import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from mltsk.exceptions import InputError
from mltsk.metrics import bipartition as ours

AVERAGES = {"example": "samples", "macro": "macro", "micro": "micro"}


def tables(seed=0):
    """Rows and labels with nothing true, nothing predicted, and neither."""
    rng = np.random.default_rng(seed)
    Y, P = rng.random((2, 40, 7)) < 0.4
    Y[:4], P[2:6], Y[:, 0], P[:, 0], P[:, 1] = 0, 0, 0, 0, 0
    return Y.astype(int), P.astype(int), rng.integers(0, 3, size=40).astype(float)


@pytest.mark.parametrize("average", AVERAGES)
def test_f1_agrees_with_scikit_learn(average):
    Y, P, weight = tables()
    for w in (None, weight, weight / 7):
        oracle = sk.f1_score(Y, P, average=AVERAGES[average], zero_division=0, sample_weight=w)
        assert_allclose(getattr(ours, f"{average}_f1_score")(Y, P, sample_weight=w), oracle)


def test_hamming_loss_and_subset_accuracy_agree_with_scikit_learn():
    Y, P, weight = tables()
    for w in (None, weight):
        assert_allclose(ours.hamming_loss(Y, P, sample_weight=w), sk.hamming_loss(Y, P, sample_weight=w))
        P[:5] = Y[:5]
        exact = sk.accuracy_score(Y, P, sample_weight=w)
        assert_allclose(ours.subset_accuracy_score(Y, P, sample_weight=w), exact)


def test_shapes_must_match():
    with pytest.raises(InputError, match="predictions have shape"):
        ours.hamming_loss([[1, 0]], [[1, 0, 1]])


def test_entries_that_were_not_observed_are_left_out():
    Y, P, weight = tables()
    unknown = np.random.default_rng(1).random(Y.shape) < 0.3
    unknown[0], unknown[:, 6] = True, True  # a row and a label without an observed entry
    truth, seen = np.where(unknown, np.nan, Y), ~unknown
    assert_allclose(
        ours.hamming_loss(truth, P, sample_weight=weight),
        np.average((Y != P)[seen], weights=np.broadcast_to(weight[:, None], Y.shape)[seen]),
    )
    exact = [(Y[i] == P[i])[seen[i]].all() for i in range(1, 40)]
    assert_allclose(ours.subset_accuracy_score(truth, P), np.mean(exact))
    assert_allclose(ours.micro_f1_score(truth, P), sk.f1_score(Y[seen], P[seen]))
    by_row = [sk.f1_score(Y[i, seen[i]], P[i, seen[i]], zero_division=0) for i in range(1, 40)]
    assert_allclose(ours.example_f1_score(truth, P), np.mean(by_row))
    by_label = [sk.f1_score(Y[seen[:, j], j], P[seen[:, j], j], zero_division=0) for j in range(6)]
    assert_allclose(ours.macro_f1_score(truth, P), np.mean(by_label))
