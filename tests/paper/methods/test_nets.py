"""What the neural methods share: torch left as it was, devices, first layers."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mltsk.exceptions import InputError
from mltsk.paper.methods.bp_mll import BPMLL
from mltsk.paper.methods.c2ae import C2AE
from mltsk.paper.methods.jbnn import JBNN
from mltsk.paper.methods.nets import (
    batches,
    first_layers,
    load_torch,
    pair_share,
    torch_device,
    torch_threads,
    views,
    with_complement,
)

NEURAL = [BPMLL(epochs=2), JBNN(epochs=2), C2AE(epochs=2, hidden=8, batch_size=16)]
by_method = pytest.mark.parametrize("method", NEURAL, ids=lambda m: type(m).__name__)


def toy():
    rng = np.random.default_rng(0)
    X = rng.random((40, 5))
    return X, (X @ rng.normal(size=(5, 3)) > 0.4).astype(int)


@pytest.mark.parametrize(
    "method",
    [*NEURAL[:2], C2AE(device="cuda")],
    ids=["BPMLL", "JBNN", "C2AE on a GPU"],
)
def test_fit_without_torch_says_what_to_install(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[torch\]"$'):
        method.fit(*toy())


@by_method
def test_predict_proba_needs_no_torch(monkeypatch, method):
    pytest.importorskip("torch")
    X, Y = toy()
    expected = method.fit(X, Y).predict_proba(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(method.predict_proba(X), expected)


@by_method
def test_fit_leaves_torch_as_it_was(method):
    torch = pytest.importorskip("torch")
    state = torch.random.get_rng_state()
    threads = torch.get_num_threads()
    method.fit(*toy())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@by_method
def test_grid_path_leaves_torch_as_it_was_between_points(method):
    torch = pytest.importorskip("torch")
    X, Y = toy()
    path = method.grid_path(X, Y, X, {"epochs": [1, 2]})
    next(path)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@by_method
def test_fit_reports_the_progress_of_epochs(method):
    pytest.importorskip("torch")
    seen = []
    watched = clone(method).set_params(progress=lambda *step: seen.append(step))
    watched.fit(*toy())
    assert seen == [(1, 2), (2, 2)]


def test_torch_device_refuses_a_gpu_that_is_not_there(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match='use device="cpu"'):
        torch_device("cuda")


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:one", ""])
def test_torch_device_refuses_other_names(name):
    with pytest.raises(InputError, match='"cpu", "cuda" or "cuda:N"'):
        torch_device(name)


def test_torch_threads_follow_the_environment(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("MLTSK_THREADS", "3")
    before = torch.get_num_threads()
    with torch_threads():
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_load_torch_gives_the_module():
    assert load_torch() is pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("hidden", "n_units"), [(0.25, 2), (0.01, 1), (7, 7), (np.int64(1), 1)]
)
def test_first_layers_have_a_number_of_units_or_a_fraction(hidden, n_units):
    V, _ = first_layers(np.random.RandomState(0), 10, hidden, 3)
    assert V.shape == (11, n_units)


def test_first_layers_stay_in_their_bounds_with_zero_biases():
    V, W = first_layers(np.random.RandomState(0), 50, 10, 4)
    assert V.shape == (51, 10)
    assert W.shape == (11, 4)
    assert 0.25 < np.abs(V[:-1]).max() <= np.sqrt(0.1)
    assert not V[-1].any()


def test_with_complement_adds_to_a_single_label_only():
    Y = np.array([[1.0, 0.0]])
    assert with_complement(Y) is Y
    assert_array_equal(with_complement(Y[:, :1]), [[0, 1]])


def test_pair_share_is_zero_without_pairs():
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
    assert_array_equal(pair_share(Y), [0.25, 0, 0])


def test_batches_cover_the_order_once():
    order = np.array([4, 2, 0, 1, 3])
    pieces = [piece.tolist() for piece in batches(order, 2)]
    assert pieces == [[4, 2], [0, 1], [3]]


def test_views_share_the_memory_of_the_vector():
    vector = np.arange(7.0)
    first, second = views(vector, [(2, 2), (1, 3)])
    assert_array_equal(first, [[0, 1], [2, 3]])
    second[:] = -1
    assert_array_equal(vector, [0, 1, 2, 3, -1, -1, -1])
