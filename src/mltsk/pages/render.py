"""Plain data into one HTML file that needs nothing else: no network, no scripts."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from ..exceptions import optional
from ..files import writing
from . import figures

NAMES = {"default": "our default", "paper": "paper's setting", "published": "paper, Table III"}


def demo_page(summary: dict[str, Any], rules_html: str, said: str = "The rules") -> str:
    """The page of a summary by `mltsk.pages.demo.run_demo`; ``rules_html`` are rules as HTML, escaped already, and
    ``said`` says which."""
    agreement, names = summary["agreement"], summary["agreement"]["labels"]
    drawn = {
        "metrics": [figures.metric_panel(metric, NAMES) for metric in summary["metrics"]],
        "labels": figures.correlation_map(agreement["label_correlation"], names, "Correlation of labels"),
        "consequents": figures.correlation_map(
            agreement["consequent_correlation"], names, "Correlation of consequents"
        ),
        "firing": {
            name: figures.firing_map(model["firing_map"], model["firing_names"], f"Firing strengths, {NAMES[name]}")
            for name, model in summary["models"].items()
            if model["firing_map"]
        },
    }
    said_of = {"said": said, "verdict": verdict(summary), "rules": _trusted(folded(rules_html))}
    return _template("demo.html").render(**summary, names=NAMES, figures=_trusted(drawn), **said_of)


def rules_page(rules_html: str, title: str) -> str:
    """Rules alone, as a page of their own."""
    return _template("rules.html").render(title=f"Rules of {title}" if title else "Rules", rules=_trusted(rules_html))


def folded(rules_html: str, open_rules: int = 5) -> str:
    """The rules with all but the first few folded up."""
    parts = rules_html.split("<details open>")
    shown = "<details open>".join(parts[: open_rules + 1])
    return "<details>".join([shown, *parts[open_rules + 1 :]])


def write_page(html: str, path: str | Path) -> Path:
    """Write a page in one step, making its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(html.encode())
    return path


def verdict(summary: dict[str, Any]) -> str:
    """Whether the rules differ from each other, in one sentence with the numbers."""
    ours, theirs = summary["models"]["default"], summary["models"]["paper"]
    own = f"our {ours['n_rules']} exceptions have distinctness {ours['distinctness']:.2f}"
    own = own if ours["n_rules"] else "our model needs a general rule alone"
    if theirs["distinctness"] >= 0.05:
        rules = f"The {theirs['n_rules']} rules of the paper's setting"
        return f"{rules} have distinctness {theirs['distinctness']:.2f} of 1, {own}."
    return (
        f"The paper's rules collapse: the firing of its {theirs['n_rules']} rules varies by at most "
        f"{_small(theirs['largest_spread'])} over all samples (distinctness {_small(theirs['distinctness'])} of 1), so "
        f"it is a linear model in disguise; {own}."
    )


def _small(value: float) -> str:
    return f"{value:.1g}" if value >= 1e-4 else f"{value:.0e}".replace("e-0", "e-")


def _template(name: str, package: str = "mltsk.pages") -> Any:
    """A template of this room, or of another that extends ours; everything that is put into it is escaped."""
    jinja2 = optional("jinja2", "report")
    rooms = jinja2.ChoiceLoader([jinja2.PackageLoader(room) for room in (package, "mltsk.pages")])
    strict: Any = {"autoescape": True, "undefined": jinja2.StrictUndefined}
    return jinja2.Environment(loader=rooms, trim_blocks=True, lstrip_blocks=True, **strict).get_template(name)


def _source(name: str) -> str:
    """A style sheet or script of this room as it is."""
    return (files("mltsk.pages") / "templates" / name).read_text(encoding="utf-8")


def _trusted(markup: Any) -> Any:
    """Markup of our own making, at any depth of lists and dictionaries, not to be escaped again."""
    from markupsafe import Markup

    if isinstance(markup, dict):
        return {key: _trusted(value) for key, value in markup.items()}
    return [_trusted(value) for value in markup] if isinstance(markup, list) else Markup(markup)
