"""Tensors give the numbers of arrays, wherever they lie; what would lose something on its way in is refused."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.core.arrays import (
    asnumpy,
    cast,
    is_tensor,
    namespace,
    row_blocks,
    unit_rows,
)
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap, fuzzy_features
from mltsk.core.membership import exponents, firing_strengths
from mltsk.core.terms import MAX_KNOTS, fit_scaling
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

torch = pytest.importorskip(
    "torch", reason="torch is not installed: tensors cannot be tested"
)

N, D, L, K = 160, 6, 5, 3


def same(array, tensor, atol=1e-10):
    assert is_tensor(tensor)
    assert_allclose(asnumpy(tensor), array, atol=atol, rtol=1e-10)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.9) + 3
    Y = (X @ rng.normal(size=(D, L)) + rng.normal(size=(N, L)) > 0).astype(float)
    return X, Y, rng.integers(1, 4, N).astype(float)


def both(*arrays):
    return arrays, [torch.as_tensor(a) for a in arrays]


def maps(data):
    X, Y, w = data
    C, S = X[:K], np.full((K, D), 5.0)
    return [FuzzyMap.of(x, c, s) for x, c, s in both(X, C, S)], both(Y, w)


def test_arrays_stay_with_numpy_and_torch_is_not_asked_for():
    code = "import sys, numpy as np, mltsk.core.fuzzymap as a; a.fuzzy_features(np.eye(3), np.eye(3), np.eye(3) + 1)"
    assert namespace(np.ones(2)) is np
    subprocess.run(
        [sys.executable, "-c", code + "; sys.exit('torch' in sys.modules)"], check=True
    )


def test_a_cast_keeps_what_fits():
    x = torch.ones(3, 2, device="cpu")
    assert cast(x, np.float64).dtype == torch.float64
    assert cast(x, np.float32) is x


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax"])
@pytest.mark.parametrize("n", [N, 3 * MAX_KNOTS])
def test_scaling(scale, n):
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [
            rng.lognormal(size=n),
            rng.integers(0, 3, n),
            np.full(n, 7.0),
            rng.normal(size=n),
        ]
    )
    w = rng.integers(0, 3, n).astype(float)
    (x, v), (tx, tv) = both(X, w)
    ours, theirs = fit_scaling(x, v, scale), fit_scaling(tx, tv, scale)
    for name in ("values", "levels", "offset", "spread"):
        assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-12)
    beyond = np.vstack([X, X.min(axis=0) - 1, X.max(axis=0) + 1])
    same(ours.apply(beyond), theirs.apply(torch.as_tensor(beyond)))
    same(
        ours.apply(beyond.astype(np.float32)),
        theirs.apply(torch.as_tensor(beyond, dtype=torch.float32)),
        atol=1e-6,
    )


def test_rows_of_unit_length(data):
    X = np.vstack([data[0], np.zeros(D)])
    same(unit_rows(X), unit_rows(torch.as_tensor(X)))


@pytest.mark.parametrize("underflow", ["softmax", "authors", "plain"])
@pytest.mark.parametrize("width", [5.0, 1e-9])
def test_membership(data, underflow, width):
    (X, C), (tX, tC) = both(data[0], data[0][:K])
    (S,), (tS,) = both(np.full((K, D), width) * np.arange(1, D + 1))
    same(
        firing_strengths(X, C, S, firing=underflow),
        firing_strengths(tX, tC, tS, firing=underflow),
    )
    same(
        fuzzy_features(X, C, S, underflow=underflow),
        fuzzy_features(tX, tC, tS, underflow=underflow),
    )
    assert_allclose(
        asnumpy(exponents(tX, tC, tS)), exponents(X, C, S), rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("fuzzifier", [1.0, 1.1, 2.0])
@pytest.mark.parametrize("init", ["spread", "random"])
def test_clustering(data, fuzzifier, init):
    found = [
        fuzzy_c_means(
            X, K, fuzzifier=fuzzifier, sample_weight=w, init=init, random_state=0
        )
        for X, w in both(data[0], data[2])
    ]
    assert found[0].n_iter == found[1].n_iter
    same(found[0].centers, found[1].centers, 1e-9)
    same(found[0].memberships, found[1].memberships, 1e-8)
    assert found[0].loss == pytest.approx(found[1].loss, rel=1e-10)
    X, w = torch.as_tensor(data[0]), torch.as_tensor(data[2])
    same(
        variances(data[0], found[0].centers, found[0].memberships, data[2]),
        variances(X, found[1].centers, found[1].memberships, w),
        1e-8,
    )


def test_the_map(data):
    rng = np.random.default_rng(2)
    (G, T), _ = maps(data)
    P, V = rng.normal(size=(G.shape[1], L)), rng.normal(size=(N, L))
    same(G @ P, T @ torch.as_tensor(P))
    same(G.transpose_matmul(V), T.transpose_matmul(torch.as_tensor(V)))
    same(G.rows(), T.rows())
    assert (
        len(list(row_blocks(N, 64 * 2**20, like=T.M.cpu()))) == N
    )  # on the host blocks are small


@pytest.mark.parametrize("kind", ["paper", None])
def test_coupling(data, kind):
    Y = data[1].copy()
    Y[:, 1] = 1  # a constant label
    (Y, w), (tY, tw) = both(Y, data[2])
    same(
        coupling_matrix(label_correlation(Y, w), kind),
        coupling_matrix(label_correlation(tY, tw), kind),
    )
    same(label_correlation(Y), label_correlation(tY))


# what comes in --------------------------------------------------------------------------------------------------------

DATA = make_multilabel_rules(n_samples=40, n_features=3, n_labels=2, random_state=0)
MASKED = np.ma.masked_array(DATA.X, DATA.X > 0.5)
DATES = (DATA.X * 1e9).astype("M8[s]")
LOSSY = {
    "is a masked array": MASKED,
    "dates or times": DATES,
    "dates or times:": DATES - DATES[0],
    "Complex data not supported": DATA.X + 1j,
    "Complex data": sparse.csr_array(DATA.X + 1j),
    "(dates or times|complex numbers)": pd.DataFrame(DATES),
}


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
@pytest.mark.parametrize("says", LOSSY)
def test_masks_dates_and_imaginary_parts_are_refused_in_a_fit_and_in_a_prediction(
    kind, says
):
    with pytest.raises(InputError, match=says):
        kind().fit(LOSSY[says], DATA.Y)
    with pytest.raises(InputError, match=says):
        MLTSKClassifier(0).fit(DATA.X, DATA.Y).predict(LOSSY[says])


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_labels_and_weights_are_refused_alike(kind):
    for y in (
        np.ma.masked_array(DATA.Y, DATA.Y > 0),
        DATA.Y + 0j,
        DATA.Y.astype("M8[s]"),
    ):
        with pytest.raises(InputError, match="y"):
            kind().fit(DATA.X, y)
    with pytest.raises(InputError, match="sample_weight is a masked array"):
        kind().fit(DATA.X, DATA.Y, np.ma.masked_array(np.ones(40), np.arange(40) < 5))


@pytest.mark.parametrize("threshold", [np.nan, np.inf, [0.5, np.nan]])
@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_thresholds_are_finite(kind, threshold):
    with pytest.raises(ValueError, match="finite number"):
        kind(threshold=threshold).fit(DATA.X, DATA.Y)


def test_numbers_too_large_to_square_are_refused_where_they_are_used_as_they_are():
    with pytest.raises(InputError, match="too large for scale=None: take 'quantile'"):
        MLTSKClassifier(2, scale=None).fit(DATA.X * 1e200, DATA.Y)
    assert np.isfinite(MLTSKClassifier(2).fit(DATA.X * 1e200, DATA.Y).loo_scores_).all()
