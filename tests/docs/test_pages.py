"""Every code block of the documentation runs and prints what the page shows."""

import importlib
import re

import pytest

from .pages import ROOT, blocks, check, run_page

DOCS = ROOT / "docs"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
PAGES_WITH_CODE = [path for path, text in TEXTS.items() if blocks(text)]
MODULES = (
    "mltsk",
    "mltsk.datasets",
    "mltsk.tables",
    "mltsk.metrics",
    "mltsk.model_selection",
    "mltsk.explain",
    "mltsk.io",
    "mltsk.sites",
    "mltsk.paper",
    "mltsk.paper.methods",
    "mltsk.paper.significance",
    "mltsk.exceptions",
)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to run a page in."""
    pytest.importorskip("river", reason="the yeast data come with the river package")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.mark.parametrize(
    "page", PAGES_WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_run_page_prints_what_each_page_shows(page, desk):
    run_page(TEXTS[page], page.name)


def test_only_pages_about_other_machines_and_data_have_blocks_that_are_not_run():
    skipping = set()
    for page in PAGES_WITH_CODE:
        if any(block.skip for block in blocks(TEXTS[page])):
            skipping.add(page.name)
    assert skipping <= {"gpu.md", "cluster.md", "add_your_method.md"}


def test_run_page_finds_a_page_that_shows_something_else():
    with pytest.raises(AssertionError, match=r"page\.md, line 5: the page shows"):
        run_page("```python\nprint(1 + 1)\n```\n```text\n3\n```\n", "page.md")


def test_run_page_shows_standard_error_where_the_command_does():
    page = "```console\n$ mltsk rules none.skops{}\n{}\n```\n"
    sentence = "mltsk: There is no model file none.skops."
    run_page(page.format(" 2>&1", sentence), "page.md")
    with pytest.raises(AssertionError, match="but the code prints"):
        run_page(page.format("", sentence), "page.md")
    with pytest.raises(AssertionError, match="ended with status 2"):
        run_page(page.format(" 2>&1", "…"), "page.md")


def test_check_takes_dots_for_anything():
    check("a\n…\nc\n", "a\nb\nb\nc\n", "here")
    with pytest.raises(AssertionError):
        check("a\n…\nd\n", "a\nb\nc\n", "here")


def test_check_accepts_other_last_digits():
    check("AP 0.961 after 12 steps", "AP 0.963 after 12 steps", "here")


@pytest.mark.parametrize(
    "printed",
    [
        "AP 0.461 after 12 steps",
        "HL 0.961 after 12 steps",
        "AP 0.961 after 12 steps and more",
    ],
)
def test_check_refuses_other_words_and_first_digits(printed):
    with pytest.raises(AssertionError):
        check("AP 0.961 after 12 steps", printed, "here")


def public_names(module_name):
    """Names that a module offers: its ``__all__``, or its classes."""
    module = importlib.import_module(module_name)
    if hasattr(module, "__all__"):
        names = module.__all__
    else:
        names = [
            name for name in vars(module) if isinstance(getattr(module, name), type)
        ]
    return [name for name in names if not name.startswith("_")]


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_lists_every_public_name(module):
    listed = set()
    for page in (DOCS / "api").glob("*.rst"):
        text = page.read_text(encoding="utf-8")
        listed.update(re.findall(r"^   (\w+)$", text, flags=re.M))
        listed.update(re.findall(r"``(\w+)``", text))
    assert sorted(set(public_names(module)) - listed) == []


def test_every_link_between_pages_leads_somewhere():
    broken = []
    for page, text in TEXTS.items():
        for target in re.findall(r"\]\((?!http|#)([^)#\s]+)", text):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_every_example_says_what_it_shows():
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    assert len(examples) >= 4
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert re.match(r'"""\n.+\n=+\n\n', text), example.name
