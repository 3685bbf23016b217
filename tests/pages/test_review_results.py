"""Results in depth: net benefit in words and as a curve, and other thresholds."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import confusion_matrix

from mltsk.core.arrays import Array
from mltsk.metrics import average_precision_interval, roc_auc_interval
from mltsk.pages import svg
from mltsk.pages.judged import JudgedLabel
from mltsk.pages.review_results import (
    CHOSEN_PERCENTS,
    _mover_data,
    decision_thresholds,
    label_results,
)


def judged(y: Array, p: Array, threshold: float = 0.3) -> JudgedLabel:
    """A label with probabilities of rows that were left out."""
    given = p >= threshold
    scores = np.log(p / (1 - p))
    return JudgedLabel(
        name="gout",
        observed=len(y),
        cases=int(y.sum()),
        AP=average_precision_interval(y, scores),
        AUC=roc_auc_interval(y, scores),
        guessed_AP=float(y.mean()),
        found=int((y & given).sum()),
        alarms=int((~y & given).sum()),
        threshold=threshold,
        y=y,
        is_given=given,
        chances=p,
        scores=scores,
        rows=np.arange(len(y)),
        groups=None,
    )


@pytest.fixture
def told():
    """Rows whose probabilities are right."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 2000)
    return judged(rng.random(2000) < p, p)


@pytest.fixture
def guessed():
    """Rows whose probabilities have nothing to do with their label."""
    rng = np.random.default_rng(1)
    return judged(rng.random(300) < 0.3, rng.beta(3, 7, 300))


def counted(label: JudgedLabel, threshold: float) -> tuple[int, int]:
    """Cases and other rows that reach a threshold, by scikit-learn."""
    (_, alarms), (_, found) = confusion_matrix(label.y, label.chances >= threshold)
    return int(found), int(alarms)


def benefit(label: JudgedLabel, threshold: float) -> float:
    """Net benefit per row, from counts."""
    found, alarms = counted(label, threshold)
    return (found - alarms * threshold / (1 - threshold)) / len(label.y)


def of_use(label: JudgedLabel, threshold: float) -> bool:
    """Whether acting on the model beats acting on all rows and on none."""
    odds = threshold / (1 - threshold)
    on_all = (label.cases - (len(label.y) - label.cases) * odds) / len(label.y)
    return benefit(label, threshold) > max(on_all, 0.0)


def test_net_benefit_in_words_names_the_thresholds_at_which_the_model_is_of_use(told):
    words = label_results(told)["benefit_words"]
    assert words.endswith("of more use than acting on all rows or on none.")
    low, high = (int(word) / 100 for word in words.split() if word[0].isdigit())
    inside = [t for t in decision_thresholds(told) if low + 0.005 < t < high - 0.005]
    assert len(inside) > 30
    assert all(of_use(told, t) for t in inside)


def test_net_benefit_of_a_label_that_may_be_guessed_may_be_chance(guessed):
    assert guessed.is_guessed
    words = label_results(guessed)["benefit_words"]
    assert words.endswith(
        "This may be chance: the model may be no better than guessing."
    )


def test_decision_curve_has_the_net_benefit_of_the_model_and_round_thresholds(told):
    root = ElementTree.fromstring(label_results(told)["pictures"]["benefit"])
    (path,) = (node for node in root.iter() if node.get("class") == "curve")
    points = [point.split() for point in path.get("d").removeprefix("M").split("L")]
    x, y = np.array(points, dtype=float).T
    side = svg.SQUARE_SIDE
    end = decision_thresholds(told)[-1]
    thresholds = (x - svg.SQUARE_LEFT) / side * end
    highest = told.rate  # acting on all rows at a threshold of 0
    heights = (1 - (y - svg.SQUARE_TOP) / side) * 1.15 * highest - 0.15 * highest
    for threshold, height in zip(thresholds[1:-1:5], heights[1:-1:5], strict=True):
        assert_allclose(height, benefit(told, threshold), atol=0.012)
    texts = [node.text for node in root.iter() if node.tag == "text"]
    assert [text for text in texts if text.endswith(" %")] == [
        "0 %",
        "25 %",
        "50 %",
        "75 %",
    ]
    assert "net benefit per 100 rows" in texts


def test_other_thresholds_have_the_counts_of_scikit_learn(told):
    data = json.loads(_mover_data([told]))
    (counts,) = data["labels"]
    assert data["percents"] == CHOSEN_PERCENTS.tolist()
    for k in range(0, len(CHOSEN_PERCENTS) - 9, 7):
        expected = counted(told, CHOSEN_PERCENTS[k] / 100)
        assert (counts["found"][k], counts["alarms"][k]) == expected
