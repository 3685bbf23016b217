"""For tests in which tensors must give the numbers of arrays."""

import pytest
from numpy.testing import assert_allclose

from mltsk.core.arrays import asnumpy, is_tensor


@pytest.fixture
def torch():
    reason = "torch is not installed: tensors cannot be tested"
    return pytest.importorskip("torch", reason=reason)


def assert_tensor_equals(tensor, array, atol=1e-10):
    assert is_tensor(tensor)
    assert_allclose(asnumpy(tensor), array, atol=atol, rtol=1e-10)
