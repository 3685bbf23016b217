"""A figure in three forms."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread

from mltsk.paper.report.pictures import LIGHT, SERIES, drawing, picture


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
    assert "#040404" not in drawn.inline


def test_the_file_stands_alone(drawn):
    root = ET.fromstring(drawn.svg)
    assert root.tag.endswith("svg")
    assert b"var(--" not in drawn.svg
    assert LIGHT[SERIES[0]].encode() in drawn.svg


def test_the_png_has_the_light_colours_on_white(drawn):
    pixels = (imread(io.BytesIO(drawn.png))[..., :3] * 255).round().astype(int).reshape(-1, 3)
    for stand_in in (SERIES[0], SERIES[1]):
        wanted = [int(LIGHT[stand_in][i : i + 2], 16) for i in (1, 3, 5)]
        assert np.any(np.all(pixels == wanted, axis=1))
    assert np.all(pixels[0] == 255)
    assert pixels.min() > 20  # no stand-in is left: they are all but black
