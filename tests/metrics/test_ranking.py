import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
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
from mltsk.metrics.ranking import is_paper, row_metrics

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
    Y[:, 0], Y[:, 1] = 1, 0
    return (
        Y,
        rng.integers(0, levels, size=(n, n_labels)) / 4.0,
        rng.integers(0, 4, size=n).astype(float),
    )


def test_standard_metrics_agree_with_scikit_learn_on_tied_scores():
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
    five = dict(
        zip(
            FIVE_METRICS,
            five_metrics(Y, scores, convention=convention, sample_weight=weight),
            strict=True,
        )
    )
    single = [
        f(Y, scores, convention=convention, sample_weight=weight) for f in RANKING
    ]
    assert_allclose([five[name] for name in ("AP", "OE", "RL", "CV")], single)


def test_many_tables_at_once_are_evaluated_one_by_one():
    Y, _, weight = block()
    tables = np.random.default_rng(2).integers(0, 5, size=(5, *Y.shape)) / 4.0
    together = five_metrics(Y, tables, convention="paper", sample_weight=weight)
    assert_allclose(
        together,
        [five_metrics(Y, t, convention="paper", sample_weight=weight) for t in tables],
    )
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


def test_coverage_as_the_paper_prints_it_is_not_divided_by_the_number_of_labels():
    Y, _, weight = block()
    scores = np.random.default_rng(4).normal(size=Y.shape)
    expected = sk.coverage_error(Y, scores, sample_weight=weight) - 1
    for convention in ("paper", "standard"):
        printed = coverage_error(
            Y, scores, convention=convention, normalize=False, sample_weight=weight
        )
        assert printed == pytest.approx(expected)
    unseen = np.where(
        np.arange(9) < 7, Y, np.nan
    )  # two labels of nine were not observed
    assert coverage_error(unseen, scores, normalize=False) == pytest.approx(
        7 * coverage_error(unseen, scores)
    )


@pytest.mark.parametrize("metric", RANKING)
def test_no_row_to_count_gives_nan(metric):
    assert np.isnan(metric([[1], [0]], [[0.3], [0.6]]))


@pytest.mark.parametrize("metric", RANKING)
def test_nan_scores_need_the_paper_convention(metric):
    Y, scores = [[1, 0]], [[0.1, np.nan]]
    assert np.isfinite(metric(Y, scores, convention="paper"))
    with pytest.raises(InputError, match="NaN"):
        metric(Y, scores)


def test_labels_that_were_not_observed_are_none_of_the_rows_labels():
    Y, scores, weight = block()
    hidden = np.random.default_rng(3).random(Y.shape) < 0.3
    hidden[0], hidden[1] = (
        True,
        Y[1] == 1,
    )  # a row without an observed label, one without an observed positive
    truth, seen = np.where(hidden, np.nan, Y), np.flatnonzero(~hidden.all(axis=1))
    for convention in ("paper", "standard"):
        rows = [(Y[i, ~hidden[i]][None], scores[i, ~hidden[i]][None]) for i in seen]
        each = np.array(
            [five_metrics(y, s, convention=convention) for y, s in rows]
        )  # NaN where a row does not count
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
    Y, scores = rng.random((40, 7)) < 0.4, rng.normal(size=(30, 40, 7)).round(1)
    Y[0], Y[1] = 0, 1
    scores[3], scores[4, :, :3] = 0.0, -0.0
    if nan:
        scores[5:8][rng.random((3, 40, 7)) < 0.3] = np.nan
        scores[9, 2] = np.nan
    return Y, scores, rng.random(40)


@needs_torch
@pytest.mark.parametrize("convention", ["paper", "standard"])
def test_metrics_of_tensors_are_those_of_arrays(convention):
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
def test_one_table_and_a_table_of_labels_each():
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
def test_what_does_not_fit_is_refused(Y, scores, message):
    Y = Y if "there too" in message else torch.as_tensor(Y)
    with pytest.raises(InputError, match=message):
        five_metrics(Y, torch.as_tensor(scores))


# --- rows in both conventions: 1 a tie, 2 all tied, 3 empty, 4 full, 5 two ties

SCORES = np.array(
    [
        [0.9, 0.5, 0.5, 0.1],
        [0, 0, 0, 0],
        [0.2, 0.8, 0.6, 0.4],
        [0.3, 0.2, 0.1, 0],
        [0.7, 0.7, 0.2, 0.2],
    ]
)
LABELS = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=bool
)


def test_rows_of_the_paper_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=True)
    assert_allclose(ap, [1.0, 5 / 6, 0.0, 1.0, 0.75])
    assert_allclose(oe, [0, 0, 1, 0, 0])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.5])


def test_rows_of_the_standard_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=False)
    assert_allclose(ap, [5 / 6, 0.5, 0.0, 1.0, 0.5])
    assert_allclose(oe, [0, 0.5, 1, 0, 0.5])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.75])


def rows(scores, labels, paper=False):
    return row_metrics(
        np.atleast_2d(labels).astype(bool),
        np.atleast_2d(np.asarray(scores, dtype=float)),
        paper,
    )


def test_scores_that_differ_in_the_last_bit_are_told_apart():
    above = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, above), (above, np.nextafter(above, 2.0)), (-above, -1.0)):
        assert_allclose(rows([high, low], [1, 0])[:, 0], [1, 0, 0, 0])
        assert_allclose(rows([high, low], [0, 1])[:, 0], [0.5, 1, 1, 0.5])


def test_signed_zeros_are_equal():
    assert_allclose(rows([0.0, -0.0], [1, 0]), rows([0.0, 0.0], [1, 0]))


def test_infinite_scores_are_ordered():
    assert_allclose(
        rows([np.inf, 0.0, -np.inf, np.inf], [1, 1, 1, 0]),
        rows([2, 1, 0, 2], [1, 1, 1, 0]),
    )


@pytest.mark.parametrize("paper", [True, False])
def test_blocks_and_the_order_in_memory_do_not_show_and_scores_are_not_written_to(
    paper,
):
    rng = np.random.default_rng(0)
    scores, labels = (
        rng.integers(0, 9, size=(400, 200)) / 4.0,
        rng.random((400, 200)) < 0.4,
    )  # more than one block
    before, parts = (
        scores.copy(),
        [
            row_metrics(labels[i], scores[i], paper)
            for i in (slice(99), slice(99, None))
        ],
    )
    assert_array_equal(
        row_metrics(labels, np.asfortranarray(scores), paper), np.hstack(parts)
    )
    assert_array_equal(scores, before)


def test_rows_with_and_without_ties_are_counted_to_the_same_bit():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(50, 60)), rng.random((50, 60)) < 0.3
    infinite = np.where(
        scores == scores.max(axis=1, keepdims=True), np.inf, scores
    )  # takes the slower way
    for paper in (True, False):
        assert_array_equal(
            row_metrics(labels, infinite, paper), row_metrics(labels, scores, paper)
        )


def test_paper_averages_leave_out_full_rows_except_for_coverage():
    expected = [2.583333333333333 / 4, 0.55, 0.25, 0.5, 0.45]
    assert_allclose(five_metrics(LABELS, SCORES, convention="paper"), expected)


def test_standard_averages_leave_out_empty_and_full_rows():
    rows = [0, 1, 4]
    expected = five_metrics(LABELS[rows], SCORES[rows])
    got = five_metrics(LABELS, SCORES)
    assert_allclose(got[[0, 2, 3, 4]], expected[[0, 2, 3, 4]])
    assert got[1] == 0.55  # Hamming loss counts every row


def test_a_fold_of_nan_looks_like_a_win_under_the_paper_convention():
    labels = LABELS[[0, 1, 4]]
    tied, nan = (
        five_metrics(labels, np.full((3, 4), value), convention="paper")
        for value in (0.0, np.nan)
    )
    assert_allclose(nan[[0, 4]], tied[[0, 4]])  # AP, CV: as if tied
    assert_allclose(nan[[2, 3]], [1.0, 0.0])  # OE: always an error; RL: never one


def test_a_single_nan_ranks_first_but_is_in_no_pair_and_never_the_maximum():
    labels, scores = (
        np.array([[True, False, True, False]]),
        np.array([[np.nan, 0.9, 0.5, 0.1]]),
    )
    ap, _, oe, rl, cv = five_metrics(labels, scores, convention="paper")
    assert_allclose([ap, oe, rl, cv], [(1 + 2 / 3) / 2, 1.0, 1 / 4, 2 / 4])


def test_unknown_conventions_are_refused():
    with pytest.raises(InputError, match="'authors'"):
        is_paper("authors")
