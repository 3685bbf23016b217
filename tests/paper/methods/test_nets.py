import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

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
    with_complement,
)

METHODS = [BPMLL(epochs=2), JBNN(epochs=2), C2AE(epochs=2, hidden=8, batch_size=16)]
by_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)


def toy():
    rng = np.random.default_rng(0)
    X = rng.random((40, 5))
    return X, (X @ rng.normal(size=(5, 3)) > 0.4).astype(int)


@pytest.mark.parametrize(
    "method",
    [*METHODS[:2], C2AE(device="cuda")],
    ids=["BPMLL", "JBNN", "C2AE on a GPU"],
)
def test_fit_without_torch_says_what_to_install(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[torch\]"$'):
        method.fit(*toy())


@by_method
def test_a_fitted_model_predicts_without_torch(monkeypatch, method):
    pytest.importorskip("torch")
    X, Y = toy()
    expected = method.fit(X, Y).predict_proba(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(method.predict_proba(X), expected)


@by_method
def test_training_leaves_torch_as_it_was(method):
    torch = pytest.importorskip("torch")
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    method.fit(*toy())
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@by_method
def test_a_suspended_grid_leaves_torch_as_it_was(method):
    torch = pytest.importorskip("torch")
    X, Y = toy()
    path = method.grid_path(X, Y, X, {"epochs": [1, 2]})
    next(path)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@by_method
def test_progress_counts_epochs(method):
    pytest.importorskip("torch")
    seen = []
    type(method)(
        **method.get_params() | {"progress": lambda *step: seen.append(step)}
    ).fit(*toy())
    assert seen == [(1, 2), (2, 2)]


def test_a_gpu_that_is_not_there_is_a_sentence(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match='use device="cpu"'):
        torch_device("cuda")


def test_threads_follow_the_environment(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("MLTSK_THREADS", "3")
    before = torch.get_num_threads()
    with torch_threads():
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_load_torch_gives_the_module():
    assert load_torch() is pytest.importorskip("torch")


def test_hidden_units_are_a_number_or_a_fraction():
    rng = np.random.RandomState(0)
    assert [
        first_layers(rng, 10, hidden, 3)[0].shape[1]
        for hidden in (0.25, 0.01, 7, np.int64(1))
    ] == [2, 1, 7, 1]


def test_first_weights_stay_in_their_bounds_with_zero_biases():
    V, W = first_layers(np.random.RandomState(0), 50, 10, 4)
    assert (V.shape, W.shape) == ((51, 10), (11, 4))
    assert 0.25 < np.abs(V[:-1]).max() <= np.sqrt(0.1)
    assert not V[-1].any()


def test_complement_is_added_to_a_single_label_only():
    Y = np.array([[1.0, 0.0]])
    assert with_complement(Y) is Y
    assert_array_equal(with_complement(Y[:, :1]), [[0, 1]])


def test_pair_share_is_zero_without_pairs():
    assert_array_equal(
        pair_share(np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])), [0.25, 0, 0]
    )


def test_batches_cover_the_order_once():
    order = np.array([4, 2, 0, 1, 3])
    assert [piece.tolist() for piece in batches(order, 2)] == [[4, 2], [0, 1], [3]]
