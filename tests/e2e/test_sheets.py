"""Sheets in a browser: one A4 page per label, one per person, nothing from outside."""

import re

import pytest

from mltsk import MLTSKClassifier, person_sheet, points_sheet, read_table

LOADED = "document.readyState === 'complete'"
MARKS = """() => [...document.querySelectorAll('article')].map((sheet) => {
  const scale = [...sheet.querySelectorAll('.axis')[0].querySelectorAll('text')]
    .filter((text) => text.dataset.points !== undefined)
    .map((text) => [Number(text.textContent), Number(text.getAttribute('x'))]);
  return scale;
})"""


@pytest.fixture(scope="module")
def sheets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    table = read_table("pbc")
    clf = MLTSKClassifier(n_rules=0, threshold="f1").fit(table.X[1:], table.Y[1:])
    points_sheet(clf.points(), folder / "points.html", title="pbc")
    finer = clf.points(max_points=16)  # up to eighty totals
    assert max(len(sheet.probabilities) for sheet in finer.sheets_) > 70
    points_sheet(finer, folder / "finer.html", title="pbc")
    person_sheet(clf, table.X[:1], folder / "person.html", title="patient 1")
    return folder


@pytest.mark.parametrize(
    ("name", "n_pages"), [("points", 4), ("finer", 4), ("person", 1)]
)
def test_a_sheet_prints_on_its_pages_and_fits_a_phone(browser, sheets, name, n_pages):
    path = sheets / f"{name}.html"
    browser.open(path, ready=LOADED)
    printed = browser.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == n_pages
    browser.open(path, width=390, height=800, dark=True, ready=LOADED)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert not browser.errors
    assert all(url.startswith(("file:", "about:")) for url in browser.requests)


def test_the_scale_of_the_nomogram_is_even(browser, sheets):
    browser.open(sheets / "points.html", ready=LOADED)
    for scale in browser.run(MARKS):
        (first, left), *_, (last, right) = scale
        for points, x in scale:
            expected = left + (right - left) * (points - first) / (last - first)
            assert x == pytest.approx(expected, abs=0.1)
