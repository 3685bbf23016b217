"""The options that say what the columns of a file are: the same for every command that reads a table."""

from typing import Annotated, Any

from typer import Option

LABELS_HELP = """Label columns: their names with commas between (name=word where another word than yes or 1 means yes),
how many there are at the end (negative: at the start), or a MULAN XML file. ARFF and NPZ files may declare them."""

Labels = Annotated[str | None, Option("--labels", metavar="COLUMNS", help=LABELS_HELP)]
Drop = Annotated[str, Option(metavar="COLUMNS", help="Columns to leave out.")]
Id = Annotated[str, Option("--id", metavar="COLUMNS", help="Columns that only identify a row.")]
Nominal = Annotated[str, Option(metavar="COLUMNS", help="Columns of categories without an order.")]
Ordinal = Annotated[
    list[str] | None, Option(metavar="LEVELS", help='Ordered categories: "education: low < medium < high". Repeatable.')
]
Number = Annotated[str, Option(metavar="COLUMNS", help="Columns of numbers, whatever they look like.")]
Missing = Annotated[str, Option(metavar="WORDS", help='Words for a missing cell, such as "n/a,<4.0,-999".')]
LabelColumn = Annotated[str | None, Option(metavar="COLUMN", help="A column that lists the labels of its row.")]
Separator = Annotated[str, Option(metavar="SIGN", help="The sign between two labels of such a list.")]


def open_table(source: str, labels: str | None = None, **said: Any) -> Any:
    """The table of a file, with what the options say about its columns."""
    from ..tables import read_table

    said["ordinal"] = said.get("ordinal") or ()  # typer gives None for an option that is not there
    return read_table(source, labels, **said)
