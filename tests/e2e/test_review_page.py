"""The review in a browser: it opens without complaints, fits a phone, and unfolds on paper."""

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table, review

HERE = "location.protocol === 'file:' && document.querySelector('#made')"
FOLDED = "document.querySelectorAll('details:not([open])').length"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = read_table("pbc")
    X = table.X.assign(
        **{
            "a name that is far too long for any phone " * 3: rng.normal(size=418),
            "<b>&": 1.0,
        }
    )
    Y = table.Y.assign(
        **{
            f"Lungenembolie_nach_Operation_{i}": (X.age > 40 + i).astype(float)
            for i in range(8)
        }
    )
    frame = pd.concat([X, Y], axis=1)
    return review(
        read_table(frame, list(Y.columns)),
        tmp_path_factory.mktemp("review") / "page.html",
        quick=True,
    )


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_it_opens_without_complaints_and_does_not_scroll_sideways(
    browser, page, width, dark
):
    browser.open(page, width=width, dark=dark, ready=HERE)
    assert browser.errors == []
    assert browser.run("document.documentElement.scrollWidth") == width
    browser.run(
        "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
    )
    assert browser.run("document.documentElement.scrollWidth") == width
    assert set(browser.requests) == {page.as_uri()}


def test_colours_come_from_the_style_sheet(browser, page):
    fill = "getComputedStyle(document.querySelector('svg .fill')).fill"
    browser.open(page, ready=HERE)
    light = browser.run(fill)
    browser.open(page, dark=True, ready=HERE)
    assert "rgb(0, 0, 0)" not in (light, browser.run(fill))
    assert browser.run(fill) != light


def test_what_is_folded_is_on_paper(browser, page):
    browser.open(page, ready=HERE)
    folded = browser.run(FOLDED)
    assert folded > 10
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(FOLDED) == 0
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(FOLDED) == folded
