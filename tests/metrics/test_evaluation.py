import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import DegenerateScoresWarning, InputError
from mltsk.metrics import evaluate, five_metrics, hamming_loss, metrics_by_label, micro_f1_score

KEYS = ["AP", "HL", "OE", "RL", "CV", "micro_F1", "macro_F1", "example_F1", "subset_accuracy", "tied_rows"]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return (rng.random((30, 5)) < 0.4).astype(int), rng.normal(0.5, 0.4, size=(30, 5))


def test_keys_are_the_documented_ones_in_order(data):
    assert list(evaluate(*data)) == KEYS
    assert all(type(value) is float for value in evaluate(*data).values())


@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_the_first_five_are_the_five_metrics(data, convention):
    result = evaluate(*data, convention=convention, threshold=0.3)
    five = five_metrics(*data, convention=convention, threshold=0.3)
    assert_allclose([result[key] for key in KEYS[:5]], five)


def test_thresholds_by_label_make_the_predictions(data):
    Y, scores = data
    cut = np.linspace(0.2, 0.8, 5)
    result = evaluate(Y, scores, threshold=cut)
    assert result["HL"] == pytest.approx(hamming_loss(Y, scores >= cut))
    assert result["micro_F1"] == pytest.approx(micro_f1_score(Y, scores >= cut))


def test_given_predictions_take_the_place_of_the_threshold(data):
    Y, scores = data
    result = evaluate(Y, scores, predictions=Y)
    assert (result["HL"], result["micro_F1"], result["subset_accuracy"]) == (0.0, 1.0, 1.0)
    assert result["AP"] == evaluate(Y, scores)["AP"]


def test_tables_come_in_many_forms(data):
    Y, scores = data
    expected = evaluate(Y, scores)
    assert evaluate(sparse.csr_array(Y), scores.tolist()) == expected
    assert evaluate(pd.DataFrame(Y), pd.DataFrame(scores)) == expected


def test_a_model_of_ties_is_reported_and_warned_about():
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    scores = np.array([[0, 0, 0], [1, 1, 1], [0.1, 0.2, 0.3]], dtype=float)
    with pytest.warns(DegenerateScoresWarning, match="67% of the rows"):
        result = evaluate(Y, scores, convention="paper")
    assert (result["OE"], result["tied_rows"]) == (0.0, pytest.approx(2 / 3))


def test_half_of_the_rows_tied_is_not_yet_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate([[1, 0], [1, 0]], [[0, 0], [0, 1]])["tied_rows"] == 0.5


def test_rows_of_nan_are_tied_rows():
    with pytest.warns(DegenerateScoresWarning):
        assert evaluate([[1, 0]], [[np.nan, np.nan]], convention="paper")["tied_rows"] == 1.0


def test_one_label_has_set_metrics_but_no_ranking():
    result = evaluate([[1], [0]], [[0.9], [0.2]])
    assert np.isnan([result[key] for key in ("AP", "OE", "RL", "CV")]).all()
    assert (result["HL"], result["micro_F1"], result["tied_rows"]) == (0.0, 1.0, 0.0)


def test_unweighted_rows_do_not_count(data):
    Y, scores = data
    weight = np.r_[np.ones(20), np.zeros(10)]
    weighted = evaluate(Y, scores, sample_weight=weight)
    assert weighted == pytest.approx(evaluate(Y[:20], scores[:20]))


def test_table_by_label_names_its_rows_and_adds_up_to_the_totals(data):
    Y, scores = data
    table = pd.DataFrame(metrics_by_label(pd.DataFrame(Y, columns=list("abcde")), scores))
    assert list(table["label"]) == list("abcde")
    assert table["HL"].mean() == pytest.approx(evaluate(Y, scores)["HL"])
    assert table["F1"].mean() == pytest.approx(evaluate(Y, scores)["macro_F1"])
    assert_allclose(table["frequency"], Y.mean(axis=0))


def test_label_names_must_be_one_per_label(data):
    with pytest.raises(InputError, match=r"one name per label \(5\), got 2"):
        metrics_by_label(*data, label_names=["a", "b"])
