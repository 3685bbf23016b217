"""The explorer as a file: self-contained, escaped, small; its arithmetic in Node where there is one."""

import json
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, explore, load_dataset
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import embedded, explorer_data, explorer_page, script_source, typical_rows
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
    assert_allclose(in_node(clf, rows, tmp_path), clf.system_.scores(rows), rtol=0, atol=1e-9)


def in_node(clf, rows, tmp_path):
    """Scores of rows in columns of numbers by the page's program; JSON has null for NaN."""
    plain = [[None if x != x else x for x in row] for row in rows.tolist()]
    (tmp_path / "in.json").write_text(json.dumps({"data": explorer_data(clf), "rows": plain}))
    program = script_source().split("const FIFTHS")[0].replace("(() => {", "", 1)
    program += """const { data, rows } = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
    const system = new FuzzySystem(data);
    const scores = (row) => Array.from(system.evaluate(Float64Array.from(row, (x) => x ?? NaN)).scores);
    console.log(JSON.stringify(rows.map(scores)));"""
    (tmp_path / "run.js").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "run.js", tmp_path / "in.json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


TABLES = [{"n_rules": 0}, {"n_rules": 6, "order": 0}, {"n_rules": 3, "order": 1}, {"n_rules": 20, "max_terms": 8}]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax"])
def test_the_arithmetic_of_tables_in_node_is_pythons(table, scale, kind, tmp_path):
    clf = MLTSKClassifier(scale=scale, **kind).fit(*table)
    rows = clf.system_.columns.expand(table[0])
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    rows[:3, :-2] = np.nan  # nothing is known
    assert_allclose(in_node(clf, rows, tmp_path), clf.system_.scores(rows), rtol=0, atol=1e-9)


def test_features_of_a_table_are_set_by_name_and_may_be_missing(table):
    data = explorer_data(MLTSKClassifier(n_rules=3).fit(*table), *table)
    assert data["features"] == list(table[0].columns)
    assert data["choices"]["1"] == {
        "values": [0.0, 1.0, 2.0, 3.0],
        "names": ["never", "former", "daily", "other"],
        "nominal": 4,
    }
    assert data["choices"]["3"] == {"values": [0.0, 1.0, 2.0, 3.0], "names": ["I", "II", "III", "IV"]}
    assert data["columns"][:3] == [[0, 1, -1], [1, 5, 9], [5, 6, -1]]
    assert data["optional"] == [0, 1, 2, 3, 4, 5]  # age lacks in some of the rows
    assert explorer_data(MLTSKClassifier(n_rules=3).fit(*table))["optional"] == [1, 2, 3, 4, 5]
    made = floats(data["rows"]).reshape(-1, 11)[-4:]
    assert_array_equal(made[:, 1:5].sum(axis=1), 1)
    assert set(made[:, [1, 2, 3, 4, 5, 7]].ravel()) <= {0.0, 1.0}
    assert_array_equal(made[:, 9:], 0)


SPARSE = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)


def floats(text):
    return np.frombuffer(b64decode(text))


def rows_of(data):
    """Numbers of the rows that a page has as examples."""
    names = [example["name"] for example in data["examples"] if example["name"].startswith("row ")]
    return [int(name.split(":")[0].removeprefix("row ")) - 1 for name in names]


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_arrays_come_exactly_and_zeros_are_left_out(model):
    short = model.shorten(max_terms=4)
    data = explorer_data(short)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert_array_equal(floats(data["centers"]), short.centers_.ravel())
    for packed, table in ((data["terms"]["coef"], short.general_coef_), (data["coef"], short.coef_)):
        assert_array_equal(floats(packed["values"]), table[table != 0])
        mask = np.unpackbits(np.frombuffer(b64decode(packed["mask"]), np.uint8), bitorder="little")
        assert_array_equal(mask[: table.size], table.ravel() != 0)


def test_equal_widths_come_once(model):
    assert len(floats(explorer_data(model)["widths"])) == (1 if len(np.unique(model.widths_)) == 1 else 30)


def test_knots_come_without_padding():
    X = DATA.X.copy()
    X[:, 0] = X[:, 0] > 0
    data = explorer_data(MLTSKClassifier(n_rules=2).fit(X, DATA.Y))
    assert floats(data["scale"]["ends"])[:3].tolist() == [0, 2, 82]
    assert data["choices"]["0"] == {"values": [0.0, 1.0], "names": ["0", "1"]}


def test_whole_numbers_and_categories_are_set_as_such():
    X = DATA.X.copy()
    X[:, 1] = np.arange(80) % 7
    clf = MLTSKClassifier(n_rules=2).fit(X, DATA.Y)
    clf.categories_ = {"x2": {0.0: "no", 5.0: "yes\n", 7.0: "?"}}
    data = explorer_data(clf)
    assert data["whole"] == [1]
    assert data["choices"]["2"] == {"values": [0.0, 5.0, 7.0], "names": ["no", "yes", "?"]}
    rows = floats(data["rows"]).reshape(-1, 10)
    assert set(rows[:, 2]) <= {0.0, 5.0, 7.0}  # no average of categories


def test_words_are_those_of_the_rules(model):
    data = explorer_data(model)
    rule, general = data["rules"][1], data["general"][2]
    conditions, shapes = model.rules_.exceptions[1].conditions, model.rules_.general[2].shapes
    told = min(5, model.rules_[1].told)
    assert [words for _, words in rule["words"]] == [str(c) for c in conditions[:told]]
    assert conditions[0].feature == DATA.feature_names[rule["words"][0][0]]
    assert rule["more"] == f"and {10 - told} smaller conditions"
    assert str(model.rules_[1]).startswith(f"Exception 2 — {rule['size']}\n")
    assert [words for _, words in general["words"]] == [str(shape) for shape in shapes[:8]]
    assert data["noun"] == "Exception"


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_the_papers_system_has_rules_and_no_general_one():
    data = explorer_data(PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y), DATA.X)
    assert (data["noun"], data["general"], data["shape"], data["slopes"]) == ("Rule", [], [2, 10, 5, 0], None)


def test_examples_are_rows_that_exceptions_apply_to_most(model):
    data = explorer_data(model, *DATA.frames())
    rows = rows_of(data)
    assert_array_equal(floats(data["rows"]).reshape(-1, 10)[: len(rows)], DATA.X[rows])
    assert set(model.system_.firing(DATA.X).argmax(axis=0)) <= set(rows)
    assert [e["truth"] for e in data["examples"][: len(rows)]] == [np.flatnonzero(DATA.Y[i]).tolist() for i in rows]


def test_without_exceptions_examples_are_rows_of_each_label():
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    data = explorer_data(clf, DATA.X)
    assert set(clf.system_.scores(DATA.X).argmax(axis=0)) <= set(rows_of(data))
    assert data["examples"][-1]["name"] == "every feature at its median"


def test_typical_rows_are_different_and_no_more_than_there_are():
    M = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert typical_rows(M, np.array([0.5, 0.5]), 12) == [0, 1]


@pytest.mark.parametrize("n_rules", [0, 2])
def test_sparse_models_have_ranges_from_what_is_known(n_rules):
    clf = MLTSKClassifier(n_rules=n_rules).fit(SPARSE.X, SPARSE.Y)
    data = explorer_data(clf, SPARSE.X)
    low, high = floats(data["ranges"]).reshape(-1, 2).T
    assert (data["quantiles"], data["scale"]["kind"], data["terms"]["low"]) == (None, "unit", None)
    assert (low <= 0).all()
    assert (high >= 1).all()


def test_what_cannot_be_explored_says_so(model):
    with pytest.raises(InputError, match="has no rules to explore"):
        explorer_data(MLkNN().fit(DATA.X, DATA.Y))
    with pytest.raises(InputError, match="X has 3 features, but MLTSKClassifier is expecting 10"):
        explorer_data(model, DATA.X[:, :3])
    with pytest.raises(InputError, match="The feature names should match"):
        explorer_data(model, DATA.frames()[0].iloc[:, ::-1])
    with pytest.raises(InputError, match=r"Y has shape \(80, 2\)"):
        explorer_data(model, DATA.X, DATA.Y[:, :2])


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_classes_of_one_dimension_are_labels_too(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    data = explorer_data(clf, DATA.X, y)
    rows = rows_of(data)
    told = [[clf.label_names_[j] for j in example["truth"]] for example in data["examples"][: len(rows)]]
    assert told == [[y[i]] if y[i] != "no" else [] for i in rows]
    assert data["single"] is (len(classes) == 3)
