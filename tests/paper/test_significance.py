"""Tests after Friedman: the paper's own numbers, other packages' numbers, names in and names out; the diagram.

The diagram shows every name once, says what the test says, and no text lies on another.
"""

import io
import math
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scikit_posthocs import posthoc_nemenyi_friedman
from scipy import stats

from mltsk.exceptions import InputError
from mltsk.paper.experiments import published as paper
from mltsk.paper.significance import (
    bonferroni_dunn,
    cliques,
    critical_difference_diagram,
    friedman,
    holm,
    nemenyi,
)

RANKS = np.array([1.2, 2.1, 3.6, 3.1])


def table_v(metric):
    cells = paper.published_table("V")
    columns = {
        method: [cells[d, metric, method].mean for d in paper.table_i()]
        for method in paper.PAPER_METHODS
    }
    return pd.DataFrame(columns, index=list(paper.table_i()))


@pytest.mark.parametrize("metric", paper.METRICS)
def test_the_papers_table_v_gives_its_table_vi(metric):
    test = friedman(table_v(metric), greater_is_better=metric == "AP")
    assert round(test.f, 2) == paper.table_vi().F[metric]
    assert round(test.critical_value(0.05), 2) == paper.table_vi().critical_value
    assert test.f > test.critical_value(0.05)
    assert test.p_value < 1e-7


def test_the_papers_critical_difference():
    ranks = friedman(table_v("AP"), greater_is_better=True).mean_ranks
    result = bonferroni_dunn(ranks, 12, control="ML-TSK FS")
    assert round(result.critical_difference, 4) == paper.table_vi().critical_difference
    assert set(ranks.index[result.significant]) == {
        "ML-kNN",
        "MLSF",
        "CC",
        "C2AE",
        "JBNN",
    }


@pytest.mark.parametrize("metric", paper.METRICS)
def test_the_misprint_of_the_table_decides_nothing_in_the_paper(metric):
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
def test_critical_values_are_the_printed_ones(k, alpha):
    assert (
        bonferroni_dunn(np.full(k, (k + 1) / 2), 10, control=0, alpha=alpha).q
        == DEMSAR[alpha][k - 2]
    )


@pytest.mark.parametrize(("k", "alpha"), [(11, 0.05), (4, 0.01)])
def test_beyond_the_printed_table_critical_values_are_the_quantile(k, alpha):
    result = bonferroni_dunn(np.full(k, (k + 1) / 2), 10, control=0, alpha=alpha)
    assert result.q == pytest.approx(stats.norm.isf(alpha / 2 / (k - 1)))


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.344), (4, 2.569), (9, 3.102), (10, 3.164)]
)
def test_critical_values_of_nemenyi(k, q):
    assert round(nemenyi(np.full(k, (k + 1) / 2), 10).q, 3) == q


def test_friedman_with_corrected_ties_is_scipys():
    scores = np.random.default_rng(3).integers(0, 4, (10, 5))
    expected = stats.friedmanchisquare(*scores.T)
    test = friedman(scores, greater_is_better=False, correct_ties=True)
    assert_allclose(test.chi2, expected.statistic)
    plain = friedman(scores, greater_is_better=False)
    assert plain.chi2 < test.chi2
    assert plain.f < test.f


def test_friedman_of_scores_is_that_of_negated_losses():
    scores = np.random.default_rng(0).random((6, 4))
    up, down = (
        friedman(scores, greater_is_better=True),
        friedman(-scores, greater_is_better=False),
    )
    assert up.f == down.f
    assert_allclose(up.mean_ranks, down.mean_ranks)
    assert up.mean_ranks.sum() == pytest.approx(10)


def test_nemenyi_agrees_with_another_package():
    scores = np.random.default_rng(1).random((8, 5)) + np.array([0.6, 0.3, 0, 0, 0])
    ours = nemenyi(friedman(scores, greater_is_better=True).mean_ranks, 8)
    assert_allclose(ours.p_values, posthoc_nemenyi_friedman(scores), atol=1e-6)
    assert (ours.significant == (ours.p_values <= 0.05)).all()
    assert ours.significant.any()


def test_two_methods():
    test = friedman([[1, 2], [1, 2], [2, 1], [1, 2], [1, 2]], greater_is_better=False)
    assert test.degrees_of_freedom == (1, 4)
    assert_allclose([test.chi2, test.f], [1.8, 2.25])
    assert nemenyi(test.mean_ranks, 5).q == pytest.approx(stats.norm.isf(0.025))


def test_equal_rankings_make_f_infinite_and_p_zero():
    test = friedman(np.tile([0.3, 0.1, 0.2], (7, 1)), greater_is_better=True)
    assert (test.f, test.p_value) == (math.inf, 0.0)
    assert_allclose(test.mean_ranks, [1, 3, 2])


@pytest.mark.parametrize("correct_ties", [False, True])
def test_nothing_but_ties_is_no_evidence(correct_ties):
    test = friedman(np.ones((5, 3)), greater_is_better=True, correct_ties=correct_ties)
    assert (test.chi2, test.f, test.p_value) == (0.0, 0.0, 1.0)
    assert_allclose(test.mean_ranks, 2)


def test_a_missing_cell_is_named():
    scores = table_v("AP")
    scores.loc["yeast", "CC"] = np.nan
    with pytest.raises(InputError, match="method 'CC' on data set 'yeast' is missing"):
        friedman(scores, greater_is_better=True)
    with pytest.raises(InputError, match="method 1 on data set 0 is missing"):
        friedman([[1.0, np.nan], [1.0, 2.0]], greater_is_better=True)


@pytest.mark.parametrize("scores", [np.ones((1, 4)), np.ones((4, 1)), np.ones(4)])
def test_ranks_need_two_data_sets_and_two_methods(scores):
    with pytest.raises(InputError, match="at least two data sets"):
        friedman(scores, greater_is_better=True)


def test_text_is_no_score():
    with pytest.raises(InputError, match="table of numbers"):
        friedman([["high", "low"], ["low", "high"]], greater_is_better=True)


def test_names_come_back_with_every_answer():
    named = pd.Series(RANKS, index=["ours", "CC", "BR", "ML-kNN"])
    by_name, by_place = (
        bonferroni_dunn(named, 12, control="ours"),
        bonferroni_dunn(RANKS, 12, control=0),
    )
    assert by_name.significant.to_dict() == {
        "ours": False,
        "CC": False,
        "BR": True,
        "ML-kNN": True,
    }
    assert isinstance(by_place.significant, np.ndarray)
    assert_allclose(by_name.rank_differences, by_place.rank_differences)
    assert holm(named, 12, control="ours").adjusted_p_values["BR"] < 1e-4
    assert nemenyi(named, 12).p_values.loc["CC", "CC"] == 1


def test_holm_by_hand():
    result = holm(RANKS, 12, control=-4)
    p = 2 * stats.norm.sf((RANKS[1:] - 1.2) / np.sqrt(20 / 72))
    assert_allclose(result.p_values[1:], p)
    assert_allclose(result.adjusted_p_values, [1, p[0], 3 * p[1], 2 * p[2]])
    assert result.significant.tolist() == [False, False, True, True]


def test_adjusted_p_values_never_fall_along_the_steps_nor_pass_one():
    adjusted = holm([2.0, 2.4, 2.5, 3.1], 4, control=0).adjusted_p_values
    assert adjusted[3] == pytest.approx(3 * 2 * stats.norm.sf(1.1 / np.sqrt(20 / 24)))
    assert adjusted[1:3].tolist() == [1.0, 1.0]


def test_holm_finds_whatever_bonferroni_dunn_finds():
    for seed in range(20):
        ranks = friedman(
            np.random.default_rng(seed).random((9, 6)) + np.arange(6) / 6,
            greater_is_better=True,
        )
        dunn = bonferroni_dunn(ranks.mean_ranks, 9, control=5, critical_values="exact")
        assert np.all(
            holm(ranks.mean_ranks, 9, control=5).significant >= dunn.significant
        )


def test_wrong_arguments_are_refused_with_a_sentence():
    with pytest.raises(InputError, match="control 'SVM' is not one of the methods"):
        bonferroni_dunn(RANKS, 12, control="SVM")
    with pytest.raises(InputError, match="were scores given instead of ranks"):
        nemenyi([0.8, 0.7, 0.6], 12)
    with pytest.raises(InputError, match="alpha lies between 0 and 1"):
        holm(RANKS, 12, control=0, alpha=5)
    with pytest.raises(InputError, match="on 1 data set"):
        bonferroni_dunn(RANKS, 1, control=0)
    with pytest.raises(InputError, match="'demsar' or 'exact'"):
        bonferroni_dunn(RANKS, 12, control=0, critical_values="table")
    with pytest.raises(InputError, match="one number per method"):
        nemenyi([[1, 2]], 12)


def test_only_a_critical_difference_can_be_drawn():
    with pytest.raises(InputError, match="bonferroni_dunn or of nemenyi"):
        critical_difference_diagram(holm(RANKS, 12, control=0))
    with pytest.raises(InputError, match="4 methods and 2 names"):
        critical_difference_diagram(nemenyi(RANKS, 12), names=["a", "b"])


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "mltsk\[report\]"'):
        critical_difference_diagram(nemenyi(RANKS, 12))


LONG = [f"Method with a rather long name no. {i} (α = 0.5, $x$)" for i in range(12)]
PATTERNS = {
    "spread": np.linspace(1.2, 11.8, 12),
    "tied": np.full(12, 6.5),
    "two ends": np.array(
        [1.2, 1.2, 1.3, 1.3, 1.4, 1.4, 11.8, 11.8, 11.8, 11.8, 11.6, 11.5]
    ),
    "one apart": np.array([1.0, *np.linspace(6.8, 7.2, 11)]),
}


def boxes(figure):
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in texts}


def bars(figure):
    return [line for line in figure.axes[0].lines if line.get_gid() == "bar"]


def place(figure, rank):
    """Place of a whole rank on the scale, from its printed number."""
    return next(
        text.get_position()[0]
        for text in figure.axes[0].texts
        if text.get_text() == str(rank)
    )


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n", [5, 60])
def test_no_text_lies_on_another_or_outside(pattern, n):
    for result in (
        nemenyi(PATTERNS[pattern], n),
        bonferroni_dunn(PATTERNS[pattern], n, control=3),
    ):
        figure = critical_difference_diagram(result, names=LONG)
        shown = boxes(figure)
        assert sum(text.startswith("Method") for text in shown) == 12
        assert not any(a.overlaps(b) for a, b in combinations(shown.values(), 2))
        assert all(
            figure.bbox.x0 <= b.x0 and b.x1 <= figure.bbox.x1 and b.y0 >= 0
            for b in shown.values()
        )
        assert all(b.y1 <= figure.bbox.y1 for b in shown.values())


def test_better_methods_are_to_the_right():
    figure = critical_difference_diagram(
        nemenyi([1.2, 2.1, 3.6, 3.1], 12), names=["a", "b", "c", "d"]
    )
    shown = boxes(figure)
    assert place(figure, 1) > place(figure, 4)
    assert shown["a (1.20)"].x0 > shown["c (3.60)"].x1


def test_the_band_is_the_critical_difference_around_the_control():
    result = bonferroni_dunn([3.0, 1.5, 4.5, 3.2, 2.8], 60, control=0)
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    unit = place(figure, 1) - place(figure, 2)
    assert_allclose(
        band.get_xdata(),
        place(figure, 3) + np.array([-1, 1]) * result.critical_difference * unit,
    )


def test_a_band_never_reaches_a_method_that_differs():
    result = bonferroni_dunn(
        [1.0, 2.0, 3.0 - 1e-9, 4.0], 8, control=0
    )  # CD 1.545: the band ends between 2 and 3
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    assert place(figure, 3) < band.get_xdata()[0] < place(figure, 2)
    assert band.get_xdata()[1] == pytest.approx(
        place(figure, 1)
    )  # cut at the end of the scale


def test_one_bar_for_each_group_of_nemenyi():
    assert (
        len(bars(critical_difference_diagram(nemenyi([1.2, 2.1, 3.6, 3.1], 12)))) == 3
    )
    assert bars(critical_difference_diagram(nemenyi([1.0, 2.0, 3.0], 100))) == []


def test_groups_are_what_is_less_than_the_critical_difference_apart():
    assert cliques(np.array([1.0, 4.0, 1.5, 2.4]), 1.2) == ((0, 2), (2, 3))
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.0) == ()
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.01) == ((0, 1), (1, 2))
    assert cliques(np.array([2.0, 2.0, 2.0]), 0.5) == ((0, 1, 2),)


def test_a_critical_difference_longer_than_the_scale_is_told_in_words():
    figure = critical_difference_diagram(nemenyi([1.25, 1.75], 2), names=["a", "b"])
    assert "CD = 1.39, longer than the scale" in boxes(figure)


def test_the_control_is_bold_and_names_are_shown_as_they_are():
    result = bonferroni_dunn([1.2, 2.1, 2.7], 12, control=1)
    figure = critical_difference_diagram(result, names=["a", "$b$", "c"])
    bold = [
        text.get_text()
        for text in figure.axes[0].texts
        if text.get_fontweight() == "bold"
    ]
    assert bold == ["$b$ (2.10)"]
    figure.savefig(io.BytesIO(), format="svg")
