"""The review in a browser: it opens quietly, fits a phone, and unfolds on paper."""

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, read_table, review

IS_WHOLE = "location.protocol === 'file:' && document.querySelector('#made')"
N_FOLDED = "document.querySelectorAll('details:not([open])').length"
UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
PAGE_WIDTH = "document.documentElement.scrollWidth"
WIDTHS = """(selector) => [...document.querySelectorAll(selector)].map((node) => {
  return node.getBoundingClientRect().width;
})"""
OVERFLOWS = """(selector) => [...document.querySelectorAll(selector)].map((node) => {
  return node.scrollWidth - node.parentElement.clientWidth;
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = read_table("pbc")
    X = table.X.assign(**{"<b>&": 1.0})
    X["a name that is far too long for any phone " * 3] = rng.normal(size=418)
    Y = table.Y.copy()
    for i in range(8):
        Y[f"Lungenembolie_nach_Operation_{i}"] = (X.age > 40 + i).astype(float)
    frame = pd.concat([X, Y], axis=1)
    path = tmp_path_factory.mktemp("review") / "page.html"
    model = MLTSKClassifier(n_pairs=5, threshold="f1")
    return review(read_table(frame, list(Y.columns)), path, model=model, quick=True)


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_review_opens_without_complaints_and_does_not_scroll_sideways(
    browser, page, width, dark
):
    browser.open(page, width=width, dark=dark, ready=IS_WHOLE)
    assert browser.errors == []
    assert browser.run(PAGE_WIDTH) == width
    browser.run(UNFOLD)
    assert browser.run(PAGE_WIDTH) == width
    assert set(browser.requests) == {page.as_uri()}


def test_review_takes_its_colours_from_the_style_sheet(browser, page):
    fill = "getComputedStyle(document.querySelector('svg .fill')).fill"
    browser.open(page, ready=IS_WHOLE)
    light = browser.run(fill)
    browser.open(page, dark=True, ready=IS_WHOLE)
    assert "rgb(0, 0, 0)" not in (light, browser.run(fill))
    assert browser.run(fill) != light


BEYOND = """[...document.querySelectorAll(".heats, .heats *")].filter((node) => {
  return node.getBoundingClientRect().right > innerWidth + 1;
}).length"""


@pytest.mark.parametrize("width", [1400, 390])
def test_review_shows_maps_of_pairs_within_the_window(browser, page, width):
    browser.open(page, width=width, ready=IS_WHOLE)
    browser.run(UNFOLD)
    assert len(browser.run(WIDTHS, ".heats svg")) > 3
    assert min(browser.run(WIDTHS, ".heats svg")) > 200
    assert browser.run(BEYOND) == 0


def test_review_has_on_paper_what_is_folded(browser, page):
    browser.open(page, ready=IS_WHOLE)
    n_folded = browser.run(N_FOLDED)
    assert n_folded > 10
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(N_FOLDED) == 0
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(N_FOLDED) == n_folded


@pytest.mark.parametrize("width", [1400, 1000, 390])
def test_review_leaves_its_explorer_room_for_bars_and_figures(browser, page, width):
    browser.open(page, width=width, ready="window.explorer")
    assert min(browser.run(WIDTHS, ".label .bar")) > 40
    assert max(browser.run(OVERFLOWS, ".size-ap")) <= 0
