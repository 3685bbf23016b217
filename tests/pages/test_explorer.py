"""The explorer as a file: self-contained, escaped, small, and as parts of a page."""

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from mltsk import (
    IncrementalMLTSK,
    MLTSKClassifier,
    PaperMLTSK,
    evaluate,
    explore,
    load,
    load_dataset,
    save,
)
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import (
    embedded,
    explorer_data,
    explorer_parts,
    model_with_record,
    policy,
    script_source,
    sizes_data,
)
from mltsk.pages.explorer_content import system_data
from mltsk.paper.methods import MLkNN

DATA = make_multilabel_rules(n_samples=80, random_state=0)
SIZED = make_multilabel_rules(n_samples=120, random_state=0)


@pytest.fixture(scope="module")
def hostile():
    X, Y = DATA.frames()
    X.columns = ["<script>alert(1)</script>", "</SCRIPT><!-- \u2028", *X.columns[2:]]
    return MLTSKClassifier(n_rules=3).fit(X, Y)


@pytest.fixture(scope="module")
def page(hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "page.html"
    return explore(hostile, path, DATA.X, DATA.Y, title="a <b> & c").read_text("utf-8")


def test_explore_writes_a_page_that_needs_nothing_else(page):
    assert not re.search(r"\b(src|href)=(?!\"#)", page)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", page)


def test_explore_lets_no_text_leave_its_place(page):
    assert page.count("<script") == 2
    assert page.lower().count("</script") == 2
    assert "<!--" not in page
    assert "<h1>a &lt;b&gt; &amp; c</h1>" in page


def test_explore_names_what_is_there_by_its_hash(page):
    content = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    allowed = content.replace("&#39;", "'")
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    assert f"script-src 'sha256-{digest(script)}'" in allowed
    assert f"style-src 'sha256-{digest(style)}'" in allowed


def digest(text):
    return b64encode(sha256(text.encode()).digest()).decode()


def test_explore_keeps_yeast_under_four_megabytes(tmp_path):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=20, order=1, width_scale=0.5, ridge=1.0)
    clf.fit(data.X, data.Y)
    assert explore(clf, tmp_path / "p.html", data.X, data.Y).stat().st_size < 4_000_000


def test_embedded_json_is_the_same_data():
    data = {"</script>": ["<!-- & \u2028\u2029", 1.5, None]}
    assert json.loads(embedded(data)) == data
    assert not re.search("[<>&\u2028\u2029]", embedded(data))


def test_script_source_never_parses_markup_or_text():
    forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b"
    assert not re.search(rf"{forbidden}|new Function", script_source())


def test_explorer_parts_fit_into_another_page(hostile):
    parts = explorer_parts(hostile, DATA.X, DATA.Y)
    assert set(parts) == {"style", "script", "data", "markup"}
    assert re.findall(r'\bid="(?!x-)', parts["markup"]) == []
    assert not re.search(r"<h1|<script|<style|<html|<body", parts["markup"])
    outside = re.sub(r"(?s)^\.explorer \{.*^\}", "", parts["style"], flags=re.MULTILINE)
    assert re.findall(r"^([^\s/}][^{\n]*) \{", outside, flags=re.MULTILINE) == [
        ".explorer-page",
        "@keyframes explorer-flash",
    ]
    assert policy([parts["style"], "b{}"], [parts["script"]]).count("sha256-") == 3


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (DATA.X[:, :3], None, "X has 3 features, but MLTSKClassifier is expecting 10"),
        (DATA.frames()[0].iloc[:, ::-1], None, "The feature names should match"),
        (DATA.X, DATA.Y[:, :2], r"Y has shape \(80, 2\), but \(80, 5\) is needed"),
    ],
)
def test_explorer_data_refuses_rows_that_do_not_fit(model, X, Y, message):
    with pytest.raises(InputError, match=message):
        explorer_data(model, X, Y)


def test_explorer_data_have_the_labels_that_most_rows_have_where_fewer_are_asked_for(
    model,
):
    shown = np.sort(np.argsort(-DATA.Y.sum(axis=0), kind="stable")[:2])
    data = explorer_data(model, DATA.X, DATA.Y, max_labels=2)
    whole = explorer_data(model, DATA.X, DATA.Y)
    assert data["labels"] == [whole["labels"][j] for j in shown]
    assert data["general"] == [whole["general"][j] for j in shown]
    assert data["shape"][2] == 2
    assert data["sizes"] == []
    n_rows = len(DATA.X)
    bits = np.unpackbits(
        np.frombuffer(b64decode(data["rows"]["truth"]), dtype="u1"),
        count=2 * n_rows,
        bitorder="little",
    )
    assert bits.reshape(n_rows, 2).tolist() == DATA.Y[:, shown].tolist()


def test_explorer_parts_say_that_labels_are_left_out(model):
    n_labels = DATA.Y.shape[1]
    parts = explorer_parts(model, max_labels=2)
    assert f"Of {n_labels} labels, this page shows the 2 that" in parts["markup"]
    assert "Shorter models are left out, too." in parts["markup"]
    assert "this page shows" not in explorer_parts(model)["markup"]
    of_short = explorer_parts(model.shorten(3), max_labels=2)
    assert "Shorter models" not in of_short["markup"]


def test_explorer_data_have_all_classes_of_which_one_is_given():
    y = DATA.Y.argmax(axis=1)
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, y)
    data = explorer_data(clf, max_labels=1)
    assert len(data["labels"]) == len(np.unique(y)) > 2


def test_explorer_data_refuses_to_show_no_label(model):
    with pytest.raises(InputError, match="max_labels must be at least 1"):
        explorer_data(model, max_labels=0)


def test_explorer_data_needs_a_fitted_model_that_has_rules():
    with pytest.raises(InputError, match="A MLkNN has no rules to explore"):
        explorer_data(MLkNN().fit(DATA.X, DATA.Y))
    with pytest.raises(NotFittedError):
        explorer_data(MLTSKClassifier())


@pytest.mark.parametrize("options", [{"neighbours": True}, {"ids": ["a"]}])
def test_explorer_data_needs_rows_for_neighbours_and_identifiers(model, options):
    with pytest.raises(InputError, match="need rows: pass X, too"):
        explorer_data(model, **options)


def test_explorer_data_leaves_rows_out_if_asked_to(model):
    data = explorer_data(model, *DATA.frames(), rows=False, neighbours=True)
    assert data["rows"] is None
    assert data["neighbours"] is False
    assert set(data["correlation"]) == {"consequents", "labels"}


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_explorer_data_has_no_sizes_of_the_papers_model():
    clf = PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(SIZED.X, SIZED.Y)
    assert explorer_data(clf, SIZED.X, SIZED.Y)["sizes"] == []


@pytest.fixture(scope="module")
def sized():
    return MLTSKClassifier(n_rules=4).fit(SIZED.X, SIZED.Y)


def sizes_of(model, X, Y=None):
    """Shorter models of a page that is made with rows."""
    return sizes_data(model, model_with_record(model, X, Y))


def mean_precision(Y, scores):
    return evaluate(Y, scores, per_label=True)["AP"].mean()


def test_sizes_data_hold_what_differs_from_the_whole_model(sized):
    whole = system_data(sized)
    *shorter, last = sizes_data(sized, sized)
    assert [size["size"] for size in shorter] == [3, 5, 8, 12, 20, 30]
    assert last["size"] == sized.n_statements_.max()
    for size in shorter:
        short = sized.shorten(size["size"])
        own = {"size": size["size"], "AP": size["AP"]}
        assert {**whole, **size} == {**system_data(short), **own}
        assert "share" not in size


def test_sizes_data_have_an_honest_ap(sized):
    *shorter, last = sizes_data(sized, sized)
    for size in shorter:
        scores = sized.shorten(size["size"]).loo_scores_
        assert_allclose(size["AP"], mean_precision(SIZED.Y, scores))
    assert_allclose(last["AP"], mean_precision(SIZED.Y, sized.loo_scores_))


def test_sizes_data_count_labels_only_where_they_were_observed():
    Y = SIZED.Y.astype(float)
    Y[::3, 0] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(SIZED.X, Y)
    assert_allclose(sizes_data(clf, clf)[-1]["AP"], mean_precision(Y, clf.loo_scores_))


def test_sizes_data_of_a_file_need_the_rows_that_it_was_fitted_on(sized, tmp_path):
    loaded = load(save(sized, tmp_path / "m.skops"))
    assert sizes_of(loaded, None) == []
    assert sizes_of(loaded, SIZED.X) == []
    assert sizes_of(loaded, SIZED.X[::-1], SIZED.Y) == []  # other rows
    assert sizes_of(loaded, SIZED.X[:50], SIZED.Y[:50]) == []
    precisions = [size["AP"] for size in sizes_of(loaded, SIZED.X, SIZED.Y)]
    assert precisions == pytest.approx(
        [size["AP"] for size in sizes_data(sized, sized)]
    )


def test_sizes_data_of_a_file_keep_its_names(tmp_path):
    X, Y = SIZED.frames()
    clf = MLTSKClassifier(n_rules=0).fit(X.add_prefix("dose of "), Y)
    loaded = load(save(clf, tmp_path / "m.skops"))
    short = sizes_of(loaded, SIZED.X, SIZED.Y)[0]
    assert short["general"] == sizes_data(clf, clf)[0]["general"]
    assert "dose of" in short["general"][0]["words"][0][1]


def test_sizes_data_of_a_short_model_are_empty(sized):
    assert sizes_of(sized.shorten(5), SIZED.X, SIZED.Y) == []


def test_sizes_data_of_a_stream_are_there():
    clf = IncrementalMLTSK(n_rules=2)
    clf.partial_fit(SIZED.X[:60], SIZED.Y[:60])
    clf.partial_fit(SIZED.X[60:], SIZED.Y[60:])
    assert [size["size"] for size in sizes_data(clf, clf)][:3] == [3, 5, 8]


def test_sizes_data_that_do_not_fit_are_left_out_the_longest_first(sized):
    every = sizes_data(sized, sized)
    lengths = []
    for size in every:
        text = json.dumps(size, ensure_ascii=False, separators=(",", ":"))
        lengths.append(len(text))
    assert sizes_data(sized, sized, room=sum(lengths[:3])) == [*every[:3], every[-1]]
    assert sizes_data(sized, sized, room=lengths[0] / 2) == []
    assert sizes_data(sized, sized, room=0) == []
