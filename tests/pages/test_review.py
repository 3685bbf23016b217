"""The review of a table: what it says first, that names stay text, and that it stays small."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, evaluate, read_table, review
from mltsk.exceptions import InputError
from mltsk.pages.review import review_page

HOSTILE = "<script>alert(1)</script>"


def words(page):
    """What a reader sees, without markup."""
    body = re.sub(r"<(style|script)>.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def made(pbc):
    return review_page(pbc, quick=True, command="mltsk review pbc --out page.html")


def made_up(n=160, **columns):
    """A table whose first label follows from age, and whose second is noise."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, n)
    X = pd.DataFrame({"age": age, "ward": rng.choice(["a", "b", None], n), **columns})
    Y = pd.DataFrame(
        {"old": age + rng.normal(0, 8, n) > 55, "odd": rng.random(n) < 0.5}
    ).astype(float)
    return X, Y


def test_it_answers_in_the_order_in_which_people_ask(made):
    titles = [
        unescape(title)
        for title in re.findall(
            r"<h2 id=[^>]*>(.*?)</h2>", made.page.partition('class="explorer')[0]
        )
    ]
    expected = [
        "What is in the table",
        "How well it can be predicted",
        "What the model says",
        "Try it",
    ]
    assert titles == expected
    told = words(made.page)
    assert told.index(made.summary[0]) < told.index(expected[0])
    assert "mltsk review pbc --out page.html" in told
    assert "patient: left out as an identifier" in told


def test_figures_are_those_of_rows_that_were_left_out(pbc, made):
    clf = MLTSKClassifier(threshold="f1").fit(pbc.X, pbc.Y)
    found = evaluate(pbc.Y, clf.loo_scores_, threshold=clf.thresholds_, per_label=True)
    told = words(made.page)
    for label, row in found.iterrows():
        assert f"{label} AP {row.AP:.2f}, AUC {row.AUC:.2f}" in told
        assert (
            f"recall (sensitivity) {row.sensitivity:.2f}, precision {row.precision:.2f}"
            in told
        )
    assert "ascites can be found in part" in told
    assert "It is rare, 24 cases: treat this with care." in told


def test_what_cannot_be_told_is_said_first():
    X, Y = made_up()
    made = review_page(
        read_table(pd.concat([X, Y], axis=1), ["old", "odd"]), quick=True
    )
    assert (
        made.summary[0] == "1 of 2 labels cannot be told better than by guessing: odd."
    )
    assert made.labels[1].startswith("odd cannot be told from these columns")
    assert made.labels[0].startswith("old can be found: ")


def test_a_method_that_is_clearly_better_is_said_first():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    Y = pd.DataFrame(
        {
            "chequered": ((X.a > 0) ^ (X.b > 0)).astype(float),
            "plain": (X.c > 0).astype(float),
        }
    )
    table = read_table(pd.concat([X, Y], axis=1), ["chequered", "plain"])
    made = review_page(table, model=MLTSKClassifier(n_rules=0))
    assert any(
        line.startswith("A forest ranks rows better than this model")
        for line in made.summary[:2]
    )
    told = words(made.page)
    assert "clearly better" in told
    assert "2 times 5 folds" in told


def test_polars_frames_give_the_same_page(tmp_path):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    given = made_up()
    pages = [given, [polars.from_pandas(part) for part in given]]
    told = [
        words(review(X, tmp_path / f"{i}.html", Y, quick=True).read_text("utf-8"))
        for i, (X, Y) in enumerate(pages)
    ]
    assert told[0] == told[1]


def test_names_stay_text_and_nothing_is_loaded_or_run(tmp_path):
    X, Y = made_up(
        **{HOSTILE: np.arange(160.0) % 7, 'x" onload="alert(2)': np.arange(160.0)}
    )
    X.loc[:30, HOSTILE] = np.nan
    X["ward"] = X["ward"].replace("a", "</svg><img src=x onerror=alert(3)>")
    page = review(
        X, tmp_path / "page.html", Y.rename(columns={"old": "<b>old</b>"}), quick=True
    ).read_text("utf-8")
    assert HOSTILE not in page
    assert "<b>old</b>" not in page
    assert "<img" not in page
    assert HOSTILE in words(page).replace("&lt;", "<")
    assert (
        page.count("<script>") == page.count("<style>") == 2
    )  # those of the review, and of the explorer in it
    hashes = r"'sha256-[^']+' 'sha256-[^']+'"
    assert re.search(
        rf"default-src 'none'; script-src {hashes}; style-src {hashes}", unescape(page)
    )
    assert not re.search(
        r"(?:src|href)=[\"'](?!#)| style=|https?://(?!www.w3.org)", page
    )


def test_many_labels_are_folded_and_stay_small():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 40))).add_prefix("x")
    Y = pd.DataFrame(
        (X.to_numpy()[:, :30] + rng.normal(size=(200, 30)) > 0.5).astype(float)
    ).add_prefix("label ")
    page = review_page(
        read_table(pd.concat([X, Y], axis=1), list(Y.columns)), quick=True
    ).page
    assert len(page) < 2_500_000
    assert '<details class="label" open>' not in page
    assert page.count('<details class="label">') == 60


def test_labels_that_all_or_none_have_and_few_rows(tmp_path):
    X, Y = made_up(18)
    Y["none"], Y["all"], Y["seldom"] = 0.0, 1.0, [1.0, 0.0, *[np.nan] * 16]
    made = review_page(read_table(pd.concat([X, Y], axis=1), list(Y.columns)))
    assert "none: no row has it, so there is nothing to learn." in made.labels
    assert "all: all rows have it, so there is nothing to learn." in made.labels
    assert "nan" not in words(made.page).lower().split()


def test_one_label_alone_and_a_column_that_is_empty():
    X, Y = made_up(30, empty=np.nan)
    made = review_page(read_table(pd.concat([X, Y[["old"]]], axis=1), ["old"]))
    assert made.summary[-1].startswith("old ")
    assert "mean AP" in words(made.page)


def test_progress_counts_up_to_its_end(pbc):
    steps = []
    review_page(
        pbc, quick=True, progress=lambda done, total: steps.append((done, total))
    )
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_stopped_review_leaves_nothing_behind(pbc, tmp_path):
    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        review(pbc, tmp_path / "page.html", quick=True, progress=stop)
    assert not list(tmp_path.iterdir())


def test_review_refuses_to_overwrite_the_file_of_its_table(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a,label\n1,0\n2,1\n3,1\n")
    (tmp_path / "link").symlink_to(file)
    table = read_table(file, labels=1)
    for path in (file, tmp_path / "link"):
        with pytest.raises(InputError, match="is read here"):
            review(table, path, quick=True)
    assert file.read_text().startswith("a,label")


def test_what_is_no_table_is_refused(tmp_path):
    X, _ = made_up()
    with pytest.raises(InputError, match=r"review\(X, path, Y\)"):
        review(X, tmp_path / "page.html")
    with pytest.raises(InputError, match="has no labels to review"):
        review(read_table(X), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_gaps_labels_and_pairs_are_counted_where_they_were_observed():
    n = 100
    rows = np.arange(n)
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in rows],
            "age": rows * 1.5,
            "late": np.where(rows < 75, rows % 9 + 0.5, np.nan),
        }
    )
    frame["a"], frame["b"] = (
        (rows % 2 == 0) * 1.0,
        np.where(rows < 50, rows % 4 == 0, np.nan),
    )
    table = read_table(frame, ["a", "b"], id="id")
    told = words(review_page(table, quick=True).page)
    for part in (
        "b 50 % late 25 % Labels",
        "share a 50 100 50 % b (rare) 13 50 26 % Labels that occur together",
    ):
        assert part in told
    assert (
        "occur together 13 of 13 with b have a; of all rows, 50 % do. How well" in told
    )  # two labels need no map
