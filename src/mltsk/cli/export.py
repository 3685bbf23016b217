"""``mltsk export``: a model for programs that know nothing of this package."""

from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    onnx: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write an ONNX graph: scores, labels and probabilities of dense rows."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write plain data (mltsk.from_dict reads them back); - prints.")
    ] = None,
    float32: Annotated[
        bool, typer.Option("--float32", help="Let the ONNX graph take float32 rows instead of float64.")
    ] = False,
) -> None:
    """Write a model as an ONNX graph, as JSON, or both.

    \b
    Examples:
      mltsk export yeast.skops --onnx yeast.onnx
      mltsk export patients.skops --json patients.json
    """
    from ..exceptions import InputError
    from ..io import check_target
    from .inputs import open_model

    if onnx is None and json is None:
        raise InputError("Say what to write: --onnx FILE, --json FILE, or both.")
    for file in (onnx, json):
        if file is not None and file != "-":
            check_target(file)
    if onnx == "-":
        raise InputError("An ONNX graph is no text: give --onnx the name of a file.")
    classifier, _ = open_model(model)
    if onnx is not None:
        write_onnx(classifier, onnx, float32)
    if json is not None:
        write_json(classifier, json)


def write_onnx(classifier: object, out: str, float32: bool) -> None:
    """The ONNX graph of a model in one step."""
    from ..io import to_onnx, writing

    content = to_onnx(classifier, dtype="float32" if float32 else "float64").SerializeToString()
    with writing(out) as file:
        file.write(content)
    typer.echo(f"{out}: {len(content) / 1e6:.1f} MB; input X, outputs scores, labels and probabilities", err=True)


def write_json(classifier: object, out: str) -> None:
    """The plain data of a model in one step."""
    import json

    from ..io import to_dict
    from .output import write_text

    write_text(json.dumps(to_dict(classifier), ensure_ascii=False, allow_nan=False), out)
