"""Pages that name a missing command, or show a number of no run, are found out."""

import subprocess
import sys

import pytest

from .pages import ROOT

SPEED_AP = "| data | AP |\n|---|---|\n| flags | .81 |\n"
SPEED_SECONDS = "| data | s |\n|---|---|\n| flags | 0.1 |\n| yeast | 0.5 |\n"


def check_docs(*pages):
    """Exit status and output of the script."""
    script = ROOT / "scripts" / "check_docs.py"
    done = subprocess.run(
        [sys.executable, str(script), *map(str, pages)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_check_docs_finds_no_fault_in_the_documentation():
    status, output = check_docs()
    assert status == 0, output


@pytest.mark.parametrize(
    ("code", "line", "fault"),
    [
        ("`mltsk fit pbc --tune`", 4, "mltsk fit has no option --tune"),
        ("```console\n$ mltsk guess pbc\n…\n```", 5, "mltsk has no command guess"),
        ("`make tea PYTEST_ARGS=tests`", 4, "there is no target tea"),
        ("`python -m benchmarks nothing --full`", 4, "there is no benchmark nothing"),
        ("`python -m\nfuzz --forever`", 4, "there is no option --forever"),
        ("`python -m fuzz.nothing`", 4, "there is no module fuzz.nothing"),
    ],
)
def test_check_docs_names_a_command_that_is_not_there_with_its_line(
    tmp_path, code, line, fault
):
    page = tmp_path / "page.md"
    sound = "`mltsk fit DATA --out MODEL` and `make test` exist."
    page.write_text(f"# A page\n{sound}\n\n{code}\n")
    status, output = check_docs(page)
    assert (status, output.count("\n")) == (1, 1)
    assert output.startswith(f"{page}:{line}: ")
    assert output.endswith(f": {fault}.\n")


def test_check_docs_shows_a_number_that_no_run_printed_next_to_the_one_that_was(
    tmp_path,
):
    (tmp_path / "results").mkdir()
    kept = tmp_path / "results" / "speed.md"
    kept.write_text(f"{SPEED_AP}\n{SPEED_SECONDS}")
    page = tmp_path / "page.md"
    mark = "<!-- results: results/speed.md -->\n"
    changed = SPEED_SECONDS.replace("0.5", "0.4")
    page.write_text(f"{mark}{SPEED_AP}\n{mark}{changed}")
    status, output = check_docs(page)
    fault = f"the page shows | yeast | 0.4 | and {kept} has | yeast | 0.5 |."
    assert status == 1
    assert output == f"{page}:10: {fault}\n"


def test_check_docs_puts_newer_tables_into_a_page_when_asked(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "speed.md").write_text(f"{SPEED_AP}\n{SPEED_SECONDS}")
    page = tmp_path / "page.md"
    mark = "<!-- results: results/speed.md -->\n"
    older = SPEED_SECONDS.replace("0.5", "0.4")
    page.write_text(f"{mark}{older}\nAfter it.\n")
    status, _ = check_docs("--update", page)
    assert status == 0
    assert page.read_text() == f"{mark}{SPEED_SECONDS}\nAfter it.\n"
