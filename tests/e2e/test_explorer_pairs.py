"""Pairs of features and straight lines in the explorer, in a browser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, read_table
from mltsk.datasets import make_multilabel_rules

SCORES = """(rows) => rows.map((row) => {
  const x = Float64Array.from(row, (value) => value ?? NaN);
  return Array.from(window.explorer.system.evaluate(x).scores);
})"""
EFFECTS = "(j) => Array.from(explorer.system.pairEffects(j, explorer.now))"
HEIGHTS = "([p, j]) => explorer.pairs.heights(p, j)"
SIZES = "(j) => explorer.system.pairs.map((pair) => explorer.system.pairSize(pair, j))"
CONTRASTS = """[...document.querySelectorAll(".heat tbody td")].map((cell) => {
  const pen = document.createElement("canvas").getContext("2d");
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data].map((part) => {
      return ((part / 255 + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const { color, backgroundColor } = getComputedStyle(cell);
  const lights = [light(color), light(backgroundColor)];
  return Math.max(...lights) / Math.min(...lights);
})"""
BEYOND = """[...document.querySelectorAll(".pair, .pair *")].filter((node) => {
  return node.getBoundingClientRect().right > innerWidth + 1;
}).length"""
MILLISECONDS = """() => {
  const { explorer } = window;
  const start = performance.now();
  explorer.refresh();
  return performance.now() - start;
}"""


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def model(pbc):
    return MLTSKClassifier(n_pairs=5).fit(pbc.X, pbc.Y)


@pytest.fixture(scope="module")
def written(model, pbc, page):
    return page(model, pbc.X, pbc.Y)


@pytest.fixture
def opened(browser, written):
    browser.open(written)
    return browser


def scores_in(browser, rows):
    """Scores of rows in columns of numbers, as the page computes them."""
    plain = [[None if x != x else x for x in row] for row in rows.tolist()]
    return np.array(browser.run(SCORES, plain))


def sample_of(browser, table):
    """The row of a table that the page shows."""
    i = browser.run("explorer.samples.numbers[explorer.example]")
    return table.X.iloc[[i]]


@pytest.mark.parametrize("n_pairs", [0, 5])
def test_evaluate_gives_pythons_scores_of_lines_and_pairs(browser, page, pbc, n_pairs):
    clf = MLTSKClassifier(n_pairs=n_pairs).fit(pbc.X, pbc.Y)
    assert clf.terms_.straight.any()
    browser.open(page(clf, pbc.X, pbc.Y))
    rows = clf.system_.columns.expand(pbc.X)
    expected = clf.decision_function(pbc.X) + clf.system_.thresholds
    assert_allclose(scores_in(browser, rows), expected, rtol=0, atol=1e-9)
    assert browser.errors == []


def test_evaluate_gives_pythons_scores_of_pairs_with_categories(browser, page, table):
    clf = MLTSKClassifier(n_pairs=12).fit(*table)
    browser.open(page(clf, *table))
    rows = clf.system_.columns.expand(table[0])
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    expected = clf.system_.scores(rows)
    assert_allclose(scores_in(browser, rows), expected, rtol=0, atol=1e-9)
    for p in range(12):
        browser.run(f"explorer.visitPair({p})")
    assert browser.errors == []


def test_pair_effects_heights_and_sizes_are_pythons(opened, model, pbc):
    why = model.explain(sample_of(opened, pbc))
    expected = why.pair_effects()[0]
    for j in range(4):
        assert_allclose(opened.run(EFFECTS, j), expected[:, j], atol=1e-9)
        sizes = [pair.sizes[j] for pair in model.pairs_]
        # the page has shares of the data to six digits
        assert_allclose(opened.run(SIZES, j), sizes, rtol=1e-4)
        for p, pair in enumerate(model.pairs_):
            heights = opened.run(HEIGHTS, [p, j])
            assert_allclose(heights, pair.surface[:, :, j], atol=1e-9)


def test_heights_of_pairs_with_categories_are_pythons(browser, page, table):
    clf = MLTSKClassifier(n_pairs=12).fit(*table)
    browser.open(page(clf))
    for p, pair in enumerate(clf.pairs_):
        heights = browser.run(HEIGHTS, [p, 0])
        assert_allclose(heights, pair.surface[:, :, 0], atol=1e-9)


def test_the_ledger_of_why_has_pairs_and_adds_up_to_the_score(opened):
    lists = "#x-by-feature .amount, #x-by-pair .amount, #x-by-rule .amount"
    shown = [float(text.replace("−", "-")) for text in opened.texts(lists)]
    *amounts, total = shown
    assert abs(sum(amounts) - total) < 0.0006 * len(shown)
    told = opened.texts("#x-by-pair .what")
    titles = opened.run("explorer.pairs.blocks.map((_, p) => explorer.pairs.title(p))")
    assert set(told[:-1]) <= set(titles)
    assert len(told) > 1


def test_pair_maps_mark_the_cell_of_the_sample_and_follow_it(opened):
    opened.run("explorer.choose(1)")
    shown = opened.run("explorer.pairs.order[0]")
    features = opened.run(f"explorer.pairs.blocks[{shown}].features")
    ticks = opened.run(f"explorer.pairs.blocks[{shown}].axes.map((axis) => axis.ticks)")
    assert len(opened.texts(f"#x-pair-{shown} .own")) == 1
    # values far below all others are in the lower left corner: the last row
    for f in features:
        opened.run(f"explorer.set({f}, -1000, true)")
        opened.settled()
    own = opened.run(f"""(() => {{
      const cell = document.querySelector("#x-pair-{shown} .own");
      return [cell.parentElement.firstChild.textContent, cell.cellIndex];
    }})()""")
    assert own == [ticks[0][0], 1]
    opened.run(f"explorer.set({features[0]}, NaN, true)")
    opened.settled()
    assert opened.texts(f"#x-pair-{shown} .own") == []
    assert "adds nothing" in opened.texts(f"#x-pair-{shown} .own-height")[0]


def test_pair_maps_say_pythons_words_and_numbers(opened, model):
    opened.run("explorer.choose(1)")
    for p in opened.run("explorer.pairs.order"):
        pair = model.pairs_[p]
        cells = opened.texts(f"#x-pair-{p} tbody td")
        written = [cell for row in reversed(pair.written(1)) for cell in row]
        numbers = [cell.replace("−", "-") for cell in cells]
        assert_allclose(np.array(numbers, float), np.array(written, float), atol=1e-9)
        assert f"{pair.axes[0].title} and {pair.axes[1].title}" in opened.texts(
            f"#x-pair-{p} h3"
        )


def test_along_follows_the_score_of_pairs_when_one_feature_moves(opened, model, pbc):
    X = sample_of(opened, pbc)
    moved = X.assign(albumin=X.albumin - 0.7)
    before, after = (model.decision_function(rows)[0] for rows in (X, moved))
    code = """([f, value]) => explorer.data.labels.map((_, j) => {
      const { system, now, features } = explorer;
      const column = features.at[f];
      const along = system.along(j, column, now);
      return along(system.place(column, value, 1)) - along(now.z[column]);
    })"""
    f = list(pbc.X.columns).index("albumin")
    changes = opened.run(code, [f, float(moved.albumin.iloc[0])])
    assert_allclose(changes, after - before, atol=1e-9)


def test_a_short_model_without_pairs_shows_none(opened):
    opened.run("explorer.resize(0)")
    assert opened.run("document.getElementById('x-pairs-card').hidden") is True
    assert opened.texts("#x-by-pair li") == []
    opened.run("explorer.resize(explorer.sizes.last)")
    assert opened.run("document.getElementById('x-pairs-card').hidden") is False
    assert opened.errors == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_pair_maps_fit_the_window_and_can_be_read(browser, written, width, dark):
    browser.open(written, width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(BEYOND) == 0
    assert min(browser.run(CONTRASTS)) >= 4.5


def test_a_page_of_an_exception_per_row_is_small_and_quick(browser, page):
    data = make_multilabel_rules(n_samples=900, n_features=60, random_state=0)
    X = np.round(data.X, 3)
    clf = MLTSKClassifier(n_rules=900, order=0, ridge=1.0).fit(X, data.Y)
    assert clf.n_rules_ == 900
    path = page(clf, X, data.Y)
    browser.open(path)
    expected = clf.system_.scores(X[:200])
    assert_allclose(scores_in(browser, X[:200]), expected, rtol=0, atol=1e-9)
    assert path.stat().st_size < 1_800_000
    assert len(browser.texts("#x-firing button")) == 16
    assert min(browser.run(MILLISECONDS) for _ in range(5)) < 200
