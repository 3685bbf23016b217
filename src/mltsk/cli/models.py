"""What is done with a model file: ``mltsk predict``, ``evaluate``, ``rules``, ``explore`` and ``export``."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..files import check_target, spreadsheet_safe, writing
from .fit import STATEMENTS_HELP
from .later import inputs, pandas, rendering
from .output import label_table, metric_table, note, noted_warnings, working, write_text
from .tables import LabelColumn, Missing, Separator

Format = StrEnum("Format", ["text", "md", "json", "html"])
Model = Annotated[str, Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")]
COLUMNS = ("observed", "prevalence", "AP", "AUC", "sensitivity", "precision", "Brier")
TOP_HELP = "How many statements of each list to show.  [default: all of a short model and in JSON, else 5]"
ONNX_HELP = "Write an ONNX graph: scores, labels and probabilities of dense samples."
JSON_HELP = "Write plain data (mltsk.from_dict reads them back); - prints."
FLOAT32_HELP = "Let the ONNX graph take float32 numbers instead of float64."
ID_HELP = "Columns that identify a sample, written first.  [default: those of the fitted data]"
ROWS_HELP = (
    "Samples to start from, which the page will hold: a file, or a name of the catalog."
)
FIND_HELP = "Columns that identify a sample, to find it by.  [default: those of the fitted data]"
NEIGHBOURS_HELP = "List the samples that are most like the one shown."


def predict(
    model: Model,
    data: Annotated[
        str,
        Argument(
            metavar="DATA", help="A file with the features, or a name of the catalog."
        ),
    ],
    out: Annotated[
        str,
        Option(
            "--out", "-o", metavar="FILE", help="CSV to write; - is standard output."
        ),
    ] = "-",
    id: Annotated[str, Option("--id", metavar="COLUMNS", help=ID_HELP)] = "",
    missing: Missing = "",
) -> None:
    """Predict the labels of every sample.

    Columns are found by name: their order does not matter, labels may be there or not, and columns that the model
    does not use are left out with a note. Cells may be missing, and values need not have been seen before: a note
    counts them. Columns that identify a sample come first, then two per label, probability:LABEL and LABEL (0 or 1).
    A name that a spreadsheet would take for a formula, such as =1+1, gets an apostrophe in front.

    \b
    Examples:
      mltsk predict yeast.skops new.csv --out predictions.csv
      mltsk predict patients.skops new.xlsx --id patient --missing "<4.0" --out predictions.csv
      mltsk predict patients.skops patients.parquet | head
    """
    if out != "-":
        check_target(out)
    classifier, info = inputs.open_model(model)
    rows = inputs.rows_of(classifier, info, data, id=id, missing=missing)
    how, method = "score", "decision_function"
    if hasattr(classifier, "predict_proba"):
        how, method = "probability", "predict_proba"
    with working(f"predicting {len(rows.ids):,} rows"):
        values, labels = inputs.answers(classifier, rows.X, method, "predict")
    numbers = [[f"{value:.5g}" for value in column] for column in values.T.tolist()]
    if labels.ndim == 1:  # a model of one-dimensional classes, fitted in Python
        header, cells = (
            [*(f"{how}:{name}" for name in classifier.classes_), "prediction"],
            [*numbers, labels],
        )
    else:
        header = [
            column for name in info.label_names for column in (f"{how}:{name}", name)
        ]
        cells = [
            column for pair in zip(numbers, labels.T, strict=True) for column in pair
        ]
    if twice := [name for name in rows.ids if name in header]:
        raise InputError(
            f"Predictions have a column {twice[0]!r} of their own: leave it out of --id."
        )
    table = rows.ids.astype(object).map(spreadsheet_safe)
    table[header] = pandas.DataFrame(dict(enumerate(cells)), table.index, dtype=object)
    write_text(
        table.rename(columns=spreadsheet_safe).to_csv(index=False, lineterminator="\n"),
        out,
    )


def evaluate(
    model: Model,
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="A file with features and labels, or a name of the catalog.",
        ),
    ],
    labels: Annotated[
        str | None,
        Option(metavar="COLUMNS", help="Label columns, if their names have changed."),
    ] = None,
    label_column: LabelColumn = None,
    separator: Separator = ";",
    missing: Missing = "",
    as_json: Annotated[
        bool, Option("--json", help="Print JSON instead of tables.")
    ] = False,
) -> None:
    """Compare what a model predicts with what is true, per label and overall.

    Labels are read as they were when the model was fitted; those that were not observed are left out. Of the two
    conventions, 'standard' is the one for comparing models, and 'paper' is what the program behind the paper computes.
    They differ for ties and for samples with no or all labels.

    \b
    Examples:
      mltsk evaluate yeast.skops yeast
      mltsk evaluate patients.skops test.csv --json
    """
    classifier, info = inputs.open_model(model)
    if not inputs.taken_apart(classifier)[1].multilabel_:
        raise InputError(
            f"{model} predicts one class of several, not labels: there is nothing to compare with."
        )
    how = inputs.reading(info, labels, label_column, separator)
    rows = inputs.rows_of(classifier, info, data, how, missing=missing)
    scores, guesses = inputs.outputs_of(classifier, rows.X)
    has_proba = hasattr(classifier, "predict_proba")
    with noted_warnings():
        found = {
            c: mltsk.evaluate(rows.Y, scores, predictions=guesses, convention=c)
            for c in ("standard", "paper")
        }
        likely = (
            inputs.answers(classifier, rows.X, "predict_proba")[0]
            if has_proba
            else scores
        )
        by_label = mltsk.evaluate(rows.Y, likely, predictions=guesses, per_label=True)
    n, n_labels = rows.Y.shape
    if info.data == rows.name and info.fitted.get("samples") == n:
        note(
            f"the model was fitted on data called {rows.name} with as many rows: this may be no estimate for others."
        )
    if as_json:
        plain = {
            "rows": n,
            "labels": n_labels,
            **found,
            "per_label": by_label[[*COLUMNS]].astype(float).T.to_dict(),
        }
        plain = json.loads(
            json.dumps(plain), parse_constant=lambda _: None
        )  # JSON has no NaN: no row counts
        typer.echo(json.dumps(plain, indent=2))
        return
    shape = f"{rows.name}: {n:,} rows, {n_labels} label{'s' if n_labels > 1 else ''}"
    typer.echo(
        "\n\n".join(
            [
                shape,
                label_table(by_label, COLUMNS),
                metric_table(found, found["standard"]),
            ]
        )
    )


def rules(
    model: Model,
    format: Annotated[Format, Option(help="How to write them.")] = Format.text,
    statements: Annotated[
        int | None, Option(min=1, metavar="N", help=STATEMENTS_HELP)
    ] = None,
    data: Annotated[
        str | None,
        Option(metavar="DATA", help="The data of the fit, which --statements needs."),
    ] = None,
    top: Annotated[int | None, Option(min=1, help=TOP_HELP)] = None,
    label: Annotated[
        str | None, Option(metavar="NAME", help="Only what concerns this label.")
    ] = None,
    out: Annotated[
        str,
        Option(
            "--out", "-o", metavar="FILE", help="File to write; - is standard output."
        ),
    ] = "-",
) -> None:
    """Print the rules of a model: what holds in general about each label, and the exceptions.

    \b
    Examples:
      mltsk rules yeast.skops --top 3
      mltsk rules patients.skops --label asthma
      mltsk rules patients.skops --statements 8 --data patients.csv
      mltsk rules patients.skops --format md --out rules.md
    """
    classifier, info = inputs.open_model(model)
    classifier = inputs.with_rules(classifier, model)
    if statements is not None:
        classifier = shortened(classifier, info, statements, data, model)
    base = classifier.rules_
    written = {
        Format.json: base.to_json,
        Format.html: base.to_html,
        Format.md: base.to_markdown,
    }
    text = written.get(format, base.to_text)(top=top, label=label)
    if format is Format.html:
        text = rendering.rules_page(text, title=info.data)
    write_text(text, out)


def shortened(
    classifier: Any, info: Any, statements: int, data: str | None, model: str
) -> Any:
    """The classifier itself where it is short enough, or one that is fitted to the same data and short."""
    if not hasattr(classifier, "shorten"):
        raise InputError(
            f"{model} holds a {type(classifier).__name__}, which cannot be shortened: leave --statements out."
        )
    if classifier.n_statements_.max(initial=0) <= statements:
        return classifier
    if data is None:
        what = f"has up to {classifier.n_statements_.max()} numbers per label and holds no rows to shorten it by"
        raise InputError(
            f"{model} {what}: fit it with `mltsk fit --statements {statements}`, or name its data with --data."
        )
    rows = inputs.rows_of(classifier, info, data, inputs.reading(info))
    short = classifier.shorten(statements, X=rows.X, y=rows.Y)
    if hasattr(classifier, "feature_names_in_"):
        short = inputs.with_feature_names(short, classifier.feature_names_in_)
    return short


def explore(
    model: Model,
    out: Annotated[
        str, Option("--out", "-o", metavar="FILE", help="The page to write (….html).")
    ],
    data: Annotated[str | None, Option(metavar="DATA", help=ROWS_HELP)] = None,
    id: Annotated[str, Option("--id", metavar="COLUMNS", help=FIND_HELP)] = "",
    neighbours: Annotated[bool, Option("--neighbours", help=NEIGHBOURS_HELP)] = False,
    title: Annotated[
        str | None,
        Option(help="Heading of the page.  [default: name of the fitted data]"),
    ] = None,
) -> None:
    """Write one page with the rules, live scores for inputs that can be moved, and why each label is given.

    The page needs no server and no network. With --data it holds those samples, up to 2,000, to be found by number
    or identifier, marks their true labels if the data hold them, and shows which labels go together. With the data
    that the model was fitted on, the page can also show shorter models.

    \b
    Examples:
      mltsk explore yeast.skops --out yeast.html
      mltsk explore patients.skops --data patients.csv --id patient --out patients.html
    """
    check_target(out)
    if data is None and (id or neighbours):
        raise InputError(
            "--id and --neighbours are about rows: name their file with --data."
        )
    classifier, info = inputs.open_model(model)
    inputs.with_rules(classifier, model)
    X, Y, ids = None, None, None
    if data is not None:
        rows = inputs.rows_of(
            classifier, info, data, inputs.reading(info), id=id, needed=False
        )
        X, Y, ids = (
            rows.X,
            *(part if len(part.columns) else None for part in (rows.Y, rows.ids)),
        )
    with working("writing the page"):
        page = mltsk.explore(
            classifier,
            out,
            X,
            Y,
            ids=ids,
            neighbours=neighbours,
            title=title or info.data or "Rules",
        )
    typer.echo(
        f"{page}: {page.stat().st_size / 1e6:.1f} MB, open it in any browser", err=True
    )


def export(
    model: Model,
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
    for file in (onnx, as_json):
        if file not in (None, "-"):
            check_target(file)
    if onnx == "-":
        raise InputError("An ONNX graph is no text: give --onnx the name of a file.")
    classifier, _ = inputs.open_model(model)
    if onnx is not None:
        graph = mltsk.to_onnx(classifier, dtype="float32" if float32 else "float64")
        content, n = graph.SerializeToString(), len(graph.graph.input)
        with writing(onnx) as target:
            target.write(content)
        takes = (
            f"input {graph.graph.input[0].name}"
            if n == 1
            else f"{n} inputs, one per column"
        )
        typer.echo(
            f"{onnx}: {len(content) / 1e6:.1f} MB; {takes}, outputs scores, labels, probabilities",
            err=True,
        )
    if as_json is not None:
        write_text(
            json.dumps(mltsk.to_dict(classifier), ensure_ascii=False, allow_nan=False),
            as_json,
        )
