"""Which device is meant, and one clear sentence where it cannot be had."""

import sys

import numpy as np
import pytest
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.scale import torch as place

torch = pytest.importorskip("torch", reason="torch is not installed: devices cannot be tested")


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "mps", ""])
def test_an_unknown_device_is_refused(name):
    with pytest.raises(InputError, match='device must be None, "cpu", "cuda" or "cuda:N"'):
        place.find_device(name)


def test_no_torch_is_one_sentence_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r'needs torch: pip install "mltsk\[gpu\]"'):
        place.find_device("cuda")


def test_no_gpu_is_one_sentence(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="sees no CUDA device here"):
        place.find_device("cuda")


def test_a_gpu_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert place.find_device("cuda:0") == torch.device("cuda:0")
    with pytest.raises(InputError, match="only 1 CUDA devices"):
        place.find_device("cuda:1")


def test_arrays_go_where_they_are_sent_and_sparse_ones_are_refused():
    (t,) = place.to_device("cpu", np.ones((2, 2), dtype=np.float32))
    assert t.dtype == torch.float32
    with pytest.raises(InputError, match="X is sparse"):
        place.to_device("cpu", sparse.csr_array(np.eye(2)))


def test_a_tensor_elsewhere_is_not_moved_unasked(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    place.require_device("cpu", torch.ones(2, 2, device="cpu"))
    with pytest.raises(InputError, match="X lies on cpu but device='cuda'"):
        place.require_device("cuda", torch.ones(2, 2, device="cpu"))
    with pytest.raises(InputError, match="sparse tensor"):
        place.require_device(None, torch.eye(2).to_sparse())
