"""Pages that name a command that is not there, or show a number that no run printed, are found out."""

import subprocess
import sys

import pytest

from .pages import ROOT


def checked(*pages):
    command = [
        sys.executable,
        str(ROOT / "scripts" / "check_docs.py"),
        *map(str, pages),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_the_documentation_names_and_shows_is_there():
    status, said = checked()
    assert status == 0, said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("`mltsk fit pbc --tune`", "mltsk fit has no option --tune"),
        ("```console\n$ mltsk guess pbc\n…\n```", "mltsk has no command guess"),
        ("`make tea PYTEST_ARGS=tests`", "there is no target tea"),
        ("`python -m benchmarks nothing --full`", "there is no benchmark nothing"),
        ("`python -m\nfuzz --forever`", "there is no option --forever"),
        ("`python -m fuzz.nothing`", "there is no module fuzz.nothing"),
    ],
)
def test_a_command_that_is_not_there_is_named_with_its_line(tmp_path, code, said):
    page = tmp_path / "page.md"
    page.write_text(
        f"# A page\n`mltsk fit DATA --out MODEL` and `make test` exist.\n\n{code}\n"
    )
    status, found = checked(page)
    assert (status, found.count("\n")) == (1, 1)
    assert found.startswith(f"{page}:{5 if '$' in code else 4}: ")
    assert found.endswith(f": {said}.\n")


def test_a_number_that_no_run_printed_is_shown_next_to_the_one_that_was(tmp_path):
    (tmp_path / "results").mkdir()
    kept = tmp_path / "results" / "speed.md"
    kept.write_text(
        "| data | AP |\n|---|---|\n| flags | .81 |\n\n| data | s |\n|---|---|\n| flags | 0.1 |\n| yeast | 0.5 |\n"
    )
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- results: results/speed.md -->\n| data | AP |\n|---|---|\n| flags | .81 |\n\n"
        "<!-- results: results/speed.md -->\n| data | s |\n|---|---|\n| flags | 0.1 |\n| yeast | 0.4 |\n"
    )
    assert checked(page) == (
        1,
        f"{page}:10: the page shows | yeast | 0.4 | and {kept} has | yeast | 0.5 |.\n",
    )
