"""The diagram shows every name once, says what the test says, and overlaps nowhere."""

import io
import sys
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.paper.critical_difference import cliques
from mltsk.paper.significance import (
    bonferroni_dunn,
    critical_difference_diagram,
    nemenyi,
)

LONG_NAMES = [f"Method with a long name no. {i} (α = 0.5, $x$)" for i in range(12)]
PATTERNS = {
    "spread": np.linspace(1.2, 11.8, 12),
    "tied": np.full(12, 6.5),
    "two ends": np.array([1.2] * 2 + [1.3] * 2 + [1.4] * 2 + [11.8] * 4 + [11.6, 11.5]),
    "one apart": np.array([1.0, *np.linspace(6.8, 7.2, 11)]),
}


def text_boxes(figure):
    """Where each text of a diagram lies."""
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in texts}


def bars(figure):
    """The band, or the bars that join methods."""
    return [line for line in figure.axes[0].lines if line.get_gid() == "bar"]


def place(figure, rank):
    """Place of a whole rank on the scale, from its printed number."""
    for text in figure.axes[0].texts:
        if text.get_text() == str(rank):
            return text.get_position()[0]
    raise AssertionError(f"the scale does not show {rank}")


def test_critical_difference_diagram_says_what_to_install_without_matplotlib(
    monkeypatch,
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "mltsk\[report\]"'):
        critical_difference_diagram(nemenyi([1.2, 2.1, 3.6, 3.1], 12))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("control", [None, 3])
def test_critical_difference_diagram_puts_no_text_on_another_or_outside(
    pattern, n, control
):
    ranks = PATTERNS[pattern]
    if control is None:
        result = nemenyi(ranks, n)
    else:
        result = bonferroni_dunn(ranks, n, control=control)
    figure = critical_difference_diagram(result, names=LONG_NAMES)
    boxes = text_boxes(figure)
    page = figure.bbox
    assert sum(text.startswith("Method") for text in boxes) == 12
    assert not any(a.overlaps(b) for a, b in combinations(boxes.values(), 2))
    for box in boxes.values():
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert 0 <= box.y0
        assert box.y1 <= page.y1


def test_critical_difference_diagram_has_better_methods_to_the_right():
    result = nemenyi([1.2, 2.1, 3.6, 3.1], 12)
    figure = critical_difference_diagram(result, names=["a", "b", "c", "d"])
    boxes = text_boxes(figure)
    assert place(figure, 1) > place(figure, 4)
    assert boxes["a (1.20)"].x0 > boxes["c (3.60)"].x1


def test_critical_difference_diagram_has_a_band_around_the_control():
    result = bonferroni_dunn([3.0, 1.5, 4.5, 3.2, 2.8], 60, control=0)
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    unit = place(figure, 1) - place(figure, 2)
    reach = result.critical_difference * unit
    ends = [place(figure, 3) - reach, place(figure, 3) + reach]
    assert_allclose(band.get_xdata(), ends)


def test_critical_difference_diagram_has_a_band_that_reaches_no_method_that_differs():
    # CD is 1.545: the band ends between 2 and 3
    result = bonferroni_dunn([1.0, 2.0, 3.0 - 1e-9, 4.0], 8, control=0)
    figure = critical_difference_diagram(result)
    (band,) = bars(figure)
    left, right = band.get_xdata()
    assert place(figure, 3) < left < place(figure, 2)
    assert right == pytest.approx(place(figure, 1))  # cut at the end of the scale


def test_critical_difference_diagram_has_a_bar_for_each_group_of_nemenyi():
    three_groups = critical_difference_diagram(nemenyi([1.2, 2.1, 3.6, 3.1], 12))
    none = critical_difference_diagram(nemenyi([1.0, 2.0, 3.0], 100))
    assert len(bars(three_groups)) == 3
    assert bars(none) == []


def test_cliques_are_less_than_the_critical_difference_apart():
    assert cliques(np.array([1.0, 4.0, 1.5, 2.4]), 1.2) == ((0, 2), (2, 3))
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.0) == ()
    assert cliques(np.array([1.0, 2.0, 3.0]), 1.01) == ((0, 1), (1, 2))
    assert cliques(np.array([2.0, 2.0, 2.0]), 0.5) == ((0, 1, 2),)


def test_critical_difference_diagram_says_in_words_what_is_longer_than_the_scale():
    figure = critical_difference_diagram(nemenyi([1.25, 1.75], 2), names=["a", "b"])
    assert "CD = 1.39, longer than the scale" in text_boxes(figure)


def test_critical_difference_diagram_shows_the_control_in_bold_and_names_as_they_are():
    result = bonferroni_dunn([1.2, 2.1, 2.7], 12, control=1)
    figure = critical_difference_diagram(result, names=["a", "$b$", "c"])
    texts = figure.axes[0].texts
    bold = [text for text in texts if text.get_fontweight() == "bold"]
    assert [text.get_text() for text in bold] == ["$b$ (2.10)"]
    figure.savefig(io.BytesIO(), format="svg")
