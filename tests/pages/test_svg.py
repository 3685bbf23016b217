"""Pictures: well-formed, with names as text and colours by class."""

from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table
from mltsk.explain import views
from mltsk.explain.pairs import FeaturePair, PairAxis
from mltsk.metrics.curves import calibration_groups
from mltsk.pages import svg, svg_maps

HOSTILE = '<script>alert("1")</script> & co'
Y = np.arange(400) % 3 == 0
SHARES = np.linspace(0, 1, 400)
CORRELATIONS = np.array([[1, 0.5, -0.4], [0.5, 1, np.nan], [-0.4, 0, 1]])
PICTURES = {
    "roc": svg.curve(
        HOSTILE,
        ("a", "b"),
        (SHARES, np.sqrt(SHARES)),
        guess=[0, 1],
        at=(0.2, 0.5),
    ),
    "precision": svg.curve(
        HOSTILE,
        ("a", HOSTILE),
        (SHARES, 1 - SHARES),
        guess=[0.3, 0.3],
        at=None,
    ),
    "calibration": svg.calibration(HOSTILE, calibration_groups(Y, SHARES)),
    "interval": svg.interval(HOSTILE, (0.5, 0.4, 0.6), guess=0.2),
    "compared": svg.compared(HOSTILE, {"ours": 0.5, "theirs": 0.6}, guess=0.2),
    "gaps": svg_maps.gaps(HOSTILE, np.array([0, 0.1, 1.0])),
    "together": svg_maps.together(HOSTILE, [HOSTILE, "b", "c"], CORRELATIONS),
    "sizes": svg.sizes(
        HOSTILE,
        np.arange(1, 51),
        {HOSTILE: np.linspace(0.5, 0.6, 50)},
        marked=12,
    ),
}


def classes(picture):
    """All classes of a picture's elements."""
    nodes = ElementTree.fromstring(picture).iter()
    return {word for node in nodes for word in node.get("class", "").split()}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_svg_are_well_formed_small_and_have_no_style_of_their_own(name):
    root = ElementTree.fromstring(PICTURES[name])
    assert root.get("aria-label") == HOSTILE
    assert "nan" not in PICTURES[name]
    assert len(PICTURES[name]) < 10_000
    assert not any(node.get("style") or node.tag == "script" for node in root.iter())


def test_curve_passes_all_points_with_few_of_them():
    root = ElementTree.fromstring(PICTURES["roc"])
    (path,) = (node for node in root.iter() if node.get("class") == "curve")
    points = [point.split() for point in path.get("d").removeprefix("M").split("L")]
    x, y = np.array(points, dtype=float).T
    shares = (x - svg.SQUARE_LEFT) / svg.SQUARE_SIDE
    drawn = np.interp(SHARES, shares, 1 - (y - svg.SQUARE_TOP) / svg.SQUARE_SIDE)
    assert len(points) < 40
    far_from_the_steep_start = SHARES > 0.02
    distances = np.abs(drawn - np.sqrt(SHARES))[far_from_the_steep_start]
    assert distances.max() * svg.SQUARE_SIDE < 1


def test_together_has_labels_that_rise_and_others_that_fall():
    assert {"rise", "fall", "track"} <= classes(PICTURES["together"])
    assert "level-3" in classes(PICTURES["together"])


@pytest.fixture(scope="module")
def spiders():
    """Curves of what features of pbc add to spiders, by feature."""
    table = read_table("pbc")
    clf = MLTSKClassifier(n_rules=0).fit(table.X, table.Y)
    return {curve.feature: curve for curve in views.shapes(clf, "spiders", top=13)}


def pair_of(surface, shares):
    """A pair of two features with these heights."""
    axes = []
    for title, count in zip((HOSTILE, "age"), surface.shape[:2], strict=True):
        values = tuple(float(i) for i in range(count))
        percentiles = tuple(i / count for i in range(count))
        axes.append(PairAxis(title, values, (), percentiles))
    return FeaturePair(
        index=0,
        axes=tuple(axes),
        labels=("gout",),
        surface=surface,
        shares=shares,
        sizes=np.ones(1),
    )


def test_heat_map_has_a_number_and_a_colour_in_every_cell_and_larger_values_up():
    surface = np.array([[[0.2], [-0.1]], [[0.0], [0.1]], [[-0.4], [0.3]]])
    shares = np.array([[0.3, 0.3], [0.1, 0.001], [0.1, 0.2]])
    root = ElementTree.fromstring(
        svg_maps.heat_map(pair_of(surface, shares), 0, reach=0.4)
    )
    cells = [node for node in root if node.get("class") in ("rise", "fall")]
    places = np.array([[node.get("y"), node.get("x")] for node in cells], dtype=float)
    rows = -np.unique(-places[:, 0])
    assert len(cells) == 6
    assert_allclose(places[:, 0].reshape(3, 2)[:, 0], rows)  # the first is lowest
    opacity = [float(node.get("fill-opacity")) for node in cells]
    assert_allclose(opacity, 0.5 * np.abs(surface.ravel()) / 0.4, atol=0.006)
    numbers = [node.text for node in root if node.get("class") == "number"]
    assert numbers == ["+0.20", "−0.10", "+0.00", "+0.10", "−0.40", "+0.30"]
    assert [node.get("class") for node in root].count("rare") == 1


def test_heat_map_is_well_formed_with_hostile_names_and_fits_its_box():
    surface = np.zeros((5, 5, 1))
    picture = svg_maps.heat_map(pair_of(surface, np.full((5, 5), 0.04)), 0, reach=1.0)
    root = ElementTree.fromstring(picture)
    assert root.get("aria-label") == f"gout by {HOSTILE} and age"
    assert not any(node.tag == "script" or node.get("style") for node in root.iter())
    words = [node.text for node in root if node.tag == "text"]
    assert "or below" in words


def test_shape_shows_data_and_gaps(spiders):
    drawn = svg.shape(spiders["copper"], spiders["copper"], reach=0.3)
    assert {"rise", "fall", "dashed", "mark"} <= classes(drawn)
    assert drawn.count('class="tick"') > 10


def test_shape_of_a_nominal_feature_shows_its_values_by_name(spiders):
    drawn = svg.shape(spiders["sex"], None, reach=0.3)
    text = "".join(ElementTree.fromstring(drawn).itertext())
    assert "female" in text
    assert "male" in text


def test_shape_areas_meet_the_height_of_nothing_where_the_line_does():
    rise, fall = svg.areas(np.array([0.0, 10.0]), np.array([40.0, 70.0]))
    assert 'd="M0.0 40.0L3.3 50.0L10.0 50.0L10.0 50L0.0 50Z"' in rise
    assert 'd="M0.0 50.0L3.3 50.0L10.0 70.0L10.0 50L0.0 50Z"' in fall


def test_decision_curve_counts_up_to_all_rows_without_an_exponent():
    thresholds = np.linspace(0.0, 0.99, 100)
    benefit = np.linspace(0.998, 0.9, 100)
    picture = svg.decision_curve(
        HOSTILE, thresholds=thresholds, model=benefit, everybody=benefit, at=0.5
    )
    words = [node.text for node in ElementTree.fromstring(picture).iter() if node.text]
    assert {"99.8", "0 %", "25 %", "75 %"} <= set(words)
    assert not any("e+" in word for word in words)
