"""What the page of the explorer holds about a model: its numbers and its words.

Where Node is installed, the page's arithmetic runs in it.
"""

import json
import shutil
import subprocess
from base64 import b64decode
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, PaperMLTSK, read_table
from mltsk.datasets import make_multilabel_rules
from mltsk.explain import fuzzy_rules
from mltsk.pages.explorer import explorer_data
from mltsk.pages.explorer_content import feature_data, ranges, system_data
from mltsk.pages.render import source

DATA = make_multilabel_rules(n_samples=80, random_state=0)
SPARSE = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)

# Reads {"data", "rows"} from the file that is named first, prints scores of the rows.
SCORES_OF_ROWS = """
const { readFileSync } = require("fs");
const { data, rows } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const system = new FuzzySystem(data);
const scores = rows.map((row) => {
  const x = Float64Array.from(row, (value) => value ?? NaN);
  return Array.from(system.evaluate(x).scores);
});
console.log(JSON.stringify(scores));
"""
needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="Node is not installed"
)


@needs_node
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["quantile", "trapezoids", "standard", "unit", None])
def test_explorer_data_give_pythons_scores_in_node(scale, n_rules, order, tmp_path):
    clf = MLTSKClassifier(n_rules, order=order, scale=scale).fit(DATA.X, DATA.Y)
    rows = np.random.default_rng(1).normal(scale=2.0, size=(200, 10))
    expected = clf.system_.scores(rows)
    assert_allclose(in_node(clf, rows, tmp_path), expected, rtol=0, atol=1e-9)


def in_node(clf, rows, tmp_path):
    """Scores of rows in columns of numbers by the page's arithmetic, run in Node."""
    plain = [[None if x != x else x for x in row] for row in rows.tolist()]
    given = {"data": explorer_data(clf), "rows": plain}
    (tmp_path / "in.json").write_text(json.dumps(given))
    program = source("explorer/model.js") + SCORES_OF_ROWS
    (tmp_path / "run.js").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "run.js", tmp_path / "in.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


TABLE_MODELS = [
    {"n_rules": 0},
    {"n_rules": 6, "order": 0},
    {"n_rules": 6, "tnorm": "minimum"},
    {"n_rules": 3, "order": 1},
    {"n_rules": 20, "max_statements": 8},
    {"n_rules": 0, "n_pairs": 6, "max_statements": 20},
]


@needs_node
@pytest.mark.parametrize("options", TABLE_MODELS)
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax"])
def test_explorer_data_of_tables_give_pythons_scores_in_node(
    table, scale, options, tmp_path
):
    if scale != "quantile" and "n_pairs" in options:
        pytest.skip("pairs are for the scale of percentiles")
    clf = MLTSKClassifier(scale=scale, **options).fit(*table)
    rows = clf.system_.columns.expand(table[0])
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    rows[:3, :-2] = np.nan  # nothing is known
    expected = clf.system_.scores(rows)
    assert_allclose(in_node(clf, rows, tmp_path), expected, rtol=0, atol=1e-9)


@needs_node
@pytest.mark.parametrize("options", [{}, {"n_pairs": 5}, {"n_pairs": 5, "n_rules": 9}])
def test_explorer_data_of_lines_and_pairs_give_pythons_scores_in_node(
    options, tmp_path
):
    pbc = read_table("pbc")
    clf = MLTSKClassifier(**options).fit(pbc.X, pbc.Y)
    assert clf.terms_.straight.any()
    assert len(clf.pairs_) == options.get("n_pairs", 0)
    rows = clf.system_.columns.expand(pbc.X)
    assert np.isnan(rows).any()
    beyond_the_data = np.vstack([rows, 1.7 * rows, rows - 40])
    expected = clf.system_.scores(beyond_the_data)
    scores = in_node(clf, beyond_the_data, tmp_path)
    assert_allclose(scores, expected, rtol=0, atol=1e-9)


@needs_node
def test_explorer_data_of_pairs_with_categories_give_pythons_scores_in_node(
    table, tmp_path
):
    clf = MLTSKClassifier(n_pairs=12).fit(*table)
    pairs = clf.pairs_
    assert any(axis.category for pair in pairs for axis in pair.axes)
    rows = clf.system_.columns.expand(table[0])
    rows[np.random.default_rng(2).random(rows.shape) < 0.2] = np.nan
    expected = clf.system_.scores(rows)
    assert_allclose(in_node(clf, rows, tmp_path), expected, rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def one_per_row():
    """A model of an exception per row, which are rounded."""
    data = make_multilabel_rules(n_samples=600, n_features=40, random_state=0)
    X = np.round(data.X, 2)
    clf = MLTSKClassifier(n_rules=600, order=0).fit(X, data.Y)
    assert clf.n_rules_ == 600
    return clf, X


@needs_node
def test_system_data_write_very_many_centres_once_and_scores_stay_pythons(
    one_per_row, tmp_path
):
    clf, X = one_per_row
    data = system_data(clf)
    n_numbers = 600 * 40
    assert data["centers"] is None
    n_characters = len(json.dumps(data["prototypes"]))
    assert n_characters < 4 * n_numbers  # two arrays of doubles have 21 per number
    expected = clf.system_.scores(X)
    assert_allclose(in_node(clf, X, tmp_path), expected, rtol=0, atol=1e-9)


def test_system_data_write_centres_that_do_not_follow_from_prototypes(one_per_row):
    clf, _ = one_per_row
    system = clf.system_
    moved = copy(clf)
    moved.system_ = replace(system, centers=system.centers + 0.1)
    data = system_data(moved)
    assert_array_equal(unpacked(data["centers"]), moved.centers_.ravel())


def test_system_data_tell_pairs_in_the_words_and_order_of_python(table):
    clf = MLTSKClassifier(n_pairs=6).fit(*table)
    names = list(clf.feature_names_in_)
    blocks = system_data(clf)["pairs"]["blocks"]
    for block, pair in zip(blocks, clf.pairs_, strict=True):
        assert tuple(names[f] for f in block["features"]) == pair.features
        for told, axis in zip(block["axes"], pair.axes, strict=True):
            assert told["title"] == axis.title
            assert told["ticks"] == axis.ticks
            assert told["words"] == [axis.words(i) for i in range(len(axis))]


def test_system_data_of_some_labels_have_their_numbers_of_pairs(table):
    clf = MLTSKClassifier(n_pairs=6).fit(*table)
    data = system_data(clf, np.array([1]))
    numbers = unpacked(data["pairs"]["coef"]["values"])
    assert_array_equal(np.sort(numbers), np.sort(clf.system_.pair_coef[:, 1]))


def unpacked(text, kind="<f8"):
    return np.frombuffer(b64decode(text), kind)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_system_data_hold_arrays_exactly_and_leave_zeros_out(model):
    short = model.shorten(max_statements=4)
    data = system_data(short)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert_array_equal(unpacked(data["centers"]), short.centers_.ravel())
    assert_coefficients(data["terms"]["coef"], short.general_coef_)
    assert_coefficients(data["coef"], short.coef_)


def assert_coefficients(packed, coef):
    mask = np.unpackbits(unpacked(packed["mask"], "u1"), bitorder="little")
    assert_array_equal(unpacked(packed["values"]), coef[coef != 0])
    assert_array_equal(mask[: coef.size], coef.ravel() != 0)


@pytest.mark.parametrize(("size", "is_single"), [(1.0, True), (100.0, False)])
def test_system_data_hold_very_many_small_numbers_in_single_precision(size, is_single):
    clf = MLTSKClassifier(n_rules=0, ridge=1.0).fit(SPARSE.X, SPARSE.Y)
    coef = np.zeros((len(clf.system_.terms), 600_000))
    coef[0] = size
    clf.system_ = replace(clf.system_, term_coef=coef)
    packed = system_data(clf)["terms"]["coef"]
    assert packed["single"] is is_single
    assert len(unpacked(packed["values"], "<f4" if is_single else "<f8")) == 600_000


def test_system_data_hold_equal_widths_once(model):
    system = model.system_
    equal = replace(system, widths=np.full_like(system.widths, 0.5))
    different = replace(system, widths=np.arange(1.0, 31.0).reshape(3, 10))
    for changed, expected in ((equal, [0.5]), (different, list(range(1, 31)))):
        clf = MLTSKClassifier()
        clf.system_ = changed
        assert unpacked(system_data(clf)["widths"]).tolist() == expected


def test_system_data_hold_knots_without_padding():
    X = DATA.X.copy()
    X[:, 0] = X[:, 0] > 0
    data = system_data(MLTSKClassifier(n_rules=2).fit(X, DATA.Y))
    assert unpacked(data["scale"]["ends"])[:3].tolist() == [0, 2, 82]


def test_system_data_have_the_words_of_the_rules(model):
    data = system_data(model)
    rule = model.rules_.exceptions[1]
    words = data["rules"][1]
    n_told = min(5, rule.told)
    features = [DATA.feature_names[f] for f, _ in words["words"]]
    assert [text for _, text in words["words"]] == list(
        map(str, rule.conditions[:n_told])
    )
    assert features == [condition.feature for condition in rule.conditions[:n_told]]
    assert words["more"] == f"and {10 - n_told} smaller conditions"
    assert str(rule).startswith(f"Exception 2 — {words['size']}\n")
    assert data["noun"] == "Exception"


def test_system_data_have_the_words_of_the_general_rule(model):
    shapes = model.rules_.general[2].shapes
    words = system_data(model)["general"][2]
    assert [text for _, text in words["words"]] == [str(shape) for shape in shapes]
    assert words["more"] == ""


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_system_data_of_the_papers_system_have_rules_and_no_general_one():
    clf = PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y)
    data = system_data(clf)
    assert data["noun"] == "Rule"
    assert data["general"] == []
    assert data["shape"] == [2, 10, 5, 0]
    assert not data["hasLogOdds"]
    slope, constant = fuzzy_rules(clf.system_).lines
    assert_array_equal(unpacked(data["lines"]["slope"]), slope)
    assert_array_equal(unpacked(data["lines"]["constant"]), constant)
    assert all("Gauss(" in text for _, text in data["rules"][0]["words"])


@pytest.mark.parametrize("n_rules", [0, 2])
def test_ranges_of_sparse_models_are_from_what_is_known(n_rules):
    clf = MLTSKClassifier(n_rules=n_rules).fit(SPARSE.X, SPARSE.Y)
    data = system_data(clf)
    low, high = unpacked(ranges(clf.system_, SPARSE.X)["ranges"]).reshape(-1, 2).T
    assert data["quantiles"] is None
    assert data["scale"]["kind"] == "unit"
    assert data["terms"]["low"] is None
    assert (low <= 0).all()
    assert (high >= 1).all()
    assert (high >= SPARSE.X.max(axis=0).toarray().ravel()).all()


def test_ranges_say_which_columns_hold_whole_numbers():
    X = DATA.X.copy()
    X[:, 1] = np.arange(80) % 7
    clf = MLTSKClassifier(n_rules=2).fit(X, DATA.Y)
    assert ranges(clf.system_, None)["whole"] == [1]


def test_feature_data_have_names_of_values(table):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    choices = feature_data(clf.rules_.effects, None)["choices"]
    assert choices["1"] == {
        "values": [0.0, 1.0, 2.0, 3.0],
        "names": ["never", "former", "daily", "other"],
        "nominal": 4,
    }
    assert choices["3"] == {
        "values": [0.0, 1.0, 2.0, 3.0],
        "names": ["I", "II", "III", "IV"],
    }


def test_feature_data_name_the_two_values_of_a_number_and_codes_of_categories():
    X = DATA.X.copy()
    X[:, 0] = X[:, 0] > 0
    clf = MLTSKClassifier(n_rules=2).fit(X, DATA.Y)
    categories = {"x2": {0.0: "no", 5.0: "yes\n", 7.0: "?"}}
    clf.system_ = replace(clf.system_, categories=categories)
    choices = feature_data(clf.rules_.effects, None)["choices"]
    assert choices["0"] == {"values": [0.0, 1.0], "names": ["0", "1"]}
    assert choices["2"] == {"values": [0.0, 5.0, 7.0], "names": ["no", "yes", "?"]}


def test_feature_data_say_which_columns_are_of_a_feature_and_what_may_be_missing(table):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    data = explorer_data(clf, *table)
    assert data["features"] == list(table[0].columns)
    assert data["columns"][:3] == [[0, 1, -1], [1, 5, 9], [5, 6, -1]]
    assert data["optional"] == [0, 1, 2, 3, 4, 5]  # age lacks in some of the rows
    assert feature_data(clf.rules_.effects, None)["optional"] == [1, 2, 3, 4, 5]


def test_feature_data_have_the_rules_of_the_user(table):
    rules = [{"age": (60, None), "smoker": "daily"}]
    clf = MLTSKClassifier(n_rules=0).fit(*table, rules=rules)
    (rule,) = feature_data(clf.rules_.effects, None)["given"]
    assert rule["asks"][0] == [0, 60.0, None]
    assert [feature for feature, _ in rule["words"]] == [0, 1]
    assert rule["size"] == clf.rules_.given[0].size
    assert rule["had"] == clf.members_.given[0].tolist()
