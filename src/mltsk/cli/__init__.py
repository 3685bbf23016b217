"""The command line, ``mltsk COMMAND``: all commands under one name, and the options that come before a command.

`main` is the only place that turns what happened into an exit status: 0; 1 for a failed job; 2 for bad usage or bad
input; 130 after Ctrl-C. Every failure is one sentence on standard error, with a traceback only under ``--debug``.
Commands import what they need when they run, so that ``mltsk --help`` answers at once.
"""

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer import Option

from .. import __version__
from ..exceptions import InputError
from . import datasets, demo, fit, models, reproduce, tables

FAILED, BAD_INPUT, STOPPED = 1, 2, 130

app = typer.Typer(
    name="mltsk",
    add_completion=False,
    rich_markup_mode=None,  # plain text wraps less and copies better
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"mltsk {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool,
        Option(
            "--debug", help="Show the traceback of an error; works with every command."
        ),
    ] = False,
) -> None:
    """Multi-label classification with fuzzy rules that people can read.

    \b
    Try it:
      mltsk demo                                   a review of a clinical table that comes with the package
      mltsk columns patients.csv                   what each column of a table is taken for
      mltsk review patients.csv --labels 4 --out review.html   what can be predicted from it, and how well
      mltsk fit yeast --out yeast.skops            a model
      mltsk rules yeast.skops --top 3              what it says
      mltsk explore yeast.skops --out yeast.html   an interactive page
      mltsk predict yeast.skops new.csv --out predictions.csv

    Exit status: 0; 1 for a job that failed; 2 for bad usage or bad input; 130 after Ctrl-C.
    """


COMMANDS: list[Any] = [
    demo.demo,
    tables.columns,
    tables.review,
    fit.fit,
    models.predict,
    models.evaluate,
]
COMMANDS += [
    models.rules,
    models.explore,
    reproduce.reproduce,
    reproduce.report,
    models.export,
]
for command in COMMANDS:
    app.command(command.__name__)(command)
app.add_typer(datasets.app, name="datasets")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    given = [arg for arg in args if arg != "--debug"] or ["--help"]
    try:
        status = typer.main.get_command(app).main(
            given, prog_name="mltsk", standalone_mode=False
        )
        status = status if isinstance(status, int) else 0
    except (
        KeyboardInterrupt,
        typer.Abort,
    ):  # the latter is how older versions of typer report Ctrl-C
        status = STOPPED
    except SystemExit as error:  # a closed pipe, as in `mltsk rules model.skops | head`
        return error.code if isinstance(error.code, int) else FAILED
    except Exception as error:
        if "--debug" in args:
            traceback.print_exc()
        status, sentence = _verdict(error)
        print(f"mltsk: {' '.join(sentence.split())}", file=sys.stderr)
    if status == STOPPED:
        print("mltsk: stopped; nothing was left half-written.", file=sys.stderr)
    return status


def _verdict(error: Exception) -> tuple[int, str]:
    """Exit status and sentence for an error."""
    usage: Any = typer.BadParameter.__mro__[
        2
    ]  # the common base of usage errors, wherever typer keeps it
    if isinstance(error, InputError):
        return BAD_INPUT, str(error)
    if isinstance(error, usage):
        where = getattr(getattr(error, "ctx", None), "command_path", "mltsk")
        return (
            BAD_INPUT,
            f"{error.format_message().rstrip('.')} (see `{where} --help`).",
        )
    if isinstance(error, ImportError) and str(error).startswith("pip install"):
        return FAILED, f"a part that this command needs is not installed: {error}"
    if isinstance(error, MemoryError):
        return (
            FAILED,
            "this needs more memory than there is: use fewer rules, features or samples.",
        )
    if isinstance(error, OSError):
        return FAILED, str(error)
    return (
        FAILED,
        f"{type(error).__name__}: {error} (this is a bug; --debug shows where)",
    )
