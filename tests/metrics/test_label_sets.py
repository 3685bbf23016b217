"""Metrics of predicted label sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from mltsk.exceptions import InputError
from mltsk.metrics import (
    example_f1_score,
    hamming_loss,
    label_sets,
    macro_f1_score,
    micro_f1_score,
    subset_accuracy_score,
)

AVERAGES = {"example": "samples", "macro": "macro", "micro": "micro"}


def label_tables(seed=0):
    """Rows and labels with nothing true, nothing predicted, and neither."""
    rng = np.random.default_rng(seed)
    Y, P = rng.random((2, 40, 7)) < 0.4
    Y[:4] = False
    P[2:6] = False
    Y[:, 0] = False
    P[:, 0] = False
    P[:, 1] = False
    weight = rng.integers(0, 3, size=40).astype(float)
    return Y.astype(int), P.astype(int), weight


@pytest.mark.parametrize("average", AVERAGES)
def test_f1_score_is_that_of_scikit_learn(average):
    Y, P, weight = label_tables()
    f1_score = getattr(label_sets, f"{average}_f1_score")
    for w in (None, weight, weight / 7):
        expected = sk.f1_score(
            Y, P, average=AVERAGES[average], zero_division=0, sample_weight=w
        )
        assert_allclose(f1_score(Y, P, sample_weight=w), expected)


def test_hamming_loss_is_that_of_scikit_learn():
    Y, P, weight = label_tables()
    for w in (None, weight):
        expected = sk.hamming_loss(Y, P, sample_weight=w)
        assert_allclose(hamming_loss(Y, P, sample_weight=w), expected)


def test_subset_accuracy_score_is_that_of_scikit_learn():
    Y, P, weight = label_tables()
    P[:5] = Y[:5]
    for w in (None, weight):
        expected = sk.accuracy_score(Y, P, sample_weight=w)
        assert_allclose(subset_accuracy_score(Y, P, sample_weight=w), expected)


def test_hamming_loss_refuses_predictions_of_another_shape():
    with pytest.raises(InputError, match="predictions have shape"):
        hamming_loss([[1, 0]], [[1, 0, 1]])


@pytest.fixture
def partly_observed():
    """Labels with NaN, the labels under them, predictions, and observed entries.

    The first row and the last label have no observed entry.
    """
    Y, P, weight = label_tables()
    unknown = np.random.default_rng(1).random(Y.shape) < 0.3
    unknown[0] = True
    unknown[:, 6] = True
    return np.where(unknown, np.nan, Y), Y, P, ~unknown, weight


def test_hamming_loss_leaves_out_what_was_not_observed(partly_observed):
    truth, Y, P, seen, weight = partly_observed
    entry_weight = np.broadcast_to(weight[:, None], Y.shape)
    expected = np.average((Y != P)[seen], weights=entry_weight[seen])
    assert_allclose(hamming_loss(truth, P, sample_weight=weight), expected)


def test_subset_accuracy_score_leaves_out_what_was_not_observed(partly_observed):
    truth, Y, P, seen, _ = partly_observed
    exact = [(Y[i] == P[i])[seen[i]].all() for i in range(1, 40)]
    assert_allclose(subset_accuracy_score(truth, P), np.mean(exact))


def test_micro_f1_score_leaves_out_what_was_not_observed(partly_observed):
    truth, Y, P, seen, _ = partly_observed
    assert_allclose(micro_f1_score(truth, P), sk.f1_score(Y[seen], P[seen]))


def test_example_f1_score_leaves_out_what_was_not_observed(partly_observed):
    truth, Y, P, seen, _ = partly_observed
    by_row = [
        sk.f1_score(Y[i, seen[i]], P[i, seen[i]], zero_division=0) for i in range(1, 40)
    ]
    assert_allclose(example_f1_score(truth, P), np.mean(by_row))


def test_macro_f1_score_leaves_out_what_was_not_observed(partly_observed):
    truth, Y, P, seen, _ = partly_observed
    by_label = [
        sk.f1_score(Y[seen[:, j], j], P[seen[:, j], j], zero_division=0)
        for j in range(6)
    ]
    assert_allclose(macro_f1_score(truth, P), np.mean(by_label))
