"""Compare a model with data whose labels are known."""

import json
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..text import plural
from .options import (
    FileOptions,
    GroupOption,
    LabelColumnOption,
    MissingOption,
    ModelArgument,
    SeparatorOption,
    there_is_data,
    with_options,
)
from .output import MAX_LINE_WIDTH, note, noted_warnings, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pandas import DataFrame

    from ..metrics.evaluation import Evaluation
    from ..tables import DataTable
    from .opened import Estimator

Convention = StrEnum("Convention", ["standard", "paper"])
LABEL_METRICS = (
    "observed",
    "prevalence",
    "AP",
    "AUC",
    "sensitivity",
    "precision",
    "Brier",
)
CONVENTION_HELP = "Also metrics of the ranking of labels, by this convention."


@with_options
def evaluate(
    model: ModelArgument,
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            callback=there_is_data,
            help="A file with features and labels, or a name of the catalog.",
        ),
    ],
    labels: Annotated[
        str | None,
        Option(metavar="COLUMNS", help="Label columns, if their names have changed."),
    ] = None,
    label_column: LabelColumnOption = None,
    separator: SeparatorOption = None,
    group: GroupOption = None,
    missing: MissingOption = "",
    convention: Annotated[Convention | None, Option(help=CONVENTION_HELP)] = None,
    as_json: Annotated[
        bool, Option("--json", help="Print JSON instead of tables.")
    ] = False,
    *,
    options: FileOptions,
) -> None:
    """Compare what a model predicts with what is true, per label and overall.

    Labels are read as they were when the model was fitted; those that were not observed
    are left out. With --convention there are also metrics of how the labels of a sample
    are ranked: 'standard' is the convention for comparing models, and 'paper' is what
    the program behind the paper computes. They differ for ties and for samples with no
    or all labels. JSON has both.

    \b
    Examples:
      mltsk evaluate yeast.skops yeast
      mltsk evaluate yeast.skops yeast --convention paper
      mltsk evaluate patients.skops test.csv --json
    """
    from ..metrics.label_text import label_text
    from .inputs import (
        LabelOptions,
        are_rows_of_fit,
        fitted_label_options,
        samples,
    )
    from .opened import open_model

    classifier, info = open_model(model)
    _refuse_classes(classifier, model)
    label_options = LabelOptions(labels, label_column, separator)
    if labels is None and label_column is None:
        label_options = fitted_label_options(info)
    rows = samples(
        classifier,
        info,
        data,
        label_options=label_options,
        group=group,
        missing=missing,
        file_options=options,
    )
    overall, by_label = _metrics(classifier, rows)
    n_rows, n_labels = rows.Y.shape
    if are_rows_of_fit(info, rows):
        note("the model was fitted on these rows: it may predict others less well.")
    if as_json:
        say(_metrics_json(overall, by_label, n_rows=n_rows))
        return
    say(f"{rows.name}: {n_rows:,} rows, {plural(n_labels, 'label')}\n")
    columns = [name for name in LABEL_METRICS if by_label[name].notna().any()]
    say(label_text(by_label, columns))
    if n_labels > 1:
        say(f"\n{_sentence_on_decisions(overall['standard'])}")
    if convention is not None:
        metrics = overall[convention.value].overall_text()
        say(f"\nconvention: {convention.value}\n{metrics}")


def _sentence_on_decisions(metrics: "Mapping[str, float]") -> str:
    """How many decisions over all labels are right."""
    sentence = (
        f"Over all labels, {metrics['HL']:.1%} of decisions are wrong, F1 is "
        f"{metrics['micro_F1']:.3f}, and {metrics['subset_accuracy']:.1%} of samples "
        "have exactly the right labels."
    )
    return "\n".join(wrap(sentence, MAX_LINE_WIDTH))


def _refuse_classes(model: "Estimator", path: str) -> None:
    """Refuse a model that was fitted on one-dimensional classes."""
    from ..pipelines import taken_apart

    _, classifier = taken_apart(model)
    if not classifier.multilabel_:
        raise InputError(
            f"{path} predicts one class of several, not labels: there is nothing to "
            "compare with."
        )


def _metrics(
    model: "Estimator", rows: "DataTable"
) -> "tuple[dict[str, Evaluation], DataFrame]":
    """Metrics by convention, and a frame of metrics per label."""
    from .opened import answers, has_probabilities, scores_and_predictions

    scores, predictions = scores_and_predictions(model, rows.X)
    with noted_warnings():
        overall: dict[str, Evaluation] = {}
        for convention in ("standard", "paper"):
            overall[convention] = mltsk.evaluate(
                rows.Y, scores, predictions=predictions, convention=convention
            )
        if has_probabilities(model):
            scores = answers(model, rows.X, "predict_proba")
        by_label = mltsk.evaluate(
            rows.Y, scores, predictions=predictions, per_label=True
        )
    return overall, by_label


def _metrics_json(
    overall: "Mapping[str, Evaluation]", by_label: "DataFrame", *, n_rows: int
) -> str:
    """All metrics as JSON; null, as JSON has no NaN, where a metric is about no row."""
    content = {
        "rows": n_rows,
        "labels": len(by_label),
        **overall,
        "per_label": by_label[list(LABEL_METRICS)].astype(float).T.to_dict(),
    }
    with_nulls = json.loads(json.dumps(content), parse_constant=lambda constant: None)
    return json.dumps(with_nulls, indent=2)
