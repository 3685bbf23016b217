"""Other methods next to a model, on the same folds."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from mltsk import MLTSKClassifier
from mltsk.pages.baselines import (
    FOREST,
    LINEAR,
    OURS,
    BaselineComparison,
    compare,
    draws_of_rows,
)


def comparison_of(ahead, cases=(50, 50)):
    """A comparison of two labels in which the AP of a forest is so much higher."""
    AP = {
        OURS: np.array([0.5, 0.5]),
        "8 statements per label": np.array([0.4, 0.4]),
        LINEAR: np.array([0.4, 0.4]),
        FOREST: np.array([0.6, 0.6]),
    }
    resampled_AP = {
        method: np.tile(each, (len(ahead), 1)) for method, each in AP.items()
    }
    resampled_AP[FOREST] = 0.5 + ahead
    return BaselineComparison(
        rows=100,
        labels=np.array([0, 1]),
        cases=np.array(cases),
        AP=AP,
        AUC=AP,
        drawn_AP={method: np.tile(each, (5, 1)) for method, each in AP.items()},
        resampled_AP=resampled_AP,
    )


def test_leads_are_only_those_beyond_chance():
    noise = np.random.default_rng(0).normal(0.01, 0.1, (50, 2))
    assert comparison_of(noise).leads() == {}
    noise[:, 1] = 0.05
    assert comparison_of(noise).leads()[FOREST].labels.tolist() == [1]


def test_leads_name_no_label_of_few_cases():
    ahead = np.full((50, 2), 0.05)
    leads = comparison_of(ahead, cases=[19, 20]).leads()
    assert leads[FOREST].labels.tolist() == [1]


def test_best_is_the_short_model_unless_the_long_one_is_clearly_better():
    comparison = comparison_of(np.zeros((50, 2)))
    assert comparison.best == OURS
    comparison.AP["8 statements per label"][:] = 0.497
    assert comparison.best == "8 statements per label"


def test_leads_on_average_need_no_label():
    ahead = np.tile([[0.3, -0.1], [-0.1, 0.3]], (25, 1))
    lead = comparison_of(ahead).leads()[FOREST]
    assert lead.on_average
    assert lead.labels.tolist() == []


def test_leads_on_average_need_a_label_that_has_enough_cases():
    ahead = np.full((50, 2), 0.05)
    assert comparison_of(ahead, cases=[19, 14]).leads() == {}


def test_leads_leave_out_what_is_not_known():
    ahead = np.full((50, 2), np.nan)
    assert comparison_of(ahead).leads() == {}
    ahead[:, 1] = 0.05
    assert comparison_of(ahead).leads()[FOREST].labels.tolist() == [1]


@pytest.fixture(scope="module")
def table():
    """Three labels: one that follows from a number, one from a word, and noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "b": rng.normal(size=120),
            "word": rng.choice(["x", "y"], 120),
        }
    )
    Y = np.column_stack([X.a > 0, X.word == "x", rng.random(120) < 0.5]).astype(float)
    X.loc[:20, "b"] = np.nan
    X["word"] = pd.Categorical(X["word"].where(rng.random(120) < 0.9), ordered=False)
    levels = ["low", "high"]
    X["rank"] = pd.Categorical(rng.choice(levels, 120), levels, ordered=True)
    Y[100:, 1] = np.nan
    return X, Y


def test_compare_finds_that_all_learn_what_is_there_and_nothing_else(table):
    folds = []
    comparison = compare(
        MLTSKClassifier(n_rules=0), *table, done=lambda: folds.append(1)
    )
    assert comparison.rows == 120
    assert comparison.labels.tolist() == [0, 1, 2]
    assert len(folds) == 25
    assert comparison.n_draws == 5
    for method in (OURS, LINEAR, FOREST):
        by_number, by_word, noise = comparison.AUC[method]
        assert by_number > 0.95
        assert by_word > 0.8
        assert 0.3 < noise < 0.7
    shapes = {each.shape for each in comparison.resampled_AP.values()}
    assert shapes == {(1000, 3)}


def test_compare_keeps_rows_of_a_group_in_one_fold():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.repeat(rng.normal(size=(50, 4)), 3, axis=0)).add_prefix("x")
    Y = np.repeat(rng.random((50, 1)) < 0.5, 3, axis=0).astype(float)
    groups = np.repeat(np.arange(50), 3)
    apart = compare(MLTSKClassifier(n_rules=0), X, Y)
    together = compare(MLTSKClassifier(n_rules=0), X, Y, groups=groups)
    assert apart.AUC[FOREST][0] > 0.95  # noise that was seen before
    for method in together.AUC:
        assert together.AUC[method][0] < 0.75


def test_draws_of_rows_are_five_of_small_tables_and_two_of_large_ones():
    assert [draws_of_rows(n) for n in (418, 1945, 3000)] == [5, 5, 2]


def test_compare_takes_sparse_rows_and_labels_that_nobody_has():
    X = sparse.csr_array(np.random.default_rng(0).random((60, 5)) > 0.5).astype(float)
    Y = np.zeros((60, 2))
    Y[:, 1] = X.toarray()[:, 0]
    comparison = compare(MLTSKClassifier(n_rules=0), X, Y)
    guess = average_precision_score(Y[:, 1], np.zeros(60))
    assert np.isnan(comparison.AP[FOREST][0])
    assert min(AP[1] for AP in comparison.AP.values()) > guess


def test_leads_warn_of_no_resample_without_any_label():
    ahead = np.full((50, 2), np.nan)
    ahead[10:] = 0.05  # the first resamples hold no positive row
    assert comparison_of(ahead).leads()[FOREST].labels.tolist() == [0, 1]


@pytest.mark.parametrize("size", [1e-310, 1e300])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["table", "sparse"])
def test_compare_takes_numbers_of_any_size(table, size, is_sparse):
    X = table[0][["a", "b"]] * size
    if is_sparse:
        X = sparse.csr_array(X.fillna(0.0).to_numpy())
    AP = compare(MLTSKClassifier(n_rules=0), X, table[1][:, :1]).AP
    assert AP[LINEAR][0] > 0.8
    assert AP[FOREST][0] > 0.8
    assert AP[OURS][0] > 0.8
