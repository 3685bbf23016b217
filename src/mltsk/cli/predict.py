"""``mltsk predict``: probabilities and labels by name."""

from typing import Annotated

from typer import Argument, Option

from .output import write_rows
from .progress import working


def predict(
    model: Annotated[str, Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    data: Annotated[str, Argument(metavar="DATA", help="A file with the features, or a name of the catalog.")],
    out: Annotated[str, Option("--out", "-o", metavar="FILE", help="CSV to write; - is standard output.")] = "-",
) -> None:
    """Predict the labels of every row.

    Columns are found by name: their order does not matter, labels may be there or not, and columns that the model
    does not know are left out with a note. For each label there are two columns, probability:LABEL and LABEL (0 or 1).

    \b
    Examples:
      mltsk predict yeast.skops new.csv --out predictions.csv
      mltsk predict patients.skops patients.parquet | head
    """
    from ..io import check_target
    from .inputs import asked, features_of, open_model, open_table

    if out != "-":
        check_target(out)
    classifier, info = open_model(model)
    table = open_table(data)
    X = features_of(classifier, info, table, data)
    how = "probability" if hasattr(classifier, "predict_proba") else "score"
    with working(f"predicting {len(table):,} rows"):
        values, labels = asked(classifier, X, "predict_proba" if how == "probability" else "decision_function")
    rows = zip(([f"{value:.5g}" for value in row] for row in values.tolist()), labels.tolist(), strict=True)
    if labels.ndim == 1:  # a model of one-dimensional classes, fitted in Python
        write_rows([*(f"{how}:{name}" for name in classifier.classes_), "prediction"], ([*p, y] for p, y in rows), out)
    else:
        header = [column for name in info.label_names for column in (f"{how}:{name}", name)]
        write_rows(header, ([x for pair in zip(*row, strict=True) for x in pair] for row in rows), out)
