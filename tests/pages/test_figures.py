"""Figures: valid SVG, colours of the page, names as plain text."""

from xml.etree import ElementTree

import numpy as np
import pytest

from mltsk.pages import figures

METRIC = {
    "long_name": "average precision",
    "a": {"mean": 0.77, "sd": 0.01},
    "b": {"mean": 0.7634, "sd": 0.02},
}
FIRING = np.random.default_rng(0).dirichlet(np.ones(3), size=50).T
RULES = ["rule 1", "rule 2", "rule 3"]
HOSTILE = ["<script>alert(1)</script>", "$\\frac{1}{", 'a & "b"', "漢字", "x" * 60]


def text_of(svg):
    return "".join(ElementTree.fromstring(svg).itertext())


def test_a_metric_panel_prints_names_and_means():
    svg = figures.metric_panel(METRIC, {"a": "ours", "b": "theirs"})
    assert all(word in text_of(svg) for word in ("ours", "theirs", "0.770", "0.763"))


@pytest.mark.parametrize("n", [5, 60])
def test_a_correlation_map_shows_names_as_they_are(n):
    names = (HOSTILE * 12)[:n]
    svg = figures.correlation_map(np.corrcoef(np.random.default_rng(0).normal(size=(n, 99))), names, "map")
    text = text_of(svg)
    assert "<script" not in svg
    assert "<script>alert" in text
    assert "$\\frac{1}{" in text
    assert ("data:image/png" in svg) == (n == 60)  # a large map is a picture, not thousands of boxes


def test_a_single_label_has_a_map():
    assert "<svg" in figures.correlation_map([[1.0]], ["only"], "one")


def test_a_firing_map_names_every_rule():
    assert "rule 3" in text_of(figures.firing_map(FIRING, RULES, "firing"))


def test_colours_follow_the_page_and_nothing_is_fetched():
    svg = figures.firing_map(FIRING, RULES, 'a "title"')
    assert "var(--ink)" in svg
    assert not any(colour in svg for colour in ("#010101", "#040404", "DejaVu"))
    assert 'aria-label="a &quot;title&quot;"' in svg
    assert 'href="http' not in svg


def test_the_same_data_draw_the_same_figure():
    draw = [figures.firing_map(FIRING, RULES, "coverage") for _ in range(2)]
    assert draw[0] == draw[1]


def test_ids_of_two_figures_do_not_meet():
    ids = []
    for title in ("one", "two"):
        root = ElementTree.fromstring(figures.firing_map(FIRING, RULES, title))
        ids.append({node.get("id") for node in root.iter()} - {None})
    assert ids[0]
    assert not ids[0] & ids[1]
