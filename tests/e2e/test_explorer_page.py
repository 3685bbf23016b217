"""The explorer in a browser: it shows what Python says, and everybody can use it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, load_dataset
from mltsk.datasets import make_multilabel_rules
from mltsk.explain.wording import percent

from ..conftest import effects_of_exceptions, effects_of_features

DATA = make_multilabel_rules(n_samples=150, random_state=0)
HOSTILE = "<script>alert(1)</script>"

SCORES = """(rows) => rows.map((x) => {
  return Array.from(window.explorer.system.evaluate(Float64Array.from(x)).scores);
})"""
GIVEN = """(rows) => rows.map((x) => {
  const { system } = window.explorer;
  return system.given(system.evaluate(Float64Array.from(x)).scores).map(Number);
})"""
SHOWN_FIGURES = """[...window.explorer.labels.rows].map(({ figure }) => {
  return figure.textContent;
})"""


@pytest.fixture(scope="module")
def model():
    X, Y = DATA.frames()
    ends_a_script = "</script><img src=x onerror=alert(2)>"
    X.columns = [HOSTILE, ends_a_script, "glucose", *X.columns[3:]]
    Y.columns = ["<b>gout</b>", '"quoted" & co', *Y.columns[2:]]
    return MLTSKClassifier(n_rules=4).fit(X, Y)


@pytest.fixture(scope="module")
def written(model, page):
    return page(model, DATA.X, DATA.Y, title=HOSTILE)


@pytest.fixture
def opened(browser, written):
    browser.open(written)
    return browser


def scores_in(browser, X):
    """Scores of rows as the page computes them."""
    return np.array(browser.run(SCORES, np.asarray(X).tolist()))


def given_in(browser, X):
    """Labels that the page gives to rows, as 0 and 1."""
    return np.array(browser.run(GIVEN, np.asarray(X).tolist()))


def sample_in(browser):
    """The sample that the page shows."""
    return np.array(browser.run("Array.from(window.explorer.x)"))


def shown_figures(browser):
    """Figures that can be read next to bars, in the order of the labels."""
    return browser.run(SHOWN_FIGURES)


def percents_of(model, x):
    """Probabilities of a sample as a page writes them."""
    system = model.system_
    probabilities = system.probabilities(system.scores(x[None, :]))[0]
    return [percent(probability) for probability in probabilities]


def amount(text):
    """A number from the page, which has a minus sign as long as a plus sign."""
    return float(text.replace("−", "-"))


def test_explore_opens_quietly_and_asks_for_nothing_else(opened, written):
    assert opened.errors == []
    assert set(opened.requests) == {written.as_uri()}


MODELS = {
    "quantile": MLTSKClassifier(n_rules=4, scale="quantile"),
    "standard": MLTSKClassifier(n_rules=4, scale="standard"),
    "minmax": MLTSKClassifier(n_rules=4, scale="minmax"),
    "unit": MLTSKClassifier(n_rules=4, scale="unit"),
    "no scale": MLTSKClassifier(n_rules=4, scale=None),
    "paper": PaperMLTSK(n_rules=3),
    "order 1": MLTSKClassifier(n_rules=4, order=1),
    "general": MLTSKClassifier(n_rules=0),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_evaluate_gives_pythons_scores_on_a_thousand_random_inputs(browser, page, kind):
    X = np.round(DATA.X, 1)  # ties
    X[:, 4] = 1.0  # and a feature that says nothing
    clf = MODELS[kind].fit(X, DATA.Y)
    browser.open(page(clf, X, DATA.Y))
    low = X.min(axis=0) - 0.5
    high = X.max(axis=0) + 0.5
    rows = np.random.default_rng(0).uniform(low, high, size=(1000, 10))
    expected = clf.system_.scores(rows)
    assert_allclose(scores_in(browser, rows), expected, rtol=0, atol=1e-6)
    assert browser.errors == []


def test_evaluate_leaves_out_absent_conditions(browser, page):
    clf = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    clf.widths_[0, 2:] = np.inf
    clf.widths_[1] = np.inf
    clf.widths_[2, 5] = np.inf
    browser.open(page(clf))
    expected = clf.system_.scores(DATA.X)
    assert_allclose(scores_in(browser, DATA.X), expected, rtol=0, atol=1e-6)
    assert browser.errors == []


def test_evaluate_gives_pythons_scores_of_yeast(browser, page):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=15, order=1, width_scale=0.5, ridge=1.0)
    clf.fit(data.X, data.Y)
    browser.open(page(clf, data.X, data.Y))
    rows = np.random.default_rng(0).uniform(-0.4, 0.6, size=(1000, 103))
    expected = clf.system_.scores(rows)
    assert_allclose(scores_in(browser, rows), expected, rtol=0, atol=1e-6)


def test_adds_says_which_features_a_short_model_leaves_out(browser, page):
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y).shorten(max_statements=2)
    browser.open(page(clf))
    absent = set(range(10)) - set(clf.terms_.feature)
    notes = browser.texts(".feature-adds")
    assert notes.count("not in the general rule") == len(absent)


def test_chances_are_pythons_probabilities(opened, model):
    system = model.system_
    code = "Array.from(explorer.system.chances(explorer.now.scores))"
    expected = system.probabilities(system.scores(sample_in(opened)[None, :]))[0]
    assert_allclose(opened.run(code), expected, atol=1e-9)
    (shown,) = opened.texts("#x-label-0 .chance")
    assert shown.endswith("%")


CARDS = """[...document.querySelectorAll("article[data-rule]")].map((card) => {
  const rows = [...card.querySelectorAll(".then li")].map((row) => {
    return [".link", ".terms"].map((part) => row.querySelector(part).textContent);
  });
  const size = card.querySelector("header .muted").textContent;
  return [Number(card.dataset.rule), size, rows];
})"""


def test_rule_cards_say_what_python_says(opened, model):
    for k, size, rows in opened.run(CARDS):
        rule = model.rules_.exceptions[k]
        words = {}
        for consequent in rule.consequents:
            text = consequent.nodes()[0].text.removeprefix(f"{consequent.label}: ")
            words[consequent.label] = text.split(";")[0]
        assert size == rule.size
        assert rows == [[label, words[label]] for label, _ in rows]


def test_shape_curve_is_that_of_the_general_rule_with_the_sample_on_it(opened, model):
    f = int(opened.run("document.querySelector('.feature').dataset.feature"))
    j = opened.run("explorer.label")
    effect = effects_of_features(model.system_, sample_in(opened)[None, :], j)[0, f]
    assert_allclose(amount(opened.texts(".feature-adds")[0]), effect, atol=5.1e-4)
    path = opened.run("document.querySelector('.curve').getAttribute('d')")
    assert path.startswith("M0 ")


@pytest.mark.parametrize("tnorm", ["product", "minimum"])
def test_along_follows_the_score_when_one_feature_moves(browser, page, tnorm):
    clf = MLTSKClassifier(n_rules=4, order=0, tnorm=tnorm)
    clf.fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    x = sample_in(browser)
    j = browser.run("explorer.label")
    moved = x.copy()
    moved[2] += 0.7
    code = """([j, value]) => {
      const { system, now } = window.explorer;
      const along = system.along(j, 2, now);
      return along(system.place(2, value, 1)) - along(now.z[2]);
    }"""
    before, after = clf.system_.scores(np.stack([x, moved]))[:, j]
    assert_allclose(browser.run(code, [j, moved[2]]), after - before, atol=1e-9)


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_given_is_the_class_that_python_predicts(browser, page, classes):
    X = DATA.X[:, :1]
    y = np.array(classes)[DATA.Y[:, 0] + DATA.Y[:, 1] * (len(classes) - 2)]
    clf = MLTSKClassifier(n_rules=1).fit(X, y)
    browser.open(page(clf, X, y))
    given = given_in(browser, X)
    is_binary = len(classes) == 2
    position = given[:, 0] if is_binary else given.argmax(axis=1)
    assert_array_equal(np.array(classes)[position], clf.predict(X))
    assert browser.errors == []


def test_bars_and_the_verdict_show_probabilities_and_their_thresholds(browser, page):
    thresholds = [0.5, 0.21, 0.3, 0.4, 0.9]
    clf = MLTSKClassifier(n_rules=0, threshold=thresholds).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    browser.run("explorer.choose(1)")
    x = sample_in(browser)
    system = clf.system_
    chances = system.probabilities(system.scores(x[None, :]))[0]
    fills = browser.run(
        "explorer.labels.rows.map(({ fill }) => parseFloat(fill.style.width))"
    )
    ticks = browser.run(
        "[...document.querySelectorAll('.label .threshold')]"
        ".map((tick) => parseFloat(tick.style.left))"
    )
    assert_allclose(fills, 100 * chances, atol=1e-3)
    assert_allclose(ticks, 100 * np.array(thresholds), atol=1e-3)
    answer = "Given" if chances[1] >= 0.21 else "Not given"
    expected = f"{answer}: {percent(chances[1])}, threshold 21 %."
    assert browser.text("verdict") == expected
    assert browser.texts(".label .score") == []


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_labels_of_a_model_without_probabilities_show_scores(browser, page):
    clf = PaperMLTSK(n_rules=3).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    browser.run("explorer.choose(0)")
    scores = clf.system_.scores(sample_in(browser)[None, :])[0]
    shown = [amount(text) for text in shown_figures(browser)]
    assert_allclose(shown, scores, atol=5.1e-4)
    verb = "reaches" if scores[0] >= 0.5 else "stays below"
    assert f"{scores[0]:.3f} {verb} the threshold 0.5." in browser.text("verdict")
    assert browser.texts(".label .chance") == []
    assert "log-odds" not in browser.run("document.body.innerText")
    lines = browser.texts(".rule .then .terms")
    starts = clf.rules_.intercepts[:, 0].tolist()
    assert min(starts) < 0
    assert "Gauss(c, δ) is the membership" in browser.run("document.body.innerText")
    told = {f"f = {start:.3g}".replace("-", "−") for start in starts}
    assert {" ".join(line.split()[:3]) for line in lines} == told


def test_a_sample_on_which_no_rule_of_the_paper_fires_is_told_so(browser, page):
    clf = PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X[:1] * 1e3))
    assert browser.text("strongest") == "no rule applies"
    assert {amount(text) for text in shown_figures(browser)} == {0}


def test_given_are_the_labels_that_python_predicts(browser, page):
    clf = MLTSKClassifier(n_rules=3, threshold=("recall", 0.9)).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    assert_array_equal(given_in(browser, DATA.X), clf.predict(DATA.X))


def test_a_slider_that_moves_changes_the_figures_to_what_python_says(opened, model):
    before = shown_figures(opened)
    opened.run("document.querySelector('.slider').focus()")
    for _ in range(40):
        opened.press("ArrowRight")
    after = shown_figures(opened)
    assert after != before
    assert after == percents_of(model, sample_in(opened))
    assert opened.run("document.getElementById('x-changed').hidden") is False


def test_a_typed_value_is_taken_exactly_even_beyond_the_range(opened, model):
    f = int(opened.run("document.querySelector('.feature').dataset.feature"))
    opened.enter("input.value", "123.25")
    x = sample_in(opened)
    assert x[f] == 123.25
    assert shown_figures(opened) == percents_of(model, x)


def test_effects_and_shifts_are_pythons_and_add_up(opened, model):
    system = model.system_
    x = sample_in(opened)[None, :]
    scores = system.scores(x)[0]
    code = """(j) => {
      const { system, now } = window.explorer;
      const parts = [system.effects(j, now), system.shifts(j, now)];
      return [system.base(j), ...parts.map((amounts) => Array.from(amounts))];
    }"""
    for j, score in enumerate(scores):
        base, effects, shifts = opened.run(code, j)
        assert_allclose(effects, effects_of_features(system, x, j)[0], atol=1e-9)
        assert_allclose(shifts, effects_of_exceptions(system, x, j)[0], atol=1e-9)
        assert_allclose(base + sum(effects) + sum(shifts), score, atol=1e-9)


def test_shifts_of_exceptions_without_slopes_are_distances_from_the_average(
    browser, page
):
    clf = MLTSKClassifier(n_rules=4, order=0).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    x = sample_in(browser)[None, :]
    why = clf.explain(x)
    for j in range(DATA.Y.shape[1]):
        base, shifts = browser.run(
            """(j) => {
              const { system, now } = window.explorer;
              return [system.base(j), Array.from(system.shifts(j, now))];
            }""",
            j,
        )
        assert base == pytest.approx(why.base[j])
        assert_allclose(shifts, why.shifts[0, :, j], atol=1e-9)


def test_the_ledger_of_why_adds_up_to_the_score(opened):
    shown = opened.texts("#x-by-feature .amount, #x-by-rule .amount")
    *amounts, total = map(amount, shown)
    assert abs(sum(amounts) - total) < 0.0006 * len(shown)


@pytest.mark.parametrize(
    "clf",
    [
        MLTSKClassifier(n_rules=3, order=1),
        PaperMLTSK(n_rules=2, correlation_weight=0.01),
    ],
)
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_within_tells_slopes_of_rules_by_feature(browser, page, clf):
    clf.fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    code = """() => {
      const { usual, parts } = explorer.system.within(1, explorer.now);
      return [usual, Array.from(parts)];
    }"""
    usual, parts = browser.run(code)
    shifts = effects_of_exceptions(clf.system_, sample_in(browser)[None, :], 1)[0]
    assert_allclose(usual + sum(parts), shifts.sum(), atol=1e-9)
    assert len(browser.texts("#x-within button")) == 5
    assert browser.errors == []


# Bars that are wider than the place that they have.
WIDE_BARS = """[...document.querySelectorAll(".diverging")].filter((bar) => {
  const place = bar.getBoundingClientRect();
  const fill = bar.querySelector(".fill").getBoundingClientRect();
  return fill.left < place.left - 1 || fill.right > place.right + 1;
}).length"""


def test_bars_within_rules_of_the_paper_stay_in_their_place(browser, page):
    # labels that most rows have, far from balanced: an average sample scores much
    Y = (DATA.X[:, :3] > np.quantile(DATA.X[:, :3], 0.1, axis=0)).astype(int)
    clf = PaperMLTSK(n_rules=2, width_scale=10, correlation_weight=0.01).fit(DATA.X, Y)
    browser.open(page(clf, DATA.X, Y))
    assert len(browser.texts("#x-within li")) > 2
    assert browser.run(WIDE_BARS) == 0


def test_names_stay_text_everywhere(opened):
    assert len(opened.texts("script")) == 2
    assert opened.texts("img, b, iframe") == []
    assert opened.errors == []
    assert opened.texts("h1") == [HOSTILE]
    assert HOSTILE in opened.texts(".feature-name")
    assert opened.texts("#x-label-0 .label-name") == ["<b>gout</b>"]


def test_policy_lets_no_other_script_run(opened):
    opened.run("""() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 1";
      const button = document.createElement("div");
      button.setAttribute("onclick", "window.ran = 2");
      document.body.append(script, button);
      button.click();
    }""")
    assert opened.run("window.ran === undefined") is True


def test_examples_are_rows_of_the_data_with_their_labels(opened):
    opened.click("#x-next")
    row = int(opened.text("sample-name").removeprefix("row ")) - 1
    assert_array_equal(sample_in(opened), DATA.X[row])
    n_marked = sum(mark != "" for mark in opened.texts(".label .truth"))
    assert n_marked == DATA.Y[row].sum()


def test_the_search_can_be_used_from_the_keyboard_alone(opened):
    opened.press("/")
    assert opened.run("document.activeElement.id") == "x-search"
    for letter in "gluc":
        opened.press(letter)
    assert opened.texts(".feature-name") == ["glucose"]
    opened.press("Escape")
    assert len(opened.texts(".feature")) == 10


def test_samples_and_labels_can_be_chosen_from_the_keyboard_alone(opened):
    first = opened.run("explorer.example")
    opened.press("n")
    assert opened.run("explorer.example") == first + 1
    opened.run("explorer.choose(1)")
    opened.press("j")
    assert opened.run("document.activeElement.id") == "x-label-2"
    assert opened.run("document.activeElement.ariaSelected") == "true"
    opened.press("ArrowUp")
    assert opened.text("why-label") == '"quoted" & co'
    opened.press("?")
    assert opened.run("document.getElementById('x-keys').open") is True


def test_every_control_has_a_name_and_scores_are_announced(opened):
    nameless = """[...document.querySelectorAll("input, select, button")].filter(
      (node) => !node.getAttribute("aria-label") && !node.textContent.trim()
    ).map((node) => node.outerHTML)"""
    assert opened.run(nameless) == []
    assert opened.run("document.getElementById('x-status').ariaLive") == "polite"
    assert "is strongest" in opened.text("status")


def test_clicks_choose_labels_features_and_rules(opened):
    opened.click("#x-label-3")
    assert opened.run("explorer.label") == 3
    opened.click("#x-by-feature button")
    assert opened.run("document.activeElement.closest('.feature') !== null") is True
    opened.click("#x-by-rule button")
    assert opened.run("document.activeElement.className").startswith("rule")


@pytest.mark.parametrize("dark", [False, True])
def test_toggle_theme_changes_what_the_system_asks_for(browser, written, dark):
    ground = "getComputedStyle(document.getElementById('x-explorer')).backgroundColor"
    light = "rgb(247, 246, 243)"
    night = "rgb(18, 21, 26)"
    browser.open(written, dark=dark)
    assert browser.run(ground) == (night if dark else light)
    browser.click("#x-theme")
    assert browser.run(ground) == (light if dark else night)


@pytest.mark.parametrize("width", [320, 390, 800, 1180])
def test_no_width_needs_sideways_scrolling(browser, written, width):
    browser.open(written, width=width, height=844)
    beyond = """[...document.querySelectorAll(".explorer *")].filter((node) => {
      const isBeyond = node.getBoundingClientRect().right > innerWidth + 1;
      return isBeyond && !node.closest(".features, .labels, svg");
    }).map((node) => node.className)"""
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(beyond) == []


def test_the_general_rule_has_a_heading_that_needs_no_end(browser, page):
    clf = MLTSKClassifier(n_rules=0).fit(*DATA.frames())
    browser.open(page(clf))
    browser.run("explorer.choose(1)")
    label = browser.run("explorer.data.labels[1]")
    assert browser.texts("#x-general h3") == [f"{label} in general"]
    browser.run("explorer.data.general[1] = { words: [], more: '' }")
    browser.run("explorer.choose(1)")
    assert browser.texts("#x-general .more") == ["The model says nothing about it."]


HEADINGS = """(correlations) => {
  explorer.map.tables = { labels: Int8Array.from(correlations) };
  explorer.map.names = ["a", "b"];
  explorer.map.show(0, false);
  return ["with", "against"].filter((side) => {
    return document.getElementById(`x-map-${side}-title`).checkVisibility();
  });
}"""


@pytest.mark.parametrize(("correlation", "shown"), [(50, ["with"]), (-50, ["against"])])
def test_label_map_shows_no_heading_without_a_list(opened, correlation, shown):
    correlations = [127, correlation, correlation, 127]
    assert opened.run(HEADINGS, correlations) == shown


def test_categories_are_chosen_by_name(browser, page):
    X = DATA.X.copy()
    X[:, 0] = np.random.default_rng(0).integers(0, 3, len(X))
    clf = MLTSKClassifier(n_rules=3).fit(X, DATA.Y)
    categories = {"x0": {0.0: "red", 1.0: "green", 2.0: "blue"}}
    clf.system_ = replace(clf.system_, categories=categories)
    browser.open(page(clf, X, DATA.Y))
    browser.run("explorer.reveal(0)")
    name = browser.run("document.activeElement.selectedOptions[0].textContent")
    assert name in ("red", "green", "blue")
    browser.enter(":focus", "2")
    x = sample_in(browser)
    assert x[0] == 2.0
    assert shown_figures(browser) == percents_of(clf, x)


SET_BY_CONTROL = """([f, value]) => {
  const { explorer } = window;
  explorer.search(explorer.data.features[f]);
  const find = (part) => explorer.control(f).node.querySelector(part);
  const box = find("[type=checkbox]");
  const select = find("select");
  const isTakenAway = box && value === null;
  const field = isTakenAway ? box : find(".value");
  if (isTakenAway) {
    box.checked = true;
  } else if (select) {
    const option = [...select.options].find(({ text }) => text === value);
    select.value = value === null ? "" : option.value;
  } else {
    field.value = value;
  }
  field.dispatchEvent(new Event("change"));
}"""
SAID = """window.explorer.data.features.map((_, f) => {
  const { features, x } = window.explorer;
  return features.said(f, features.value(f, x));
})"""


def set_to(browser, f, value):
    """Set a feature by its own control; None is not measured."""
    browser.run(SET_BY_CONTROL, [f, value])
    browser.settled()


RULES = [
    {"age": (50, None), "sex": "m"},
    {"smoker": ["daily", "other"], "stage": ("I", "III")},
    {"fever": True},
]
KINDS = [
    ({"n_rules": 4, "order": 0}, None),
    ({"n_rules": 3, "order": 1}, None),
    ({"max_statements": 6}, None),
    ({"n_rules": 3}, RULES),
]
NAMES = ("age", "smoker", "sex", "stage", "fever", "albumin")
ROWS = [
    (61.0, "daily", "m", "III", "yes", 3.25),
    (None, "other", "f", None, None, None),
    (33.0, None, None, "I", "no", 4.0),
]
IN_TABLE = {"yes": True, "no": False, "other": "pipe"}  # words of the page


@pytest.mark.parametrize(("kind", "rules"), KINDS)
def test_a_table_is_set_in_its_own_words_and_scores_are_pythons(
    browser, page, table, kind, rules
):
    clf = MLTSKClassifier(**kind).fit(*table, rules=rules)
    browser.open(page(clf, *table))
    for row in ROWS:
        X = table[0].iloc[[0]].copy()
        for f, (name, value) in enumerate(zip(NAMES, row, strict=True)):
            set_to(browser, f, value)
            X[name] = [IN_TABLE.get(value, value)]
        expected = clf.decision_function(X)[0] + clf.system_.thresholds
        scores = browser.run("Array.from(explorer.now.scores)")
        assert_allclose(scores, expected, atol=1e-9)
        assert browser.run(SAID)[1:5] == [word or "not measured" for word in row[1:5]]
    assert browser.errors == []


def test_rules_of_the_user_hold_or_not_as_values_move(browser, page, table):
    clf = MLTSKClassifier(n_rules=0).fit(*table, rules=RULES)
    browser.open(page(clf, *table))
    set_to(browser, 2, "m")
    for age, words in (
        (64.0, "holds"),
        (40.0, "does not hold"),
        (None, "does not hold"),
    ):
        set_to(browser, 0, age)
        is_told = "Your rule 1" in browser.texts("#x-by-feature .what")
        assert browser.texts("#x-given-0 .firing") == [words]
        assert is_told == (words == "holds")
    card = browser.text("given-0")
    for words in ("age 50 or above", "sex is m", "copd", "gout"):
        assert words in card
    assert browser.errors == []


def test_a_number_that_is_measured_again_has_its_last_value(browser, page, table):
    control = "window.explorer.control(5).node"
    browser.open(page(MLTSKClassifier(n_rules=3).fit(*table), *table))
    set_to(browser, 5, 4.0)
    set_to(browser, 5, None)
    assert browser.run(f"{control}.classList.contains('absent')") is True
    assert browser.run("explorer.x[explorer.features.gap[5]]") == 1
    browser.run(f"{control}.querySelector('[type=checkbox]').click()")
    browser.settled()
    assert browser.run("explorer.features.value(5, explorer.x)") == 4.0
    assert browser.errors == []
