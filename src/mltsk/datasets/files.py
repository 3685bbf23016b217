"""Own files of any format that is read: one way in for tables, one for data sets.

    .csv .tsv .csv.gz     header line; see `read_csv`
    .parquet .pq          see `read_parquet`
    .arff                 dense or sparse, with MULAN's XML file next to it; see `read_arff`
    .mat                  see `read_mat`
    .npz                  see `read_npz`

Missing feature values stay NaN when a file is read: the models refuse them with a sentence of their own, and a reader
may want to impute them first. Missing labels are refused here.
"""

from collections.abc import Callable
from pathlib import Path

from mltsk.exceptions import InputError

from .arff import read_arff, read_label_xml
from .dataset import Dataset
from .delimited import read_csv, read_parquet
from .mat import read_mat
from .npz import read_npz
from .table import Labels, Table, split_labels

_TABLES: dict[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".csv.gz": read_csv,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arff": read_arff,
}
_SUFFIXES = (*_TABLES, ".mat", ".npz")


def read_table(path: str | Path) -> Table:
    """Read any supported file as a table of named columns, whatever its labels are.

    This is the way to read rows to predict: take the columns of a model with `Table.select`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = file.write_text("b,a\\n1,2\\n")
    >>> read_table(file).select(["a", "b"])
    array([[2., 1.]])
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix in _TABLES:
        return _TABLES[suffix](path)
    return Table.of(read_mat(path) if suffix == ".mat" else read_npz(path))


def read_file(path: str | Path, labels: Labels = None) -> Dataset:
    """Read any supported file as a data set.

    Parameters
    ----------
    path : str or Path
        The file; its ending says the format.
    labels : int, str, sequence of str, Path, or None
        Which columns are labels: a number of columns (the last ones; the first ones when negative; 0 for none), names,
        or a MULAN XML file. None uses what the file declares: MULAN's XML file next to an ARFF file, MEKA's option
        ``-C`` in it, Y in an NPZ file, the target in a MATLAB file (where a string names the variable instead).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_file
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = file.write_text("a,b,good,cheap\\n1,2,yes,no\\n3,4,no,no\\n")
    >>> read_file(file, labels="good,cheap").Y
    array([[1, 0],
           [0, 0]], dtype=int8)
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix == ".mat":
        if labels is not None and not isinstance(labels, str):
            raise InputError(f"{path}: in a MATLAB file, labels are given as the name of a variable.")
        return read_mat(path, labels)
    if suffix == ".npz" and labels is None:
        return _with_labels(read_npz(path), path)
    table = read_table(path)
    xml = _label_file(path, labels)
    return split_labels(table, labels if xml is None else in_file_order(table, xml))


def in_file_order(table: Table, xml: Path) -> list[str]:
    """The labels that a MULAN XML file lists; their order is that of the ARFF file."""
    return [table.names[i] for i in sorted(table.positions(read_label_xml(xml)))]


def _suffix(path: Path) -> str:
    for suffix in _SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise InputError(f"{path}: the ending says no format that can be read; those are {', '.join(_SUFFIXES)}.")


def _label_file(path: Path, labels: Labels) -> Path | None:
    """The XML file that says which columns are labels, if there is one."""
    if isinstance(labels, str | Path) and str(labels).lower().endswith(".xml"):
        xml = Path(labels)
        return xml if xml.is_file() or xml.is_absolute() else path.parent / xml
    if labels is not None or path.suffix.lower() != ".arff":
        return None
    # MULAN puts scene.xml next to scene.arff, scene-train.arff and scene-test.arff.
    stems = (path.stem, path.stem.removesuffix("-train").removesuffix("-test"))
    return next((xml for stem in stems if (xml := path.with_name(f"{stem}.xml")).is_file()), None)


def _with_labels(data: Dataset, path: Path) -> Dataset:
    if not data.label_names:
        raise InputError(f"{path} holds no labels Y: give labels=0 if that is meant, or the names of its columns.")
    return data
