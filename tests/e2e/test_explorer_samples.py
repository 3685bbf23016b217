"""Working with samples in the explorer: models of every length, what would turn an answer, rows, and addresses."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.explorer import explorer_parts, policy
from mltsk.pages.render import write_page

DATA = make_multilabel_rules(n_samples=150, random_state=0)
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def model(table):
    return MLTSKClassifier(n_rules=5).fit(*table)


@pytest.fixture(scope="module")
def written(model, table, page):
    ids = [HOSTILE, *(f"P-{i:03d}" for i in range(1, 240))]
    return page(model, *table, ids=ids, neighbours=True)


@pytest.fixture
def opened(browser, written):
    browser.open(written)
    return browser


def text_of(browser, name):
    return browser.run(f"document.getElementById('x-{name}').textContent.trim()")


def sample_in(browser):
    code = (
        "Array.from(window.explorer.x, (value) => Number.isNaN(value) ? null : value)"
    )
    return np.array(browser.run(code), dtype=float)


def enter(browser, name, value, event="change"):
    """Set a field of the page as a person does."""
    browser.run(f"""(() => {{ const field = document.getElementById('x-{name}'); field.value = {json.dumps(value)};
        field.dispatchEvent(new Event('{event}')); }})()""")
    browser.settled()


def columns_of(model, X):
    return model.system_.columns.expand(X)


def evaluated(browser, rows):
    """Scores and probabilities of rows in columns of numbers, as the page computes them."""
    plain = json.dumps([[None if x != x else x for x in row] for row in rows.tolist()])
    code = f"""{plain}.map((row) => {{ const s = window.explorer.system;
        const {{ scores }} = s.evaluate(Float64Array.from(row, (x) => x ?? NaN));
        return [Array.from(scores), Array.from(s.chances(scores)), s.given(scores).map(Number)]; }})"""
    return (np.array(part) for part in zip(*browser.run(code), strict=True))


def test_every_length_computes_and_says_what_python_does(opened, model, table):
    ticks = opened.run(
        "[...document.querySelectorAll('.size-tick')].map((e) => e.innerText.split('\\n'))"
    )
    assert [size for size, _ in ticks] == ["3", "5", "8", "12", "20", "all"]
    rows = columns_of(model, table[0])
    for i, (size, _) in enumerate(ticks):
        enter(opened, "size", str(i), "input")
        short = model.shorten(int(size)) if size.isdigit() else model
        scores, chances, given = evaluated(opened, rows)
        assert_allclose(scores, short.system_.scores(rows), rtol=0, atol=1e-9)
        assert_allclose(chances, short.predict_proba(table[0]), rtol=0, atol=1e-9)
        assert_array_equal(given, short.predict(table[0]))
        j = opened.run("window.explorer.label")
        told = opened.run(
            "[...document.querySelectorAll('#x-general li')].map((e) => e.textContent)"
        )
        assert told == [str(shape) for shape in short.rules_.general[j].shapes]
        shown = opened.run("[...document.querySelectorAll('#x-by-feature .amount, #x-by-rule .amount')].map("
                           "(e) => Number(e.textContent.replace('−', '-')))")  # fmt: skip
        assert abs(sum(shown[:-1]) - shown[-1]) < 0.0006 * len(shown)
    assert opened.errors == []


@pytest.mark.parametrize(
    "kind",
    [{"order": 1}, {"scale": "standard"}, {"scale": "unit"}, "sparse", "classes"],
)
def test_every_length_of_other_models(browser, page, kind):
    data = make_multilabel_rules(n_samples=90, sparse=kind == "sparse", random_state=0)
    y = (
        np.array(["a", "b", "c"])[data.Y[:, 0] + data.Y[:, 1]]
        if kind == "classes"
        else data.Y
    )
    clf = MLTSKClassifier(n_rules=3, **(kind if isinstance(kind, dict) else {})).fit(
        data.X, y
    )
    browser.open(page(clf, data.X, y, neighbours=True))
    rows = data.X.toarray() if kind == "sparse" else data.X
    for i, size in enumerate(
        browser.run("window.explorer.sizes.sizes.map(({ size }) => size)")
    ):
        enter(browser, "size", str(i), "input")
        short = clf.shorten(size) if size < clf.n_statements_.max() else clf
        scores, chances, given = evaluated(browser, rows)
        assert_allclose(scores, short.system_.scores(rows), rtol=0, atol=1e-9)
        assert_allclose(chances, short.predict_proba(rows), rtol=0, atol=1e-9)
        said = short.predict(rows)
        assert_array_equal(
            given, said if kind != "classes" else said[:, None] == clf.classes_
        )
    assert browser.errors == []


def test_a_model_of_one_length_has_no_slider(browser, page, table):
    browser.open(page(MLTSKClassifier(n_rules=0, max_statements=5).fit(*table), *table))
    assert browser.run("document.getElementById('x-size') === null") is True
    assert browser.errors == []


TURNS = """(() => { const e = window.explorer, found = [], numbers = [0, 3, 17, 40, 41, 77, 110, 200];
    for (const i of numbers) for (const j of e.data.labels.keys()) { e.load(i); e.choose(j);
      const { given, turns } = e.turns.of(j, e.x, e.now, [...e.data.features.keys()], 99);
      found.push([i, j, given, turns.map(({ f, value, change }) => [f, value, change])]); }
    return found; })()"""


def test_every_value_that_turns_an_answer_does_so_in_python_too(opened, model, table):
    count = 0
    for i, j, given, turns in opened.run(TURNS):
        assert model.predict(table[0].iloc[[i]])[0, j] == given
        for f, value, _ in turns:
            x = columns_of(model, table[0].iloc[[i]])[0]
            opened.run(f"window.explorer.load({i}); window.explorer.choose({j});")
            opened.run(f"window.explorer.set({f}, {value}, true)")
            opened.settled()
            assert opened.run(f"window.explorer.given[{j}]") is not given
            moved = np.array(
                opened.run(
                    "Array.from(window.explorer.x, (v) => Number.isNaN(v) ? null : v)"
                ),
                dtype=float,
            )
            own = model.rules_.subjects[f].columns
            assert (moved[own] != x[own]).any()
            assert (
                model.system_.scores(moved[None])[0, j] >= model.thresholds_[j]
            ) != given
            count += 1
    assert count > 20


def test_no_nearer_value_turns_an_answer(opened):
    code = """(i, j, f, change) => { const e = window.explorer, { features, turns } = e; e.load(i);
        const given = e.given[j], now = features.value(f, e.x);
        const from = Number.isNaN(now) ? features.valueAt(f, 500) : now;
        return [...Array(1001).keys()].map((at) => features.valueAt(f, at)).filter((value) =>
          turns.change(f, from, value) < change - 0.011 && turns.answer(f, value, e.x, j) !== given).length; }"""
    for i, j, _, turns in opened.run(TURNS):
        change = {f: change for f, _, change in turns}
        for f in (0, 5):
            assert opened.run(f"({code})({i}, {j}, {f}, {change.get(f, 9)})") == 0


def test_what_would_turn_an_answer_is_told_and_can_be_tried(opened):
    opened.run("window.explorer.load(3)")
    before = opened.run("window.explorer.given[window.explorer.label]")
    told = opened.run(
        "[...document.querySelectorAll('#x-turns .turn > :first-child')].map((e) => e.textContent)"
    )
    assert 0 < len(told) <= 4
    assert all(
        words.startswith("no longer given if " if before else "given if ")
        for words in told
    )
    opened.click("#x-turns .turn")
    assert opened.run("window.explorer.given[window.explorer.label]") is not before
    opened.click("#x-reset")
    assert opened.run("window.explorer.given[window.explorer.label]") is before


def test_an_answer_that_nothing_turns_is_said_so(browser, page):
    clf = MLTSKClassifier(n_rules=0, threshold=50.0).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X))
    assert browser.run("document.getElementById('x-no-turn').hidden") is False
    assert browser.run("document.querySelectorAll('#x-turns li').length") == 0


@pytest.mark.parametrize(
    ("typed", "row"),
    [("P-017", 17), ("p-017", 17), ("18", 17), ("row 240", 239), ("02", 1)],
)
def test_rows_are_found_by_identifier_and_number(opened, model, table, typed, row):
    enter(opened, "find", typed)
    assert text_of(opened, "sample-name") == f"P-{row:03d}"
    assert_array_equal(sample_in(opened), columns_of(model, table[0].iloc[[row]])[0])
    marked = opened.run(
        "[0, 1].map((j) => document.querySelector(`#x-label-${j} .truth`).textContent === '◆')"
    )
    assert marked == (table[1].to_numpy()[row] == 1).tolist()


def test_rows_are_suggested_while_typing_and_a_stranger_is_told(opened):
    enter(opened, "find", "P-23", "input")
    found = opened.run(
        "[...document.getElementById('x-found-rows').options].map((o) => o.value)"
    )
    assert found == [f"P-23{i}" for i in range(10)]
    before = text_of(opened, "sample-name")
    enter(opened, "find", "<b>nobody</b>")
    assert text_of(opened, "missed") == "There is no row “<b>nobody</b>” here."
    assert text_of(opened, "sample-name") == before
    enter(opened, "find", "1")
    assert text_of(opened, "sample-name") == HOSTILE
    assert (
        opened.run("document.querySelectorAll('.explorer img, .explorer b').length")
        == 0
    )


def test_neighbours_are_the_nearest_rows_on_the_scale_of_the_rules(
    opened, model, table
):
    Z, share = (
        model.system_.scale(columns_of(model, table[0])),
        model.system_.scaling.share,
    )
    for i in (5, 60):
        enter(opened, "find", f"P-{i:03d}")
        steps = (Z - Z[i]) ** 2
        far = np.where(np.isnan(steps), 2 * share, steps).sum(axis=1)
        far[i] = np.inf
        named = opened.run(
            "[...document.querySelectorAll('.neighbour')].map((e) => e.firstChild.textContent)"
        )
        assert named == [f"P-{k:03d}" for k in np.argsort(far, kind="stable")[:5]]
    opened.click(".neighbour")
    assert text_of(opened, "sample-name") == named[0]


def test_there_are_no_neighbours_unless_asked_for(browser, page, model, table):
    browser.open(page(model, *table))
    assert browser.run("document.getElementById('x-neighbours') === null") is True


def state_of(browser):
    code = """(() => { const e = window.explorer; return [e.example, e.label, e.sizes.at, e.rule,
        Array.from(e.x, (v) => Number.isNaN(v) ? null : v)]; })()"""
    return browser.run(code)


def test_a_copied_address_opens_the_same_state(opened, browser, written):
    enter(opened, "find", "P-040")
    opened.run("window.explorer.choose(1)")
    opened.click("#x-by-rule button")
    opened.run(
        "for (const [f, value] of [[0, 61.5], [1, 2], [3, NaN], [5, NaN]]) window.explorer.set(f, value, true)"
    )
    opened.settled()
    before, address = state_of(opened), opened.run("location.hash")
    assert "row=41&label=gout&rule=" in address
    browser.open(written, fragment=address)
    assert state_of(browser) == before
    assert browser.run(
        "document.querySelector('.rule[aria-current=true]').dataset.rule"
    ) == str(before[3])
    enter(browser, "size", "2", "input")
    browser.open(written, fragment=browser.run("location.hash"))
    assert state_of(browser)[2] == 2
    browser.click("#x-reset")
    assert "set." not in browser.run("location.hash")
    assert browser.errors == []


STALE = (
    *(
        "#explorer:",
        "#x-labels",
        "#explorer:row=99999&label=nobody&terms=7&rule=99",
        "#explorer:row=made-0&rule=-1",
    ),
    "#explorer:set.age=Infinity&set.smoker=9&set.smoker=0.5&set.albumin=x&set.<b>=1&set.__proto__=1&set.sex=1e999",
    *(
        "#explorer:%E0%A4%A&row=%00",
        "#explorer:row=" + "1" * 200_000,
        "#explorer:constructor=1&row=constructor",
    ),
)


def test_an_address_that_does_not_fit_is_ignored(browser, written):
    browser.open(written)
    first = state_of(browser)
    for fragment in STALE:
        browser.open(written, fragment=fragment)
        assert state_of(browser) == first, fragment[:80]
        assert browser.errors == []


def test_the_back_button_takes_back_another_row_and_no_slider(opened, browser):
    enter(opened, "find", "P-040")
    opened.run("window.explorer.set(0, 50, true)")
    opened.settled()
    enter(opened, "find", "P-041")
    assert browser.run("history.length") >= 3
    browser.run(
        "new Promise((done) => { addEventListener('popstate', () => done(1)); history.back(); })"
    )
    assert text_of(browser, "sample-name") == "P-040"
    assert browser.run("window.explorer.features.value(0, window.explorer.x)") == 50


def test_reset_gives_back_the_values_of_the_row(opened, model, table):
    assert opened.run("document.getElementById('x-reset').hidden") is True
    enter(opened, "find", "P-012")
    opened.run("window.explorer.set(0, 33, true); window.explorer.set(1, NaN, true)")
    opened.settled()
    opened.run("document.activeElement.blur()")
    opened.press("r")
    assert_array_equal(sample_in(opened), columns_of(model, table[0].iloc[[12]])[0])
    assert opened.run("document.getElementById('x-reset').hidden") is True


def test_keys_move_a_slider_by_a_hundredth_or_a_whole_number(browser, page):
    X = DATA.X.copy()
    X[:, 0] = np.arange(150) % 9
    browser.open(page(MLTSKClassifier(n_rules=0).fit(X, DATA.Y), X))
    for f, key, step in (
        (0, "ArrowRight", 1),
        (0, "ArrowLeft", -1),
        (1, "ArrowUp", 10),
        (1, "PageDown", -100),
    ):
        start = 4 if f == 0 else browser.run("window.explorer.features.valueAt(1, 400)")
        browser.run(
            f"window.explorer.load(0); window.explorer.set({f}, {start}, true); window.explorer.reveal({f})"
        )
        browser.settled()
        browser.run(
            f"window.explorer.control({f}).node.querySelector('.slider').focus()"
        )
        browser.press(key)
        value = browser.run(f"window.explorer.features.value({f}, window.explorer.x)")
        expected = (
            start + step
            if f == 0
            else browser.run(f"window.explorer.features.valueAt(1, {400 + step})")
        )
        assert value == pytest.approx(expected, rel=1e-9)
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.run(outline) == "solid"


def test_sliders_say_their_value_and_scores_are_announced_when_they_rest(opened):
    slider = "document.querySelector('.slider:not(#x-size)')"
    opened.run("window.explorer.search('albumin')")
    opened.run("window.explorer.set(5, NaN, true)")
    opened.settled()
    assert opened.run(f"[{slider}.ariaLabel, {slider}.ariaValueText]") == [
        "albumin",
        "not measured",
    ]
    opened.run("window.said = []; new MutationObserver(() => window.said.push(1)).observe("
               "document.getElementById('x-status'), { childList: true })")  # fmt: skip
    for at in range(0, 1000, 100):
        opened.run(f"{slider}.value = {at}; {slider}.dispatchEvent(new Event('input'))")
        opened.settled()
    assert opened.run("window.said.length") == 0
    opened.run(f"{slider}.dispatchEvent(new Event('change'))")
    opened.settled()
    assert opened.run("window.said.length") <= 1
    typed = float(opened.run("document.querySelector('input.value').value"))
    assert opened.run(f"{slider}.ariaValueText").startswith(f"{typed:.3g} (")


def test_a_printed_sheet_has_every_value_and_no_controls(opened, table):
    enter(opened, "find", "P-012")
    opened.run("window.explorer.set(0, 33, true)")
    opened.settled()
    sheet = opened.page.pdf()
    assert sheet.count(b"/Type /Page\n") == 1
    told = opened.run(
        "[...document.querySelectorAll('#x-values li')].map((e) => e.textContent)"
    )
    assert [line.split()[0] for line in told] == list(table[0].columns)
    assert " changed from " in told[0]
    opened.page.emulate_media(media="print")
    shown = opened.run("[...document.querySelectorAll('input, select, canvas, .rule, .neighbour, #x-values, #x-sheet')]"
                       ".filter((e) => e.getClientRects().length).map((e) => e.id)")  # fmt: skip
    opened.page.emulate_media(media="screen")
    assert shown == ["x-sheet", "x-values"]


def test_another_page_can_hold_it_under_one_policy(browser, model, table, tmp_path):
    parts = explorer_parts(model, *table)
    own = {
        "style": "h1 { color: rgb(1, 2, 3); } .card { padding: 7px; }",
        "script": "window.host = 1;",
    }
    allowed = policy([own["style"], parts["style"]], [own["script"], parts["script"]])
    html = f"""<!doctype html><html><head><meta charset="utf-8"><title>host</title>
        <meta http-equiv="Content-Security-Policy" content="{allowed}">
        <style>{own["style"]}</style><style>{parts["style"]}</style></head>
        <body><h1 id="labels">Host</h1><p class="muted">host</p><input id="search">{parts["markup"]}
        <script type="application/json" id="x-model">{parts["data"]}</script>
        <script>{own["script"]}</script><script>{parts["script"]}</script></body></html>"""
    browser.open(write_page(html, tmp_path / "host.html"))
    assert browser.run(
        "[window.host, getComputedStyle(document.querySelector('h1')).color]"
    ) == [1, "rgb(1, 2, 3)"]
    colour = "getComputedStyle(document.querySelector('{}')).color"
    assert browser.run(colour.format("body > .muted")) == browser.run(
        colour.format("body")
    )
    assert browser.run("document.querySelectorAll('.explorer h1').length") == 0
    browser.run("document.activeElement.blur()")
    before = browser.run("window.explorer.example")
    browser.press("n")  # keys belong to the host, outside of the explorer
    assert browser.run("[window.explorer.example, location.hash]") == [before, ""]
    scores, _, _ = evaluated(browser, columns_of(model, table[0]))
    assert_allclose(
        scores, model.system_.scores(columns_of(model, table[0])), rtol=0, atol=1e-9
    )
    assert browser.errors == []
