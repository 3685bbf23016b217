import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics as sk

from mltsk.exceptions import DegenerateScoresWarning, InputError
from mltsk.metrics import (
    evaluate,
    evaluation,
    five_metrics,
    hamming_loss,
    micro_f1_score,
)

KEYS = [
    "AP",
    "HL",
    "OE",
    "RL",
    "CV",
    "micro_F1",
    "macro_F1",
    "example_F1",
    "subset_accuracy",
    "tied_rows",
]


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
    assert (result["HL"], result["micro_F1"], result["subset_accuracy"]) == (
        0.0,
        1.0,
        1.0,
    )
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
        assert (
            evaluate([[1, 0]], [[np.nan, np.nan]], convention="paper")["tied_rows"]
            == 1.0
        )


def test_one_label_has_set_metrics_but_no_ranking():
    result = evaluate([[1], [0]], [[0.9], [0.2]])
    assert np.isnan([result[key] for key in ("AP", "OE", "RL", "CV")]).all()
    assert (result["HL"], result["micro_F1"], result["tied_rows"]) == (0.0, 1.0, 0.0)


def test_unweighted_rows_do_not_count(data):
    Y, scores = data
    weight = np.r_[np.ones(20), np.zeros(10)]
    weighted = evaluate(Y, scores, sample_weight=weight)
    assert weighted == pytest.approx(evaluate(Y[:20], scores[:20]))


def test_rows_without_an_observed_label_do_not_count(data):
    Y, scores = data
    unknown = np.where(np.arange(30)[:, None] < 10, np.nan, Y)
    for convention in ("paper", "standard"):
        found = evaluate(unknown, scores, convention=convention)
        assert found == pytest.approx(
            evaluate(Y[10:], scores[10:], convention=convention)
        )


def test_nothing_observed_is_nan_and_not_a_number_of_a_metric():
    found = evaluate(np.full((3, 2), np.nan), [[0.1, 0.2]] * 3, convention="paper")
    assert np.isnan(
        [
            found[name]
            for name in ("AP", "HL", "OE", "RL", "CV", "macro_F1", "example_F1")
        ]
    ).all()


def test_table_per_label_is_that_of_scikit_learn_on_the_observed_samples(data):
    Y, scores = data[0], np.clip(data[1], 0, 1).round(1)
    weight = np.random.default_rng(1).integers(0, 3, size=30).astype(float)
    truth = pd.DataFrame(
        np.where(np.random.default_rng(2).random(Y.shape) < 0.2, np.nan, Y),
        columns=list("abcde"),
    )
    table = evaluate(truth, scores, per_label=True, threshold=0.4, sample_weight=weight)
    assert list(table.columns) == [
        "observed",
        "prevalence",
        "AP",
        "AUC",
        "sensitivity",
        "precision",
        "Brier",
    ]
    assert list(table.index) == list("abcde")
    for name, row in table.iterrows():
        seen = truth[name].notna().to_numpy()
        y, s, w = (
            truth[name][seen].astype(int),
            scores[seen, "abcde".index(name)],
            weight[seen],
        )
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


def test_what_a_label_does_not_define_is_nan():
    Y, scores = [[1, 0, 1], [0, 0, np.nan]], [[np.inf, 0.1, 0.9], [-2.0, 0.2, 0.1]]
    table = evaluate(Y, scores, per_label=True)
    assert_allclose(table["AUC"], [1.0, np.nan, np.nan])
    assert_allclose(table["sensitivity"], [1.0, np.nan, 1.0])
    assert_allclose(table["precision"], [1.0, np.nan, 1.0])
    assert table["Brier"].isna().all()  # these scores are no probabilities


def test_scores_of_a_label_may_be_tied_at_infinity_and_nan_ranks_first():
    Y, scores = [[1, 1], [0, 0], [1, 0]], [[np.nan, np.inf], [0.9, np.inf], [0.1, 0.0]]
    table = evaluate(Y, scores, per_label=True, convention="paper")
    assert_allclose(table[["AP", "AUC"]], [[5 / 6, 0.5], [0.5, 0.75]])


def test_the_table_of_a_polars_frame_is_one(data):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    truth = pd.DataFrame(data[0], columns=list("abcde"))
    table = evaluate(polars.from_pandas(truth), data[1], per_label=True)
    expected = evaluate(truth, data[1], per_label=True).reset_index()
    pd.testing.assert_frame_equal(table.to_pandas(), expected)


# --- metrics of label sets

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
        oracle = sk.f1_score(
            Y, P, average=AVERAGES[average], zero_division=0, sample_weight=w
        )
        assert_allclose(
            getattr(evaluation, f"{average}_f1_score")(Y, P, sample_weight=w), oracle
        )


def test_hamming_loss_and_subset_accuracy_agree_with_scikit_learn():
    Y, P, weight = tables()
    for w in (None, weight):
        assert_allclose(
            evaluation.hamming_loss(Y, P, sample_weight=w),
            sk.hamming_loss(Y, P, sample_weight=w),
        )
        P[:5] = Y[:5]
        exact = sk.accuracy_score(Y, P, sample_weight=w)
        assert_allclose(evaluation.subset_accuracy_score(Y, P, sample_weight=w), exact)


def test_shapes_must_match():
    with pytest.raises(InputError, match="predictions have shape"):
        evaluation.hamming_loss([[1, 0]], [[1, 0, 1]])


def test_entries_that_were_not_observed_are_left_out():
    Y, P, weight = tables()
    unknown = np.random.default_rng(1).random(Y.shape) < 0.3
    unknown[0], unknown[:, 6] = (
        True,
        True,
    )  # a row and a label without an observed entry
    truth, seen = np.where(unknown, np.nan, Y), ~unknown
    assert_allclose(
        evaluation.hamming_loss(truth, P, sample_weight=weight),
        np.average(
            (Y != P)[seen], weights=np.broadcast_to(weight[:, None], Y.shape)[seen]
        ),
    )
    exact = [(Y[i] == P[i])[seen[i]].all() for i in range(1, 40)]
    assert_allclose(evaluation.subset_accuracy_score(truth, P), np.mean(exact))
    assert_allclose(evaluation.micro_f1_score(truth, P), sk.f1_score(Y[seen], P[seen]))
    by_row = [
        sk.f1_score(Y[i, seen[i]], P[i, seen[i]], zero_division=0) for i in range(1, 40)
    ]
    assert_allclose(evaluation.example_f1_score(truth, P), np.mean(by_row))
    by_label = [
        sk.f1_score(Y[seen[:, j], j], P[seen[:, j], j], zero_division=0)
        for j in range(6)
    ]
    assert_allclose(evaluation.macro_f1_score(truth, P), np.mean(by_label))
