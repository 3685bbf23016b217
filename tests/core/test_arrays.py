"""What differs between arrays, tensors and CSR, and what is refused on its way in."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.core.arrays import (
    asnumpy,
    cast,
    is_csr,
    mean_of_known,
    namespace,
    row_blocks,
    weighted_mean_and_sd,
    weights_per_label,
)
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

from .conftest import assert_tensor_equals


def test_namespace_of_arrays_is_numpy():
    assert namespace(np.ones(2), "a word", None) is np


def test_arrays_never_import_torch():
    code = """
import sys
import numpy as np
from mltsk.core.fuzzymap import fuzzy_features
fuzzy_features(np.eye(3), np.eye(3), np.eye(3) + 1)
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_cast_keeps_a_tensor_that_has_the_precision(torch):
    x = torch.ones(3, 2, device="cpu")
    assert cast(x, np.float64).dtype == torch.float64
    assert cast(x, np.float32) is x


def test_asnumpy_copies_a_tensor_to_the_host(torch):
    x = torch.ones(2, requires_grad=True)
    assert_array_equal(asnumpy(x), np.ones(2))


def test_is_csr_knows_csr_from_dense():
    assert is_csr(sparse.csr_array(np.eye(2)))
    assert not is_csr(np.eye(2))


def test_row_blocks_on_the_host_are_small(torch):
    blocks = row_blocks(160, 64 * 2**20, like=torch.ones(160, 3).cpu())
    assert len(list(blocks)) == 160


def test_weights_per_label_repeats_weights_of_samples_and_keeps_those_of_labels():
    w = np.array([1.0, 0.0, 2.0])
    table = np.arange(6.0).reshape(3, 2)
    assert_array_equal(weights_per_label(w, (3, 2)), [[1, 1], [0, 0], [2, 2]])
    assert_array_equal(weights_per_label(table, (3, 2)), table)


def test_weights_per_label_of_a_tensor_is_a_tensor(torch):
    w = torch.as_tensor([1.0, 0.0])
    expected = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert_tensor_equals(weights_per_label(w, (2, 3)), expected)


def test_weighted_mean_and_sd_leave_missing_values_out():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, 9.0]])
    mean, sd = weighted_mean_and_sd(X, np.array([1.0, 1.0, 3.0]))
    assert_allclose(mean, [2.0, 8.0])
    assert_allclose(sd, [1.0, 3**0.5])


# what comes in ------------------------------------------------------------------------

DATA = make_multilabel_rules(n_samples=40, n_features=3, n_labels=2, random_state=0)
DATES = (DATA.X * 1e9).astype("M8[s]")
LOSSY = {
    "is a masked array": np.ma.masked_array(DATA.X, DATA.X > 0.5),
    "dates or times": DATES,
    "dates or times:": DATES - DATES[0],
    "Complex data not supported": DATA.X + 1j,
    "Complex data": sparse.csr_array(DATA.X + 1j),
    "(dates or times|complex numbers)": pd.DataFrame(DATES),
}


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
@pytest.mark.parametrize("says", LOSSY)
def test_check_plain_refuses_masks_dates_and_imaginary_parts_in_fit_and_predict(
    kind, says
):
    with pytest.raises(InputError, match=says):
        kind().fit(LOSSY[says], DATA.Y)
    with pytest.raises(InputError, match=says):
        MLTSKClassifier(0).fit(DATA.X, DATA.Y).predict(LOSSY[says])


LOSSY_LABELS = {
    "masked": np.ma.masked_array(DATA.Y, DATA.Y > 0),
    "complex": DATA.Y + 0j,
    "dates": DATA.Y.astype("M8[s]"),
}


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
@pytest.mark.parametrize("labels", LOSSY_LABELS)
def test_check_plain_refuses_labels_alike(kind, labels):
    with pytest.raises(InputError, match="y"):
        kind().fit(DATA.X, LOSSY_LABELS[labels])


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_check_plain_refuses_weights_alike(kind):
    weights = np.ma.masked_array(np.ones(40), np.arange(40) < 5)
    with pytest.raises(InputError, match="sample_weight is a masked array"):
        kind().fit(DATA.X, DATA.Y, weights)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, [0.5, np.nan]])
@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_fit_refuses_thresholds_that_are_not_finite(kind, threshold):
    with pytest.raises(ValueError, match=r"finite number|probability"):
        kind(threshold=threshold).fit(DATA.X, DATA.Y)


def test_fit_refuses_numbers_too_large_to_square_only_without_a_scale():
    X = DATA.X * 1e200
    with pytest.raises(InputError, match="too large for scale=None: take 'quantile'"):
        MLTSKClassifier(2, scale=None).fit(X, DATA.Y)
    assert np.isfinite(MLTSKClassifier(2).fit(X, DATA.Y).loo_scores_).all()


# numbers of any size ------------------------------------------------------------------


def test_mean_of_known_warns_of_nothing_where_all_is_missing():
    A = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])
    assert_array_equal(mean_of_known(A, axis=0), [1.5, np.nan])
    assert_array_equal(mean_of_known(A, axis=1), [1.0, 2.0, np.nan])


@pytest.mark.parametrize("are_duplicated", [False, True])
def test_weighted_mean_and_sd_of_csr_are_those_of_the_dense_array(are_duplicated):
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 6), density=0.2, rng=rng, format="csr")
    w = rng.integers(0, 3, 80).astype(float)
    expected = weighted_mean_and_sd(X.toarray(), w)
    if are_duplicated:  # each cell in two halves
        data = np.repeat(X.data / 2, 2)
        indices = np.repeat(X.indices, 2)
        X = sparse.csr_array((data, indices, 2 * X.indptr), shape=X.shape)
    assert_allclose(weighted_mean_and_sd(X, w), expected)
