"""`load_dataset`: a data set by its name in the catalog, or from a file of one's own. Never uses the network.

A name is looked for in a given folder, in the folder MLTSK_DATA, and in the cache of `fetch_dataset`: as NAME.npz, or
as the original files that the catalog names. Yeast is also taken from inside the river package.
"""

import importlib.util
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from mltsk.exceptions import InputError

from .catalog import Entry, catalog, find_entry
from .convert import check_shape, convert, runs
from .dataset import INSTALL_DATA, Dataset
from .delimited import read_csv
from .files import read_file
from .npz import read_npz
from .table import Labels, split_labels


def load_dataset(name_or_path: str | Path, *, data_home: str | Path | None = None, labels: Labels = None) -> Dataset:
    """Load a data set of the catalog by name, or a file of one's own by path.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as ``"yeast"``, or a CSV, Parquet, ARFF, MATLAB or NPZ file.
    data_home : str or Path, optional
        A folder to look in for names before the folder MLTSK_DATA and the cache.
    labels : int, str, sequence of str, Path, or None
        For a file of one's own, which columns are labels: see `read_file`.

    Returns
    -------
    Dataset
        With ``X``, ``Y``, ``feature_names``, ``label_names`` and ``name``.

    Examples
    --------
    >>> from mltsk.datasets import load_dataset
    >>> load_dataset("yeast")
    Dataset('yeast': 2417 samples, 103 features, 14 labels, cardinality 4.237, density 0.303)
    """
    if isinstance(name_or_path, Path) or _looks_like_a_path(name_or_path):
        return read_file(name_or_path, labels)
    entry = find_entry(name_or_path)
    if labels is not None:
        raise InputError(f"The catalog knows the labels of {entry.key}: labels are for files of your own.")
    return _load_entry(entry, data_home)


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
    folders = search_folders(data_home)
    return [_status(entry, _where(entry, folders)) for entry in catalog().values()]


def _status(entry: Entry, where: Path | None) -> DatasetStatus:
    place = "" if where is None else "the river package" if _is_river(where) else str(where)
    about = (entry.page, entry.licence, entry.about)
    return DatasetStatus(
        entry.key, entry.title, *entry.shape, entry.cardinality, entry.sparse, where is not None, place, *about
    )


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


def _looks_like_a_path(name: str) -> bool:
    return "/" in name or bool(Path(name).suffix)


def _load_entry(entry: Entry, data_home: str | Path | None) -> Dataset:
    where = _where(entry, search_folders(data_home))
    if where is None:
        raise _not_here(entry)
    if where.is_dir():
        return convert(entry, where)
    data = _read_river_yeast(where, entry) if _is_river(where) else read_npz(where)
    check_shape(entry, data)
    return data


def _where(entry: Entry, folders: list[Path]) -> Path | None:
    """The NPZ file of an entry, the folder that holds its original files, river's file, or None."""
    for folder in folders:
        if (file := folder / f"{entry.key}.npz").is_file():
            return file
        if all((folder / name).is_file() for name in entry.files):
            return folder
    return _river_yeast() if entry.key == "yeast" else None


def _not_here(entry: Entry) -> Exception:
    if entry.key == "yeast" and importlib.util.find_spec("river") is None:
        return ImportError(INSTALL_DATA)
    return InputError(
        f"The data set {entry.key!r} is not on this machine: run `mltsk datasets fetch {entry.key}`, "
        f"or set MLTSK_DATA to a folder that holds {entry.key}.npz or {' and '.join(entry.files)}."
    )


def _river_yeast() -> Path | None:
    # Looked up, not imported: importing river takes longer than reading the file.
    spec = importlib.util.find_spec("river")
    folders = spec.submodule_search_locations or [] if spec else []
    files = [Path(folder) / "datasets" / "yeast.csv.gz" for folder in folders]
    return next((file for file in files if file.is_file()), None)


def _is_river(path: Path) -> bool:
    return path.name == "yeast.csv.gz"


def _read_river_yeast(path: Path, entry: Entry) -> Dataset:
    data = split_labels(read_csv(path), entry.n_labels)
    return replace(data, split=runs(entry), source="river.datasets.Yeast, a copy of MULAN's yeast.arff")
