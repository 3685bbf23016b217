"""Plain data into HTML files that need nothing else.

Templates are files of ``templates``: HTML for Jinja, style sheets and scripts.
`template` is for HTML, `source` for the text of a style sheet or script.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..exceptions import InputError, check_installed, optional
from ..files import writing
from ..text import escape_markdown

PAGE_SUFFIXES = (".html", ".htm")
# A line of a style sheet or a script that is blank or holds nothing but a comment.
EMPTY_LINE = re.compile(r"^[ \t]*(//.*|/\*[^*]*\*/)?\n", flags=re.MULTILINE)


def rules_page(rules_html: str, title: str, edits: Sequence[str] = ()) -> str:
    """Return a page of rules alone, from their HTML, and the edits of the model."""
    heading = f"Rules of {title}" if title else "Rules"
    return template("rules.html").render(title=heading, rules=rules_html, edits=edits)


def check_page_path(path: str | Path) -> None:
    """Refuse a file that no browser would open as a page."""
    check_installed("jinja2", extra="report")
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"{path} is no page: end its name with .html.")


def write_page(html: str, path: str | Path) -> Path:
    """Write a page in one step, and its folder if that is missing."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(html.encode())
    return path


def template(name: str, package: str = "mltsk.pages") -> Any:
    """Return a Jinja template of a package, which may extend those of this one.

    What is put into it is escaped, unless it is marked as safe. A name that it lacks
    is an error.
    """
    jinja2 = optional("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("mltsk.pages")]
        ),
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["markdown"] = escape_markdown
    return environment.get_template(name)


@cache
def source(name: str) -> str:
    """Return a style sheet or script without blank lines and lines of comments.

    Comments are a fifth of the scripts: with them, the page of a small model would be a
    fifth larger. No text in these files may go over several lines.
    """
    path = files("mltsk.pages") / "templates" / name
    return EMPTY_LINE.sub("", path.read_text(encoding="utf-8"))
