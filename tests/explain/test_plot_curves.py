"""Curves of features: small, with the data under them; named values are bars."""

import numpy as np
import pytest

from mltsk import MLTSKClassifier
from mltsk.explain import plot

from .conftest import drawn

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("scale", ["quantile", "standard"])
def test_shapes_are_small_curves_with_the_data_under_them(make_system, scale, tmp_path):
    figure = plot.shapes(make_system(scale), "gout", "asthma", top=3)
    assert len(figure.axes) == 6
    assert "gout by age" in drawn(figure, tmp_path)
    zero, curve, marks = figure.axes[0].lines
    assert len(zero.get_xdata()) == 2
    assert len(curve.get_xdata()) >= 101
    assert len(marks.get_xdata()) == 19


def test_shapes_of_named_values_are_bars(make_system):
    figure = plot.shapes(make_system(), "gout", top=4)
    assert sorted(len(ax.patches) for ax in figure.axes) == [0, 0, 0, 2]


def test_shapes_of_a_table_have_bars_for_values_and_a_mark_for_what_is_not_measured(
    table, tmp_path
):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    figure = plot.shapes(clf, "copd", top=6)
    bars = {ax.get_title(loc="left"): len(ax.patches) for ax in figure.axes}
    assert bars["copd by smoker"] == 5
    assert bars["copd by sex"] == 2
    assert bars["copd by age"] == 0
    assert "not measured" in drawn(figure, tmp_path)
    assert "smoker" in drawn(plot.membership(clf, 0, top=6), tmp_path)
    assert "smoker" in drawn(plot.feature_importance(clf), tmp_path)


def test_membership_has_curves_or_a_word_that_there_are_none(make_system, tmp_path):
    system = make_system()
    system.widths[1] = np.inf
    assert "glucose" in drawn(plot.membership(system, 0, top=4), tmp_path)
    assert "Rule 2: always" in drawn(plot.membership(system, 1), tmp_path)
