"""Every code block of the documentation runs as it stands and prints what the page shows."""

import importlib
import re
from pathlib import Path

import pytest

from .pages import ROOT, blocks, check, run_page

DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if blocks(p.read_text(encoding="utf-8")))
ROOMS = (
    "",
    ".datasets",
    ".tables",
    ".metrics",
    ".explain",
    ".io",
    ".paper",
    ".paper.methods",
    ".paper.significance",
    ".exceptions",
)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to run a page in."""
    pytest.importorskip("river", reason="the yeast data come with the river package")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, desk):
    run_page(page.read_text(encoding="utf-8"), page.name)


def test_only_pages_about_other_machines_have_code_that_is_not_run():
    skipping = {
        p.name
        for p in PAGES
        if any(block.skip for block in blocks(p.read_text(encoding="utf-8")))
    }
    assert skipping <= {"gpu.md", "cluster.md"}


def test_a_page_that_shows_something_else_is_found_out():
    with pytest.raises(AssertionError, match=r"page\.md, line 5: the page shows"):
        run_page("```python\nprint(1 + 1)\n```\n```text\n3\n```\n", "page.md")


def test_dots_stand_for_anything():
    check("a\n…\nc\n", "a\nb\nb\nc\n", "here")
    with pytest.raises(AssertionError):
        check("a\n…\nd\n", "a\nb\nc\n", "here")


def test_last_digits_may_differ_and_words_and_first_digits_may_not():
    check("AP 0.961 after 12 steps", "AP 0.963 after 12 steps", "here")
    for other in (
        "AP 0.461 after 12 steps",
        "HL 0.961 after 12 steps",
        "AP 0.961 after 12 steps and more",
    ):
        with pytest.raises(AssertionError):
            check("AP 0.961 after 12 steps", other, "here")


def test_every_public_name_is_in_the_reference():
    text = "\n".join(
        p.read_text(encoding="utf-8") for p in (DOCS / "api").glob("*.rst")
    )
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.M)) | set(
        re.findall(r"``(\w+)``", text)
    )
    public = {name for room in ROOMS for name in public_names(f"mltsk{room}")}
    assert sorted(public - listed) == []


def public_names(module):
    found = importlib.import_module(module)
    names = getattr(
        found,
        "__all__",
        [name for name in vars(found) if isinstance(getattr(found, name), type)],
    )
    return [name for name in names if not name.startswith("_")]


def test_every_link_between_pages_leads_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in DOCS.rglob("*.md")
        for target in re.findall(
            r"\]\((?!http|#)([^)#\s]+)", page.read_text(encoding="utf-8")
        )
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_examples_say_what_they_show():
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    assert len(examples) >= 4
    assert all(
        re.match(r'"""\n.+\n=+\n\n', Path(e).read_text(encoding="utf-8"))
        for e in examples
    )
