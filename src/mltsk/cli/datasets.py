"""``mltsk datasets``: the catalog, and downloads of what it lists."""

from typing import Annotated, Any

import typer
from typer import Argument, Option

from .output import aligned, downloading

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
    if context.invoked_subcommand is None:
        from ..datasets import list_datasets

        typer.echo(listing(list_datasets()))


@app.command()
def fetch(
    names: Annotated[list[str], Argument(metavar="NAME...", help="Names of the catalog.")],
    mirror: Annotated[list[str] | None, Option(metavar="URL", help=MIRROR_HELP)] = None,
    timeout: Annotated[float, Option(min=0.1, help="Seconds without an answer that end a connection.")] = 30.0,
) -> None:
    """Download data sets, verify them, and keep them where every command finds them.

    A download that was interrupted is continued by the next call. If one data set fails the others are still fetched,
    and the exit status is 1.

    \b
    Examples:
      mltsk datasets fetch emotions
      mltsk datasets fetch birds scene flags
    """
    from ..datasets import FetchError, fetch_dataset
    from ..datasets.load import find_entry

    failed = False
    for name in dict.fromkeys([find_entry(name).name for name in names]):  # a misspelt name fails before any download
        try:
            with downloading(name) as report:
                path = fetch_dataset(name, mirrors=mirror or None, progress=report, timeout=timeout)
            typer.echo(f"{name}: {path}")
        except FetchError as error:
            failed = True
            typer.echo(f"mltsk: {error}", err=True)
    if failed:
        raise typer.Exit(1)


def listing(entries: list[Any]) -> str:
    """The catalog as a table, with sources and licences below it."""
    sources = list(dict.fromkeys(entry.source for entry in entries))
    licences = list(dict.fromkeys(entry.licence for entry in entries))
    rows: list[list[object]] = [["name", "samples", "features", "labels", "cardinality", "source", "licence", "here"]]
    for entry in entries:
        kind = [sources.index(entry.source) + 1, "abcdefgh"[licences.index(entry.licence)]]
        shape = [entry.n_samples, entry.n_features, entry.n_labels, f"{entry.cardinality:.2f}"]
        rows.append([entry.name, *shape, *kind, entry.where or "no"])
    notes = [f"{i + 1}  {source}" for i, source in enumerate(sources)]
    notes += [f"{letter}  {licence}" for letter, licence in zip("abcdefgh", licences, strict=False)]
    missing = "" if all(entry.where for entry in entries) else "\n\nGet one with `mltsk datasets fetch NAME`."
    return aligned(rows) + "\n\n" + "\n".join(notes) + missing
