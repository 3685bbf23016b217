"""MATLAB files as authors of multi-label data publish them: which variable is what, and which way round.

What is looked for, in any mixture of capitals:

    features    data, X, features, fea
    labels      target, targets, Y, labels, label
    in parts    train_data + train_target + test_data + test_target, also Xtrain, X_train, trainX and so on:
                stacked, training rows first, and the split is kept

Which way round: MLC_toolbox stores features as (n, D) and labels as (L, n). Labels are turned when only their second
axis has the length of the features' first; both are turned when only the second axes agree. Labels are 0/1; -1/+1 are
refused, as in every file of one's own, unless the reader is told of them.
Numbers are read as MATLAB means them: integers in a file are only its storage compression.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from mltsk.core.arrays import dense, is_sound
from mltsk.exceptions import InputError
from mltsk.limits import isolated

from .dataset import Dataset
from .npz import layout, read_arrays

FEATURES = ("data", "x", "features", "fea")
LABELS = ("target", "targets", "y", "labels", "label")
PART_NAMES = ("{0}_{1}", "{1}_{0}", "{0}{1}", "{1}{0}")


def read_mat(
    path: str | Path, labels: object = None, *, signed: bool = False
) -> Dataset:
    """Read a multi-label data set from a MATLAB file (up to version 7).

    Parameters
    ----------
    path : str or Path
    labels : str, optional
        The variable that holds the labels, where it has an unusual name.
    signed : bool
        Whether labels may also be -1 and 1, which means no and yes.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> from mltsk.datasets import read_mat
    >>> file = tempfile.mkdtemp() + "/toy.mat"
    >>> savemat(file, {"data": np.zeros((4, 2)), "target": np.array([[1, 0, 1, 0]])})
    >>> read_mat(file)
    Dataset('toy': 4 samples, 2 features, 1 labels, cardinality 0.500, density 0.500)
    """
    path = Path(path)
    if not isinstance(labels, str | None):
        raise InputError(
            f"{path}: in a MATLAB file, labels are given as the name of a variable."
        )
    if not path.is_file():
        raise InputError(f"{path} cannot be read: there is no such file.")
    job = "mltsk.datasets.mat:unpack"
    with isolated(
        job,
        path,
        labels or "",
        "signed" * signed,
        what="MATLAB file",
        library="scipy.io",
    ) as file:
        return read_arrays(file, path)


def unpack(path: Path, out: IO[bytes], labels: str = "", signed: str = "") -> None:
    """Write the data set of a MATLAB file as NPZ; SciPy's reader follows damaged files out of its memory."""
    from scipy.io import loadmat, whosmat  # 0.1 s of import that nobody else needs

    try:
        pairs = _pairs({name: shape for name, shape, _ in whosmat(path)}, labels, path)
        variables = loadmat(
            path,
            mat_dtype=True,
            variable_names=[name for pair in pairs for name in pair],
        )
    except NotImplementedError:
        raise InputError(
            f"{path} is a MATLAB 7.3 (HDF5) file: save it again with save('-v7', …)."
        ) from None
    if not all(
        is_sound(sparse.csc_array(matrix))
        for matrix in variables.values()
        if sparse.issparse(matrix)
    ):
        raise ValueError(
            "the parts of a sparse matrix do not fit each other"
        )  # SciPy takes them as they are
    parts = [
        _oriented(variables[x], variables[y], x, y, path, bool(signed))
        for x, y in pairs
    ]
    if len({(X.shape[1], Y.shape[1]) for X, Y in parts}) > 1:
        raise InputError(
            f"{path}: training and test part have different numbers of features or labels."
        )
    stack = sparse.vstack if any(sparse.issparse(X) for X, _ in parts) else np.vstack
    X, Y = stack([X for X, _ in parts]), np.vstack([Y for _, Y in parts])
    split = (
        np.repeat([0, 1], [X.shape[0] for X, _ in parts]) if len(parts) == 2 else None
    )
    np.savez(
        out, **layout(Dataset(X, Y, name=path.stem, split=split, source=str(path)))
    )


def _pairs(shapes: Mapping[str, Any], labels: str, path: Path) -> list[tuple[str, str]]:
    """The variables to read, features with labels: one pair, or a training and a test pair."""
    names = {name.lower(): name for name in shapes}

    def find(kind: Sequence[str], part: str) -> str:
        forms = [
            form.format(part, word)
            for word in kind
            for form in (PART_NAMES if part else ("{1}",))
        ]
        return next((names[form] for form in forms if form in names), "")

    wanted = (labels.lower(),) if labels else LABELS
    whole, *parts = [
        (find(FEATURES, part), find(wanted, part)) for part in ("", "train", "test")
    ]
    if all(whole) or (not labels and all(map(all, parts))):
        return [whole] if all(whole) else parts
    held = ", ".join(
        f"{name} {'×'.join(map(str, shape))}"
        for name, shape in list(shapes.items())[:10]
    )
    missing = "labels" if whole[0] else "features"
    raise InputError(
        f"{path} has no variable that looks like {missing}; it holds {held or 'nothing'}."
    )


def _oriented(
    X: Any, Y: Any, x: str, y: str, path: Path, signed: bool
) -> tuple[Any, Any]:
    Y = dense(Y)
    if (
        getattr(X, "ndim", 0) != 2
        or Y.ndim != 2
        or X.dtype.kind not in "biuf"
        or Y.dtype.kind not in "biuf"
    ):
        raise InputError(f"{path}: {x} and {y} are not matrices of numbers.")
    if X.shape[0] != Y.shape[0]:
        if X.shape[0] != Y.shape[1] and X.shape[1] == Y.shape[1]:
            X = X.T
        if X.shape[0] != Y.shape[1]:
            sizes = (
                f"{x} is {X.shape[0]}×{X.shape[1]}, {y} is {Y.shape[0]}×{Y.shape[1]}"
            )
            raise InputError(
                f"{path}: {sizes}: no axis of the labels counts the samples."
            )
        Y = Y.T
    found = np.unique(Y)
    if not (np.isin(found, (0, 1)).all() or (signed and np.isin(found, (-1, 1)).all())):
        shown = ", ".join(f"{value:g}" for value in found[:5])
        raise InputError(
            f"{path}: {y} holds {shown}; labels are 0 and 1, as {y} > 0 makes them in MATLAB."
        )
    return X, Y > 0
