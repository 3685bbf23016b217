import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from mltsk.exceptions import InputError
from mltsk.metrics import (
    FIVE_METRICS,
    average_precision_score,
    five_metrics,
    normalised_coverage_error,
    one_error,
    ranking_loss,
)

RANKING = [average_precision_score, one_error, ranking_loss, normalised_coverage_error]


def block(n=60, n_labels=9, levels=6, seed=0):
    """Tied scores, and label sets that are neither empty nor full."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.4).astype(int)
    Y[:, 0], Y[:, 1] = 1, 0
    return Y, rng.integers(0, levels, size=(n, n_labels)) / 4.0, rng.integers(0, 4, size=n).astype(float)


def test_standard_metrics_agree_with_scikit_learn_on_tied_scores():
    Y, scores, weight = block()
    for w in (None, weight):
        expected = [
            sk.label_ranking_average_precision_score(Y, scores, sample_weight=w),
            sk.label_ranking_loss(Y, scores, sample_weight=w),
            (sk.coverage_error(Y, scores, sample_weight=w) - 1) / Y.shape[1],
        ]
        ours = (average_precision_score, ranking_loss, normalised_coverage_error)
        assert_allclose([f(Y, scores, sample_weight=w) for f in ours], expected)


def test_one_error_is_that_of_argmax_without_ties():
    Y, _, _ = block()
    scores = np.random.default_rng(1).normal(size=Y.shape)
    expected = np.mean(Y[np.arange(len(Y)), scores.argmax(axis=1)] == 0)
    for convention in ("paper", "standard"):
        assert one_error(Y, scores, convention=convention) == pytest.approx(expected)


@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_five_metrics_are_the_single_ones(convention):
    Y, scores, weight = block()
    five = dict(zip(FIVE_METRICS, five_metrics(Y, scores, convention=convention, sample_weight=weight), strict=True))
    single = [f(Y, scores, convention=convention, sample_weight=weight) for f in RANKING]
    assert_allclose([five[name] for name in ("AP", "OE", "RL", "CV")], single)


def test_many_tables_at_once_are_evaluated_one_by_one(monkeypatch):
    monkeypatch.setattr("mltsk.metrics.ranking._BLOCK_SIZE", 1200)  # two tables of 60 x 9 a block
    Y, _, weight = block()
    tables = np.random.default_rng(2).integers(0, 5, size=(5, *Y.shape)) / 4.0
    together = five_metrics(Y, tables, convention="paper", sample_weight=weight)
    assert_allclose(together, [five_metrics(Y, t, convention="paper", sample_weight=weight) for t in tables])
    assert five_metrics(Y, tables[:0]).shape == (0, 5)


def test_a_weight_of_two_is_a_row_twice_and_zero_is_no_row():
    Y, scores, weight = block()
    repeats = weight.astype(int)
    expected = five_metrics(Y.repeat(repeats, axis=0), scores.repeat(repeats, axis=0))
    assert_allclose(five_metrics(Y, scores, sample_weight=weight), expected)


def test_thresholds_can_differ_by_label_and_include_their_value():
    Y, scores = [[1, 1], [0, 0]], [[0.5, 0.2], [0.4, 0.1]]
    assert five_metrics(Y, scores)[1] == 0.25
    assert five_metrics(Y, scores, threshold=[0.5, 0.2])[1] == 0.0


@pytest.mark.parametrize("metric", RANKING)
def test_no_row_to_count_gives_nan(metric):
    assert np.isnan(metric([[1], [0]], [[0.3], [0.6]]))


@pytest.mark.parametrize("metric", RANKING)
def test_nan_scores_need_the_paper_convention(metric):
    Y, scores = [[1, 0]], [[0.1, np.nan]]
    assert np.isfinite(metric(Y, scores, convention="paper"))
    with pytest.raises(InputError, match="NaN"):
        metric(Y, scores)
