"""Pictures: well-formed, with names as text and colours by class."""

from xml.etree import ElementTree

import numpy as np
import pytest

from mltsk import MLTSKClassifier, read_table
from mltsk.explain import views
from mltsk.metrics.curves import calibration_groups
from mltsk.pages import svg

HOSTILE = '<script>alert("1")</script> & co'
Y = np.arange(400) % 3 == 0
SCORES = np.linspace(0, 1, 400)
PICTURES = {
    "roc": svg.curve(
        HOSTILE, ("a", "b"), (SCORES, np.sqrt(SCORES)), [0, 1], (0.2, 0.5)
    ),
    "precision": svg.curve(
        HOSTILE, ("a", HOSTILE), (SCORES, 1 - SCORES), [0.3, 0.3], None
    ),
    "calibration": svg.calibration(HOSTILE, calibration_groups(Y, SCORES)),
    "interval": svg.interval(HOSTILE, (0.5, 0.4, 0.6), 0.2),
    "compared": svg.compared(HOSTILE, {"ours": 0.5, "theirs": 0.6}, 0.2),
    "gaps": svg.gaps(HOSTILE, np.array([0, 0.1, 1.0])),
    "together": svg.together(
        HOSTILE,
        [HOSTILE, "b", "c"],
        np.array([[1, 0.5, -0.4], [0.5, 1, np.nan], [-0.4, 0, 1]]),
    ),
    "sizes": svg.sizes(
        HOSTILE, np.arange(1, 51), {HOSTILE: np.linspace(0.5, 0.6, 50)}, 12
    ),
}


def classes(picture):
    return {
        word
        for node in ElementTree.fromstring(picture).iter()
        for word in node.get("class", "").split()
    }


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_well_formed_small_and_without_a_style_of_their_own(name):
    root = ElementTree.fromstring(PICTURES[name])
    assert root.get("aria-label") == HOSTILE
    assert "nan" not in PICTURES[name]
    assert len(PICTURES[name]) < 10_000
    assert not any(node.get("style") or node.tag == "script" for node in root.iter())


def test_labels_that_go_together_rise_and_others_fall():
    assert {"rise", "fall", "track"} <= classes(PICTURES["together"])
    assert "level-3" in classes(PICTURES["together"])


def test_shapes_show_data_gaps_and_named_values():
    table = read_table("pbc")
    clf = MLTSKClassifier(n_rules=0).fit(table.X, table.Y)
    found = {c.feature: c for c in views.shapes(clf, "spiders", top=13)}
    drawn = svg.shape(found["copper"], found["copper"], 0.3)
    assert {"rise", "fall", "dashed", "mark"} <= classes(drawn)
    assert drawn.count('class="tick"') > 10
    text = "".join(
        ElementTree.fromstring(svg.shape(found["sex"], None, 0.3)).itertext()
    )
    assert "female" in text
    assert "male" in text
