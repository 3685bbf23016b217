import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from mltsk.core.arrays import asnumpy
from mltsk.exceptions import InputError
from mltsk.metrics import (
    FIVE_METRICS,
    average_precision_score,
    coverage_error,
    five_metrics,
    one_error,
    ranking_loss,
)
from mltsk.metrics.ranking import is_paper

from .tied_rows import LABELS, SCORES

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(
    torch is None, reason="torch is not installed: tensors cannot be tested"
)
RANKING = [average_precision_score, one_error, ranking_loss, coverage_error]


def block(n=60, n_labels=9, levels=6, seed=0):
    """Tied scores, and label sets that are neither empty nor full."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.4).astype(int)
    Y[:, 0] = 1
    Y[:, 1] = 0
    scores = rng.integers(0, levels, size=(n, n_labels)) / 4.0
    weight = rng.integers(0, 4, size=n).astype(float)
    return Y, scores, weight


def test_average_precision_ranking_loss_and_coverage_are_scikit_learns():
    Y, scores, weight = block()
    for w in (None, weight):
        expected = [
            sk.label_ranking_average_precision_score(Y, scores, sample_weight=w),
            sk.label_ranking_loss(Y, scores, sample_weight=w),
            (sk.coverage_error(Y, scores, sample_weight=w) - 1) / Y.shape[1],
        ]
        ours = (average_precision_score, ranking_loss, coverage_error)
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
    values = five_metrics(Y, scores, convention=convention, sample_weight=weight)
    five = dict(zip(FIVE_METRICS, values, strict=True))
    single = [
        f(Y, scores, convention=convention, sample_weight=weight) for f in RANKING
    ]
    assert_allclose([five[name] for name in ("AP", "OE", "RL", "CV")], single)


def test_five_metrics_of_many_tables_are_those_of_each():
    Y, _, weight = block()
    tables = np.random.default_rng(2).integers(0, 5, size=(5, *Y.shape)) / 4.0
    together = five_metrics(Y, tables, convention="paper", sample_weight=weight)
    assert_allclose(
        together,
        [five_metrics(Y, t, convention="paper", sample_weight=weight) for t in tables],
    )
    assert five_metrics(Y, tables[:0]).shape == (0, 5)


def test_five_metrics_count_a_row_as_often_as_its_weight():
    Y, scores, weight = block()
    repeats = weight.astype(int)
    expected = five_metrics(Y.repeat(repeats, axis=0), scores.repeat(repeats, axis=0))
    assert_allclose(five_metrics(Y, scores, sample_weight=weight), expected)


def test_five_metrics_take_a_threshold_per_label():
    Y, scores = [[1, 1], [0, 0]], [[0.5, 0.2], [0.4, 0.1]]
    assert five_metrics(Y, scores)[1] == 0.25
    assert five_metrics(Y, scores, threshold=[0.5, 0.2])[1] == 0.0


def test_coverage_error_not_normalized_is_the_printed_formula():
    Y, _, weight = block()
    scores = np.random.default_rng(4).normal(size=Y.shape)
    expected = sk.coverage_error(Y, scores, sample_weight=weight) - 1
    for convention in ("paper", "standard"):
        printed = coverage_error(
            Y, scores, convention=convention, normalize=False, sample_weight=weight
        )
        assert printed == pytest.approx(expected)
    unseen = np.where(np.arange(9) < 7, Y, np.nan)  # 2 labels of 9 were not observed
    assert coverage_error(unseen, scores, normalize=False) == pytest.approx(
        7 * coverage_error(unseen, scores)
    )


@pytest.mark.parametrize("metric", RANKING)
def test_ranking_metrics_are_nan_where_no_row_counts(metric):
    assert np.isnan(metric([[1], [0]], [[0.3], [0.6]]))


@pytest.mark.parametrize("metric", RANKING)
def test_ranking_metrics_of_nan_need_the_paper_convention(metric):
    Y, scores = [[1, 0]], [[0.1, np.nan]]
    assert np.isfinite(metric(Y, scores, convention="paper"))
    with pytest.raises(InputError, match="NaN"):
        metric(Y, scores)


def test_five_metrics_leave_out_labels_not_observed():
    Y, scores, weight = block()
    hidden = np.random.default_rng(3).random(Y.shape) < 0.3
    hidden[0] = True  # a row without an observed label
    hidden[1] = Y[1] == 1  # one without an observed positive
    truth = np.where(hidden, np.nan, Y)
    seen = np.flatnonzero(~hidden.all(axis=1))
    for convention in ("paper", "standard"):
        rows = [(Y[i, ~hidden[i]][None], scores[i, ~hidden[i]][None]) for i in seen]
        # NaN where a row does not count.
        each = np.array([five_metrics(y, s, convention=convention) for y, s in rows])
        share = np.repeat(weight[seen, None], 5, axis=1) * ~np.isnan(each)
        share[:, 1] *= [y.size for y, _ in rows]
        expected = np.nansum(each * share, axis=0) / share.sum(axis=0)
        found = five_metrics(
            truth,
            np.stack([scores, -scores]),
            convention=convention,
            sample_weight=weight,
        )
        assert_allclose(found[0], expected)
        single = [
            f(truth, scores, convention=convention, sample_weight=weight)
            for f in RANKING
        ]
        assert_allclose(single, expected[[0, 2, 3, 4]])


def tables(nan):
    rng = np.random.default_rng(0)
    Y = rng.random((40, 7)) < 0.4
    scores = rng.normal(size=(30, 40, 7)).round(1)
    Y[0] = False
    Y[1] = True
    scores[3] = 0.0
    scores[4, :, :3] = -0.0
    if nan:
        scores[5:8][rng.random((3, 40, 7)) < 0.3] = np.nan
        scores[9, 2] = np.nan
    return Y, scores, rng.random(40)


@needs_torch
@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_five_metrics_of_tensors_are_those_of_arrays(convention):
    Y, scores, w = tables(nan=convention == "paper")
    cut = np.linspace(-1, 1, 7)
    expected = five_metrics(
        Y, scores, convention=convention, threshold=cut, sample_weight=w
    )
    options = {
        "convention": convention,
        "threshold": torch.as_tensor(cut),
        "sample_weight": torch.as_tensor(w),
    }
    found = five_metrics(torch.as_tensor(Y), torch.as_tensor(scores), **options)
    assert found.dtype == torch.float64
    assert_allclose(asnumpy(found), expected, atol=1e-14)


@needs_torch
def test_five_metrics_of_tensors_take_a_table_of_labels_each():
    Y, scores, _ = tables(nan=False)
    one = five_metrics(torch.as_tensor(Y), torch.as_tensor(scores[0]))
    assert_allclose(asnumpy(one), five_metrics(Y, scores[0]), atol=1e-14)
    each = np.stack([Y, ~Y])
    found = five_metrics(torch.as_tensor(each), torch.as_tensor(scores[:2]))
    assert_allclose(
        asnumpy(found),
        [five_metrics(y, s) for y, s in zip(each, scores[:2], strict=True)],
        atol=1e-14,
    )


@needs_torch
@pytest.mark.parametrize(
    ("Y", "scores", "message"),
    [
        ([[0, 1]], [[0.1, 0.2]], "Y must be one there too"),
        ([[0, 2]], [[0.1, 0.2]], "Y must hold 0 and 1"),
        ([[0, 1, 0]], [[0.1, 0.2]], "Y must hold 0 and 1 for every score"),
        ([[0, 1]], [[0.1, float("nan")]], "scores hold NaN"),
    ],
)
def test_five_metrics_refuse_tensors_that_do_not_fit(Y, scores, message):
    Y = Y if "there too" in message else torch.as_tensor(Y)
    with pytest.raises(InputError, match=message):
        five_metrics(Y, torch.as_tensor(scores))


# --- rows in both conventions: 1 a tie, 2 all tied, 3 empty, 4 full, 5 two ties


def test_five_metrics_of_the_paper_leave_out_full_rows():
    expected = [2.583333333333333 / 4, 0.55, 0.25, 0.5, 0.45]
    assert_allclose(five_metrics(LABELS, SCORES, convention="paper"), expected)


def test_five_metrics_leave_out_empty_and_full_rows():
    rows = [0, 1, 4]
    expected = five_metrics(LABELS[rows], SCORES[rows])
    got = five_metrics(LABELS, SCORES)
    assert_allclose(got[[0, 2, 3, 4]], expected[[0, 2, 3, 4]])
    assert got[1] == 0.55  # Hamming loss counts every row


def test_five_metrics_of_the_paper_take_a_fold_of_nan_for_a_win():
    labels = LABELS[[0, 1, 4]]
    tied = five_metrics(labels, np.zeros((3, 4)), convention="paper")
    nan = five_metrics(labels, np.full((3, 4), np.nan), convention="paper")
    assert_allclose(nan[[0, 4]], tied[[0, 4]])  # AP, CV: as if tied
    assert_allclose(nan[[2, 3]], [1.0, 0.0])  # OE: always an error; RL: never one


def test_five_metrics_of_the_paper_rank_a_single_nan_first():
    labels = np.array([[True, False, True, False]])
    scores = np.array([[np.nan, 0.9, 0.5, 0.1]])
    ap, _, oe, rl, cv = five_metrics(labels, scores, convention="paper")
    assert_allclose([ap, oe, rl, cv], [(1 + 2 / 3) / 2, 1.0, 1 / 4, 2 / 4])


def test_is_paper_refuses_unknown_conventions():
    with pytest.raises(InputError, match="'authors'"):
        is_paper("authors")
