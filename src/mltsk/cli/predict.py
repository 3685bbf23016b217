"""``mltsk predict``: probabilities, decisions and reasons for the rows of a file."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..exceptions import InputError
from ..files import csv_text
from ..text import plural
from . import replaced
from .options import (
    FileOptions,
    MissingOption,
    ModelArgument,
    out_option,
    there_is_data,
    with_options,
)
from .output import note, working, write_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..io import ModelInfo
    from ..tables import DataTable
    from .opened import Estimator

N_REASONS = 3
ID_HELP = (
    "Columns that identify a sample, written first.  "
    "[default: those of the fitted data]"
)
REASONS_HELP = "Also write the three strongest reasons for each probability."


@with_options
def predict(
    model: ModelArgument,
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            callback=there_is_data,
            help="A file with the features, or a name of the catalog.",
        ),
    ],
    out: Annotated[str, out_option("CSV to write; - is standard output.")] = "-",
    id: Annotated[str, Option("--id", metavar="COLUMNS", help=ID_HELP)] = "",
    missing: MissingOption = "",
    reasons: Annotated[bool, Option("--reasons", help=REASONS_HELP)] = False,
    *,
    options: FileOptions,
) -> None:
    """Predict the labels of every sample.

    Columns are found by name: their order does not matter, labels may be there or not,
    and columns that the model does not use are left out with a note. Cells may be
    missing, and values need not have been seen before: a note counts them. Columns that
    identify a sample come first, then two per label, probability:LABEL and LABEL (0 or
    1), and with --reasons a third, reasons:LABEL: what moves the log-odds of the
    probability most, and by how much. A model of --preset paper knows no probabilities:
    it has score:LABEL, and reasons are what moves the score. A name that a spreadsheet
    would take for a formula, such as =1+1, gets an apostrophe in front.

    \b
    Examples:
      mltsk predict yeast.skops new.csv --out predictions.csv
      mltsk predict patients.skops new.xlsx --id patient --missing "<4.0" --out new.csv
      mltsk predict patients.skops new.csv --reasons --out reasons.csv
      mltsk predict patients.skops patients.parquet | head
    """
    from ..tables.files import source_files
    from .inputs import NO_LABELS, fitted_label_options, samples
    from .opened import open_model

    kind = replaced.PREDICTIONS
    replaced.check_output(out, kind, [model, *source_files(data)])
    classifier, info = open_model(model)
    if reasons:
        _check_reasons(classifier, model)
    in_long_form = "long" in info.reading
    rows = samples(
        classifier,
        info,
        data,
        label_options=fitted_label_options(info) if in_long_form else NO_LABELS,
        id=id,
        missing=missing,
        labels_needed=False,
        file_options=options,
    )
    with working(f"predicting {plural(len(rows.ids), 'row')}"):
        predictions = _predictions(classifier, info, rows)
        if reasons:
            predictions = _with_reasons(predictions, classifier, rows)
    _note_unfired(classifier, rows, data)
    for name in rows.ids:
        if name in predictions:
            raise InputError(
                f"Predictions have a column {name!r} of their own: leave it out of "
                "--id."
            )
    table = rows.ids.astype(object).join(predictions)
    table = table.where(table.notna(), None)  # which is an empty cell
    lines = table.itertuples(index=False, name=None)
    write_text(csv_text(table.columns, lines), out)


def _predictions(
    model: "Estimator", info: "ModelInfo", rows: "DataTable"
) -> "DataFrame":
    """A frame of texts: probabilities and labels by name, or probabilities and a class.

    A model without probabilities has scores instead.
    """
    from pandas import DataFrame

    from .opened import answers, has_probabilities, scores_and_predictions

    if has_probabilities(model):
        kind = "probability"
        values = answers(model, rows.X, "predict_proba")
        predicted = answers(model, rows.X, "predict")
    else:
        kind = "score"
        values, predicted = scores_and_predictions(model, rows.X)
    is_multilabel = predicted.ndim == 2
    names = info.label_names if is_multilabel else model.classes_
    columns: dict[str, object] = {}
    for j, name in enumerate(names):
        columns[f"{kind}:{name}"] = [f"{value:.5g}" for value in values[:, j].tolist()]
        if is_multilabel:
            columns[name] = predicted[:, j]
    if not is_multilabel:  # one-dimensional classes, fitted in Python
        columns["prediction"] = predicted
    return DataFrame(columns, index=rows.ids.index, dtype=object)


def _note_unfired(model: "Estimator", rows: "DataTable", data: str) -> None:
    """Say on how many rows no rule of a model of the paper fires."""
    from ..core.arrays import dense
    from .opened import has_steps

    if has_steps(model) or not hasattr(model, "unfired_share_"):
        return
    firing = model.system_.firing_strengths(dense(rows.X))
    n_unfired = int((firing == 0).all(axis=1).sum())
    if n_unfired:
        note(
            f"{data}: no rule fires on {plural(n_unfired, 'row')}, where all scores "
            "are 0; a model of `mltsk fit --underflow softmax` has rules that do."
        )


def _check_reasons(model: "Estimator", path: str) -> None:
    """Refuse reasons of a model that tells none, or tells them of other features."""
    if not hasattr(model, "explain"):
        raise InputError(
            f"{path} holds a {type(model).__name__}, which gives no reasons: leave "
            "--reasons out."
        )
    if not model.multilabel_:
        raise InputError(
            f"{path} predicts one class of several, not labels: leave --reasons out."
        )


def _with_reasons(
    predictions: "DataFrame", model: "Estimator", rows: "DataTable"
) -> "DataFrame":
    """Predictions with a column of reasons behind each label."""
    from .opened import matched_names

    with matched_names():
        reasons = list(model.explain(rows.X).reasons(N_REASONS))
    for label in model.label_names_:
        place = predictions.columns.get_loc(label) + 1
        texts = [of_row[label] for of_row in reasons]
        predictions.insert(place, f"reasons:{label}", texts)
    return predictions
