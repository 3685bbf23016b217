import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.exceptions import InputError
from mltsk.metrics.threshold_search import METRICS, Cuts, best_threshold, best_thresholds, get_metric

ONES = np.ones(2)


def small_problem(seed):
    """Few rows, so that every threshold can be tried; tied scores in half of the cases."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 7), rng.integers(1, 4)
    scores = rng.integers(0, 5, size=shape) / 4.0 if seed % 2 else rng.normal(size=shape)
    weight = rng.integers(1, 4, size=shape[0]).astype(float)
    return rng.random(shape) < 0.5, scores, weight


def candidates(scores):
    return np.append(np.unique(scores), scores.max() + 1)


@pytest.mark.parametrize("metric", METRICS)
def test_one_threshold_is_the_best_there_is(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        value = lambda t: METRICS[metric](Y, scores >= t, sample_weight=weight)  # noqa: B023, E731
        best = max(value(t) for t in candidates(scores))
        assert value(best_threshold(Y, scores, metric, 0.5, weight)) == pytest.approx(best)


@pytest.mark.parametrize("metric", ["hamming", "macro_f1", "micro_f1"])
def test_thresholds_per_label_are_the_best_there_are(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        value = lambda t: METRICS[metric](Y, scores >= np.array(t), sample_weight=weight)  # noqa: B023, E731
        best = max(value(t) for t in itertools.product(*(candidates(column) for column in scores.T)))
        assert value(best_thresholds(Y, scores, metric, 0.5, weight)) == pytest.approx(best)


@pytest.mark.parametrize("metric", ["example_f1", "subset_accuracy"])
def test_coordinate_ascent_ends_where_no_single_label_can_gain(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        found = best_thresholds(Y, scores, metric, best_threshold(Y, scores, metric, 0.5, weight), weight)
        value = METRICS[metric](Y, scores >= found, sample_weight=weight)
        for label, column in enumerate(scores.T):
            for t in candidates(column):
                other = np.where(np.arange(len(found)) == label, t, found)
                assert METRICS[metric](Y, scores >= other, sample_weight=weight) <= value + 1e-9


def test_micro_f1_holds_fixed_labels_at_the_reference():
    rng = np.random.default_rng(0)
    Y, scores, weight = rng.random((40, 3)) < 0.4, rng.random((40, 3)), np.ones(40)
    tunable = np.array([True, False, True])
    found = best_thresholds(Y, scores, "micro_f1", 0.7, weight, tunable)
    assert found[1] == 0.7
    options = [np.append(np.unique(column), 2.0) for column in scores.T]
    pairs = itertools.product(options[0], [0.7], options[2])
    best = max(METRICS["micro_f1"](Y, scores >= np.array(t)) for t in pairs)
    assert METRICS["micro_f1"](Y, scores >= found) == pytest.approx(best)


def test_a_function_is_maximised_too():
    for seed in range(10):
        Y, scores, weight = small_problem(seed)
        function = METRICS["macro_f1"]
        named = best_thresholds(Y, scores, "macro_f1", 0.5, weight)
        called = best_thresholds(Y, scores, function, 0.5, weight)
        values = [function(Y, scores >= t, sample_weight=weight) for t in (named, called)]
        assert values[0] == pytest.approx(values[1])
        one = best_threshold(Y, scores, function, 0.5, weight)
        best = max(function(Y, scores >= t, sample_weight=weight) for t in candidates(scores))
        assert function(Y, scores >= one, sample_weight=weight) == pytest.approx(best)


def test_the_reference_stays_when_nothing_is_better():
    Y, scores = np.array([[True], [False]]), np.array([[0.8], [0.1]])
    assert best_threshold(Y, scores, "hamming", 0.3, ONES) == 0.3
    assert best_threshold(Y, scores, "hamming", 0.9, ONES) == pytest.approx(0.45)


def test_predicting_nothing_puts_the_threshold_just_above_the_scores():
    Y, scores = np.zeros((2, 1), dtype=bool), np.array([[0.8], [0.9]])
    assert best_threshold(Y, scores, "hamming", 0.5, ONES) == np.nextafter(0.9, 1)


def test_predicting_everything_puts_the_threshold_on_the_lowest_score():
    Y, scores = np.ones((2, 1), dtype=bool), np.array([[0.2], [0.3]])
    assert best_threshold(Y, scores, "hamming", 0.5, ONES) == 0.2


def test_a_tie_cannot_be_cut():
    Y, scores = np.array([[True], [False]]), np.array([[0.7], [0.7]])
    assert best_threshold(Y, scores, "micro_f1", 0.5, ONES) == 0.5


def test_neighbouring_floats_can_be_cut():
    high = np.nextafter(0.7, 1)
    cuts, reference = Cuts.of(np.array([[0.7], [high]])), np.array([0.0])
    assert_array_equal(cuts.thresholds(np.array([1]), reference), [high])


def test_infinite_scores_can_be_cut():
    Y, scores = np.array([[True], [False]]), np.array([[np.inf], [-np.inf]])
    for reference in (-np.inf, 0.5, np.inf):
        assert_array_equal(scores >= best_threshold(Y, scores, "hamming", reference, ONES), Y)


def test_no_tunable_label_leaves_the_reference():
    Y, scores, weight = small_problem(0)
    found = best_thresholds(Y, scores, "macro_f1", 0.25, weight, np.zeros(Y.shape[1], dtype=bool))
    assert_allclose(found, 0.25)


def test_unknown_metrics_are_refused():
    with pytest.raises(InputError, match="metric must be a function or one of micro_f1"):
        get_metric("f1")
