"""What is done with a table: ``mltsk columns``, ``doctor`` and ``review``."""

import shlex
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from . import replaced
from .options import (
    QuickOption,
    ReviewedLabelsOption,
    TableOptions,
    out_option,
    there_is_data,
    threshold_option,
    with_options,
)
from .output import (
    MAX_LINE_WIDTH,
    MAX_PRINTED_LABELS,
    noted_warnings,
    refuse_standard_output,
    say,
    typed_command,
    working,
)

if TYPE_CHECKING:
    from ..pages.review import ReviewPage
    from ..tables import DataTable

FILE_HELP = "A CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; .csv.gz will do."
FileArgument = Annotated[
    str, Argument(metavar="FILE", callback=there_is_data, help=FILE_HELP)
]
BY_HELP = (
    "Features that results are shown by, in subgroups.  "
    "[default: all nominal ones, and age]"
)
REVIEWED_HELP = (
    "A name of the catalog, or a CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; or "
    "a file that `mltsk fit` wrote, with OTHER."
)
OTHER_HELP = "A table that the model of the file is judged on."
TEST_HELP = "Another table, that the model of DATA is judged on."
SEED_HELP = "Seed of folds, forest and intervals."


@with_options
def columns(
    data: FileArgument,
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
    data: FileArgument,
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
    found = advice(table) or ["Nothing was found that will hurt."]
    for sentence in (table.columns.title, "", *found):
        say("\n".join(wrap(sentence, MAX_LINE_WIDTH, subsequent_indent="  ")))
    rest = f"`mltsk columns {data}` says what each column is taken for."
    say("\n" + "\n".join(wrap(rest, MAX_LINE_WIDTH, break_long_words=False)))


@with_options
def review(
    data: Annotated[
        str, Argument(metavar="DATA", callback=there_is_data, help=REVIEWED_HELP)
    ],
    other: Annotated[
        str | None,
        Argument(
            metavar="OTHER",
            callback=there_is_data,
            help=OTHER_HELP,
            show_default=False,
        ),
    ] = None,
    *,
    out: Annotated[str, out_option("Where to write the page (….html).")],
    options: TableOptions,
    threshold: Annotated[str | None, threshold_option("f1")] = None,
    quick: QuickOption = False,
    seed: Annotated[int, Option(min=0, help=SEED_HELP)] = 0,
    max_labels: ReviewedLabelsOption = None,
    by: Annotated[str, Option(metavar="COLUMNS", help=BY_HELP)] = "",
    test: Annotated[str | None, Option(metavar="OTHER", help=TEST_HELP)] = None,
) -> None:
    """Review a table: how well its labels can be predicted, what a model says about
    them, and what is in it.

    Writes one page that opens in any browser without a network, and prints a line for
    each label. All figures are about samples that the model had not seen, next to
    logistic regression and a forest on the same folds. With --test the model is judged
    on another file; with the file of a model and a table, the model is judged on the
    table as it is.

    \b
    Examples:
      mltsk review patients.csv --labels asthma,gout --out review.html
      mltsk review patients.csv --labels 4 --by sex,age --out review.html
      mltsk review patients.csv --labels 4 --threshold cost=1,5 --quick --out page.html
      mltsk review patients.csv --labels 4 --test other_clinic.csv --out review.html
      mltsk review patients.skops other_clinic.csv --out review.html
    """
    from ..datasets.dataset import split_names
    from ..pages.render import check_page_path, write_page
    from ..pages.review import review_page, validation_page
    from ..pages.shown_labels import MAX_REVIEWED_LABELS
    from ..tables.files import source_files
    from .inputs import open_data

    # before the work, not after it
    refuse_standard_output(out, "--out", "A page")
    inputs = source_files(data, options.labels)
    replaced.check_output(out, replaced.PAGE, [*inputs, data, other, test])
    check_page_path(out)
    command = shlex.join(typed_command())
    if other is not None:
        _refuse_for_models(options, threshold, test)
        model, table, fitted_on = _model_and_table(data, other, options)
        with noted_warnings(), working(f"review of {table.name}"):
            made = validation_page(
                model,
                table,
                command=command,
                fitted_on=fitted_on,
                max_labels=max_labels or MAX_REVIEWED_LABELS,
                by=split_names(by),
            )
    else:
        _refuse_model_alone(data)
        table = open_data(data, options)
        tested = None if test is None else _test_table(test, table, options)
        wish = "f1" if threshold is None else threshold
        with noted_warnings(), working(f"review of {table.name}", "steps") as show:
            made = review_page(
                table,
                model=mltsk.MLTSKClassifier(threshold=wish),
                quick=quick,
                seed=seed,
                command=command,
                progress=show,
                max_labels=max_labels or MAX_REVIEWED_LABELS,
                by=split_names(by),
                test=tested,
            )
    write_page(made.page, out)
    _say_review(made, out)


def _say_review(made: "ReviewPage", out: str) -> None:
    """Print what a review says first, and where it is."""
    for sentence in made.summary:
        say("\n".join(wrap(sentence, MAX_LINE_WIDTH)))
    sentences = [sentence for sentence in made.labels if sentence not in made.summary]
    if sentences:
        say("")
    for sentence in sentences[:MAX_PRINTED_LABELS]:
        lines = wrap(
            sentence, MAX_LINE_WIDTH, initial_indent="  ", subsequent_indent="    "
        )
        say("\n".join(lines))
    n_more = len(made.labels) - MAX_PRINTED_LABELS
    if n_more > 0:
        where = "" if made.shown else ", in the page"
        say(f"  … and {n_more} more{where}")
    if made.shown:
        say(f"\n{made.shown}")
    say(f"\nreview: {out}")


def _refuse_model_alone(data: str) -> None:
    """Refuse a model file without a table to judge it on."""
    if data.lower().endswith(".skops"):
        raise InputError(
            f"{data} is a model: name the table to judge it on, "
            f"`mltsk review {data} OTHER.csv --out PAGE`."
        )


def _refuse_for_models(
    options: TableOptions, threshold: str | None, test: str | None
) -> None:
    """Refuse options that a finished model leaves nothing to decide for."""
    if test is not None or threshold is not None:
        raise InputError(
            "A model file and a table are judged as they are: leave --test and "
            "--threshold out."
        )
    for option in ("nominal", "ordinal", "number", "drop"):
        if getattr(options, option):
            raise InputError(
                f"The model knows its columns: --{option} is for tables without one."
            )


def _model_and_table(
    path: str, data: str, options: TableOptions
) -> "tuple[mltsk.MLTSKClassifier, DataTable, str]":
    """A model of a file, a table as it takes it, and the name of its own data."""
    from ..pages.review_overlap import own_rows_refused
    from .inputs import (
        LabelOptions,
        are_rows_of_fit,
        fitted_label_options,
        samples,
    )
    from .opened import classifier_with_rules, has_steps, open_model

    model, info = open_model(path)
    classifier = classifier_with_rules(model, path)
    if has_steps(model) or not hasattr(classifier, "system_"):
        raise InputError(
            f"{path} holds a {type(model).__name__}: a review takes an MLTSKClassifier "
            "that reads the table itself."
        )
    label_options = fitted_label_options(info)
    if options.labels is not None or options.label_column is not None:
        label_options = LabelOptions(
            options.labels, options.label_column, options.separator
        )
    table = samples(
        classifier,
        info,
        data,
        label_options=label_options,
        id=options.id,
        group=options.group,
        missing=options.missing,
        file_options=options,
    )
    if are_rows_of_fit(info, table):
        raise InputError(own_rows_refused(table.name))
    return classifier, table, info.data


def _test_table(path: str, table: "DataTable", options: TableOptions) -> "DataTable":
    """Another file, read as the first one was: the same kinds of columns and labels."""
    from dataclasses import asdict

    values = asdict(options)
    has_own_labels = options.label_column or options.long
    if not has_own_labels and "=" not in (options.labels or ""):
        values["labels"] = list(table.label_names)
    for kind in ("drop", "nominal", "number"):
        values[kind] = ()
    values["ordinal"] = ()
    values["group"] = table.group_name or False
    return mltsk.read_table(path, **values, kinds=table.kinds)
