"""The three protocols: which rows train, which test, and on which rows features are scaled; all functions of a seed.

`paper` is what the authors did: features scaled, and rules clustered, on all rows before the split; one random
permutation cut into slices of ceil(n / 5) rows, for ML-TSK FS a new one for every number of rules and width. Under
`strict` and `nested` everything is fitted inside the training rows, and folds are stratified; `nested` chooses settings
on inner folds of the training rows, the others on the folds that are reported.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.scaling import fit_scaling
from ...exceptions import InputError
from .cross_validation import Fold
from .stratification import IterativeStratification


def sliced_folds(n: int, n_splits: int = 5, seed: "int | tuple[int, ...]" = 0) -> list[Fold]:
    """Folds as the authors cut them: a permutation in slices of ceil(n / n_splits) rows, the last one shorter.

    Examples
    --------
    >>> [len(test) for _, test in sliced_folds(11, 4)]
    [3, 3, 3, 2]
    """
    size = -(-n // n_splits)
    if n_splits < 2 or size * (n_splits - 1) >= n:
        raise InputError(f"{n_splits} slices of {size} rows cannot be cut from {n} rows: take fewer folds.")
    order = np.random.default_rng(seed).permutation(n)
    tests = [np.sort(order[i * size : (i + 1) * size]) for i in range(n_splits)]
    return [(np.setdiff1d(order, test), test) for test in tests]


def minmax(X: Any, fit_on: Any) -> Any:
    """X with every feature scaled by the range that it has on the rows ``fit_on``.

    Sparse X stays sparse: where 0 is a feature's least value the scale is a division. A feature that is constant on
    those rows stays as it is, as in the authors' program.
    """
    if not sparse.issparse(X):
        return fit_scaling(fit_on, np.ones(len(fit_on)), "minmax").apply(X)
    low, high = (np.asarray(getattr(fit_on, which)(axis=0).toarray()).ravel() for which in ("min", "max"))
    if (low < 0).any() or ((low > 0) & (high > low)).any():
        raise InputError("Sparse features with a least value other than 0 cannot be scaled to [0, 1] and stay sparse.")
    return sparse.csr_array(X @ sparse.diags_array(1 / np.where(high > low, high, 1.0)))


@lru_cache(maxsize=8)
def _stratified(labels: bytes, n: int, n_splits: int, seed: int) -> list[Fold]:
    """Stratified folds, found once per process: bibtex takes seconds."""
    Y = np.frombuffer(labels, dtype=np.int8).reshape(n, -1)
    return list(IterativeStratification(n_splits, random_state=seed).split(Y, Y))


def outer_fold(protocol: str, Y: NDArray[Any], n_splits: int, seed: int, fold: int) -> Fold:
    """Training and test rows of one reported fold."""
    if protocol == "paper":
        return sliced_folds(len(Y), n_splits, seed)[fold]
    return _stratified(Y.astype(np.int8).tobytes(), len(Y), n_splits, seed)[fold]


def inner_fold(Y: NDArray[Any], outer: Fold, n_splits: int, seed: int, fold: int) -> Fold:
    """Training and test rows of one inner fold, as rows of the whole data."""
    train = outer[0]
    fit, check = outer_fold("nested", Y[train], n_splits, seed, fold)
    return train[fit], train[check]
