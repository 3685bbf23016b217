"""Our own file layout: one NPZ file per data set, read without pickle.

    X                                        float64 (n, D), or its CSR parts
    X_data, X_indices, X_indptr, X_shape     for sparse features
    Y                                        uint8 (n, L)
    feature_names, label_names               text
    nominal_categories                       text (D,): a JSON list, '' if not nominal
    split                                    uint8 (n,), 0 train and 1 test, or absent
    source                                   text

Only X and Y are needed to read a file; everything else has a default.
"""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mltsk.core.arrays import Matrix, is_csr, is_sound
from mltsk.exceptions import InputError
from mltsk.files import writing
from mltsk.limits import JSON_EXPANSION, array_bytes, check_size, read_npy

from .dataset import Dataset, unreadable

NPZ_ARRAYS = (
    "X",
    "X_data",
    "X_indices",
    "X_indptr",
    "X_shape",
    "Y",
    "y",
    "split",
    "source",
    "feature_names",
    "label_names",
    "nominal_categories",
)
MAX_BYTE_COUNT = 255  # word counts up to this take a byte each, not eight
AnyArray = NDArray[Any]


def read_npz(path: str | Path) -> Dataset:
    """Read a data set written by `write_npz`, or any NPZ file with arrays X and Y.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from mltsk.datasets import read_npz
    >>> file = tempfile.mkdtemp() + "/mine.npz"
    >>> np.savez(file, X=np.zeros((4, 2)), Y=np.eye(4, 3))
    >>> read_npz(file).shape
    (4, 2, 3)
    """
    path = Path(path)
    try:
        return read_arrays(path, path)
    except InputError as error:
        if str(path) in str(error):
            raise
        raise unreadable(path, error, "data set") from None
    except Exception as error:  # damaged files make the reader fail in every way
        if "allow_pickle" in str(error):
            error = ValueError(
                "it holds pickled objects, which are not read because they can run code"
            )
        raise unreadable(path, error, "data set") from None


def read_arrays(file: Path | IO[bytes], path: Path) -> Dataset:
    """The data set in an NPZ file; ``path`` is what messages call it."""
    arrays: dict[str, AnyArray] = {}
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        check_size(sum(member.file_size for member in members), path)
        for member in members:
            # A damaged name would be taken for that of somebody else's array.
            archive.open(member).close()
        present = [name for name in NPZ_ARRAYS if f"{name}.npy" in archive.NameToInfo]
        sizes = [array_bytes(archive, f"{name}.npy") for name in present]
        check_size(sum(sizes), path)
        for name in present:
            arrays[name] = _read_array(archive, name)
    return _dataset(arrays, path)


def _read_array(archive: zipfile.ZipFile, name: str) -> AnyArray:
    """One array of an NPZ file, read to its end, where its checksum is."""
    with archive.open(f"{name}.npy") as stream:
        array = read_npy(stream)
        if stream.read(1):
            raise ValueError(f"its part {name!r} is longer than it says")
    return array


def _dataset(arrays: Mapping[str, AnyArray], path: Path) -> Dataset:
    """The data set that these arrays are; ``path`` is what messages call it."""
    X = _features(arrays)
    Y = arrays.get("Y", arrays.get("y"))
    nominal = _texts(arrays, "nominal_categories")
    check_size(JSON_EXPANSION * sum(map(len, nominal)), path)
    categories = [json.loads(text or "[]") for text in nominal]
    if not all(isinstance(column, list) for column in categories):
        raise ValueError("its nominal_categories are not JSON lists")
    return Dataset(
        X=X,
        Y=np.empty((X.shape[0], 0)) if Y is None else Y,
        feature_names=_texts(arrays, "feature_names"),
        label_names=_texts(arrays, "label_names"),
        name=path.stem,
        categories=categories,
        split=arrays.get("split"),
        source=str(arrays.get("source", "")),
    )


def _features(arrays: Mapping[str, AnyArray]) -> Matrix:
    """X, dense or put together from its CSR parts."""
    if "X" in arrays:
        return arrays["X"]
    if "X_data" not in arrays:
        raise ValueError("it has no array X")
    shape = tuple(map(int, arrays["X_shape"].ravel()))
    values = arrays["X_data"].astype(np.float64)
    X = sparse.csr_array((values, arrays["X_indices"], arrays["X_indptr"]), shape=shape)
    if not is_sound(X):
        raise ValueError("the parts of its sparse X do not fit each other")
    X.sum_duplicates()
    return X


def _texts(arrays: Mapping[str, AnyArray], key: str) -> list[str]:
    """A list of texts, empty if there is none."""
    array = arrays.get(key, np.empty(0, dtype=str))
    if array.dtype.kind != "U" or array.ndim != 1:
        raise ValueError(f"its {key} are not a list of texts")
    texts: list[str] = array.tolist()
    return texts


def write_npz(path: str | Path, data: Dataset) -> Path:
    """Write a data set in one step: a reader never sees half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        np.savez_compressed(file, **layout(data))
    return path


def layout(data: Dataset) -> dict[str, Any]:
    """The arrays of which the file of a data set consists."""
    nominal = [json.dumps(names) if names else "" for names in data.categories]
    arrays: dict[str, Any] = {}
    if data.split is not None:
        arrays["split"] = data.split
    arrays |= {
        "Y": data.Y.astype(np.uint8),
        "feature_names": np.array(data.feature_names, dtype=str),
        "label_names": np.array(data.label_names, dtype=str),
        "nominal_categories": np.array(nominal, dtype=str),
        "source": np.array(data.source),
    }
    X = data.X
    if not is_csr(X):
        arrays["X"] = X
        return arrays
    are_counts = X.nnz and np.isin(X.data, np.arange(MAX_BYTE_COUNT + 1)).all()
    arrays["X_data"] = X.data.astype(np.uint8) if are_counts else X.data
    arrays["X_indices"] = X.indices.astype(np.int32)
    arrays["X_indptr"] = X.indptr.astype(np.int64)
    arrays["X_shape"] = np.array(X.shape, dtype=np.int64)
    return arrays
