"""What the page of the explorer holds: a model in its own words and rows, both exact and small.

Where Node is installed, the page's arithmetic runs in it.
"""

import json
import shutil
import subprocess
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import explorer_data
from mltsk.pages.render import source

DATA = make_multilabel_rules(n_samples=80, random_state=0)
SPARSE = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["quantile", "trapezoids", "standard", "unit", None])
def test_the_arithmetic_in_node_is_pythons(scale, n_rules, order, tmp_path):
    clf = MLTSKClassifier(n_rules, order=order, scale=scale).fit(DATA.X, DATA.Y)
    rows = np.random.default_rng(1).normal(scale=2.0, size=(200, 10))
    assert_allclose(
        in_node(clf, rows, tmp_path), clf.system_.scores(rows), rtol=0, atol=1e-9
    )


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


TABLES = [
    {"n_rules": 0},
    {"n_rules": 6, "order": 0},
    {"n_rules": 6, "tnorm": "minimum"},
    {"n_rules": 3, "order": 1},
    {"n_rules": 20, "max_statements": 8},
]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax"])
def test_the_arithmetic_of_tables_in_node_is_pythons(table, scale, kind, tmp_path):
    clf = MLTSKClassifier(scale=scale, **kind).fit(*table)
    rows = clf.system_.columns.expand(table[0])
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    rows[:3, :-2] = np.nan  # nothing is known
    assert_allclose(
        in_node(clf, rows, tmp_path), clf.system_.scores(rows), rtol=0, atol=1e-9
    )


def unpacked(text, kind="<f8"):
    return np.frombuffer(b64decode(text), kind)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_features_of_a_table_are_set_by_name_and_may_be_missing(table):
    data = explorer_data(MLTSKClassifier(n_rules=3).fit(*table), *table)
    assert data["features"] == list(table[0].columns)
    assert data["choices"]["1"] == {
        "values": [0.0, 1.0, 2.0, 3.0],
        "names": ["never", "former", "daily", "other"],
        "nominal": 4,
    }
    assert data["choices"]["3"] == {
        "values": [0.0, 1.0, 2.0, 3.0],
        "names": ["I", "II", "III", "IV"],
    }
    assert data["columns"][:3] == [[0, 1, -1], [1, 5, 9], [5, 6, -1]]
    assert data["optional"] == [0, 1, 2, 3, 4, 5]  # age lacks in some of the rows
    assert explorer_data(MLTSKClassifier(n_rules=3).fit(*table))["optional"] == [
        1,
        2,
        3,
        4,
        5,
    ]
    made = unpacked(data["made"]["values"]).reshape(-1, 11)[-4:]
    assert_array_equal(made[:, 1:5].sum(axis=1), 1)
    assert set(made[:, [1, 2, 3, 4, 5, 7]].ravel()) <= {0.0, 1.0}
    assert_array_equal(made[:, 9:], 0)


def test_arrays_come_exactly_and_zeros_are_left_out(model):
    short = model.shorten(max_statements=4)
    data = explorer_data(short)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert_array_equal(unpacked(data["centers"]), short.centers_.ravel())
    for packed, table in (
        (data["terms"]["coef"], short.general_coef_),
        (data["coef"], short.coef_),
    ):
        assert_array_equal(unpacked(packed["values"]), table[table != 0])
        mask = np.unpackbits(
            np.frombuffer(b64decode(packed["mask"]), np.uint8), bitorder="little"
        )
        assert_array_equal(mask[: table.size], table.ravel() != 0)


def test_equal_widths_come_once(model):
    assert len(unpacked(explorer_data(model)["widths"])) == (
        1 if len(np.unique(model.widths_)) == 1 else 30
    )


def test_knots_come_without_padding():
    X = DATA.X.copy()
    X[:, 0] = X[:, 0] > 0
    data = explorer_data(MLTSKClassifier(n_rules=2).fit(X, DATA.Y))
    assert unpacked(data["scale"]["ends"])[:3].tolist() == [0, 2, 82]
    assert data["choices"]["0"] == {"values": [0.0, 1.0], "names": ["0", "1"]}


def test_whole_numbers_and_categories_are_set_as_such():
    X = DATA.X.copy()
    X[:, 1] = np.arange(80) % 7
    clf = MLTSKClassifier(n_rules=2).fit(X, DATA.Y)
    categories = {"x2": {0.0: "no", 5.0: "yes\n", 7.0: "?"}}
    clf.system_ = replace(clf.system_, categories=categories)
    data = explorer_data(clf)
    assert data["whole"] == [1]
    assert data["choices"]["2"] == {
        "values": [0.0, 5.0, 7.0],
        "names": ["no", "yes", "?"],
    }
    rows = unpacked(data["made"]["values"]).reshape(-1, 10)
    assert set(rows[:, 2]) <= {0.0, 5.0, 7.0}  # no average of categories


def test_words_are_those_of_the_rules(model):
    data = explorer_data(model)
    rule, general = data["rules"][1], data["general"][2]
    conditions, shapes = (
        model.rules_.exceptions[1].conditions,
        model.rules_.general[2].shapes,
    )
    told = min(5, model.rules_.exceptions[1].told)
    assert [words for _, words in rule["words"]] == [str(c) for c in conditions[:told]]
    assert conditions[0].feature == DATA.feature_names[rule["words"][0][0]]
    assert rule["more"] == f"and {10 - told} smaller conditions"
    assert str(model.rules_.exceptions[1]).startswith(f"Exception 2 — {rule['size']}\n")
    assert [words for _, words in general["words"]] == [str(shape) for shape in shapes]
    assert data["noun"] == "Exception"


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_the_papers_system_has_rules_and_no_general_one():
    data = explorer_data(
        PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y), DATA.X
    )
    assert (data["noun"], data["general"], data["shape"], data["slopes"]) == (
        "Rule",
        [],
        [2, 10, 5, 0],
        None,
    )


@pytest.mark.parametrize("n_rules", [0, 2])
def test_sparse_models_have_ranges_from_what_is_known(n_rules):
    clf = MLTSKClassifier(n_rules=n_rules).fit(SPARSE.X, SPARSE.Y)
    data = explorer_data(clf, SPARSE.X)
    low, high = unpacked(data["ranges"]).reshape(-1, 2).T
    assert (data["quantiles"], data["scale"]["kind"], data["terms"]["low"]) == (
        None,
        "unit",
        None,
    )
    assert (low <= 0).all()
    assert (high >= 1).all()


def cells(rows):
    """Dense cells of rows as the page reads them."""
    columns = []
    for kind, text, known, decimals in rows["cells"]["columns"]:
        numbers = unpacked(text, kind)
        missing = (
            np.zeros(len(numbers), bool)
            if kind in ("u1", "<f8")
            else numbers == np.iinfo(kind).min
        )
        values = (
            numbers / float(f"1e{decimals}")
            if known is None
            else unpacked(known)[numbers]
        )
        columns.append(np.where(missing, np.nan, values))
    return np.stack(columns, axis=1)


def truth(rows, L, key="truth"):
    bits = np.unpackbits(unpacked(rows[key], "u1"), bitorder="little")
    return bits[: len(bits) // L * L].reshape(-1, L)


def test_every_row_is_there_exactly_with_its_labels(model):
    rows = explorer_data(model, *DATA.frames())["rows"]
    assert (rows["count"], rows["index"], rows["ids"], rows["observed"]) == (
        80,
        None,
        None,
        None,
    )
    assert_array_equal(cells(rows), DATA.X)
    assert_array_equal(truth(rows, 5)[:80], DATA.Y)


def test_every_kind_of_column_comes_back_exactly():
    rng, n = np.random.default_rng(0), 900
    numbers = rng.normal(size=n)
    X = np.column_stack(
        [
            rng.integers(0, 9, n),
            rng.integers(0, 9999, n),
            np.round(9 * numbers, 5),
            numbers,
        ]
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = explorer_data(
        MLTSKClassifier(n_rules=0).fit(X, rng.integers(0, 2, (n, 2))), X
    )["rows"]
    assert [kind for kind, *_ in rows["cells"]["columns"][:4]] == [
        "u1",
        "<i2",
        "<i4",
        "<f8",
    ]
    assert_array_equal(cells(rows)[:, :4], X)


def test_labels_that_were_not_observed_are_told_apart(model):
    Y = DATA.Y.astype(float)
    Y[3, 2] = np.nan
    rows = explorer_data(model, DATA.frames()[0], Y)["rows"]
    assert_array_equal(truth(rows, 5, "observed")[:80] == 0, np.isnan(Y))
    assert truth(rows, 5)[3, 2] == 0


def test_sparse_rows_come_as_such():
    rows = explorer_data(MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y), SPARSE.X)[
        "rows"
    ]["cells"]
    parts = (
        unpacked(rows["values"]),
        unpacked(rows["at"], "<u4"),
        unpacked(rows["ends"], "<u4"),
    )
    assert_array_equal(
        sparse.csr_matrix(parts, shape=SPARSE.X.shape).toarray(), SPARSE.X.toarray()
    )


def test_many_rows_are_thinned_evenly_and_the_page_stays_small():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20_000, 300)), rng.integers(0, 2, (20_000, 3))
    clf = MLTSKClassifier(n_rules=0, ridge=1.0, max_statements=3).fit(X[:400], Y[:400])
    data = explorer_data(clf, X, Y, ids=[f"p{i}" for i in range(20_000)])
    rows = data["rows"]
    index = unpacked(rows["index"], "<u4")
    assert rows["count"] == 20_000
    assert 500 < len(index) < 2_000
    assert np.diff(index).max() < 2 * 20_000 / len(index)
    assert rows["ids"] == [f"p{i}" for i in index]
    assert_array_equal(cells(rows), X[index])
    assert len(json.dumps(data)) < 10_000_000


def test_rows_are_called_by_their_identifiers(model):
    X, Y = DATA.frames()
    named = X.set_axis([f"patient\n{i}" for i in range(80)])
    assert explorer_data(model, named, Y)["rows"]["ids"][:2] == [
        "patient 0",
        "patient 1",
    ]
    visits = pd.DataFrame({"patient": np.arange(80) // 2, "visit": np.arange(80) % 2})
    assert explorer_data(model, named, Y, ids=visits)["rows"]["ids"][3] == "1 · 1"
    assert explorer_data(model, X, Y, ids=np.arange(80.0) + 7)["rows"]["ids"][0] == "7"
    with pytest.raises(
        InputError, match="There are 2 identifiers for 80 rows: give one per row"
    ):
        explorer_data(model, X, Y, ids=["a", "b"])
    with pytest.raises(InputError, match="of rows: pass X, too"):
        explorer_data(model, neighbours=True)


def test_rows_can_be_left_out(model):
    data = explorer_data(model, *DATA.frames(), rows=False, neighbours=True)
    assert (data["rows"], data["neighbours"]) == (None, False)
    assert set(data["correlation"]) == {"consequents", "labels"}


def test_typical_rows_are_those_that_exceptions_apply_to_most(model):
    data = explorer_data(model, *DATA.frames())
    assert set(model.system_.firing_strengths(DATA.X).argmax(axis=0)) <= set(
        data["rows"]["typical"]
    )
    assert len(data["rows"]["typical"]) == 12


def test_without_exceptions_typical_rows_are_those_of_each_label():
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    data = explorer_data(clf, DATA.X)
    assert set(clf.system_.scores(DATA.X).argmax(axis=0)) <= set(
        data["rows"]["typical"]
    )
    assert data["made"]["names"] == ["every feature at its median"]


def test_typical_rows_are_different_and_no_more_than_there_are(model):
    assert sorted(
        explorer_data(model, DATA.frames()[0].iloc[:2])["rows"]["typical"]
    ) == [0, 1]


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_classes_of_one_dimension_are_labels_too(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    data = explorer_data(clf, DATA.X, y)
    known = truth(data["rows"], len(clf.label_names_))[:80]
    told = [[clf.label_names_[j] for j in np.flatnonzero(row)] for row in known]
    assert told == [[word] if word != "no" else [] for word in y]
    assert data["single"] is (len(classes) == 3)
