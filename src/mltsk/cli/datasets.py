"""``mltsk datasets``: the catalog, and downloads of what it lists."""

from typing import Annotated

import typer
from typer import Argument, Option

from .later import Later
from .output import aligned, working

data, load = Later("mltsk.datasets"), Later("mltsk.datasets.load")
MIRROR_HELP = "Addresses to use instead of the catalog's."
app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the data sets of the catalog: shape, whether they are here, source and licence.

    \b
    Examples:
      mltsk datasets
      mltsk datasets fetch emotions scene
    """
    if context.invoked_subcommand is not None:
        return
    entries = data.list_datasets()
    sources = list(dict.fromkeys(entry.source for entry in entries))
    licences = list(dict.fromkeys(entry.licence for entry in entries))
    rows: list[list[object]] = [
        [
            "name",
            "samples",
            "features",
            "labels",
            "cardinality",
            "source",
            "licence",
            "here",
        ]
    ]
    for entry in entries:
        kind = [
            sources.index(entry.source) + 1,
            "abcdefgh"[licences.index(entry.licence)],
        ]
        shape = [
            entry.n_samples,
            entry.n_features,
            entry.n_labels,
            f"{entry.cardinality:.2f}",
        ]
        rows.append([entry.name, *shape, *kind, entry.where or "no"])
    notes = [f"{i + 1}  {source}" for i, source in enumerate(sources)]
    notes += [
        f"{letter}  {licence}"
        for letter, licence in zip("abcdefgh", licences, strict=False)
    ]
    missing = (
        ""
        if all(entry.where for entry in entries)
        else "\n\nGet one with `mltsk datasets fetch NAME`."
    )
    typer.echo(aligned(rows) + "\n\n" + "\n".join(notes) + missing)


@app.command()
def fetch(
    names: Annotated[
        list[str], Argument(metavar="NAME...", help="Names of the catalog.")
    ],
    mirror: Annotated[list[str] | None, Option(metavar="URL", help=MIRROR_HELP)] = None,
    timeout: Annotated[
        float, Option(min=0.1, help="Seconds without an answer that end a connection.")
    ] = 30.0,
) -> None:
    """Download data sets, verify them, and keep them where every command finds them.

    A download that was interrupted is continued by the next call. If one data set fails the others are still fetched,
    and the exit status is 1.

    \b
    Examples:
      mltsk datasets fetch emotions
      mltsk datasets fetch birds scene flags
    """
    failed, keys = (
        False,
        [load.find_entry(name).name for name in names],
    )  # a misspelt name fails before any download
    for name in dict.fromkeys(keys):
        try:
            with working(name, "bytes") as report:
                path = data.fetch_dataset(
                    name, mirrors=mirror or None, progress=report, timeout=timeout
                )
            typer.echo(f"{name}: {path}")
        except data.FetchError as error:
            failed = True
            typer.echo(f"mltsk: {error}", err=True)
    if failed:
        raise typer.Exit(1)
