"""Sheets to print and to file, made from a model and the table it was fitted on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..exceptions import InputError
from ..files import csv_text, writing
from . import replaced
from .options import (
    FileOptions,
    GroupOption,
    ModelArgument,
    out_option,
    there_is_data,
    with_options,
)
from .output import (
    aligned,
    note,
    refuse_standard_output,
    say,
    working,
    write_text,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

    from ..io import ModelInfo
    from ..tables import DataTable
    from .opened import Estimator

POINTS_OUT_HELP = "The sheet: ….html (one A4 page per label), ….md or ….csv."
MAX_POINTS_HELP = "Points of the feature that adds most to a label."
POINTS_STATEMENTS_HELP = "Statements per label, at most."

PERSON_DATA_HELP = "A table that holds the person: a file, or a name of the catalog."
ROW_HELP = "Which row the person is; 1 is the first below the names of columns."
FITTED_ON_HELP = "The table of the fit, if DATA is another one: it says how sure."
NEAREST_HELP = "How many rows that are most like this person to show."

FittedDataArgument = Annotated[
    str,
    Argument(
        metavar="DATA",
        callback=there_is_data,
        help="The data of the fit: a file, or a name of the catalog. Model files hold "
        "no rows.",
    ),
]


@with_options
def points(
    model: ModelArgument,
    data: FittedDataArgument,
    out: Annotated[str, out_option(POINTS_OUT_HELP)],
    statements: Annotated[
        int, Option(min=1, max=100, metavar="N", help=POINTS_STATEMENTS_HELP)
    ] = 8,
    max_points: Annotated[
        int, Option(min=1, max=100, metavar="N", help=MAX_POINTS_HELP)
    ] = 10,
    group: GroupOption = None,
    *,
    options: FileOptions,
) -> None:
    """Write a sheet of points that add up to a probability, a page per label.

    Nothing else is needed to use the sheet: it has the points of every finding, what a
    total means, the total from which the label is predicted, and the same as a
    nomogram. The command prints how much less accurate the points are than the model,
    on rows that were left out.

    \b
    Examples:
      mltsk points patients.skops patients.csv --out points.html
      mltsk points patients.skops patients.csv --statements 5 --out points.csv
    """
    from ..pages.points import check_sheet_path, sheet_text
    from ..pages.render import write_page
    from ..tables.files import source_files
    from .inputs import check_table_of_fit

    refuse_standard_output(out, "--out", "A sheet")
    check_sheet_path(out)
    kind = replaced.kind_by_ending(out)
    replaced.check_output(out, kind, [model, *source_files(data)])
    classifier, info, rows = fitted_rows(model, data, group, options)
    check_table_of_fit(model, info, data, rows)
    with working("finding points"):
        sheet = classifier.points(
            statements, max_points, X=rows.X, y=rows.Y, groups=rows.groups
        )
    write_page(sheet_text(sheet, out, title=info.data or rows.name), Path(out))
    say("AP on rows that were left out, and the AUC of the points:\n")
    header = ["label", "points", "short model", "whole model", "AUC"]
    lines: list[list[str]] = [header]
    columns = ["AP", "AP_short", "AP_long", "AUC"]
    for label, *values in sheet.worth_[columns].itertuples():
        cells = ["-" if value != value else f"{value:.3f}" for value in values]
        lines.append([label, *cells])
    say(aligned(lines))
    say(f"\nsheet: {out}")


@with_options
def person(
    model: ModelArgument,
    data: Annotated[
        str, Argument(metavar="DATA", callback=there_is_data, help=PERSON_DATA_HELP)
    ],
    row: Annotated[int, Option(min=1, metavar="N", help=ROW_HELP)],
    out: Annotated[str, out_option("The page to write (….html).")],
    fitted_on: Annotated[
        str | None,
        Option(
            "--fitted-on",
            metavar="FILE",
            callback=there_is_data,
            help=FITTED_ON_HELP,
        ),
    ] = None,
    neighbours: Annotated[
        int, Option(min=0, max=50, metavar="N", help=NEAREST_HELP)
    ] = 0,
    group: GroupOption = None,
    *,
    options: FileOptions,
) -> None:
    """Write what a model says about one person, how sure it is, and why.

    The page can be printed. It has a probability per label with its interval, the
    reasons, the missing measurement that would say most, and how much the answer
    changes between fits to random halves of the table. If the person is in the table of
    the fit, the model is fitted again without that person.

    \b
    Examples:
      mltsk person patients.skops patients.csv --row 12 --out person.html
      mltsk person patients.skops new.csv --row 1 --fitted-on patients.csv --out p.html
    """
    import numpy as np

    from ..pages.person import person_page
    from ..pages.render import check_page_path, write_page
    from ..tables.files import source_files
    from .inputs import check_table_of_fit, is_table_of_fit

    refuse_standard_output(out, "--out", "A page")
    check_page_path(out)
    sources = [*source_files(data), *source_files(fitted_on)]
    replaced.check_output(out, replaced.PAGE, [model, *sources])
    classifier, info, rows = fitted_rows(
        model, data, group, options, labels_needed=False
    )
    if row > len(rows):
        raise InputError(f"{data} has {len(rows):,} rows: there is no row {row}.")
    fitted = None
    others = np.arange(0)
    if fitted_on is not None:
        _, _, fitted = fitted_rows(model, fitted_on, group, options)
        check_table_of_fit(model, info, fitted_on, fitted)
        others = np.arange(len(fitted))
    elif is_table_of_fit(info, rows):
        fitted = rows
        others = _others(rows, row - 1)
    else:
        why = _why_no_interval(model, info, data)
        if neighbours:
            raise InputError(f"There are no --neighbours to list, because {why}")
        note(f"There is no interval, because {why}")
    with working("asking the model"):
        if fitted is not None:
            classifier = _refitted(classifier, fitted, others)
        page = person_page(
            classifier,
            rows.X[row - 1 : row],
            title=_title(rows, row),
            neighbours=neighbours,
            ids=None if fitted is None else _numbered(fitted.ids, others),
            Y=None if fitted is None else _numbered(fitted.Y, others),
        )
    write_page(page, Path(out))
    say(f"person: {out}")


def _why_no_interval(model: str, info: "ModelInfo", data: str) -> str:
    """Why a model cannot be fitted again, and what to do about it."""
    from .inputs import why_no_refit

    why = why_no_refit(info)
    if why:
        return f"{model} {why}: a fit to a table would be another model."
    return (
        f"{data} is not the table that the model was fitted on: name that table with "
        "--fitted-on."
    )


def _others(rows: "DataTable", own: int) -> "NDArray[np.intp]":
    """All rows but one, and those that belong to it."""
    import numpy as np

    is_own = np.arange(len(rows)) == own
    if rows.groups is not None:
        is_own = rows.groups == rows.groups[own]
    return np.flatnonzero(~is_own)


def _refitted(
    classifier: "Estimator", rows: "DataTable", kept: "NDArray[np.intp]"
) -> "Estimator":
    """The same classifier fitted to some rows of a table, under the same wishes."""
    from ..pages.baselines import take_rows

    return classifier.fitted_again(
        take_rows(rows.X, kept),
        rows.Y.iloc[kept],
        groups=None if rows.groups is None else rows.groups[kept],
    )


def _numbered(frame: "DataFrame", kept: "NDArray[np.intp]") -> "DataFrame":
    """Some rows of a frame, by their number from 1 on."""
    return frame.iloc[kept].set_axis(kept + 1, axis=0)


def _title(rows: "DataTable", row: int) -> str:
    """A heading that says who it is about."""
    if not len(rows.ids.columns):
        return f"Row {row} of {rows.name}"
    column = rows.ids.columns[0]
    return f"{column} {rows.ids.iloc[row - 1, 0]} (row {row} of {rows.name})"


@with_options
def second_look(
    model: ModelArgument,
    data: FittedDataArgument,
    out: Annotated[str, out_option("CSV to write; - is standard output.")] = "-",
    rows: Annotated[
        int, Option(min=1, metavar="N", help="How many labels to list.")
    ] = 20,
    group: GroupOption = None,
    *,
    options: FileOptions,
) -> None:
    """List recorded labels that a model finds unlikely, to be checked.

    Each row is judged by a model that was fitted without it, or without its group. If
    all labels were right, some would still look unlikely by chance: the column
    by_chance says how many would be at least as unlikely, and the column chance how
    probable it is that there is at least one.

    \b
    Examples:
      mltsk second-look patients.skops patients.csv --out check.csv
    """
    import numpy as np

    from ..pages.review_second_look import look_sentence, second_look_csv_lines
    from ..surprises import second_look as look_again
    from ..tables.files import source_files
    from .inputs import check_table_of_fit

    kind = replaced.SECOND_LOOK
    replaced.check_output(out, kind, [model, *source_files(data)])
    classifier, info, table = fitted_rows(model, data, group, options)
    check_table_of_fit(model, info, data, table)
    with working("looking again"):
        fitted = _refitted(classifier, table, np.arange(len(table)))
        look = look_again(fitted, at_most=rows)
    write_text(csv_text(*second_look_csv_lines(look, table)), out)
    say(look_sentence(look), err=True)


@with_options
def methods(
    model: ModelArgument,
    data: FittedDataArgument,
    out: Annotated[str, out_option("The document: ….html, ….md or ….docx.")],
    group: GroupOption = None,
    *,
    options: FileOptions,
) -> None:
    """Write what the methods section of a paper needs about a model.

    It has a paragraph to paste, a model card, and the items of TRIPOD+AI: those that
    this command can answer are filled in, and the others are marked as open.

    \b
    Examples:
      mltsk methods patients.skops patients.csv --out methods.docx
    """
    import numpy as np

    from ..pages.methods_section import (
        check_methods_path,
        methods_bytes,
        methods_facts,
    )
    from ..tables.files import source_files
    from .inputs import check_table_of_fit

    refuse_standard_output(out, "--out", "A document")
    check_methods_path(out)
    kind = replaced.kind_by_ending(out)
    replaced.check_output(out, kind, [model, *source_files(data)])
    classifier, info, table = fitted_rows(model, data, group, options)
    check_table_of_fit(model, info, data, table)
    with working("judging the model"):
        fitted = _refitted(classifier, table, np.arange(len(table)))
        content = methods_bytes(methods_facts(fitted, table), out)
    with writing(Path(out)) as file:
        file.write(content)
    say(f"methods: {out}")


def fitted_rows(
    model: str,
    data: str,
    group: str | None,
    options: FileOptions,
    *,
    labels_needed: bool = True,
) -> "tuple[Estimator, ModelInfo, DataTable]":
    """A classifier, what its file says, and the rows that it was fitted on."""
    from .inputs import fitted_label_options, samples
    from .opened import classifier_with_rules, has_steps, open_model

    opened, info = open_model(model)
    classifier = classifier_with_rules(opened, model)
    if has_steps(opened) or not hasattr(classifier, "points"):
        raise InputError(
            f"{model} holds a {type(opened).__name__}: sheets are made for what "
            "`mltsk fit` writes without --preset paper."
        )
    rows = samples(
        classifier,
        info,
        data,
        label_options=fitted_label_options(info),
        group=group,
        labels_needed=labels_needed,
        file_options=options,
    )
    return classifier, info, rows
