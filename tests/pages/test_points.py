"""Sheets of points as files: what is printed is what is computed."""

import re

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, points_sheet
from mltsk.exceptions import InputError
from mltsk.pages.nomogram import LEFT, RIGHT, nomogram
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
        if item.values:
            given = set(item.points)
        assert {mark.points for mark in axis.marks} == given
        for mark in [*axis.marks, axis.missing]:
            assert mark.x == pytest.approx(LEFT + (RIGHT - LEFT) * mark.points / most)
        assert axis.missing.points == item.missing
    for total, chance in zip(totals.marks, chances.marks, strict=True):
        assert total.x == chance.x
        percent = 100 * sheet.probabilities[total.points]
        assert chance.text == f"{round(percent, 1):g} %"


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
    for column in ("AP", "AP_short", "AP_long"):
        assert f"{worth[column]:.2f}" in sentence


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
