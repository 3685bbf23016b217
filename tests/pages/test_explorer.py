"""The explorer as a file: self-contained, escaped, small; its arithmetic in Node where there is one."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, explore, load_dataset
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.explorer import embedded, explorer_page, script_source
from mltsk.pages.explorer_data import explorer_data

DATA = make_multilabel_rules(n_samples=80, random_state=0)


@pytest.fixture(scope="module")
def model():
    X, Y = DATA.frames()
    X.columns = ["<script>alert(1)</script>", "</SCRIPT><!-- \u2028", *X.columns[2:]]
    return MLTSKClassifier(n_rules=3).fit(X, Y)


@pytest.fixture(scope="module")
def page(model):
    return explorer_page(model, DATA.X, DATA.Y, title="a <b> & c")


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


def test_yeast_is_under_two_megabytes(tmp_path):
    pytest.importorskip("river", reason="the yeast data come with the river package")
    data = load_dataset("yeast")
    clf = MLTSKClassifier(n_rules=20, order=1, width_scale=0.5, ridge=1.0).fit(data.X, data.Y)
    assert explore(clf, tmp_path / "p.html", data.X, data.Y).stat().st_size < 2_000_000


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["quantile", "standard", "unit", None])
def test_the_arithmetic_in_node_is_pythons(scale, n_rules, order, tmp_path):
    clf = MLTSKClassifier(n_rules, order=order, scale=scale).fit(DATA.X, DATA.Y)
    rows = np.random.default_rng(1).normal(scale=2.0, size=(200, 10))
    (tmp_path / "in.json").write_text(json.dumps({"data": explorer_data(clf), "rows": rows.tolist()}))
    program = script_source().split("const FIFTHS")[0].replace("(() => {", "", 1)
    program += """const { data, rows } = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
    const system = new FuzzySystem(data);
    console.log(JSON.stringify(rows.map((x) => Array.from(system.evaluate(Float64Array.from(x)).scores))));"""
    (tmp_path / "run.js").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "run.js", tmp_path / "in.json"], capture_output=True, text=True, check=True
    )
    assert_allclose(json.loads(done.stdout), clf.system_.scores(rows), rtol=0, atol=1e-9)
