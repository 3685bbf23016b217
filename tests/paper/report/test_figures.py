"""A figure in three forms, and the figures of a report that need no study."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
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
    """A picture in two of the page's colours."""
    with drawing() as new_figure:
        figure = new_figure(1.5)
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color=SERIES[0], lw=5)
        ax.scatter([0.2], [0.8], color=SERIES[1], s=200)
        ax.axvspan(0.6, 0.9, color=SERIES[0], alpha=0.2)
        return picture(figure, "key", "A <title>", "")


def test_picture_has_an_inline_form_that_follows_the_page(drawn):
    assert "var(--series-1)" in drawn.inline
    assert 'aria-label="A &lt;title&gt;"' in drawn.inline
    assert SERIES[0] not in drawn.inline


def test_picture_has_a_file_that_stands_alone(drawn):
    root = ET.fromstring(drawn.svg)
    assert root.tag.endswith("svg")
    assert b"var(--" not in drawn.svg
    assert SERIES[0].encode() in drawn.svg


@pytest.mark.parametrize("colour", [SERIES[0], SERIES[1], "#ffffff"])
def test_picture_has_a_png_in_the_light_colours_on_white(drawn, colour):
    pixels = imread(io.BytesIO(drawn.png))[..., :3]
    is_colour = np.isclose(pixels, to_rgb(colour), atol=1e-3).all(axis=2)
    assert is_colour.any()
    assert np.all(pixels[0, 0] == 1)


def test_closeness_picture_names_the_papers_methods_only(make_results):
    (drawn,) = closeness_picture(paper_gaps(make_results()))
    assert "ML-TSK FS" in drawn.inline
    assert "our default" not in drawn.inline


def test_closeness_picture_and_protocol_picture_draw_nothing_of_nothing(make_results):
    results = make_results([])
    assert closeness_picture(paper_gaps(results)) == []
    assert protocol_picture(results) == []


def test_protocol_picture_draws_two_protocols(make_results):
    (drawn,) = protocol_picture(make_results(protocols=["paper", "nested"]))
    assert "our default" in drawn.inline
    assert ">nested<" in drawn.inline


def test_rank_pictures_are_the_papers_diagrams_and_ours_with_every_method(make_results):
    results = make_results(datasets=("emotions", "yeast"))
    pictures = rank_pictures(comparisons(results))
    ours = pictures["ours, paper, all methods"]
    assert list(pictures) == ["paper, recomputed", "ours, paper, all methods"]
    assert len(pictures["paper, recomputed"]) == 5
    assert len(ours) == 5
    assert "our default" in ours[0].inline
