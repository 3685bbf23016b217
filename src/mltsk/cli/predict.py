"""``mltsk predict``: scores and labels by name."""

from typing import Annotated

import typer

from .output import write_rows
from .progress import working


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file with the features, or a name of the catalog.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="CSV file to write; - is standard output.")
    ] = "-",
) -> None:
    """Predict the labels of every row.

    Columns are found by name: their order does not matter, labels may be there or not, and columns that the model
    does not know are left out with a note. For each label there are two columns, score:LABEL and LABEL (0 or 1).

    \b
    Examples:
      mltsk predict yeast.skops new.csv --out predictions.csv
      mltsk predict patients.skops patients.parquet | head
    """
    from ..io import check_target
    from .inputs import features_of, open_model, open_table, outputs_of

    if out != "-":
        check_target(out)
    classifier, info = open_model(model)
    table = open_table(data)
    X = features_of(classifier, info, table, data)
    with working(f"predicting {len(table):,} rows"):
        scores, predictions = outputs_of(classifier, X)
    rows = zip(scores.tolist(), predictions.tolist(), strict=True)
    if predictions.ndim == 1:  # a model of one-dimensional classes, fitted in Python
        header = [*(f"score:{name}" for name in info.label_names), "prediction"]
        write_rows(header, ([*given, label] for given, label in rows), out)
    else:
        header = [column for name in info.label_names for column in (f"score:{name}", name)]
        write_rows(header, ([x for pair in zip(*row, strict=True) for x in pair] for row in rows), out)
