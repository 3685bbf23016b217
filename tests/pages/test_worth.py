"""Sentences on a model that follow from counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate
from mltsk.datasets import make_multilabel_rules
from mltsk.metrics.curves import Groups
from mltsk.pages.baselines import FOREST, LINEAR, OURS, BaselineComparison
from mltsk.pages.worth import (
    JudgedLabel,
    headline,
    judge,
    sentence,
    sentence_on_chances,
)


def judged_label(**changes):
    """A label of 80 cases, 60 of which are found, with 20 false alarms."""
    figures = {
        "name": "gout",
        "observed": 400,
        "cases": 80,
        "AP": (0.5, 0.4, 0.6),
        "AUC": (0.8, 0.75, 0.85),
        "found": 60,
        "alarms": 20,
        "threshold": 0.3,
        "y": np.zeros(0, dtype=bool),
        "chances": np.zeros(0),
        "scores": np.zeros(0),
    }
    return JudgedLabel(**{**figures, **changes})


GUESSED = (0.55, 0.48, 0.61)  # an AUC whose interval holds one half


def test_judge_takes_figures_of_rows_that_were_left_out():
    data = make_multilabel_rules(n_samples=120, random_state=0)
    Y = data.Y.astype(float)
    Y[::3, 0] = np.nan
    Y[:, 1] = 0
    clf = MLTSKClassifier(n_rules=2).fit(data.X, Y)
    labels = judge(clf)
    expected = evaluate(Y, clf.loo_scores_, per_label=True)
    assert [label.name for label in labels] == [f"label {j}" for j in range(5)]
    for label, (_, figures) in zip(labels, expected.iterrows(), strict=True):
        value, low, high = label.AP
        assert_allclose(value, figures.AP)
        assert_allclose(label.AUC[0], figures.AUC)
        if label.is_known:
            assert low <= value <= high
    assert labels[0].observed == 80
    assert labels[0].cases == np.nansum(Y[:, 0])
    assert not labels[1].is_known


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "gout can be found: 3 of 4 cases are found, and 1 of 4 alarms is false."),
        (
            {"found": 80, "alarms": 0},
            "gout can be found: all cases are found, and there are no false alarms.",
        ),
        (
            {"found": 79, "alarms": 1},
            "gout can be found: nearly all cases are found, and hardly any alarms are "
            "false.",
        ),
        (
            {"found": 41, "alarms": 38},
            "gout can be found in part: half of the cases are found, and half of the "
            "alarms are false.",
        ),
        (
            {"found": 8, "alarms": 79},
            "gout is hard to find: 1 of 10 cases is found, and 9 of 10 alarms are "
            "false.",
        ),
        (
            {"found": 0, "alarms": 1},
            "gout is hard to find: none of the cases are found, and all alarms are "
            "false.",
        ),
        (
            {"found": 0, "alarms": 0},
            "gout is never given: no row reaches the threshold of 0.3.",
        ),
        (
            {"found": 9, "cases": 12, "alarms": 3},
            "gout can be found: 3 of 4 cases are found, and 1 of 4 alarms is false. "
            "It is rare, 12 cases: treat this with care.",
        ),
        (
            {"AUC": GUESSED},
            "gout cannot be predicted from these columns: the model may be no better "
            "than guessing.",
        ),
        (
            {"AUC": GUESSED, "cases": 1, "found": 0},
            "gout cannot be predicted from these columns: the model may be no better "
            "than guessing. But there is only 1 case.",
        ),
        (
            {"cases": 0, "found": 0},
            "gout: no row has it, so there is nothing to learn.",
        ),
        ({"cases": 400}, "gout: all rows have it, so there is nothing to learn."),
        (
            {"cases": 1, "observed": 1, "found": 0},
            "gout was observed in 1 row: too rarely to be judged.",
        ),
        (
            {"cases": 0, "observed": 3, "found": 0},
            "gout was observed in 3 rows: too rarely to be judged.",
        ),
    ],
)
def test_sentence_says_whether_a_label_can_be_found(changes, expected):
    assert sentence(judged_label(**changes)) == expected


def comparison_of(linear, forest):
    """A comparison of two labels, by how much other methods are ahead for each."""
    return BaselineComparison(
        rows=100,
        labels=np.array([0, 1]),
        AP={
            OURS: np.array([0.5, 0.5]),
            LINEAR: np.array([0.4, 0.6]),
            FOREST: np.array([0.6, 0.6]),
        },
        AUC={},
        ahead={LINEAR: np.tile(linear, (50, 1)), FOREST: np.tile(forest, (50, 1))},
    )


def test_headline_says_first_what_is_wrong():
    labels = [judged_label(), judged_label(AUC=GUESSED, name="odd")]
    comparison = comparison_of(linear=[-0.1, -0.1], forest=[0.1, 0.1])
    assert headline(labels, comparison) == [
        "1 of 2 labels cannot be predicted better than by guessing: odd.",
        "A forest ranks rows better than this model: mean AP 0.60 against 0.50.",
        "1 of 2 labels can be predicted better than by guessing, best gout.",
    ]


def test_headline_names_labels_for_which_a_method_is_better():
    labels = [judged_label(), judged_label(name="odd", AUC=(0.7, 0.6, 0.8))]
    comparison = comparison_of(linear=[-0.2, 0.1], forest=[-0.1, -0.1])
    assert headline(labels, comparison) == [
        "Logistic regression is clearly better for odd.",
        "All 2 labels can be predicted better than by guessing, best gout, least well "
        "odd.",
    ]


@pytest.mark.parametrize("AUC", [(0.8, 0.75, 0.85), GUESSED])
def test_headline_of_one_label_is_its_sentence(AUC):
    label = judged_label(AUC=AUC)
    assert headline([label], None) == [sentence(label)]


def test_headline_of_many_labels_names_the_first_five():
    labels = [judged_label(name=f"odd {i}", AUC=GUESSED) for i in range(7)]
    assert headline(labels, None) == [
        "7 of 7 labels cannot be predicted better than by guessing: odd 0, odd 1, "
        "odd 2, odd 3, odd 4 and 2 more."
    ]


def test_headline_says_that_there_is_nothing_to_learn():
    nobody = judged_label(cases=0, found=0, AUC=(np.nan, np.nan, np.nan))
    assert headline([nobody], None) == [
        "No label has both rows with it and rows without it: there is nothing to learn."
    ]


def test_sentence_on_chances_doubts_them_if_several_groups_are_off():
    forecast = np.linspace(0.05, 0.95, 10)
    high = np.ones(10)

    def groups(observed, low):
        return Groups(forecast, observed, low, high, size=high)

    one_off = np.where(forecast > 0.9, 1.0, 0.0)
    many_off = np.where(forecast > 0.6, 1.0, 0.0)
    for low in (np.zeros(10), one_off):
        assert sentence_on_chances(groups(forecast, low)) == (
            "Probabilities can be trusted: of 100 rows with a predicted probability of "
            "30 %, about 30 have the label."
        )
    assert sentence_on_chances(groups(1 - forecast, many_off)) == (
        "Be careful with probabilities: of rows with a predicted probability of about "
        "95 %, 5 % have the label."
    )
