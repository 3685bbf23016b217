"""The functions of NumPy for tensors."""

import numpy as np

from mltsk.core.arrays import namespace

from .conftest import assert_tensor_equals


def test_namespace_of_tensors_makes_arrays_where_a_tensor_lies(torch):
    x = torch.ones(3, 2, dtype=torch.float32)
    xp = namespace(np.ones(2), x)
    assert_tensor_equals(xp.zeros((2, 2), like=x), np.zeros((2, 2)))
    assert xp.ones(2, dtype=x.dtype, like=x).dtype == torch.float32
    assert xp.result_type(x, np.dtype(np.float64)) == torch.float64
    assert_tensor_equals(xp.maximum(x, 2.0), np.full((3, 2), 2.0))


def test_tensors_repeat_and_find_what_arrays_do(torch):
    X = np.array([[0.0, 2.0], [3.0, 0.0]])
    x = torch.as_tensor(X)
    xp = namespace(x)
    count = xp.asarray([2, 1], like=x)
    assert_tensor_equals(xp.repeat(x, count, axis=1), np.repeat(X, [2, 1], axis=1))
    assert xp.flatnonzero(x).tolist() == np.flatnonzero(X).tolist()
    assert xp.arange(3, like=x).tolist() == [0, 1, 2]
