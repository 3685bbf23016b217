"""Sheets of points as files: what is printed is what is computed."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import MLTSKClassifier, points_sheet
from mltsk.exceptions import InputError
from mltsk.pages.judged import judge
from mltsk.pages.nomogram import CHARACTER, LEFT, NAMES, RIGHT, WIDTH, nomogram
from mltsk.pages.points import points_facts

from .sheet_of_points import SheetOfCSV, SheetOfHTML


@pytest.fixture(scope="module")
def points(table):
    X, Y = table
    return MLTSKClassifier(threshold="f1").fit(X, Y).points()


def people(X):
    """Rows as a person would write them down: words, numbers, or None."""
    rows = []
    for _, row in X.iterrows():
        cells = {}
        for name, cell in row.items():
            if cell is None or cell is pd.NA or cell != cell:
                cells[name] = None
            elif isinstance(cell, bool | np.bool_):
                cells[name] = "yes" if cell else "no"
            else:
                cells[name] = cell
        rows.append(cells)
    return rows


@pytest.mark.parametrize("reader", [SheetOfCSV, SheetOfHTML])
def test_a_program_that_reads_only_the_sheet_predicts_the_same(
    points, table, tmp_path, reader
):
    X, _ = table
    X = X.copy()
    X.loc[0, "smoker"] = "never heard of"
    X.loc[1, "stage"] = None
    suffix = "csv" if reader is SheetOfCSV else "html"
    path = points_sheet(points, tmp_path / f"sheet.{suffix}", title="people")
    sheet = reader(path.read_text(encoding="utf-8"))
    persons = people(X)
    for j, label in enumerate(points.label_names_):
        read = [sheet.probability(label, person) for person in persons]
        assert read == points.predict_proba(X)[:, j].tolist()
        if suffix == "csv":
            given = [sheet.is_given(label, person) for person in persons]
            assert given == points.predict(X)[:, j].astype(bool).tolist()
    assert X.isna().any(axis=None)


def test_marks_of_the_nomogram_stand_at_their_points(points):
    sheet = points.sheets_[0]
    _, *axes, totals, chances = nomogram(sheet)["axes"]
    most = max(item.most for item in sheet.items)
    for item, axis in zip(sheet.items, axes, strict=True):
        given = {given for _, given in item.choices()[:-1]}
        assert {mark.points for mark in axis.marks} == given
        for mark in [*axis.marks, axis.missing]:
            assert mark.x == pytest.approx(LEFT + (RIGHT - LEFT) * mark.points / most)
        assert axis.missing.points == item.missing
    for total, chance in zip(totals.marks, chances.marks, strict=True):
        assert total.x == chance.x
        percent = 100 * sheet.probabilities[total.points]
        assert chance.text == f"{round(percent, 1):g} %"


@pytest.fixture(scope="module")
def wards():
    """Points of a table with a feature of thirty values, seven of which matter."""
    rng = np.random.default_rng(0)
    names = [f"ward {i} of the hospital" for i in range(30)]
    ward = rng.integers(0, 30, 3000)
    X = pd.DataFrame({"ward": np.array(names)[ward], "age": rng.normal(60, 9, 3000)})
    chance = np.where(ward < 7, 0.2 + 0.1 * ward, 0.2)
    Y = pd.DataFrame({"fall": rng.random(3000) < chance}).astype(float)
    return MLTSKClassifier(n_rules=0, n_pairs=0).fit(X, Y).points(max_statements=8), X


def test_a_sheet_names_no_value_of_many_that_counts_like_any_other(wards):
    points, X = wards
    (item,) = (item for item in points.sheets_[0].items if item.name == "ward")
    *named, (other, given), _ = item.choices()
    assert other == "any other value"
    assert 1 <= len(named) < len(item.values)
    assert given not in dict(named).values()
    unnamed = X[~X.ward.isin(dict(named))]
    changed = unnamed.assign(ward="never heard of")
    assert_array_equal(points.totals(unnamed), points.totals(changed))


def test_words_of_the_nomogram_touch_no_other_words_and_lie_within_the_picture(
    wards, points
):
    for sheet in (wards[0].sheets_[0], *points.sheets_):
        _, *axes, _, chances = nomogram(sheet)["axes"]
        assert_apart(chances.marks)
        for axis in axes:
            assert_no_word_on_a_stem(axis.marks)
            assert_apart([mark for mark in axis.marks if mark.level == 0], start=NAMES)
            for level in {mark.level for mark in axis.marks}:
                assert_apart([mark for mark in axis.marks if mark.level == level])


def assert_no_word_on_a_stem(marks):
    """No words cover the stem of an earlier mark, which stands higher."""
    for earlier, later in itertools.pairwise(marks):
        if later.level < earlier.stem:
            start = later.middle - CHARACTER * len(later.text) / 2
            assert start >= earlier.x


def assert_apart(marks, start=0.0):
    """Words begin behind ``start``, one after the other, and end in the picture."""
    for mark in marks:
        half = CHARACTER * len(mark.text) / 2
        assert mark.middle - half >= start
        start = mark.middle + half
    assert start <= WIDTH


def test_nomogram_has_all_words_of_a_place_or_says_that_there_are_more(wards):
    sheet = wards[0].sheets_[0]
    (item,) = (item for item in sheet.items if item.name == "ward")
    places = {given for _, given in item.choices()[:-1]}
    (axis,) = (axis for axis in nomogram(sheet)["axes"] if axis.name == "ward")
    assert {mark.points for mark in axis.marks} == places
    for place in places:
        named = [text for text, given in item.choices()[:-1] if given == place]
        marks = [mark for mark in axis.marks if mark.points == place]
        words = ", ".join(mark.text for mark in reversed(marks))
        assert words == ", ".join(named) or "see the table" in words


def test_the_markdown_has_every_point_and_every_total(points, tmp_path):
    path = points_sheet(points, tmp_path / "sheet.md")
    text = path.read_text(encoding="utf-8")
    for sheet in points.sheets_:
        for item in sheet.items:
            for choice, given in item.choices():
                assert f"{choice}: **{given}**" in text
        assert text.count("# Points for") == len(points.sheets_)
    n_totals = sum(len(sheet.probabilities) for sheet in points.sheets_)
    totals = re.findall(r"^\| total \|(.*)\|$", text, flags=re.MULTILINE)
    assert sum(len(line.split("|")) for line in totals) == n_totals


def test_the_page_says_what_points_cost_next_to_the_model(points):
    facts = points_facts(points, 0)
    worth = points.worth_.iloc[0]
    sentence = " ".join(facts["worth"])
    for column in ("AP", "AP_short", "AP_long", "AP_guessed"):
        assert f"{worth[column]:.2f}" in sentence
    for figure in ("AP", "AUC"):
        low, high = worth[f"{figure}_low"], worth[f"{figure}_high"]
        assert f"{worth[figure]:.2f} [{low:.2f} to {high:.2f}]" in sentence
        assert low < worth[figure] < high


def test_guessing_has_the_same_figure_on_a_sheet_as_in_the_review(table):
    X, Y = table
    clf = MLTSKClassifier().fit(X, Y)
    worth = clf.points(max_statements=4).worth_
    judged = [label.guessed_AP for label in judge(clf)]
    assert worth["AP_guessed"].tolist() == pytest.approx(judged)


def test_hostile_names_stay_text(table, tmp_path):
    X, Y = table
    script = "<script>alert(1)</script>"
    X = X.rename(columns={"age": script, "sex": "=1+1"})
    Y = Y.rename(columns={"copd": "</h1><img src=x>", "gout": "a|b*c"})
    points = MLTSKClassifier().fit(X, Y).points(max_statements=5)
    page = points_sheet(points, tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    text = points_sheet(points, tmp_path / "sheet.md").read_text(encoding="utf-8")
    assert r"a\|b\*c" in text
    assert "<img" not in text.replace(r"\<", "")
    lines = points_sheet(points, tmp_path / "sheet.csv").read_text(encoding="utf-8")
    assert ",=1+1" not in lines


def test_a_file_without_a_known_ending_is_refused_before_it_is_written(
    points, tmp_path
):
    with pytest.raises(InputError, match=r"end its name with .html, .md or .csv"):
        points_sheet(points, tmp_path / "sheet.pdf")
    assert not list(tmp_path.iterdir())
