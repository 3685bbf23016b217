import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.passes.antecedents import fit_antecedents, fuzzy_c_means
from mltsk.core.passes.rows import Block, InMemory
from mltsk.paper import antecedents as in_memory

N, D = 400, 4


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)) + 3 * rng.integers(0, 3, (N, 1)) + 50, rng.uniform(0.5, 2, N)


def rows_of(X, w):
    cuts = np.split(np.arange(N), [30, 170, 390])
    return InMemory([Block(X[c], X[c], w[c], i, c[0]) for i, c in enumerate(cuts)])


@pytest.mark.parametrize("widths", ["common", "variance"])
@pytest.mark.parametrize(("fuzzifier", "init"), [(1.0, "spread"), (2.0, "spread"), (1.3, "random")])
def test_rules_are_those_of_rows_in_memory(data, widths, fuzzifier, init):
    options = {"fuzzifier": fuzzifier, "init": init, "random_state": 4, "rtol": 1e-5}
    expected = in_memory.fit_antecedents(*data, 6, width_scale=None, widths=widths, **options)
    rows = rows_of(*data)
    clustering = fuzzy_c_means(rows, (N, D), 6, **options)
    found = fit_antecedents(rows, (N, D), clustering, width_scale=None, widths=widths)
    assert found.n_iter == expected.n_iter
    for name in ("centers", "widths", "width_scale"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, err_msg=name)


def test_given_centres_are_the_start(data):
    start = data[0][:3]
    one = fuzzy_c_means(rows_of(*data), (N, D), 3, fuzzifier=1.0, init=start, max_iter=1)
    expected = in_memory.fuzzy_c_means(data[0], 3, fuzzifier=1.0, sample_weight=data[1], init=start, max_iter=1)
    assert_allclose(one.centers, expected.centers)


def test_an_unknown_start_is_refused(data):
    with pytest.raises(ValueError, match="init must be"):
        fuzzy_c_means(rows_of(*data), (N, D), 3, fuzzifier=1.0, init="first")
