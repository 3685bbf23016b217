"""Rules that the user gave, in words, in reasons and as data."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table

RULES = [{"bilirubin": (3, None), "albumin": (None, 3.5)}, {"sex": "male", "age": 60}]


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def clf(pbc):
    return MLTSKClassifier(n_rules=4, order=0).fit(pbc.X, pbc.Y, rules=RULES[:1])


def test_they_are_printed_first_with_what_was_observed(pbc, clf):
    held = (pbc.X.bilirubin >= 3) & (pbc.X.albumin <= 3.5)
    edema = pbc.Y.edema[held]
    text = str(clf.rules_)
    assert (
        f"Your rule 1 — {held.sum()} samples, {held.mean():.0%}".replace(
            "%", " % of the data"
        )
        in text
    )
    assert "IF\n    bilirubin 3 or above\n    albumin 3.5 or below\n  THEN" in text
    assert (
        f"edema: {edema.sum():.0f} of {edema.notna().sum()} had it, {pbc.Y.edema.sum():.0f} of "
        in text
    )
    assert (
        text.index("Your rule 1") < text.index("In general") < text.index("Exception 1")
    )


def test_reasons_add_up_with_them(pbc, clf):
    why = clf.explain(pbc.X)
    total = (
        why.base
        + why.given_effects().sum(axis=1)
        + why.feature_effects().sum(axis=1)
        + why.shifts.sum(axis=1)
    )
    assert_allclose(total, why.scores, atol=1e-12)
    frame = why[:20].to_frame()
    assert_allclose(
        frame.groupby(["sample", "label"], sort=False).contribution.sum(),
        why[:20].scores.ravel(),
    )
    assert "your rule 1: bilirubin 3 or above and albumin 3.5 or below" in str(
        clf.explain(pbc.X[:1])
    )


def test_they_are_data(clf):
    given = json.loads(clf.rules_.to_json())["given"]
    assert [(c["feature"], c["low"], c["high"]) for c in given[0]["conditions"]] == [
        ("bilirubin", 3.0, None),
        ("albumin", None, 3.5),
    ]
    rows = clf.rules_.to_frame("given")
    assert sorted(rows.label) == sorted(clf.label_names_)
    assert_allclose(rows.change, [c["shift"] for c in given[0]["consequents"]])
    assert len(clf.rules_.for_feature("albumin").given) == 1
    assert len(clf.rules_.for_feature("sex").given) == 0


def test_levels_in_an_order_are_told_by_name():
    stage = pd.Categorical(np.tile(["I", "II", "III"], 40), ordered=True)
    X = pd.DataFrame({"stage": stage, "a": np.arange(120.0)})
    clf = MLTSKClassifier(n_rules=0).fit(
        X,
        (X.a > 50).astype(int),
        rules=[{"stage": ("II", None)}, {"stage": "I", "a": 6}],
    )
    assert [[str(c) for c in rule.conditions] for rule in clf.rules_.given] == [
        ["stage II or above"],
        ["stage is I", "a is 6"],
    ]
