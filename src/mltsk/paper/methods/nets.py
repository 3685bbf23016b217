"""What the neural methods share: torch if it is there, seeds, devices, mini-batches, small nets, the training loop.

Everything random (first weights, order of rows) is drawn by NumPy from ``random_state``: torch's own generators are
neither read nor changed, and every device starts from the same numbers. A fitted net is kept as NumPy arrays and
applied by NumPy, so predictions, pickles and model files need no torch; only ``fit`` does.

A net with one hidden layer of H units is two matrices with the biases as their last rows, V (D+1, H) and W (H+1, L).
"""

import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from ...core.threads import asked_threads
from ...exceptions import InputError
from .base import MultilabelMethod, grouped

INSTALL = 'pip install "mltsk[deep]"'
HIDDEN = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")]


def load_torch() -> Any:
    """The torch module, or an ImportError that is the command which installs it."""
    try:
        import torch
    except ImportError:
        raise ImportError(INSTALL) from None
    return torch


def torch_device(name: str) -> Any:
    """The torch device "cpu", "cuda" or "cuda:N"; a sentence where there is none, or this machine has no usable GPU.

    Examples
    --------
    >>> torch_device("cpu").type
    'cpu'
    """
    if not re.fullmatch(r"(cpu|cuda)(:\d+)?", name):
        raise InputError(f'device must be None, "cpu", "cuda" or "cuda:N" with N a number, got {name!r}.')
    torch = load_torch()
    device = torch.device(name)
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and (device.index or 0) >= n_gpus:
        raise InputError(f'device="{name}" was asked for, but torch finds no such GPU here: use device="cpu".')
    return device


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Limit torch to MLTSK_THREADS threads, or to ``threads`` where that is not set, and restore its number afterwards.

    Nets of a few dozen units are slower on two threads than on one.
    """
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(asked_threads() or threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def hidden_units(hidden: float, n_features: int) -> int:
    """A whole number of units as it is, a fraction of the features rounded, at least one."""
    return int(hidden) if isinstance(hidden, Integral) else max(1, round(hidden * n_features))


def glorot(rng: np.random.RandomState, fan_in: int, fan_out: int) -> np.ndarray:
    """First weights (fan_in + 1, fan_out) of a tanh layer, uniform in ±sqrt(6 / (fan_in + fan_out)); biases 0, last."""
    bound = math.sqrt(6 / (fan_in + fan_out))
    return np.vstack([rng.uniform(-bound, bound, (fan_in, fan_out)), np.zeros((1, fan_out))])


def with_complement(Y: np.ndarray) -> np.ndarray:
    """Y itself, or a single label next to its complement: methods that compare labels in pairs need two of them."""
    return np.hstack([1 - Y, Y]) if Y.shape[1] == 1 else Y


def pair_share(Y: np.ndarray) -> np.ndarray:
    """1 / (relevant × irrelevant labels) of every row (N,); 0 where a row has no pair because it has none or all."""
    relevant = Y.sum(axis=1)
    pairs = relevant * (Y.shape[1] - relevant)
    return np.divide(1.0, pairs, out=np.zeros(len(Y)), where=pairs > 0)


def batches(order: np.ndarray, size: int) -> list[np.ndarray]:
    """Consecutive pieces of ``order`` of at most ``size`` rows."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def dense_rows(X: Any, rows: np.ndarray) -> np.ndarray:
    """Rows of an array or a CSR matrix as an array: only a mini-batch of sparse data is ever dense."""
    return X[rows].toarray() if sparse.issparse(X) else X[rows]


def split_layer(stacked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases as arrays of their own, from a tensor on any device whose last row holds the biases."""
    array = stacked.detach().cpu().numpy().astype(np.float64)
    return array[:-1].copy(), array[-1].copy()


def two_layers(X: Any, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray]) -> np.ndarray:
    """Second layer's sums (N, L) over tanh units of the first; X may be CSR."""
    return np.tanh(X @ coefs[0] + intercepts[0]) @ coefs[1] + intercepts[1]


class NeuralMethod(MultilabelMethod):
    """Base of the methods that train a net: epochs, seeds, progress, and every epoch count of a grid in one run.

    A subclass has the parameters ``epochs``, ``device``, ``progress`` and ``random_state``, and makes a trainer, an
    object with the methods ``epoch()``, which goes through the rows once, and ``state()``, which gives the fitted
    attributes by name as they are now. Rows of weight 0 are left out before anything is drawn.
    """

    _takes_weights: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True

    @abstractmethod
    def _trainer(self, X, Y, w, rng, device):
        """A trainer of the method's net for these rows."""

    def _fit(self, X, Y, w):
        for _, state in self._states(X, Y, w, [self._epoch_count(np.count_nonzero(w))]):
            vars(self).update(state)

    def _device(self):
        return torch_device(self.device)

    def _limited(self):
        return torch_threads(1)

    def _epoch_count(self, n_rows):
        return self.epochs

    def _states(self, X, Y, w, wanted) -> Iterator[tuple[int, dict]]:
        """The state after each of the numbers of epochs wanted, from one run."""
        device, used = self._device(), np.flatnonzero(w > 0)
        trainer = self._trainer(X[used], Y[used], w[used], check_random_state(self.random_state), device)
        for epoch in range(1, max(wanted) + 1):
            with self._limited():
                trainer.epoch()
            if self.progress is not None:
                self.progress(epoch, max(wanted))
            if epoch in wanted:
                yield epoch, {"n_iter_": epoch} | trainer.state()

    def _path(self, pairs, X, Y, w, X_test):
        """Settings that differ in ``epochs`` alone come from one run, in the order of their epochs."""
        for same in grouped(pairs, "epochs".__ne__):
            params, (_, model) = {m._epoch_count(np.count_nonzero(w)): own for own, m in same}, same[0]
            for epochs, state in model._states(X, Y, w, params):
                vars(model).update(state)
                yield model._point(params[epochs], model._scores(X_test))
