"""MATLAB files as authors of multi-label data publish them.

Which variable is what, in any mixture of capitals:

    features    data, X, features, fea
    labels      target, targets, Y, labels, label
    in parts    train_data + train_target + test_data + test_target, also Xtrain,
                X_train, trainX and so on: stacked, training rows first, and the split
                is kept

Which way round: MLC_toolbox stores features as (n, D) and labels as (L, n). Labels are
turned when only their second axis has the length of the features' first; both are
turned when only the second axes agree. Labels are 0/1; -1/+1 are refused, as in every
file of one's own, unless the reader is told of them. Numbers are read as MATLAB means
them: integers in a file are only its storage compression.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mltsk.core.arrays import Array, Matrix, dense, is_sound
from mltsk.exceptions import InputError
from mltsk.limits import isolated

from .dataset import Dataset
from .npz import layout, read_arrays

FloatArray = NDArray[np.float64]
FEATURE_VARIABLES = ("data", "x", "features", "fea")
LABEL_VARIABLES = ("target", "targets", "y", "labels", "label")
# Names of variables: 0 is train or test, 1 a name.
SPLIT_VARIABLES = ("{0}_{1}", "{1}_{0}", "{0}{1}", "{1}{0}")
MAX_NAME_LENGTH = 63  # that MATLAB takes


class _Variables(NamedTuple):
    """The names of the variables of features and of labels; "" if there is none."""

    features: str
    labels: str


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
    >>> read_mat(file).shape
    (4, 2, 1)
    """
    path = Path(path)
    if not isinstance(labels, str | None):
        raise InputError(
            f"{path}: in a MATLAB file, labels are given as the name of a variable."
        )
    if not path.is_file():
        raise InputError(f"{path} cannot be read: there is no such file.")
    with isolated(
        "mltsk.datasets.mat:unpack",
        path,
        labels or "",
        "signed" if signed else "",
        what="MATLAB file",
        library="scipy.io",
    ) as file:
        return read_arrays(file, path)


def unpack(path: Path, out: IO[bytes], labels: str = "", signed: str = "") -> None:
    """Write the data set of a MATLAB file as NPZ.

    It runs in a process of its own: SciPy's reader follows damaged files out of its
    memory. ``signed`` is "signed" where labels may also be -1 and 1.
    """
    from scipy.io import loadmat, whosmat  # 0.1 s of import that nobody else needs

    try:
        shapes = {name: shape for name, shape, _ in whosmat(path)}
        pairs = _find_variables(shapes, labels, path)
        names = [name for pair in pairs for name in pair]
        matrices = loadmat(path, mat_dtype=True, variable_names=names)
    except NotImplementedError:
        raise InputError(
            f"{path} is a MATLAB 7.3 (HDF5) file: save it again with save('-v7', …)."
        ) from None
    for matrix in matrices.values():
        if sparse.issparse(matrix) and not is_sound(sparse.csc_array(matrix)):
            # SciPy takes them as they are.
            raise ValueError("the parts of a sparse matrix do not fit each other")
    features = []
    label_tables = []
    for pair in pairs:
        X = matrices[pair.features]
        Y = dense(matrices[pair.labels])
        if not (_is_numeric(X) and _is_numeric(Y)):
            raise InputError(
                f"{path}: {pair.features} and {pair.labels} "
                "are not matrices of numbers."
            )
        X, Y = _oriented(X, Y, pair, path)
        _check_values(Y, pair.labels, path, signed=bool(signed))
        features.append(X)
        label_tables.append(Y > 0)
    np.savez(out, **layout(_stacked(features, label_tables, path)))


def _find_variables(
    shapes: Mapping[str, Sequence[int]], labels: str, path: Path
) -> list[_Variables]:
    """The variables to read: one pair, or a training and a test pair."""
    names = {name.lower(): name for name in shapes}
    label_words = (labels.lower(),) if labels else LABEL_VARIABLES
    whole = _Variables(
        features=_first_present(FEATURE_VARIABLES, ("{1}",), "", names),
        labels=_first_present(label_words, ("{1}",), "", names),
    )
    if all(whole):
        return [whole]
    halves = []
    for half in ("train", "test"):
        features = _first_present(FEATURE_VARIABLES, SPLIT_VARIABLES, half, names)
        targets = _first_present(LABEL_VARIABLES, SPLIT_VARIABLES, half, names)
        halves.append(_Variables(features, targets))
    if not labels and all(map(all, halves)):
        return halves
    listed = []
    for name, shape in list(shapes.items())[:10]:
        shown = name
        if len(name) > MAX_NAME_LENGTH:  # a damaged file, whose content is read as one
            shown = f"{name[:MAX_NAME_LENGTH]}…"
        listed.append(f"{shown} {'×'.join(map(str, shape))}")
    missing = "labels" if whole.features else "features"
    raise InputError(
        f"{path} has no variable that looks like {missing}; "
        f"it holds {', '.join(listed) or 'nothing'}."
    )


def _first_present(
    words: Sequence[str], forms: Sequence[str], half: str, names: Mapping[str, str]
) -> str:
    """The first word in one of these forms that is the name of a variable, or ""."""
    for word in words:
        for form in forms:
            name = form.format(half, word)
            if name in names:
                return names[name]
    return ""


def _is_numeric(matrix: Matrix) -> bool:
    """Whether this is a matrix of numbers."""
    return getattr(matrix, "ndim", 0) == 2 and matrix.dtype.kind in "biuf"


def _oriented(
    X: Matrix, Y: Array, pair: _Variables, path: Path
) -> tuple[Matrix, Array]:
    """Features and labels with samples along their first axes."""
    n_samples = X.shape[0]
    if n_samples == Y.shape[0]:
        return X, Y
    if n_samples == Y.shape[1]:
        return X, Y.T
    if X.shape[1] == Y.shape[1]:
        return X.T, Y.T
    raise InputError(
        f"{path}: {pair.features} is {X.shape[0]}×{X.shape[1]}, "
        f"{pair.labels} is {Y.shape[0]}×{Y.shape[1]}: "
        "no axis of the labels counts the samples."
    )


def _check_values(Y: Array, name: str, path: Path, *, signed: bool) -> None:
    """Refuse labels other than 0 and 1, or, where ``signed``, -1 and 1."""
    values = np.unique(Y)
    if np.isin(values, (0, 1)).all():
        return
    if signed and np.isin(values, (-1, 1)).all():
        return
    shown = ", ".join(f"{value:g}" for value in values[:5])
    raise InputError(
        f"{path}: {name} holds {shown}; labels are 0 and 1, "
        f"as {name} > 0 makes them in MATLAB."
    )


def _stacked(
    features: Sequence[Matrix], label_tables: Sequence[NDArray[np.bool_]], path: Path
) -> Dataset:
    """One data set of the whole, or of a training and a test half."""
    n_features = {X.shape[1] for X in features}
    n_labels = {Y.shape[1] for Y in label_tables}
    if len(n_features) > 1 or len(n_labels) > 1:
        raise InputError(
            f"{path}: training and test part have different numbers of features or "
            "labels."
        )
    split = None
    if len(features) == 2:
        split = np.repeat([0, 1], [X.shape[0] for X in features])
    stack = sparse.vstack if any(map(sparse.issparse, features)) else np.vstack
    return Dataset(
        X=stack(features),
        Y=np.vstack(label_tables),
        name=path.stem,
        split=split,
        source=str(path),
    )
