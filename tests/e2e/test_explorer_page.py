"""The explorer in a browser: what it shows is what Python says, and it can be used by everybody."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, load_dataset
from mltsk.datasets import make_multilabel_rules

from ..conftest import effects_of_exceptions, effects_of_features

DATA = make_multilabel_rules(n_samples=150, random_state=0)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def model():
    X, Y = DATA.frames()
    X.columns = [
        HOSTILE,
        "</script><img src=x onerror=alert(2)>",
        "glucose",
        *X.columns[3:],
    ]
    Y.columns = ["<b>gout</b>", '"quoted" & co', *Y.columns[2:]]
    clf = MLTSKClassifier(n_rules=4).fit(X, Y)
    return clf


@pytest.fixture(scope="module")
def written(model, page):
    return page(model, DATA.X, DATA.Y, title=HOSTILE)


@pytest.fixture
def opened(browser, written):
    browser.open(written)
    return browser


def scores_in(browser, X):
    """Scores of rows as the page computes them."""
    rows = json.dumps(np.asarray(X).tolist())
    code = f"{rows}.map((x) => Array.from(window.explorer.system.evaluate(Float64Array.from(x)).scores))"
    return np.array(browser.run(code))


def sample_in(browser):
    return np.array(browser.run("Array.from(window.explorer.x)"))


def shown_scores(browser):
    rows = browser.run(
        "[...document.querySelectorAll('.label')].map((e) => [e.id, e.querySelector('.score').textContent])"
    )
    return np.array(
        [
            float(text.replace("−", "-"))
            for _, text in sorted(rows, key=lambda row: int(row[0][8:]))
        ]
    )


def test_it_opens_quietly_and_asks_for_nothing_else(opened, written):
    assert opened.errors == []
    assert set(opened.requests) == {written.as_uri()}


@pytest.mark.parametrize(
    "scale",
    ["quantile", "standard", "minmax", "unit", None, "paper", "order 1", "general"],
)
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_scores_equal_pythons_on_a_thousand_random_inputs(browser, page, scale):
    X = np.round(DATA.X, 1)  # ties
    X[:, 4] = 1.0  # and a feature that says nothing
    kinds = {
        "paper": PaperMLTSK(n_rules=3),
        "order 1": MLTSKClassifier(n_rules=4, order=1),
        "general": MLTSKClassifier(n_rules=0),
    }
    clf = kinds.get(scale) or MLTSKClassifier(n_rules=4, scale=scale)
    clf.fit(X, DATA.Y)
    browser.open(page(clf, X, DATA.Y))
    rows = np.random.default_rng(0).uniform(
        X.min(axis=0) - 0.5, X.max(axis=0) + 0.5, size=(1000, 10)
    )
    assert_allclose(
        scores_in(browser, rows), clf.system_.scores(rows), rtol=0, atol=1e-6
    )
    assert browser.errors == []


def test_scores_of_rules_with_absent_conditions(browser, page):
    clf = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    clf.widths_[0, 2:] = np.inf
    clf.widths_[1] = np.inf
    clf.widths_[2, 5] = np.inf
    browser.open(page(clf))
    assert_allclose(
        scores_in(browser, DATA.X), clf.system_.scores(DATA.X), rtol=0, atol=1e-6
    )
    assert browser.errors == []


def test_a_short_model_says_which_features_it_leaves_out(browser, page):
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y).shorten(max_statements=2)
    browser.open(page(clf))
    notes = browser.run(
        "[...document.querySelectorAll('.feature-adds')].map((e) => e.textContent)"
    )
    absent = set(range(10)) - set(clf.terms_.feature)
    assert notes.count("not in the general rule") == len(absent)


def test_probabilities_are_pythons(browser, page, model, written):
    browser.open(written)
    code = "(() => { const e = window.explorer; return Array.from(e.system.chances(e.now.scores)); })()"
    system = model.system_
    expected = system.probabilities(system.scores(sample_in(browser)[None, :]))[0]
    assert_allclose(browser.run(code), expected, atol=1e-9)
    shown = browser.run("document.querySelector('#x-label-0 .chance').textContent")
    assert shown.endswith("%")


def test_exceptions_are_told_as_python_tells_them(opened, model):
    code = """[...document.querySelectorAll('article[data-rule]')].map((e) => [Number(e.dataset.rule), e.querySelector(
        'header .muted').textContent, [...e.querySelectorAll('.then li')].map((row) => [row.querySelector('.link')
        .textContent, row.querySelector('.terms').textContent])])"""
    for k, size, then in opened.run(code):
        rule = model.rules_.exceptions[k]
        said = {
            c.label: c.nodes()[0].text.removeprefix(f"{c.label}: ").split(";")[0]
            for c in rule.consequents
        }
        assert size == rule.size
        assert then == [[label, said[label]] for label, _ in then]


def test_curves_are_those_of_the_general_rule_with_the_sample_on_them(opened, model):
    d = int(opened.run("document.querySelector('.feature').dataset.feature"))
    x, j = sample_in(opened), opened.run("window.explorer.label")
    effect = effects_of_features(model.system_, x[None, :], j)[0, d]
    shown = opened.run("document.querySelector('.feature-adds').textContent")
    assert_allclose(float(shown.replace("−", "-")), effect, atol=5.1e-4)
    assert opened.run("document.querySelector('.curve').getAttribute('d')").startswith(
        "M0 "
    )


@pytest.mark.parametrize("tnorm", ["product", "minimum"])
def test_moving_one_feature_follows_the_thin_curve(browser, page, tnorm):
    model = MLTSKClassifier(n_rules=4, order=0, tnorm=tnorm).fit(DATA.X, DATA.Y)
    opened = browser
    opened.open(page(model, DATA.X, DATA.Y))
    x, j = sample_in(opened), opened.run("window.explorer.label")
    moved = x.copy()
    moved[2] += 0.7
    code = f"""(() => {{ const e = window.explorer, s = e.system, along = s.along({j}, 2, e.now);
        return along(s.place(2, {float(moved[2])!r}, 1)) - along(e.now.z[2]); }})()"""
    before, after = model.system_.scores(np.stack([x, moved]))[:, j]
    assert_allclose(opened.run(code), after - before, atol=1e-9)


def test_scores_of_yeast_on_a_thousand_random_inputs(browser, page):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=15, order=1, width_scale=0.5, ridge=1.0).fit(
        data.X, data.Y
    )
    browser.open(page(clf, data.X, data.Y))
    rows = np.random.default_rng(0).uniform(-0.4, 0.6, size=(1000, 103))
    assert_allclose(
        scores_in(browser, rows), clf.system_.scores(rows), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_classes_of_one_dimension(browser, page, classes):
    y = np.array(classes)[DATA.Y[:, 0] + DATA.Y[:, 1] * (len(classes) - 2)]
    clf = MLTSKClassifier(n_rules=1).fit(DATA.X[:, :1], y)
    browser.open(page(clf, DATA.X[:, :1], y))
    rows = json.dumps(DATA.X[:, :1].tolist())
    given = browser.run(
        f"{rows}.map((x) => window.explorer.system.given(window.explorer.system.evaluate(x).scores))"
    )
    said = np.array(classes)[
        np.argmax(given, axis=1)
        if len(classes) > 2
        else np.array(given)[:, 0].astype(int)
    ]
    assert_array_equal(said, clf.predict(DATA.X[:, :1]))
    assert browser.errors == []


def test_moving_a_slider_changes_the_scores_to_what_python_says(opened, model):
    before = shown_scores(opened)
    opened.run("document.querySelector('.slider').focus()")
    for _ in range(40):
        opened.press("ArrowRight")
    x = sample_in(opened)
    assert np.abs(shown_scores(opened) - before).max() > 0.001
    assert_allclose(
        shown_scores(opened), model.system_.scores(x[None, :])[0], atol=5.1e-4
    )
    assert opened.run("document.getElementById('x-changed').hidden") is False


def test_a_typed_value_is_taken_exactly_even_beyond_the_range(opened, model):
    d = int(opened.run("document.querySelector('.feature').dataset.feature"))
    opened.run(
        "(() => { const f = document.querySelector('input.value'); f.value = '123.25';"
        " f.dispatchEvent(new Event('change')); })()"
    )
    opened.settled()
    assert sample_in(opened)[d] == 123.25
    assert_allclose(
        shown_scores(opened),
        model.system_.scores(sample_in(opened)[None, :])[0],
        atol=5.1e-4,
    )


def test_reasons_are_pythons_and_add_up(opened, model):
    x = sample_in(opened)
    told = model.system_.scores(x[None, :])[0]
    code = """(() => { const e = window.explorer, s = e.system; return [...Array(s.L).keys()].map((j) =>
        [s.intercept[j], Array.from(s.effects(j, e.now)), Array.from(s.shifts(j, e.now))]); })()"""
    for j, (base, effects, shifts) in enumerate(opened.run(code)):
        assert_allclose(
            effects, effects_of_features(model.system_, x[None, :], j)[0], atol=1e-9
        )
        assert_allclose(
            shifts, effects_of_exceptions(model.system_, x[None, :], j)[0], atol=1e-9
        )
        assert_allclose(base + sum(effects) + sum(shifts), told[j], atol=1e-9)


def test_what_the_ledger_shows_adds_up_to_the_score(opened):
    code = "[...document.querySelectorAll('#x-by-feature .amount, #x-by-rule .amount')].map((e) => e.textContent)"
    *amounts, total = [float(text.replace("−", "-")) for text in opened.run(code)]
    assert abs(sum(amounts) - total) < 0.0006 * (len(amounts) + 1)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_slopes_within_rules_are_told_by_feature(browser, page):
    for clf in (
        MLTSKClassifier(n_rules=3, order=1),
        PaperMLTSK(n_rules=2, correlation_weight=0.01),
    ):
        browser.open(page(clf.fit(DATA.X, DATA.Y), DATA.X, DATA.Y))
        browser.run(
            "window.told = window.explorer.system.within(1, window.explorer.now)"
        )
        usual, parts = browser.run("[window.told.usual, Array.from(window.told.parts)]")
        shifts = effects_of_exceptions(clf.system_, sample_in(browser)[None, :], 1)[0]
        assert_allclose(usual + sum(parts), shifts.sum(), atol=1e-9)
        assert browser.run("document.querySelectorAll('#x-within button').length") == 5
        assert browser.errors == []


def test_names_stay_text_everywhere(opened):
    assert opened.run("document.querySelectorAll('script').length") == 2
    assert opened.run("document.querySelectorAll('img, b, iframe').length") == 0
    assert opened.errors == []
    assert opened.run("document.querySelector('h1').textContent") == HOSTILE
    names = opened.run(
        "[...document.querySelectorAll('.feature-name')].map((e) => e.textContent)"
    )
    assert HOSTILE in names
    assert (
        opened.run("document.querySelector('#x-label-0 .label-name').textContent")
        == "<b>gout</b>"
    )


def test_the_policy_lets_no_other_script_run(opened):
    opened.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s);"
        " const d = document.createElement('div'); d.setAttribute('onclick', 'window.ran = 2');"
        " document.body.append(d); d.click(); })()"
    )
    assert opened.run("window.ran === undefined") is True


def test_examples_are_rows_of_the_data_with_their_labels(opened):
    opened.click("#x-next")
    row = (
        int(
            opened.run(
                "document.getElementById('x-sample-name').textContent"
            ).removeprefix("row ")
        )
        - 1
    )
    assert_array_equal(sample_in(opened), DATA.X[row])
    marked = opened.run(
        "[...document.querySelectorAll('.label')].filter((e) => e.querySelector('.truth').textContent).length"
    )
    assert marked == DATA.Y[row].sum()


def test_it_can_be_used_from_the_keyboard_alone(opened):
    opened.press("/")
    assert opened.run("document.activeElement.id") == "x-search"
    for letter in "gluc":
        opened.press(letter)
    assert opened.run(
        "[...document.querySelectorAll('.feature-name')].map((e) => e.textContent)"
    ) == ["glucose"]
    opened.press("Escape")
    assert opened.run("document.querySelectorAll('.feature').length") == 10
    opened.run("document.activeElement.blur()")
    first = opened.run("window.explorer.example")
    opened.press("n")
    assert opened.run("window.explorer.example") == first + 1
    opened.run("window.explorer.choose(1)")
    opened.press("j")
    assert (
        opened.run(
            "document.activeElement.getAttribute('aria-selected') + document.activeElement.id"
        )
        == "truex-label-2"
    )
    opened.press("ArrowUp")
    assert (
        opened.run("document.getElementById('x-why-label').textContent")
        == '"quoted" & co'
    )
    opened.press("?")
    assert opened.run("document.getElementById('x-keys').open") is True


def test_every_control_has_a_name_and_scores_are_announced(opened):
    code = """[...document.querySelectorAll('input, select, button')].filter((e) =>
        !(e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML)"""
    assert opened.run(code) == []
    assert (
        opened.run("document.getElementById('x-status').getAttribute('aria-live')")
        == "polite"
    )
    assert "is strongest" in opened.run(
        "document.getElementById('x-status').textContent"
    )


def test_clicks_choose_labels_features_and_rules(opened):
    opened.click("#x-label-3")
    assert opened.run("window.explorer.label") == 3
    opened.click("#x-by-feature button")
    assert opened.run("document.activeElement.closest('.feature') !== null") is True
    opened.click("#x-by-rule button")
    assert opened.run("document.activeElement.className").startswith("rule")


@pytest.mark.parametrize("dark", [False, True])
def test_dark_and_light_follow_the_system_and_the_button(browser, written, dark):
    browser.open(written, dark=dark)
    ground = "getComputedStyle(document.getElementById('x-explorer')).backgroundColor"
    light, night = "rgb(247, 246, 243)", "rgb(18, 21, 26)"
    assert browser.run(ground) == (night if dark else light)
    browser.click("#x-theme")
    assert browser.run(ground) == (light if dark else night)


@pytest.mark.parametrize("width", [320, 390, 800, 1180])
def test_no_width_needs_sideways_scrolling(browser, written, width):
    browser.open(written, width=width, height=844)
    assert browser.run("document.documentElement.scrollWidth") <= width
    code = """[...document.querySelectorAll('.explorer *')].filter((e) =>
        e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.features, .labels, svg'))
        .map((e) => e.className)"""
    assert browser.run(code) == []


def test_categories_are_chosen_by_name(browser, page):
    X = DATA.X.copy()
    X[:, 0] = np.random.default_rng(0).integers(0, 3, len(X))
    clf = MLTSKClassifier(n_rules=3).fit(X, DATA.Y)
    categories = {"x0": {0.0: "red", 1.0: "green", 2.0: "blue"}}
    clf.system_ = replace(clf.system_, categories=categories)
    browser.open(page(clf, X, DATA.Y))
    browser.run("window.explorer.reveal(0)")
    assert browser.run("document.activeElement.selectedOptions[0].textContent") in (
        "red",
        "green",
        "blue",
    )
    browser.run(
        "(() => { const f = document.activeElement; f.value = '2'; f.dispatchEvent(new Event('change')); })()"
    )
    browser.settled()
    assert sample_in(browser)[0] == 2.0
    assert_allclose(
        shown_scores(browser),
        clf.system_.scores(sample_in(browser)[None, :])[0],
        atol=5.1e-4,
    )


def set_to(browser, f, value):
    """Set a feature by its own control; None is not measured."""
    code = f"""(() => {{ const e = window.explorer; e.search(e.data.features[{f}]);
        const value = {json.dumps(value)}, find = (what) => e.control({f}).node.querySelector(what);
        const [box, select] = [find('[type=checkbox]'), find('select')];
        const field = box && value === null ? box : find('.value');
        if (field === box) box.checked = true;
        else if (select) select.value = value === null ? '' : [...select.options].find((o) => o.text === value).value;
        else field.value = value;
        field.dispatchEvent(new Event('change')); }})()"""
    browser.run(code)
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


@pytest.mark.parametrize(("kind", "rules"), KINDS)
def test_a_table_is_set_in_its_own_words_and_scores_are_pythons(
    browser, page, table, kind, rules
):
    clf = MLTSKClassifier(**kind).fit(*table, rules=rules)
    browser.open(page(clf, *table))
    rows = [
        {
            "age": 61.0,
            "smoker": "daily",
            "sex": "m",
            "stage": "III",
            "fever": "yes",
            "albumin": 3.25,
        },
        {
            "age": None,
            "smoker": "other",
            "sex": "f",
            "stage": None,
            "fever": None,
            "albumin": None,
        },
        {
            "age": 33.0,
            "smoker": None,
            "sex": None,
            "stage": "I",
            "fever": "no",
            "albumin": 4.0,
        },
    ]
    for row in rows:
        for f, value in enumerate(row.values()):
            set_to(browser, f, value)
        word = {"yes": True, "no": False, "other": "pipe"}
        X = (
            table[0]
            .iloc[[0]]
            .assign(**{name: [word.get(value, value)] for name, value in row.items()})
        )
        expected = clf.decision_function(X)[0] + clf.thresholds_
        assert_allclose(
            browser.run("Array.from(window.explorer.now.scores)"), expected, atol=1e-9
        )
        told = browser.run("window.explorer.data.features.map((_, f) => window.explorer.features.said("
                           "f, window.explorer.features.value(f, window.explorer.x)))")  # fmt: skip
        assert [told[f] for f in (1, 2, 3, 4)] == [
            row[name] or "not measured" for name in list(row)[1:5]
        ]
    assert browser.errors == []


def test_rules_of_the_user_hold_or_not_as_values_move(browser, page, table):
    clf = MLTSKClassifier(n_rules=0).fit(*table, rules=RULES)
    browser.open(page(clf, *table))
    set_to(browser, 2, "m")
    for age, said in (
        (64.0, "holds"),
        (40.0, "does not hold"),
        (None, "does not hold"),
    ):
        set_to(browser, 0, age)
        assert (
            browser.run("document.querySelector('#x-given-0 .firing').textContent")
            == said
        )
        ledger = "[...document.querySelectorAll('#x-by-feature .what')].map((node) => node.textContent)"
        assert ("Your rule 1" in browser.run(ledger)) == (said == "holds")
    card = browser.run("document.getElementById('x-given-0').textContent")
    assert all(
        words in card for words in ("age 50 or above", "sex is m", "copd", "gout")
    )
    assert browser.errors == []


def test_a_number_that_is_measured_again_has_its_last_value(browser, page, table):
    browser.open(page(MLTSKClassifier(n_rules=3).fit(*table), *table))
    set_to(browser, 5, 4.0)
    set_to(browser, 5, None)
    assert (
        browser.run("window.explorer.control(5).node.classList.contains('absent')")
        is True
    )
    assert browser.run("window.explorer.x[window.explorer.features.gap[5]]") == 1
    browser.run(
        "window.explorer.control(5).node.querySelector('[type=checkbox]').click()"
    )
    browser.settled()
    assert browser.run("window.explorer.features.value(5, window.explorer.x)") == 4.0
    assert browser.errors == []


def test_given_labels_are_those_that_python_predicts(browser, page):
    clf = MLTSKClassifier(n_rules=3, threshold=("recall", 0.9)).fit(DATA.X, DATA.Y)
    browser.open(page(clf, DATA.X, DATA.Y))
    rows = json.dumps(DATA.X.tolist())
    code = f"{rows}.map((x) => window.explorer.system.given(window.explorer.system.evaluate(Float64Array.from(x)).scores))"
    assert_array_equal(np.array(browser.run(code)).astype(int), clf.predict(DATA.X))
