"""``mltsk rules``: the rules of a model, in the caller's words and units."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from .output import write_text

Format = StrEnum("Format", ["text", "md", "json", "html"])


def rules(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    format: Annotated[Format, typer.Option(help="How to write them.")] = Format.text,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            "--terms",
            min=1,
            help="Statements to show of each list.  [default: all of a short model and in JSON, else 5]",
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="Only what concerns this label.")] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print what the model says: what holds in general about each label, and exceptions.

    \b
    Examples:
      mltsk rules yeast.skops --top 3
      mltsk rules patients.skops --label asthma
      mltsk rules patients.skops --format md --out rules.md
    """
    from .inputs import open_model, with_rules

    classifier, info = open_model(model)
    write_text(rendered(with_rules(classifier, model).rules_, format, top, label, info.data), out)


def rendered(base: Any, format: Format, top: int | None, label: str | None, title: str) -> str:
    """The rules as text of the asked format."""
    if format is Format.json:
        return base.to_json(top=top, label=label)
    if format is Format.html:
        from ..pages.render import rules_page

        return rules_page(base.to_html(top=top, label=label), title=title)
    return (base.to_markdown if format is Format.md else base.to_text)(top=top, label=label)
