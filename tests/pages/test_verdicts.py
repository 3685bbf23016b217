"""Sentences about labels follow from counts."""

import re

import numpy as np
import pytest

from mltsk.pages.baselines import FOREST, LINEAR, OURS, Comparison
from mltsk.pages.verdicts import Judged, chances_told, clearly_ahead, headline, sentence


def label(found=60, cases=80, alarms=20, observed=400, auc=(0.8, 0.75, 0.85), name="gout"):
    empty = np.zeros(0)
    return Judged(name, observed, cases, (0.5, 0.4, 0.6), auc, found, alarms, 0.3, empty, empty, empty)


def compared(**ahead):
    drawn = {method: np.full((50, 2), float(by)) for method, by in ahead.items()}
    AP = {OURS: np.array([0.5, 0.5]), LINEAR: np.array([0.4, 0.6]), FOREST: np.array([0.6, 0.6])}
    return Comparison(100, np.array([0, 1]), AP, AP, drawn)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({}, "gout can be found: 3 of 4 cases are found, and 1 of 4 alarms is false."),
        ({"found": 80, "alarms": 0}, "gout can be found: all cases are found, and there are no false alarms."),
        ({"found": 41, "alarms": 38}, "gout can be found in part: half of the cases are found, and half of the alarms"),
        ({"found": 8, "alarms": 79}, "gout is hard to find: 1 of 10 cases is found, and 9 of 10 alarms are false."),
        ({"found": 0, "alarms": 0}, "gout is never given: no row reaches the threshold of 0.3."),
        ({"found": 9, "cases": 12, "alarms": 3}, "It is rare, 12 cases: treat this with care."),
        ({"auc": (0.55, 0.48, 0.61)}, "gout cannot be told from these columns"),
        ({"cases": 0, "found": 0}, "gout: no row has it, so there is nothing to learn."),
    ],
)
def test_a_label_in_one_sentence(counts, told):
    assert re.search(re.escape(told), sentence(label(**counts)))


def test_what_is_wrong_comes_first():
    good, bad = label(), label(auc=(0.5, 0.4, 0.6), name="odd")
    lines = headline([good, bad], compared(**{LINEAR: -0.1, FOREST: 0.1}))
    assert lines[0] == "1 of 2 labels cannot be told better than by guessing: odd."
    assert lines[1] == "A forest ranks rows better than this model: mean AP 0.60 against 0.50."
    assert lines[2] == "1 of 2 labels can be told better than by guessing, best gout."
    assert headline([good], None) == [sentence(good)]


def test_a_method_is_ahead_only_beyond_chance():
    names, rng = ["gout", "odd"], np.random.default_rng(0)
    noise = compared(**{LINEAR: 0.0, FOREST: 0.0})
    noise.ahead[FOREST][:] = rng.normal(0.01, 0.1, (50, 2))
    assert clearly_ahead(noise, names) == {}
    noise.ahead[FOREST][:, 1] = 0.05
    assert "odd" in clearly_ahead(noise, names)[FOREST]


def test_probabilities_are_believed_unless_several_groups_are_off():
    told, low, high = np.linspace(0.05, 0.95, 10), np.zeros(10), np.ones(10)
    assert "at their word" in chances_told((told, told, low, high, low))
    assert "at their word" in chances_told((told, told, np.where(told > 0.9, 1.0, 0.0), high, low))
    assert "with care" in chances_told((told, 1 - told, np.where(told > 0.6, 1.0, 0.0), high, low))
