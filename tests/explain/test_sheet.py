"""A short model is its text.

Programs that read nothing but the printed text, or `to_dict`, predict what the model
predicts.
"""

import json
import math
import os

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, load_dataset, read_table

from .sheet_reader import SheetReader

# a program for plain data -------------------------------------------------------------


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def worked_out(text, sample):
    """Which labels a sample is given, by the statements of a short model's text.

    ``sample`` is {feature: number, word or None}.
    """
    labels = []
    for rule in text["general"]:
        score = rule["shift"]
        for shape in rule["shapes"]:
            score += added(shape, sample[shape["feature"]])
        for given in text["given"]:
            if all(holds(c, sample[c["feature"]]) for c in given["conditions"]):
                score += shift_of(given, rule["label"])
        for exception in text["exceptions"]:
            membership = fits(exception["conditions"], sample)
            score += membership * shift_of(exception, rule["label"])
        labels.append(score >= rule["threshold"])
    return labels


def shift_of(rule, label):
    return sum(c["shift"] for c in rule["consequents"] if c["label"] == label)


def added(shape, value):
    if shape["kind"] == "not measured":
        return shape["y"][1] if is_missing(value) else 0.0
    if is_missing(value):
        return shape["average"]
    if shape["names"] and not isinstance(value, (int, float)):
        return dict(zip(shape["names"], shape["y"], strict=True))[str(value)]
    return np.interp(value, shape["x"], shape["y"])


def holds(condition, value):
    if condition["words"]:
        return value in condition["words"]
    low = condition["low"]
    high = condition["high"]
    return (low is None or value >= low) and (high is None or value <= high)


def fits(conditions, sample):
    measured = [c for c in conditions if not is_missing(sample[c["feature"]])]
    if not measured:
        return 0.0
    far = 0.0
    for c in measured:
        value = sample[c["feature"]]
        if c["values"]:
            far += 0.0 if is_met(c["values"], value) else math.inf
        else:
            far += ((value - c["center"]) / c["reach"]) ** 2
    return math.exp(-far * len(conditions) / len(measured))


def is_met(shares, value):
    """Whether a condition on the values with these shares is met by a value."""
    return any(word == value and share == 1 for word, share, _ in shares)


def share_worked_out(clf, X):
    """Share of samples to which the program gives the same labels as the model."""
    text = json.loads(clf.rules_.to_json())
    if hasattr(X, "columns"):
        samples = X.to_dict("records")
    else:
        samples = [dict(zip(text["features"], x, strict=True)) for x in X]
    labels = np.array([worked_out(text, sample) for sample in samples])
    return (labels == (clf.predict(X) == 1)).all(axis=1).mean()


# what it predicts ---------------------------------------------------------------------

needs_data = pytest.mark.skipif(
    os.environ.get("MLTSK_DATA") is None,
    reason="MLTSK_DATA is not set: no data sets at hand",
)


def read_scores(clf, X):
    """Log-odds by the program that reads the printed text alone."""
    reader = SheetReader.of(str(clf.rules_))
    X = pd.DataFrame(X, columns=clf.rules_.feature_names)
    samples = X.astype(object).where(X.notna(), None).to_dict("records")
    return np.array([reader.scores(sample) for sample in samples])


def assert_text_is_the_model(clf, X):
    expected = clf.system_.probabilities(read_scores(clf, X))
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-7)
    np.testing.assert_allclose(read_scores(clf, X), clf.explain(X).scores, atol=1e-6)


@pytest.mark.parametrize("ordinal", [None, "stage: 1 < 2 < 3 < 4"])
def test_text_of_a_sheet_scores_a_clinical_table_with_gaps_to_the_digit(ordinal):
    table = read_table("pbc", ordinal=ordinal)
    assert table.X.isna().any().any()
    long = MLTSKClassifier(threshold="f1").fit(table.X, table.Y)
    for size in (5, 12, 30):
        short = long.shorten(size)
        assert short.n_statements_.max() <= size
        assert_text_is_the_model(short, table.X)


@needs_data
@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_text_of_a_sheet_scores_benchmark_data_to_the_digit(name):
    X, Y = load_dataset(name).frames()
    long = MLTSKClassifier().fit(X, Y)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    for size in (5, 12, 30):
        short = long.shorten(size)
        assert short.n_statements_.max() <= size
        assert_text_is_the_model(short, X)
        assert_text_is_the_model(short, holes)  # which this table never had


def test_text_of_a_sheet_has_few_digits():
    table = read_table("pbc")
    long = MLTSKClassifier().fit(table.X, table.Y)
    for size in (4, 12, 40):
        system = long.shorten(size).system_
        np.testing.assert_array_equal(system.intercept, system.intercept.round(2))
        for consequent in long.shorten(size).rules_.general:
            for shape in consequent.shapes:
                told = [*shape.y, shape.average]
                if shape.per is not None:
                    per_unit = shape.y[1] / (shape.x[1] - shape.x[0]) * shape.per
                    assert per_unit == pytest.approx(round(per_unit, 3), abs=1e-9)
                    told = [shape.average]
                np.testing.assert_allclose(told, np.round(told, 2), atol=1e-12)


def test_sheet_tells_what_a_missing_cell_adds_in_the_line_of_its_feature():
    table = read_table("pbc")
    rules = MLTSKClassifier().fit(table.X, table.Y).shorten(12).rules_
    shapes = [shape for consequent in rules.general for shape in consequent.shapes]
    told = {shape.feature for shape in shapes if "; not measured " in str(shape)}
    n_missing = table.X.isna().sum()
    assert told <= set(n_missing.index[n_missing > 0])
    assert {"copper", "cholesterol"} <= told
    assert not any(shape.kind == "not measured" for shape in shapes)


@pytest.mark.parametrize("size", [3, 12, 30])
def test_plain_data_of_a_sheet_predicts_what_the_model_predicts(size):
    table = read_table("pbc", ordinal="stage: 1 < 2 < 3 < 4")
    clf = MLTSKClassifier(threshold="f1", max_statements=size).fit(table.X, table.Y)
    assert share_worked_out(clf, table.X) >= 0.99


def test_sheet_has_the_rules_of_the_user():
    table = read_table("pbc")
    rules = [{"sex": "male"}, {"bilirubin": (2, None), "albumin": (None, 3.5)}]
    clf = MLTSKClassifier(n_rules=0, ridge=0.1, max_statements=40)
    clf.fit(table.X, table.Y, rules=rules)
    assert any(len(rule.consequents) for rule in clf.rules_.given)
    assert share_worked_out(clf, table.X) >= 0.99
    assert_text_is_the_model(clf, table.X)


@needs_data
@pytest.mark.parametrize("name", ["flags", "emotions", "birds", "yeast"])
def test_sheet_of_benchmark_data_can_be_worked_out_by_hand(name):
    data = load_dataset(name)
    X = np.asarray(data.X)[:500]
    clf = MLTSKClassifier(max_statements=12).fit(X, data.Y[:500])
    assert share_worked_out(clf, X) >= 0.99


def test_sheet_has_exceptions_where_features_matter_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) * [1, 10, 100, 1] + [0, 50, 2000, 0]
    Y = np.column_stack([(X[:, 0] > 0) != (X[:, 1] > 50), X[:, 2] > 2000]).astype(int)
    clf = MLTSKClassifier(n_rules=60, order=0, max_statements=12, max_conditions=2)
    clf.fit(X, Y)
    assert len(clf.rules_.exceptions) > 0
    assert clf.n_statements_.max() <= 12
    assert (clf.predict(X) == Y).mean() > 0.75
    assert share_worked_out(clf, X) >= 0.99
    assert_text_is_the_model(clf, X)


def table_of_pairs():
    """Age and sex act together, age and a ward, and a dose has a straight line."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, size=900),
            "sex": rng.choice(["female", "male"], size=900),
            "dose": rng.uniform(3, 58, size=900).round(1),
            "ward": rng.choice(["a", "b", "c"], size=900),
            "fever": rng.integers(0, 2, size=900),
        }
    )
    X.loc[::17, "age"] = np.nan
    X.loc[::13, "sex"] = None
    young_women = (X["age"] < 40) & (X["sex"] == "female")
    feverish = (X["fever"] == 1) & (X["ward"] == "b")
    chance = 0.1 + 0.012 * X["dose"]
    Y = np.column_stack([young_women, feverish, rng.uniform(size=900) < chance])
    return X, Y.astype(int)


@pytest.fixture(scope="module")
def paired():
    X, Y = table_of_pairs()
    long = MLTSKClassifier(n_rules=0, n_pairs=4, threshold="f1").fit(X, Y)
    return long.shorten(8), X


def test_sheet_has_cells_of_pairs_and_can_be_worked_out_by_hand(paired):
    short, X = paired
    asked = [
        tuple(sorted(str(condition) for condition in rule.conditions))
        for rule in short.rules_.exceptions
    ]
    assert ("fever is 1", "ward is b") in asked
    assert any(pair[1] == "sex is female" and "age" in pair[0] for pair in asked)
    assert short.n_statements_.max() <= 8
    assert share_worked_out(short, X) >= 0.99
    assert_text_is_the_model(short, X)


# what it says -------------------------------------------------------------------------


def best_number(chances, x, low, high):
    """The number of a ramp that is best for chances at evenly spread values x."""
    columns = np.stack([np.ones_like(x), np.clip((x - low) / (high - low), 0, 1)])
    numbers = np.zeros(2)
    for _ in range(20):
        p = 1 / (1 + np.exp(-numbers @ columns))
        H = (columns * p * (1 - p)) @ columns.T
        numbers = numbers + np.linalg.solve(H, columns @ (chances - p))
    return numbers[1]


@pytest.mark.parametrize("rise", [0.9, 2.5], ids=["weak", "strong"])
def test_errors_of_a_sheet_hold_the_truth_as_often_as_they_say(rise):
    def chance(x):
        return 1 / (1 + np.exp(1 - rise * np.clip((x - 0.2) / 0.6, 0, 1)))

    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 401)
    held = {"x0": [], "noise": []}
    for _ in range(40):
        X = rng.uniform(size=(300, 4))
        Y = rng.uniform(size=(300, 4)) < chance(X[:, :1])
        clf = MLTSKClassifier(n_rules=0, n_pairs=0, max_statements=2).fit(X, Y)
        for consequent in clf.rules_.general:  # 160 in all
            for shape in consequent.shapes:
                if len(shape.x) > 2:
                    continue
                change = shape.y[-1] - shape.y[0]
                if shape.feature == "x0":
                    change -= best_number(chance(grid), grid, shape.x[0], shape.x[-1])
                kind = "x0" if shape.feature == "x0" else "noise"
                held[kind].append(abs(change) < shape.error)
    assert min(map(len, held.values())) > 100
    assert np.mean(held["x0"]) >= 0.9
    assert np.mean(held["noise"]) >= 0.9
    assert np.mean(held["x0"] + held["noise"]) < 0.995


def test_halves_of_a_sheet_do_not_choose_noise_again():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20))
    Y = X[:, :1] + rng.normal(size=(300, 2)) > 0
    clf = MLTSKClassifier(n_rules=0, max_statements=6).fit(X, Y)
    shapes = clf.rules_.general[0].shapes
    assert shapes[0].feature == "x0"
    assert shapes[0].chosen == (16, 16)
    assert max(shape.chosen[0] for shape in shapes[1:]) < 15


def test_sheet_tells_a_straight_line_per_round_unit():
    rng = np.random.default_rng(0)
    dose = np.round(rng.uniform(3, 57.9, 900), 1)
    dose[:2] = 3.0, 57.9
    X = pd.DataFrame({"dose": dose, "noise": rng.normal(size=900)})
    Y = rng.uniform(size=(900, 2)) < 0.1 + 0.012 * dose[:, None]
    short = MLTSKClassifier(n_rules=0).fit(X, Y).shorten(1)
    (line,) = short.rules_.general[0].shapes
    assert line.feature == "dose"
    assert line.x == (3.0, 57.9)
    assert line.y[0] == 0
    assert line.per == 10.0
    per_10 = line.y[1] * 10 / 54.9
    assert per_10 == pytest.approx(0.58, abs=0.1)
    assert str(line).startswith(f"more likely with higher dose ({per_10:+.3g} ± ")
    assert str(line).endswith(" per 10, from 3 to 57.9, 16 of 16)")
    assert per_10 == pytest.approx(float(f"{per_10:.3g}"), rel=1e-6)
    text = " ".join(str(short.rules_).split())
    assert "is added for every 10 of it above the first value" in text


def test_sheet_says_when_a_condition_on_one_value_is_met(paired):
    short, _ = paired
    text = " ".join(str(short.rules_).split())
    assert "is met by that value and by no other" in text


def test_sheet_line_bends_at_every_point_that_is_told():
    table = read_table("pbc")
    rules = MLTSKClassifier(max_statements=20).fit(table.X, table.Y).rules_
    shapes = [shape for consequent in rules.general for shape in consequent.shapes]
    bent = [shape for shape in shapes if len(shape.x) > 2 and not shape.names]
    assert bent
    for shape in bent:
        slopes = np.diff(shape.y) / np.diff(shape.x)
        assert (np.abs(np.diff(slopes)) > 0.01 * np.abs(slopes).max()).all()


def test_sheet_is_printed_whole_however_long_it_is():
    table = read_table("pbc")
    clf = MLTSKClassifier(max_statements=40, threshold="f1").fit(table.X, table.Y)
    text = " ".join(str(clf.rules_).split()).replace(" of 16 fits", "")
    text = text.replace("15 of 16' means", "")
    assert "cover the whole model" in text
    n_shapes = sum(len(consequent.shapes) for consequent in clf.rules_.general)
    assert text.count(" of 16") == n_shapes > 25
    for label, threshold in zip(clf.label_names_, clf.thresholds_, strict=True):
        assert f"{label} {100 * threshold:.3g} %" in text
