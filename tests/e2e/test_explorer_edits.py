"""Edits of a model in the explorer, in a browser, and the same edits in Python."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, edited, evaluate, load, read_table, save
from mltsk.pages.explorer_content import system_data

SCORES = """(rows) => rows.map((row) => {
  const x = Float64Array.from(row, (value) => value ?? NaN);
  return Array.from(window.explorer.system.evaluate(x).scores);
})"""
SELECT = """([f, isAll, j]) => {
  document.getElementById("x-edit-all").checked = isAll;
  explorer.choose(j);
  explorer.editor.select(f);
}"""
EXPORTED = """() => {
  const { editor } = explorer;
  for (const edit of editor.edits) {
    edit.author = "A. Person";
    edit.reason = "a test";
  }
  return editor.model.exported(editor.edits);
}"""
CURVES = """() => explorer.whole.features.map((_, f) => {
  const d = explorer.features.at[f];
  return [0.1, 0.5, 0.9].map((t) => {
    const value = explorer.features.between(f, t);
    const place = explorer.system.place(d, value, 1);
    return explorer.system.effect(d, place, explorer.label);
  });
})"""
BEYOND = """[...document.querySelectorAll("#x-edit-card *")].filter((node) => {
  return node.getBoundingClientRect().right > innerWidth + 1;
}).length"""
WORDS = """(j) => {
  explorer.choose(j);
  const told = (selector) => {
    return [...document.querySelectorAll(selector)].map((node) => node.textContent);
  };
  return [told("#x-general li"), told("#x-general .more")[0]];
}"""
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const init = { dataTransfer: data, bubbles: true, cancelable: true };
  document.getElementById("x-labels").dispatchEvent(new DragEvent("drop", init));
}"""
MOVE = "([value, effect]) => explorer.editor.drag(value, effect, true)"
LOSS_ADDED = "explorer.editor.numbers.losses[1] - explorer.editor.model.losses[1]"
CARD = "#x-edit-card"
HANDLE = ".edit-handle"
FALLS = '#x-edit-directions [data-action="falls"]'
OFF = '#x-edit-directions [data-action="off"]'
FREE = '#x-edit-directions [data-action="free"]'


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def model(pbc):
    return MLTSKClassifier().fit(pbc.X, pbc.Y)


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    return save(model, tmp_path_factory.mktemp("model") / "pbc.skops", keep_sums=True)


@pytest.fixture(scope="module")
def written(file, pbc, page):
    return page(load(file), pbc.X, pbc.Y)


@pytest.fixture
def opened(browser, written):
    browser.open(written)
    return browser


def feature(model, name):
    return list(model.system_.columns.names).index(name)


def scores_in(browser, model, X):
    """Scores of rows of a table, as the page computes them."""
    rows = model.system_.columns.expand(X)
    plain = [[None if x != x else x for x in row] for row in rows.tolist()]
    return np.array(browser.run(SCORES, plain))


def words_in(browser, n_labels):
    """The general rule of each label, as the page says it."""
    return [browser.run(WORDS, j) for j in range(n_labels)]


def words_of(model):
    """The general rule of each label, as Python says it."""
    said = []
    for general in system_data(model)["general"]:
        said.append([[words for _, words in general["words"]], general["more"]])
    return said


def log_odds(model, X):
    return model.decision_function(X) + model.system_.thresholds


def drag(browser, place, pixels):
    """Drag a point of the curve that many pixels down, as a person does."""
    handle = browser.page.locator(HANDLE).nth(place)
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    browser.page.mouse.move(x, y)
    browser.page.mouse.down()
    browser.page.mouse.move(x, y + pixels, steps=5)
    browser.page.mouse.up()
    browser.settled()


def test_a_dragged_point_moves_all_other_curves_and_the_price(opened, model):
    opened.run(SELECT, [feature(model, "bilirubin"), False, 1])
    before = opened.run(CURVES)
    place = 4
    drag(opened, place, 40)
    edit = opened.run("explorer.editor.edits.at(-1)")
    assert edit["action"] == "point"
    assert opened.run("explorer.editor.edits.length") == 1
    handle = opened.run("explorer.editor.curve.handles[4]")
    assert handle["effect"] == pytest.approx(edit["effect"], abs=1e-9)
    changes = np.abs(np.array(opened.run(CURVES)) - np.array(before)).max(axis=1)
    assert (changes > 1e-6).all()
    assert opened.text("edit-price") != ""
    assert opened.run(LOSS_ADDED) > 0
    assert opened.text("edited") == "Edited model: 1 edit"
    assert not opened.errors


def test_a_forbidden_direction_and_a_feature_switched_off_hold(opened, model, pbc):
    opened.run(SELECT, [feature(model, "age"), True, 0])
    opened.click(FALLS)
    opened.run(SELECT, [feature(model, "sex"), True, 0])
    opened.click(OFF)
    rows = pbc.X.iloc[[5] * 60].reset_index(drop=True)
    rows["age"] = np.linspace(26, 79, 60)
    changes = np.diff(scores_in(opened, model, rows), axis=0)
    assert changes.max() < 1e-9
    rows = pbc.X.iloc[[5, 5]].reset_index(drop=True)
    rows["sex"] = ["male", "female"]
    scores = scores_in(opened, model, rows)
    assert_allclose(scores[0], scores[1], atol=1e-9)
    assert opened.run(f"document.querySelector('{OFF}').ariaPressed") == "true"


def test_undo_and_redo_give_back_what_was_there(opened, model, pbc):
    whole = scores_in(opened, model, pbc.X[:9])
    assert_allclose(whole, log_odds(model, pbc.X[:9]), atol=1e-9)
    opened.run(SELECT, [feature(model, "albumin"), False, 2])
    opened.click(FALLS)
    drag(opened, 2, -30)
    twice = scores_in(opened, model, pbc.X[:9])
    opened.click("#x-edit-undo")
    once = scores_in(opened, model, pbc.X[:9])
    opened.page.locator(HANDLE).first.focus()
    opened.press("Control+z")
    assert_allclose(scores_in(opened, model, pbc.X[:9]), whole, atol=1e-12)
    assert opened.run("document.getElementById('x-edit-undo').disabled")
    assert opened.run("document.getElementById('x-edited').hidden")
    opened.page.locator(HANDLE).first.focus()
    opened.press("Control+Shift+Z")
    assert_allclose(scores_in(opened, model, pbc.X[:9]), once, atol=1e-12)
    opened.click("#x-edit-redo")
    assert_allclose(scores_in(opened, model, pbc.X[:9]), twice, atol=1e-12)


def test_keys_move_a_point_and_screen_readers_hear_it(opened, model):
    opened.run(SELECT, [feature(model, "albumin"), False, 0])
    handle = opened.page.locator(HANDLE).nth(3)
    assert handle.get_attribute("role") == "slider"
    assert handle.get_attribute("aria-label").startswith("Effect of albumin on ascites")
    handle.focus()
    before = opened.run("explorer.editor.curve.handles[3].effect")
    opened.press("ArrowUp")
    opened.press("ArrowUp")
    after = opened.run("explorer.editor.curve.handles[3].effect")
    assert 0.05 < after - before <= 0.125
    assert opened.run("explorer.editor.edits.length") == 1
    assert "set by you" in handle.get_attribute("aria-valuetext")
    assert opened.run("document.activeElement.dataset.value") == str(
        opened.run("explorer.editor.curve.handles[3].value")
    )
    assert "albumin adds" in opened.text("edit-said")


def test_edits_that_contradict_are_refused_in_the_page(opened, model):
    opened.run(SELECT, [feature(model, "albumin"), False, 0])
    opened.click(FALLS)
    values = opened.run("explorer.editor.curve.handles.map(({ value }) => value)")
    opened.run("(v) => explorer.editor.drag(v, -1, true)", values[1])
    opened.run("(v) => explorer.editor.drag(v, 2, true)", values[5])
    assert opened.text("edit-said").startswith(
        "No curve of this model does all of this"
    )
    assert opened.run("explorer.editor.edits.length") == 2
    opened.click(FREE)
    assert not opened.run("explorer.editor.isEdited")
    assert opened.run("document.getElementById('x-edit-export').disabled")


def test_what_is_exported_becomes_the_same_model_in_python(
    opened, file, model, pbc, tmp_path
):
    opened.run(SELECT, [feature(model, "bilirubin"), False, 1])
    drag(opened, 3, 35)
    opened.run(SELECT, [feature(model, "albumin"), True, 1])
    opened.click(FALLS)
    opened.click("#x-edit-export")
    assert opened.text("edit-said").startswith("Who are you?")
    opened.page.fill("#x-edit-author", "Dr. A. Person")
    opened.click("#x-edit-export")
    assert opened.text("edit-said").startswith("Why?")
    for place, reason in enumerate(["it saturates", "known since 1958"]):
        opened.page.locator("#x-edit-log input").nth(place).fill(reason)
    with opened.page.expect_download() as download:
        opened.page.click("#x-edit-export")
    path = tmp_path / "edits.json"
    download.value.save_as(path)
    changed = edited(file, path)
    assert_allclose(
        scores_in(opened, model, pbc.X), log_odds(changed, pbc.X), rtol=0, atol=1e-9
    )
    losses = opened.run("Array.from(explorer.editor.numbers.losses)")
    assert_allclose(losses, changed.price_["squared_loss"], atol=1e-9)
    assert [edit["reason"] for edit in changed.edits_] == [
        "it saturates",
        "known since 1958",
    ]
    assert changed.edits_[0]["author"] == "Dr. A. Person"
    assert not opened.errors
    assert len(opened.requests) <= 2  # the page, and its own download


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_pairs": 5, "n_rules": 3},
        {"scale": "triangles"},
        {"scale": "minmax"},
        {"order": 1, "n_rules": 2},
        {"rules": [{"age": [60, None], "bilirubin": [2, None]}, {"sex": "male"}]},
    ],
)
def test_random_edits_give_pythons_predictions(browser, page, pbc, options):
    parameters = {key: value for key, value in options.items() if key != "rules"}
    rules = options.get("rules")
    clf = MLTSKClassifier(**parameters).fit(pbc.X, pbc.Y, rules=rules)
    browser.open(page(clf, pbc.X, pbc.Y))
    rng = np.random.default_rng(0)
    n_compared = 0
    for _ in range(6):
        for _ in range(5):
            f = int(rng.integers(13))
            browser.run(SELECT, [f, bool(rng.random() < 0.4), int(rng.integers(4))])
            action = rng.choice(["rises", "falls", "off", "point", "point", "free"])
            values = browser.run("explorer.editor.curve.handles.map((h) => h.value)")
            if action == "point" and values:
                point = [float(rng.choice(values)), round(float(rng.normal()), 2)]
                browser.run(MOVE, point)
            elif values or action in ("off", "free"):
                browser.run("(action) => explorer.editor.act(action)", action)
        if not browser.run("explorer.editor.isEdited"):
            continue
        changed = edited(clf, browser.run(EXPORTED))
        scores = scores_in(browser, changed, pbc.X)
        assert_allclose(scores, log_odds(changed, pbc.X), rtol=0, atol=1e-9)
        losses = browser.run("Array.from(explorer.editor.numbers.losses)")
        assert_allclose(losses, changed.price_["squared_loss"], atol=1e-7)
        assert words_in(browser, 4) == words_of(changed)
        n_compared += 1
    assert n_compared >= 4
    assert not browser.errors


def test_an_edit_of_one_label_leaves_other_labels_their_pairs(browser, page, pbc):
    clf = MLTSKClassifier(n_pairs=5, n_rules=0).fit(pbc.X, pbc.Y)
    browser.open(page(clf, pbc.X, pbc.Y))
    first = int(next(iter(clf.system_.pairs.blocks))[0])
    browser.run(SELECT, [clf.columns_.parts[first].feature, False, 2])
    browser.run("explorer.editor.act('off')")
    changed = edited(clf, browser.run(EXPORTED))
    told = changed.price_.attrs["left_out"]
    assert told.endswith(" for spiders")
    assert browser.text("edit-left-out") == f"Not in the edited model: {told}."
    scores = scores_in(browser, changed, pbc.X)
    assert_allclose(scores, log_odds(changed, pbc.X), rtol=0, atol=1e-9)
    others = [0, 1, 3]
    before = log_odds(clf, pbc.X)[:, others]
    assert_allclose(scores[:, others], before, rtol=0, atol=1e-4)


def test_a_direction_holds_in_pairs_of_features_in_the_page_too(browser, page):
    """What age does depends on crp: it is to rise whatever crp is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=["age", "crp", "dose", "bmi"])
    X["ward"] = rng.choice(["east", "west", "north"], 500)
    strength = X["age"] * (1 + X["crp"]) + X["dose"] * (X["ward"] == "east")
    Y = pd.DataFrame({"gout": strength + rng.normal(size=500) > 0.5})
    Y["flu"] = X["age"] * X["dose"] + rng.normal(size=500) > 0.5
    clf = MLTSKClassifier(n_rules=0, n_pairs=6).fit(X, Y)
    browser.open(page(clf, X, Y))
    browser.run(SELECT, [0, True, 0])
    browser.run("explorer.editor.act('rises')")
    browser.run(SELECT, [2, False, 1])
    browser.run("explorer.editor.act('falls')")
    changed = edited(clf, browser.run(EXPORTED))
    assert len(changed.system_.pairs.blocks) == 6
    scores = scores_in(browser, changed, X)
    assert_allclose(scores, log_odds(changed, X), rtol=0, atol=1e-9)
    told = changed.price_.attrs["left_out"]
    assert browser.text("edit-left-out") == f"Not in the edited model: {told}."
    for row in range(0, 100, 7):
        rows = X.iloc[[row] * 80].assign(age=np.linspace(-3, 3, 80))
        assert np.diff(changed.decision_function(rows), axis=0).min() > -1e-9
    again = browser.run("explorer.editor.numbers.losses[0]")
    browser.open(page(changed, X, Y))
    browser.run(SELECT, [1, False, 0])
    browser.run("explorer.editor.act('rises')")
    twice = edited(changed, browser.run(EXPORTED))
    scores = scores_in(browser, twice, X)
    assert_allclose(scores, log_odds(twice, X), rtol=0, atol=1e-9)
    assert twice.price_["squared_loss"]["gout"] > again - 1e-9
    assert not browser.errors


def test_yes_or_no_may_have_a_direction_in_the_page(browser, page, pbc):
    table = pbc.X.assign(drug=pbc.X["age"] > 50)
    clf = MLTSKClassifier(n_rules=0).fit(table, pbc.Y)
    browser.open(page(clf, table, pbc.Y))
    browser.run(SELECT, [list(table.columns).index("drug"), True, 0])
    assert "no or yes" in browser.text("edit-hint")
    browser.click(FALLS)
    changed = edited(clf, browser.run(EXPORTED))
    rows = table.iloc[[0, 0]].assign(drug=[False, True])
    assert (np.diff(changed.decision_function(rows), axis=0) <= 1e-12).all()
    assert_allclose(
        scores_in(browser, changed, table), log_odds(changed, table), atol=1e-9
    )


def test_an_edited_model_can_be_edited_again(browser, page, file, pbc, model):
    browser.open(page(load(file), pbc.X, pbc.Y))
    browser.run(SELECT, [feature(model, "albumin"), True, 0])
    browser.click(FALLS)
    once = edited(file, browser.run(EXPORTED))
    browser.open(page(once, pbc.X, pbc.Y))
    assert browser.text("edited") == "Edited model: 1 edit"
    card = browser.run("document.getElementById('x-edit-card').textContent")
    assert "albumin may only fall" in card
    assert "A. Person: a test" in card
    browser.run(SELECT, [feature(model, "age"), False, 3])
    browser.run(
        "(v) => explorer.editor.drag(v, 0.7, true)",
        browser.run("explorer.editor.curve.handles[5].value"),
    )
    twice = edited(once, browser.run(EXPORTED))
    assert len(twice.edits_) == 2
    assert_allclose(
        scores_in(browser, model, pbc.X), log_odds(twice, pbc.X), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("width", [1400, 390])
def test_the_card_fits_and_one_edit_takes_less_than_a_tenth_of_a_second(
    browser, written, model, width
):
    browser.open(written, width=width)
    assert browser.run(BEYOND) == 0
    browser.run(SELECT, [feature(model, "bilirubin"), True, 1])
    values = browser.run("explorer.editor.curve.handles.map((h) => h.value)")
    times = []
    for effect in np.linspace(-0.5, 0.5, 9).round(2).tolist():
        browser.run(
            "([v, to]) => explorer.editor.drag(v, to, true)", [values[3], effect]
        )
        times.append(browser.run("explorer.editor.lastTook"))
    assert np.median(times) < 100
    assert browser.run(BEYOND) == 0
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_printed_sheet_says_that_the_model_was_edited(opened, model):
    opened.run(SELECT, [feature(model, "sex"), True, 0])
    opened.click(OFF)
    opened.page.emulate_media(media="print")
    opened.run("dispatchEvent(new Event('beforeprint'))")
    assert opened.texts("#x-edit-sheet li") == ["sex has no effect for all labels"]
    assert opened.page.locator("#x-edited").is_visible()
    assert not opened.page.locator(CARD).is_visible()
    opened.page.emulate_media(media="screen")


def test_a_page_without_sums_says_why_it_cannot_be_edited(
    browser, page, model, pbc, tmp_path
):
    path = save(model, tmp_path / "model.skops")
    browser.open(page(load(path), pbc.X, pbc.Y))
    card = browser.run(f"document.querySelector('{CARD}').textContent")
    assert "save it with keep_sums=True" in card
    browser.open(page(model, pbc.X, pbc.Y, rows=False))
    assert browser.run(f"document.querySelector('{CARD}')") is None
    assert not browser.errors


def test_a_changed_export_is_refused(opened, file, model):
    opened.run(SELECT, [feature(model, "sex"), False, 0])
    opened.click(OFF)
    content = json.loads(json.dumps(opened.run(EXPORTED)))
    content["numbers"]["terms"][0] += 1e-3
    with pytest.raises(ValueError, match="are not those that its edits give"):
        edited(file, content)


# price by rows ------------------------------------------------------------------------


def judged_in(browser, figure):
    return browser.run(f"explorer.editor.after.map(({{ {figure} }}) => {figure})")


def assert_judged_alike(browser, before, after):
    """Figures of the page are those of leave-one-out scores of two models in Python."""
    for side, model in (("model.rows.before", before), ("after", after)):
        expected = evaluate(
            before.fit_record_.labels, model.loo_scores_, per_label=True
        )
        for figure in ("AP", "AUC"):
            values = browser.run(f"explorer.editor.{side}.map((own) => own.{figure})")
            assert_allclose(values, expected[figure], atol=1e-9)


def test_the_page_says_what_edits_cost_in_rows_left_out(opened, model):
    opened.run(SELECT, [feature(model, "sex"), True, 0])
    opened.click(OFF)
    opened.run(SELECT, [feature(model, "albumin"), False, 2])
    opened.click(FALLS)
    wished = model.constrained(
        monotonic_cst={"albumin": {"spiders": -1}}, without="sex"
    )
    assert_judged_alike(opened, model, wished)
    had = model.fit_record_.labels[:, 2] == 1
    curves = model.fit_record_.curves  # an edited model keeps them, and its thresholds
    given = curves.log_odds(wished.fit_record_.scores) >= model.system_.thresholds
    found = int((given[:, 2] & had).sum())
    assert judged_in(opened, "found")[2] == found
    assert f"{found} of {had.sum()}" in opened.text("edit-price")
    was = opened.run("explorer.editor.model.rows.before[2].found")
    missed = f"spiders loses most: {was - found} cases fewer found"
    assert missed in opened.text("edit-said")


def test_words_of_the_price_name_what_the_table_marks(opened, model):
    opened.run(SELECT, [feature(model, "bilirubin"), False, 1])
    drag(opened, 4, 30)
    said = opened.text("edit-said")
    marked = opened.texts("#x-edit-price .lost")
    assert len(marked) == said.count("fewer") + said.count("more") + said.count("an A")
    assert ("No label loses" in said) == (not marked)


def test_labels_that_no_edit_is_about_cost_nothing(opened, model):
    opened.run(SELECT, [feature(model, "sex"), False, 2])
    opened.click(OFF)
    before = opened.run("explorer.editor.model.rows.before")
    after = opened.run("explorer.editor.after")
    assert [before[j] == pytest.approx(after[j]) for j in range(4)] == [
        True,
        True,
        False,
        True,
    ]


def test_rows_of_a_group_are_left_out_together(browser, page, pbc):
    groups = np.arange(len(pbc.X)) // 3
    clf = MLTSKClassifier(n_rules=0).fit(pbc.X, pbc.Y, groups=groups)
    browser.open(page(clf, pbc.X, pbc.Y))
    browser.run(SELECT, [feature(clf, "age"), True, 0])
    browser.click(FALLS)
    assert_judged_alike(browser, clf, clf.constrained(monotonic_cst={"age": -1}))
    card = browser.run(f"document.querySelector('{CARD}').textContent")
    assert "with all rows that belong to it" in " ".join(card.split())


def test_a_page_of_other_rows_says_why_it_counts_no_cases(browser, page, model, pbc):
    browser.open(page(model, pbc.X[:100], pbc.Y[:100]))
    browser.run(SELECT, [feature(model, "sex"), True, 0])
    browser.click(OFF)
    card = browser.run(f"document.querySelector('{CARD}').textContent")
    assert "the rows of this page are not those of its fit" in " ".join(card.split())
    assert "%" in browser.text("edit-price")
    assert not browser.errors


# files --------------------------------------------------------------------------------


@pytest.fixture
def exported(opened, model):
    """What the page exports after two edits, which it then takes back."""
    opened.run(SELECT, [feature(model, "bilirubin"), False, 1])
    values = opened.run("explorer.editor.curve.handles.map((h) => h.value)")
    opened.run(MOVE, [values[3], -0.4])
    opened.run(SELECT, [feature(model, "albumin"), True, 1])
    opened.click(FALLS)
    content = opened.run(EXPORTED)
    opened.click("#x-edit-undo")
    opened.click("#x-edit-undo")
    return content


def load_in(browser, content, path):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    browser.run("explorer.editor.say('')")
    browser.page.set_input_files("#x-edit-file", path)
    browser.wait_for("document.getElementById('x-edit-said').textContent !== ''")
    return browser.text("edit-said")


def test_a_file_of_edits_is_loaded_and_taken_back(
    opened, file, pbc, exported, tmp_path
):
    whole = scores_in(opened, load(file), pbc.X[:9])
    said = load_in(opened, exported, tmp_path / "e.json")
    assert said == "Loaded 2 edits of A. Person. Undo takes this back."
    changed = edited(file, exported)
    scores = scores_in(opened, changed, pbc.X)
    assert_allclose(scores, log_odds(changed, pbc.X), rtol=0, atol=1e-9)
    assert opened.texts("#x-edit-log .edit-who") == [
        f"A. Person, {edit['time'][:10]}" for edit in exported["edits"]
    ]
    again = opened.run("explorer.editor.model.exported(explorer.editor.edits)")
    assert again == exported
    assert opened.run("explorer.editor.feature") == feature(changed, "albumin")
    opened.click("#x-edit-undo")
    assert_allclose(scores_in(opened, changed, pbc.X[:9]), whole, atol=1e-12)
    assert not opened.errors


def test_a_dropped_file_is_loaded(opened, exported):
    opened.run(DROP, ["edits.json", json.dumps(exported)])
    opened.wait_for("explorer.editor.edits.length === 2")
    assert opened.text("edited") == "Edited model: 2 edits"


def test_a_new_reason_of_a_loaded_edit_is_that_of_whoever_exports_it(
    opened, exported, tmp_path
):
    load_in(opened, exported, tmp_path / "e.json")
    opened.page.locator("#x-edit-log input").first.fill("a better reason")
    opened.page.fill("#x-edit-author", "B. Person")
    with opened.page.expect_download():
        opened.page.click("#x-edit-export")
    authors = opened.run("explorer.editor.edits.map(({ author }) => author)")
    assert authors == ["B. Person", "A. Person"]


def changed_edit(exported, **changes):
    first, *others = exported["edits"]
    return {**exported, "edits": [{**first, **changes}, *others]}


BAD_FILES = {
    "no JSON": (lambda e: "{", "it is no JSON"),
    "a list": (lambda e: [e], "is no file of edits"),
    "another format": (lambda e: {**e, "format": "x"}, "is no file of edits"),
    "a later version": (lambda e: {**e, "version": 2}, "has the version 2"),
    "another model": (lambda e: {**e, "model": "sha256:0"}, "page of another model"),
    "no edits": (lambda e: {**e, "edits": []}, "a list of 1 to 10,000 edits"),
    "more keys": (lambda e: {**e, "more": 1}, 'It has "more", which is unknown'),
    "numbers": (
        lambda e: {**e, "numbers": {**e["numbers"], "terms": [0]}},
        "other numbers than its edits give",
    ),
    "an unknown feature": (
        lambda e: changed_edit(e, feature="__proto__"),
        'Edit 1 names "__proto__", which is no feature here',
    ),
    "labels twice": (
        lambda e: changed_edit(e, labels=["edema", "edema"]),
        "names a label twice",
    ),
    "no action": (lambda e: changed_edit(e, action="jumps"), 'the action "jumps"'),
    "no author": (lambda e: changed_edit(e, author=" "), "has no text as 'author'"),
    "a long reason": (lambda e: changed_edit(e, reason="x" * 2001), "as 'reason'"),
    "no time": (lambda e: changed_edit(e, time="yesterday"), 'the time "yesterday"'),
    "a point elsewhere": (
        lambda e: changed_edit(e, value=3.14159),
        "sets a point at 3.14159, where this page has none",
    ),
    "no effect": (lambda e: changed_edit(e, effect="1"), 'the effect "1"'),
    "too much": (lambda e: changed_edit(e, effect=1e9), "the effect 1000000000"),
    "sex rises": (
        lambda e: {**e, "edits": [{**e["edits"][1], "feature": "sex"}]},
        'gives "sex" a direction, but its values have no order',
    ),
    "a point that rises": (
        lambda e: changed_edit(e, action="rises"),
        'has "value", which is unknown',
    ),
}


@pytest.mark.parametrize("wrong", list(BAD_FILES))
def test_a_file_that_is_not_right_is_refused_in_a_sentence(
    opened, exported, tmp_path, wrong
):
    make, expected = BAD_FILES[wrong]
    said = load_in(opened, make(exported), tmp_path / "e.json")
    assert said.startswith("e.json ")
    assert expected in said
    assert opened.run("explorer.editor.edits.length") == 0
    assert not opened.run("explorer.editor.isEdited")
    assert not opened.errors


def test_a_file_whose_edits_contradict_each_other_is_refused(
    opened, exported, tmp_path
):
    values = opened.run(
        "explorer.editor.model.curves[explorer.data.features.indexOf('albumin')]"
        ".handles.map(({ value }) => value)"
    )
    falls = exported["edits"][1]
    points = [
        {**falls, "action": "point", "value": values[place], "effect": effect}
        for place, effect in ((1, -1.0), (5, 2.0))
    ]
    content = {key: exported[key] for key in ("format", "version", "model")}
    said = load_in(opened, {**content, "edits": [falls, *points]}, tmp_path / "e.json")
    assert said == (
        "e.json is refused: no curve of this model does all of that at once."
    )
    assert opened.run("explorer.editor.edits.length") == 0
