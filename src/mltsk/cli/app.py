"""All commands under one name, and the options that come before a command."""

from typing import Annotated

import typer
from typer import Option

from . import columns, datasets, demo, evaluate, explore, export, fit, predict, reproduce, rules

app = typer.Typer(
    name="mltsk",
    add_completion=False,
    rich_markup_mode=None,  # plain text wraps less and copies better
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"mltsk {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error, of every command.")] = False,
) -> None:
    """Multi-label classification with fuzzy rules that people can read.

    \b
    Try it:
      mltsk demo                                   a report on built-in data
      mltsk columns patients.csv                   what each column of a table is taken for
      mltsk fit yeast --out yeast.skops            a model
      mltsk rules yeast.skops --top 3              what it says
      mltsk explore yeast.skops --out yeast.html   a page to move its inputs in
      mltsk predict yeast.skops new.csv --out predictions.csv

    Exit status: 0; 1 for a job that failed; 2 for bad usage or bad input; 130 after Ctrl-C.
    """


for command in (
    *(demo.demo, columns.columns, fit.fit, predict.predict, evaluate.evaluate, rules.rules, explore.explore),
    *(reproduce.reproduce, reproduce.report, export.export),
):
    app.command(command.__name__)(command)
app.add_typer(datasets.app, name="datasets")
