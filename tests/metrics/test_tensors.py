"""The five metrics of tensors are those of arrays, with ties, NaN, empty and full rows, weights and batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.backend import asnumpy
from mltsk.exceptions import InputError
from mltsk.metrics import five_metrics, tensors

torch = pytest.importorskip("torch", reason="torch is not installed: tensors cannot be tested")


def tables(nan):
    rng = np.random.default_rng(0)
    Y, scores = rng.random((40, 7)) < 0.4, rng.normal(size=(30, 40, 7)).round(1)
    Y[0], Y[1] = 0, 1
    scores[3], scores[4, :, :3] = 0.0, -0.0
    if nan:
        scores[5:8][rng.random((3, 40, 7)) < 0.3] = np.nan
        scores[9, 2] = np.nan
    return Y, scores, rng.random(40)


@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_metrics_of_tensors_are_those_of_arrays(convention, monkeypatch):
    Y, scores, w = tables(nan=convention == "paper")
    cut = np.linspace(-1, 1, 7)
    expected = five_metrics(Y, scores, convention=convention, threshold=cut, sample_weight=w)
    options = {"convention": convention, "threshold": torch.as_tensor(cut), "sample_weight": torch.as_tensor(w)}
    monkeypatch.setattr(tensors, "_ENTRIES", 1000)  # several parts
    found = five_metrics(torch.as_tensor(Y), torch.as_tensor(scores), **options)
    assert found.dtype == torch.float64
    assert_allclose(asnumpy(found), expected, atol=1e-14)


def test_one_table_and_a_table_of_labels_each():
    Y, scores, _ = tables(nan=False)
    one = five_metrics(torch.as_tensor(Y), torch.as_tensor(scores[0]))
    assert_allclose(asnumpy(one), five_metrics(Y, scores[0]), atol=1e-14)
    each = np.stack([Y, ~Y])
    found = five_metrics(torch.as_tensor(each), torch.as_tensor(scores[:2]))
    assert_allclose(asnumpy(found), [five_metrics(y, s) for y, s in zip(each, scores[:2], strict=True)], atol=1e-14)


@pytest.mark.parametrize(
    ("Y", "scores", "message"),
    [
        ([[0, 1]], [[0.1, 0.2]], "Y must be one there too"),
        ([[0, 2]], [[0.1, 0.2]], "Y must hold 0 and 1"),
        ([[0, 1, 0]], [[0.1, 0.2]], "Y must hold 0 and 1 for every score"),
        ([[0, 1]], [[0.1, float("nan")]], "scores hold NaN"),
    ],
)
def test_what_does_not_fit_is_refused(Y, scores, message):
    Y = Y if "there too" in message else torch.as_tensor(Y)
    with pytest.raises(InputError, match=message):
        five_metrics(Y, torch.as_tensor(scores))
