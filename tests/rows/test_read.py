"""What a user passes, as rows: larger than memory, mapped from files, in tensors."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.arrays import asnumpy
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.rows.read import check_weights, read_weights, rows_at_once

COMPARED_ATTRIBUTES = (
    "intercept_",
    "general_coef_",
    "loo_scores_",
    "slopes_",
    "offsets_",
    "thresholds_",
    "n_rules_",
    "order_",
    "ridge_",
    "width_scale_",
    "rule_share_",
    "coupling_weight_",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=600, n_features=6, n_labels=4, random_state=0
    )


@pytest.fixture
def little_memory():
    """So little memory that arrays of 600 rows are read in blocks."""
    with sklearn.config_context(working_memory=0.01):
        yield


def fitted_at_once(*arrays, **options):
    """A classifier fitted on arrays that the memory holds."""
    with sklearn.config_context(working_memory=100):
        return MLTSKClassifier(**options).fit(*arrays)


def assert_same_model(clf, expected):
    for name in COMPARED_ATTRIBUTES:
        value = getattr(clf, name)
        assert_allclose(
            value, getattr(expected, name), atol=1e-8, rtol=1e-8, err_msg=name
        )
    # the error is computed in single precision
    assert_allclose(clf.loo_error_, expected.loo_error_, atol=1e-8, rtol=1e-3)


def mapped(array, path):
    """An array in a file that is mapped."""
    in_file = np.memmap(path, dtype=array.dtype, mode="w+", shape=array.shape)
    in_file[:] = array
    return in_file


# larger than the memory ---------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"n_rules": 4, "order": 1}, {"coupling": "precision"}], ids=str
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
    assert peak_bytes < 80 * 10**6
    assert clf.loo_scores_.shape == (20_000, 40)
    assert_array_equal(clf.loo_rows_, np.linspace(0, 299_999, 20_000).astype(int))


# weights ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample_weight", "w", "copies"),
    [
        ([1.0, 2.0, 0.0], [1, 2, 0], [1, 2, 1]),
        ([3.0, 3.0, 0.0], [1, 1, 0], None),
        ([0.5, 1.5, 0.0], [0.5, 1.5, 0], None),
    ],
    ids=["counts", "equal", "relative"],
)
def test_read_weights_knows_counts_equal_and_relative_weights(sample_weight, w, copies):
    weights = read_weights(sample_weight, (3, 2))
    assert weights.w.tolist() == w
    if copies is None:
        assert weights.copies is None
    else:
        assert weights.copies.tolist() == copies


def test_read_weights_of_no_weights_are_none():
    assert read_weights(None, (3, 2)) == (None, None)


def test_sample_weight_of_large_whole_numbers_is_importance_not_copies(data):
    w = np.random.default_rng(0).integers(1, 1000, len(data.X))
    whole = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w)
    relative = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w / 7.3)
    assert_allclose(
        whole.decision_function(data.X), relative.decision_function(data.X), atol=1e-8
    )


# tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_rules": 4, "order": 1, "max_statements": 5},
        {"scale": "standard", "threshold": "f1"},
        {"scale": None, "coupling": "precision"},
        {"scale": "unit"},
    ],
    ids=str,
)
def test_fit_on_tensors_gives_the_model_of_arrays(data, options, torch):
    w = np.random.default_rng(0).integers(0, 3, len(data.X)).astype(float)
    X = torch.as_tensor(data.X)
    of_arrays = MLTSKClassifier(**options).fit(data.X, data.Y, w)
    of_tensors = MLTSKClassifier(**options)
    of_tensors.fit(X, torch.as_tensor(data.Y), torch.as_tensor(w))
    assert_same_model(of_tensors, of_arrays)
    for method in ("predict", "decision_function", "predict_proba"):
        expected = getattr(of_arrays, method)(data.X)
        answer = getattr(of_tensors, method)(X)
        assert torch.is_tensor(answer)
        assert_allclose(asnumpy(answer), expected, atol=1e-8)
        assert_allclose(getattr(of_tensors, method)(data.X), asnumpy(answer), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_takes_tensors_of_classes_and_of_single_precision(data, n_classes, torch):
    y = data.Y[:, :n_classes].argmax(axis=1) * 10
    X = torch.as_tensor(data.X)
    of_arrays = MLTSKClassifier(n_rules=3).fit(data.X, y)
    of_tensors = MLTSKClassifier(n_rules=3).fit(X, torch.as_tensor(y))
    assert_array_equal(asnumpy(of_tensors.predict(X)), of_arrays.predict(data.X))
    single = MLTSKClassifier(n_rules=3)
    single.fit(torch.as_tensor(data.X, dtype=torch.float32), torch.as_tensor(y))
    assert_allclose(
        single.predict_proba(data.X), of_arrays.predict_proba(data.X), atol=1e-3
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X, asnumpy(Y)), "y must be one there too; it is a ndarray"),
        (lambda X, Y: (X, Y[:3]), "y has 3"),
        (lambda X, Y: (X, X[:, 0]), "Unknown label type"),
        (lambda X, Y: (X / 0, Y), "contains infinity"),
        (lambda X, Y: (X[:, 0], Y), "rows and columns"),
        (lambda X, Y: (X[:1], Y[:1]), "minimum of 2"),
        (lambda X, Y: (X.to_sparse(), Y), "sparse tensor"),
        (lambda X, Y: (X, Y[:, 0] * 0), "only one class"),
        (lambda X, Y: (X, Y, -X[:, 0].abs() - 1), "0 or more"),
        (lambda X, Y: (X, Y, X[:, 0] * 0), "sample_weight is zero"),
    ],
)
def test_fit_says_what_is_wrong_with_tensors(data, change, message, torch):
    tensors = change(torch.as_tensor(data.X), torch.as_tensor(data.Y))
    with pytest.raises(ValueError, match=message):
        MLTSKClassifier(n_rules=2).fit(*tensors)


def test_predict_refuses_tensors_with_another_number_of_features(data, torch):
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="expecting"):
        clf.predict(torch.ones(3, 2))


# weights that are no weights ----------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("3", "'3'"),
        ("a", "'a'"),
        (None, r"nothing \(NaN\)"),
        (np.nan, r"nothing \(NaN\)"),
        (np.inf, "inf"),
        (-0.5, "-0.5"),
        (1j, "1j"),
    ],
)
def test_check_weights_names_the_row_of_what_is_no_weight(cell, shown):
    weights = [1.0, 2.0, cell, 1.0]
    with pytest.raises(InputError, match=f"holds {shown} in row 2"):
        check_weights(weights, (4,))


def test_check_weights_names_the_label():
    w = np.ones((3, 2))
    w[1, 1] = -1
    with pytest.raises(InputError, match=r"holds -1.0 in row 1 for label 'b'"):
        check_weights(w, (3, 2), ("a", "b"))
    with pytest.raises(InputError, match="zero for every row of label 'a'"):
        check_weights(np.array([[0, 1], [0, 2]]), (2, 2), ("a", "b"))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"has the shape \(3,\), but X has 4 rows"),
        (2.0, r"has the shape \(\), but X has 4 rows"),
        (sparse.csr_array(np.ones((4, 2))), "is sparse"),
        ([[1, 2], [1], [1], [1]], "rows of different lengths"),
        (
            pd.DataFrame(np.ones((4, 2)), columns=["a", "c"]),
            "name its columns like them",
        ),
    ],
)
def test_check_weights_refuses_other_forms_in_a_sentence(weights, sentence):
    with pytest.raises(InputError, match=sentence):
        check_weights(weights, (4, 2), ("a", "b"))


def test_check_weights_matches_the_columns_of_a_frame_with_labels():
    w = np.arange(1.0, 7.0).reshape(3, 2)
    frame = pd.DataFrame(w[:, ::-1], columns=["b", "a"])
    assert_array_equal(check_weights(frame, (3, 2), ("a", "b")), w)


@pytest.mark.parametrize("unit", [1e308, 1e-308, 5e-324, 1e200, 1e-200])
def test_fit_takes_weights_of_any_size(data, unit):
    w = np.arange(len(data.X)) % 3 + 1.0
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w / 4 * unit)
    short = clf.shorten(3)
    for model in (clf, short):
        assert np.isfinite(model.predict_proba(data.X)).all()
        assert "inf" not in str(model.rules_)
    if unit > 1e-308:
        same = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w / 8)
        assert_allclose(
            clf.predict_proba(data.X), same.predict_proba(data.X), atol=1e-9
        )


@pytest.mark.parametrize("exponent", [20, 150, 300])
def test_fit_takes_weights_of_huge_ratios(data, exponent):
    w = 10.0 ** np.linspace(-exponent, exponent, len(data.X))
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w)
    assert np.isfinite(clf.predict_proba(data.X)).all()


# labels of large arrays ---------------------------------------------------------------


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
