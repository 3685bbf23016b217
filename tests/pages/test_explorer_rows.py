"""Rows in the explorer: exact, found by name, with their labels, and no more than a page can hold."""

import json
from base64 import b64decode

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer import explorer_data
from mltsk.pages.explorer_rows import typical_rows

DATA = make_multilabel_rules(n_samples=80, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def unpacked(text, kind="<f8"):
    return np.frombuffer(b64decode(text), kind)


def cells(rows):
    """Dense cells of rows as the page reads them."""
    columns = []
    for kind, text, known, decimals in rows["cells"]["columns"]:
        numbers = unpacked(text, kind)
        missing = np.zeros(len(numbers), bool) if kind in ("u1", "<f8") else numbers == np.iinfo(kind).min
        values = numbers / float(f"1e{decimals}") if known is None else unpacked(known)[numbers]
        columns.append(np.where(missing, np.nan, values))
    return np.stack(columns, axis=1)


def truth(rows, L, key="truth"):
    bits = np.unpackbits(unpacked(rows[key], "u1"), bitorder="little")
    return bits[: len(bits) // L * L].reshape(-1, L)


def test_every_row_is_there_exactly_with_its_labels(model):
    rows = explorer_data(model, *DATA.frames())["rows"]
    assert (rows["count"], rows["index"], rows["ids"], rows["observed"]) == (80, None, None, None)
    assert_array_equal(cells(rows), DATA.X)
    assert_array_equal(truth(rows, 5)[:80], DATA.Y)


def test_every_kind_of_column_comes_back_exactly():
    rng, n = np.random.default_rng(0), 900
    numbers = rng.normal(size=n)
    X = np.column_stack([rng.integers(0, 9, n), rng.integers(0, 9999, n), np.round(9 * numbers, 5), numbers])
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = explorer_data(MLTSKClassifier(n_rules=0).fit(X, rng.integers(0, 2, (n, 2))), X)["rows"]
    assert [kind for kind, *_ in rows["cells"]["columns"][:4]] == ["u1", "<i2", "<i4", "<f8"]
    assert_array_equal(cells(rows)[:, :4], X)


def test_labels_that_were_not_observed_are_told_apart(model):
    Y = DATA.Y.astype(float)
    Y[3, 2] = np.nan
    rows = explorer_data(model, DATA.frames()[0], Y)["rows"]
    assert_array_equal(truth(rows, 5, "observed")[:80] == 0, np.isnan(Y))
    assert truth(rows, 5)[3, 2] == 0


def test_sparse_rows_come_as_such():
    data = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)
    rows = explorer_data(MLTSKClassifier(n_rules=2).fit(data.X, data.Y), data.X)["rows"]["cells"]
    parts = unpacked(rows["values"]), unpacked(rows["at"], "<u4"), unpacked(rows["ends"], "<u4")
    assert_array_equal(sparse.csr_matrix(parts, shape=data.X.shape).toarray(), data.X.toarray())


def test_many_rows_are_thinned_evenly_and_the_page_stays_small():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20_000, 300)), rng.integers(0, 2, (20_000, 3))
    clf = MLTSKClassifier(n_rules=0, ridge=1.0, max_terms=3).fit(X[:400], Y[:400])
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
    assert explorer_data(model, named, Y)["rows"]["ids"][:2] == ["patient 0", "patient 1"]
    visits = pd.DataFrame({"patient": np.arange(80) // 2, "visit": np.arange(80) % 2})
    assert explorer_data(model, named, Y, ids=visits)["rows"]["ids"][3] == "1 · 1"
    assert explorer_data(model, X, Y, ids=np.arange(80.0) + 7)["rows"]["ids"][0] == "7"
    with pytest.raises(InputError, match="There are 2 identifiers for 80 rows: give one per row"):
        explorer_data(model, X, Y, ids=["a", "b"])
    with pytest.raises(InputError, match="of rows: pass X, too"):
        explorer_data(model, neighbours=True)


def test_rows_can_be_left_out(model):
    data = explorer_data(model, *DATA.frames(), rows=False, neighbours=True)
    assert (data["rows"], data["neighbours"]) == (None, False)
    assert set(data["correlation"]) == {"consequents", "labels"}


def test_typical_rows_are_those_that_exceptions_apply_to_most(model):
    data = explorer_data(model, *DATA.frames())
    assert set(model.system_.firing(DATA.X).argmax(axis=0)) <= set(data["rows"]["typical"])
    assert len(data["rows"]["typical"]) == 12


def test_without_exceptions_typical_rows_are_those_of_each_label():
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    data = explorer_data(clf, DATA.X)
    assert set(clf.system_.scores(DATA.X).argmax(axis=0)) <= set(data["rows"]["typical"])
    assert data["made"]["names"] == ["every feature at its median"]


def test_typical_rows_are_different_and_no_more_than_there_are():
    M = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert typical_rows(M, np.array([0.5, 0.5]), 12) == [0, 1]


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_classes_of_one_dimension_are_labels_too(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    data = explorer_data(clf, DATA.X, y)
    known = truth(data["rows"], len(clf.label_names_))[:80]
    told = [[clf.label_names_[j] for j in np.flatnonzero(row)] for row in known]
    assert told == [[word] if word != "no" else [] for word in y]
    assert data["single"] is (len(classes) == 3)
