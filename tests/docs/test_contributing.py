"""The answers to a newcomer's ten questions name files and functions that exist."""

import ast
import re

import pytest

from .pages import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(
    r"^\d+\. (.+?)(?=^\d+\. |\n\n)",
    TEXT.partition("## Ten questions")[2],
    flags=re.M | re.S,
)
PLACE = re.compile(r"`([\w/]+\.(?:py|csv|toml))`(?: \(((?:`[\w.]+`(?:, )?)+)\))?")


def defined(tree, prefix=""):
    """Names that a module or class defines.

    Names of methods stand behind the name of their class.
    """
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield prefix + target.id
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield prefix + node.name
            yield from defined(node, f"{node.name}.")


def test_contributing_answers_ten_questions():
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(
    "answer", QUESTIONS, ids=lambda answer: answer.partition("**")[2].partition("?")[0]
)
def test_contributing_names_at_most_two_files_and_what_to_look_for_in_them(answer):
    places = PLACE.findall(answer)
    assert 1 <= len(places) <= 2
    for path, names in places:
        file = ROOT / "src" / "mltsk" / path
        wanted = set(re.findall(r"[\w.]+", names))
        assert file.exists()
        if wanted:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            assert wanted <= set(defined(tree))
