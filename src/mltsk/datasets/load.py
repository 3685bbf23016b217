"""Data sets by their names in the catalog, or from benchmark files.

Nothing here uses the network. What is known about the data sets of the paper's Table I
is read from `catalog.toml`, which says what each field means. A name is looked for in
the folder MLTSK_DATA and in the cache of `fetch_dataset`: as NAME.npz, or as the
original files that the catalog names. Yeast is also taken from inside the river
package. Missing feature values stay NaN; missing labels are refused.

The content digest of (X, Y) says whether a data set is the right one. It is SHA-256
over these bytes, one after the other, all little-endian:

    b"mltsk-content-1\\n"
    n, D, L                 three int64
    row starts of X         n + 1 int64: where the non-zero entries of each row begin,
                            as in CSR
    column of each entry    int64, ascending within a row
    value of each entry     float64; every NaN is written as the same NaN, zeros are not
                            entries
    Y                       n · L bytes of 0 or 1, row by row
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
from typing import Any

import numpy as np
from scipy import sparse

from mltsk.core.arrays import Matrix, dense
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

    ``source`` is a page for people. ``mirrors`` holds the addresses of the files,
    mirror by mirror; each mirror carries all of them, in the order of ``files``.
    ``content`` is the content digest of the data set and ``git_blob`` git's name of its
    only file; at least one of them is known. ``where`` says where `list_datasets` has
    found it.
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
    file = files(__package__).joinpath("catalog.toml")
    raw = tomllib.loads(file.read_text(encoding="utf-8"))
    entries = {}
    for name, fields in raw["datasets"].items():
        source = raw["sources"][fields.pop("from")]
        entries[name] = _entry(name, fields, source)
    return MappingProxyType(entries)


def _entry(name: str, fields: dict[str, Any], source: Mapping[str, Any]) -> Entry:
    """An entry from its fields in the file and the source that they refer to."""
    n_samples, n_features, n_labels = fields.pop("shape")
    paths = fields.pop("files")
    mirrors = [[base + path for path in paths] for base in source["bases"]]
    mirrors += fields.pop("mirrors", [])
    label_names = fields.pop("label_names", ())
    if "{}" in label_names:
        pattern = label_names
        label_names = [pattern.replace("{}", str(i + 1)) for i in range(n_labels)]
    split: list[int] = []
    for n_rows, half in fields.pop("split", []):
        split += [half] * n_rows
    return Entry(
        name=name,
        n_samples=n_samples,
        n_features=n_features,
        n_labels=n_labels,
        source=source["page"],
        files=[path.rpartition("/")[2] for path in paths],
        mirrors=mirrors,
        label_names=label_names,
        split=split or None,
        **fields,
    )


def find_entry(name: str) -> Entry:
    """The entry of that name, in any mixture of capitals.

    The error for an unknown one suggests others.
    """
    entries = catalog()
    key = name.strip().lower()
    if key in entries:
        return entries[key]
    hint = f"there are {', '.join(entries)}."
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    if close:
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    raise InputError(f"The catalog has no data set {name!r}: {hint}")


def list_datasets() -> list[Entry]:
    """The catalog, with where each data set is found on this machine.

    Examples
    --------
    >>> from mltsk.datasets import list_datasets
    >>> [entry.n_labels for entry in list_datasets() if entry.name == "scene"]
    [6]
    """
    entries = []
    for entry in catalog().values():
        place = _locate(entry)
        where = "" if place is None else str(place)
        if place is not None and place.name == RIVER_FILE:
            where = "the river package"
        entries.append(replace(entry, where=where))
    return entries


def load_dataset(name_or_path: str | Path, *, labels: Labels = None) -> Dataset:
    """Load a data set of the catalog by name, or a benchmark file by path.

    `mltsk.read_table` reads other tables.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as ``"yeast"``, or an ARFF, MATLAB or NPZ file.
    labels : int, str, sequence of str, Path, or None
        Of an ARFF file, the columns that are labels, as `read_arff` takes them; of a
        MATLAB file, the name of a variable. None uses what is declared: next to or in
        an ARFF file, Y in an NPZ file, the target in a MATLAB file.

    Examples
    --------
    >>> from mltsk.datasets import load_dataset
    >>> load_dataset("yeast").shape
    (2417, 103, 14)
    """
    if is_path(name_or_path):
        return _load_file(Path(name_or_path), labels)
    entry = find_entry(str(name_or_path))
    if labels is not None:
        raise InputError(
            f"The catalog knows the labels of {entry.name}: "
            "labels are for files of your own."
        )
    place = _locate(entry)
    if place is None:
        raise _absent(entry)
    if place.is_dir():
        return convert(entry, place)
    is_river = place.name == RIVER_FILE
    data = _read_river(entry, place) if is_river else read_npz(place)
    verify(entry, data, content=False)
    return data


def is_path(name: str | Path) -> bool:
    """Whether a file is meant and no name of the catalog."""
    if isinstance(name, Path):
        return True
    return "/" in name or "\\" in name or Path(name).suffix != ""


def _load_file(path: Path, labels: Labels) -> Dataset:
    """A benchmark file of the user's."""
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return read_mat(path, labels)
    if suffix == ".arff":
        return read_arff(path, labels)
    if suffix != ".npz":
        raise InputError(
            f"{path}: {', '.join(BENCHMARKS)} files are data sets; "
            "read a table with mltsk.read_table."
        )
    data = read_npz(path)
    if labels is None and data.label_names:
        return data
    what = "holds no labels Y" if labels is None else "says which columns are labels"
    raise InputError(
        f"{path} {what}: mltsk.read_table takes any of its columns as labels."
    )


def _absent(entry: Entry) -> Exception:
    """The error about a data set that is not on this machine."""
    if entry.name == "yeast" and importlib.util.find_spec("river") is None:
        return ImportError('pip install "mltsk[data]"')
    return InputError(
        f"The data set {entry.name!r} is not on this machine: "
        f"run `mltsk datasets fetch {entry.name}`, or set MLTSK_DATA to a folder that "
        f"holds {entry.name}.npz or {' and '.join(entry.files)}."
    )


def _read_river(entry: Entry, path: Path) -> Dataset:
    """Yeast as the river package has it."""
    names = np.loadtxt(path, str, delimiter=",", max_rows=1).tolist()
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    d = entry.n_features
    return Dataset(
        X=np.ascontiguousarray(table[:, :d]),
        Y=table[:, d:],
        feature_names=names[:d],
        label_names=names[d:],
        name=entry.name,
        split=entry.split,
        source="river.datasets.Yeast, a copy of MULAN's yeast.arff",
    )


def cache_folder() -> Path:
    """The folder that `fetch_dataset` writes to.

    MLTSK_CACHE, or the user's cache folder of this platform.
    """
    chosen = os.environ.get("MLTSK_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local) / "mltsk" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "mltsk"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "mltsk"


def _locate(entry: Entry) -> Path | None:
    """Where an entry is on this machine.

    Its NPZ file, the folder that holds its original files, river's file, or None.
    """
    folders = [cache_folder()]
    chosen = os.environ.get("MLTSK_DATA", "")
    if chosen:
        folders.insert(0, Path(chosen).expanduser())
        if not folders[0].is_dir():
            raise InputError(f"MLTSK_DATA is {chosen!r}, which is not a folder.")
    for folder in folders:
        file = folder / f"{entry.name}.npz"
        if file.is_file():
            return file
        if all((folder / name).is_file() for name in entry.files):
            return folder
    return _locate_in_river() if entry.name == "yeast" else None


def dataset_files(name: str) -> list[Path]:
    """The files of a data set of the catalog; none if it is not on this machine."""
    entry = find_entry(name)
    place = _locate(entry)
    if place is None:
        return []
    if place.is_dir():
        return [place / file for file in entry.files]
    return [place]


def _locate_in_river() -> Path | None:
    """The file of yeast inside the river package, if both are there."""
    # Looked up, not imported: importing river takes longer than reading the file.
    spec = importlib.util.find_spec("river")
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / "datasets" / RIVER_FILE
    return file if file.is_file() else None


def convert(entry: Entry, folder: Path) -> Dataset:
    """Read the original files of ``entry`` in ``folder``, stack and name them.

    The result is verified.
    """
    xml = folder / next((name for name in entry.files if name.endswith(".xml")), "")
    tables = _read_originals(entry, folder, xml)
    first = tables[0]
    if any(table.feature_names != first.feature_names for table in tables):
        raise InputError(f"The files of {entry.name} do not have the same features.")
    label_names = entry.label_names or first.label_names
    if label_names == "xml":
        label_names = read_label_xml(xml)
    n_samples = sum(map(len, tables))
    data = Dataset(
        X=_stacked([table.X for table in tables], is_sparse=entry.sparse),
        Y=np.vstack([table.Y for table in tables]),
        feature_names=_feature_names(entry, first),
        label_names=label_names,
        name=entry.name,
        categories=_categories(entry, first),
        split=entry.split if n_samples == entry.n_samples else None,
        source=f"{entry.source}: {', '.join(entry.files)}",
    )
    verify(entry, data)
    return data


def _read_originals(entry: Entry, folder: Path, xml: Path) -> list[Dataset]:
    """The original files of an entry one by one; ``xml`` may name their labels."""
    paths = [folder / name for name in entry.files if not name.endswith(".xml")]
    if paths[0].suffix == ".mat":
        # MLC_toolbox writes -1 and 1 in some of its files.
        return [read_mat(path, signed=True) for path in paths]
    labels = xml if entry.labels == "xml" else entry.labels
    return [read_arff(path, labels) for path in paths]


def _stacked(matrices: Sequence[Matrix], *, is_sparse: bool) -> Matrix:
    """The rows of these matrices below each other, in CSR or dense."""
    if is_sparse:
        return sparse.vstack([sparse.csr_array(X) for X in matrices])
    return np.vstack([dense(X) for X in matrices])


def _feature_names(entry: Entry, data: Dataset) -> Sequence[str]:
    """Names by the pattern of the catalog, where it has one, or those of the file."""
    if not entry.feature_names:
        return data.feature_names
    numbers = range(entry.first_feature, entry.first_feature + data.shape[1])
    return [entry.feature_names.replace("{}", str(i)) for i in numbers]


def _categories(entry: Entry, data: Dataset) -> Sequence[Sequence[str]]:
    """Categories by the catalog, where it knows them, or those of the file."""
    if entry.binary_features:
        return [("0", "1")] * data.shape[1]
    return data.categories


def verify(entry: Entry, data: Dataset, *, content: bool = True) -> None:
    """Refuse data that do not have the entry's shape and content.

    The content is looked at if asked for and known.
    """
    if data.shape != entry.shape:
        actual = "×".join(map(str, data.shape))
        expected = "×".join(map(str, entry.shape))
        raise InputError(
            f"{data.source or data.name} is not the catalog's {entry.name}: "
            f"samples × features × labels are {actual}, not {expected}."
        )
    if content and entry.content and content_digest(data) != entry.content:
        raise InputError(
            f"The content of {entry.name} is not what the catalog expects "
            "(its digest differs)."
        )


def content_digest(data: Dataset) -> str:
    """SHA-256 of the features and labels of ``data``.

    The file format, the names, and dense or sparse storage do not matter.

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
    for integers in (data.shape, X.indptr, X.indices):
        digest.update(np.ascontiguousarray(integers, dtype="<i8").data)
    digest.update(np.ascontiguousarray(X.data, dtype="<f8").data)
    digest.update(np.ascontiguousarray(data.Y, dtype=np.uint8).data)
    return digest.hexdigest()
