"""What the neural methods share: torch if it is there, seeds, devices, mini-batches, small nets, the training loop.

NumPy draws everything random from ``random_state``, keeps a fitted net and applies it: every device starts from the
same numbers, torch's generators are left alone, and only ``fit`` needs torch. A net with one hidden layer of H units
is two matrices with the biases as their last rows, V (D+1, H) and W (H+1, L).
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ...core.arrays import asked_threads
from ...exceptions import InputError, optional
from .base import MultilabelMethod, grouped

load_torch: Any = partial(
    optional, "torch", "torch"
)  # or an ImportError that is the command which installs it


def torch_device(name: str) -> Any:
    """The torch device "cpu", "cuda" or "cuda:N"; a sentence where there is none, or this machine has no usable GPU."""
    if not re.fullmatch(r"(cpu|cuda)(:\d+)?", name):
        raise InputError(
            f'device must be None, "cpu", "cuda" or "cuda:N" with N a number, got {name!r}.'
        )
    torch = load_torch()
    device = torch.device(name)
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and (device.index or 0) >= n_gpus:
        raise InputError(
            f'device="{name}" was asked for, but torch finds no such GPU here: use device="cpu".'
        )
    return device


@contextmanager
def torch_threads() -> Iterator[None]:
    """Limit torch to MLTSK_THREADS threads for a while, by default to one: small nets are slower on two."""
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(asked_threads() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def first_layers(
    rng: np.random.RandomState, n_features: int, hidden: float, n_labels: int
) -> list[np.ndarray]:
    """V and W as training starts: weights uniform in ±sqrt(6 / (inputs + outputs)), biases 0 (Glorot).

    ``hidden`` is a number of units, or a fraction of the features.
    """
    units, layers = (
        int(hidden)
        if isinstance(hidden, Integral)
        else max(1, round(hidden * n_features)),
        [],
    )
    for shape in ((n_features, units), (units, n_labels)):
        bound = np.sqrt(6 / sum(shape))
        layers.append(
            np.vstack([rng.uniform(-bound, bound, shape), np.zeros((1, shape[1]))])
        )
    return layers


def with_complement(Y: np.ndarray) -> np.ndarray:
    """Y itself, or a single label next to its complement: methods that compare labels in pairs need two of them."""
    return np.hstack([1 - Y, Y]) if Y.shape[1] == 1 else Y


def pair_share(Y: np.ndarray) -> np.ndarray:
    """1 / (relevant × irrelevant labels) of every row (N,); 0 where a row has no pair because it has none or all."""
    relevant = Y.sum(axis=1)
    pairs = relevant * (Y.shape[1] - relevant)
    return np.divide(1.0, pairs, out=np.zeros(len(Y)), where=pairs > 0)


def batches(order: Any, size: int) -> list[Any]:
    """Consecutive pieces of ``order``, an array of rows or a list, of at most ``size``."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def views(vector: Any, shapes: list[tuple[int, ...]]) -> list[Any]:
    """Matrices of these shapes, one after the other in the vector's memory."""
    ends = [0, *accumulate(map(prod, shapes))]
    return [
        vector[start:end].reshape(shape)
        for (start, end), shape in zip(pairwise(ends), shapes, strict=True)
    ]


def split_layer(stacked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases as arrays of their own, from a tensor on any device whose last row holds the biases."""
    array = stacked.detach().cpu().numpy().astype(np.float64)
    return array[:-1].copy(), array[-1].copy()


def two_layers(
    X: Any, coefs: tuple[np.ndarray, ...], intercepts: tuple[np.ndarray, ...]
) -> np.ndarray:
    """Second layer's sums (N, L) over tanh units of the first; X may be CSR."""
    return np.tanh(X @ coefs[0] + intercepts[0]) @ coefs[1] + intercepts[1]


@dataclass(eq=False, repr=False)
class NeuralMethod(MultilabelMethod):
    """Base of the methods that train a net: epochs, seeds, progress, and every epoch count of a grid in one run.

    A subclass has the parameter ``epochs`` and trains in ``_epochs``.
    """

    _needs_torch: ClassVar[bool] = True  # on a CPU, too
    _: KW_ONLY
    device: str = "cpu"
    progress: Callable[[int, int], object] | None = None
    random_state: Any = 0

    @abstractmethod
    def _epochs(self, X, Y, w, rng, device):
        """Go through the rows for ever; yield after each time what gives the fitted attributes by name when called."""

    def _fitted(self, pairs, X, Y, w):
        """Settings that differ in ``epochs`` alone come from one run, in the order of their epochs."""
        for same in grouped(pairs, "epochs".__ne__):
            wanted = {
                model.epochs or model._default_epochs(len(Y)): params
                for params, model in same
            }
            model, random = same[0][1], check_random_state(same[0][1].random_state)
            device = (
                torch_device(model.device)
                if model._needs_torch or model.device != "cpu"
                else None
            )
            epochs = model._epochs(X, Y, w, random, device)
            for epoch in range(1, max(wanted) + 1):
                with nullcontext() if device is None else torch_threads():
                    state = next(epochs)
                if model.progress is not None:
                    model.progress(epoch, max(wanted))
                if epoch in wanted:
                    vars(model).update(state(), n_iter_=epoch)
                    yield wanted[epoch], model
