"""``mltsk explore``: a model as a page in which its inputs can be moved."""

from typing import Annotated, Any

import typer


def explore(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page to write (….html).")],
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows to take examples from: a file, or a name of the catalog."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.  [default: name of the fitted data]")] = None,
) -> None:
    """Write one page with the rules, live scores for inputs that can be moved, and why each label is given.

    The page needs no server and no network. With --data it offers a handful of those rows as examples, marks their
    true labels if the data hold them, and shows which labels go together.

    \b
    Examples:
      mltsk explore yeast.skops --out yeast.html
      mltsk explore patients.skops --data patients.csv --out patients.html
    """
    from ..io import check_target
    from ..pages.explorer import explore as write
    from .inputs import features_of, open_model, open_table, with_rules

    check_target(out)
    classifier, info = open_model(model)
    with_rules(classifier, model)
    X, Y = None, None
    if data is not None:
        table = open_table(data)
        X, Y = features_of(classifier, info, table, data), labels_of(table, info)
    page = write(classifier, out, X, Y, title=title or info.data or "Rules")
    typer.echo(f"{page}: {page.stat().st_size / 1e6:.1f} MB, open it in any browser", err=True)


def labels_of(table: Any, info: Any) -> Any:
    """The labels of a table in the order of the model's, or None if it does not hold them all."""
    from ..datasets import split_labels

    if not set(info.label_names) <= set(table.names):
        return None
    return split_labels(table, info.label_names).Y
