"""The review of a table: what it says first, that names stay text, its size."""

import json
import re
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate, read_table, review
from mltsk.exceptions import InputError
from mltsk.pages.review import review_page

HOSTILE = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """What a reader sees of a page: its texts, headings, and cells of its tables.

    Headings are those of the review, not of the explorer, whose names begin with "x-".
    """

    def __init__(self, page):
        super().__init__()
        self.texts = []
        self.headings = []
        self.rows = []
        self._open = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        identifier = dict(attrs).get("id", "x-")
        if tag == "h2" and not identifier.startswith("x-"):
            self.headings.append("")
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("td", "th", "script", "style"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data):
        inside = self._open[-1] if self._open else None
        words = " ".join(data.split())
        if not words or inside in ("script", "style"):
            return
        self.texts.append(words)
        if inside == "h2":
            self.headings[-1] += words
        if inside in ("td", "th"):
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {words}".strip()

    @property
    def text(self):
        return " ".join(self.texts)


def text_of(page):
    return Reader(page).text


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
    is_old = age + rng.normal(0, 8, n) > 55
    is_odd = rng.random(n) < 0.5
    return X, pd.DataFrame({"old": is_old, "odd": is_odd}).astype(float)


def table_of(X, Y):
    return read_table(pd.concat([X, Y], axis=1), list(Y.columns))


def test_review_page_answers_in_the_order_in_which_people_ask(made):
    page = Reader(made.page)
    assert page.headings == [
        "The model on one page",
        "Try it",
        "Results in depth",
        "For whom it works: subgroups",
        "Are there enough rows?",
        "What is in the table",
        "Rows worth a second look",
        "For the methods section",
        "How this was made",
    ]
    first = page.text[: page.text.index(page.headings[0])]
    assert "Can ascites, hepatomegaly, spiders and edema be predicted from 13" in first
    for sentence in made.labels:
        assert sentence in first
    assert "Taken: the whole model." in first
    assert "mltsk review pbc --out page.html" in page.text
    assert "patient: left out as an identifier" in page.text


def test_review_page_says_first_in_how_many_rows_labels_were_observed(made):
    first, *_ = text_of(made.page).split("Can this be trusted?")
    observed = "ascites, hepatomegaly and spiders were observed in 312 of them."
    assert observed in first
    X, Y = made_up(80)
    assert (
        "observed in" not in text_of(review_page(table_of(X, Y), quick=True).page)[:900]
    )
    Y.loc[:9, "old"] = np.nan
    Y.loc[:29, "odd"] = np.nan
    text = text_of(review_page(table_of(X, Y), quick=True).page)
    assert "in the rows in which they were observed, 50 to 70 of them." in text


def test_review_page_has_figures_of_rows_that_were_left_out(pbc, made):
    clf = MLTSKClassifier(threshold="f1").fit(pbc.X, pbc.Y)
    page = Reader(made.page)
    by_label = evaluate(pbc.Y, clf.loo_scores_, per_label=True)
    given = clf.fit_record_.given_by_folds("f1")
    for j, label in enumerate(pbc.label_names):
        y = pbc.Y[label].to_numpy(dtype=float)
        rows = ~np.isnan(y)
        table = pd.crosstab(y[rows], given[rows, j]).to_numpy()
        (rest, alarms), (missed, found) = table
        figures = [
            f"{by_label['AP'][label]:.2f}",
            f"{by_label['AUC'][label]:.2f}",
            f"{100 * found / (found + missed):.0f} %",
            f"{100 * rest / (rest + alarms):.0f} %",
            f"{100 * found / (found + alarms):.0f} %",
            f"{100 * rest / (rest + missed):.0f} %",
        ]
        (row,) = (row for row in page.rows if row[0] == label and len(row) == 10)
        told = [row[i] for i in (2, 4, 6, 7, 8, 9)]
        assert [cell.split("\u2013")[0].rsplit(" ", 1)[0] for cell in told] == figures
        assert f"cases found: {found} of {found + missed}" in page.text
    assert "hepatomegaly can be predicted in part" in page.text
    assert "There are only 24 cases: treat this with care." in page.text


def test_review_page_has_one_threshold_per_label(pbc, made):
    clf = MLTSKClassifier(threshold="f1").fit(pbc.X, pbc.Y)
    text = text_of(made.page)
    for label, threshold in zip(clf.label_names_, clf.thresholds_, strict=True):
        words = f"{100 * threshold:.3g} %"
        assert f"a probability of {words} on" in text
        assert f"{label} {words}" in text  # of the model in words
    assert "(threshold='f1')." in text  # of the methods section: what was asked for
    assert "threshold=[" not in text
    for model in explorer_models(made.page):
        thresholds = np.frombuffer(b64decode(model["thresholds"]))
        assert_allclose(1 / (1 + np.exp(-thresholds)), clf.thresholds_)


def explorer_models(page):
    """The models in the explorer of a page: the whole one, and shorter ones."""
    pattern = r'<script type="application/json" id="x-model">(.*?)</script>'
    data = json.loads(re.search(pattern, page, re.DOTALL)[1])
    return [data, *(size for size in data["sizes"] if "thresholds" in size)]


def test_review_page_keeps_rows_of_a_patient_together():
    X, Y = made_up(60)
    visits = pd.concat([X, Y], axis=1).loc[np.repeat(np.arange(60), 3)]
    visits = visits.reset_index(drop=True)
    visits.insert(0, "patient", np.repeat(np.arange(100, 160), 3))
    table = read_table(visits, list(Y.columns))
    made = review_page(table, quick=True)
    text = text_of(made.page)
    n_patients = len(np.unique(table.groups))
    assert f"rows in {n_patients} groups. Rows of one patient are kept" in text
    assert "all rows of one patient at a time" in text
    assert made.model.fit_record_.training.groups is not None
    assert made.labels[1].startswith("odd cannot be predicted")


def test_review_page_says_first_of_each_label_whether_it_can_be_predicted():
    made = review_page(table_of(*made_up()), quick=True)
    assert made.summary == [
        "1 of 2 labels can be predicted better than by guessing: old.",
        "1 of 2 labels cannot be predicted better than by guessing: odd.",
    ]
    assert made.labels[0].startswith("old can be predicted: ")
    assert made.labels[1].startswith("odd cannot be predicted from these columns")
    text = text_of(made.page)
    assert f"{made.labels[1]} What follows may be chance." in text  # in the rules
    assert text.count("What follows may be chance.") == 1


def test_review_page_trusts_probabilities_of_those_labels_that_have_many_cases(made):
    assert (
        "Probabilities of hepatomegaly can be trusted: of 100 rows with a predicted "
        "probability of 30 %, about 30 have the label. The other labels have fewer "
        "than 100 cases, or rows without them: only large errors would be seen."
    ) in text_of(made.page)


def test_review_page_calls_figures_rough_of_few_cases_and_of_few_others():
    X, Y = made_up(300)
    Y["old"] = (X["age"] > 25).astype(float)
    text = text_of(review_page(table_of(X, Y), quick=True).page)
    n_young = int((Y["old"] == 0).sum())
    assert f"fewer than 100 rows lack a label: old ({n_young})." in text


def test_review_page_counts_labels_of_few_cases_where_there_are_many():
    X, Y = made_up(300)
    for k in range(10):
        Y[f"rare {k}"] = (np.arange(300) % 7 == k % 7).astype(float)
    text = text_of(review_page(table_of(X, Y), quick=True).page)
    n_labels = Y.shape[1]
    n_few = int((np.minimum(Y.sum(), len(Y) - Y.sum()) < 100).sum())
    words = f"The figures of {n_few} of {n_labels} labels are rough: fewer than 100"
    assert words in text


def test_review_page_doubts_first_a_feature_that_tells_a_label_almost_alone():
    X, Y = made_up()
    rng = np.random.default_rng(1)
    after = X.assign(**{"days <in>": Y["old"] * 3 + rng.normal(0, 0.3, len(X))})
    text = text_of(review_page(table_of(after, Y), quick=True).page)
    _, _, trust = text.partition("Can this be trusted?")
    assert trust.strip().startswith(
        "days <in> tells old almost alone (AUC 1.00). If it is known only when the "
        "answer is, leave it out (--drop days <in>)."
    )
    assert "almost alone" not in text_of(review_page(table_of(X, Y), quick=True).page)


def test_review_page_names_our_best_model_first_and_a_better_method_below():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    Y = pd.DataFrame({"chequered": (X.a > 0) ^ (X.b > 0), "plain": X.c > 0})
    model = MLTSKClassifier(n_rules=0, n_pairs=0)
    made = review_page(table_of(X, Y.astype(float)), model=model)
    assert made.summary[0].startswith("Our best model: ")
    assert not any(line.startswith("A forest") for line in made.summary)
    text = text_of(made.page)
    assert "A forest ranks rows better than our best model" in text
    assert "ahead in 5 of 5 draws of folds" in text
    assert "clearly better" in text
    assert "5 folds, drawn 5 times" in text


def test_review_page_says_first_of_how_many_rows_methods_were_compared(monkeypatch):
    monkeypatch.setattr("mltsk.pages.baselines.MAX_COMPARED_ROWS", 80)
    model = MLTSKClassifier(n_rules=0, n_pairs=0)
    text = text_of(review_page(table_of(*made_up(160)), model=model).page)
    _, _, taken = text.partition("Taken: ")
    assert "average precision, in 80 of 160 rows, evenly spread, 1 is" in taken[:200]


def test_review_page_calls_no_model_better_on_so_few_cases():
    X, Y = made_up(120)
    Y["old"] = (X["age"].rank(method="first") > 108).astype(float)
    text = text_of(review_page(table_of(X, Y[["old"]])).page)
    _, _, taken = text.partition("Taken: ")
    assert ". So few cases do not say which model is better" in taken[:80]
    assert "ranks rows better" not in text


def test_review_page_shows_what_brevity_costs_unless_it_is_quick(made):
    whole = review_page(table_of(*made_up(40)), model=MLTSKClassifier(n_rules=0))
    assert 'aria-label="What brevity costs"' in whole.page
    assert 'aria-label="What brevity costs"' not in made.page


def test_review_draws_curves_of_the_smallest_numbers(tmp_path):
    """Slopes between them are larger than the largest number."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 4))
    Y = (X[:, :3] + 0.2 * rng.random((120, 3)) > 0.6).astype(int)
    page = review(1e-309 * X, tmp_path / "page.html", Y, quick=True)
    drawn = re.findall(r' d="([^"]*)"', page.read_text())
    assert drawn
    assert not any("nan" in path or "inf" in path for path in drawn)


def test_review_of_polars_frames_is_the_same_page(tmp_path):
    polars = pytest.importorskip(
        "polars", reason="polars is not installed: its frames cannot be tested"
    )
    X, Y = made_up()
    page = review(X, tmp_path / "pandas.html", Y, quick=True)
    X, Y = polars.from_pandas(X), polars.from_pandas(Y)
    same = review(X, tmp_path / "polars.html", Y, quick=True)
    assert text_of(page.read_text("utf-8")) == text_of(same.read_text("utf-8"))


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    numbers = np.arange(160.0)
    X, Y = made_up(**{HOSTILE: numbers % 7, 'x" onload="alert(2)': numbers})
    X.loc[:30, HOSTILE] = np.nan
    X["ward"] = X["ward"].replace("a", "</svg><img src=x onerror=alert(3)>")
    Y = Y.rename(columns={"old": "<b>old</b>"})
    path = tmp_path_factory.mktemp("review") / "page.html"
    return review(X, path, Y, quick=True).read_text("utf-8")


def test_review_keeps_names_as_text(hostile_page):
    assert HOSTILE not in hostile_page
    assert "<b>old</b>" not in hostile_page
    assert "<img" not in hostile_page
    assert HOSTILE in text_of(hostile_page)


def test_review_loads_and_runs_nothing_else(hostile_page):
    # a script and a style of the review, and of the explorer in it
    assert hostile_page.count("<script>") == 2
    assert hostile_page.count("<style>") == 2
    hashes = r"'sha256-[^']+' 'sha256-[^']+'"
    allowed = rf"default-src 'none'; script-src {hashes}; style-src {hashes}"
    assert re.search(allowed, unescape(hostile_page))
    addresses = r"(?:src|href)=[\"'](?!#)| style=|https?://(?!www.w3.org)"
    assert not re.search(addresses, hostile_page)


def test_review_page_folds_many_labels_and_stays_small():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 40))).add_prefix("x")
    has_label = X.to_numpy()[:, :30] + rng.normal(size=(200, 30)) > 0.5
    Y = pd.DataFrame(has_label.astype(float)).add_prefix("label ")
    page = review_page(table_of(X, Y), quick=True).page
    assert len(page) < 2_500_000
    assert page.count('<details class="label filed" open>') == 1
    assert page.count('<details class="label" open>') == 1
    assert page.count('<details class="label') == 60


def test_review_page_shows_the_labels_that_most_rows_have_where_asked_for_fewer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4))).add_prefix("x")
    has_label = X.to_numpy() + rng.normal(size=(120, 4)) > [0.8, 0.0, 1.2, 0.2]
    Y = pd.DataFrame(has_label.astype(float), columns=["rare", "a", "rarest", "b"])
    made = review_page(table_of(X, Y), quick=True, max_labels=2)
    note = "Of 4 labels, this page shows the 2 that most rows have."
    assert made.shown.startswith(note)
    assert len(made.labels) == 4
    page = Reader(made.page)
    assert page.text.count(note) == 2  # of the review, and of its explorer
    assert "2 of 4 labels" in page.text
    first_cells = [row[0] for row in page.rows]
    assert first_cells.count("a") == 4  # among columns, labels, results, needed rows
    assert first_cells.count("rare") == 1  # among columns
    assert made.page.count('<details class="label') == 4
    whole = review_page(table_of(X, Y), quick=True)
    assert whole.shown == ""
    assert "this page shows" not in whole.page


def test_review_page_takes_labels_that_all_or_none_have_and_few_rows():
    X, Y = made_up(18)
    Y["none"] = 0.0
    Y["all"] = 1.0
    Y["seldom"] = [1.0, 0.0, *[np.nan] * 16]
    made = review_page(table_of(X, Y))
    assert "none: no row has it, so it cannot be judged." in made.labels
    assert "all: all rows have it, so it cannot be judged." in made.labels
    page = Reader(made.page)
    assert "nan" not in page.text.lower().split()
    (row,) = (row for row in page.rows if row[0] == "none" and "0 of 18" in row)
    assert row[-1] == "no row has it, so it cannot be judged"  # in the table of figures


@pytest.mark.parametrize("n_observed", [1, 2, 4])
def test_review_page_compares_methods_where_a_label_was_hardly_observed(n_observed):
    X, Y = made_up(30)
    Y["seldom"] = [0.0, 1.0, 0.0, 1.0, *[np.nan] * 26]
    Y.loc[n_observed:, "seldom"] = np.nan
    made = review_page(table_of(X, Y))
    assert "logistic regression" in text_of(made.page)
    assert "nan" not in text_of(made.page).lower().split()
    if n_observed == 1:
        assert made.labels[-1] == (
            "seldom: observed in 1 row, too rarely to be judged."
        )
        assert made.labels[-1] in text_of(made.page)


def test_review_page_of_one_label_that_was_observed_once_says_so():
    X, Y = made_up(30)
    Y["old"] = [0.0, *[np.nan] * 29]
    made = review_page(table_of(X, Y[["old"]]))
    assert made.labels == ["old: observed in 1 row, too rarely to be judged."]


def test_review_page_takes_one_label_alone_and_a_column_that_is_empty():
    X, Y = made_up(30, empty=np.nan)
    made = review_page(table_of(X, Y[["old"]]))
    assert made.summary[-1].startswith("old ")
    assert "mean AP" in text_of(made.page)


def test_review_page_shows_gaps_labels_and_pairs_where_they_belong():
    rows = np.arange(100)
    frame = pd.DataFrame(
        {
            "age": rows * 1.5,
            "late": np.where(rows < 75, rows % 9 + 0.5, np.nan),
            "a": (rows % 2 == 0) * 1.0,
            "b": np.where(rows < 50, rows % 4 == 0, np.nan),
        }
    )
    page = Reader(review_page(read_table(frame, ["a", "b"]), quick=True).page)
    gaps = [row for row in page.rows if row[:2] in (["b", "50 %"], ["late", "25 %"])]
    assert [row[0] for row in gaps] == ["b", "late"]
    assert ["a", "50", "100", "50 %", ""] in page.rows
    assert ["b (rare)", "13", "50", "26 %", ""] in page.rows
    assert "13 of 13 with b have a; of all rows, 50 % do." in page.texts


def test_review_page_counts_progress_up_to_its_end(pbc):
    steps = []
    review_page(
        pbc, quick=True, progress=lambda done, total: steps.append((done, total))
    )
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_review_page_counts_folds_as_steps():
    steps = []
    review_page(
        table_of(*made_up(40)),
        model=MLTSKClassifier(n_rules=0),
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(done, 29) for done in range(30)]


def test_review_that_is_stopped_leaves_nothing_behind(pbc, tmp_path):
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


def test_review_refuses_what_is_no_table(tmp_path):
    X, _ = made_up()
    with pytest.raises(InputError, match=r"review\(X, path, Y\)"):
        review(X, tmp_path / "page.html")
    with pytest.raises(InputError, match="has no labels to review"):
        review(read_table(X), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
