"""Figures keep their style to themselves."""

import sys

import numpy as np
import pytest

from mltsk.explain.canvas import MAX_TICK_NAMES, draw_matrix, panels, styled_figure

matplotlib = pytest.importorskip("matplotlib")


def test_styled_figure_leaves_settings_of_the_caller_alone():
    before = dict(matplotlib.rcParams)
    with styled_figure(2.0, 1.0) as (figure, ax):
        assert dict(matplotlib.rcParams) != before
    assert dict(matplotlib.rcParams) == before
    assert figure.axes == [ax]


def test_styled_figure_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"mltsk\[report\]"):
        styled_figure(2.0, 1.0).__enter__()


def test_panels_draw_each_entry_row_by_row_and_hide_the_rest():
    entries = []
    figure = panels(
        "abc", lambda ax, entry: entries.append(entry), 2, size=(1.0, 1.0), title="T"
    )
    assert entries == ["a", "b", "c"]
    assert [ax.axison for ax in figure.axes] == [True, True, True, False]


def test_draw_matrix_writes_as_many_names_as_there_is_room_for():
    names = [f"name {i}" for i in range(100)]
    with styled_figure(2.0, 2.0) as (_, ax):
        draw_matrix(
            ax, np.zeros((3, 100)), across=names, down="abc", colours=("w", "k")
        )
    assert 0 < len(ax.get_xticks()) <= MAX_TICK_NAMES
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c"]
