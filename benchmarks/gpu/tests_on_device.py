"""The tests of tensors with all tensors on the GPU: ``python -m benchmarks.gpu.tests_on_device``.

Elsewhere the same tests run on the host's memory; nothing in them says where tensors lie.
"""

import sys

import pytest
import torch

TESTS = (
    "tests/core/test_backend.py",
    "tests/test_classifier.py",
    "tests/metrics/test_ranking.py",
    "tests/paper/solvers/test_algorithm1_batch.py",
)

if __name__ == "__main__":
    torch.set_default_device("cuda")
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *TESTS]))
