"""What is done with a hostile file: read it as a user would, and use what came out.

A digest says what that was. Only an `InputError` of one line may come out instead; an
answer that is not finite is a failure, too.
"""

import hashlib
import io
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from mltsk import (
    IncrementalMLTSK,
    MLTSKClassifier,
    edited,
    from_dict,
    limits,
    load,
    read_table,
)
from mltsk.cli import main
from mltsk.cli.correct import read_curves
from mltsk.cli.fit import read_rules
from mltsk.columns import Columns
from mltsk.datasets import mat, read_label_xml
from mltsk.exceptions import InputError
from mltsk.io import read_info
from mltsk.io.stored import stored_model
from mltsk.paper.experiments.definition import class_of, read_definition
from mltsk.paper.experiments.results import PROTOCOLS
from mltsk.paper.experiments.store import FILE, Store
from mltsk.pipelines import taken_apart
from mltsk.rows.given_rules import with_rules
from mltsk.sites import (
    Plan,
    SiteSums,
    joined,
    read_plan,
    read_summary,
    read_sums,
)
from mltsk.sites.plan_checks import plain_plan
from mltsk.tables import excel, files
from mltsk.tables.advice import advice

from .originals import DATA, edited_model, frame

COMMANDS = {
    "csv": "columns",
    "csv.gz": "columns",
    "arff": "columns",
    "npz": "columns",
    "xlsx": "columns",
    "skops": "rules",
}
# Formats whose readers may die, in a process of their own.
ISOLATED = ("mat", "parquet", "xlsx")


def read(kind: str, path: Path) -> str:
    """Read and use a file; the digest of what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = _READERS[kind](path)
    return hashlib.sha256(repr(content).encode(errors="replace")).hexdigest()


def through_the_command_line(kind: str, path: Path) -> None:
    """Read a file by a command.

    Its exit status must be 0 or 2, and it must never speak of a bug.
    """
    errors = io.StringIO()
    with (
        redirect_stderr(errors),
        redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        status = main([COMMANDS[kind], str(path)])
    text = errors.getvalue()
    if status not in (0, 2) or "this is a bug" in text:
        raise AssertionError(f"status {status}: {text[-300:]}")


@contextmanager
def _in_this_process(
    job: str, path: Path, *args: str, what: str, **_: object
) -> Iterator[IO[bytes]]:
    """`mltsk.limits.isolated` without a process.

    To start one takes a hundred times as long as to read a small file.
    """
    out = io.BytesIO()
    module, _, name = job.partition(":")
    try:
        getattr(import_module(module), name)(path, out, *args)
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
    """Read files in this process, which is one that may die."""
    for module in (mat, files, excel):
        module.isolated = _in_this_process


# What users say about messy tables, each tried on every one.
WISHES: tuple[dict[str, Any], ...] = (
    {"decimal": ",", "blank_means_no": True, "skip_rows": 1},
    {"label_column": "sick", "header_rows": 1, "skip_end": 0},
    {"long": "patient,diagnosis", "prefix": 3},
    {"number": "day,smoker", "group": "patient", "encoding": "cp1252"},
    {"labels": 1, "blank_means_no": True},
    {"age": "born:visit", "label_column": "sick", "header_rows": 3},
)


def _read_by_wishes(path: Path) -> None:
    """Read a table by every wish; only an `InputError` may come out."""
    for wish in WISHES:
        try:
            table = read_table(path, **wish)
            str(table.columns)
            if table.label_names:
                advice(table)
        except InputError as error:
            if "\n" in str(error):
                raise AssertionError("a refusal of two lines") from error


def _read_table(path: Path) -> list[str]:
    # A workbook with a million blank rows takes seconds each time.
    if path.suffix == ".csv":
        _read_by_wishes(path)
    table = read_table(path)
    frames = [part.to_csv() for part in (table.X, table.Y, table.ids)]
    return [table.columns.title, *frames]


def _read_model(path: Path) -> list[object]:
    stored = stored_model(path)  # without scikit-learn, and with the same rules
    model = load(path)
    if stored is not None and str(stored.rules_) != str(model.rules_):
        raise AssertionError("rules read without scikit-learn are others")
    info = read_info(path)
    answers = _answers(model)
    if isinstance(model, IncrementalMLTSK):
        answers += _answers(model.partial_fit(_stream_rows(model), DATA.Y))
    return [answers, info.feature_names, info.label_names]


def _answers(model: Any) -> list[object]:
    """Answers to rows near and far, and rules where there are any."""
    _, inner = taken_apart(model)
    X = _rows_for(model, inner)
    answers = []
    for name in ("decision_function", "predict", "predict_proba"):
        if hasattr(model, name):
            answers.append(np.asarray(getattr(model, name)(X)))
    for answer in answers:
        if answer.dtype.kind in "fiu" and not np.isfinite(answer).all():
            raise AssertionError("an answer is not finite")
    if hasattr(inner, "rules_"):
        str(inner.rules_)
        inner.rules_.to_dict()
        str(inner.explain(X[:1]))
    return [answer.tolist() for answer in answers]


def _stream_rows(model: IncrementalMLTSK) -> Any:
    """One more batch for a stream."""
    if model.scale_ == "unit":
        return sparse.csr_array(DATA.X)
    return DATA.X


def _rows_for(model: Any, inner: Any) -> Any:
    """Rows of the form that a model was fitted to."""
    if getattr(inner, "columns_", None):
        names = getattr(model, "feature_names_in_", inner.columns_.names)
        return frame()[list(names)]
    X = np.vstack([DATA.X, 1e6 * DATA.X[:2]])
    if getattr(inner, "scale_", "") == "unit":
        return sparse.csr_array(X)
    return X


def _read_json(path: Path) -> list[object]:
    return _answers(from_dict(json.loads(path.read_bytes())))


@cache
def _columns() -> Columns:
    """The columns for which people write rules."""
    table = frame()
    X = table.drop(columns=["ill", "old"])
    return MLTSKClassifier(0).fit(X, table[["ill", "old"]]).columns_


def _read_rules(path: Path) -> object:
    return with_rules(_columns(), read_rules(str(path))).rules


def _read_definition(path: Path) -> object:
    definition = read_definition(path)
    for method in definition.methods:
        class_of(method)
    return definition


def _read_results(path: Path) -> list[object]:
    folder = path.parent / "store"
    folder.mkdir(exist_ok=True)
    for leftover in folder.glob(f"{FILE}*"):
        leftover.unlink()
    (folder / FILE).write_bytes(path.read_bytes())
    with Store.open(folder) as store:
        results = store.results()
    if not {*results.cells["protocol"]} <= {"", *PROTOCOLS}:
        raise AssertionError("a protocol is none of ours")
    names = [*results.cells["dataset"], *results.cells["method"], *results.datasets]
    if any("/" in name or not name.isprintable() for name in names):
        raise AssertionError("a name is a path, or not printable")
    return [results.run, results.scores.to_csv(), results.cells.to_csv()]


def _read_summary(path: Path) -> object:
    """Read a summary and make a plan of it."""
    plan = Plan.of([read_summary(path)])
    return plain_plan(plan)


def _read_plan(path: Path) -> object:
    """Read a plan and share sums by it."""
    plan = read_plan(path)
    table = frame()
    kinds = {name: kind for name, kind in plan.kinds.items() if name in table}
    rows = read_table(table, labels=["ill", "old"], kinds=kinds)
    return _answers(joined([SiteSums.of(rows, plan, least=2)]))


def _read_sums(path: Path) -> object:
    """Read sums and join them."""
    return _answers(joined([read_sums(path)]))


def _read_edits(path: Path) -> object:
    """Read edits and apply them to their model."""
    return _answers(edited(edited_model(), path))


def _read_curves(path: Path) -> object:
    """Read wishes about curves and correct a model by them."""
    return _answers(edited_model().constrained(curves=read_curves(str(path))))


_READERS: dict[str, Callable[[Path], object]] = {
    "csv": _read_table,
    "csv.gz": _read_table,
    "arff": _read_table,
    "npz": _read_table,
    "mat": _read_table,
    "parquet": _read_table,
    "xlsx": _read_table,
    "xml": read_label_xml,
    "skops": _read_model,
    "json": _read_json,
    "rules": _read_rules,
    "toml": _read_definition,
    "sqlite": _read_results,
    "summary": _read_summary,
    "plan": _read_plan,
    "sums": _read_sums,
    "edits": _read_edits,
    "curves": _read_curves,
}
