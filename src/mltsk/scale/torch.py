"""GPUs through torch: which device is meant, what goes there, and what comes back.

The mathematics runs on tensors as it does on arrays (`mltsk.core.backend`); here is what it must not know: that torch
may be missing, that a machine may have no GPU, and that a fitted system is NumPy arrays that must follow its samples.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..core.backend import is_tensor, put
from ..core.system import FuzzySystem
from ..exceptions import InputError


def find_device(name: str) -> Any:
    """The torch.device that ``name`` means ("cuda" or "cuda:1", say), or `InputError` with what to do.

    Examples
    --------
    >>> find_device("gpu")
    Traceback (most recent call last):
    mltsk.exceptions.InputError: device must be None, "cpu", "cuda" or "cuda:N" with N a number, got 'gpu'.
    """
    kind, _, index = name.partition(":")
    if kind not in ("cpu", "cuda") or (index and not index.isdigit()) or name.endswith(":"):
        raise InputError(f'device must be None, "cpu", "cuda" or "cuda:N" with N a number, got {name!r}.')
    try:
        import torch
    except ImportError:
        raise InputError(f'device={name!r} needs torch: pip install "mltsk[gpu]", or take device=None.') from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"device={name!r}, but torch {torch.__version__} sees no CUDA device here: install a build of torch with "
            "CUDA and check nvidia-smi, or take device=None."
        )
    if kind == "cuda" and int(index or 0) >= torch.cuda.device_count():
        raise InputError(
            f"device={name!r}, but there are only {torch.cuda.device_count()} CUDA devices, from cuda:0 on."
        )
    return torch.device(name)


def moves_arrays(device: str | None) -> bool:
    """Whether NumPy arrays go to a device: "cpu" and None leave them with NumPy, which needs no torch."""
    return device is not None and device != "cpu"


def to_device(device: str, *arrays: Any) -> tuple[Any, ...]:
    """NumPy arrays as tensors on a named device; sparse ones are refused with a sentence."""
    where = find_device(device)
    import torch

    if any(sparse.issparse(a) for a in arrays):
        raise InputError(
            f"X is sparse, which device={device!r} does not compute with: pass X.toarray() where the device's memory "
            "holds it, or take device=None, whose sparse products pass over the stored entries alone."
        )
    return tuple(torch.as_tensor(np.ascontiguousarray(a), device=where) for a in arrays)


def require_device(device: str | None, X: Any) -> None:
    """Refuse a tensor that lies elsewhere than ``device`` says: nothing is moved unasked."""
    import torch

    if X.layout != torch.strided:
        raise InputError("X is a sparse tensor, which is not computed with: pass X.to_dense(), or a SciPy CSR matrix.")
    if device is None:
        return
    wanted = find_device(device)
    if X.device.type != wanted.type or (wanted.index is not None and X.device.index != wanted.index):
        raise InputError(
            f"X lies on {X.device} but device={device!r}: tensors are computed with where they lie, so pass "
            f"X.to({device!r}) or take device=None."
        )


def system_beside(system: FuzzySystem, X: Any) -> tuple[FuzzySystem, Any]:
    """A fitted system as tensors beside the samples X, and X in the precision that both have together, as in NumPy."""
    if not is_tensor(X):
        return system, X
    import torch

    common = torch.promote_types(X.dtype, torch.as_tensor(system.coef[:0]).dtype)
    X = X.to(common)
    arrays = {name: put(np.asarray(getattr(system, name)), X) for name in ("centers", "widths", "coef")}
    return replace(system, **arrays), X
