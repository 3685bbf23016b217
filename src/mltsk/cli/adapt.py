"""``mltsk adapt``: a model for another site, next to doing less and doing more."""

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..text import quoted_list
from . import replaced
from .options import (
    FileOptions,
    GroupOption,
    LabelColumnOption,
    MissingOption,
    ModelArgument,
    SeparatorOption,
    out_option,
    there_is_data,
    with_options,
)
from .output import (
    MAX_LINE_WIDTH,
    aligned,
    noted_warnings,
    refuse_standard_output,
    say,
    working,
)

if TYPE_CHECKING:
    from ..classifier import MLTSKClassifier
    from ..io import ModelInfo
    from ..tables import DataTable
    from ..tables.files import RawTable
    from .inputs import LabelOptions

    Labels = str | int | Mapping[str, None] | None

WAYS = {
    "as it is": "the old model as it is",
    "recalibrated": "recalibrated",
    "adapted": "adapted (written)",
    "refitted": "refitted from nothing",
}
MEANING = (
    "Every row is scored without itself (without its group). AP and AUC are means over "
    "labels: higher is better. Log loss of probabilities: lower is better."
)
LABELS_HELP = "Label columns, if there are others than those of the model."


@with_options
def adapt(
    model: ModelArgument,
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            callback=there_is_data,
            help="A file with rows of the other site.",
        ),
    ],
    out: Annotated[str, out_option("Where to write the adapted model (….skops).")],
    labels: Annotated[str | None, Option(metavar="COLUMNS", help=LABELS_HELP)] = None,
    label_column: LabelColumnOption = None,
    separator: SeparatorOption = None,
    group: GroupOption = None,
    missing: MissingOption = "",
    *,
    options: FileOptions,
) -> None:
    """Adapt a model to another site: the same terms, numbers drawn to the old ones as
    strongly as leave-one-out on the new rows says.

    Prints how four models do on the new rows: the old one as it is, recalibrated,
    adapted, and refitted from nothing. It also says what changed: effects that moved
    beyond their interval, labels that are more or less frequent, what is new and what
    is gone.

    \b
    Examples:
      mltsk adapt model.skops new.csv --out adapted.skops
      mltsk adapt model.skops new.csv --labels asthma,gout,flu --out adapted.skops
    """
    from dataclasses import replace

    from ..tables.files import source_files
    from .changed import check_units, note_far_numbers
    from .inputs import LabelOptions, fitted_label_options
    from .opened import open_model

    refuse_standard_output(out, "--out", "A model")
    replaced.check_output(out, replaced.MODEL, [model, *source_files(data)])
    old, info = open_model(model)
    if not hasattr(old, "adapted"):
        raise InputError(
            f"{model} holds a {type(old).__name__}, which cannot be adapted: `mltsk "
            "fit` without --preset paper writes models that can."
        )
    label_options = fitted_label_options(info)
    if labels is not None or label_column is not None:
        label_options = LabelOptions(labels, label_column, separator)
    table = rows_elsewhere(
        info,
        data,
        label_options=label_options,
        group=group,
        missing=missing,
        file_options=options,
    )
    check_units(data, info.units, table)
    note_far_numbers(old.columns_, old.system_.quantiles, table.X, data)
    with noted_warnings(), working(f"adapting to {len(table):,} rows"):
        new = _adapted(old, table)
    fitted = {**info.fitted, "adapted to": table.name, "new samples": len(table)}
    own = replace(info, label_names=new.label_names_, fitted=fitted)
    mltsk.save(new, out, info=own)
    say(f"{table.name}: {len(table):,} rows\n")
    say(_comparison(new))
    say("\n".join(["", *wrap(MEANING, MAX_LINE_WIDTH), "", "changes:"]))
    for sentence in new.changes_:
        say("\n".join(wrap(f"- {sentence}", MAX_LINE_WIDTH, subsequent_indent="  ")))
    say(f"\nfile  {out}")


def rows_elsewhere(
    info: "ModelInfo",
    data: str,
    *,
    label_options: "LabelOptions",
    group: str | None,
    missing: str,
    file_options: FileOptions,
) -> "DataTable":
    """Rows of another site, which may lack features and labels of a model."""
    from ..tables import read_table
    from ..tables.files import read_raw
    from ..tables.said import label_columns
    from .inputs import note_unused, reading_of_fit

    raw = read_raw(data, None, file_options.rules())
    labels = _labels_there(info, label_options, raw)
    kinds = _kinds_there(info, raw)
    if group is None:
        fitted = info.reading.get("group", "")
        group = fitted if fitted in raw.frame else "none"
    ids = [name for name in info.ids if name in raw.frame and name not in kinds]
    others = {*kinds, *ids, group, *info.label_names, *label_options.list_columns}
    others |= set(label_columns(raw, labels))
    note_unused(data, [name for name in raw.frame if name not in others], ())
    return read_table(
        raw,
        labels=labels,
        kinds=kinds,
        id=ids,
        group=False if group == "none" else group,
        **reading_of_fit(info, label_options, file_options, missing),
    )


def _labels_there(
    info: "ModelInfo", label_options: "LabelOptions", raw: "RawTable"
) -> "Labels":
    """The labels of a model that a file has, or those that were named."""
    labels = label_options.labels
    if not isinstance(labels, Mapping):
        return labels
    present = {name: word for name, word in labels.items() if name in raw.frame}
    if not present:
        raise InputError(
            f"{raw.name} has none of the labels of the model "
            f"({quoted_list(list(info.label_names))}): name its label columns with "
            "--labels."
        )
    return present


def _kinds_there(
    info: "ModelInfo", raw: "RawTable"
) -> dict[str, str | tuple[str, ...]]:
    """The kinds of the features of a model that a file has."""
    kinds = {name: kind for name, kind in info.kinds.items() if name in raw.frame}
    if not kinds:
        raise InputError(
            f"{raw.name} has none of the features of the model "
            f"({quoted_list(list(info.kinds))}): give its columns the same names."
        )
    return kinds


def _adapted(old: "MLTSKClassifier", table: "DataTable") -> "MLTSKClassifier":
    """A model adapted to a table; what is wrong with it in one sentence."""
    try:
        return old.adapted(table.X, table.Y, groups=table.groups)
    except ValueError as error:
        raise InputError(str(error).splitlines()[0]) from error


def _comparison(model: "MLTSKClassifier") -> str:
    """A line per way, with its metrics on the new rows."""
    lines: list[list[str]] = [["on the new rows", "AP", "AUC", "log loss"]]
    for way, title in WAYS.items():
        if way in model.compared_:
            metrics = model.compared_[way].values()
            digits = ["-" if value != value else f"{value:.3f}" for value in metrics]
            lines.append([title, *digits])
    return aligned(lines)
