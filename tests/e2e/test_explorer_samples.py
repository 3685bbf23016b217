"""Samples in the explorer: models of every length, what turns an answer, addresses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.explorer import explorer_parts, policy
from mltsk.pages.render import write_page

DATA = make_multilabel_rules(n_samples=150, random_state=0)
HOSTILE = "<img src=x onerror=alert(1)>"

SAMPLE = "Array.from(explorer.x, (value) => Number.isNaN(value) ? null : value)"
EVALUATED = """(rows) => rows.map((row) => {
  const { system } = window.explorer;
  const x = Float64Array.from(row, (value) => value ?? NaN);
  const { scores } = system.evaluate(x);
  const given = system.given(scores).map(Number);
  return [Array.from(scores), Array.from(system.chances(scores)), given];
})"""


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


def sample_in(browser):
    """The sample that the page shows, NaN where a value is missing."""
    return np.array(browser.run(SAMPLE), dtype=float)


def columns_of(model, X):
    """Rows of a table in columns of numbers."""
    return model.system_.columns.expand(X)


def evaluated(browser, rows):
    """Scores, probabilities and given labels of rows, as the page computes them."""
    plain = np.where(np.isnan(rows), None, rows).tolist()
    return map(np.array, zip(*browser.run(EVALUATED, plain), strict=True))


def test_sizes_compute_and_say_at_every_length_what_python_does(opened, model, table):
    lengths = opened.texts(".size-terms")
    assert lengths == ["3", "5", "8", "12", "20", "30", "all"]
    rows = columns_of(model, table[0])
    for i, length in enumerate(lengths):
        opened.enter("#x-size", str(i), "input")
        short = model if length == "all" else model.shorten(int(length))
        scores, chances, given = evaluated(opened, rows)
        assert_allclose(scores, short.system_.scores(rows), rtol=0, atol=1e-9)
        assert_allclose(chances, short.predict_proba(table[0]), rtol=0, atol=1e-9)
        assert_array_equal(given, short.predict(table[0]))
        shapes = short.rules_.general[opened.run("explorer.label")].shapes
        assert opened.texts("#x-general li") == [str(shape) for shape in shapes]
        shown = opened.texts("#x-by-feature .amount, #x-by-rule .amount")
        *amounts, total = [float(text.replace("−", "-")) for text in shown]
        assert abs(sum(amounts) - total) < 0.0006 * len(shown)
    assert opened.errors == []


@pytest.mark.parametrize(
    "kind",
    [{"order": 1}, {"scale": "standard"}, {"scale": "unit"}, "sparse", "classes"],
)
def test_sizes_of_other_models_compute_what_python_does(browser, page, kind):
    options = kind if isinstance(kind, dict) else {}
    data = make_multilabel_rules(n_samples=90, sparse=kind == "sparse", random_state=0)
    y = data.Y
    if kind == "classes":
        y = np.array(["a", "b", "c"])[data.Y[:, 0] + data.Y[:, 1]]
    clf = MLTSKClassifier(n_rules=3, **options).fit(data.X, y)
    browser.open(page(clf, data.X, y, neighbours=True))
    rows = data.X.toarray() if kind == "sparse" else data.X
    sizes = browser.run("explorer.sizes.sizes.map(({ size }) => size)")
    for i, size in enumerate(sizes):
        browser.enter("#x-size", str(i), "input")
        short = clf.shorten(size) if size < clf.n_statements_.max() else clf
        scores, chances, given = evaluated(browser, rows)
        assert_allclose(scores, short.system_.scores(rows), rtol=0, atol=1e-9)
        assert_allclose(chances, short.predict_proba(rows), rtol=0, atol=1e-9)
        predicted = short.predict(rows)
        if kind == "classes":
            predicted = predicted[:, None] == clf.classes_
        assert_array_equal(given, predicted)
    assert browser.errors == []


def test_sizes_have_no_slider_where_a_model_has_one_length(browser, page, table):
    browser.open(page(MLTSKClassifier(n_rules=0, max_statements=5).fit(*table), *table))
    assert browser.run("document.getElementById('x-size') === null") is True
    assert browser.errors == []


# Rows, labels, whether given, and [feature, value, change] of what would turn that.
TURNS = """() => {
  const { explorer } = window;
  const features = [...explorer.data.features.keys()];
  const found = [];
  for (const i of [0, 3, 17, 40, 41, 77, 110, 200]) {
    for (const j of explorer.data.labels.keys()) {
      explorer.load(i);
      explorer.choose(j);
      const { x, now } = explorer;
      const { given, turns } = explorer.turns.of(j, x, now, features, 99);
      const told = turns.map(({ f, value, change }) => [f, value, change]);
      found.push([i, j, given, told]);
    }
  }
  return found;
}"""


def test_turns_are_values_that_turn_the_answer_in_python_too(opened, model, table):
    n_turns = 0
    for i, j, given, turns in opened.run(TURNS):
        row = table[0].iloc[[i]]
        x = columns_of(model, row)[0]
        assert model.predict(row)[0, j] == given
        for f, value, _ in turns:
            opened.run(f"explorer.load({i}); explorer.choose({j});")
            opened.run(f"explorer.set({f}, {value}, true)")
            opened.settled()
            moved = sample_in(opened)
            own = model.rules_.effects.subjects[f].columns
            score = model.system_.scores(moved[None])[0, j]
            assert opened.run(f"explorer.given[{j}]") is not given
            assert (moved[own] != x[own]).any()
            assert (score >= model.system_.thresholds[j]) != given
            n_turns += 1
    assert n_turns > 20


# How many values of feature f are clearly nearer than a change and turn the answer.
NEARER = """([i, j, f, change]) => {
  const { explorer } = window;
  const { features, turns } = explorer;
  explorer.load(i);
  const now = features.value(f, explorer.x);
  const from = Number.isNaN(now) ? features.valueAt(f, 500) : now;
  const values = [...Array(1001).keys()].map((place) => features.valueAt(f, place));
  const near = values.filter((value) => turns.change(f, from, value) < change - 0.011);
  return near.filter((value) => {
    return turns.answer(f, value, explorer.x, j) !== explorer.given[j];
  }).length;
}"""


def test_turns_are_the_nearest_values_that_turn_an_answer(opened):
    for i, j, _, turns in opened.run(TURNS):
        changes = {f: change for f, _, change in turns}
        for f in (0, 5):
            assert opened.run(NEARER, [i, j, f, changes.get(f, 9)]) == 0


def test_turns_are_told_and_can_be_tried(opened):
    is_given = "explorer.given[explorer.label]"
    opened.run("explorer.load(3)")
    before = opened.run(is_given)
    told = opened.texts("#x-turns .turn > :first-child")
    begin = "no longer given if " if before else "given if "
    assert 0 < len(told) <= 4
    assert all(words.startswith(begin) for words in told)
    opened.click("#x-turns .turn")
    assert opened.run(is_given) is not before
    opened.click("#x-reset")
    assert opened.run(is_given) is before


def test_turns_say_where_nothing_turns_an_answer(browser, page):
    clf = MLTSKClassifier(n_rules=0, threshold=1.0).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X))
    assert browser.run("document.getElementById('x-no-turn').hidden") is False
    assert browser.texts("#x-turns li") == []


@pytest.mark.parametrize(
    ("typed", "row"),
    [("P-017", 17), ("p-017", 17), ("18", 17), ("row 240", 239), ("02", 1)],
)
def test_find_takes_an_identifier_or_a_number(opened, model, table, typed, row):
    opened.enter("#x-find", typed)
    assert opened.text("sample-name") == f"P-{row:03d}"
    assert_array_equal(sample_in(opened), columns_of(model, table[0].iloc[[row]])[0])
    marks = opened.texts("#x-label-0 .truth, #x-label-1 .truth")
    has_label = (table[1].to_numpy()[row] == 1).tolist()
    assert [mark == "◆" for mark in marks] == has_label


def test_find_suggests_rows_and_says_that_there_is_no_such_one(opened):
    opened.enter("#x-find", "P-23", "input")
    options = "[...document.getElementById('x-found-rows').options]"
    suggested = opened.run(f"{options}.map(({{ value }}) => value)")
    assert suggested == [f"P-23{i}" for i in range(10)]
    before = opened.text("sample-name")
    opened.enter("#x-find", "<b>nobody</b>")
    assert opened.text("missed") == "There is no row “<b>nobody</b>” here."
    assert opened.text("sample-name") == before
    opened.enter("#x-find", "1")
    assert opened.text("sample-name") == HOSTILE
    assert opened.texts(".explorer img, .explorer b") == []


def test_neighbours_are_the_nearest_rows_on_the_scale_of_the_rules(
    opened, model, table
):
    Z = model.system_.scale(columns_of(model, table[0]))
    share = model.system_.scaling.share
    for i in (5, 60):
        opened.enter("#x-find", f"P-{i:03d}")
        steps = (Z - Z[i]) ** 2
        distances = np.where(np.isnan(steps), 2 * share, steps).sum(axis=1)
        distances[i] = np.inf
        nearest = np.argsort(distances, kind="stable")[:5]
        names = opened.texts(".neighbour > :first-child")
        assert names == [f"P-{k:03d}" for k in nearest]
    opened.click(".neighbour")
    assert opened.text("sample-name") == names[0]


def test_neighbours_are_not_there_unless_asked_for(browser, page, model, table):
    browser.open(page(model, *table))
    assert browser.run("document.getElementById('x-neighbours') === null") is True


def state_of(browser):
    """What an address holds: sample, label, length, rule and values."""
    names = ("example", "label", "sizes.at", "rule")
    state = [browser.run(f"explorer.{name}") for name in names]
    return [*state, browser.run(SAMPLE)]


def test_an_address_opens_the_state_that_it_was_copied_from(browser, written):
    browser.open(written)
    browser.enter("#x-find", "P-040")
    browser.run("explorer.choose(1)")
    browser.click("#x-by-rule button")
    for f, value in ((0, "61.5"), (1, "2"), (3, "NaN"), (5, "NaN")):
        browser.run(f"explorer.set({f}, {value}, true)")
    browser.settled()
    before = state_of(browser)
    address = browser.run("location.hash")
    assert "row=41&label=gout&rule=" in address
    browser.open(written, fragment=address)
    marked = browser.run("document.querySelector('.rule[aria-current]').dataset.rule")
    assert state_of(browser) == before
    assert marked == str(before[3])
    browser.click("#x-reset")
    assert "set." not in browser.run("location.hash")
    assert browser.errors == []


def test_an_address_holds_the_length_of_the_model(browser, written):
    browser.open(written)
    browser.enter("#x-size", "2", "input")
    browser.open(written, fragment=browser.run("location.hash"))
    assert browser.run("explorer.sizes.at") == 2


UNFIT = (
    "#explorer:",
    "#x-labels",
    "#explorer:row=99999&label=nobody&terms=7&rule=99",
    "#explorer:row=made-0&rule=-1",
    "#explorer:set.age=Infinity&set.smoker=9&set.smoker=0.5&set.albumin=x",
    "#explorer:set.<b>=1&set.__proto__=1&set.sex=1e999",
    "#explorer:%E0%A4%A&row=%00",
    "#explorer:row=" + "1" * 200_000,
    "#explorer:constructor=1&row=constructor",
)


def test_an_address_that_does_not_fit_is_ignored(browser, written):
    browser.open(written)
    first = state_of(browser)
    for fragment in UNFIT:
        browser.open(written, fragment=fragment)
        assert state_of(browser) == first, fragment[:80]
        assert browser.errors == []


def test_the_back_button_takes_back_another_row_and_no_slider(opened):
    opened.enter("#x-find", "P-040")
    opened.run("explorer.set(0, 50, true)")
    opened.settled()
    opened.enter("#x-find", "P-041")
    assert opened.run("history.length") >= 3
    opened.run("""new Promise((done) => {
      addEventListener("popstate", () => done(true));
      history.back();
    })""")
    assert opened.text("sample-name") == "P-040"
    assert opened.run("explorer.features.value(0, explorer.x)") == 50


def test_reset_gives_back_the_values_of_the_row(opened, model, table):
    is_hidden = "document.getElementById('x-reset').hidden"
    assert opened.run(is_hidden) is True
    opened.enter("#x-find", "P-012")
    opened.run("explorer.set(0, 33, true); explorer.set(1, NaN, true)")
    opened.settled()
    opened.run("document.activeElement.blur()")
    opened.press("r")
    assert_array_equal(sample_in(opened), columns_of(model, table[0].iloc[[12]])[0])
    assert opened.run(is_hidden) is True


@pytest.fixture(scope="module")
def whole_numbers(page):
    """A page whose first feature takes whole numbers only."""
    X = DATA.X.copy()
    X[:, 0] = np.arange(150) % 9
    return page(MLTSKClassifier(n_rules=0).fit(X, DATA.Y), X)


def press_on_slider(browser, f, start, key):
    """The value of a feature after a key was pressed on its slider."""
    slider = f"explorer.control({f}).node.querySelector('.slider')"
    browser.run(f"explorer.load(0); explorer.set({f}, {start}, true)")
    browser.run(f"explorer.reveal({f})")
    browser.settled()
    browser.run(f"{slider}.focus()")
    browser.press(key)
    return browser.run(f"explorer.features.value({f}, explorer.x)")


@pytest.mark.parametrize(("key", "step"), [("ArrowRight", 1), ("ArrowLeft", -1)])
def test_keys_move_a_slider_by_a_whole_number(browser, whole_numbers, key, step):
    browser.open(whole_numbers)
    value = press_on_slider(browser, 0, 4, key)
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert value == pytest.approx(4 + step, rel=1e-9)
    assert browser.run(outline) == "solid"


@pytest.mark.parametrize(("key", "step"), [("ArrowUp", 10), ("PageDown", -100)])
def test_keys_move_a_slider_by_a_hundredth_or_a_tenth(
    browser, whole_numbers, key, step
):
    browser.open(whole_numbers)
    start = browser.run("explorer.features.valueAt(1, 400)")
    value = press_on_slider(browser, 1, start, key)
    expected = browser.run(f"explorer.features.valueAt(1, {400 + step})")
    assert value == pytest.approx(expected, rel=1e-9)


# Count from now on how often the page announces something.
COUNT_ANNOUNCEMENTS = """() => {
  window.announcements = 0;
  const observer = new MutationObserver(() => { window.announcements++; });
  observer.observe(document.getElementById("x-status"), { childList: true });
}"""


def test_announce_waits_until_a_slider_rests(opened):
    slider = ".slider:not(#x-size)"
    opened.run("explorer.search('albumin')")
    opened.run(COUNT_ANNOUNCEMENTS)
    for place in range(0, 1000, 100):
        opened.enter(slider, str(place), "input")
    assert opened.run("announcements") == 0
    opened.enter(slider, "900", "change")
    assert opened.run("announcements") <= 1


def test_sliders_say_their_value(opened):
    slider = "document.querySelector('.slider:not(#x-size)')"
    opened.run("explorer.search('albumin')")
    opened.run("explorer.set(5, NaN, true)")
    opened.settled()
    assert opened.run(f"{slider}.ariaLabel") == "albumin"
    assert opened.run(f"{slider}.ariaValueText") == "not measured"
    opened.enter(".slider:not(#x-size)", "900")
    value = float(opened.run("document.querySelector('input.value').value"))
    assert opened.run(f"{slider}.ariaValueText").startswith(f"{value:.3g} (")


VISIBLE = """(selector) => [...document.querySelectorAll(selector)]
  .filter((node) => node.getClientRects().length)
  .map((node) => node.id)"""


def test_fill_sheet_prints_every_value_and_no_controls(opened, table):
    opened.enter("#x-find", "P-012")
    opened.run("explorer.set(0, 33, true)")
    opened.settled()
    assert opened.page.pdf().count(b"/Type /Page\n") == 1
    told = opened.texts("#x-values li")
    assert [line.split()[0] for line in told] == list(table[0].columns)
    assert " changed from " in told[0]
    opened.page.emulate_media(media="print")
    controls = "input, select, canvas, .rule, .neighbour, #x-values, #x-sheet"
    visible = opened.run(VISIBLE, controls)
    opened.page.emulate_media(media="screen")
    assert visible == ["x-sheet", "x-values"]


HOST_STYLE = "h1 { color: rgb(1, 2, 3); } .card { padding: 7px; }"
HOST_SCRIPT = "window.host = 1;"
HOST = """<!doctype html>
<html>
<head>
  <meta charset="utf-8">
  <title>host</title>
  <meta http-equiv="Content-Security-Policy" content="{policy}">
  <style>{host_style}</style>
  <style>{style}</style>
</head>
<body>
  <h1 id="labels">Host</h1>
  <p class="muted">host</p>
  <input id="search">
  {markup}
  <script type="application/json" id="x-model">{data}</script>
  <script>{host_script}</script>
  <script>{script}</script>
</body>
</html>
"""


@pytest.fixture(scope="module")
def host(model, table, tmp_path_factory):
    """A page of another kind that holds the explorer."""
    parts = explorer_parts(model, *table)
    allowed = policy([HOST_STYLE, parts["style"]], [HOST_SCRIPT, parts["script"]])
    html = HOST.format(
        policy=allowed, host_style=HOST_STYLE, host_script=HOST_SCRIPT, **parts
    )
    return write_page(html, tmp_path_factory.mktemp("host") / "host.html")


def test_explorer_parts_leave_the_style_of_another_page_alone(browser, host):
    def colour(selector):
        node = f"document.querySelector('{selector}')"
        return browser.run(f"getComputedStyle({node}).color")

    browser.open(host)
    assert browser.run("window.host") == 1
    assert colour("h1") == "rgb(1, 2, 3)"
    assert colour("body > .muted") == colour("body")
    assert browser.texts(".explorer h1") == []
    assert browser.errors == []


def test_explorer_parts_leave_the_keys_of_another_page_alone(browser, host):
    browser.open(host)
    before = browser.run("explorer.example")
    browser.press("n")
    assert browser.run("explorer.example") == before
    assert browser.run("location.hash") == ""


def test_explorer_parts_compute_pythons_scores_in_another_page(
    browser, host, model, table
):
    browser.open(host)
    rows = columns_of(model, table[0])
    scores, _, _ = evaluated(browser, rows)
    assert_allclose(scores, model.system_.scores(rows), rtol=0, atol=1e-9)
