"""The diagram shows every name once, says what the test says, and no text lies on another."""

import io
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.paper.rank_diagram import cliques
from mltsk.paper.significance import bonferroni_dunn, critical_difference_diagram, nemenyi

LONG = [f"Method with a rather long name no. {i} (α = 0.5, $x$)" for i in range(12)]
PATTERNS = {
    "spread": np.linspace(1.2, 11.8, 12),
    "tied": np.full(12, 6.5),
    "two ends": np.array([1.2, 1.2, 1.3, 1.3, 1.4, 1.4, 11.8, 11.8, 11.8, 11.8, 11.6, 11.5]),
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
    return next(text.get_position()[0] for text in figure.axes[0].texts if text.get_text() == str(rank))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n", [5, 60])
def test_no_text_lies_on_another_or_outside(pattern, n):
    for result in (nemenyi(PATTERNS[pattern], n), bonferroni_dunn(PATTERNS[pattern], n, control=3)):
        figure = critical_difference_diagram(result, names=LONG)
        shown = boxes(figure)
        assert sum(text.startswith("Method") for text in shown) == 12
        assert not any(a.overlaps(b) for a, b in combinations(shown.values(), 2))
        assert all(figure.bbox.x0 <= b.x0 and b.x1 <= figure.bbox.x1 and b.y0 >= 0 for b in shown.values())
        assert all(b.y1 <= figure.bbox.y1 for b in shown.values())


def test_better_methods_are_to_the_right():
    figure = critical_difference_diagram(nemenyi([1.2, 2.1, 3.6, 3.1], 12), names=["a", "b", "c", "d"])
    shown = boxes(figure)
    assert place(figure, 1) > place(figure, 4)
    assert shown["a (1.20)"].x0 > shown["c (3.60)"].x1


def test_the_band_is_the_critical_difference_around_the_control():
    result = bonferroni_dunn([3.0, 1.5, 4.5, 3.2, 2.8], 60, control=0)
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    unit = place(figure, 1) - place(figure, 2)
    assert_allclose(band.get_xdata(), place(figure, 3) + np.array([-1, 1]) * result.critical_difference * unit)


def test_a_band_never_reaches_a_method_that_differs():
    result = bonferroni_dunn([1.0, 2.0, 3.0 - 1e-9, 4.0], 8, control=0)  # CD 1.545: the band ends between 2 and 3
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    assert place(figure, 3) < band.get_xdata()[0] < place(figure, 2)
    assert band.get_xdata()[1] == pytest.approx(place(figure, 1))  # cut at the end of the scale


def test_one_bar_for_each_group_of_nemenyi():
    assert len(bars(critical_difference_diagram(nemenyi([1.2, 2.1, 3.6, 3.1], 12)))) == 3
    assert bars(critical_difference_diagram(nemenyi([1.0, 2.0, 3.0], 100))) == []


def test_groups_are_what_is_less_than_the_critical_difference_apart():
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.0) == ()
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.01) == ((0, 1), (1, 2))
    assert cliques(np.array([2.0, 2.0, 2.0]), 0.5) == ((0, 1, 2),)


def test_a_critical_difference_longer_than_the_scale_is_told_in_words():
    figure = critical_difference_diagram(nemenyi([1.25, 1.75], 2), names=["a", "b"])
    assert "CD = 1.39, longer than the scale" in boxes(figure)


def test_the_control_is_bold_and_names_are_shown_as_they_are():
    result = bonferroni_dunn([1.2, 2.1, 2.7], 12, control=1)
    figure = critical_difference_diagram(result, names=["a", "$b$", "c"])
    bold = [text.get_text() for text in figure.axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["$b$ (2.10)"]
    figure.savefig(io.BytesIO(), format="svg")
