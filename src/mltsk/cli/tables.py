"""What is done with a table: ``mltsk columns``, ``doctor`` and ``review``."""

import shlex
from textwrap import wrap
from typing import Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import check_installed
from .options import (
    DataArgument,
    MaxLabelsOption,
    QuickOption,
    TableOptions,
    out_option,
    threshold_option,
    with_options,
)
from .output import (
    MAX_LINE_WIDTH,
    MAX_PRINTED_LABELS,
    check_files,
    noted_warnings,
    refuse_standard_output,
    say,
    typed_command,
    working,
)

FILE_HELP = "A CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; .csv.gz will do."
SEED_HELP = "Seed of folds, forest and intervals."


@with_options
def columns(
    data: Annotated[str, Argument(metavar="FILE", help=FILE_HELP)],
    options: TableOptions,
) -> None:
    """Report on the columns of a table: kind, distinct values, missing cells, and what
    a model makes of them.

    Separate names by commas, and quote a name that holds a comma. If some cells cannot
    be read, the report is printed all the same, and then the table is refused.

    \b
    Examples:
      mltsk columns patients.csv --labels asthma,gout
      mltsk columns patients.xlsx --ordinal "stage: 1 < 2 < 3" --missing "<4.0,-999"
      mltsk columns visits.csv --label-column diagnoses --separator ";"
    """
    from ..tables import TableError

    try:
        report = options.read(data).columns
    except TableError as error:
        say(str(error.columns))
        raise
    say(str(report))


@with_options
def doctor(
    data: Annotated[str, Argument(metavar="FILE", help=FILE_HELP)],
    options: TableOptions,
) -> None:
    """Say what in a table will hurt a model, and what to do about it.

    It looks for features that tell a label almost alone, rows that are there twice,
    labels that are rare or hardly observed, nearly empty columns, and fewer rows than a
    model of that many features needs.

    \b
    Examples:
      mltsk doctor patients.csv --labels asthma,gout
      mltsk doctor visits.xlsx --labels 4 --group patient
    """
    from ..tables.advice import advice
    from .inputs import open_data

    table = open_data(data, options)
    say(f"{table.columns.title}\n")
    sentences = advice(table)
    for sentence in sentences or ["Nothing was found that will hurt."]:
        say("\n".join(wrap(sentence, MAX_LINE_WIDTH, subsequent_indent="  ")))
    say(f"\n`mltsk columns {data}` says what each column is taken for.")


@with_options
def review(
    data: DataArgument,
    out: Annotated[str, out_option("Where to write the page (….html).")],
    options: TableOptions,
    threshold: Annotated[str | None, threshold_option("f1")] = None,
    quick: QuickOption = False,
    seed: Annotated[int, Option(min=0, help=SEED_HELP)] = 0,
    max_labels: MaxLabelsOption = None,
) -> None:
    """Review a table: what is in it, how well its labels can be predicted, and what a
    model says about them.

    Writes one page that opens in any browser without a network, and prints a line for
    each label. All figures are about samples that the model had not seen, next to
    logistic regression and a forest on the same folds.

    \b
    Examples:
      mltsk review patients.csv --labels asthma,gout --out review.html
      mltsk review patients.csv --labels 4 --threshold cost=1,5 --quick --out page.html
    """
    from ..explain.rules import MAX_SHOWN_LABELS
    from ..pages.render import write_page
    from ..pages.review import review_page
    from ..tables.files import source_files
    from .inputs import open_data

    # before the work, not after it
    check_installed("jinja2", extra="report")
    refuse_standard_output(out, "--out", "A page")
    check_files([out], inputs=source_files(data, options.labels))
    table = open_data(data, options)
    model = mltsk.MLTSKClassifier(threshold="f1" if threshold is None else threshold)
    with noted_warnings(), working(f"review of {table.name}", "steps") as show:
        made = review_page(
            table,
            model=model,
            quick=quick,
            seed=seed,
            command=shlex.join(typed_command()),
            progress=show,
            max_labels=max_labels or MAX_SHOWN_LABELS,
        )
    write_page(made.page, out)
    say("\n".join([*made.summary, ""]))
    for sentence in made.labels[:MAX_PRINTED_LABELS]:
        say(f"  {sentence}")
    n_more = len(made.labels) - MAX_PRINTED_LABELS
    if n_more > 0:
        where = "" if made.shown else ", in the page"
        say(f"  … and {n_more} more{where}")
    if made.shown:
        say(f"\n{made.shown}")
    say(f"\nreview: {out}")
