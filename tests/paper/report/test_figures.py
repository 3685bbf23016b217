"""A figure in three forms, and the figures of a report that need no study."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread

from mltsk.paper.experiments.ranks import comparisons
from mltsk.paper.experiments.summary import paper_gaps
from mltsk.paper.report.figures import (
    SERIES,
    closeness_picture,
    drawing,
    picture,
    protocol_picture,
    rank_pictures,
)


@pytest.fixture
def drawn():
    with drawing() as figure_of:
        figure = figure_of(1.5)
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color=SERIES[0], lw=5)
        ax.scatter([0.2], [0.8], color=SERIES[1], s=200)
        ax.axvspan(0.6, 0.9, color=SERIES[0], alpha=0.2)
        return picture(figure, "key", "A <title>", "")


def test_the_page_s_form_follows_the_page(drawn):
    assert "var(--series-1)" in drawn.inline
    assert 'aria-label="A &lt;title&gt;"' in drawn.inline
    assert SERIES[0] not in drawn.inline


def test_the_file_stands_alone(drawn):
    root = ET.fromstring(drawn.svg)
    assert root.tag.endswith("svg")
    assert b"var(--" not in drawn.svg
    assert SERIES[0].encode() in drawn.svg


def test_the_png_has_the_light_colours_on_white(drawn):
    pixels = (
        (imread(io.BytesIO(drawn.png))[..., :3] * 255)
        .round()
        .astype(int)
        .reshape(-1, 3)
    )
    for colour in (SERIES[0], SERIES[1]):
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.any(np.all(pixels == wanted, axis=1))
    assert np.all(pixels[0] == 255)


def test_closeness_names_the_paper_s_methods_only(make_results):
    results = make_results()
    (drawn,) = closeness_picture(paper_gaps(results))
    assert "ML-TSK FS" in drawn.inline
    assert "our default" not in drawn.inline


def test_nothing_is_drawn_of_nothing(make_results):
    results = make_results([])
    assert closeness_picture(paper_gaps(results)) == []
    assert protocol_picture(results) == []


def test_protocols_are_drawn_when_there_are_two(make_results):
    results = make_results(protocols=["paper", "nested"])
    (drawn,) = protocol_picture(results)
    assert "our default" in drawn.inline
    assert ">nested<" in drawn.inline


def test_fig_9_has_the_paper_s_diagrams_and_ours_with_every_method(make_results):
    results = make_results(datasets=("emotions", "yeast"))
    drawn = rank_pictures(comparisons(results))
    assert {source: len(pictures) for source, pictures in drawn.items()} == {
        "paper, recomputed": 5,
        "ours, paper, all methods": 5,
    }
    assert "our default" in drawn["ours, paper, all methods"][0].inline
