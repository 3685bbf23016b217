"""The explorer as a file: self-contained, escaped, small, and as parts of another page."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
    policy,
    script_source,
    sizes_data,
)
from mltsk.pages.explorer_content import system_data
from mltsk.paper.methods import MLkNN

DATA, SIZED = (make_multilabel_rules(n_samples=n, random_state=0) for n in (80, 120))


@pytest.fixture(scope="module")
def hostile():
    X, Y = DATA.frames()
    X.columns = ["<script>alert(1)</script>", "</SCRIPT><!-- \u2028", *X.columns[2:]]
    return MLTSKClassifier(n_rules=3).fit(X, Y)


@pytest.fixture(scope="module")
def page(hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "page.html"
    return explore(hostile, path, DATA.X, DATA.Y, title="a <b> & c").read_text("utf-8")


def test_the_page_needs_nothing_else(page):
    assert not re.search(r"\b(src|href)=(?!\"#)", page)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", page)


def test_text_cannot_leave_its_place(page):
    assert page.count("<script") == 2
    assert page.lower().count("</script") == 2
    assert "<!--" not in page
    assert "<h1>a &lt;b&gt; &amp; c</h1>" in page


def test_embedded_json_is_the_same_data():
    data = {"</script>": ["<!-- & \u2028\u2029", 1.5, None]}
    assert json.loads(embedded(data)) == data
    assert not re.search("[<>&\u2028\u2029]", embedded(data))


def test_the_policy_names_what_is_there_by_its_hash(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace(
        "&#39;", "'"
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, tag in (
        ("script-src", "<script>(.*?)</script>"),
        ("style-src", "<style>(.*?)</style>"),
    ):
        (content,) = re.findall(tag, page, flags=re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_our_program_never_parses_markup_or_text():
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function",
        script_source(),
    )


def test_parts_fit_into_another_page(hostile):
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


def test_yeast_is_under_four_megabytes(tmp_path):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=20, order=1, width_scale=0.5, ridge=1.0).fit(
        data.X, data.Y
    )
    assert explore(clf, tmp_path / "p.html", data.X, data.Y).stat().st_size < 4_000_000


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_what_cannot_be_explored_says_so(model):
    with pytest.raises(InputError, match="has no rules to explore"):
        explorer_data(MLkNN().fit(DATA.X, DATA.Y))
    with pytest.raises(
        InputError, match="X has 3 features, but MLTSKClassifier is expecting 10"
    ):
        explorer_data(model, DATA.X[:, :3])
    with pytest.raises(InputError, match="The feature names should match"):
        explorer_data(model, DATA.frames()[0].iloc[:, ::-1])
    with pytest.raises(InputError, match=r"Y has shape \(80, 2\)"):
        explorer_data(model, DATA.X, DATA.Y[:, :2])


@pytest.fixture(scope="module")
def sized():
    return MLTSKClassifier(n_rules=4).fit(SIZED.X, SIZED.Y)


def test_a_size_holds_what_differs_and_its_honest_ap(sized):
    whole, sizes = system_data(sized), sizes_data(sized)
    assert [size["size"] for size in sizes] == [
        3,
        5,
        8,
        12,
        20,
        30,
        sized.n_statements_.max(),
    ]
    for size in sizes[:-1]:
        short = sized.shorten(size["size"])
        assert {**whole, **size} == {
            **system_data(short),
            "size": size["size"],
            "AP": size["AP"],
        }
        assert_allclose(
            size["AP"],
            evaluate(SIZED.Y, short.loo_scores_, per_label=True)["AP"].mean(),
        )
        assert not {"quantiles", "share"} & {*size}
    assert_allclose(
        sizes[-1]["AP"],
        evaluate(SIZED.Y, sized.loo_scores_, per_label=True)["AP"].mean(),
    )


def test_labels_that_were_not_observed_do_not_count():
    Y = SIZED.Y.astype(float)
    Y[::3, 0] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(SIZED.X, Y)
    assert_allclose(
        sizes_data(clf)[-1]["AP"],
        evaluate(Y, clf.loo_scores_, per_label=True)["AP"].mean(),
    )


def test_a_model_from_a_file_needs_the_rows_that_it_was_fitted_on(sized, tmp_path):
    loaded = load(save(sized, tmp_path / "m.skops"))
    assert sizes_data(loaded) == []
    assert sizes_data(loaded, SIZED.X) == []
    assert sizes_data(loaded, SIZED.X[::-1], SIZED.Y) == []  # other rows
    assert sizes_data(loaded, SIZED.X[:50], SIZED.Y[:50]) == []
    again = sizes_data(loaded, SIZED.X, SIZED.Y)
    assert [size["AP"] for size in again] == pytest.approx(
        [size["AP"] for size in sizes_data(sized)]
    )


def test_a_model_from_a_file_keeps_its_names(tmp_path):
    X, Y = SIZED.frames()
    clf = MLTSKClassifier(n_rules=0).fit(X.add_prefix("dose of "), Y)
    (short, *_) = sizes_data(load(save(clf, tmp_path / "m.skops")), SIZED.X, SIZED.Y)
    assert short["general"] == sizes_data(clf)[0]["general"]
    assert "dose of" in short["general"][0]["words"][0][1]


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_models_that_have_one_size_only(sized):
    for clf in (
        sized.shorten(5),
        PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(SIZED.X, SIZED.Y),
    ):
        assert explorer_data(clf, SIZED.X, SIZED.Y)["sizes"] == []


def test_a_stream_can_be_shortened():
    clf = (
        IncrementalMLTSK(n_rules=2)
        .partial_fit(SIZED.X[:60], SIZED.Y[:60])
        .partial_fit(SIZED.X[60:], SIZED.Y[60:])
    )
    assert [size["size"] for size in sizes_data(clf)][:3] == [3, 5, 8]


def test_sizes_that_do_not_fit_are_left_out_the_longest_first(sized):
    every = sizes_data(sized)
    lengths = [
        len(json.dumps(size, ensure_ascii=False, separators=(",", ":")))
        for size in every
    ]
    assert sizes_data(sized, room=sum(lengths[:3])) == [*every[:3], every[-1]]
    assert sizes_data(sized, room=lengths[0] / 2) == sizes_data(sized, room=0) == []
