"""What is done with a hostile file: read it as a user would, use what came out, and say in a digest what that was.

Only an `InputError` of one line may come out instead; an answer that is not finite is a failure, too.
"""

import hashlib
import io
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from mltsk import from_dict, limits, load, read_table
from mltsk.cli import main
from mltsk.datasets import mat, read_label_xml
from mltsk.exceptions import InputError
from mltsk.fitted import FittedAttributes
from mltsk.io import read_info
from mltsk.paper.experiments.definition import class_of, read_definition
from mltsk.paper.experiments.store import FILE, Store
from mltsk.pipelines import taken_apart
from mltsk.tables import files

from .originals import DATA, frame

COMMANDS = {
    **dict.fromkeys(("csv", "csv.gz", "arff", "npz", "xlsx"), "columns"),
    "skops": "rules",
}
ISOLATED = ("mat", "parquet")  # whose readers may die, in a process of their own


def read(kind: str, path: Path) -> str:
    """Read and use a file; the digest of what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _READERS[kind](path)
    return hashlib.sha256(repr(found).encode(errors="replace")).hexdigest()


def through_the_command_line(kind: str, path: Path) -> None:
    """The same by a command, whose exit status is 0 or 2, and which never speaks of a bug."""
    said = io.StringIO()
    with (
        redirect_stderr(said),
        redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        status = main([COMMANDS[kind], str(path)])
    if status not in (0, 2) or "bug" in said.getvalue():
        raise AssertionError(f"status {status}: {said.getvalue()[-300:]}")


@contextmanager
def _here(job: str, path: Path, *args: str, what: str, **_: Any) -> Iterator[IO[bytes]]:
    """`mltsk.limits.isolated` without a process: starting one takes a hundred times as long as reading a small file."""
    out = io.BytesIO()
    reader = mat.unpack if job.endswith("mat:unpack") else files.unpack_parquet
    try:
        reader(path, out, *args)
    except InputError:
        raise
    except MemoryError:
        raise limits.too_large(path) from None
    except Exception as error:
        raise InputError(
            f"{path} is not a readable {what}: {type(error).__name__}"
        ) from None
    out.seek(0)
    yield out


def without_processes() -> None:
    """Read MATLAB and Parquet files in this process, which is one that may die."""
    mat.isolated = files.isolated = _here


def _table(path: Path) -> Any:
    table = read_table(path)
    return [
        table.columns.title,
        *(part.to_csv() for part in (table.X, table.Y, table.ids)),
    ]


def _model(path: Path) -> Any:
    model, info = load(path), read_info(path)
    return [_used(model), info.feature_names, info.label_names]


def _used(model: Any) -> Any:
    """Answers to rows near and far, and rules where there are any."""
    _, classifier = taken_apart(model)
    X = _rows_for(model, classifier)
    answers = []
    for name in ("decision_function", "predict", "predict_proba"):
        if hasattr(model, name):
            answers.append(np.asarray(getattr(model, name)(X)))
    for answer in answers:
        if answer.dtype.kind in "fiu" and not np.isfinite(answer).all():
            raise AssertionError("an answer is not finite")
    if isinstance(classifier, FittedAttributes):
        str(classifier.rules_)
        classifier.rules_.to_dict()
        str(classifier.explain(X[:1]))
    return [answer.tolist() for answer in answers]


def _rows_for(model: Any, classifier: Any) -> Any:
    """Rows in the form that a model takes."""
    if getattr(classifier, "columns_", None) is not None:
        names = getattr(model, "feature_names_in_", classifier.columns_.names)
        return frame()[list(names)]
    X = np.vstack([DATA.X, 1e6 * DATA.X[:2]])
    if getattr(classifier, "scale_", "") == "unit":
        return sparse.csr_array(X)
    return X


def _definition(path: Path) -> Any:
    found = read_definition(path)
    for method in found.methods:
        class_of(method)
    return found


def _results(path: Path) -> Any:
    folder = path.parent / "store"
    folder.mkdir(exist_ok=True)
    for left in folder.glob(f"{FILE}*"):
        left.unlink()
    (folder / FILE).write_bytes(path.read_bytes())
    with Store.open(folder) as store:
        found = store.results()
    return [found.run, found.scores.to_csv(), found.cells.to_csv()]


_READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys(("csv", "csv.gz", "arff", "npz", "mat", "parquet", "xlsx"), _table),
    "xml": read_label_xml,
    "skops": _model,
    "json": lambda path: _used(from_dict(json.loads(path.read_bytes()))),
    "toml": _definition,
    "sqlite": _results,
}
