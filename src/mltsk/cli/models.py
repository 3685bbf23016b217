"""What a model file says: rules, explore and export."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

from typer import Option

import mltsk

from ..exceptions import InputError, check_installed
from ..files import writing
from ..text import escape_markdown
from . import replaced
from .options import (
    FileOptions,
    MaxLabelsOption,
    ModelArgument,
    StatementsOption,
    out_option,
    there_is_data,
    with_options,
)
from .output import (
    STANDARD_OUTPUT,
    check_files,
    refuse_standard_output,
    say,
    working,
    write_text,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..explain import FuzzyRules, RuleBase
    from ..io import ModelInfo
    from .opened import Estimator

Format = StrEnum("Format", ["text", "md", "json", "html", "latex"])
KINDS_OF_RULES = {Format.json: replaced.JSON_RULES, Format.html: replaced.PAGE}
MIN_TEXT_COLUMNS = 60  # of rules that are printed
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
    "How many labels to describe in general: those that the model moves "
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
    """Write one page with the rules, inputs that can be moved, live scores, and why
    each label is predicted.

    The page needs no server and no network. With --data it holds up to 2,000 of those
    samples, which can be found by number or identifier; it marks their true labels if
    the data hold them, and shows which labels go together. With the data that the model
    was fitted on, the page can also show shorter models. A model that was fitted with
    --keep-sums can be edited in the page; `mltsk correct --edits` applies what the page
    exports.

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
