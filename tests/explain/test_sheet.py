"""A short model is its text: a program that reads nothing but `to_dict` predicts what the model predicts."""

import json
import math
import os

import numpy as np
import pytest

from mltsk import MLTSKClassifier, load_dataset, read_table


def worked_out(text, sample):
    """Labels of a sample, {feature: number, word or None}, by the statements of a short model's text."""
    given = []
    for rule in text["general"]:
        score = rule["shift"] + sum(
            added(shape, sample[shape["feature"]]) for shape in rule["shapes"]
        )
        for own in text["given"]:
            shifts = [
                c["shift"] for c in own["consequents"] if c["label"] == rule["label"]
            ]
            score += sum(shifts) * all(
                holds(condition, sample[condition["feature"]])
                for condition in own["conditions"]
            )
        for exception in text["exceptions"]:
            shifts = [
                c["shift"]
                for c in exception["consequents"]
                if c["label"] == rule["label"]
            ]
            score += sum(shifts) * fits(exception["conditions"], sample)
        given.append(score >= rule["threshold"])
    return given


def added(shape, value):
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    if shape["kind"] == "not measured":
        return shape["y"][1] if missing else 0.0
    if missing:
        return shape["average"]
    if shape["names"] and not isinstance(value, (int, float)):
        return dict(zip(shape["names"], shape["y"], strict=True))[str(value)]
    return np.interp(value, shape["x"], shape["y"])


def holds(condition, value):
    if condition["words"]:
        return value in condition["words"]
    low, high = condition["low"], condition["high"]
    return (low is None or value >= low) and (high is None or value <= high)


def fits(conditions, sample):
    there = [
        c
        for c in conditions
        if sample[c["feature"]] is not None and not math.isnan(sample[c["feature"]])
    ]
    far = sum(((sample[c["feature"]] - c["center"]) / c["reach"]) ** 2 for c in there)
    return math.exp(-far * len(conditions) / len(there)) if there else 0.0


def same(clf, X):
    text = json.loads(clf.rules_.to_json())
    samples = (
        X.to_dict("records")
        if hasattr(X, "columns")
        else [dict(zip(text["features"], x, strict=True)) for x in X]
    )
    return (
        (
            np.array([worked_out(text, sample) for sample in samples])
            == (clf.predict(X) == 1)
        )
        .all(axis=1)
        .mean()
    )


@pytest.mark.parametrize("size", [3, 12, 30])
def test_a_clinical_table_can_be_predicted_by_hand(size):
    table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
    clf = MLTSKClassifier(threshold="f1", max_statements=size).fit(table.X, table.Y)
    assert same(clf, table.X) >= 0.99


def test_rules_of_the_user_are_part_of_it():
    table = read_table("pbc")
    rules = [{"sex": "male"}, {"bilirubin": (2, None), "albumin": (None, 3.5)}]
    clf = MLTSKClassifier(n_rules=0, ridge=0.1, max_statements=40).fit(
        table.X, table.Y, rules=rules
    )
    assert any(len(rule.consequents) for rule in clf.rules_.given)
    assert same(clf, table.X) >= 0.99


@pytest.mark.skipif(
    os.environ.get("MLTSK_DATA") is None,
    reason="MLTSK_DATA is not set: no data sets at hand",
)
@pytest.mark.parametrize("name", ["flags", "emotions", "birds", "yeast"])
def test_benchmark_data_can_be_predicted_by_hand(name):
    data = load_dataset(name)
    X, Y = np.asarray(data.X)[:500], data.Y[:500]
    assert same(MLTSKClassifier(max_statements=12).fit(X, Y), X) >= 0.99


def test_where_features_matter_together_exceptions_are_part_of_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) * [1, 10, 100, 1] + [0, 50, 2000, 0]
    Y = np.column_stack([(X[:, 0] > 0) != (X[:, 1] > 50), X[:, 2] > 2000]).astype(int)
    clf = MLTSKClassifier(n_rules=60, order=0, max_statements=12, max_conditions=2).fit(
        X, Y
    )
    assert len(clf.rules_.exceptions) > 0
    assert clf.n_statements_.max() <= 12
    assert (clf.predict(X) == Y).mean() > 0.75
    assert same(clf, X) >= 0.99


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng, held = np.random.default_rng(0), []
    for _ in range(40):
        X = rng.uniform(size=(300, 2))
        chance = 0.2 + 0.5 * np.clip((X[:, 0] - 0.2) / 0.6, 0, 1)
        clf = MLTSKClassifier(n_rules=0, max_statements=1).fit(
            X, rng.uniform(size=(300, 2)) < chance[:, None]
        )
        (shape,) = clf.rules_.general[0].shapes
        true = 0.2 + 0.5 * np.clip(
            (np.array([shape.x[0], shape.x[-1]]) - 0.2) / 0.6, 0, 1
        )
        held.append(abs(shape.change - (true[1] - true[0])) < shape.error)
    assert 0.75 <= np.mean(held)


def test_noise_is_not_chosen_again():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20))
    Y = X[:, :1] + rng.normal(size=(300, 2)) > 0
    shapes = (
        MLTSKClassifier(n_rules=0, max_statements=6).fit(X, Y).rules_.general[0].shapes
    )
    assert shapes[0].feature == "x0"
    assert shapes[0].chosen == (5, 5)
    assert min(shape.chosen[0] for shape in shapes) < 5


def test_a_line_bends_at_every_point_that_is_told():
    table = read_table("pbc")
    rules = MLTSKClassifier(max_statements=20).fit(table.X, table.Y).rules_
    bent = [
        shape
        for rule in rules.general
        for shape in rule.shapes
        if len(shape.x) > 2 and not shape.names
    ]
    assert bent
    for shape in bent:
        slopes = np.diff(shape.y) / np.diff(shape.x)
        assert (np.abs(np.diff(slopes)) > 0.01 * np.abs(slopes).max()).all()


def test_a_short_model_is_printed_whole_however_long_it_is():
    table = read_table("pbc")
    clf = MLTSKClassifier(max_statements=40, threshold="f1").fit(table.X, table.Y)
    text = " ".join(str(clf.rules_).split())
    assert "cover the whole model" in text
    assert (
        text.count(" of 5") == sum(len(rule.shapes) for rule in clf.rules_.general) > 25
    )
    for label, threshold in zip(clf.label_names_, clf.thresholds_, strict=True):
        assert f"{label} {threshold:.3g}" in text
