"""A model on another table: judged by its own predictions, with what has changed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest
from sklearn.metrics import average_precision_score, roc_auc_score

from mltsk import MLTSKClassifier, PaperMLTSK, load, read_table, review, save
from mltsk.exceptions import InputError
from mltsk.metrics import calibration_line
from mltsk.pages.review import review_page, validation_page
from mltsk.pages.review_drift import drifts_of, feature_drifts
from mltsk.pages.review_elsewhere import (
    labels_elsewhere,
    matching_table,
)

from .test_review import Reader, text_of


def made_table(n=200, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    age = rng.normal(50 + shift, 10, n).round(1)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], n, p=[0.7, 0.3]),
            "stage": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], True
            ),
            "iron": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        }
    )
    frame["gout"] = (age + rng.normal(0, 8, n) > 55).astype(float)
    frame["odd"] = (rng.random(n) < 0.4).astype(float)
    frame.loc[:4, "odd"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fitted():
    table = read_table(made_table(), ["gout", "odd"])
    return MLTSKClassifier(threshold="f1").fit(table.X, table.Y)


@pytest.fixture(scope="module")
def other():
    frame = made_table(150, seed=1, shift=15.0)
    frame.loc[:9, "sex"] = "unknown"
    frame["sex"] = frame["sex"].astype(object)
    frame.loc[:, "iron"] = np.nan
    return read_table(
        frame[frame.columns[::-1]],
        ["gout", "odd"],
        number=["iron"],
        ordinal={"stage": ["low", "mid", "high"]},
    )


def test_labels_elsewhere_are_judged_by_what_the_model_predicts(fitted, other):
    table = matching_table(other, list(fitted.feature_names_in_), ["gout", "odd"])
    chances = fitted.predict_proba(table.X)
    given = fitted.predict(table.X)
    for j, label in enumerate(labels_elsewhere(fitted, table)):
        y = other.Y[label.name].to_numpy()
        rows = ~np.isnan(y)
        assert_allclose(label.AUC[0], roc_auc_score(y[rows], chances[rows, j]))
        AP = average_precision_score(y[rows], chances[rows, j])
        assert_allclose(label.AP[0], AP)
        assert label.found == (given[rows, j] * y[rows]).sum()
        assert label.alarms == (given[rows, j] * (1 - y[rows])).sum()


def test_feature_drifts_are_those_of_the_rows_of_the_fit(fitted, other):
    table = matching_table(other, list(fitted.feature_names_in_), ["gout", "odd"])
    drifts = drifts_of(fitted.system_, table)
    age, sex, stage, iron = feature_drifts(fitted.system_, table)
    exact = kstest(made_table()["age"], other.X["age"]).statistic
    assert_allclose(age.shift, exact, atol=0.05)  # percentiles are by twentieths
    assert drifts.moved == ["age"]
    assert sex.unseen == "'unknown': 10 rows"
    assert stage.then == "mid (low to high)"
    assert iron.now == "never measured"
    assert_allclose(iron.missing_then, made_table()["iron"].isna().mean())
    assert iron.missing_now == 1
    assert drifts.line_on_missing == "Never measured in this table: iron."
    own = read_table(made_table(), ["gout", "odd"])
    shifts = [drift.shift for drift in feature_drifts(fitted.system_, own)]
    assert max(shifts) < 0.03


def test_validation_page_of_a_model_file_says_what_has_changed(fitted, other, tmp_path):
    save(fitted, tmp_path / "model.skops")
    model = load(tmp_path / "model.skops")
    made = validation_page(model, other, fitted_on="the first clinic")
    page = Reader(made.page)
    assert "fitted on other rows, of the first clinic" in page.text
    assert "The model is a finished one" in page.text
    assert "Another table than that of the fit" in page.headings
    assert "Are there enough rows?" not in page.headings
    table = matching_table(other, list(model.feature_names_in_), ["gout", "odd"])
    label = labels_elsewhere(model, table)[0]
    line = calibration_line(label.y, label.chances)
    (row,) = (row for row in page.rows if row[0] == "gout" and len(row) == 8)
    share = other.Y["gout"].mean()
    assert row[2].startswith(f"{100 * share:.0f} %")
    assert row[3] == f"{100 * label.chances.mean():.0f} %"
    assert row[4].startswith(f"{share / label.chances.mean():.2f}")
    assert row[5].startswith(f"{line.intercept.value:.2f}")
    assert "age" in page.text[page.text.index("Features that differ") :][:60]
    path = review(other, tmp_path / "page.html", fitted=fitted)
    again = text_of(path.read_text(encoding="utf-8"))
    assert "The model is a finished one" in again


def test_review_page_with_a_test_table_judges_on_that_table(other):
    table = read_table(made_table(), ["gout", "odd"])
    page = Reader(review_page(table, quick=True, test=other).page)
    assert "150 rows. The model was fitted on other rows" in page.text
    assert "What is in the table of the fit" in page.headings
    assert "Are there enough rows?" in page.headings
    (row,) = (row for row in page.rows if row[0] == "gout" and len(row) == 9)
    own = review_page(table, quick=True)
    (fit_row,) = (r for r in Reader(own.page).rows if r[0] == "gout" and len(r) == 10)
    assert row[7] == fit_row[4]  # AUC in left-out rows of the fit


def test_review_refuses_tables_and_models_that_do_not_fit(fitted, other, tmp_path):
    table = read_table(made_table(), ["gout", "odd"])
    without = read_table(made_table().drop(columns="age"), ["gout", "odd"])
    with pytest.raises(InputError, match="no feature 'age', which the model needs"):
        review_page(table, quick=True, test=without)
    with pytest.raises(InputError, match="leave test out, or fitted"):
        review(table, tmp_path / "page.html", fitted=fitted, test=other)
    papers = PaperMLTSK(1, correlation_weight=0.01)
    numbers = table.X[["age"]].fillna(0.0)
    fitted_papers = papers.fit(numbers, table.Y.fillna(0.0))
    for options in ({"model": papers}, {"fitted": fitted_papers}):
        with pytest.raises(InputError, match="of an MLTSKClassifier"):
            review(table, tmp_path / "page.html", **options)
    classes = MLTSKClassifier().fit(table.X, table.Y["gout"])
    with pytest.raises(InputError, match="one class of several"):
        validation_page(classes, other)
    assert not list(tmp_path.iterdir())


def test_first_screen_elsewhere_says_nothing_of_labels_that_nobody_has(fitted):
    frame = made_table(60, seed=2)
    frame["odd"] = 0.0
    text = text_of(validation_page(fitted, read_table(frame, ["gout", "odd"])).page)
    assert "No label is more or less common there than the model says" in text
    assert "odd: no row has it, so it cannot be judged." in text


def test_first_screen_elsewhere_doubts_units_and_words_first(fitted, other):
    text = text_of(validation_page(fitted, other).page)
    _, _, trust = text.partition("Can this be trusted?")
    assert trust.strip().startswith(
        "This table is unlike that of the fit in age: are units and words the same? "
        "Never measured in this table: iron. Values of sex were never seen in the "
        "fit, and count as nothing."
    )
    alike = read_table(made_table(150, seed=1), ["gout", "odd"])
    text = text_of(validation_page(fitted, alike).page)
    assert "are units and words the same?" not in text


def test_drift_of_a_few_measured_rows_is_chance_and_their_gaps_are_not(fitted):
    frame = made_table(120, seed=1)
    frame.loc[frame.index >= 12, "age"] = np.nan
    frame["sex"] = None
    table = read_table(frame, ["gout", "odd"], nominal=["sex"])
    table = matching_table(table, list(fitted.feature_names_in_), ["gout", "odd"])
    age, sex, *_ = feature_drifts(fitted.system_, table)
    assert age.shift > 0.25  # beyond chance in 120 rows, not in 12
    assert sex.now == "never measured"
    assert drifts_of(fitted.system_, table).moved == []
    text = text_of(validation_page(fitted, table).page)
    assert "Never measured in this table: sex." in text
    assert "are units and words the same?" not in text


def test_chance_alone_is_hardly_ever_called_drift():
    rng = np.random.default_rng(0)
    n_told = 0
    for seed in range(40):
        frame = made_table(160, seed=seed)
        frame["ward"] = rng.choice(list("abcdefghijkl"), 160)
        first = read_table(frame[:100], ["gout", "odd"])
        model = MLTSKClassifier(n_rules=0, n_pairs=0).fit(first.X, first.Y)
        others = read_table(frame[100:], ["gout", "odd"])
        others = matching_table(others, first.feature_names, ["gout", "odd"])
        n_told += bool(drifts_of(model.system_, others).moved)
    assert n_told <= 3  # one in twenty, at most


def test_rows_that_the_model_has_seen_are_no_validation(fitted):
    frame = made_table()
    own = read_table(frame, ["gout", "odd"])
    with pytest.raises(InputError, match="All rows of data are also in data, which"):
        review_page(own, quick=True, test=read_table(frame[50:90], ["gout", "odd"]))
    with pytest.raises(InputError, match="The model was fitted on the rows of data"):
        validation_page(fitted, own)
    mixed = pd.concat([frame[:40], made_table(60, seed=9)], ignore_index=True)
    made = review_page(own, quick=True, test=read_table(mixed, ["gout", "odd"]))
    text = text_of(made.page)
    assert "40 of 100 rows are also in the table of the fit" in text


def test_rows_that_are_alike_by_chance_are_told_of_no_one():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.choice(list("ab"), (160, 3)), columns=["x", "y", "z"])
    frame["gout"] = (frame["x"] == "a") ^ (rng.random(160) < 0.2)
    frame["gout"] = frame["gout"].astype(float)
    first = read_table(frame[:100], ["gout"])
    made = review_page(first, quick=True, test=read_table(frame[100:], ["gout"]))
    assert "also in the table of the fit" not in text_of(made.page)


def test_few_rows_elsewhere_are_counted_as_they_are(fitted):
    made = validation_page(fitted, read_table(made_table(30, seed=6), ["gout", "odd"]))
    counts = made_table(30, seed=6)["gout"].value_counts()
    first, *_ = text_of(made.page).split("Can this be trusted?")
    assert f"Of 30 rows, {counts[1.0]} have it" in first
    assert "Of 100 rows" not in first


def test_first_screen_elsewhere_says_of_what_the_model_expects_too_many_cases(fitted):
    frame = made_table(200, seed=5)
    frame.loc[frame.index % 3 > 0, "gout"] = 0.0
    frame.loc[frame.index % 2 == 0, "odd"] = 1.0
    text = text_of(validation_page(fitted, read_table(frame, ["gout", "odd"])).page)
    assert (
        "there the model expects too many cases of gout and too few cases of odd."
    ) in text


def test_review_of_few_cases_elsewhere_does_not_say_that_there_is_nothing(fitted):
    frame = made_table(40, seed=3)
    frame["gout"] = np.where(np.arange(40) == 0, 1.0, 0.0)
    made = validation_page(fitted, read_table(frame, ["gout", "odd"]))
    text = text_of(made.page)
    assert made.labels[0].startswith("gout cannot be judged: there is only 1 case")
    assert "Figures are rough where fewer than 100 rows have a label: gout (1)" in text
    assert "There are too few cases to say whether probabilities are right." in text
    assert "Probabilities can be trusted" not in text
    assert "–-–" not in text  # a range that is not known
    assert "nan" not in text.split()


def test_first_screen_trusts_no_probabilities_of_a_dozen_cases(fitted):
    frame = made_table(60, seed=4, shift=-8.0)
    frame["gout"] = (frame["age"] >= frame["age"].nlargest(12).min()).astype(float)
    frame["odd"] = np.nan
    text = text_of(validation_page(fitted, read_table(frame, ["gout", "odd"])).page)
    assert "gout can perhaps be predicted" in text
    assert "There are too few cases to say whether probabilities are right." in text
    assert "Probabilities can be trusted" not in text
