"""Sentences on a model that follow from counts."""

import re

import numpy as np
import pytest

from mltsk.pages.baselines import (
    FOREST,
    LINEAR,
    MAX_COMPARED_ROWS,
    OURS,
    BaselineComparison,
)
from mltsk.pages.judged import miscalibrated
from mltsk.pages.worth import (
    grade,
    headline,
    lines_on_better_methods,
    sentence,
    sentence_on_chances,
)

from .judged_labels import judged_label, label_of

GUESSED = (0.55, 0.48, 0.61)  # an AUC whose interval holds one half
NEARLY_ALL = (0.95, 0.9, 0.98)  # the AP of a label that most rows have


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"AP": (0.6, 0.5, 0.7)},
            "gout can be predicted: 3 of 4 cases are found, and 1 of 4 alarms is false "
            "(4 of 5 by guessing).",
        ),
        (
            {"found": 80, "alarms": 0},
            "gout can be predicted in part: all cases are found, and there are no "
            "false alarms (4 of 5 by guessing).",
        ),
        (
            {"found": 79, "alarms": 1},
            "gout can be predicted in part: nearly all cases are found, and hardly any "
            "alarms are false (4 of 5 by guessing).",
        ),
        (
            {"found": 41, "alarms": 38, "AUC": (0.75, 0.7, 0.8)},
            "gout can be predicted in part: half of the cases are found, and half of "
            "the alarms are false (4 of 5 by guessing).",
        ),
        (
            {"found": 8, "alarms": 79, "AUC": (0.65, 0.6, 0.7)},
            "gout can hardly be predicted: 1 of 10 cases is found, and 9 of 10 alarms "
            "are false (4 of 5 by guessing).",
        ),
        (
            {"found": 0, "alarms": 0},
            "gout can be predicted in part, but no row reaches the threshold: none is "
            "found.",
        ),
        (
            {"found": 18, "cases": 24, "alarms": 6},
            "gout can be predicted: 3 of 4 cases are found, and 1 of 4 alarms is false "
            "(9 of 10 by guessing). There are only 24 cases: treat this with care.",
        ),
        (
            {"found": 9, "cases": 12, "alarms": 3},
            "gout can perhaps be predicted: 3 of 4 cases are found, and 1 of 4 alarms "
            "is false (9 of 10 by guessing). But there are only 12 cases.",
        ),
        (
            {"AUC": GUESSED},
            "gout cannot be predicted from these columns: the model may be no better "
            "than guessing.",
        ),
        (
            {"AP": (0.25, 0.19, 0.31)},  # guessing has .2
            "gout cannot be predicted from these columns: the model may be no better "
            "than guessing.",
        ),
        (
            {"AUC": GUESSED, "cases": 1, "found": 0},
            "gout cannot be judged: there is only 1 case, too few to say whether it "
            "can be predicted.",
        ),
        (
            {"AUC": GUESSED, "cases": 394, "found": 390},
            "gout cannot be judged: there are only 6 rows without it, too few to say "
            "whether it can be predicted.",
        ),
        (
            {"AUC": GUESSED, "cases": 25, "found": 9},
            "gout cannot be predicted from these columns: the model may be no better "
            "than guessing. But there are only 25 cases.",
        ),
        (
            {"cases": 300, "found": 280, "alarms": 82, "AP": NEARLY_ALL},
            "gout can be predicted, but its threshold gives it to nearly every row: 9 "
            "of 10 cases are found, and 23 % of the alarms are false (25 % by "
            "guessing).",
        ),
        (
            {"cases": 300, "found": 297, "alarms": 98, "AP": NEARLY_ALL},
            "gout can be predicted, but its threshold gives it to nearly every row: "
            "nearly all cases are found, and 25 % of the alarms are false, as many as "
            "by guessing.",
        ),
        (
            {"cases": 0, "found": 0},
            "gout: no row has it, so it cannot be judged.",
        ),
        ({"cases": 400}, "gout: all rows have it, so it cannot be judged."),
        (
            {"cases": 1, "observed": 1, "found": 0},
            "gout: observed in 1 row, too rarely to be judged.",
        ),
        (
            {"cases": 0, "observed": 3, "found": 0},
            "gout: observed in 3 rows, too rarely to be judged.",
        ),
    ],
)
def test_sentence_says_whether_a_label_can_be_predicted(changes, expected):
    assert sentence(judged_label(**changes)) == expected


def test_grade_of_a_common_label_is_not_that_of_flagging_everybody():
    common = judged_label(
        cases=284, found=280, alarms=110, AP=(0.79, 0.74, 0.83), AUC=(0.61, 0.55, 0.67)
    )
    assert common.is_better_than_guessing
    assert grade(common) == "can hardly be predicted"


def comparison_of(linear, forest, short=(0.5, 0.5)):
    """A comparison of two labels by the AP of methods; that of our long model is .5."""
    AP = {
        OURS: np.array([0.5, 0.5]),
        "8 statements per label": np.array(short),
        LINEAR: np.array(linear),
        FOREST: np.array(forest),
    }
    return BaselineComparison(
        rows=100,
        labels=np.array([0, 1]),
        cases=np.array([80, 80]),
        AP=AP,
        AUC={},
        drawn_AP={method: np.tile(each, (5, 1)) for method, each in AP.items()},
        resampled_AP={method: np.tile(each, (50, 1)) for method, each in AP.items()},
    )


def test_headline_names_our_best_model_first():
    labels = [judged_label(), judged_label(AUC=GUESSED, name="odd")]
    comparison = comparison_of(linear=[0.4, 0.4], forest=[0.6, 0.6], short=[0.5, 0.6])
    assert headline(labels, comparison) == [
        "Our best model: 8 statements per label, mean AP 0.55 (the whole model 0.50; "
        "on the same folds logistic regression 0.40, a forest 0.60).",
        "1 of 2 labels can be predicted better than by guessing: gout.",
        "1 of 2 labels cannot be predicted better than by guessing: odd.",
    ]
    of_some, *_ = headline(labels, comparison._replace(rows=MAX_COMPARED_ROWS))
    assert "on the same folds of 3,000 rows logistic regression 0.40" in of_some
    shorter = comparison_of(linear=[0.4, 0.4], forest=[0.6, 0.6], short=[0.4, 0.5])
    best = "Our best model: the whole model, mean AP 0.50 (8 statements per label 0.45"
    assert headline(labels, shorter)[0].startswith(best)


def test_headline_names_no_best_model_where_nothing_can_be_predicted():
    labels = [judged_label(AUC=GUESSED)]
    comparison = comparison_of(linear=[0.4, 0.4], forest=[0.6, 0.6])
    assert headline(labels, comparison) == [sentence(labels[0])]


def test_lines_on_better_methods_say_in_how_many_draws_they_are_ahead():
    labels = [judged_label(), judged_label(name="odd", AUC=(0.7, 0.6, 0.8))]
    comparison = comparison_of(linear=[0.4, 0.4], forest=[0.6, 0.6])
    assert lines_on_better_methods(labels, comparison) == [
        "A forest ranks rows better than our best model: mean AP 0.60 against 0.50, "
        "ahead in 5 of 5 draws of folds."
    ]
    comparison = comparison_of(linear=[0.503, 0.503], forest=[0.4, 0.4])
    (line,) = lines_on_better_methods(labels, comparison)
    assert "mean AP 0.503 against 0.500" in line
    comparison = comparison_of(linear=[0.2, 0.6], forest=[0.4, 0.4])
    assert lines_on_better_methods(labels, comparison) == [
        "Logistic regression is clearly better for odd."
    ]


def test_lines_on_better_methods_do_not_leave_a_guessed_label_as_one_nobody_tells():
    labels = [judged_label(), judged_label(name="odd", AUC=GUESSED)]
    comparison = comparison_of(linear=[0.2, 0.6], forest=[0.4, 0.4])
    assert lines_on_better_methods(labels, comparison) == [
        "Logistic regression is clearly better for odd. It may predict odd, which the "
        "model cannot."
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


def test_headline_tells_labels_that_are_too_rare_from_those_that_are_guessed():
    labels = [
        judged_label(name="odd", AUC=GUESSED),
        judged_label(name="rare", AUC=GUESSED, cases=6, found=2),
    ]
    assert headline(labels, None) == [
        "1 of 2 labels cannot be predicted better than by guessing: odd.",
        "1 of 2 labels has too few cases to be judged: rare.",
    ]


def test_headline_says_that_there_is_nothing_to_learn():
    nobody = judged_label(cases=0, found=0, AUC=(np.nan, np.nan, np.nan))
    assert headline([nobody], None) == [
        "No label has both rows with it and rows without it: there is nothing to learn."
    ]


def test_sentence_on_chances_doubts_probabilities_that_are_off():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 1, 1000)
    right = label_of(p, p)
    wrong = label_of(p, 1 - p)
    assert miscalibrated([right, wrong]).tolist() == [False, True]
    assert sentence_on_chances(right, is_off=False) == (
        "Probabilities can be trusted: of 100 rows with a predicted probability of "
        "30 %, about 30 have the label."
    )
    said = sentence_on_chances(wrong, is_off=True)
    assert said.startswith(
        "Be careful with probabilities: of 100 rows with a predicted probability of "
        "about "
    )
    forecast, observed = (
        float(word) for word in re.findall(r"(\d+)(?: %,| have)", said)
    )
    assert abs(forecast + observed - 100) < 8


@pytest.mark.parametrize(
    ("n_cases", "start"),
    [
        (19, "There are too few cases to say"),
        (20, "No probability is off by more than chance; with so few cases"),
        (99, "No probability is off by more than chance; with so few cases"),
        (100, "Probabilities can be trusted"),
    ],
)
def test_sentence_on_chances_claims_no_more_than_cases_show(n_cases, start):
    label = judged_label(cases=n_cases)
    assert sentence_on_chances(label, is_off=False).startswith(start)
