"""Plain data into one HTML file that needs nothing else: no network, no scripts."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..exceptions import optional
from ..files import writing


def rules_page(rules_html: str, title: str) -> str:
    """Rules alone, as a page of their own."""
    return _template("rules.html").render(
        title=f"Rules of {title}" if title else "Rules", rules=rules_html
    )


def write_page(html: str, path: str | Path) -> Path:
    """Write a page in one step, making its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(html.encode())
    return path


def _template(name: str, package: str = "mltsk.pages") -> Any:
    """A template of this room, or of another that extends ours; what is put into it is escaped, unless marked safe."""
    jinja2 = optional("jinja2", "report")
    rooms = jinja2.ChoiceLoader(
        [jinja2.PackageLoader(room) for room in (package, "mltsk.pages")]
    )
    strict: Any = {"autoescape": True, "undefined": jinja2.StrictUndefined}
    return jinja2.Environment(
        loader=rooms, trim_blocks=True, lstrip_blocks=True, **strict
    ).get_template(name)


@cache
def _source(name: str) -> str:
    return (files("mltsk.pages") / "templates" / name).read_text(encoding="utf-8")
