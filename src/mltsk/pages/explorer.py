"""The explorer: a model as one offline page in which its inputs can be moved and its answers watched.

The page evaluates the model itself, in plain JavaScript (``templates/explorer``), from the arrays that
`mltsk.pages.explorer_data` packs into it. Its content security policy lets nothing else run: the one script and the
one style sheet are named by their hashes, and no address may be fetched.
"""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..explain.wording import times
from .explorer_data import explorer_data
from .render import _template, _trusted, write_page

SCRIPTS = ("model.js", "words.js", "draw.js", "features.js", "views.js", "main.js")


def explore(model: Any, path: str | Path, X: Any = None, Y: Any = None, *, title: str = "Rules") -> Path:
    """Write a page in which a model can be explored, to be opened by any browser without a server or a network.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK, or MultilabelThreshold around one
        Fitted.
    path : str or Path
        Where to write the page (``….html``).
    X : array, data frame or CSR of shape (n, n_features), optional
        Rows to take a handful of examples from; without it there are a usual sample and that of each exception.
    Y : indicator of shape (n, n_labels), optional
        Labels of those rows: the page then marks the true labels of an example, and shows which labels go together.
    title : str, default="Rules"

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> page = explore(clf, tempfile.mkdtemp() + "/page.html", data.X, data.Y)
    >>> page.stat().st_size < 200_000
    True
    """
    return write_page(explorer_page(model, X, Y, title=title), path)


def explorer_page(model: Any, X: Any = None, Y: Any = None, *, title: str = "Rules") -> str:
    """The page of `explore` as text."""
    data = explorer_data(model, X, Y)
    K, D, L, P = data["shape"]
    style, script = _source("style.css"), script_source()
    parts = {"style": _trusted(style), "script": _trusted(script), "data": _trusted(embedded(data))}
    subtitle = f"{times(K, data['noun'].lower())} · {times(D, 'feature')} · {times(L, 'label')}"
    facts = {"title": title, "subtitle": subtitle, "noun": data["noun"], "general": P, "rules": K}
    facts |= {"calibrated": data["slopes"], "truth": "labels" in data["correlation"], "version": __version__}
    facts |= {"slopes": K and data["order"], "dashed": K and data["scale"]["kind"] != "unit"}
    return _template("explorer/page.html").render(policy=policy(style, script), **facts, **parts)


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: no text in it can end that element or begin a comment.

    Examples
    --------
    >>> embedded({"name": "</script><!-- & -->"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!-- \\\\u0026 --\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def policy(style: str, script: str) -> str:
    """A content security policy under which this style and this script run, and nothing else does."""
    parts = ["default-src 'none'", f"script-src {_digest(script)}", f"style-src {_digest(style)}"]
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'"])


def script_source() -> str:
    """The page's program: its files in order, as one."""
    body = "\n".join(_source(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _source(name: str) -> str:
    return (files("mltsk.pages") / "templates" / "explorer" / name).read_text(encoding="utf-8")
