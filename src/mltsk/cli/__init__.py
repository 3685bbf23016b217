"""The command line: all commands under ``mltsk``, and the options before a command.

`main` alone turns what happened into an exit status: 0; 1 for a failed job; 2 for bad
usage or bad input; 130 after Ctrl-C; 143 where the system asked it to end. Every
failure is one sentence on standard error, with a traceback only under ``--debug``.
Commands import what they need when they run, so that ``mltsk --help`` answers at once.
"""

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer
from typer import Option

from .. import __version__
from ..exceptions import InputError
from ..machine import termination_raises
from . import (
    adapt,
    correct,
    datasets,
    demo,
    evaluate,
    fit,
    models,
    predict,
    reproduce,
    sheets,
    sites,
    tables,
)
from .output import remark, say, standard_streams

FAILED = 1
BAD_INPUT = 2
STOPPED = 130
TERMINATED = 143


class Terminated(BaseException):
    """The system, or whoever started this process, asks it to end (SIGTERM)."""


app = typer.Typer(
    name="mltsk",
    add_completion=False,
    rich_markup_mode=None,  # plain text wraps less and copies better
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mltsk {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
]
DebugOption = Annotated[
    bool,
    Option("--debug", help="Show the traceback of an error; works with every command."),
]


@app.callback()
def _before_a_command(
    version: VersionOption = False,
    debug: DebugOption = False,  # for the help alone: `main` looks for it anywhere
) -> None:
    """Multi-label classification with fuzzy rules that people can read.

    \b
    Try it:
      mltsk demo                                   a review of a clinical table
      mltsk columns patients.csv                   what each column is taken for
      mltsk doctor patients.csv --labels 4         what will hurt, and what to do
      mltsk review patients.csv --labels 4 --out review.html   what can be predicted
      mltsk fit yeast --out yeast.skops            a model
      mltsk rules yeast.skops --top 3              what it says
      mltsk explore yeast.skops --out yeast.html   an interactive page
      mltsk predict yeast.skops new.csv --out predictions.csv

    Exit status: 0; 1 for a job that failed; 2 for bad usage or bad input; 130 after
    Ctrl-C; 143 where the system asked it to end.
    """


# in the order of the help
for command in (
    demo.demo,
    tables.columns,
    tables.doctor,
    tables.review,
    fit.fit,
    correct.correct,
    adapt.adapt,
    sites.share,
    sites.plan,
    sites.join,
    predict.predict,
    evaluate.evaluate,
    models.rules,
    models.explore,
    sheets.points,
    sheets.person,
    sheets.second_look,
    sheets.methods,
    reproduce.reproduce,
    reproduce.report,
    models.export,
):
    app.command(command.__name__.replace("_", "-"))(command)
app.add_typer(datasets.app, name="datasets")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with standard_streams(), termination_raises(Terminated):
            return _status(arguments)
    except Terminated:  # before or after the command
        return TERMINATED


def _status(arguments: Sequence[str]) -> int:
    """Run the command of these arguments; its exit status, after a sentence if any."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except (KeyboardInterrupt, typer.Abort):  # Abort is Ctrl-C in older typers
        _complain("stopped; nothing was left half-written.")
        return STOPPED
    except Terminated:
        _complain("told to end; nothing was left half-written.")
        return TERMINATED
    except Exception as error:
        if "--debug" in arguments:
            say(traceback.format_exc(), err=True)
        status, sentence = _verdict(error)
        _complain(sentence)
        return status


def _run(arguments: Sequence[str]) -> int:
    """Run the command of these arguments; its exit status, or an error."""
    without_debug = [argument for argument in arguments if argument != "--debug"]
    command = typer.main.get_command(app)
    status = command.main(
        without_debug or ["--help"], prog_name="mltsk", standalone_mode=False
    )
    if status == STOPPED:  # how newer typers report Ctrl-C
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _complain(sentence: str) -> None:
    remark(f"mltsk: {sentence}")


def _verdict(error: Exception) -> tuple[int, str]:
    """Exit status and sentence for an error."""
    if isinstance(error, InputError):
        return BAD_INPUT, str(error)
    # Usage errors have this method. Their class is click's in older versions of typer,
    # and hidden in newer ones, which no longer need click.
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        where = getattr(context, "command_path", "mltsk")
        # newer versions of typer put the name of an exception before its reason
        sentence = error.format_message().rstrip(".").replace("Value error, ", "")
        symbol = str(getattr(error, "option_name", ""))
        advice = fit.advice_on_symbol(symbol) if where == "mltsk fit" else ""
        if advice:
            sentence = f"No such option: {symbol}. {advice}"
        return BAD_INPUT, f"{sentence} (see `{where} --help`)."
    if isinstance(error, ImportError) and str(error).startswith("pip install"):
        return FAILED, f"a part that this command needs is not installed: {error}"
    if isinstance(error, MemoryError):
        advice = "use fewer rules, features or samples"
        return FAILED, f"this needs more memory than there is: {advice}."
    if isinstance(error, OSError):
        return FAILED, str(error)
    name = type(error).__name__
    return FAILED, f"{name}: {error} (this is a bug; --debug shows where)"
