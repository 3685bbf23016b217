"""What is done with a table, ``mltsk columns`` and ``mltsk review``, and the options of commands that read one."""

import shlex
import sys
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from math import isfinite
from typing import Annotated, Any

import typer
from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..files import check_target
from .later import inputs, pages, rendering
from .output import LABELS, noted_warnings, working

LABELS_HELP = """Label columns: names separated by commas (name=word if another word than yes or 1 means yes),
how many there are at the end (negative: at the start), or a MULAN XML file. ARFF and NPZ files may declare them."""
FILE_HELP = "A CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; .csv.gz will do."
ORDINAL_HELP = 'Ordered categories: "education: low < medium < high". Repeatable.'
COST_HELP = "Cost of a false alarm and of a miss, for --threshold cost, such as 1,5."
DATA_HELP = (
    "A name of the catalog, or a CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file."
)
WISH_HELP = "Score from which a label is predicted, or what to tune it for, per label.  [default: {}]"
WISHES = "NUMBER|f1|cost|precision=0.8|recall=0.9"
GOALS = ("precision", "recall")


def threshold_wish(text: str) -> float | str | tuple[str, float]:
    """What `MLTSKClassifier` takes as a threshold, from what a user types."""
    goal, _, share = text.partition("=")
    if text in ("f1", "cost"):
        return text
    try:
        number = float(share if goal in GOALS else text)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or (goal in GOALS and not 0 < number <= 1):
        raise typer.BadParameter(
            f"{text!r} is neither a number nor f1, cost, precision=0.8 or recall=0.9"
        )
    return (goal, number) if goal in GOALS else number


def cost_pair(text: str) -> tuple[float, ...]:
    """Two costs with a comma between."""
    try:
        costs = tuple(float(part) for part in text.split(","))
    except ValueError:
        costs = ()
    if len(costs) != 2 or not all(isfinite(cost) and cost > 0 for cost in costs):
        raise typer.BadParameter(
            f"{text!r} is not two numbers above 0 with a comma between, such as 1,5"
        )
    return costs


Data = Annotated[str, Argument(metavar="DATA", help=DATA_HELP)]
Missing = Annotated[
    str,
    Option(metavar="WORDS", help='Words for a missing cell, such as "n/a,<4.0,-999".'),
]
LabelColumn = Annotated[
    str | None,
    Option(metavar="COLUMN", help="A column that lists the labels of each sample."),
]
Separator = Annotated[
    str, Option(metavar="SIGN", help="What separates two labels in that column.")
]
Quick = Annotated[
    bool, Option("--quick", help="Leave out other methods and shorter models.")
]
Cost = Annotated[
    str | None, Option(parser=cost_pair, metavar="ALARM,MISS", help=COST_HELP)
]


def check_cost(threshold: Any, cost: Any) -> None:
    """Refuse costs that nothing would weigh."""
    if cost is not None and threshold != "cost":
        raise InputError(
            "--cost says what --threshold cost weighs: give both, or leave --cost out."
        )


def _said(
    labels: Annotated[
        str | None, Option("--labels", metavar="COLUMNS", help=LABELS_HELP)
    ] = None,
    drop: Annotated[str, Option(metavar="COLUMNS", help="Columns to leave out.")] = "",
    id: Annotated[
        str,
        Option("--id", metavar="COLUMNS", help="Columns that only identify a sample."),
    ] = "",
    nominal: Annotated[
        str, Option(metavar="COLUMNS", help="Columns of categories without an order.")
    ] = "",
    ordinal: Annotated[
        list[str] | None, Option(metavar="LEVELS", help=ORDINAL_HELP)
    ] = None,
    number: Annotated[
        str,
        Option(metavar="COLUMNS", help="Columns of numbers, whatever they look like."),
    ] = "",
    missing: Missing = "",
    label_column: LabelColumn = None,
    separator: Separator = ";",
) -> None:
    """The options about the columns of a table, by the names that `mltsk.read_table` has for them."""


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """A command with these options in place of its parameter ``said``, to which they come as one mapping."""
    options, parameters = (
        signature(_said).parameters,
        list(signature(command).parameters.values()),
    )
    at = next(i for i, one in enumerate(parameters) if one.name == "said")
    parameters[at : at + 1] = options.values()

    @wraps(command)
    def run(**given: Any) -> None:
        said = {name: given.pop(name) for name in options}
        command(**given, said=said)

    run.__annotations__ = {one.name: one.annotation for one in parameters}
    vars(run)["__signature__"] = Signature(parameters)
    return run


@reads_table
def columns(
    data: Annotated[str, Argument(metavar="FILE", help=FILE_HELP)], said: dict[str, Any]
) -> None:
    """Report on the columns of a table: kind, distinct values, missing cells, and what a model makes of them.

    Separate names by commas, and quote a name that holds a comma. If some cells cannot be read, the report is printed
    all the same, and then the table is refused.

    \b
    Examples:
      mltsk columns patients.csv --labels asthma,gout
      mltsk columns patients.xlsx --labels 4 --ordinal "stage: 1 < 2 < 3" --missing "<4.0,-999"
      mltsk columns visits.csv --label-column diagnoses --separator ";"
    """
    try:
        typer.echo(str(mltsk.read_table(data, **said).columns))
    except InputError as error:
        if hasattr(error, "columns"):
            typer.echo(str(error.columns))
        raise


@reads_table
def review(
    data: Data,
    out: Annotated[
        str,
        Option("--out", "-o", metavar="FILE", help="Where to write the page (….html)."),
    ],
    said: dict[str, Any],
    threshold: Annotated[
        str | None,
        Option(parser=threshold_wish, metavar=WISHES, help=WISH_HELP.format("f1")),
    ] = None,
    cost: Cost = None,
    quick: Quick = False,
    seed: Annotated[
        int, Option(min=0, help="Seed of folds, forest and intervals.")
    ] = 0,
) -> None:
    """Review a table: what is in it, how well its labels can be predicted, and what a model says about them.

    Writes one page that opens in any browser without a network, and prints a line for each label. All figures are
    about samples that the model had not seen, next to logistic regression and a forest on the same folds.

    \b
    Examples:
      mltsk review patients.csv --labels asthma,gout --out review.html
      mltsk review patients.xlsx --labels 4 --threshold cost --cost 1,5 --quick --out review.html
    """
    check_cost(threshold, cost)
    check_target(out)  # fail before the work, not after it
    table = inputs.open_data(data, said)
    command = shlex.join(["mltsk", *(arg for arg in sys.argv[1:] if arg != "--debug")])
    model = mltsk.MLTSKClassifier(
        threshold="f1" if threshold is None else threshold, cost=cost or (1, 1)
    )
    with noted_warnings(), working(f"review of {table.name}", "steps") as report:
        made = pages.review_page(
            table, model=model, quick=quick, seed=seed, command=command, progress=report
        )
    rendering.write_page(made.page, out)
    more = len(made.labels) - LABELS
    lines = [
        *made.labels[:LABELS],
        *([f"… and {more} more, in the page"] if more > 0 else []),
    ]
    typer.echo(
        "\n".join(
            [*made.summary, "", *(f"  {line}" for line in lines), "", f"review: {out}"]
        )
    )
