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
    from .inputs import features_of, open_model, open_table, outputs_of

    classifier, info = open_model(model)
    table = open_table(data)
    Y = true_labels(table, labels, info)
    scores, predictions = outputs_of(classifier, features_of(classifier, info, table, data))
    with noted_warnings():
        found = both_conventions(Y, scores, predictions)
    if info.data == table.name and info.fitted.get("samples") == len(table):
        note(
            f"the model was fitted on data called {info.data} with as many rows: this may be no estimate for new rows."
        )
    if as_json:
        typer.echo(json.dumps({"rows": len(table), "labels": Y.shape[1], **without_nan(found)}, indent=2))
        return
    typer.echo(f"{table.name}: {len(table):,} rows, {Y.shape[1]} labels\n")
    typer.echo(metric_table(found))


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


def both_conventions(Y: Any, scores: Any, predictions: Any) -> dict[str, dict[str, float]]:
    """Metrics by convention."""
    from ..metrics import evaluate as metrics

    return {name: metrics(Y, scores, predictions=predictions, convention=name) for name in ("paper", "standard")}


def without_nan(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float | None]]:
    """The same with null for a metric for which no row counts: JSON has no NaN."""
    return {
        convention: {name: None if isnan(value) else value for name, value in metrics.items()}
        for convention, metrics in found.items()
    }


def metric_table(found: dict[str, dict[str, float]]) -> str:
    """One line per metric."""
    rows = [["metric", "paper", "standard", "better"]]
    for name, value in found["paper"].items():
        rows.append([name, f"{value:.4f}", f"{found['standard'][name]:.4f}", BETTER.get(name, "higher")])
    return aligned(rows)
