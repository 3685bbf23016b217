"""``mltsk review``: a page about a user's table, and a line per label."""

import shlex
import sys
from typing import Annotated

import typer
from typer import Argument, Option

from ..files import check_target
from .columns import Drop, Id, LabelColumn, Labels, Missing, Nominal, Number, Ordinal, Separator
from .fit import COST_HELP, DATA_HELP, THRESHOLDS, cost_pair, given_threshold, threshold_wish
from .output import LABELS, counting, noted_warnings

THRESHOLD_HELP = "Score from which a label is predicted, or what to tune it for, per label.  [default: f1]"


def review(
    data: Annotated[str, Argument(metavar="DATA", help=DATA_HELP)],
    out: Annotated[str, Option("--out", "-o", metavar="FILE", help="Where to write the page (….html).")],
    labels: Labels = None,
    drop: Drop = "",
    id: Id = "",
    nominal: Nominal = "",
    ordinal: Ordinal = None,
    number: Number = "",
    missing: Missing = "",
    label_column: LabelColumn = None,
    separator: Separator = ";",
    threshold: Annotated[str | None, Option(parser=threshold_wish, metavar=THRESHOLDS, help=THRESHOLD_HELP)] = None,
    cost: Annotated[str | None, Option(parser=cost_pair, metavar="ALARM,MISS", help=COST_HELP)] = None,
    quick: Annotated[bool, Option("--quick", help="Leave out other methods and shorter models.")] = False,
    seed: Annotated[int, Option(min=0, help="Seed of folds, forest and intervals.")] = 0,
) -> None:
    """Review a table: what is in it, how well its labels can be predicted, and what a model says about them.

    Writes one page that opens in any browser without a network, and prints a line for each label. All figures are
    about samples that the model had not seen, next to logistic regression and a forest on the same folds.

    \b
    Examples:
      mltsk review patients.csv --labels asthma,gout --out review.html
      mltsk review patients.xlsx --labels 4 --threshold cost --cost 1,5 --quick --out review.html
    """
    from .. import MLTSKClassifier
    from ..pages.render import write_page
    from ..pages.review import review_page
    from .inputs import open_data

    tuned = given_threshold(threshold, cost)
    check_target(out)  # fail before the work, not after it
    said = {"drop": drop, "id": id, "nominal": nominal, "ordinal": ordinal, "number": number, "missing": missing}
    table = open_data(data, labels, said | {"label_column": label_column, "separator": separator})
    command = shlex.join(["mltsk", *(arg for arg in sys.argv[1:] if arg != "--debug")])
    model = MLTSKClassifier(**{"threshold": "f1"} | tuned)
    with noted_warnings(), counting(f"review of {table.name}", "steps") as report:
        made = review_page(table, model=model, quick=quick, seed=seed, command=command, progress=report)
    write_page(made.page, out)
    more = len(made.labels) - LABELS
    lines = [*made.labels[:LABELS], *([f"… and {more} more, in the page"] if more > 0 else [])]
    typer.echo("\n".join([*made.summary, "", *(f"  {line}" for line in lines), "", f"review: {out}"]))
