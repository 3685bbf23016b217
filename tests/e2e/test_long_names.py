"""Names of any length: no page is wider than its window."""

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, explore, read_table, review
from mltsk.cli import main

PAGE_WIDTH = "document.documentElement.scrollWidth"
UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
IS_WHOLE = "document.readyState === 'complete'"
DEFINITION = """
title = "{title}"
folds = 2
seeds = [0]
protocols = ["strict"]
[[datasets]]
name = "{dataset}"
file = "{file}"
labels = 2
[[methods]]
key = "{method}"
title = "{method}"
class = "sklearn.dummy:DummyClassifier"
[[methods]]
key = "tree"
class = "sklearn.tree:DecisionTreeClassifier"
"""


def long_name(beginning):
    """A word of 250 letters, which no line can be broken at."""
    return beginning.ljust(250, "W")


def frame():
    """A table whose columns, labels and values have long names, and its labels."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(120, 2))
    words = np.array([long_name("red"), long_name("blue")])[rng.integers(0, 2, 120)]
    columns = {
        long_name("id"): [long_name(f"patient{i}") for i in range(120)],
        long_name("age"): values[:, 0],
        long_name("kind"): words,
        long_name("crp"): np.where(rng.random(120) < 0.2, np.nan, values[:, 1]),
        long_name("ill"): (values[:, 0] > 0).astype(int),
        long_name("old"): (values[:, 1] > 0.5).astype(int),
    }
    return pd.DataFrame(columns), [long_name("ill"), long_name("old")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A review, an explorer and a report."""
    folder = tmp_path_factory.mktemp("long")
    data, labels = frame()
    table = read_table(data, labels)
    review(table, folder / "review.html", quick=True)
    model = MLTSKClassifier(n_rules=3, order=0).fit(table.X, table.Y)
    explore(model, folder / "explorer.html", table.X, table.Y)
    data.iloc[:, [1, 4, 5]].to_csv(folder / "own.csv", index=False)
    text = DEFINITION.format(
        title=long_name("Title"),
        dataset=long_name("dataset"),
        method=long_name("method"),
        file=folder / "own.csv",
    )
    (folder / "own.toml").write_text(text)
    options = ["--config", str(folder / "own.toml"), "--no-studies", "--jobs", "1"]
    assert main(["reproduce", *options, "--out", str(folder / "report")]) == 0
    return {
        "review": folder / "review.html",
        "explorer": folder / "explorer.html",
        "report": folder / "report" / "index.html",
    }


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", ["review", "explorer", "report"])
def test_pages_are_no_wider_than_their_window(browser, pages, kind, width):
    browser.open(pages[kind], width=width, ready=IS_WHOLE)
    assert browser.run(PAGE_WIDTH) == width
    browser.run(UNFOLD)
    browser.settled()
    assert browser.run(PAGE_WIDTH) == width


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_review_for_the_file_is_two_pages_whatever_names_are(browser, pages, paper):
    browser.open(pages["review"], ready=IS_WHOLE)
    printed = browser.page.pdf(format=paper, prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") == 2


@pytest.fixture(scope="module")
def many_labels(tmp_path_factory):
    """A review of 30 labels whose names take two lines, and of features likewise."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(400, 10))
    weights = rng.normal(size=(10, 30)) * (rng.random((10, 30)) < 0.4)
    log_odds = 1.5 * values @ weights - 2
    cases = (log_odds + rng.logistic(size=log_odds.shape) > 0).astype(int)
    X = pd.DataFrame(values).add_prefix("measurement of something number ")
    Y = pd.DataFrame(cases).add_prefix(
        "disease of something rather long, unspecified, not classified, of type "
    )
    path = tmp_path_factory.mktemp("many") / "review.html"
    table = read_table(pd.concat([X, Y], axis=1), list(Y.columns))
    return review(table, path, quick=True)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_review_of_many_long_labels_for_the_file_is_two_pages(
    browser, many_labels, paper
):
    browser.open(many_labels, ready=IS_WHOLE)
    printed = browser.page.pdf(format=paper, prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") == 2
