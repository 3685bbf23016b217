"""The page on architecture names files that are there, and those that a fit enters."""

import re
import sys
from pathlib import Path

from mltsk import MLTSKClassifier, read_table

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mltsk"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
# What every step uses is not drawn.
SHARED = {
    "core/arrays.py",
    "core/pairs.py",
    "core/threads.py",
    "core/used.py",
    "correctable.py",
    "exceptions.py",
    "text.py",
}


def drawn_files():
    """The files in the drawing of the walk."""
    _, _, section = PAGE.partition("## The walk of a default fit")
    _, drawing, *_ = section.split("```")
    return set(re.findall(r"[\w/]+\.py", drawing))


def entered_files(call):
    """The files of the package that a call enters."""
    entered = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            entered.add(path.relative_to(SOURCE).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def test_the_walk_of_a_default_fit_names_the_files_that_it_enters():
    table = read_table("pbc")
    entered = entered_files(lambda: MLTSKClassifier().fit(table.X, table.Y))
    assert drawn_files() - entered == set()
    assert entered - drawn_files() - SHARED == set()


def test_files_that_the_page_names_exist():
    known = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    named = {Path(name).name for name in re.findall(r"[\w/]+\.py\b", PAGE)}
    assert named - known == set()
