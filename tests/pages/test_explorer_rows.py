"""Samples that the explorer starts from: rows, exact and small, and made ones."""

import json
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import explorer_data
from mltsk.pages.explorer_rows import made_samples, read_labels, row_names, rows_data

DATA = make_multilabel_rules(n_samples=80, random_state=0)
SPARSE = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def unpacked(text, kind="<f8"):
    return np.frombuffer(b64decode(text), kind)


def cells_of(rows):
    """Dense cells of rows as the page reads them."""
    columns = []
    for kind, text, distinct, decimals in rows["cells"]["columns"]:
        numbers = unpacked(text, kind)
        if distinct is not None:
            values = unpacked(distinct)[numbers]
        elif kind == "<f8":
            values = numbers
        else:
            is_missing = numbers == np.iinfo(kind).min
            values = np.where(is_missing, np.nan, numbers / float(f"1e{decimals}"))
        columns.append(values)
    return np.stack(columns, axis=1)


def bits_of(text, n_labels):
    """Bits per row and label."""
    bits = np.unpackbits(unpacked(text, "u1"), bitorder="little")
    n_rows = len(bits) // n_labels
    return bits[: n_rows * n_labels].reshape(n_rows, n_labels)


def test_rows_data_hold_every_row_exactly_with_its_labels(model):
    rows = rows_data(model.system_, DATA.X, DATA.Y.astype(float), None)
    assert rows["count"] == 80
    assert rows["index"] is None
    assert rows["ids"] is None
    assert rows["observed"] is None
    assert_array_equal(cells_of(rows), DATA.X)
    assert_array_equal(bits_of(rows["truth"], 5)[:80], DATA.Y)


def test_rows_data_hold_every_kind_of_column_exactly():
    rng = np.random.default_rng(0)
    n = 900
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
    clf = MLTSKClassifier(n_rules=0).fit(X, rng.integers(0, 2, (n, 2)))
    rows = explorer_data(clf, X)["rows"]
    kinds = [column[0] for column in rows["cells"]["columns"]]
    assert kinds[:4] == ["u1", "<i2", "<i4", "<f8"]
    assert_array_equal(cells_of(rows)[:, :4], X)


def test_rows_data_tell_labels_apart_that_were_not_observed(model):
    Y = DATA.Y.astype(float)
    Y[3, 2] = np.nan
    rows = rows_data(model.system_, DATA.X, Y, None)
    assert_array_equal(bits_of(rows["observed"], 5)[:80] == 0, np.isnan(Y))
    assert bits_of(rows["truth"], 5)[3, 2] == 0


def test_rows_data_hold_sparse_rows_as_such():
    clf = MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y)
    cells = rows_data(clf.system_, SPARSE.X, None, None)["cells"]
    csr = (
        unpacked(cells["values"]),
        unpacked(cells["at"], "<u4"),
        unpacked(cells["ends"], "<u4"),
    )
    rows = sparse.csr_matrix(csr, shape=SPARSE.X.shape)
    assert_array_equal(rows.toarray(), SPARSE.X.toarray())


def test_rows_data_thin_many_rows_evenly_and_keep_the_page_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 300))
    Y = rng.integers(0, 2, (20_000, 3))
    clf = MLTSKClassifier(n_rules=0, ridge=1.0, max_statements=3).fit(X[:400], Y[:400])
    data = explorer_data(clf, X, Y, ids=[f"p{i}" for i in range(20_000)])
    rows = data["rows"]
    index = unpacked(rows["index"], "<u4")
    assert rows["count"] == 20_000
    assert 500 < len(index) < 2_000
    assert np.diff(index).max() < 2 * 20_000 / len(index)
    assert rows["ids"] == [f"p{i}" for i in index]
    assert_array_equal(cells_of(rows), X[index])
    assert len(json.dumps(data)) < 10_000_000


def test_rows_data_begin_with_rows_that_exceptions_apply_to_most(model):
    typical = rows_data(model.system_, DATA.X, None, None)["typical"]
    strongest = model.system_.firing_strengths(DATA.X).argmax(axis=0)
    assert set(strongest) <= set(typical)
    assert len(typical) == 12


def test_rows_data_without_exceptions_begin_with_rows_of_each_label():
    system = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y).system_
    typical = rows_data(system, DATA.X, None, None)["typical"]
    assert set(system.scores(DATA.X).argmax(axis=0)) <= set(typical)


def test_rows_data_have_no_more_typical_rows_than_there_are(model):
    typical = rows_data(model.system_, DATA.X[:2], None, None)["typical"]
    assert sorted(typical) == [0, 1]


def test_row_names_are_identifiers_or_the_index():
    X, _ = DATA.frames()
    named = X.set_axis([f"patient\n{i}" for i in range(80)])
    visits = pd.DataFrame({"patient": np.arange(80) // 2, "visit": np.arange(80) % 2})
    assert row_names(named, None, 80)[:2] == ["patient 0", "patient 1"]
    assert row_names(named, visits, 80)[3] == "1 · 1"
    assert row_names(named.set_index(["x1", "x2"]), None, 80)[0].count(" · ") == 1
    assert row_names(X, np.arange(80.0) + 7, 80)[0] == "7"
    assert row_names(X, None, 80) is None  # the index only counts
    assert row_names(DATA.X, None, 80) is None


def test_row_names_are_one_per_row():
    with pytest.raises(
        InputError, match="There are 2 identifiers for 80 rows: give one per row"
    ):
        row_names(DATA.X, ["a", "b"], 80)


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_read_labels_takes_classes_of_one_dimension(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    labels = read_labels(clf, y, 80)
    names = [
        [clf.label_names_[j] for j in np.flatnonzero(has_label)] for has_label in labels
    ]
    assert names == [[] if word == "no" else [word] for word in y]
    assert explorer_data(clf, DATA.X, y)["single"] is (len(classes) == 3)


def test_made_samples_are_a_usual_one_and_the_centre_of_each_exception(model):
    made = made_samples(model.rules_.effects)
    order = np.argsort(-model.rule_weights_, kind="stable")
    values = unpacked(made["values"]).reshape(-1, 10)
    assert made["names"][0] == "every feature at its median"
    assert made["names"][1] == f"typical of exception {order[0] + 1}"
    assert_array_equal(values[0], model.quantiles_[:, 10])
    assert_array_equal(values[1:], model.prototypes_[order])


def test_made_samples_hold_no_average_of_categories(model):
    codes = {0.0: "no", 5.0: "yes", 7.0: "?"}
    clf = MLTSKClassifier()
    clf.system_ = replace(model.system_, categories={"x3": codes})
    values = unpacked(made_samples(clf.rules_.effects)["values"]).reshape(-1, 10)
    assert set(values[:, 2]) <= set(codes)


def test_made_samples_of_a_table_have_one_value_of_each_feature(table):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    values = unpacked(made_samples(clf.rules_.effects)["values"]).reshape(-1, 11)
    assert_array_equal(values[:, 1:5].sum(axis=1), 1)
    assert set(values[:, [1, 2, 3, 4, 5, 7]].ravel()) <= {0.0, 1.0}
    assert_array_equal(values[:, 9:], 0)  # everything is measured
