"""Our own file layout: one NPZ file per data set, read without pickle and written in one step.

    X                                        float64 (n, D), or its CSR parts
    X_data, X_indices, X_indptr, X_shape     for sparse features
    Y                                        uint8 (n, L)
    feature_names, label_names               text
    nominal_categories                       text (D,): a JSON list for a nominal feature, else ''
    split                                    uint8 (n,), 0 train and 1 test; may be absent
    source                                   text

Only X and Y are needed to read a file; everything else has a default.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from mltsk.core.arrays import is_sound
from mltsk.exceptions import InputError
from mltsk.files import writing
from mltsk.limits import check_size

from .dataset import Dataset, unreadable

TEXTS = ("feature_names", "label_names", "nominal_categories")
PARTS = (
    "X",
    "X_data",
    "X_indices",
    "X_indptr",
    "X_shape",
    "Y",
    "y",
    "split",
    "source",
    *TEXTS,
)


def read_npz(path: str | Path) -> Dataset:
    """Read a data set written by `write_npz`, or any NPZ file with arrays X and Y.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from mltsk.datasets import read_npz
    >>> file = tempfile.mkdtemp() + "/mine.npz"
    >>> np.savez(file, X=np.zeros((4, 2)), Y=np.eye(4, 3))
    >>> read_npz(file)
    Dataset('mine': 4 samples, 2 features, 3 labels, cardinality 0.750, density 0.250)
    """
    path = Path(path)
    try:
        return read_arrays(path, path)
    except InputError as error:
        raise (
            error if str(path) in str(error) else unreadable(path, error, "data set")
        ) from None
    except (
        Exception
    ) as error:  # the reader meets damaged files with errors of every kind
        if "allow_pickle" in str(error):
            error = ValueError(
                "it holds pickled objects, which are not read because they can run code"
            )
        raise unreadable(path, error, "data set") from None


def read_arrays(file: Path | IO[bytes], path: Path) -> Dataset:
    """The data set in an NPZ file; every part is read to its end, where its checksum is."""
    arrays: dict[str, Any] = {}
    with zipfile.ZipFile(file) as archive:
        check_size(sum(member.file_size for member in archive.infolist()), path)
        for member in archive.infolist():
            archive.open(
                member
            ).close()  # a part whose name was damaged would be taken for one of somebody else's
        for name in [name for name in PARTS if f"{name}.npy" in archive.NameToInfo]:
            stream = io.BytesIO(archive.read(f"{name}.npy"))
            arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
            if stream.read(1):
                raise ValueError(f"its part {name!r} is longer than it says")
    check_size(
        8 * sum(array.size for array in arrays.values() if array.dtype.kind in "biuf"),
        path,
    )
    return _dataset(arrays, path.stem)


def write_npz(path: str | Path, data: Dataset) -> Path:
    """Write a data set in one step: a reader never sees half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        np.savez_compressed(file, **layout(data))
    return path


def _dataset(arrays: Mapping[str, Any], name: str) -> Dataset:
    if "X" not in arrays and "X_data" not in arrays:
        raise ValueError("it has no array X")
    X, Y = arrays.get("X"), arrays.get("Y", arrays.get("y"))
    if X is None:
        shape, values = (
            tuple(map(int, arrays["X_shape"].ravel())),
            arrays["X_data"].astype(np.float64),
        )
        X = sparse.csr_array(
            (values, arrays["X_indices"], arrays["X_indptr"]), shape=shape
        )
        if not is_sound(X):
            raise ValueError("the parts of its sparse X do not fit each other")
        X.sum_duplicates()
    texts: list[list[str]] = []
    for key in TEXTS:
        array = arrays.get(key, np.empty(0, dtype=str))
        if array.dtype.kind != "U" or array.ndim != 1:
            raise ValueError(f"its {key} are not a list of texts")
        texts.append(array.tolist())
    features, labels, nominal = texts
    categories = [json.loads(text or "[]") for text in nominal]
    if not all(isinstance(column, list) for column in categories):
        raise ValueError("its nominal_categories are not JSON lists")
    Y = np.empty((X.shape[0], 0)) if Y is None else Y
    return Dataset(
        X,
        Y,
        features,
        labels,
        name,
        categories,
        arrays.get("split"),
        str(arrays.get("source", "")),
    )


def layout(data: Dataset) -> dict[str, Any]:
    """The arrays of which the file of a data set consists."""
    X, layout = data.X, {} if data.split is None else {"split": data.split}
    layout |= {
        "Y": data.Y.astype(np.uint8),
        "feature_names": np.array(data.feature_names, dtype=str),
        "label_names": np.array(data.label_names, dtype=str),
        "nominal_categories": np.array(
            [json.dumps(c) if c else "" for c in data.categories], dtype=str
        ),
        "source": np.array(data.source),
    }
    if not data.is_sparse:
        return layout | {"X": X}
    small = (
        X.nnz and np.isin(X.data, np.arange(256)).all()
    )  # binary word counts take a byte each, not eight
    return layout | {
        "X_data": X.data.astype(np.uint8) if small else X.data,
        "X_indices": X.indices.astype(np.int32),
        "X_indptr": X.indptr.astype(np.int64),
        "X_shape": np.array(X.shape, dtype=np.int64),
    }
