"""``mltsk reproduce``: the paper's experimental section, or the same with a user's own data and methods."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from ..exceptions import InputError
from .later import Later, console, live, progress
from .output import note

definitions, experiments = (
    Later("mltsk.paper.experiments.definition"),
    Later("mltsk.paper.experiments.reproduce"),
)
runs, stores = (
    Later("mltsk.paper.experiments.run"),
    Later("mltsk.paper.experiments.store"),
)
pages, joblib, text = (
    Later("mltsk.paper.report.experiment"),
    Later("joblib"),
    Later("rich.text"),
)
ProtocolName = StrEnum("ProtocolName", ["paper", "strict", "nested"])
GridChoice = StrEnum("GridChoice", ["paper", "fast", "authors"])
Convention = StrEnum("Convention", ["paper", "standard"])
DATA_HELP = "Names of the catalog or files, separated by commas."
GRID_HELP = "Settings to search: those of Table II, a few of them, or those of the authors' program."
METHODS_HELP = "Keys, entry points or import paths of classifiers, separated by commas."
DEVICE_HELP = "Device for methods that it makes faster, such as cuda."
ADD_HELP = (
    "First add what is finished in this folder, for example from another machine."
)


def reproduce(
    out: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder of results; a run that is there goes on.",
        ),
    ],
    datasets: Annotated[
        list[str] | None, Option("--datasets", "-d", metavar="NAMES", help=DATA_HELP)
    ] = None,
    methods: Annotated[
        list[str] | None, Option("--methods", "-m", metavar="NAMES", help=METHODS_HELP)
    ] = None,
    protocol: Annotated[
        list[ProtocolName] | None,
        Option("--protocol", "-p", help="Several are possible."),
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
        Convention | None,
        Option(help="For ties and empty label sets.  [default: paper]"),
    ] = None,
    studies: Annotated[
        bool, Option(help="Also repeat the analyses of Figures 3 to 8.")
    ] = True,
    device: Annotated[str | None, Option(metavar="NAME", help=DEVICE_HELP)] = None,
    cluster: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Run on the cluster of this Dask scheduler."),
    ] = None,
    jobs: Annotated[
        int | None,
        Option("--jobs", "-j", min=1, help="Processes.  [default: all cores]"),
    ] = None,
) -> None:
    """Run Section IV of the paper: nine methods, twelve data sets, five metrics, the analyses and the statistics.

    Everything finished is kept at once, in DIR/results.sqlite: stop it whenever you like and type the same command
    again to go on. DIR/index.html shows every table and figure next to the paper's, also for an unfinished run.

    \b
    Protocols:
      paper    as the authors ran it: too good, but comparable with the printed tables
      strict   everything fitted inside training folds, stratified; settings chosen on the reported folds
      nested   settings chosen on inner folds: the one for claims about which method is better

    \b
    Examples:
      mltsk reproduce --out section4
      mltsk reproduce -d flags,emotions -m ml-knn,ml-tsk-fs,mltsk -p paper -p nested --grid fast --out quick
      mltsk reproduce -d patients.csv --labels 3 -m mltsk,sklearn.ensemble:ExtraTreesClassifier -p nested --out mine
      mltsk reproduce --cluster tcp://10.0.0.1:8786 --out section4
    """
    names, definition = (
        _split(datasets),
        definitions.read_definition(config) if config else definitions.section_iv(),
    )
    if labels and not any("/" in name or Path(name).suffix for name in names):
        raise InputError("--labels is for a file of your own: name it with --datasets.")
    first = definition.seeds[0] if seed is None else seed
    changes: dict[str, Any] = {
        "folds": folds,
        "grid": grid and grid.value,
        "studies": None if studies else False,
    }
    changes |= {
        "protocols": [p.value for p in protocol or ()] or None,
        "convention": convention and convention.value,
    }
    changes["seeds"] = (
        None if seed is None and repeats == 1 else list(range(first, first + repeats))
    )
    changes["datasets"] = (
        definitions.pick_datasets(definition, names, labels) if names else None
    )
    chosen = (
        definitions.pick_methods(definition, _split(methods))
        if methods
        else definition.methods
    )
    changes["methods"] = [
        m.model_copy(update={"device": device}) if device and m.gpu else m
        for m in chosen
    ]
    definition = definition.model_copy(
        update={k: v for k, v in changes.items() if v is not None}
    )
    runner = runs.Cluster(cluster) if cluster else None
    jobs = runner.slots if runner else jobs or joblib.cpu_count()
    how: Any = {
        "required": names,
        "begin": lambda outlook: _announce(outlook, jobs, device),
    }
    how["command"] = " ".join(
        ["mltsk", *(arg for arg in sys.argv[1:] if arg != "--debug")]
    )
    try:
        with _view(jobs) as view:
            done = experiments.reproduce(
                definition, out, **how, jobs=jobs, runner=runner, report=view
            )
    except KeyboardInterrupt:
        _write(out, "so far")
        note(
            "stopped; everything finished is kept: the same command goes on from here."
        )
        raise
    results = _write(out, "of all results")
    if done.failed:
        _fail(results.cells)


def report(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="Folder of a run of `mltsk reproduce`.")
    ],
    add: Annotated[list[Path] | None, Option(metavar="DIR", help=ADD_HELP)] = None,
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="DIR", help="Where to write.  [default: DIR]"),
    ] = None,
) -> None:
    """Write the pages, tables and figures of a run again from its results, without running anything.

    \b
    Examples:
      mltsk report section4
      mltsk report section4 --add from_the_gpu_box
      mltsk report /media/archive/section4 --out section4
    """
    if out is None and folder.is_dir() and not os.access(folder, os.W_OK):
        raise InputError(
            f"{folder} can only be read: say with --out where the report goes."
        )
    for other in add or ():
        typer.echo(
            f"{experiments.take_over(folder, other)} pieces taken over from {other}"
        )
    _write(folder, "of all results", out)


def _fail(cells: Any) -> None:
    """Tell of some pieces that failed, and end with status 1."""
    failed = cells[cells["status"] == "failed"]
    for cell in failed.head(5).itertuples():
        note(f"{cell.method} on {cell.dataset}, fold {cell.fold + 1}: {cell.error}")
    note(
        f"{len(failed)} of {len(cells)} pieces failed; the report names them, and the same command tries them again."
    )
    raise typer.Exit(1)


def _split(names: list[str] | None) -> list[str]:
    return [
        part.strip() for name in names or () for part in name.split(",") if part.strip()
    ]


def _write(folder: Path, what: str, out: Path | None = None) -> Any:
    """Write the report of what there is, and return the results."""
    with stores.Store.open(folder) as store:
        results = store.results()
    if not (results.scores.empty and results.cells.empty) or results.studies:
        out = out or folder
        pages.write_report(results, out)
        typer.echo(f"report {what}: {out / 'index.html'}")
    return results


def _announce(outlook: Any, jobs: int, device: str | None) -> None:
    """Say what there is to work on, what is missing and how to get it, and how long it will take."""
    if outlook.missing:
        names = " ".join(outlook.missing)
        typer.echo(
            f"here: {', '.join(outlook.here)}; missing: {', '.join(outlook.missing)}",
            err=True,
        )
        typer.echo(
            f"missing data sets are left out; get them with `mltsk datasets fetch {names}`",
            err=True,
        )
    if outlook.left:
        where = "one core" if jobs == 1 else f"{jobs} cores"
        more = (
            f", without {', '.join(outlook.unknown)}, of which nothing is known"
            if outlook.unknown
            else ""
        )
        less = (
            f", less with {device}" if device else ""
        )  # what is known was measured on processors
        hours = outlook.seconds / jobs / 3600
        about = (
            _clock(3600 * hours)
            if hours <= 1.5
            else f"{hours:.{1 if hours <= 10 else 0}f} hours"
        )
        typer.echo(
            f"{outlook.left:,} pieces of work: about {about} on {where}{less}{more}",
            err=True,
        )


@contextmanager
def _view(jobs: int) -> Iterator[Any]:
    """What is running, done and left: a live block on a terminal, elsewhere a line at the start and now and then."""
    if not sys.stderr.isatty():
        yield _lines(jobs)
        return
    with live.Live(
        console=console.Console(stderr=True), transient=True, refresh_per_second=4
    ) as block:

        def show(run: Any, cell: Any, outcome: Any) -> None:
            since = {
                name: time.monotonic() - start for name, start in run.running.items()
            }
            running = [
                text.Text(f"  {name}  {_clock(seconds)}", style="dim")
                for name, seconds in since.items()
            ]
            bar = progress.ProgressBar(run.total, run.done, width=60)
            block.update(console.Group(text.Text(_line(run, jobs)), bar, *running))

        yield show


def _lines(jobs: int) -> Any:
    """A line at the start, after failures, and at least every 30 seconds in which something was finished."""
    last = float("-inf")

    def show(progress: Any, cell: Any, outcome: Any) -> None:
        nonlocal last
        if outcome is not None and outcome.error:
            typer.echo(f"failed: {cell}: {outcome.error}", err=True)
        now = time.monotonic()
        if last < 0 or (
            cell is not None and (progress.done == progress.total or now - last > 30)
        ):
            last, latest = now, "" if cell is None else f" ({cell})"
            typer.echo(f"{_line(progress, jobs)}{latest}", err=True)

    return show


def _line(progress: Any, jobs: int) -> str:
    failed, ahead = f", {progress.failed} failed" if progress.failed else "", ""
    if (
        left := progress.seconds_left(jobs)
    ) is not None and progress.done < progress.total:
        ahead = f", {'about' if left[1] else 'at least'} {_clock(left[0])} left"
    return f"{progress.done} of {progress.total} pieces{failed}, {_clock(progress.seconds)}{ahead}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
