"""Rules that the user gave, in words, in reasons and as data."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def clf(pbc):
    rule = {"bilirubin": (3, None), "albumin": (None, 3.5)}
    return MLTSKClassifier(n_rules=4, order=0).fit(pbc.X, pbc.Y, rules=[rule])


def test_given_rules_are_printed_first_with_what_was_observed(pbc, clf):
    held = (pbc.X.bilirubin >= 3) & (pbc.X.albumin <= 3.5)
    edema = pbc.Y.edema[held]
    text = str(clf.rules_)
    size = f"{held.sum()} samples, {100 * held.mean():.0f} % of the data"
    assert f"Your rule 1 — {size}" in text
    assert "IF\n    bilirubin 3 or above\n    albumin 3.5 or below\n  THEN" in text
    members = f"{edema.sum():.0f} of {edema.notna().sum()} had it"
    assert f"edema: {members}, {pbc.Y.edema.sum():.0f} of " in text
    titles = ["Your rule 1", "In general", "Exception 1"]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)


def test_given_rules_are_the_first_of_the_rule_base(clf):
    assert len(clf.rules_) == 1 + 1 + len(clf.rules_.exceptions)
    assert str(clf.rules_[0]) == str(clf.rules_.given[0])
    assert str(clf.rules_[1]).startswith("In general")


def test_explain_adds_up_with_given_rules(pbc, clf):
    why = clf.explain(pbc.X)
    total = why.base + why.given_effects().sum(axis=1)
    total = total + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
    assert_allclose(total, why.scores, atol=1e-12)
    frame = why[:20].to_frame()
    sums = frame.groupby(["sample", "label"], sort=False).contribution.sum()
    assert_allclose(sums, why[:20].scores.ravel())
    words = "your rule 1: bilirubin 3 or above and albumin 3.5 or below"
    assert words in str(clf.explain(pbc.X[:1]))


def test_to_json_and_to_frame_have_given_rules(clf):
    (given,) = json.loads(clf.rules_.to_json())["given"]
    conditions = [(c["feature"], c["low"], c["high"]) for c in given["conditions"]]
    assert conditions == [("bilirubin", 3.0, None), ("albumin", None, 3.5)]
    rows = clf.rules_.to_frame("given")
    assert sorted(rows.label) == sorted(clf.label_names_)
    assert_allclose(rows.change, [c["shift"] for c in given["consequents"]])


def test_for_feature_keeps_given_rules_that_ask_for_it(clf):
    assert len(clf.rules_.for_feature("albumin").given) == 1
    without = clf.rules_.for_feature("sex")
    assert len(without.given) == 0
    assert len(without) == len(clf.rules_) - 1


def test_given_conditions_on_levels_are_told_by_name():
    stage = pd.Categorical(np.tile(["I", "II", "III"], 40), ordered=True)
    X = pd.DataFrame({"stage": stage, "a": np.arange(120.0)})
    y = (X.a > 50).astype(int)
    rules = [{"stage": ("II", None)}, {"stage": "I", "a": 6}]
    clf = MLTSKClassifier(n_rules=0).fit(X, y, rules=rules)
    first, second = clf.rules_.given
    assert [str(condition) for condition in first.conditions] == ["stage II or above"]
    assert [str(c) for c in second.conditions] == ["stage is I", "a is 6"]
