"""From the original files of a catalog entry to its data set: only this module knows how they look."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mltsk.exceptions import InputError

from .arff import read_arff
from .catalog import Entry
from .dataset import Dataset
from .digest import content_digest
from .mat import read_mat
from .mulan import read_label_xml
from .table import split_labels


def convert(entry: Entry, folder: Path) -> Dataset:
    """Read the original files of ``entry`` in ``folder``, stack them, name them, and verify the result."""
    parts = [_part(entry, folder, name) for name in entry.files if not name.endswith(".xml")]
    first = parts[0]
    if any(part.feature_names != first.feature_names for part in parts):
        raise InputError(f"The files of {entry.key} do not have the same features.")
    data = Dataset(
        X=_stacked([part.X for part in parts], entry.sparse),
        Y=np.vstack([part.Y for part in parts]),
        feature_names=_numbered(entry.feature_names, entry.first_feature, first.shape[1]) or first.feature_names,
        label_names=_label_names(entry, folder) or first.label_names,
        name=entry.key,
        categories=(("0", "1"),) * first.shape[1] if entry.binary_features else first.categories,
        split=_split(entry) if sum(map(len, parts)) == entry.n_samples else None,
        source=f"{entry.page}: {', '.join(entry.files)}",
    )
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
        raise InputError(
            f"{data.source or data.name} is not the catalog's {entry.key}: "
            f"samples × features × labels are {found}, not {expected}."
        )


def _part(entry: Entry, folder: Path, name: str) -> Dataset:
    path = folder / name
    if name.endswith(".mat"):
        return read_mat(path)
    table = read_arff(path)
    if entry.labels == "xml":
        declared = table.positions(read_label_xml(folder / str(entry.names_file)))
        return split_labels(table, [table.names[i] for i in sorted(declared)])
    return split_labels(table, entry.labels)


def _stacked(parts: Sequence[Any], as_sparse: bool) -> Any:
    if as_sparse:
        return sparse.vstack([sparse.csr_array(X) for X in parts], format="csr")
    return np.vstack([X.toarray() if sparse.issparse(X) else X for X in parts])


def _split(entry: Entry) -> Any:
    return np.repeat([part for _, part in entry.split], [rows for rows, _ in entry.split]) if entry.split else None


def _label_names(entry: Entry, folder: Path) -> Sequence[str]:
    if entry.label_names == "xml":
        return read_label_xml(folder / str(entry.names_file))
    if isinstance(entry.label_names, str):
        return _numbered(entry.label_names, 1, entry.n_labels)
    return entry.label_names


def _numbered(pattern: str, first: int, count: int) -> tuple[str, ...]:
    return tuple(pattern.replace("{}", str(i)) for i in range(first, first + count)) if pattern else ()
