"""``mltsk datasets``: the catalog, and downloads of the data sets that it lists."""

from collections.abc import Iterable
from string import ascii_lowercase
from typing import Annotated

import typer
from typer import Argument, Option

from .output import aligned, remark, say, working

LIST_HEADER = (
    "name",
    "samples",
    "features",
    "labels",
    "cardinality",
    "source",
    "licence",
    "here",
)
app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the data sets of the catalog: shape, whether they are here, source and
    licence.

    \b
    Examples:
      mltsk datasets
      mltsk datasets fetch emotions scene
    """
    from ..datasets import list_datasets

    if context.invoked_subcommand is not None:
        return
    entries = list_datasets()
    # Sources and licences are long: the table has signs for them, notes below explain.
    numbers = (str(number) for number in range(1, len(entries) + 1))
    sources = _signs((entry.source for entry in entries), numbers)
    licences = _signs((entry.licence for entry in entries), ascii_lowercase)
    rows: list[tuple[object, ...]] = [LIST_HEADER]
    for entry in entries:
        rows.append(
            (
                entry.name,
                entry.n_samples,
                entry.n_features,
                entry.n_labels,
                f"{entry.cardinality:.2f}",
                sources[entry.source],
                licences[entry.licence],
                entry.where or "no",
            )
        )
    say(f"{aligned(rows)}\n")
    for text, sign in (sources | licences).items():
        say(f"{sign}  {text}")
    if not all(entry.where for entry in entries):
        say("\nGet one with `mltsk datasets fetch NAME`.")


def _signs(texts: Iterable[str], signs: Iterable[str]) -> dict[str, str]:
    """A sign for each distinct text, in order."""
    return dict(zip(dict.fromkeys(texts), signs, strict=False))


@app.command()
def fetch(
    names: Annotated[
        list[str], Argument(metavar="NAME...", help="Names of the catalog.")
    ],
    mirror: Annotated[
        list[str] | None,
        Option(metavar="URL", help="Addresses to use instead of the catalog's."),
    ] = None,
    timeout: Annotated[
        float, Option(min=0.1, help="Seconds without an answer that end a connection.")
    ] = 30.0,
) -> None:
    """Download data sets, verify them, and keep them where every command finds them.

    A download that was interrupted is continued by the next call. If one data set fails
    the others are still fetched, and the exit status is 1.

    \b
    Examples:
      mltsk datasets fetch emotions
      mltsk datasets fetch birds scene flags
    """
    from ..datasets import FetchError, fetch_dataset
    from ..datasets.load import find_entry

    # a misspelt name fails before any download
    entries = [find_entry(name) for name in names]
    any_failed = False
    for name in dict.fromkeys(entry.name for entry in entries):
        try:
            with working(name, "bytes") as show:
                path = fetch_dataset(
                    name, mirrors=mirror or None, progress=show, timeout=timeout
                )
        except FetchError as error:
            any_failed = True
            remark(f"mltsk: {error}")
        else:
            say(f"{name}: {path}")
    if any_failed:
        raise typer.Exit(1)
