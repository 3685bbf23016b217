"""What a model is worth, label by label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.judged import judge, miscalibrated

from .judged_labels import label_of


def test_judge_takes_figures_of_rows_that_were_left_out():
    data = make_multilabel_rules(n_samples=120, random_state=0)
    Y = data.Y.astype(float)
    Y[::3, 0] = np.nan
    Y[:, 1] = 0
    clf = MLTSKClassifier(n_rules=2).fit(data.X, Y)
    labels = judge(clf)
    expected = evaluate(Y, clf.loo_scores_, per_label=True)
    assert [label.name for label in labels] == [f"label {j}" for j in range(5)]
    for label, (_, figures) in zip(labels, expected.iterrows(), strict=True):
        value, low, high = label.AP
        assert_allclose(value, figures.AP)
        assert_allclose(label.AUC[0], figures.AUC)
        if label.is_known:
            assert low <= value <= high
    assert labels[0].observed == 80
    assert labels[0].cases == np.nansum(Y[:, 0])
    assert not labels[1].is_known


@pytest.mark.parametrize("visits", [1, 3])
def test_judge_calls_hardly_any_noise_better_than_guessing(visits):
    n_better = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.normal(size=(120, 6)), visits, axis=0)
        Y = np.repeat(rng.random((120, 2)) < 0.25, visits, axis=0).astype(float)
        groups = None if visits == 1 else np.repeat(np.arange(120), visits)
        clf = MLTSKClassifier(threshold="f1").fit(X, Y, groups=groups)
        n_better += sum(label.is_better_than_guessing for label in judge(clf))
    assert n_better <= 1  # of 20 labels


def test_right_probabilities_of_several_labels_are_seldom_called_off():
    p = np.random.default_rng(0).beta(1, 3, 300)
    n_pages = 0
    for page in range(300):
        labels = [label_of(p, p, seed=1 + 1000 * page + j) for j in range(4)]
        n_pages += miscalibrated(labels).any()
    assert n_pages <= 26  # of 300, where 5 % are 15; counting groups gave 60


def test_probabilities_of_too_few_cases_are_not_called_off():
    few = label_of(np.full(300, 0.05), 0.6)
    assert few.rarer < 20
    assert not miscalibrated([few]).any()


def test_small_gaps_of_a_large_table_pass():
    p = np.random.default_rng(0).uniform(0.1, 0.8, 40_000)
    near = label_of(p + 0.03, p)  # beyond chance, but nobody would decide otherwise
    far = label_of(p + 0.06, p)
    rare = label_of(np.full(40_000, 0.02), 0.01)
    assert miscalibrated([near, far, rare]).tolist() == [False, True, True]
