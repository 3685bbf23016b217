"""What the neural methods share: torch, devices, mini-batches, small nets, training.

NumPy draws everything random from ``random_state``, keeps a fitted net and applies it:
every device starts from the same numbers, torch's generators are left alone, and only
``fit`` needs torch. A net with one hidden layer of H units is two matrices with the
biases as their last rows, V (D+1, H) and W (H+1, L).
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
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from ...core.arrays import (
    Array,
    Matrix,
)
from ...core.threads import asked_threads
from ...exceptions import InputError, optional
from .base import MultilabelMethod, Trial, agreeing_except_in

# torch is optional, so its types are not imported.
Torch: TypeAlias = Any  # the module
Device: TypeAlias = Any  # torch.device, or None where NumPy computes
Tensor: TypeAlias = Any  # torch.Tensor, or a NumPy array where NumPy computes

# The module torch, or an ImportError which is the command that installs it.
load_torch: Callable[[], Torch] = partial(optional, "torch", "torch")


def torch_device(name: str) -> Device:
    """The torch device "cpu", "cuda" or "cuda:N".

    Any other name is refused, and so is a GPU that this machine does not have.
    """
    if not re.fullmatch(r"(cpu|cuda)(:\d+)?", name):
        raise InputError(
            'device must be None, "cpu", "cuda" or "cuda:N" with N a number, '
            f"got {name!r}."
        )
    torch = load_torch()
    device = torch.device(name)
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and (device.index or 0) >= n_gpus:
        raise InputError(
            f'device="{name}" was asked for, but torch finds no such GPU here: '
            'use device="cpu".'
        )
    return device


@contextmanager
def torch_threads() -> Iterator[None]:
    """Limit torch to MLTSK_THREADS threads for a while.

    The default is one thread: small nets are slower on two.
    """
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(asked_threads() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def first_layers(
    rng: np.random.RandomState, n_features: int, hidden: float, n_labels: int
) -> list[Array]:
    """V and W as training starts.

    Weights are uniform in ±sqrt(6 / (inputs + outputs)), biases 0 (Glorot). ``hidden``
    is a number of units, or a fraction of the features.
    """
    if isinstance(hidden, Integral):
        n_units = int(hidden)
    else:
        n_units = max(1, round(hidden * n_features))
    layers = []
    for shape in ((n_features, n_units), (n_units, n_labels)):
        bound = np.sqrt(6 / sum(shape))
        weights = rng.uniform(-bound, bound, shape)
        layers.append(np.vstack([weights, np.zeros((1, shape[1]))]))
    return layers


def with_complement(Y: Array) -> Array:
    """Y itself, or a single label next to its complement, as methods of pairs need."""
    return np.hstack([1 - Y, Y]) if Y.shape[1] == 1 else Y


def pair_share(Y: Array) -> Array:
    """1 / (relevant × irrelevant labels) of every row of Y (N, L), (N,).

    It is 0 where a row has no label or all labels, and so no pair.
    """
    relevant = Y.sum(axis=1)
    pairs = relevant * (Y.shape[1] - relevant)
    return np.divide(1.0, pairs, out=np.zeros(len(Y)), where=pairs > 0)


def batches(order: Any, size: int) -> list[Any]:
    """Consecutive pieces of an array or list, of at most ``size`` items each."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def views(vector: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
    """Matrices of these shapes, one after the other in the vector's memory."""
    ends = [0, *accumulate(map(prod, shapes))]
    matrices = []
    for (start, end), shape in zip(pairwise(ends), shapes, strict=True):
        matrices.append(vector[start:end].reshape(shape))
    return matrices


def split_layer(stacked: Tensor) -> tuple[Array, Array]:
    """Weights and biases as arrays of their own.

    ``stacked`` is a tensor on any device, whose last row holds the biases.
    """
    array = stacked.detach().cpu().numpy().astype(np.float64)
    return array[:-1].copy(), array[-1].copy()


def two_layers(
    X: Matrix, coefs: tuple[Array, ...], intercepts: tuple[Array, ...]
) -> Array:
    """Sums (N, L) of the second layer over tanh units of the first; X may be CSR."""
    return np.tanh(X @ coefs[0] + intercepts[0]) @ coefs[1] + intercepts[1]


@dataclass(eq=False, repr=False)
class NeuralMethod(MultilabelMethod):
    """Base of the methods that train a net: epochs, seeds, progress.

    Settings of a grid that differ in their epochs come from one run. A subclass has the
    parameter ``epochs`` and trains in ``_epochs``.
    """

    _needs_torch: ClassVar[bool] = True  # on a CPU, too
    _: KW_ONLY
    device: str = "cpu"
    progress: Callable[[int, int], object] | None = None
    random_state: Any = 0

    @abstractmethod
    def _epochs(self, X, Y, w, rng, device):
        """Go through the rows again and again, without an end.

        After each epoch a function is yielded, which returns the fitted attributes.
        """

    def _fitted(self, trials, X, Y, w):
        """Settings that differ in ``epochs`` alone come from one run, fewest first."""
        for same_run in agreeing_except_in(trials, "epochs"):
            params_at = {}
            for params, model in same_run:
                n_epochs = model.epochs or model._default_epochs(len(Y))
                params_at[n_epochs] = params
            model = same_run[0].model
            device = model._torch_device()
            rng = check_random_state(model.random_state)
            epochs = model._epochs(X, Y, w, rng, device)
            last = max(params_at)
            for epoch in range(1, last + 1):
                with nullcontext() if device is None else torch_threads():
                    state = next(epochs)
                if model.progress is not None:
                    model.progress(epoch, last)
                if epoch in params_at:
                    vars(model).update(state(), n_iter_=epoch)
                    yield Trial(params_at[epoch], model)

    def _torch_device(self):
        """Where torch trains, or None where NumPy does."""
        if self._needs_torch or self.device != "cpu":
            return torch_device(self.device)
        return None
