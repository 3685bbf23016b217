"""A person's page: what is shown is what the model says, and names stay text."""

import re
from html import unescape

import pytest

from mltsk import MLTSKClassifier, person_sheet
from mltsk.pages.person import person_page
from mltsk.person import person


@pytest.fixture(scope="module")
def model(table):
    X, Y = table
    return MLTSKClassifier(threshold="f1").fit(X[1:], Y[1:])


def test_the_page_shows_probability_interval_reasons_and_refits(model, table, tmp_path):
    X, _ = table
    path = person_sheet(model, X[:1], tmp_path / "person.html", title="Ann")
    page = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    for number, label in enumerate(person(model, X[:1]).labels):
        assert f"<b>{100 * label.probability:.0f} %</b>" in page
        low, high = re.findall(r"95 % interval ([\d.]+) % to ([\d.]+) %", page)[number]
        assert float(low) == pytest.approx(100 * label.low, abs=0.5)
        assert float(high) == pytest.approx(100 * label.high, abs=0.5)
        parts = [p for p in label.why.parts if p.part == "feature"]
        assert f"{parts[0].contribution:+.2f}" in page
    assert "Of 40 models, each fitted to a random half of the table" in page
    assert "<h1>Ann</h1>" in page
    assert "most alike" not in page


def test_names_and_values_of_a_person_stay_text(table, tmp_path):
    X, Y = table
    X = X.rename(columns={"age": "<script>alert(1)</script>"})
    Y = Y.rename(columns={"copd": "<b onclick=x>"})
    clf = MLTSKClassifier().fit(X, Y)
    path = person_sheet(clf, X[:1], tmp_path / "p.html", title="</h1><img src=x>")
    page = path.read_text(encoding="utf-8")
    for hostile in ("<script", "<img", "<b onclick"):
        assert hostile not in page


def test_the_page_says_what_of_a_person_the_model_has_never_seen(model, table):
    X, _ = table
    odd = X[:1].copy()
    odd["sex"] = "of <another> kind"
    odd["age"] = 1e6
    page = person_page(model, odd, title="Ann")
    page = unescape(re.sub(r"\s+", " ", page))
    assert "counted as nothing: sex (of <another> kind)." in page
    known = X["age"][1:].dropna()
    ends = f"age ({known.min():.3g} to {known.max():.3g})"
    assert f"counted as the nearest of them: {ends}. Is the unit the same?" in page
    usual = person_page(model, X[:1], title="Ann")
    assert "Never seen in the fit" not in usual
    assert "nearest of them" not in usual
