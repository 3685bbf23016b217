"""Arrays that are larger than working memory, or mapped from files."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.rows.read import rows_at_once

from .conftest import assert_same_model


@pytest.fixture
def little_memory():
    """So little memory that arrays of 600 rows are read in blocks."""
    with sklearn.config_context(working_memory=0.01):
        yield


def fitted_at_once(*arrays, **options):
    """A classifier fitted on arrays that the memory holds."""
    with sklearn.config_context(working_memory=100):
        return MLTSKClassifier(**options).fit(*arrays)


def mapped(array, path):
    """An array in a file that is mapped."""
    in_file = np.memmap(path, dtype=array.dtype, mode="w+", shape=array.shape)
    in_file[:] = array
    return in_file


@pytest.mark.parametrize(
    "options",
    [{}, {"n_rules": 4, "order": 1}, {"coupling": "precision"}, {"n_pairs": 3}],
    ids=str,
)
@pytest.mark.usefixtures("little_memory")
def test_fit_on_a_mapped_file_gives_the_model_of_an_array(data, options, tmp_path):
    X = mapped(data.X, tmp_path / "X")
    w = np.arange(600) % 3
    assert rows_at_once(X) is not None
    clf = MLTSKClassifier(**options).fit(X, data.Y, w)
    expected = fitted_at_once(data.X, data.Y, w, **options)
    assert_same_model(clf, expected)
    assert_allclose(clf.predict_proba(X), expected.predict_proba(data.X), atol=1e-8)


@pytest.mark.usefixtures("little_memory")
def test_fit_on_csr_of_mapped_arrays_gives_the_model_of_csr(data, tmp_path):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    entries = mapped(X.data, tmp_path / "data")
    indices = mapped(X.indices, tmp_path / "indices")
    in_files = sparse.csr_array((entries, indices, X.indptr), shape=X.shape)
    clf = MLTSKClassifier(n_rules=3).fit(in_files, sparse.csr_array(data.Y))
    assert_same_model(clf, fitted_at_once(X, data.Y, n_rules=3))


def as_classes(Y):
    """One class per row: how many labels it has."""
    counts = np.minimum(Y.sum(axis=1), 2).astype(int)
    return np.array(["no", "once", "twice"])[counts]


@pytest.mark.parametrize(
    "labels_of",
    [
        as_classes,
        lambda Y: list(as_classes(Y)),
        lambda Y: pd.DataFrame(Y, columns=list("abcd")),
    ],
    ids=["classes", "list of classes", "frame"],
)
@pytest.mark.usefixtures("little_memory")
def test_fit_in_blocks_takes_integers_and_every_form_of_labels(data, labels_of):
    X = np.round(data.X * 100).astype(np.int16)
    y = labels_of(data.Y)
    in_blocks = MLTSKClassifier(n_rules=3).fit(X, y)
    at_once = fitted_at_once(X, y, n_rules=3)
    assert_array_equal(at_once.predict(X), in_blocks.predict(X))
    assert at_once.label_names_ == in_blocks.label_names_


@pytest.mark.usefixtures("little_memory")
def test_fit_in_blocks_takes_classes_in_a_column(data):
    X = np.round(data.X * 100).astype(np.int16)
    in_blocks = MLTSKClassifier(n_rules=3).fit(X, data.Y[:, [0]])
    at_once = fitted_at_once(X, data.Y[:, 0], n_rules=3)
    assert_array_equal(at_once.predict(X), in_blocks.predict(X))
    assert at_once.label_names_ == in_blocks.label_names_


@pytest.mark.usefixtures("little_memory")
def test_fit_and_predict_refuse_infinity_in_any_block(data):
    spoiled = data.X.copy()
    spoiled[-1, 2] = np.inf
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="infinity"):
        clf.predict(spoiled)
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(spoiled, data.Y)


def test_fit_reads_labels_in_blocks_too(tmp_path):
    rng = np.random.default_rng(0)
    X = mapped(rng.standard_normal((300_000, 3)).astype(np.float32), tmp_path / "X")
    noise = rng.standard_normal((len(X), 40))
    Y = (X[:, :1] + noise > 0).astype(np.int8)  # 96 MB as floats
    with sklearn.config_context(working_memory=2):
        tracemalloc.start()
        clf = MLTSKClassifier(n_rules=0).fit(X, Y)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak_bytes < 120 * 10**6
    assert clf.loo_scores_.shape == (20_000, 40)
    assert_array_equal(clf.loo_rows_, np.linspace(0, 299_999, 20_000).astype(int))


def unobserved(Y):
    """Labels of which every fifth cell was not observed."""
    return np.where(np.arange(Y.size).reshape(Y.shape) % 5 == 1, np.nan, Y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["array", "frame", "words"])
def test_fit_in_blocks_learns_from_labels_that_were_observed(
    data, little_memory, form, weighted
):
    Y = unobserved(data.Y)
    w = np.linspace(0.5, 2, len(Y)) if weighted else None
    y = Y
    if form == "frame":
        y = pd.DataFrame(Y).add_prefix("l")
    if form == "words":
        words = np.where(Y > 0, "yes", "no").astype(object)
        y = np.where(np.isnan(Y), None, words)
    options = {"n_rules": 3, "order": 0, "ridge": 1.0}
    assert rows_at_once(data.X) is not None
    large = MLTSKClassifier(**options).fit(data.X, y, sample_weight=w)
    with sklearn.config_context(working_memory=1024):
        whole = MLTSKClassifier(**options).fit(data.X, Y, sample_weight=w)
    assert_allclose(large.predict_proba(data.X), whole.predict_proba(data.X), atol=1e-9)


def test_fit_in_blocks_names_row_and_label_of_a_wrong_cell(data, little_memory):
    Y = pd.DataFrame(data.Y.astype(float)).add_prefix("l")
    last = len(Y) - 1
    Y.iloc[last, 1] = 7
    with pytest.raises(InputError, match=rf"column 'l1' of y holds 7.0 in row {last}"):
        MLTSKClassifier().fit(data.X, Y)
    Y["l2"] = np.nan
    Y.iloc[last, 1] = 0
    with pytest.raises(InputError, match="Label 'l2' was observed in no row"):
        MLTSKClassifier().fit(data.X, Y)


def test_fit_in_blocks_reads_one_column_and_lists_as_in_memory(data, little_memory):
    column = pd.DataFrame({"flu": data.Y[:, 0]})
    gaps = unobserved(data.Y)[:, :1]
    lists = [["a"] if cell else ["a", "b"] for cell in data.Y[:, 0]]
    for y in (column, gaps, lists):
        large = MLTSKClassifier(n_rules=0, ridge=1.0).fit(data.X, y)
        with sklearn.config_context(working_memory=1024):
            whole = MLTSKClassifier(n_rules=0, ridge=1.0).fit(data.X, y)
        assert large.label_names_ == whole.label_names_
        assert large.multilabel_ == whole.multilabel_
        assert_allclose(
            large.predict_proba(data.X), whole.predict_proba(data.X), atol=1e-9
        )
