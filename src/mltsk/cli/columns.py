"""``mltsk columns``: what each column of a table is taken for, before any model is fitted."""

from typing import Annotated

import typer
from typer import Argument

from .tables import Drop, Id, LabelColumn, Labels, Missing, Nominal, Number, Ordinal, Separator, open_table


def columns(
    data: Annotated[
        str, Argument(metavar="FILE", help="A CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; .csv.gz will do.")
    ],
    labels: Labels = None,
    drop: Drop = "",
    id: Id = "",
    nominal: Nominal = "",
    ordinal: Ordinal = None,
    number: Number = "",
    missing: Missing = "",
    label_column: LabelColumn = None,
    separator: Separator = ";",
) -> None:
    """Report on the columns of a table: kind, distinct values, missing cells, and what a model makes of them.

    Names are given with commas between; quote a name that holds a comma. A table with cells that cannot be read is
    reported all the same, and then refused.

    \b
    Examples:
      mltsk columns patients.csv --labels asthma,gout
      mltsk columns patients.xlsx --labels 4 --ordinal "stage: 1 < 2 < 3" --missing "<4.0,-999"
      mltsk columns visits.csv --label-column diagnoses --separator ";"
    """
    from ..tables import TableError

    said = {"drop": drop, "id": id, "nominal": nominal, "ordinal": ordinal, "number": number, "missing": missing}
    try:
        table = open_table(data, labels, **said, label_column=label_column, separator=separator)
    except TableError as error:
        typer.echo(str(error.columns))
        raise
    typer.echo(str(table.columns))
