"""Other methods on the same folds, and sentences that follow from counts."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from mltsk import MLTSKClassifier
from mltsk.pages.worth import (
    FOREST,
    LINEAR,
    OURS,
    Comparison,
    Judged,
    chances_told,
    clearly_ahead,
    compare,
    headline,
    sentence,
)


def label(
    found=60, cases=80, alarms=20, observed=400, auc=(0.8, 0.75, 0.85), name="gout"
):
    empty = np.zeros(0)
    return Judged(
        name,
        observed,
        cases,
        (0.5, 0.4, 0.6),
        auc,
        found,
        alarms,
        0.3,
        empty,
        empty,
        empty,
    )


def compared(**ahead):
    drawn = {method: np.full((50, 2), float(by)) for method, by in ahead.items()}
    AP = {
        OURS: np.array([0.5, 0.5]),
        LINEAR: np.array([0.4, 0.6]),
        FOREST: np.array([0.6, 0.6]),
    }
    return Comparison(100, np.array([0, 1]), AP, AP, drawn)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({}, "gout can be found: 3 of 4 cases are found, and 1 of 4 alarms is false."),
        (
            {"found": 80, "alarms": 0},
            "gout can be found: all cases are found, and there are no false alarms.",
        ),
        (
            {"found": 41, "alarms": 38},
            "gout can be found in part: half of the cases are found, and half of the alarms",
        ),
        (
            {"found": 8, "alarms": 79},
            "gout is hard to find: 1 of 10 cases is found, and 9 of 10 alarms are false.",
        ),
        (
            {"found": 0, "alarms": 0},
            "gout is never given: no row reaches the threshold of 0.3.",
        ),
        (
            {"found": 9, "cases": 12, "alarms": 3},
            "It is rare, 12 cases: treat this with care.",
        ),
        ({"auc": (0.55, 0.48, 0.61)}, "gout cannot be told from these columns"),
        (
            {"cases": 0, "found": 0},
            "gout: no row has it, so there is nothing to learn.",
        ),
    ],
)
def test_a_label_in_one_sentence(counts, told):
    assert re.search(re.escape(told), sentence(label(**counts)))


def test_what_is_wrong_comes_first():
    good, bad = label(), label(auc=(0.5, 0.4, 0.6), name="odd")
    lines = headline([good, bad], compared(**{LINEAR: -0.1, FOREST: 0.1}))
    assert lines[0] == "1 of 2 labels cannot be told better than by guessing: odd."
    assert (
        lines[1]
        == "A forest ranks rows better than this model: mean AP 0.60 against 0.50."
    )
    assert lines[2] == "1 of 2 labels can be told better than by guessing, best gout."
    assert headline([good], None) == [sentence(good)]


def test_a_method_is_ahead_only_beyond_chance():
    labels, rng = [label(), label(name="odd")], np.random.default_rng(0)
    noise = compared(**{LINEAR: 0.0, FOREST: 0.0})
    noise.ahead[FOREST][:] = rng.normal(0.01, 0.1, (50, 2))
    assert clearly_ahead(noise, labels) == {}
    noise.ahead[FOREST][:, 1] = 0.05
    assert "odd" in clearly_ahead(noise, labels)[FOREST]


def test_probabilities_are_believed_unless_several_groups_are_off():
    told, low, high = np.linspace(0.05, 0.95, 10), np.zeros(10), np.ones(10)
    assert "at their word" in chances_told((told, told, low, high, low))
    assert "at their word" in chances_told(
        (told, told, np.where(told > 0.9, 1.0, 0.0), high, low)
    )
    assert "with care" in chances_told(
        (told, 1 - told, np.where(told > 0.6, 1.0, 0.0), high, low)
    )


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "b": rng.normal(size=120),
            "word": rng.choice(["x", "y"], 120),
        }
    )
    Y = np.column_stack([X.a > 0, X.word == "x", rng.random(120) < 0.5]).astype(float)
    X.loc[:20, "b"] = np.nan
    X["word"] = pd.Categorical(X["word"].where(rng.random(120) < 0.9), ordered=False)
    X["rank"] = pd.Categorical(
        rng.choice(["low", "high"], 120), ["low", "high"], ordered=True
    )
    Y[100:, 1] = np.nan
    return X, Y


def test_all_learn_what_is_there_and_nothing_else(table):
    folds = []
    found = compare(MLTSKClassifier(n_rules=0), *table, done=lambda: folds.append(1))
    assert (found.rows, found.labels.tolist(), len(folds)) == (120, [0, 1, 2], 10)
    for method in (OURS, LINEAR, FOREST):
        assert found.AUC[method][0] > 0.95
        assert found.AUC[method][1] > 0.8
        assert 0.3 < found.AUC[method][2] < 0.7
    assert {part.shape for part in found.ahead.values()} == {(1000, 3)}


def test_labels_that_nobody_has_and_sparse_rows(table):
    X, Y = (
        sparse.csr_array(np.random.default_rng(0).random((60, 5)) > 0.5).astype(float),
        np.zeros((60, 2)),
    )
    Y[:, 1] = X.toarray()[:, 0]
    found = compare(MLTSKClassifier(n_rules=0), X, Y)
    assert np.isnan(found.AP[FOREST][0])
    assert min(part[1] for part in found.AP.values()) > average_precision_score(
        Y[:, 1], np.zeros(60)
    )
