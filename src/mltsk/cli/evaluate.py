"""``mltsk evaluate``: every metric in both conventions."""

import json
from math import isnan
from typing import Annotated, Any

import typer

from .output import aligned, note, noted_warnings

BETTER = {"AP": "higher", "HL": "lower", "OE": "lower", "RL": "lower", "CV": "lower", "tied_rows": ""}


def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A file with features and labels, or a name of the catalog.")
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Label columns, if the file calls them otherwise: a number or names, as in `fit`."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare what a model predicts with what is true.

    Two conventions stand side by side: 'paper' is what the program behind the paper computes, 'standard' is the one
    for comparing models. They differ in ties and in rows with no or all labels.

    \b
    Examples:
      mltsk evaluate yeast.skops yeast
      mltsk evaluate patients.skops test.csv --json
    """
    from ..metrics import evaluate as metrics
    from .inputs import features_of, open_model, open_table, outputs_of

    classifier, info = open_model(model)
    table = open_table(data)
    Y = true_labels(table, labels, info)
    scores, predictions = outputs_of(classifier, features_of(classifier, info, table, data))
    with noted_warnings():
        found = {name: metrics(Y, scores, predictions=predictions, convention=name) for name in ("paper", "standard")}
    if info.data == table.name and info.fitted.get("samples") == len(table):
        note(
            f"the model was fitted on data called {table.name} with as many rows: this may be no estimate for new rows."
        )
    if as_json:
        # A metric for which no row counts is null: JSON has no NaN.
        plain = {key: {k: None if isnan(v) else v for k, v in values.items()} for key, values in found.items()}
        typer.echo(json.dumps({"rows": len(table), "labels": Y.shape[1], **plain}, indent=2))
        return
    rows = [["metric", "paper", "standard", "better"]]
    for name, value in found["paper"].items():
        rows.append([name, f"{value:.4f}", f"{found['standard'][name]:.4f}", BETTER.get(name, "higher")])
    typer.echo(f"{table.name}: {len(table):,} rows, {Y.shape[1]} labels\n\n{aligned(rows)}")


def true_labels(table: Any, labels: str | None, info: Any) -> Any:
    """The labels of a table in the order of the model's."""
    from ..datasets import split_labels
    from ..exceptions import InputError

    found = split_labels(table, labels or info.label_names)
    if found.shape[2] != len(info.label_names):
        raise InputError(
            f"{table.name} has {found.shape[2]} label columns and the model {len(info.label_names)}: "
            f"it needs {', '.join(info.label_names[:5])}{', …' if len(info.label_names) > 5 else ''}."
        )
    return found.Y
