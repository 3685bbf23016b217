"""The functions of NumPy that the core uses, for torch tensors.

`arrays.namespace` returns them in place of NumPy where a tensor comes in. This module
never imports torch itself: it gets torch from `arrays`, once a tensor exists.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

# A torch tensor. Torch is optional, so its type cannot be named here.
Tensor: TypeAlias = Any


class Tensors:
    """The functions of NumPy that the core uses, for torch tensors.

    A function that torch has in the same form is torch's own.
    """

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._torch, name)
        if name in ("empty", "zeros", "ones"):
            return partial(self._new, function)
        return function

    def _new(
        self,
        make: Callable[..., Tensor],
        shape: int | tuple[int, ...],
        dtype: DTypeLike = np.float64,
        *,
        like: Tensor,
    ) -> Tensor:
        """Make a new tensor on the device of ``like``."""
        return make(shape, dtype=self.dtype(dtype), device=like.device)

    def dtype(self, dtype: Any) -> Any:
        """The type of torch for a type of torch or of NumPy."""
        if isinstance(dtype, self._torch.dtype):
            return dtype
        return getattr(self._torch, np.dtype(dtype).name)

    def result_type(self, *operands: Any) -> Any:
        """The type of a result of these tensors or types."""
        dtypes = [self.dtype(getattr(x, "dtype", x)) for x in operands]
        return reduce(self._torch.promote_types, dtypes)

    def asarray(
        self,
        x: Tensor | NDArray[Any],
        dtype: DTypeLike | None = None,
        like: Tensor | None = None,
    ) -> Tensor:
        """Convert x to a tensor on the device of ``like``."""
        if dtype is not None:
            dtype = self.dtype(dtype)
        # the device is always named, so that a default device of torch moves nothing
        device = getattr(x if like is None else like, "device", None)
        return self._torch.as_tensor(x, dtype=dtype, device=device)

    def arange(self, n: int, *, like: Tensor) -> Tensor:
        """The integers from 0 to n - 1 on the device of ``like``."""
        return self._torch.arange(n, device=like.device)

    def maximum(self, a: Tensor, b: Tensor | float) -> Tensor:
        """The larger of two tensors, or of a tensor and a number, cell by cell."""
        is_tensor = isinstance(b, self._torch.Tensor)
        return self._torch.maximum(a, b) if is_tensor else a.clamp(min=b)

    def repeat(self, a: Tensor, count: Tensor, axis: int) -> Tensor:
        """Repeat each slice of ``a`` along an axis as often as ``count`` says."""
        return self._torch.repeat_interleave(a, count, dim=axis)

    def fill_diagonal(self, A: Tensor, value: float) -> None:
        """Write a value onto the diagonal of A, in place."""
        A.fill_diagonal_(value)

    def flatnonzero(self, x: Tensor) -> Tensor:
        """Positions of the entries of x that are not 0."""
        return self._torch.nonzero(x.reshape(-1))[:, 0]
