"""Options that several commands share, and how what a user types is read."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..limits import read_json

if TYPE_CHECKING:
    from ..tables import DataTable
    from ..tables.files import FileRules

# files that are read ------------------------------------------------------------------


def there_is_data(data: str | None) -> str | None:
    """Data as they are named; a file that is not there is refused before all work."""
    is_file = data is not None and ("/" in data or Path(data).suffix != "")
    if is_file and not Path(str(data)).exists():
        raise InputError(f"{data} cannot be read: there is no such file.")
    if is_file and Path(str(data)).is_dir():
        raise InputError(f"{data} is a folder: name a file in it.")
    return data


def there_is_model(path: str) -> str:
    """A model file as it is named; refused before all work if it is not there."""
    if not Path(path).exists():
        raise InputError(f"There is no model file {path}.")
    return path


def there_are_files(paths: list[str]) -> list[str]:
    """Files as they are named; refused before all work if one is not there."""
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"There is no file {path}.")
    return paths


# thresholds ---------------------------------------------------------------------------

ThresholdWish = float | str | tuple[str, float] | tuple[str, float, float]

THRESHOLD_FORMS = "NUMBER|f1|cost=1,5|precision=0.8|recall=0.9"


def json_content(path: str, what: str, *, example: str) -> Any:
    """What a JSON file of the user holds, or a sentence with an example of one."""
    try:
        return read_json(path)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"No {what} can be read from {path}: {reason}; give a JSON file such as "
            f"{example}."
        ) from error


def threshold_wish(text: str) -> ThresholdWish:
    """What `MLTSKClassifier` takes as a threshold, from what a user types.

    >>> threshold_wish("0.3"), threshold_wish("f1"), threshold_wish("recall=0.9")
    (0.3, 'f1', ('recall', 0.9))
    >>> threshold_wish("cost=1,5")
    ('cost', 1.0, 5.0)
    """
    if text == "f1":
        return text
    goal, _, value = text.partition("=")
    if goal == "cost":
        return _checked(_cost_wish(text, value))
    is_share = goal in ("precision", "recall")
    number = _finite_number(value if is_share else text)
    if number is None or (is_share and not 0 < number <= 1):
        raise typer.BadParameter(
            f"{text!r} is neither a number nor f1, cost=1,5, precision=0.8 "
            "or recall=0.9"
        )
    if is_share:
        return goal, number
    return _checked(number)


def _checked(wish: ThresholdWish) -> ThresholdWish:
    """A wish that `MLTSKClassifier` takes; others are refused before data are read."""
    from ..thresholds import check_threshold_wish

    try:
        check_threshold_wish(wish)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    return wish


def _cost_wish(text: str, value: str) -> tuple[str, float, float]:
    costs = [_finite_number(cost) or 0.0 for cost in value.split(",")]
    if len(costs) != 2 or min(costs) <= 0:
        raise typer.BadParameter(
            f"{text!r} does not say what a false alarm and what a miss costs: write "
            "two numbers above 0, such as cost=1,5"
        )
    alarm, miss = costs
    return "cost", alarm, miss


def _finite_number(text: str) -> float | None:
    """The number of a text; None for any other text, NaN and infinity."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if -inf < number < inf else None


def threshold_option(default: object) -> Any:
    """The option ``--threshold`` of a command, whose help names the default."""
    purpose = (
        "Probability from which a label is predicted, or what to tune it for, per "
        "label."
    )
    return Option(
        parser=threshold_wish,
        metavar=THRESHOLD_FORMS,
        help=f"{purpose}  [default: {default}]",
    )


# options of several commands ----------------------------------------------------------


def out_option(help: str, metavar: str = "FILE") -> Any:
    """The option ``--out`` of a command."""
    return Option("--out", "-o", metavar=metavar, help=help)


StatementsOption = Annotated[
    int | None,
    Option(
        min=1, metavar="N", help="Shorten to at most this many statements per label."
    ),
]
DataArgument = Annotated[
    str,
    Argument(
        metavar="DATA",
        callback=there_is_data,
        help="A name of the catalog, or a CSV, TSV, Excel, Parquet, ARFF, NPZ or MAT "
        "file.",
    ),
]
ModelArgument = Annotated[
    str,
    Argument(
        metavar="MODEL",
        callback=there_is_model,
        help="A file that `mltsk fit` wrote.",
    ),
]
QuickOption = Annotated[
    bool, Option("--quick", help="Leave out other methods and shorter models.")
]
MaxLabelsOption = Annotated[
    int | None,
    Option(
        "--max-labels",
        min=1,
        metavar="N",
        help="How many labels the page shows one by one: the most frequent ones.  "
        "[default: 500]",
    ),
]
# A review says more of each label than an explorer.
ReviewedLabelsOption = Annotated[
    int | None,
    Option(
        "--max-labels",
        min=1,
        metavar="N",
        help="How many labels the page shows one by one: the most frequent ones.  "
        "[default: 120]",
    ),
]


# the columns of a table ---------------------------------------------------------------

LabelsOption = Annotated[
    str | None,
    Option(
        "--labels",
        metavar="COLUMNS",
        help="Label columns: names separated by commas (name=word if another word "
        "than yes or 1 means yes, name=word|other if several do), how many there are "
        "at the end (negative: at the start), or a MULAN XML file. ARFF and NPZ files "
        "may declare them.",
    ),
]
DropOption = Annotated[str, Option(metavar="COLUMNS", help="Columns to leave out.")]
IdOption = Annotated[
    str, Option("--id", metavar="COLUMNS", help="Columns that only identify a sample.")
]
NominalOption = Annotated[
    str, Option(metavar="COLUMNS", help="Columns of categories without an order.")
]
OrdinalOption = Annotated[
    list[str] | None,
    Option(
        metavar="LEVELS",
        help='Ordered categories: "education: low < medium < high". Repeatable.',
    ),
]
NumberOption = Annotated[
    str, Option(metavar="COLUMNS", help="Columns of numbers, whatever they look like.")
]
MissingOption = Annotated[
    str,
    Option(metavar="WORDS", help='Words for a missing cell, such as "n/a,<4.0,-999".'),
]
LabelColumnOption = Annotated[
    str | None,
    Option(metavar="COLUMN", help="A column that lists the labels of each sample."),
]
SeparatorOption = Annotated[
    str | None,
    Option(
        metavar="SIGN", help="What separates two labels in that column.  [default: ;]"
    ),
]
LongOption = Annotated[
    str | None,
    Option(
        metavar="COLUMNS",
        help='For a row per sample and label, such as "patient,diagnosis": these two '
        "columns.",
    ),
]
PrefixOption = Annotated[
    int,
    Option(
        min=0,
        metavar="N",
        help="How many characters of a listed label count, such as 3 for E11 of E11.9.",
        show_default=False,
    ),
]
BlankMeansNoOption = Annotated[
    bool,
    Option("--blank-means-no", help="A blank cell of a label or tick box is a no."),
]
GroupOption = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="A column that is the same for rows that belong together, such as the "
        "patient of a visit; 'none' for no such column.  [default: an identifier that "
        "repeats]",
    ),
]


AgeOption = Annotated[
    str,
    Option(
        metavar="COLUMNS",
        help='Dates to read as ages: "born:visit" counts years between two columns, '
        '"born:2024-12-31" up to a day.',
        show_default=False,
    ),
]
SheetOption = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Sheet of a workbook, by name or number.  [default: the first with a "
        "table]",
    ),
]
EncodingOption = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Encoding of a text file, such as cp1252.  [default: found]",
    ),
]
SkipRowsOption = Annotated[
    int | None,
    Option(
        min=0,
        metavar="N",
        help="Rows above the names of the columns.  [default: found]",
    ),
]
HeaderRowsOption = Annotated[
    int | None,
    Option(
        min=1,
        max=3,
        metavar="N",
        help="Rows with names, their groups and units, 1 to 3.  [default: found]",
    ),
]
SkipEndOption = Annotated[
    int | None,
    Option(
        min=0,
        metavar="N",
        help="Rows below the data, without blank ones.  [default: found]",
    ),
]
DecimalOption = Annotated[
    str,
    Option(
        metavar="SIGN",
        help="Sign before decimals, a point or a comma.  [default: found per column]",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What a user says about a file: where its table lies, how it is written."""

    sheet: SheetOption = None
    encoding: EncodingOption = None
    skip_rows: SkipRowsOption = None
    header_rows: HeaderRowsOption = None
    skip_end: SkipEndOption = None
    decimal: DecimalOption = ""

    def rules(self) -> "FileRules":
        """The same as the reader of files takes it."""
        from ..tables.files import FileRules
        from ..tables.layout import Layout

        layout = Layout(self.skip_rows, self.header_rows, self.skip_end)
        return FileRules(self.sheet, self.encoding, layout)


@dataclass(frozen=True, kw_only=True)
class TableOptions(FileOptions):
    """What a user says about a table with labels, as `mltsk.read_table` takes it."""

    labels: LabelsOption = None
    drop: DropOption = ""
    id: IdOption = ""
    group: GroupOption = None
    nominal: NominalOption = ""
    ordinal: OrdinalOption = None
    number: NumberOption = ""
    missing: MissingOption = ""
    age: AgeOption = ""
    blank_means_no: BlankMeansNoOption = False
    label_column: LabelColumnOption = None
    separator: SeparatorOption = None
    long: LongOption = None
    prefix: PrefixOption = 0

    def read(self, path: str) -> "DataTable":
        """The table of a file."""
        return mltsk.read_table(path, **asdict(self))

    def first_about_features(self) -> str | None:
        """The first option that was used and is not ``labels``."""
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name != "labels" and value and value != option.default:
                return f"--{option.name.replace('_', '-')}"
        return None

    def for_other_files(self, group_name: str = "") -> dict[str, str]:
        """What a model has to know to read labels and missing cells of other files.

        ``group_name`` is the column that kept rows together.
        """
        reading: dict[str, str] = {}
        texts = ("label_column", "separator", "long", "missing", "age", "decimal")
        for name in texts:
            if getattr(self, name):
                reading[name] = getattr(self, name)
        if self.labels and "=" in self.labels:  # words that mean yes
            reading["labels"] = self.labels
        if self.prefix:
            reading["prefix"] = str(self.prefix)
        if self.blank_means_no:
            reading["blank_means_no"] = "yes"
        if group_name:
            reading["group"] = group_name
        return reading


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter ``options`` becomes an option per field of its class.

    On the command line, those about files come last.
    """
    signature = inspect.signature(command)
    parameters = dict(signature.parameters)
    options_class = parameters.pop("options").annotation
    needed = [p for p in parameters.values() if p.default is p.empty]
    others = [p for p in parameters.values() if p.default is not p.empty]
    about_files = _parameters_of(FileOptions)
    about_columns = _parameters_of(options_class)[len(about_files) :]
    ordered = (*needed, *about_columns, *others, *about_files)
    keywords = [p.replace(kind=p.KEYWORD_ONLY) for p in ordered]
    option_names = [field.name for field in fields(options_class)]

    @wraps(command)
    def with_each_option(**values: Any) -> None:
        option_values = {name: values.pop(name) for name in option_names}
        command(options=options_class(**option_values), **values)

    vars(with_each_option)["__signature__"] = signature.replace(parameters=keywords)
    return with_each_option


def _parameters_of(options_class: type[FileOptions]) -> list[inspect.Parameter]:
    """The fields of a class of options, as parameters of a function."""
    parameters = []
    for option in fields(options_class):
        parameters.append(
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=option.type,
            )
        )
    return parameters
