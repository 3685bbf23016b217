"""The catalog: what is known about the data sets of the paper's Table I, as frozen records read from `catalog.toml`,
which says what each field means; from the original files of an entry to its data set; and checksums that say whether it
is the right one.

The content digest of (X, Y) is SHA-256 over these bytes, one after the other, all little-endian:

    b"mltsk-content-1\\n"
    n, D, L                       three int64
    row starts of X               n + 1 int64: where the non-zero entries of each row begin, as in CSR
    column of each entry          int64, ascending within a row
    value of each entry           float64; every NaN is written as the same NaN, zeros are not entries
    Y                             n · L bytes of 0 or 1, row by row

So it does not depend on the file format, on the mirror, on names, or on whether X is held dense or sparse: two files
with equal digests hold the same numbers in the same order.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin

import numpy as np
from scipy import sparse

from mltsk.exceptions import InputError

from .arff import read_arff, read_label_xml
from .dataset import Dataset, dense
from .mat import read_mat


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    ``mirrors`` holds the addresses of the files, mirror by mirror; each mirror carries all of them, in the order of
    ``files``. ``content`` is the content digest of the data set and ``git_blob`` git's name of its only file; at least
    one of them is known.
    """

    key: str
    title: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    sparse: bool
    page: str
    files: tuple[str, ...]
    mirrors: tuple[tuple[str, ...], ...]
    licence: str
    about: str
    labels: int | str | tuple[str, ...] | None = None
    feature_names: str = ""
    first_feature: int = 1
    label_names: str | tuple[str, ...] = ()
    binary_features: bool = False
    split: tuple[tuple[int, int], ...] = ()
    content: str = ""
    git_blob: str = ""
    openml: int | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return self.n_samples, self.n_features, self.n_labels

    @property
    def names_file(self) -> str:
        """The file that names the labels, "" where there is none."""
        return next((name for name in self.files if name.endswith(".xml")), "")


@cache
def catalog() -> Mapping[str, Entry]:
    """The data sets of the catalog, by key.

    Examples
    --------
    >>> from mltsk.datasets import catalog
    >>> catalog()["yeast"].shape
    (2417, 103, 14)
    """
    raw = tomllib.loads(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"))
    return MappingProxyType({key: _entry(key, fields, raw["sources"]) for key, fields in raw["datasets"].items()})


def find_entry(name: str) -> Entry:
    """The entry of that name, in any mixture of capitals; the error for an unknown one suggests others."""
    entries, key = catalog(), name.strip().lower()
    if key in entries:
        return entries[key]
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {', '.join(entries)}."
    raise InputError(f"The catalog has no data set {name!r}: {hint}")


def _entry(key: str, fields: dict[str, Any], sources: Mapping[str, Any]) -> Entry:
    source = sources[fields.pop("from")]
    paths = fields.pop("files")
    mirrors = [[urljoin(base, path) for path in paths] for base in source["bases"]] + fields.pop("mirrors", [])
    fields |= zip(("n_samples", "n_features", "n_labels"), fields.pop("shape"), strict=True)
    fields |= {"page": source["page"], "files": [path.rpartition("/")[2] for path in paths], "mirrors": mirrors}
    fields["content"] = fields.get("content", "").removeprefix("sha256:")
    return Entry(key, **{name: _frozen(value) for name, value in fields.items()})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def convert(entry: Entry, folder: Path) -> Dataset:
    """Read the original files of ``entry`` in ``folder``, stack them, name them, and verify the result."""
    parts = [_part(entry, folder / name) for name in entry.files if not name.endswith(".xml")]
    first = parts[0]
    if any(part.feature_names != first.feature_names for part in parts):
        raise InputError(f"The files of {entry.key} do not have the same features.")
    as_held, stack = (sparse.csr_array, sparse.vstack) if entry.sparse else (dense, np.vstack)
    X, Y = stack([as_held(part.X) for part in parts]), np.vstack([part.Y for part in parts])
    features = _numbered(entry.feature_names, entry.first_feature, first.shape[1]) or first.feature_names
    labels = _label_names(entry, folder) or first.label_names
    categories = (("0", "1"),) * first.shape[1] if entry.binary_features else first.categories
    split = runs(entry) if len(Y) == entry.n_samples else None
    source = f"{entry.page}: {', '.join(entry.files)}"
    data = Dataset(X, Y, features, labels, entry.key, categories, split, source)
    verify(entry, data)
    return data


def verify(entry: Entry, data: Dataset) -> None:
    """Raise an `InputError` unless ``data`` has the entry's shape, and its content where that is known."""
    check_shape(entry, data)
    if entry.content and content_digest(data) != entry.content:
        raise InputError(f"The content of {entry.key} is not what the catalog expects (its digest differs).")


def check_shape(entry: Entry, data: Dataset) -> None:
    """Raise an `InputError` unless ``data`` has the shape of the entry."""
    if data.shape != entry.shape:
        found, expected = ("×".join(map(str, shape)) for shape in (data.shape, entry.shape))
        sizes = f"samples × features × labels are {found}, not {expected}"
        raise InputError(f"{data.source or data.name} is not the catalog's {entry.key}: {sizes}.")


def runs(entry: Entry) -> Any:
    """The publisher's split of an entry, a number per row."""
    return np.repeat([part for _, part in entry.split], [rows for rows, _ in entry.split]) if entry.split else None


def _part(entry: Entry, path: Path) -> Dataset:
    if path.suffix == ".mat":
        return read_mat(path, signed=True)  # MLC_toolbox writes -1 and 1 in some of its files
    return read_arff(path, path.with_name(entry.names_file) if entry.labels == "xml" else entry.labels)


def _label_names(entry: Entry, folder: Path) -> Sequence[str]:
    if entry.label_names == "xml":
        return read_label_xml(folder / entry.names_file)
    if isinstance(entry.label_names, str):
        return _numbered(entry.label_names, 1, entry.n_labels)
    return entry.label_names


def _numbered(pattern: str, first: int, count: int) -> tuple[str, ...]:
    return tuple(pattern.replace("{}", str(i)) for i in range(first, first + count)) if pattern else ()


def content_digest(data: Dataset) -> str:
    """SHA-256 of the features and labels of ``data``, independent of file format and of dense or sparse storage.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from mltsk.datasets import Dataset, content_digest
    >>> X, Y = np.eye(3), np.ones((3, 2))
    >>> content_digest(Dataset(X, Y)) == content_digest(Dataset(sparse.csc_array(X), Y))
    True
    """
    X = sparse.csr_array(data.X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.data[np.isnan(X.data)] = np.nan  # one bit pattern for all
    digest = hashlib.sha256(b"mltsk-content-1\n")
    parts = ((data.shape, "<i8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8"), (data.Y, np.uint8))
    for array, dtype in parts:
        digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.hexdigest()


def git_blob_id(path: str | Path) -> str:
    """The name that git gives to the content of a file: SHA-1 of ``blob <length>``, a zero byte, and the bytes.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "empty"
    >>> _ = file.write_bytes(b"")
    >>> git_blob_id(file)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    # SHA-1 is what git uses; here it tells a damaged download from a sound one, it is no defence against forgery.
    begun = hashlib.sha1(b"blob %d\0" % Path(path).stat().st_size, usedforsecurity=False)
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: begun).hexdigest()
