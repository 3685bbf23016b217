"""Data sets by their names in the catalog, or from benchmark files. Never uses the network.

What is known about the data sets of the paper's Table I is read from `catalog.toml`, which says what each field means.
A name is looked for in the folder MLTSK_DATA and in the cache of `fetch_dataset`: as NAME.npz, or as the original files
that the catalog names. Yeast is also taken from inside the river package. Missing feature values stay NaN; missing
labels are refused.

The content digest of (X, Y) says whether a data set is the right one. It is SHA-256 over these bytes, one after the
other, all little-endian:

    b"mltsk-content-1\\n"
    n, D, L                       three int64
    row starts of X               n + 1 int64: where the non-zero entries of each row begin, as in CSR
    column of each entry          int64, ascending within a row
    value of each entry           float64; every NaN is written as the same NaN, zeros are not entries
    Y                             n · L bytes of 0 or 1, row by row
"""

import hashlib
import importlib.util
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import numpy as np
from scipy import sparse

from mltsk.core.arrays import dense
from mltsk.exceptions import InputError

from .arff import read_arff, read_label_xml
from .dataset import Dataset, Labels
from .mat import read_mat
from .npz import read_npz

BENCHMARKS = (".arff", ".mat", ".npz")
RIVER_FILE = "yeast.csv.gz"


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    ``source`` is a page for people. ``mirrors`` holds the addresses of the files, mirror by mirror; each mirror carries
    all of them, in the order of ``files``. ``content`` is the content digest of the data set and ``git_blob`` git's
    name of its only file; at least one of them is known. ``where`` says where `list_datasets` has found it.
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    sparse: bool
    source: str
    files: Sequence[str]
    mirrors: Sequence[Sequence[str]]
    licence: str
    about: str
    labels: Labels = None
    feature_names: str = ""
    first_feature: int = 1
    label_names: str | Sequence[str] = ()
    binary_features: bool = False
    split: Sequence[int] | None = None
    content: str = ""
    git_blob: str = ""
    where: str = ""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return self.n_samples, self.n_features, self.n_labels


@cache
def catalog() -> Mapping[str, Entry]:
    """The data sets of the catalog, by name.

    Examples
    --------
    >>> from mltsk.datasets import catalog
    >>> catalog()["yeast"].shape
    (2417, 103, 14)
    """
    raw, entries = (
        tomllib.loads(
            files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
        ),
        {},
    )
    for name, fields in raw["datasets"].items():
        source, paths = raw["sources"][fields.pop("from")], fields.pop("files")
        mirrors = [
            [base + path for path in paths] for base in source["bases"]
        ] + fields.pop("mirrors", [])
        fields |= zip(
            ("n_samples", "n_features", "n_labels"), fields.pop("shape"), strict=True
        )
        fields |= {
            "source": source["page"],
            "files": [path.rpartition("/")[2] for path in paths],
            "mirrors": mirrors,
        }
        if "{}" in (pattern := fields.get("label_names", "")):
            fields["label_names"] = [
                pattern.replace("{}", str(i + 1)) for i in range(fields["n_labels"])
            ]
        fields["split"] = [
            part for rows, part in fields.get("split", []) for _ in range(rows)
        ] or None
        entries[name] = Entry(name, **fields)
    return MappingProxyType(entries)


def find_entry(name: str) -> Entry:
    """The entry of that name, in any mixture of capitals; the error for an unknown one suggests others."""
    entries, key = catalog(), name.strip().lower()
    if key in entries:
        return entries[key]
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(map(repr, close))}?"
        if close
        else f"there are {', '.join(entries)}."
    )
    raise InputError(f"The catalog has no data set {name!r}: {hint}")


def list_datasets() -> list[Entry]:
    """The catalog with, for each data set, whether it can be loaded here and from where.

    Examples
    --------
    >>> from mltsk.datasets import list_datasets
    >>> [entry.n_labels for entry in list_datasets() if entry.name == "scene"]
    [6]
    """
    entries = []
    for entry in catalog().values():
        where = _where(entry)
        place = (
            "the river package"
            if where and where.name == RIVER_FILE
            else str(where or "")
        )
        entries.append(replace(entry, where=place))
    return entries


def load_dataset(name_or_path: str | Path, *, labels: Labels = None) -> Dataset:
    """Load a data set of the catalog by name, or a benchmark file by path; `mltsk.read_table` reads other tables.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as ``"yeast"``, or an ARFF, MATLAB or NPZ file.
    labels : int, str, sequence of str, Path, or None
        Of an ARFF file, the columns that are labels, as `read_arff` takes them; of a MATLAB file, the name of a
        variable. None uses what is declared: next to or in an ARFF file, Y in an NPZ file, the target in a MATLAB file.

    Examples
    --------
    >>> from mltsk.datasets import load_dataset
    >>> load_dataset("yeast")
    Dataset('yeast': 2417 samples, 103 features, 14 labels, cardinality 4.237, density 0.303)
    """
    if is_path(name_or_path):
        return _own(Path(name_or_path), labels)
    entry = find_entry(str(name_or_path))
    if labels is not None:
        raise InputError(
            f"The catalog knows the labels of {entry.name}: labels are for files of your own."
        )
    where = _where(entry)
    if (
        where is None
        and entry.name == "yeast"
        and importlib.util.find_spec("river") is None
    ):
        raise ImportError('pip install "mltsk[data]"')
    if where is None:
        command, files = (
            f"`mltsk datasets fetch {entry.name}`",
            f"{entry.name}.npz or {' and '.join(entry.files)}",
        )
        how = f"run {command}, or set MLTSK_DATA to a folder that holds {files}"
        raise InputError(f"The data set {entry.name!r} is not on this machine: {how}.")
    if where.is_dir():
        return convert(entry, where)
    if where.name != RIVER_FILE:
        data = read_npz(where)
    else:
        d, names = (
            entry.n_features,
            np.loadtxt(where, str, delimiter=",", max_rows=1).tolist(),
        )
        table = np.loadtxt(where, delimiter=",", skiprows=1)
        X, source = (
            np.ascontiguousarray(table[:, :d]),
            "river.datasets.Yeast, a copy of MULAN's yeast.arff",
        )
        data = Dataset(
            X,
            table[:, d:],
            names[:d],
            names[d:],
            entry.name,
            split=entry.split,
            source=source,
        )
    verify(entry, data, content=False)
    return data


def is_path(name: str | Path) -> bool:
    """Whether a file is meant and no name of the catalog."""
    return (
        isinstance(name, Path) or "/" in name or "\\" in name or bool(Path(name).suffix)
    )


def _own(path: Path, labels: Labels) -> Dataset:
    suffix = path.suffix.lower()
    if suffix not in BENCHMARKS:
        raise InputError(
            f"{path}: {', '.join(BENCHMARKS)} files are data sets; read a table with mltsk.read_table."
        )
    if suffix != ".npz":
        return read_mat(path, labels) if suffix == ".mat" else read_arff(path, labels)
    data = read_npz(path)
    if labels is not None or not data.label_names:
        what = (
            "holds no labels Y" if labels is None else "says which columns are labels"
        )
        raise InputError(
            f"{path} {what}: mltsk.read_table takes any of its columns as labels."
        )
    return data


def cache_folder() -> Path:
    """The folder that `fetch_dataset` writes to: MLTSK_CACHE, or the user's cache folder of this platform."""
    if chosen := os.environ.get("MLTSK_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
            / "mltsk"
            / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mltsk"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mltsk"


def _where(entry: Entry) -> Path | None:
    """The NPZ file of an entry, the folder that holds its original files, river's file, or None."""
    given = os.environ.get("MLTSK_DATA", "")
    if given and not Path(given).expanduser().is_dir():
        raise InputError(f"MLTSK_DATA is {given!r}, which is not a folder.")
    for folder in (
        [Path(given).expanduser(), cache_folder()] if given else [cache_folder()]
    ):
        if (file := folder / f"{entry.name}.npz").is_file():
            return file
        if all((folder / name).is_file() for name in entry.files):
            return folder
    # Looked up, not imported: importing river takes longer than reading the file.
    if (
        entry.name == "yeast"
        and (spec := importlib.util.find_spec("river"))
        and spec.origin
    ):
        file = Path(spec.origin).parent / "datasets" / RIVER_FILE
        return file if file.is_file() else None
    return None


def convert(entry: Entry, folder: Path) -> Dataset:
    """Read the original files of ``entry`` in ``folder``, stack them, name them, and verify the result."""
    xml, labels = (
        folder / next((name for name in entry.files if name.endswith(".xml")), ""),
        entry.labels,
    )
    paths = [folder / name for name in entry.files if not name.endswith(".xml")]
    if paths[0].suffix == ".mat":  # MLC_toolbox writes -1 and 1 in some of its files
        parts = [read_mat(path, signed=True) for path in paths]
    else:
        parts = [read_arff(path, xml if labels == "xml" else labels) for path in paths]
    first = parts[0]
    if any(part.feature_names != first.feature_names for part in parts):
        raise InputError(f"The files of {entry.name} do not have the same features.")
    as_held, stack = (
        (sparse.csr_array, sparse.vstack) if entry.sparse else (dense, np.vstack)
    )
    X, Y = (
        stack([as_held(part.X) for part in parts]),
        np.vstack([part.Y for part in parts]),
    )
    named: Sequence[str] = (
        read_label_xml(xml)
        if entry.label_names == "xml"
        else entry.label_names or first.label_names
    )
    numbers = range(entry.first_feature, entry.first_feature + first.shape[1])
    features = [
        entry.feature_names.replace("{}", str(i))
        for i in numbers
        if entry.feature_names
    ]
    features = features or list(first.feature_names)
    categories = (
        (("0", "1"),) * first.shape[1] if entry.binary_features else first.categories
    )
    split, source = (
        entry.split if len(Y) == entry.n_samples else None,
        f"{entry.source}: {', '.join(entry.files)}",
    )
    data = Dataset(X, Y, features, named, entry.name, categories, split, source)
    verify(entry, data)
    return data


def verify(entry: Entry, data: Dataset, *, content: bool = True) -> None:
    """Raise an `InputError` unless ``data`` has the entry's shape and, if asked for and known, its content."""
    if data.shape != entry.shape:
        found, expected = (
            "×".join(map(str, shape)) for shape in (data.shape, entry.shape)
        )
        sizes = f"samples × features × labels are {found}, not {expected}"
        raise InputError(
            f"{data.source or data.name} is not the catalog's {entry.name}: {sizes}."
        )
    if content and entry.content and content_digest(data) != entry.content:
        raise InputError(
            f"The content of {entry.name} is not what the catalog expects (its digest differs)."
        )


def content_digest(data: Dataset) -> str:
    """SHA-256 of the features and labels of ``data``, whatever the file format, the names, and dense or sparse storage.

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
    parts = (
        (data.shape, "<i8"),
        (X.indptr, "<i8"),
        (X.indices, "<i8"),
        (X.data, "<f8"),
        (data.Y, np.uint8),
    )
    for array, dtype in parts:
        digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.hexdigest()
