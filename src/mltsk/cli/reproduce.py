"""``mltsk reproduce`` and ``mltsk report``: the paper's experiments, or one's own."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..exceptions import InputError, check_installed
from ..files import check_folder_of_ours, check_inputs_outside
from ..text import listing
from .options import out_option
from .output import check_files, note, refuse_standard_output, say, typed_command

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..paper.experiments.definition import (
        DataDefinition,
        Definition,
        MethodDefinition,
    )
    from ..paper.experiments.reproduce import Outlook
    from ..paper.experiments.results import Results
    from ..paper.experiments.run import Progress, Report
    from ..paper.experiments.store import Cell, Outcome

PROTOCOLS = ("paper", "strict", "nested")
GridChoice = StrEnum("GridChoice", ["paper", "fast", "authors"])
ConventionChoice = StrEnum("ConventionChoice", ["paper", "standard"])

# what a report consists of, in its folder
REPORT_FILES = ("index.html", "summary.md")
REPORT_FOLDERS = ("tables", "figures")

SECONDS_BETWEEN_LINES = 30
MAX_NAMED_FAILURES = 5

OUT_HELP = "Folder of results; a run that is there goes on."
DATASETS_HELP = "Names of the catalog or files, separated by commas."
METHODS_HELP = "Keys, entry points or import paths of classifiers, separated by commas."
PROTOCOLS_HELP = "One, or several separated by commas."
GRID_HELP = (
    "Settings to search: those of Table II, a few of them, or those of the authors' "
    "program."
)
DEVICE_HELP = "Device for methods that it makes faster, such as cuda."
CLUSTER_HELP = "Run on the cluster of this Dask scheduler."
ADD_HELP = (
    "First add what is finished in this folder, for example from another machine."
)


def reproduce(
    out: Annotated[Path, out_option(OUT_HELP, "DIR")],
    datasets: Annotated[
        list[str] | None,
        Option("--datasets", "-d", metavar="NAMES", help=DATASETS_HELP),
    ] = None,
    methods: Annotated[
        list[str] | None, Option("--methods", "-m", metavar="NAMES", help=METHODS_HELP)
    ] = None,
    protocol: Annotated[
        list[str] | None,
        Option(
            "--protocol", "-p", metavar=f"<{'|'.join(PROTOCOLS)}>", help=PROTOCOLS_HELP
        ),
    ] = None,
    grid: Annotated[GridChoice | None, Option(help=GRID_HELP)] = None,
    config: Annotated[
        Path | None,
        Option(metavar="FILE", help="Definition of an experiment, in TOML."),
    ] = None,
    labels: Annotated[
        str | None,
        Option(metavar="NAMES|N", help="Label columns of a file, or how many."),
    ] = None,
    seed: Annotated[
        int | None, Option(min=0, help="Seed of the folds.  [default: 0]")
    ] = None,
    repeats: Annotated[int, Option(min=1, help="Repeat with this many seeds.")] = 1,
    folds: Annotated[int | None, Option(min=2, help="Folds.  [default: 5]")] = None,
    convention: Annotated[
        ConventionChoice | None,
        Option(help="For ties and empty label sets.  [default: paper]"),
    ] = None,
    studies: Annotated[
        bool, Option(help="Also repeat the analyses of Figures 3 to 8.")
    ] = True,
    device: Annotated[str | None, Option(metavar="NAME", help=DEVICE_HELP)] = None,
    cluster: Annotated[str | None, Option(metavar="ADDRESS", help=CLUSTER_HELP)] = None,
    jobs: Annotated[
        int | None,
        Option("--jobs", "-j", min=1, help="Processes.  [default: all cores]"),
    ] = None,
) -> None:
    """Run Section IV of the paper: nine methods, twelve data sets, five metrics, the
    analyses and the statistics.

    Everything finished is kept at once, in DIR/results.sqlite: stop it whenever you
    like and type the same command again to go on. DIR/index.html shows every table and
    figure next to the paper's, also for an unfinished run.

    \b
    Protocols:
      paper    as the authors ran it: too good, but comparable with the printed tables
      strict   everything fitted inside training folds, stratified; settings chosen on
               the reported folds
      nested   settings chosen on inner folds: the one for claims about which method is
               better

    \b
    Examples:
      mltsk reproduce --out section4
      mltsk reproduce -d flags,birds -m ml-knn,mltsk -p nested --grid fast --out quick
      mltsk reproduce -d own.csv --labels 3 -m sklearn.dummy:DummyClassifier --out own
      mltsk reproduce --cluster tcp://10.0.0.1:8786 --out section4
    """
    from ..paper.experiments.definition import read_definition, section_iv
    from ..paper.experiments.store import FILE, LOCK

    # before the work, not after it
    check_installed("jinja2", "matplotlib", extra="report")
    if cluster is not None:
        check_installed("distributed", extra="dask")
    definition = section_iv() if config is None else read_definition(config)
    dataset_names = _split(datasets)
    # what was typed, else what the definition says
    changes = {
        "datasets": _datasets(definition, dataset_names, labels),
        "methods": _methods(definition, _split(methods), device),
        "protocols": _protocols(protocol) or definition.protocols,
        "grid": str(grid or definition.grid),
        "convention": str(convention or definition.convention),
        "seeds": _seeds(definition, seed, repeats),
        "folds": folds or definition.folds,
        "studies": studies and definition.studies,
    }
    definition = definition.model_copy(update=changes)
    _check_folder(out, [FILE, LOCK, *REPORT_FILES], _input_files(definition, config))
    run_and_report(
        definition,
        out,
        required=dataset_names,
        cluster=cluster,
        jobs=jobs,
        device=device,
    )


def run_and_report(
    definition: "Definition",
    out: Path,
    *,
    required: Sequence[str],
    cluster: str | None,
    jobs: int | None,
    device: str | None,
) -> None:
    """Run what a folder does not hold yet of an experiment, and write its report.

    ``required`` are data sets without which nothing is begun; the ``device`` is only
    mentioned.
    """
    import joblib

    from ..paper.experiments.reproduce import reproduce
    from ..paper.experiments.run import Cluster

    runner = None if cluster is None else Cluster(cluster)
    if runner is not None:
        n_jobs = runner.slots
    else:
        n_jobs = jobs or joblib.cpu_count()
    try:
        with _progress_view(n_jobs) as show:
            done = reproduce(
                definition,
                out,
                required=required,
                begin=lambda outlook: _announce(outlook, n_jobs, device),
                jobs=n_jobs,
                runner=runner,
                command=" ".join(typed_command()),
                report=show,
            )
    except KeyboardInterrupt:
        _write_report(out, "so far")
        note(
            "stopped; everything finished is kept: the same command goes on from here."
        )
        raise
    results = _write_report(out, "of all results")
    if done.failed:
        _note_failures(results.cells)
        raise typer.Exit(1)


def report(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="Folder of a run of `mltsk reproduce`.")
    ],
    add: Annotated[list[Path] | None, Option(metavar="DIR", help=ADD_HELP)] = None,
    out: Annotated[
        Path | None, out_option("Where to write.  [default: DIR]", "DIR")
    ] = None,
) -> None:
    """Write the pages, tables and figures of a run again from its results, without
    running anything.

    \b
    Examples:
      mltsk report section4
      mltsk report section4 --add from_the_gpu_box
      mltsk report /media/archive/section4 --out section4
    """
    check_installed("jinja2", "matplotlib", extra="report")
    if not add and not folder.exists():  # before imports that take seconds
        raise InputError(
            f"{folder} holds no results: run `mltsk reproduce --out {folder}` first."
        )
    from ..paper.experiments.reproduce import take_over
    from ..paper.experiments.store import FILE

    if out is None and folder.is_dir() and not os.access(folder, os.W_OK):
        raise InputError(
            f"{folder} can only be read: say with --out where the report goes."
        )
    others = add or []
    for other in others:
        _refuse_same_folder(folder, other)
        if out is not None:
            _refuse_same_folder(out, other)
    stores = [place / FILE for place in (folder, *others)]
    _check_folder(out or folder, REPORT_FILES, stores)
    for other in others:
        n_pieces = take_over(folder, other)
        say(f"{n_pieces} pieces taken over from {other}")
    _write_report(folder, "of all results", out)


# options ------------------------------------------------------------------------------


def _split(options: list[str] | None) -> list[str]:
    """The names in options that may be repeated, each with commas between names."""
    names = ",".join(options or ()).split(",")
    return [name.strip() for name in names if name.strip()]


def _protocols(options: list[str] | None) -> list[str]:
    """The protocols in an option that may be repeated; others are refused."""
    names = list(dict.fromkeys(_split(options)))
    for name in names:
        if name not in PROTOCOLS:
            ways = listing([repr(protocol) for protocol in PROTOCOLS], last="or")
            raise InputError(f"--protocol {name!r} is not one of {ways}.")
    return names


def _datasets(
    definition: "Definition", names: Sequence[str], labels: str | None
) -> "list[DataDefinition]":
    """The data sets of an experiment; ``labels`` are those of files."""
    from ..paper.experiments.definition import pick_datasets

    if labels and not any("/" in name or Path(name).suffix for name in names):
        raise InputError("--labels is for a file of your own: name it with --datasets.")
    return pick_datasets(definition, names, labels) if names else definition.datasets


def _methods(
    definition: "Definition", names: Sequence[str], device: str | None
) -> "list[MethodDefinition]":
    """The methods of an experiment, those that can use it on the device."""
    from ..paper.experiments.definition import pick_methods

    methods = pick_methods(definition, names) if names else list(definition.methods)
    for i, method in enumerate(methods):
        if device and method.gpu:
            methods[i] = method.model_copy(update={"device": device})
    return methods


def _seeds(definition: "Definition", seed: int | None, repeats: int) -> list[int]:
    """The seeds of an experiment: as many as there are repeats, from the first one."""
    if seed is None and repeats == 1:
        return definition.seeds
    first = definition.seeds[0] if seed is None else seed
    return list(range(first, first + repeats))


# folders ------------------------------------------------------------------------------


def _check_folder(folder: Path, names: Sequence[str], inputs: Sequence[Path]) -> None:
    """Refuse a folder whose files, of these names and of a report, are also inputs."""
    refuse_standard_output(folder, "--out", "A folder")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file: --out takes a folder.")
    check_files([folder / name for name in names], inputs)
    for name in REPORT_FOLDERS:
        check_folder_of_ours(folder / name)
        check_inputs_outside(folder / name, inputs)


def _input_files(definition: "Definition", config: Path | None) -> list[Path]:
    """The files that an experiment reads: its definition, and its data."""
    from ..datasets import catalog
    from ..tables.files import source_files

    files = [] if config is None else [config]
    for data in definition.datasets:
        if data.file is not None or data.name in catalog():
            files += source_files(data.file or data.name, data.labels)
    return files


def _refuse_same_folder(written: Path, added: Path) -> None:
    """Refuse to write to the folder whose results are added to others."""
    if written.exists() and added.exists() and written.samefile(added):
        raise InputError(
            f"{added} is the folder that is written to: --add takes another one."
        )


# reports ------------------------------------------------------------------------------


def _write_report(folder: Path, extent: str, out: Path | None = None) -> "Results":
    """Write the report of a folder if it holds something, and return its results."""
    from ..paper.experiments.store import Store
    from ..paper.report.experiment import write_report

    with Store.open(folder) as store:
        results = store.results()
    if len(results.scores) or len(results.cells) or results.studies:
        out = out or folder
        write_report(results, out)
        say(f"report {extent}: {out / 'index.html'}")
    return results


def _note_failures(cells: "DataFrame") -> None:
    """Tell of the first pieces that failed, and of how many there are."""
    failed = cells[cells["status"] == "failed"]
    for cell in failed.head(MAX_NAMED_FAILURES).itertuples():
        note(f"{cell.method} on {cell.dataset}, fold {cell.fold + 1}: {cell.error}")
    note(
        f"{len(failed)} of {len(cells)} pieces failed; the report names them, and the "
        "same command tries them again."
    )


# what is shown during a run -----------------------------------------------------------


def _announce(outlook: "Outlook", jobs: int, device: str | None) -> None:
    """Say which data sets are here, how to get the others, and how long it takes."""
    if outlook.missing:
        here = ", ".join(outlook.here)
        missing = ", ".join(outlook.missing)
        command = f"mltsk datasets fetch {' '.join(outlook.missing)}"
        say(f"here: {here}; missing: {missing}", err=True)
        say(f"missing data sets are left out; get them with `{command}`", err=True)
    if not outlook.left:
        return
    duration = _duration(outlook.seconds / jobs)
    cores = "one core" if jobs == 1 else f"{jobs} cores"
    text = f"{outlook.left:,} pieces of work: about {duration} on {cores}"
    if device:  # seconds were measured on processors
        text += f", less with {device}"
    if outlook.unknown:
        text += f", without {', '.join(outlook.unknown)}, of which nothing is known"
    say(text, err=True)


@contextmanager
def _progress_view(jobs: int) -> "Iterator[Report]":
    """What is running, done and left: a live block on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        yield _ProgressLines(jobs).show
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    console = Console(stderr=True)
    with Live(console=console, transient=True, refresh_per_second=4) as block:

        def show(
            run: "Progress", cell: "Cell | None", outcome: "Outcome | None"
        ) -> None:
            lines: list[Text | ProgressBar] = [
                Text(_status(run, jobs)),
                ProgressBar(run.total, run.done, width=60),
            ]
            for name, start in run.running.items():
                clock = _clock(time.monotonic() - start)
                lines.append(Text(f"  {name}  {clock}", style="dim"))
            block.update(Group(*lines))

        yield show


class _ProgressLines:
    """Lines: at the start, after failures, and at most every 30 seconds otherwise."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.last = float("-inf")  # when the last line was printed

    def show(
        self, run: "Progress", cell: "Cell | None", outcome: "Outcome | None"
    ) -> None:
        """Print a line if one is due; the cell has just been finished."""
        if outcome is not None and outcome.error:
            say(f"failed: {cell}: {outcome.error}", err=True)
        now = time.monotonic()
        is_first = self.last < 0
        is_due = run.done == run.total or now - self.last > SECONDS_BETWEEN_LINES
        if is_first or (cell is not None and is_due):
            self.last = now
            latest = "" if cell is None else f" ({cell})"
            say(f"{_status(run, self.jobs)}{latest}", err=True)


def _status(run: "Progress", jobs: int) -> str:
    """How many pieces are done, for how long it has run, and what is left."""
    text = f"{run.done} of {run.total} pieces"
    if run.failed:
        text += f", {run.failed} failed"
    text += f", {_clock(run.seconds)}"
    left = run.seconds_left(jobs)
    if left is not None and run.done < run.total:
        seconds, covers_all = left
        about = "about" if covers_all else "at least"
        text += f", {about} {_clock(seconds)} left"
    return text


def _duration(seconds: float) -> str:
    """A clock up to an hour and a half, then hours."""
    hours = seconds / 3600
    if hours <= 1.5:
        return _clock(seconds)
    if hours <= 10:
        return f"{hours:.1f} hours"
    return f"{hours:.0f} hours"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"
