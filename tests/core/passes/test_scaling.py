import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core import scaling as in_memory
from mltsk.core.passes.rows import Block, InMemory
from mltsk.core.passes.scaling import QUANTILES, fit_scaling


@pytest.fixture(params=[np.float64, np.float32])
def X(request):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=900), rng.lognormal(0, 4, 900), rng.integers(0, 5, 900), np.full(900, 0.25)]
    return np.column_stack([*columns, np.round(rng.normal(size=900), 2)]).astype(request.param)


def rows_of(X, w):
    cuts = np.split(np.arange(len(X)), [5, 300, 800])
    return InMemory([Block(X[c], X[c], w[c], i, c[0]) for i, c in enumerate(cuts)])


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax"])
@pytest.mark.parametrize("weights", ["ones", "whole", "any"])
def test_scales_are_those_of_rows_in_memory(X, scale, weights):
    rng = np.random.default_rng(1)
    w = {"ones": np.ones(900), "whole": rng.integers(1, 5, 900) * 1.0, "any": rng.uniform(0.1, 3, 900)}[weights]
    w = w.astype(X.dtype)
    found, quantiles = fit_scaling(rows_of(X, w), scale)
    expected = in_memory.fit_scaling(X, w, scale)
    rtol = 1e-12 if X.dtype == np.float64 else 1e-5
    for name in ("values", "levels", "offset", "spread"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, atol=rtol, err_msg=name)
    assert_allclose(quantiles, in_memory.column_quantiles(X, QUANTILES), rtol=rtol, atol=rtol)
