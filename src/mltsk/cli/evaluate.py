"""``mltsk evaluate``: every metric in both conventions, and those of each label."""

import json
from typing import Annotated, Any

import typer
from typer import Argument, Option

from .output import label_table, metric_table, note, noted_warnings

COLUMNS = ("observed", "prevalence", "AP", "AUC", "sensitivity", "precision", "Brier")


def evaluate(
    model: Annotated[str, Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    data: Annotated[str, Argument(metavar="DATA", help="A file with features and labels, or a name of the catalog.")],
    labels: Annotated[str | None, Option(metavar="COLUMNS", help="Where the model's labels have other names.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare what a model predicts with what is true.

    Two conventions stand side by side: 'standard' is the one for comparing models, 'paper' is what the program behind
    the paper computes. They differ in ties and in rows with no or all labels.

    \b
    Examples:
      mltsk evaluate yeast.skops yeast
      mltsk evaluate patients.skops test.csv --json
    """
    from ..exceptions import InputError
    from ..metrics import evaluate as metrics
    from .inputs import asked, features_of, open_model, open_table, outputs_of

    classifier, info = open_model(model)
    table = open_table(data)
    Y = true_labels(table, labels, info)
    X = features_of(classifier, info, table, data)
    scores, guesses = outputs_of(classifier, X)
    if guesses.ndim == 1:
        raise InputError(f"{model} predicts one class of several, not labels: there is nothing to compare with.")
    with noted_warnings():
        found = {c: metrics(Y, scores, predictions=guesses, convention=c) for c in ("standard", "paper")}
        likely = asked(classifier, X, "predict_proba")[0] if hasattr(classifier, "predict_proba") else scores
        by_label = metrics(Y, likely, predictions=guesses, per_label=True)
    if info.data == table.name and info.fitted.get("samples") == len(table):
        note(f"the model was fitted on data called {table.name} with as many rows: this may be no estimate for others.")
    if as_json:
        each = {name: {c: float(by_label[c][j]) for c in COLUMNS} for j, name in enumerate(info.label_names)}
        plain = {"rows": len(table), "labels": Y.shape[1], **found, "per_label": each}
        typer.echo(json.dumps(_without_nan(plain), indent=2))
        return
    shape = f"{table.name}: {len(table):,} rows, {Y.shape[1]} label{'s' if Y.shape[1] > 1 else ''}"
    tables = metric_table(found, found["standard"]), label_table(by_label, info.label_names, COLUMNS)
    typer.echo("\n\n".join([shape, *tables]))


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: a metric for which no row counts is null."""
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    return None if value != value else value


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
