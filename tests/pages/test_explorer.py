"""The explorer as a file: self-contained, escaped, small, and as parts of another page."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from mltsk import MLTSKClassifier, explore, load_dataset
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import embedded, explorer_data, explorer_page, explorer_parts, policy, script_source
from mltsk.paper.methods import MLkNN

DATA = make_multilabel_rules(n_samples=80, random_state=0)


@pytest.fixture(scope="module")
def hostile():
    X, Y = DATA.frames()
    X.columns = ["<script>alert(1)</script>", "</SCRIPT><!-- \u2028", *X.columns[2:]]
    return MLTSKClassifier(n_rules=3).fit(X, Y)


@pytest.fixture(scope="module")
def page(hostile):
    return explorer_page(hostile, DATA.X, DATA.Y, title="a <b> & c")


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
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, tag in (("script-src", "<script>(.*?)</script>"), ("style-src", "<style>(.*?)</style>")):
        (content,) = re.findall(tag, page, flags=re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_our_program_never_parses_markup_or_text():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", script_source())


def test_parts_fit_into_another_page(hostile):
    parts = explorer_parts(hostile, DATA.X, DATA.Y)
    assert set(parts) == {"style", "script", "data", "markup"}
    assert re.findall(r'\bid="(?!x-)', parts["markup"]) == []
    assert not re.search(r"<h1|<script|<style|<html|<body", parts["markup"])
    outside = re.sub(r"(?s)^\.explorer \{.*^\}", "", parts["style"], flags=re.MULTILINE)
    assert re.findall(r"^[^/{]+(?= \{)", outside, flags=re.MULTILINE) == [".explorer-page", "@keyframes explorer-flash"]
    assert policy([parts["style"], "b{}"], [parts["script"]]).count("sha256-") == 3


def test_yeast_is_under_four_megabytes(tmp_path):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=20, order=1, width_scale=0.5, ridge=1.0).fit(data.X, data.Y)
    assert explore(clf, tmp_path / "p.html", data.X, data.Y).stat().st_size < 4_000_000


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_what_cannot_be_explored_says_so(model):
    with pytest.raises(InputError, match="has no rules to explore"):
        explorer_data(MLkNN().fit(DATA.X, DATA.Y))
    with pytest.raises(InputError, match="X has 3 features, but MLTSKClassifier is expecting 10"):
        explorer_data(model, DATA.X[:, :3])
    with pytest.raises(InputError, match="The feature names should match"):
        explorer_data(model, DATA.frames()[0].iloc[:, ::-1])
    with pytest.raises(InputError, match=r"Y has shape \(80, 2\)"):
        explorer_data(model, DATA.X, DATA.Y[:, :2])
