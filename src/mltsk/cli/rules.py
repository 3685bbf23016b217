"""``mltsk rules``: what a model says, in the caller's words and units."""

from enum import StrEnum
from typing import Annotated, Any

from typer import Argument, Option

from .output import write_text

Format = StrEnum("Format", ["text", "md", "json", "html"])
TOP_HELP = "Statements to show of each list.  [default: all of a short model and in JSON, else 5]"


def rules(
    model: Annotated[str, Argument(metavar="MODEL", help="A file that `mltsk fit` wrote.")],
    format: Annotated[Format, Option(help="How to write them.")] = Format.text,
    terms: Annotated[int | None, Option(min=1, metavar="N", help="Shorten to so many terms per label.")] = None,
    data: Annotated[str | None, Option(metavar="DATA", help="What it was fitted on, to shorten it by.")] = None,
    top: Annotated[int | None, Option(min=1, help=TOP_HELP)] = None,
    label: Annotated[str | None, Option(metavar="NAME", help="Only what concerns this label.")] = None,
    out: Annotated[str, Option("--out", "-o", metavar="FILE", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print what the model says: what holds in general about each label, and exceptions.

    \b
    Examples:
      mltsk rules yeast.skops --top 3
      mltsk rules patients.skops --label asthma
      mltsk rules patients.skops --terms 8 --data patients.csv
      mltsk rules patients.skops --format md --out rules.md
    """
    from .inputs import open_model, with_rules

    classifier, info = open_model(model)
    classifier = with_rules(classifier, model)
    if terms is not None:
        classifier = shortened(classifier, info, terms, data, model)
    write_text(rendered(classifier.rules_, format, top, label, info.data), out)


def shortened(classifier: Any, info: Any, terms: int, data: str | None, model: str) -> Any:
    """The classifier itself where it is short enough, or one that is fitted to the same data and short."""
    from ..exceptions import InputError
    from .evaluate import true_labels
    from .inputs import features_of, open_table

    if not hasattr(classifier, "shorten"):
        raise InputError(f"{model} holds a {type(classifier).__name__}, which cannot be shortened: leave --terms out.")
    if classifier.n_terms_.max(initial=0) <= terms:
        return classifier
    if data is None:
        raise InputError(
            f"{model} has up to {classifier.n_terms_.max()} numbers per label and holds no rows to shorten it by: fit "
            f"it with `mltsk fit --terms {terms}`, or name its data with --data."
        )
    table = open_table(data)
    X, Y = features_of(classifier, info, table, data), true_labels(table, None, info)
    short = classifier.shorten(terms, X=X, y=Y if Y.shape[1] > 1 else Y[:, 0])
    names = ("feature_names_in_", "label_names_", "categories_")
    vars(short).update({name: getattr(classifier, name) for name in names if hasattr(classifier, name)})
    return short


def rendered(base: Any, format: Format, top: int | None, label: str | None, title: str) -> str:
    """The rules as text of the asked format."""
    if format is Format.json:
        return base.to_json(top=top, label=label)
    if format is Format.html:
        from ..pages.render import rules_page

        return rules_page(base.to_html(top=top, label=label), title=title)
    return (base.to_markdown if format is Format.md else base.to_text)(top=top, label=label)
