"""`evaluate`, and the `Evaluation` that it returns."""

import copy
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics as sk

from mltsk.exceptions import DegenerateScoresWarning
from mltsk.metrics import (
    Evaluation,
    evaluate,
    evaluation,
    five_metrics,
    hamming_loss,
    micro_f1_score,
)

RANKING_KEYS = ["AP", "OE", "RL", "CV"]
FIVE_KEYS = ["AP", "HL", "OE", "RL", "CV"]
SET_KEYS = ["micro_F1", "macro_F1", "example_F1", "subset_accuracy"]
LABEL_COLUMNS = ["prevalence", "AP", "AUC", "sensitivity", "precision", "Brier"]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    Y = (rng.random((30, 5)) < 0.4).astype(int)
    return Y, rng.normal(0.5, 0.4, size=(30, 5))


# --- the overall metrics


def test_evaluate_has_the_documented_keys_in_order(data):
    result = evaluate(*data)
    assert list(result) == [*FIVE_KEYS, *SET_KEYS, "tied_rows"]
    assert all(type(value) is float for value in result.values())


@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_evaluate_begins_with_the_five_metrics(data, convention):
    result = evaluate(*data, convention=convention, threshold=0.3)
    five = five_metrics(*data, convention=convention, threshold=0.3)
    assert_allclose([result[key] for key in FIVE_KEYS], five)


def test_evaluate_takes_a_threshold_per_label(data):
    Y, scores = data
    cut = np.linspace(0.2, 0.8, 5)
    result = evaluate(Y, scores, threshold=cut)
    assert result["HL"] == pytest.approx(hamming_loss(Y, scores >= cut))
    assert result["micro_F1"] == pytest.approx(micro_f1_score(Y, scores >= cut))


def test_evaluate_takes_predictions_instead_of_a_threshold(data):
    Y, scores = data
    result = evaluate(Y, scores, predictions=Y)
    assert result["HL"] == 0.0
    assert result["micro_F1"] == 1.0
    assert result["subset_accuracy"] == 1.0
    assert result["AP"] == evaluate(Y, scores)["AP"]


def test_evaluate_takes_tables_in_many_forms(data):
    Y, scores = data
    expected = evaluate(Y, scores)
    assert evaluate(sparse.csr_array(Y), scores.tolist()) == expected
    assert evaluate(pd.DataFrame(Y), pd.DataFrame(scores)) == expected


def test_evaluate_warns_of_a_model_of_ties():
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    scores = np.array([[0, 0, 0], [1, 1, 1], [0.1, 0.2, 0.3]], dtype=float)
    with pytest.warns(DegenerateScoresWarning, match="67% of the rows") as warned:
        result = evaluate(Y, scores, convention="paper")
    assert warned[0].filename == __file__
    assert result["OE"] == 0.0
    assert result["tied_rows"] == pytest.approx(2 / 3)


def test_evaluate_does_not_warn_where_half_of_the_rows_are_tied():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate([[1, 0], [1, 0]], [[0, 0], [0, 1]])["tied_rows"] == 0.5


def test_evaluate_counts_rows_of_nan_as_tied():
    with pytest.warns(DegenerateScoresWarning):
        result = evaluate([[1, 0]], [[np.nan, np.nan]], convention="paper")
    assert result["tied_rows"] == 1.0


def test_evaluate_of_one_label_has_set_metrics_but_no_ranking():
    result = evaluate([[1], [0]], [[0.9], [0.2]])
    assert np.isnan([result[key] for key in RANKING_KEYS]).all()
    assert (result["HL"], result["micro_F1"], result["tied_rows"]) == (0.0, 1.0, 0.0)


def test_evaluate_does_not_count_rows_of_weight_zero(data):
    Y, scores = data
    weight = np.r_[np.ones(20), np.zeros(10)]
    weighted = evaluate(Y, scores, sample_weight=weight)
    assert weighted == pytest.approx(evaluate(Y[:20], scores[:20]))


@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_evaluate_does_not_count_rows_without_an_observed_label(data, convention):
    Y, scores = data
    unknown = np.where(np.arange(30)[:, None] < 10, np.nan, Y)
    result = evaluate(unknown, scores, convention=convention)
    expected = evaluate(Y[10:], scores[10:], convention=convention)
    assert result == pytest.approx(expected)


def test_evaluate_of_nothing_observed_is_nan():
    result = evaluate(np.full((3, 2), np.nan), [[0.1, 0.2]] * 3, convention="paper")
    names = [*FIVE_KEYS, "macro_F1", "example_F1"]
    assert np.isnan([result[name] for name in names]).all()


# --- what it returns


def test_evaluation_is_a_dict_that_can_be_copied_pickled_and_written(data):
    result = evaluate(*data)
    assert isinstance(result, Evaluation)
    assert json.loads(json.dumps(result)) == result
    for again in (copy.copy(result), pickle.loads(pickle.dumps(result))):
        assert again == result
        pd.testing.assert_frame_equal(again.per_label, result.per_label)


def test_evaluation_per_label_is_the_table_of_evaluate_and_is_made_once(data):
    table = evaluate(*data, per_label=True, threshold=0.3)
    result = evaluate(*data, threshold=0.3)
    pd.testing.assert_frame_equal(result.per_label, table)
    assert result.per_label is result.per_label


def test_evaluation_makes_its_table_only_when_asked(data, monkeypatch):
    asked = []
    monkeypatch.setattr(
        evaluation, "weighted_ranking", lambda *args: asked.append(args)
    )
    evaluate(*data)
    assert asked == []


def test_evaluation_prints_a_line_per_metric_in_80_columns(data):
    result = evaluate(*data)
    _, overall = str(result).split("\n\n")
    assert overall == result.overall_text()
    header, *lines = overall.splitlines()
    assert header.split() == ["value", "better"]
    assert [line.split()[0] for line in lines] == list(result)
    assert [line.split()[1] for line in lines] == [f"{v:.3f}" for v in result.values()]
    assert all(line.split()[2] in ("higher", "lower") for line in lines)
    assert max(map(len, [header, *lines])) <= 80


def test_evaluation_prints_a_dash_for_nan_and_metrics_that_the_user_added(data):
    result = evaluate([[1, 1], [0, 0]], [[0.9, 0.8], [0.2, 0.3]])
    result["mine"] = 0.5
    lines = result.overall_text().splitlines()
    assert lines[1].split()[:2] == ["AP", "-"]
    assert lines[-1].split() == ["mine", "0.500"]


def test_evaluation_of_one_label_prints_the_metrics_of_that_label():
    result = evaluate([[1], [0], [1], [np.nan]], [[0.9], [0.8], [0.4], [0.1]])
    result["mine"] = 0.5
    header, *lines = str(result).splitlines()
    shown = {line.split()[0]: line.split()[1] for line in lines}
    assert shown == {
        "observed": "3",
        "prevalence": "0.667",
        "AP": "0.833",
        "AUC": "0.500",
        "sensitivity": "0.500",
        "precision": "0.500",
        "Brier": "0.337",
        "mine": "0.500",
    }
    assert max(map(len, [header, *lines])) <= 80


# --- the text of the table per label


@pytest.mark.parametrize("length", [5, 25, 60])
def test_evaluate_per_label_prints_in_80_columns_with_the_metrics_that_matter(
    data, length
):
    names = [letter * length for letter in "abcde"]
    scores = np.clip(data[1], 0, 1)
    truth = pd.DataFrame(data[0], columns=names)
    table = evaluate(truth, scores, per_label=True)
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 80
    header = lines[0].split()
    assert [name for name in header if name in LABEL_COLUMNS[1:5]] == LABEL_COLUMNS[1:5]
    in_text = {*header, *lines[-1].removeprefix("not shown: ").split(", ")}
    assert in_text >= set(table.columns)
    assert lines[2].startswith("a" * min(length, 20))


def test_evaluate_per_label_prints_three_digits_and_no_brier_of_plain_scores():
    table = evaluate(
        [[1, 0], [0, 1], [1, 1]], [[2, 1], [1, 3], [-1, 2]], per_label=True
    )
    assert "Brier" in table
    assert str(table).splitlines() == [
        "       observed  prevalence    AP   AUC  sensitivity  precision",
        "label                                                          ",
        "0             3       0.667 0.833 0.500        0.500      0.500",
        "1             3       0.667 1.000 1.000        1.000      0.667",
    ]


def test_evaluate_per_label_becomes_a_plain_frame_in_pandas_hands(data):
    table = evaluate(*data, per_label=True)
    assert type(table.round(2)) is pd.DataFrame
    assert type(table[["AP"]]) is pd.DataFrame


# --- the table per label


def test_evaluate_per_label_is_scikit_learns_on_the_observed_samples(data):
    Y, scores = data[0], np.clip(data[1], 0, 1).round(1)
    weight = np.random.default_rng(1).integers(0, 3, size=30).astype(float)
    hidden = np.random.default_rng(2).random(Y.shape) < 0.2
    truth = pd.DataFrame(np.where(hidden, np.nan, Y), columns=list("abcde"))
    table = evaluate(truth, scores, per_label=True, threshold=0.4, sample_weight=weight)
    assert list(table.columns) == ["observed", *LABEL_COLUMNS]
    assert list(table.index) == list("abcde")
    for j, row in enumerate(table.itertuples(index=False)):
        seen = ~hidden[:, j]
        y = Y[seen, j]
        s = scores[seen, j]
        w = weight[seen]
        expected = [
            seen.sum(),
            np.average(y, weights=w),
            sk.average_precision_score(y, s, sample_weight=w),
            sk.roc_auc_score(y, s, sample_weight=w),
            sk.recall_score(y, s >= 0.4, sample_weight=w),
            sk.precision_score(y, s >= 0.4, sample_weight=w),
            sk.brier_score_loss(y, s, sample_weight=w),
        ]
        assert_allclose(row, expected)


def test_evaluate_per_label_is_nan_where_a_label_does_not_define_it():
    Y = [[1, 0, 1], [0, 0, np.nan]]
    scores = [[np.inf, 0.1, 0.9], [-2.0, 0.2, 0.1]]
    table = evaluate(Y, scores, per_label=True)
    assert_allclose(table["AUC"], [1.0, np.nan, np.nan])
    assert_allclose(table["sensitivity"], [1.0, np.nan, 1.0])
    assert_allclose(table["precision"], [1.0, np.nan, 1.0])
    assert table["Brier"].isna().all()  # these scores are no probabilities


def test_evaluate_per_label_ties_infinite_scores_and_ranks_nan_first():
    Y = [[1, 1], [0, 0], [1, 0]]
    scores = [[np.nan, np.inf], [0.9, np.inf], [0.1, 0.0]]
    table = evaluate(Y, scores, per_label=True, convention="paper")
    assert_allclose(table[["AP", "AUC"]], [[5 / 6, 0.5], [0.5, 0.75]])


def test_evaluate_per_label_of_a_polars_frame_is_one(data):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    truth = pd.DataFrame(data[0], columns=list("abcde"))
    table = evaluate(polars.from_pandas(truth), data[1], per_label=True)
    expected = evaluate(truth, data[1], per_label=True).reset_index()
    pd.testing.assert_frame_equal(table.to_pandas(), expected)
