"""A person's page: what is shown is what the model says, and names stay text."""

import re

import pytest

from mltsk import MLTSKClassifier, person_sheet
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
