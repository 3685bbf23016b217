"""The review in a browser: every control, on a desk, a phone and paper."""

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


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    table = read_table("pbc")
    model = MLTSKClassifier(n_rules=0, n_pairs=0).fit(table.X[::2], table.Y[::2])
    others = pd.concat([table.X, table.Y], axis=1).iloc[1::2]
    path = tmp_path_factory.mktemp("elsewhere") / "page.html"
    return review(read_table(others, table.label_names), path, fitted=model)


def test_review_of_another_table_fits_a_phone(browser, elsewhere):
    browser.open(elsewhere, width=390, ready=IS_WHOLE)
    assert browser.run(PAGE_WIDTH) == 390
    browser.run(UNFOLD)
    assert browser.run(PAGE_WIDTH) == 390


def test_review_takes_its_colours_from_the_style_sheet(browser, page):
    fill = "getComputedStyle(document.querySelector('svg .found')).fill"
    browser.open(page, ready=IS_WHOLE)
    light = browser.run(fill)
    browser.open(page, dark=True, ready=IS_WHOLE)
    assert "rgb(0, 0, 0)" not in (light, browser.run(fill))
    assert browser.run(fill) != light


TOPS = """(selector) => [...document.querySelectorAll(selector)].map((node) => {
  return node.getBoundingClientRect().top;
})"""


def test_review_aligns_the_bars_of_labels_next_to_each_other(browser, four_labels):
    browser.open(four_labels, width=1400, ready=IS_WHOLE)
    tops = browser.run(TOPS, ".answer svg")
    assert len(tops) == 4
    assert tops[0] == tops[1] < tops[2] == tops[3]


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


N_UNPRINTED = """[...document.querySelectorAll("details.part")].filter((part) => {
  return getComputedStyle(part).display === "none";
}).length"""


def test_review_prints_what_belongs_in_the_file_or_everything(browser, page):
    browser.open(page, ready=IS_WHOLE)
    browser.run("window.print = () => dispatchEvent(new Event('beforeprint'))")
    n_folded = browser.run(N_FOLDED)
    browser.page.emulate_media(media="print")
    try:
        n_unprinted = browser.run(N_UNPRINTED)
        assert n_unprinted > 3  # all but the model and its results
        browser.run("document.getElementById('r-print-file').click()")
        assert 0 < browser.run(N_FOLDED) <= n_folded
        browser.run("dispatchEvent(new Event('afterprint'))")
        browser.run("document.getElementById('r-print-all').click()")
        assert browser.run(N_FOLDED) == 0
        assert browser.run(N_UNPRINTED) == 0
        browser.run("dispatchEvent(new Event('afterprint'))")
        assert browser.run(N_FOLDED) == n_folded
        assert browser.run(N_UNPRINTED) == n_unprinted
    finally:
        browser.page.emulate_media(media="null")


ITEMS = """[...document.querySelectorAll(".tripod th[scope=row]")]"""
LINES_OF_ITEMS = f"""{ITEMS}.map((cell) => {{
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getClientRects().length;
}})"""
NARROW_CELLS = """[...document.querySelectorAll("th, td")].filter((cell) => {
  const { width, height } = cell.getBoundingClientRect();
  return cell.textContent.trim().length > 3 && height > 3 * width && width > 0;
}).map((cell) => cell.textContent.trim())"""


def test_review_breaks_no_word_of_its_tables_letter_by_letter_on_paper(
    browser, four_labels
):
    browser.open(four_labels, width=720, ready=IS_WHOLE)
    browser.run("document.documentElement.classList.add('everything')")
    browser.run(UNFOLD)
    browser.page.emulate_media(media="print")
    try:
        lines = browser.run(LINES_OF_ITEMS)
        assert len(lines) > 50
        assert max(lines) == 1
        assert browser.run(NARROW_CELLS) == []
    finally:
        browser.page.emulate_media(media="null")


PHONE_ITEMS = """[...document.querySelectorAll(".tripod tbody tr")].map((row) => {
  return [...row.querySelectorAll("td")].at(-1).getBoundingClientRect().width;
})"""


def test_review_has_room_for_the_items_of_its_checklist_on_a_phone(
    browser, four_labels
):
    browser.open(four_labels, width=390, ready=IS_WHOLE)
    browser.run(UNFOLD)
    assert max(browser.run(LINES_OF_ITEMS)) == 1
    widths = browser.run(PHONE_ITEMS)
    assert min(widths) > 250  # of the text, below the item


N_ON_PAPER = """[...document.querySelectorAll(".rule")].filter((card) => {
  return card.checkVisibility();
}).length"""
NOTES_ON_PAPER = """[...document.querySelectorAll(".on-paper")]
  .filter((note) => note.checkVisibility())
  .map((note) => note.textContent)"""


@pytest.fixture(scope="module")
def four_labels(tmp_path_factory):
    path = tmp_path_factory.mktemp("review") / "pbc.html"
    return review(read_table("pbc"), path, quick=True)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_review_for_the_file_is_two_pages(browser, page, four_labels, elsewhere, paper):
    for path in (page, four_labels, elsewhere):
        browser.open(path, ready=IS_WHOLE)
        printed = browser.page.pdf(format=paper, prefer_css_page_size=True)
        assert printed.count(b"/Type /Page\n") == 2


def test_review_for_the_file_says_how_many_labels_it_leaves_out(browser, page):
    browser.open(page, ready=IS_WHOLE)
    assert browser.run(NOTES_ON_PAPER) == []
    browser.page.emulate_media(media="print")
    try:
        assert browser.run(N_ON_PAPER) == 6
        note = (
            "On paper: the 6 labels that are predicted best. The page itself has 6 "
            "more labels."
        )
        assert note in browser.run(NOTES_ON_PAPER)
        browser.run("document.documentElement.classList.add('everything')")
        assert browser.run(NOTES_ON_PAPER) == []
    finally:
        browser.page.emulate_media(media="null")


def test_review_bar_of_contents_unfolds_where_it_goes_and_stays(browser, page):
    browser.open(page, ready=IS_WHOLE)
    for key in browser.run(
        "[...document.querySelectorAll('nav.parts a')].map((a) => a.hash)"
    ):
        browser.click(f"nav.parts a[href='{key}']")
        browser.wait_for(f"document.querySelector('{key}').closest('details').open")
    bar = "document.querySelector('nav.parts').getBoundingClientRect().top"
    browser.wait_for(f"scrollY > 3000 && {bar} === 0")  # it scrolls smoothly
    browser.open(page, fragment="#table", ready=IS_WHOLE)
    assert browser.run("document.querySelector('#table').closest('details').open")


ROWS_OF_BAR = """new Set([...document.querySelectorAll("nav.parts > *")].map((node) => {
  const box = node.getBoundingClientRect();
  return Math.round((box.top + box.bottom) / 20);
})).size"""
CUT_TABLES = """[...document.querySelectorAll("[aria-label='Figures of all labels']")]
  .filter((card) => card.scrollWidth > card.clientWidth + 1).length"""


@pytest.fixture(scope="module")
def forty_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("review") / "pbc.html"
    table = read_table("pbc")
    return review(table.X.iloc[:40], path, table.Y.iloc[:40])


def test_review_has_room_for_its_bar_and_its_figures_on_a_desk(browser, forty_rows):
    browser.open(forty_rows, width=1400, ready=IS_WHOLE)
    assert browser.run(ROWS_OF_BAR) == 1
    assert browser.run(CUT_TABLES) == 0


def test_review_for_the_file_cuts_no_table_of_results(browser, four_labels):
    browser.open(four_labels, ready=IS_WHOLE)
    browser.page.emulate_media(media="print")
    try:
        card = "document.querySelector(\"[aria-label='Figures of all labels']\")"
        style = f"getComputedStyle({card})"
        assert browser.run(f"{style}.breakInside") == "avoid"
        before = f"{card}.previousElementSibling"
        assert browser.run(f"getComputedStyle({before}).breakAfter") == "avoid"
    finally:
        browser.page.emulate_media(media="null")


def test_review_says_what_another_threshold_would_change(browser, page):
    browser.open(page, ready=IS_WHOLE)
    browser.run("document.querySelector('#r-move-1').closest('details').open = true")
    said = "document.querySelector('.mover[data-label=\"1\"] output').textContent"
    before = browser.run(said)
    # it begins with the figures above it
    above = "document.querySelectorAll('.by-label .label')[1].textContent"
    assert before.startswith("As it is now, from about ")
    found = before.split("that have it, ")[1].split(" are found")[0]
    assert f"of 100 rows that have it, {found} are given it" in browser.run(above)
    browser.page.locator("#r-move-1").focus()
    browser.press("End")
    assert browser.run(said) != before
    assert browser.run(said).startswith("From 99 % on: ")
    browser.press("Home")
    assert browser.run(said).startswith("From 0.1 % on: 100 of 100 rows are given it.")
    assert "Of 100 rows that have it, 100 are found." in browser.run(said)
    # where all are given the label, the model is worth what acting on all is worth
    benefit = browser.run(said).split("Net benefit ")[1].removesuffix(", on none 0).")
    model, everybody = benefit.split(" per 100 rows (acting on all ")
    assert float(model) == float(everybody) > 0
    slider = "document.querySelector('#r-move-1')"
    assert browser.run(f"{slider}.getAttribute('aria-valuetext')") == "0.1 %"


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    """A page on which half a case is to be rounded: 5 of 8 and 3 of 8 are found."""
    X = pd.DataFrame({"sign": np.repeat([0.0, 1.0, 0.0, 1.0], [3, 5, 30, 10])})
    Y = pd.DataFrame({"gout": np.repeat([1.0, 1.0, 0.0, 0.0], [3, 5, 30, 10])})
    path = tmp_path_factory.mktemp("review") / "halves.html"
    return review(X, path, Y, quick=True)


def test_review_rounds_in_its_mover_as_in_its_figures(browser, halves):
    browser.open(halves, ready=IS_WHOLE)
    (said,) = browser.texts(".mover output")
    (facts,) = browser.texts(".label .told-facts")
    found = said.split("that have it, ")[1].split(" are found")[0]
    assert "cases found: 5 of 8" in " ".join(facts.split())
    assert f"of 100 rows that have it, {found} are given it" in " ".join(facts.split())


@pytest.mark.parametrize("width", [1400, 1000, 390])
def test_review_leaves_its_explorer_room_for_bars_and_figures(browser, page, width):
    browser.open(page, width=width, fragment="#try", ready="window.explorer")
    browser.settled()
    assert min(browser.run(WIDTHS, ".explorer .label .bar")) > 40
    assert max(browser.run(OVERFLOWS, ".size-ap")) <= 0


SKIPPED_LEVELS = """(() => {
  const levels = [...document.querySelectorAll("main :is(h1, h2, h3, h4)")]
    .filter((node) => !node.closest(".explorer"))
    .map((node) => Number(node.tagName[1]));
  return levels.filter((level, i) => i > 0 && level > levels[i - 1] + 1).length;
})()"""
UNNAMED_PICTURES = """[...document.querySelectorAll("main svg")].filter((node) => {
  return !node.closest(".explorer, [aria-hidden]") && node.ariaHidden !== "true"
    && !node.getAttribute("aria-label");
}).length"""
TABLES_WITHOUT_HEADINGS = """[...document.querySelectorAll("main table")]
  .filter((table) => !table.closest(".explorer"))
  .filter((table) => !table.querySelector("th[scope]")).length"""
UNNAMED_HEADINGS = """[...document.querySelectorAll("main th")]
  .filter((cell) => !cell.closest(".explorer") && !cell.textContent.trim()).length"""


UNREACHED_SCROLLERS = """[...document.querySelectorAll("main .scroll")]
  .filter((card) => !card.closest(".explorer"))
  .filter((card) => card.tabIndex !== 0 || !card.getAttribute("aria-label")).length"""


def test_review_can_be_heard(browser, page, forty_rows):
    browser.open(forty_rows, ready=IS_WHOLE)  # with other methods
    assert browser.run(UNREACHED_SCROLLERS) == 0
    browser.open(page, ready=IS_WHOLE)
    assert browser.run(UNREACHED_SCROLLERS) == 0
    browser.run(UNFOLD)
    assert browser.run(SKIPPED_LEVELS) == 0
    assert browser.run(UNNAMED_PICTURES) == 0
    assert browser.run(TABLES_WITHOUT_HEADINGS) == 0
    assert browser.run(UNNAMED_HEADINGS) == 0


# Of muted text and warnings, on the page and on cards: WCAG asks for 4.5.
LEAST_CONTRAST = """(() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const probe = document.body.appendChild(document.createElement("i"));
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return light(getComputedStyle(probe).color);
  };
  const ratios = [];
  for (const ink of ["ink", "muted", "series-2"]) {
    for (const ground of ["paper", "card", "accent-soft"]) {
      const [low, high] = [colour(ink), colour(ground)].sort((a, b) => a - b);
      ratios.push((high + 0.05) / (low + 0.05));
    }
  }
  return Math.min(...ratios);
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_review_has_colours_that_can_be_read(browser, page, dark):
    browser.open(page, dark=dark, ready=IS_WHOLE)
    assert browser.run(LEAST_CONTRAST) >= 4.5


# Of texts on what lies behind them, whatever it is.
CONTRASTS = """(selector) => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (text) => {
    const [r, g, b] = parts(text).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    const [, , , opacity = 1] = parts(colour);
    return opacity > 0 ? colour : ground(node.parentElement);
  };
  return [...document.querySelectorAll(selector)].map((node) => {
    const both = [light(getComputedStyle(node).color), light(ground(node))];
    const [low, high] = both.sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
}"""
GIVEN = ".explorer .chip, .label.given .label-name, .label.given .chance"
NAMELESS = """document.querySelectorAll(
  "[role=img]:not([aria-label]), [role=img][aria-label='']"
).length"""


@pytest.mark.parametrize("dark", [False, True])
def test_review_shows_labels_that_are_given_in_colours_that_can_be_read(
    browser, page, dark
):
    browser.open(page, dark=dark, ready=IS_WHOLE)
    browser.run(UNFOLD)
    contrasts = browser.run(CONTRASTS, GIVEN)
    assert len(contrasts) > 3
    assert min(contrasts) >= 4.5
    assert browser.run(NAMELESS) == 0


def test_review_is_reached_by_keyboard_alone(browser, page):
    browser.open(page, ready=IS_WHOLE)
    reached = set()
    for _ in range(30):
        browser.press("Tab")
        reached.add(browser.run("document.activeElement.tagName"))
    assert {"A", "BUTTON", "SUMMARY", "DIV"} <= reached  # a table that may scroll
    fold = "document.querySelector('details.part > summary')"
    browser.run(f"{fold}.focus()")
    was_open = browser.run(f"{fold}.parentElement.open")
    browser.press("Enter")
    assert browser.run(f"{fold}.parentElement.open") != was_open
