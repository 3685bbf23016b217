"""``mltsk fit``: a model of a data set or a file, and how good it is on unseen rows."""

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

import mltsk

from ..exceptions import InputError
from . import replaced
from .correct import (
    DecreasingOption,
    IncreasingOption,
    directions_of,
)
from .fit_text import shape, summary
from .options import (
    DataArgument,
    StatementsOption,
    TableOptions,
    json_content,
    out_option,
    threshold_option,
    with_options,
)
from .output import (
    noted_warnings,
    refuse_standard_output,
    say,
    working,
)
from .papers_fit import (
    search_table_two,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..core.arrays import Matrix
    from ..tables import DataTable
    from .opened import Estimator

Preset = StrEnum("Preset", ["default", "paper"])
OrderChoice = StrEnum("OrderChoice", {"zero": "0", "one": "1", "auto": "auto"})
FormulasChoice = StrEnum("FormulasChoice", ["program", "text"])
UnderflowChoice = StrEnum("UnderflowChoice", ["authors", "softmax"])
CouplingChoice = StrEnum(
    "CouplingChoice", ["none", "laplacian", "signed", "shift", "precision", "ridge"]
)
ScaleChoice = StrEnum(
    "ScaleChoice",
    [
        "auto",
        "quantile",
        "triangles",
        "trapezoids",
        "standard",
        "minmax",
        "unit",
        "none",
    ],
)

# options whose names differ from those of the parameters
OPTION_NAMES = {
    "n_rules": "rules",
    "max_statements": "statements",
    "max_conditions": "conditions",
}
# choices that are not the values of the parameters
CHOICE_VALUES = {"none": None, "0": 0, "1": 1}

DEFAULT_THRESHOLD = "f1"  # as in `mltsk review`

RULES_HELP = (
    "Number of exceptions to the general rule, 0 for none; K of the paper.  [default: "
    "auto; paper: 3]"
)
OWN_RULES_EXAMPLE = '[{"age": [60, null], "sex": "f"}]'
OWN_RULES_HELP = f"Rules of your own, a JSON file such as {OWN_RULES_EXAMPLE}."
ORDER_HELP = "What an exception says: 0, a shift; 1, slopes as well.  [default: auto]"
CONDITIONS_HELP = (
    "At most this many conditions per exception of a short model.  [default: 5]"
)
FORMULAS_HELP = "The paper's program, or its text as printed.  [default: program]"
UNDERFLOW_HELP = (
    "Where all memberships of a row are 0 to the computer: fire no rule, as the "
    "authors do, or compute in logarithms.  [default: program: authors; text: softmax]"
)
SEARCH_HELP = (
    "Search Table II of the paper for the best average precision; what other options "
    "give is not searched."
)
WIDTH_HELP = "How far an exception reaches; h of the paper.  [default: auto; paper: 1]"

KEEP_SUMS_HELP = (
    "Keep sums over rows in the file, by which the model can be corrected without its "
    "rows."
)

Parameters = dict[str, Any]  # of a classifier, by name


def _number_option(limit: str, help: str, kind: type[float] = float) -> Any:
    """An option for "auto" or a number that is "from 0 up" or "above 0"."""

    def parse(text: str) -> float | str:
        if text == "auto":
            return text
        try:
            number = kind(text)
        except ValueError:
            name = "whole number" if kind is int else "number"
            sentence = f"{text!r} is neither a {name} nor 'auto'"
            raise typer.BadParameter(sentence) from None
        too_low = number < 0 or (number == 0 and limit == "above 0")
        if too_low or not isfinite(number):
            raise typer.BadParameter(f"{text} is not a number {limit}")
        return number

    return Option(parser=parse, metavar="NUMBER|auto", help=help)


@with_options
def fit(
    data: DataArgument,
    out: Annotated[str, out_option("Where to write the model (….skops).")],
    options: TableOptions,
    preset: Annotated[
        Preset, Option(help="'paper' runs what the paper's authors run.")
    ] = Preset.default,
    rules: Annotated[str | None, _number_option("from 0 up", RULES_HELP, int)] = None,
    own_rules: Annotated[
        str | None, Option(metavar="FILE", help=OWN_RULES_HELP)
    ] = None,
    order: Annotated[OrderChoice | None, Option(help=ORDER_HELP)] = None,
    statements: StatementsOption = None,
    conditions: Annotated[
        int | None, Option(min=1, metavar="N", help=CONDITIONS_HELP)
    ] = None,
    width_scale: Annotated[str | None, _number_option("above 0", WIDTH_HELP)] = None,
    ridge: Annotated[
        str | None, _number_option("above 0", "Weight of the ridge.  [default: auto]")
    ] = None,
    coupling: Annotated[
        CouplingChoice | None, Option(help="How labels are coupled.  [default: none]")
    ] = None,
    coupling_weight: Annotated[
        str | None, _number_option("from 0 up", "Its weight.  [default: auto]")
    ] = None,
    threshold: Annotated[str | None, threshold_option("f1; paper: 0.5")] = None,
    scale: Annotated[
        ScaleChoice | None, Option(help="Scale of the features.  [default: auto]")
    ] = None,
    increasing: IncreasingOption = None,
    decreasing: DecreasingOption = None,
    keep_sums: Annotated[bool, Option("--keep-sums", help=KEEP_SUMS_HELP)] = False,
    correlation_weight: Annotated[
        float | None, Option(min=0, help="α of the paper.  [default: 1]")
    ] = None,
    l1_weight: Annotated[
        float | None, Option(min=0, help="β of the paper.  [default: 0.1]")
    ] = None,
    init_ridge: Annotated[
        float | None, Option(min=0, help="γ of the paper.  [default: 1]")
    ] = None,
    formulas: Annotated[FormulasChoice | None, Option(help=FORMULAS_HELP)] = None,
    underflow: Annotated[UnderflowChoice | None, Option(help=UNDERFLOW_HELP)] = None,
    search: Annotated[bool, Option("--search", help=SEARCH_HELP)] = False,
) -> None:
    """Fit a model, say how good it is, and write it to a file.

    Everything that is "auto" is chosen by leave-one-out. The printed metrics are
    honest: every sample is scored without itself, and samples that belong together (see
    --group) are left out together. The threshold of a label is the probability at which
    F1 is best, unless --threshold says otherwise. Columns of a file are read as `mltsk
    columns` reports them, and the report is printed if something was decided that you
    may want to check. A missing cell of a label means that it was not observed. The
    model file holds the rules, names, and what each column is; `predict`, `evaluate`
    and `rules` read it. An existing file is replaced when the new one is complete.

    \b
    Examples:
      mltsk fit yeast --out yeast.skops
      mltsk fit patients.csv --labels 4 --statements 12 --out patients.skops
      mltsk fit patients.csv --labels "\\"fever, high\\",gout" --drop ward --out m.skops
      mltsk fit visits.xlsx --label-column diagnoses --separator "|" --out visits.skops
      mltsk fit emotions --rules 100 --order 0 --threshold 0.5 --out emotions.skops
      mltsk fit patients.csv --labels 4 --threshold cost=1,5 --out patients.skops
      mltsk fit visits.csv --labels 4 --group patient --out visits.skops
      mltsk fit patients.csv --labels 4 --own-rules rules.json --out patients.skops
      mltsk fit pbc.csv --labels 4 --increasing age --decreasing albumin --out p.skops
      mltsk fit emotions --preset paper --rules 3 --width-scale 100 --out paper.skops
      mltsk fit patients.csv --labels 4 --preset paper --search --out paper.skops
    """
    shared: Parameters = {
        "n_rules": rules,
        "width_scale": width_scale,
        "threshold": threshold,
    }
    of_paper: Parameters = {
        "correlation_weight": correlation_weight,
        "l1_weight": l1_weight,
        "init_ridge": init_ridge,
        "formulas": formulas,
        "underflow": underflow,
    }
    of_default: Parameters = {
        "order": order,
        "ridge": ridge,
        "scale": scale,
        "coupling": coupling,
        "coupling_weight": coupling_weight,
        "max_statements": statements,
        "max_conditions": conditions,
        "own_rules": None if own_rules is None else read_rules(own_rules),
        "increasing": increasing or None,
        "decreasing": decreasing or None,
        "keep_sums": keep_sums or None,
    }
    if preset is Preset.paper:
        refuse_options(of_default, only_of=Preset.default)
        refuse_goal(threshold)
        refuse_what_is_no_number({"n_rules": rules, "width_scale": width_scale})
        parameters = given_parameters(shared | of_paper)
    else:
        refuse_options({**of_paper, "search": search or None}, only_of=Preset.paper)
        if threshold is None:
            shared["threshold"] = DEFAULT_THRESHOLD
        parameters = given_parameters(shared | of_default)
    check_output(out, data, options, own_rules)
    fit_and_save(
        data, out, options, preset=preset, parameters=parameters, search=search
    )


# options ------------------------------------------------------------------------------


def check_output(
    out: str, data: str, options: TableOptions, own_rules: str | None
) -> None:
    """Refuse a file that cannot be written, before the work and not after it."""
    from ..tables.files import source_files

    refuse_standard_output(out, "--out", "A model")
    inputs = [*source_files(data, options.labels), own_rules]
    replaced.check_output(out, replaced.MODEL, inputs)


def read_rules(path: str) -> object:
    """Rules of the user's own, from a JSON file."""
    return json_content(path, "rules", example=OWN_RULES_EXAMPLE)


def refuse_options(parameters: Mapping[str, object], *, only_of: Preset) -> None:
    """Refuse the first parameter that was given, which only another preset has."""
    for name, value in parameters.items():
        if value is not None:
            remedy = "add it, or leave this out"
            if only_of is Preset.default:
                remedy = "leave it out"
            raise InputError(
                f"--{option_of(name)} is an option of --preset {only_of.value} alone: "
                f"{remedy}."
            )


def option_of(parameter: str) -> str:
    """The option by which a parameter is given, without its dashes."""
    return OPTION_NAMES.get(parameter, parameter).replace("_", "-")


def refuse_beside_directions(parameters: Mapping[str, object]) -> None:
    """Refuse options that directions of effects do not go with."""
    reasons = {}
    if parameters.get("n_rules", 0) not in ("auto", 0):
        reasons["--rules"] = "exceptions could turn an effect"
    if parameters.get("coupling") is not None:
        reasons["--coupling"] = "each label is found alone"
    if parameters.get("scale", "auto") in ("unit", None):
        reasons["--scale"] = "each feature needs a scale of its own"
    for option, reason in reasons.items():
        raise InputError(
            f"{option} does not go with --increasing and --decreasing, because "
            f"{reason}: leave it out."
        )


def refuse_what_is_no_number(parameters: Mapping[str, object]) -> None:
    """Refuse no rules, and rules or a width "auto", which the paper's model has not."""
    for name, value in parameters.items():
        if value in ("auto", 0):
            raise InputError(
                f"--{option_of(name)} {value} is not for --preset paper: give a number "
                "above 0, or leave it out and let --search find one."
            )


def refuse_goal(threshold: object) -> None:
    """Refuse a goal that thresholds are found for, which the paper's model has not."""
    if isinstance(threshold, str | tuple):
        goal = threshold if isinstance(threshold, str) else threshold[0]
        raise InputError(
            f"--threshold {goal} works with --preset default only: give --preset paper "
            "a number, such as 0.5."
        )


def advice_on_symbol(option: str) -> str:
    """A sentence on a symbol of the paper, such as --alpha; "" for no symbol.

    >>> advice_on_symbol("--K")
    "The paper's symbol is --rules here"
    >>> advice_on_symbol("--delta")
    "The paper's delta is found by the fit: mltsk rules shows it"
    """
    from ..paper.symbols import FOUND_OF_SYMBOL, PARAMETER_OF_SYMBOL

    symbol = option.lstrip("-")
    if symbol in PARAMETER_OF_SYMBOL:
        parameter = PARAMETER_OF_SYMBOL[symbol]
        name = OPTION_NAMES.get(parameter, parameter).replace("_", "-")
        return f"The paper's symbol is --{name} here"
    if symbol not in FOUND_OF_SYMBOL:
        return ""
    where = "mltsk rules shows it"
    if symbol == "R":
        where = "in Python it is coupling_"
    return f"The paper's {symbol} is found by the fit: {where}"


def given_parameters(parameters: Mapping[str, object]) -> Parameters:
    """The parameters that the user gave, with the values that a classifier takes."""
    given: Parameters = {}
    for name, value in parameters.items():
        if isinstance(value, StrEnum):
            given[name] = CHOICE_VALUES.get(value.value, value.value)
        elif value is not None:
            given[name] = value
    return given


# the fit ------------------------------------------------------------------------------


def fit_and_save(
    data: str,
    out: str,
    options: TableOptions,
    *,
    preset: Preset,
    parameters: Parameters,
    search: bool = False,
) -> None:
    """Read the data, fit a model, write its file, and print how good it is."""
    from ..io import ModelInfo
    from ..tables.digest import table_digest
    from ..tables.files import is_table
    from .inputs import open_data

    keep_sums = parameters.pop("keep_sums", False)
    table = open_data(data, options)
    if is_table(data) and not table.columns.is_plain:
        say(f"{table.columns}\n")
    X, categories = features(table, data, preset)
    start = perf_counter()
    best = search_table_two(table, X, parameters) if search else None
    if best is not None:
        parameters = best.parameters
    model = fitted_model(table, X, preset, parameters)
    seconds = round(perf_counter() - start, 3)
    # before the file is written, so that a failure leaves none behind
    text = summary(
        model,
        table,
        X,
        is_of_paper=preset is Preset.paper,
        found=best,
        seconds=seconds,
        out=out,
    )
    info = ModelInfo(
        data=table.name,
        feature_names=table.feature_names,
        label_names=table.label_names,
        categories=categories,
        fitted={
            "samples": len(table),
            "table": table_digest(X, table.Y),
            "seconds": seconds,
            "preset": preset.value,
            "options": parameters,
        },
        kinds=table.kinds,
        ids=tuple(table.ids.columns),
        reading=options.for_other_files(table.group_name),
        units=table.units,
    )
    mltsk.save(model, out, info=info, keep_sums=keep_sums)
    say(text)


def features(
    table: "DataTable", data: str, preset: Preset
) -> "tuple[DataFrame | Matrix, dict[str, tuple[str, ...]]]":
    """The features of a table as the classifier of a preset takes them.

    The paper's takes complete numbers alone, data sets of the catalog in the codes of
    their publishers; the second value names the categories behind these codes.
    """
    from ..tables.files import is_table
    from ..tables.table import sparse_rows
    from .inputs import check_complete

    if preset is Preset.default:
        X = sparse_rows(table.X)
        return (table.X if X is None else X), {}
    dataset = table.dataset() if is_table(data) else mltsk.load_dataset(data)
    check_complete(dataset.X, table.feature_names, data)
    categories = {}
    for name, words in zip(table.feature_names, dataset.categories, strict=True):
        if words:
            categories[name] = tuple(words)
    return dataset.X, categories


def fitted_model(
    table: "DataTable", X: "DataFrame | Matrix", preset: Preset, parameters: Parameters
) -> "Estimator":
    """The classifier of a preset, fitted, with the names of a table."""
    from ..pipelines import with_feature_names

    parameters = dict(parameters)
    own_rules = parameters.pop("own_rules", None)
    directions = directions_of(
        parameters.pop("increasing", ()),
        parameters.pop("decreasing", ()),
        table.feature_names,
    )
    if directions:
        refuse_beside_directions(parameters)
        parameters["monotonic_cst"] = directions
    try:
        with noted_warnings(), working(f"fitting {shape(table)}"):
            if preset is Preset.paper:
                model = mltsk.PaperMLTSK(**parameters).fit(X, table.Y)
            else:
                model = mltsk.MLTSKClassifier(**parameters)
                model.fit(X, table.Y, groups=table.groups, rules=own_rules)
    except ValueError as error:  # about parameters or data: the first line says it
        raise InputError(str(error).splitlines()[0]) from error
    return with_feature_names(model, table.feature_names)
