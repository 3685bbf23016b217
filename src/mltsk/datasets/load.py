"""`load_dataset`: a data set by its name in the catalog, or from a benchmark file. Never uses the network.

A name is looked for in a given folder, in the folder MLTSK_DATA, and in the cache of `fetch_dataset`: as NAME.npz, or
as the original files that the catalog names. Yeast is also taken from inside the river package. Missing feature values
stay NaN; missing labels are refused.
"""

import gzip
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mltsk.exceptions import InputError

from .arff import read_arff
from .catalog import Entry, catalog, check_shape, convert, find_entry, runs
from .dataset import Dataset, Labels
from .mat import read_mat
from .npz import read_npz

BENCHMARKS = (".arff", ".mat", ".npz")
RIVER_FILE = "yeast.csv.gz"


def load_dataset(name_or_path: str | Path, *, data_home: str | Path | None = None, labels: Labels = None) -> Dataset:
    """Load a data set of the catalog by name, or a benchmark file by path; `mltsk.read_table` reads other tables.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as ``"yeast"``, or an ARFF, MATLAB or NPZ file.
    data_home : str or Path, optional
        A folder to look in for names before the folder MLTSK_DATA and the cache.
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
        raise InputError(f"The catalog knows the labels of {entry.key}: labels are for files of your own.")
    where = _where(entry, search_folders(data_home))
    if where is None and entry.key == "yeast" and importlib.util.find_spec("river") is None:
        raise ImportError('pip install "mltsk[data]"')
    if where is None:
        command, files = f"`mltsk datasets fetch {entry.key}`", f"{entry.key}.npz or {' and '.join(entry.files)}"
        how = f"run {command}, or set MLTSK_DATA to a folder that holds {files}"
        raise InputError(f"The data set {entry.key!r} is not on this machine: {how}.")
    if where.is_dir():
        return convert(entry, where)
    data = _river(where, entry) if where.name == RIVER_FILE else read_npz(where)
    check_shape(entry, data)
    return data


@dataclass(frozen=True)
class DatasetStatus:
    """One line of the list of data sets: what it is, and whether it is at hand."""

    name: str
    title: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    sparse: bool
    available: bool
    where: str
    source: str
    licence: str
    about: str


def list_datasets(data_home: str | Path | None = None) -> list[DatasetStatus]:
    """The catalog with, for each data set, whether it can be loaded here and from where.

    Examples
    --------
    >>> from mltsk.datasets import list_datasets
    >>> [row.n_labels for row in list_datasets() if row.name == "scene"]
    [6]
    """
    folders, found = search_folders(data_home), []
    for entry in catalog().values():
        where = _where(entry, folders)
        place = "" if where is None else "the river package" if where.name == RIVER_FILE else str(where)
        known = entry.key, entry.title, *entry.shape, entry.cardinality, entry.sparse
        found.append(DatasetStatus(*known, where is not None, place, entry.page, entry.licence, entry.about))
    return found


def cache_folder() -> Path:
    """The folder that `fetch_dataset` writes to: MLTSK_CACHE, or the user's cache folder of this platform."""
    if chosen := os.environ.get("MLTSK_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mltsk" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mltsk"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mltsk"


def search_folders(data_home: str | Path | None = None) -> list[Path]:
    """The folders to look in; one that was named and is not there is an error, a missing cache is not."""
    folders = []
    for what, where in (("data_home", data_home), ("MLTSK_DATA", os.environ.get("MLTSK_DATA"))):
        if where:
            folder = Path(where).expanduser()
            if not folder.is_dir():
                raise InputError(f"{what} is {str(where)!r}, which is not a folder.")
            folders.append(folder)
    return [*folders, cache_folder()]


def is_path(name: str | Path) -> bool:
    """Whether a file is meant and no name of the catalog."""
    return isinstance(name, Path) or "/" in name or "\\" in name or bool(Path(name).suffix)


def _where(entry: Entry, folders: list[Path]) -> Path | None:
    """The NPZ file of an entry, the folder that holds its original files, river's file, or None."""
    for folder in folders:
        if (file := folder / f"{entry.key}.npz").is_file():
            return file
        if all((folder / name).is_file() for name in entry.files):
            return folder
    return _river_yeast() if entry.key == "yeast" else None


def _river_yeast() -> Path | None:
    # Looked up, not imported: importing river takes longer than reading the file.
    spec = importlib.util.find_spec("river")
    file = Path(spec.origin).parent / "datasets" / RIVER_FILE if spec and spec.origin else None
    return file if file and file.is_file() else None


def _river(path: Path, entry: Entry) -> Dataset:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    n = entry.n_labels
    X, source = np.ascontiguousarray(values[:, :-n]), "river.datasets.Yeast, a copy of MULAN's yeast.arff"
    return Dataset(X, values[:, -n:], names[:-n], names[-n:], entry.key, split=runs(entry), source=source)


def _own(path: Path, labels: Labels) -> Dataset:
    """A benchmark file as a data set: `load_dataset` says how labels are given."""
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return read_mat(path, labels)
    if suffix == ".npz":
        data = read_npz(path)
        if labels is not None or not data.label_names:
            what = "holds no labels Y" if labels is None else "says which columns are labels"
            raise InputError(f"{path} {what}: mltsk.read_table takes any of its columns as labels.")
        return data
    if suffix != ".arff":
        raise InputError(f"{path}: {', '.join(BENCHMARKS)} files are data sets; read a table with mltsk.read_table.")
    return read_arff(path, labels)
