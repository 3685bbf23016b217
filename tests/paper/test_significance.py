"""Tests after Friedman: the paper's own numbers, other packages' numbers, names."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scikit_posthocs import posthoc_nemenyi_friedman
from scipy import stats

from mltsk.exceptions import InputError
from mltsk.paper.experiments.published import (
    METRICS,
    PAPER_METHODS,
    published_table,
    table_i,
    table_vi,
)
from mltsk.paper.significance import (
    bonferroni_dunn,
    critical_difference_diagram,
    friedman,
    holm,
    nemenyi,
)

RANKS = np.array([1.2, 2.1, 3.6, 3.1])


def table_v(metric):
    """One metric of the paper's Table V, data sets by methods."""
    cells = published_table("V")
    datasets = list(table_i())
    scores = pd.DataFrame(index=datasets, columns=PAPER_METHODS, dtype=float)
    for dataset in datasets:
        for method in PAPER_METHODS:
            scores.loc[dataset, method] = cells[dataset, metric, method].mean
    return scores


def tied_ranks(k):
    """Mean ranks of k methods that do not differ at all."""
    return np.full(k, (k + 1) / 2)


@pytest.mark.parametrize("metric", METRICS)
def test_friedman_gives_the_papers_table_vi_from_its_table_v(metric):
    test = friedman(table_v(metric), greater_is_better=metric == "AP")
    assert round(test.f, 2) == table_vi().F[metric]
    assert round(test.critical_value(0.05), 2) == table_vi().critical_value
    assert test.f > test.critical_value(0.05)
    assert test.p_value < 1e-7


def test_bonferroni_dunn_gives_the_papers_critical_difference():
    ranks = friedman(table_v("AP"), greater_is_better=True).mean_ranks
    result = bonferroni_dunn(ranks, 12, control="ML-TSK FS")
    different = set(ranks.index[result.significant])
    assert round(result.critical_difference, 4) == table_vi().critical_difference
    assert different == {"ML-kNN", "MLSF", "CC", "C2AE", "JBNN"}


@pytest.mark.parametrize("metric", METRICS)
def test_bonferroni_dunn_decides_the_same_with_and_without_the_misprint(metric):
    ranks = friedman(table_v(metric), greater_is_better=metric == "AP").mean_ranks
    printed = bonferroni_dunn(ranks, 12, control="ML-TSK FS")
    exact = bonferroni_dunn(ranks, 12, control="ML-TSK FS", critical_values="exact")
    assert (printed.q, round(exact.q, 3)) == (2.724, 2.734)
    assert printed.significant.equals(exact.significant)


DEMSAR = {  # his Table 5(b), for two to ten methods
    0.05: (1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773),
    0.10: (1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539),
}


@pytest.mark.parametrize("alpha", DEMSAR)
@pytest.mark.parametrize("k", range(2, 11))
def test_bonferroni_dunn_takes_the_printed_critical_values(k, alpha):
    result = bonferroni_dunn(tied_ranks(k), 10, control=0, alpha=alpha)
    assert result.q == DEMSAR[alpha][k - 2]


@pytest.mark.parametrize(("k", "alpha"), [(11, 0.05), (4, 0.01)])
def test_bonferroni_dunn_takes_the_quantile_beyond_the_printed_table(k, alpha):
    result = bonferroni_dunn(tied_ranks(k), 10, control=0, alpha=alpha)
    assert result.q == pytest.approx(stats.norm.isf(alpha / 2 / (k - 1)))


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.344), (4, 2.569), (9, 3.102), (10, 3.164)]
)
def test_nemenyi_takes_the_critical_values_of_the_studentised_range(k, q):
    assert round(nemenyi(tied_ranks(k), 10).q, 3) == q


def test_friedman_with_corrected_ties_is_scipys():
    scores = np.random.default_rng(3).integers(0, 4, (10, 5))
    expected = stats.friedmanchisquare(*scores.T)
    corrected = friedman(scores, greater_is_better=False, correct_ties=True)
    plain = friedman(scores, greater_is_better=False)
    assert_allclose(corrected.chi2, expected.statistic)
    assert plain.chi2 < corrected.chi2
    assert plain.f < corrected.f


def test_friedman_of_scores_is_that_of_negated_losses():
    scores = np.random.default_rng(0).random((6, 4))
    of_scores = friedman(scores, greater_is_better=True)
    of_losses = friedman(-scores, greater_is_better=False)
    assert of_scores.f == of_losses.f
    assert_allclose(of_scores.mean_ranks, of_losses.mean_ranks)
    assert of_scores.mean_ranks.sum() == pytest.approx(10)


def test_nemenyi_agrees_with_another_package():
    scores = np.random.default_rng(1).random((8, 5)) + np.array([0.6, 0.3, 0, 0, 0])
    ours = nemenyi(friedman(scores, greater_is_better=True).mean_ranks, 8)
    assert_allclose(ours.p_values, posthoc_nemenyi_friedman(scores), atol=1e-6)
    assert (ours.significant == (ours.p_values <= 0.05)).all()
    assert ours.significant.any()


def test_friedman_and_nemenyi_take_two_methods():
    test = friedman([[1, 2], [1, 2], [2, 1], [1, 2], [1, 2]], greater_is_better=False)
    assert test.degrees_of_freedom == (1, 4)
    assert_allclose([test.chi2, test.f], [1.8, 2.25])
    assert nemenyi(test.mean_ranks, 5).q == pytest.approx(stats.norm.isf(0.025))


def test_friedman_of_equal_rankings_has_an_infinite_f_and_p_zero():
    test = friedman(np.tile([0.3, 0.1, 0.2], (7, 1)), greater_is_better=True)
    assert (test.f, test.p_value) == (math.inf, 0.0)
    assert_allclose(test.mean_ranks, [1, 3, 2])


@pytest.mark.parametrize("correct_ties", [False, True])
def test_friedman_takes_nothing_but_ties_as_no_evidence(correct_ties):
    test = friedman(np.ones((5, 3)), greater_is_better=True, correct_ties=correct_ties)
    assert (test.chi2, test.f, test.p_value) == (0.0, 0.0, 1.0)
    assert_allclose(test.mean_ranks, 2)


def test_friedman_names_a_missing_cell():
    scores = table_v("AP")
    scores.loc["yeast", "CC"] = np.nan
    with pytest.raises(InputError, match="method 'CC' on data set 'yeast' is missing"):
        friedman(scores, greater_is_better=True)
    with pytest.raises(InputError, match="method 1 on data set 0 is missing"):
        friedman([[1.0, np.nan], [1.0, 2.0]], greater_is_better=True)


@pytest.mark.parametrize("scores", [np.ones((1, 4)), np.ones((4, 1)), np.ones(4)])
def test_friedman_needs_two_data_sets_and_two_methods(scores):
    with pytest.raises(InputError, match="at least two data sets"):
        friedman(scores, greater_is_better=True)


def test_friedman_refuses_text():
    with pytest.raises(InputError, match="table of numbers"):
        friedman([["high", "low"], ["low", "high"]], greater_is_better=True)


def test_bonferroni_dunn_holm_and_nemenyi_answer_by_name_where_ranks_have_names():
    named = pd.Series(RANKS, index=["ours", "CC", "BR", "ML-kNN"])
    by_name = bonferroni_dunn(named, 12, control="ours")
    by_place = bonferroni_dunn(RANKS, 12, control=0)
    expected = {"ours": False, "CC": False, "BR": True, "ML-kNN": True}
    assert by_name.significant.to_dict() == expected
    assert isinstance(by_place.significant, np.ndarray)
    assert_allclose(by_name.rank_differences, by_place.rank_differences)
    assert holm(named, 12, control="ours").adjusted_p_values["BR"] < 1e-4
    assert nemenyi(named, 12).p_values.loc["CC", "CC"] == 1


def test_holm_agrees_with_a_calculation_by_hand():
    result = holm(RANKS, 12, control=-4)
    p = 2 * stats.norm.sf((RANKS[1:] - 1.2) / np.sqrt(20 / 72))
    assert_allclose(result.p_values[1:], p)
    assert_allclose(result.adjusted_p_values, [1, p[0], 3 * p[1], 2 * p[2]])
    assert result.significant.tolist() == [False, False, True, True]


def test_holm_adjusts_p_values_that_never_fall_along_the_steps_nor_pass_one():
    adjusted = holm([2.0, 2.4, 2.5, 3.1], 4, control=0).adjusted_p_values
    assert adjusted[3] == pytest.approx(3 * 2 * stats.norm.sf(1.1 / np.sqrt(20 / 24)))
    assert adjusted[1:3].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_holm_finds_whatever_bonferroni_dunn_finds(seed):
    scores = np.random.default_rng(seed).random((9, 6)) + np.arange(6) / 6
    ranks = friedman(scores, greater_is_better=True).mean_ranks
    dunn = bonferroni_dunn(ranks, 9, control=5, critical_values="exact")
    assert np.all(holm(ranks, 9, control=5).significant >= dunn.significant)


def test_bonferroni_dunn_holm_and_nemenyi_refuse_wrong_arguments_with_a_sentence():
    with pytest.raises(InputError, match="control 'SVM' is not one of the methods"):
        bonferroni_dunn(RANKS, 12, control="SVM")
    with pytest.raises(InputError, match="were scores given instead of ranks"):
        nemenyi([0.8, 0.7, 0.6], 12)
    with pytest.raises(InputError, match="alpha lies between 0 and 1"):
        holm(RANKS, 12, control=0, alpha=5)
    with pytest.raises(InputError, match="on 1 data set:"):
        bonferroni_dunn(RANKS, 1, control=0)
    with pytest.raises(InputError, match="'demsar' or 'exact'"):
        bonferroni_dunn(RANKS, 12, control=0, critical_values="table")
    with pytest.raises(InputError, match="one number per method"):
        nemenyi([[1, 2]], 12)


def test_critical_difference_diagram_draws_only_what_has_a_critical_difference():
    with pytest.raises(InputError, match="bonferroni_dunn or of nemenyi"):
        critical_difference_diagram(holm(RANKS, 12, control=0))
    with pytest.raises(InputError, match="4 methods and 2 names"):
        critical_difference_diagram(nemenyi(RANKS, 12), names=["a", "b"])
