"""What is done with a model file: evaluate, rules, explore and export."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import InputError, check_installed
from ..files import writing
from ..text import escape_markdown, plural
from . import replaced
from .options import (
    FileOptions,
    GroupOption,
    LabelColumnOption,
    MaxLabelsOption,
    MissingOption,
    ModelArgument,
    SeparatorOption,
    StatementsOption,
    out_option,
    there_is_data,
    with_options,
)
from .output import (
    MAX_LINE_WIDTH,
    STANDARD_OUTPUT,
    check_files,
    note,
    noted_warnings,
    refuse_standard_output,
    say,
    working,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pandas import DataFrame

    from ..explain import FuzzyRules, RuleBase
    from ..io import ModelInfo
    from ..metrics.evaluation import Evaluation
    from ..tables import DataTable
    from .opened import Estimator

Format = StrEnum("Format", ["text", "md", "json", "html", "latex"])
Convention = StrEnum("Convention", ["standard", "paper"])
KINDS_OF_RULES = {Format.json: replaced.JSON_RULES, Format.html: replaced.PAGE}
MIN_TEXT_COLUMNS = 60  # of rules that are printed
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
FIND_BY_HELP = (
    "Columns that identify a sample, to find it by.  "
    "[default: those of the fitted data]"
)
TOP_HELP = (
    "How many statements of each list to show.  "
    "[default: all of a short model and in JSON, else 5]"
)
DATA_OF_FIT_HELP = "The data of the fit, which --statements needs."
SAMPLES_HELP = (
    "Samples to start from, which the page will hold: a file, or a name of the catalog."
)
MOVED_LABELS_HELP = (
    "Labels about which it is told what holds in general, those that the model moves "
    "most; JSON has all.  [default: 20 of a long model]"
)
EDITABLE_HELP = (
    "Whether curves can be edited in the page, which then holds the sums of a model "
    "that was fitted with --keep-sums.  [default: with --data]"
)
NEIGHBOURS_HELP = "List the samples that are most like the one shown."
ONNX_HELP = (
    "Write an ONNX graph: scores and labels of dense samples, and probabilities of a "
    "model whose scores are log-odds (not of --preset paper)."
)
JSON_HELP = "Write plain data (mltsk.from_dict reads them back); - prints."
FLOAT32_HELP = "Let the ONNX graph take float32 numbers instead of float64."

# evaluate -----------------------------------------------------------------------------


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
    from .inputs import LabelOptions, fitted_label_options, samples
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
    if info.data == rows.name and info.fitted.get("samples") == n_rows:
        note(
            f"the model was fitted on data called {rows.name} with as many rows: this "
            "may be no estimate for others."
        )
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
    from .opened import answers, scores_and_predictions

    scores, predictions = scores_and_predictions(model, rows.X)
    with noted_warnings():
        overall: dict[str, Evaluation] = {}
        for convention in ("standard", "paper"):
            overall[convention] = mltsk.evaluate(
                rows.Y, scores, predictions=predictions, convention=convention
            )
        if hasattr(model, "predict_proba"):
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


# rules --------------------------------------------------------------------------------


def rules(
    model: ModelArgument,
    format: Annotated[Format, Option(help="How to write them.")] = Format.text,
    statements: StatementsOption = None,
    data: Annotated[
        str | None,
        Option(metavar="DATA", callback=there_is_data, help=DATA_OF_FIT_HELP),
    ] = None,
    top: Annotated[int | None, Option(min=1, help=TOP_HELP)] = None,
    label: Annotated[
        str | None, Option(metavar="NAME", help="Only what concerns this label.")
    ] = None,
    max_labels: Annotated[
        int | None, Option(min=1, metavar="N", help=MOVED_LABELS_HELP)
    ] = None,
    out: Annotated[str, out_option("File to write; - is standard output.")] = "-",
) -> None:
    """Print the rules of a model: what holds in general about each label, and the
    exceptions.

    \b
    Examples:
      mltsk rules yeast.skops --top 3
      mltsk rules patients.skops --label asthma
      mltsk rules patients.skops --statements 8 --data patients.csv
      mltsk rules patients.skops --format md --out rules.md
    """
    from ..edits import edit_log
    from ..explain.wording import name
    from ..pages.render import rules_page
    from .opened import classifier_with_rules, open_model, open_to_read

    if format is Format.html:
        check_installed("jinja2", extra="report")
    kind = KINDS_OF_RULES.get(format, replaced.TEXT)
    replaced.check_output(out, kind, [model, *_files_of(data)])
    if data is not None and statements is None:
        raise InputError(
            "--data is for a shorter model: say how short, --statements 8."
        )
    if statements is None:
        classifier, info = open_to_read(model)
    else:
        opened, info = open_model(model)
        classifier = classifier_with_rules(opened, model)
        classifier = shortened(classifier, info, statements, data=data, path=model)
    rule_base = classifier.rules_
    edits = [name(edit.told_in_full()) for edit in edit_log(classifier)]
    if format is Format.json:
        text = rule_base.to_json(top=top, label=label)
    elif format is Format.html:
        html = rule_base.to_html(top=top, label=label, max_labels=max_labels)
        text = rules_page(html, title=info.data, edits=edits)
    elif format is Format.latex:
        text = latex(rule_base, top=top, label=label, path=model)
    elif format is Format.md:
        text = rule_base.to_markdown(top=top, label=label, max_labels=max_labels)
        text = edited_by_hand([escape_markdown(edit) for edit in edits]) + text
    else:
        text = rule_base.to_text(
            top=top, label=label, max_labels=max_labels, text_columns=_text_columns(out)
        )
        text = edited_by_hand(edits) + text
    write_text(text, out)


def _files_of(data: str | None) -> list[Path]:
    """The files of data; without any, no reader of tables is imported."""
    if data is None:
        return []
    from ..tables.files import source_files

    return source_files(data)


def edited_by_hand(edits: Sequence[str]) -> str:
    """That a model was edited, and how, as lines; nothing where it was not.

    >>> edited_by_hand([])
    ''
    """
    if not edits:
        return ""
    lines = [f"- {edit}" for edit in edits]
    return "\n".join(["This model was edited by hand:", "", *lines, "", ""])


def latex(
    rules: "RuleBase | FuzzyRules", *, top: int | None, label: str | None, path: str
) -> str:
    """Rules in the paper's form as LaTeX; others have no formulas."""
    from ..explain import FuzzyRules

    if not isinstance(rules, FuzzyRules):
        raise InputError(
            f"{path} holds no model of the paper: --format latex writes the formulas "
            "of models that were fitted with --preset paper."
        )
    return rules.to_latex(top=top, label=label)


def _text_columns(out: str) -> int:
    """How wide rules are printed: as the terminal, or as in a file."""
    from ..explain.page import TEXT_COLUMNS

    if out != STANDARD_OUTPUT:
        return TEXT_COLUMNS
    columns = get_terminal_size(fallback=(TEXT_COLUMNS, 24)).columns
    return min(TEXT_COLUMNS, max(MIN_TEXT_COLUMNS, columns))


def shortened(
    classifier: "Estimator",
    info: "ModelInfo",
    max_statements: int,
    *,
    data: str | None,
    path: str,
) -> "Estimator":
    """The classifier itself if it is short enough, else one shortened on its data."""
    from ..pipelines import with_feature_names
    from .inputs import check_table_of_fit, fitted_label_options, samples

    if not hasattr(classifier, "shorten"):
        raise InputError(
            f"{path} holds a {type(classifier).__name__}, which cannot be shortened: "
            "leave --statements out."
        )
    n_statements = classifier.n_statements_.max(initial=0)
    if n_statements <= max_statements:
        return classifier
    if data is None:
        raise InputError(
            f"{path} has up to {n_statements} statements per label and holds no rows "
            f"to shorten it by: fit it with `mltsk fit --statements {max_statements}`, "
            "or name its data with --data."
        )
    rows = samples(classifier, info, data, label_options=fitted_label_options(info))
    check_table_of_fit(path, info, data, rows)
    short = classifier.shorten(max_statements, X=rows.X, y=rows.Y, groups=rows.groups)
    if hasattr(classifier, "feature_names_in_"):
        short = with_feature_names(short, classifier.feature_names_in_)
    return short


# explore ------------------------------------------------------------------------------


@with_options
def explore(
    model: ModelArgument,
    out: Annotated[str, out_option("The page to write (….html).")],
    data: Annotated[
        str | None, Option(metavar="DATA", callback=there_is_data, help=SAMPLES_HELP)
    ] = None,
    id: Annotated[str, Option("--id", metavar="COLUMNS", help=FIND_BY_HELP)] = "",
    neighbours: Annotated[bool, Option("--neighbours", help=NEIGHBOURS_HELP)] = False,
    title: Annotated[
        str | None,
        Option(help="Heading of the page.  [default: name of the fitted data]"),
    ] = None,
    max_labels: MaxLabelsOption = None,
    edits: Annotated[
        bool | None,
        Option("--edits/--no-edits", help=EDITABLE_HELP, show_default=False),
    ] = None,
    *,
    options: FileOptions,
) -> None:
    """Write one page with the rules, live scores for inputs that can be moved, and why
    each label is given.

    The page needs no server and no network. With --data it holds those samples, up to
    2,000, to be found by number or identifier, marks their true labels if the data hold
    them, and shows which labels go together. With the data that the model was fitted
    on, the page can also show shorter models. A model that was fitted with --keep-sums
    can be edited in the page; `mltsk correct --edits` applies what the page exports.

    \b
    Examples:
      mltsk explore yeast.skops --out yeast.html
      mltsk explore patients.skops --data patients.csv --id patient --out patients.html
      mltsk explore patients.skops --edits --out patients.html
    """
    from ..explain.rules import MAX_SHOWN_LABELS
    from ..tables.files import source_files
    from .inputs import fitted_label_options, samples
    from .opened import classifier_with_rules, open_model

    check_installed("jinja2", extra="report")
    refuse_standard_output(out, "--out", "A page")
    replaced.check_output(out, replaced.PAGE, [model, *source_files(data)])
    if data is None and (id or neighbours):
        raise InputError(
            "--id and --neighbours are about rows: name their file with --data."
        )
    opened, info = open_model(model)
    classifier_with_rules(opened, model)  # a model without rules has no page
    if edits:
        _check_editable(opened, model)
    X = Y = ids = None
    if data is not None:
        rows = samples(
            opened,
            info,
            data,
            label_options=fitted_label_options(info),
            id=id,
            labels_needed=False,
            file_options=options,
        )
        X = rows.X
        Y = _unless_empty(rows.Y)
        ids = _unless_empty(rows.ids)
    with working("writing the page"):
        page = mltsk.explore(
            opened,
            out,
            X,
            Y,
            ids=ids,
            neighbours=neighbours,
            edits=edits,
            title=title or info.data or "Rules",
            max_labels=max_labels or MAX_SHOWN_LABELS,
        )
    size = _size(page.stat().st_size)
    say(f"{page}: {size}, open it in any browser", err=True)


def _check_editable(opened: "Estimator", model: str) -> None:
    """Refuse a page to edit where the model leaves nothing to edit by."""
    from ..pages.explorer_edits import edits_data

    content = edits_data(opened, has_all_labels=True)
    if content is None:
        raise InputError(
            f"{model} cannot be edited: --edits is for long models of tables, fitted "
            "with --keep-sums."
        )
    if content["refused"]:
        raise InputError(f"{model} cannot be edited: {content['refused']}")


def _unless_empty(frame: "DataFrame") -> "DataFrame | None":
    return frame if len(frame.columns) else None


def _size(n_bytes: int) -> str:
    """Bytes as people say them: 14 kB, 2.5 MB."""
    if n_bytes < 1e5:
        return f"{n_bytes / 1e3:.0f} kB"
    return f"{n_bytes / 1e6:.1f} MB"


# export -------------------------------------------------------------------------------


def export(
    model: ModelArgument,
    onnx: Annotated[str | None, Option(metavar="FILE", help=ONNX_HELP)] = None,
    as_json: Annotated[
        str | None, Option("--json", metavar="FILE", help=JSON_HELP)
    ] = None,
    float32: Annotated[bool, Option("--float32", help=FLOAT32_HELP)] = False,
) -> None:
    """Write a model as an ONNX graph, as JSON, or both.

    \b
    Examples:
      mltsk export yeast.skops --onnx yeast.onnx
      mltsk export patients.skops --json patients.json
    """
    if onnx is None and as_json is None:
        raise InputError("Say what to write: --onnx FILE, --json FILE, or both.")
    if onnx is not None:
        check_installed("onnx", extra="onnx")
        refuse_standard_output(onnx, "--onnx", "An ONNX graph")
    check_files([onnx, as_json], inputs=[model])
    replaced.check_output(onnx, replaced.GRAPH)
    replaced.check_output(as_json, replaced.JSON_MODEL)
    if onnx is not None:
        _write_onnx(model, Path(onnx), float32=float32)
    if as_json is not None:
        content = _plain_data(model)
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        write_text(text, as_json)


def _plain_data(path: str) -> dict[str, object]:
    """A model file as plain data."""
    from ..io.stored import stored_model

    stored = stored_model(path)
    if stored is not None:
        return stored.to_dict()
    return mltsk.to_dict(mltsk.load(path))


def _write_onnx(model: str, path: Path, *, float32: bool) -> None:
    """Write a model file as an ONNX graph, and say what it takes and gives."""
    classifier = mltsk.load(model)
    graph = mltsk.to_onnx(classifier, dtype="float32" if float32 else "float64")
    content = graph.SerializeToString()
    with writing(path) as file:
        file.write(content)
    inputs = graph.graph.input
    takes = f"{len(inputs)} inputs, one per column"
    if len(inputs) == 1:
        takes = f"input {inputs[0].name}"
    outputs = ", ".join(output.name for output in graph.graph.output)
    say(f"{path}: {_size(len(content))}, {takes}\noutputs {outputs}", err=True)
