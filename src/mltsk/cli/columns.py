"""``mltsk columns``: what each column of a table is taken for, and the options of every command that reads one."""

from typing import Annotated, Any

import typer
from typer import Argument, Option

LABELS_HELP = """Label columns: names separated by commas (name=word if another word than yes or 1 means yes),
how many there are at the end (negative: at the start), or a MULAN XML file. ARFF and NPZ files may declare them."""

FILE_HELP = "A CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT file; .csv.gz will do."
Labels = Annotated[str | None, Option("--labels", metavar="COLUMNS", help=LABELS_HELP)]
Drop = Annotated[str, Option(metavar="COLUMNS", help="Columns to leave out.")]
Id = Annotated[str, Option("--id", metavar="COLUMNS", help="Columns that only identify a sample.")]
Nominal = Annotated[str, Option(metavar="COLUMNS", help="Columns of categories without an order.")]
Ordinal = Annotated[
    list[str] | None, Option(metavar="LEVELS", help='Ordered categories: "education: low < medium < high". Repeatable.')
]
Number = Annotated[str, Option(metavar="COLUMNS", help="Columns of numbers, whatever they look like.")]
Missing = Annotated[str, Option(metavar="WORDS", help='Words for a missing cell, such as "n/a,<4.0,-999".')]
LabelColumn = Annotated[str | None, Option(metavar="COLUMN", help="A column that lists the labels of each sample.")]
Separator = Annotated[str, Option(metavar="SIGN", help="What separates two labels in that column.")]


def columns(
    data: Annotated[str, Argument(metavar="FILE", help=FILE_HELP)],
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

    Separate names by commas, and quote a name that holds a comma. If some cells cannot be read, the report is printed
    all the same, and then the table is refused.

    \b
    Examples:
      mltsk columns patients.csv --labels asthma,gout
      mltsk columns patients.xlsx --labels 4 --ordinal "stage: 1 < 2 < 3" --missing "<4.0,-999"
      mltsk columns visits.csv --label-column diagnoses --separator ";"
    """
    from ..tables import TableError, read_table

    said: dict[str, Any] = {"drop": drop, "id": id, "nominal": nominal, "ordinal": ordinal}
    said |= {"number": number, "missing": missing}
    try:
        table = read_table(data, labels, **said, label_column=label_column, separator=separator)
    except TableError as error:
        typer.echo(str(error.columns))
        raise
    typer.echo(str(table.columns))
