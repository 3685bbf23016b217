"""The tests of tensors with all tensors on the GPU.

Run ``python -m benchmarks.gpu.tests_on_device``. Elsewhere the same tests run on the
host's memory; nothing in them says where tensors lie.
"""

import sys

import pytest
import torch

TESTS = (
    "tests/contract/test_estimators.py",
    "tests/core/test_arrays.py",
    "tests/core/test_terms.py",
    "tests/metrics/test_ranking.py",
    "tests/paper/solvers/test_algorithm1_batch.py",
    "tests/rows/test_read.py",
    "tests/test_incremental.py",
    "tests/test_system.py",
)

if __name__ == "__main__":
    torch.set_default_device("cuda")
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *TESTS]))
