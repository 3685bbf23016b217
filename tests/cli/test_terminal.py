"""Nothing that a stranger wrote is obeyed by a terminal: it is shown as text."""

import re

import numpy as np
import pytest

from mltsk.cli import main, output

BAD = "\x1b[31m\x07\x9b2J"  # red letters, a bell, and an empty screen
CONTROL = re.compile(r"[^\n\t -\x7e\xa0-\U0010ffff]")


@pytest.fixture
def strange(csv_file):
    """A table with sequences for a terminal in its name, columns, labels and cells."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(60):
        age = float(rng.normal(50, 9))
        word = f"never{BAD}" if i % 3 else "daily"
        patient = f"P{i}{BAD}"
        rows.append([patient, f"{age:.1f}", word, int(age > 50), int(i % 3 == 0)])
    header = [f"{BAD}id", f"age{BAD}", f"smoker{BAD}", f"flu{BAD}", f"{BAD}gout"]
    return csv_file(f"strange{BAD}.csv", header, rows)


@pytest.fixture
def strange_model(strange, tmp_path, capsys):
    path = tmp_path / f"model{BAD}.skops"
    options = ["--labels", "2", "--rules", "0", "--out", str(path)]
    assert main(["fit", str(strange), *options]) == 0
    captured = capsys.readouterr()
    assert CONTROL.findall(captured.out + captured.err) == []
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["columns", "DATA"],
        ["columns", "DATA", "--labels", "2"],
        ["columns", "DATA", "--labels", f"no{BAD}"],
        ["columns", f"no{BAD}.csv"],
        ["fit", "DATA", "--labels", f"no{BAD}", "--out", "OUT"],
        ["evaluate", "MODEL", "DATA"],
        ["evaluate", "MODEL", "DATA", "--json"],
        ["rules", "MODEL"],
        ["rules", "MODEL", "--statements", "3", "--format", "md"],
        ["explore", "MODEL", "--data", "DATA", "--out", "OUT"],
        ["export", "MODEL", "--json", "OUT"],
        ["review", "DATA", "--labels", "2", "--quick", "--out", "OUT"],
        ["reproduce", "-d", f"no{BAD}", "--out", "OUT"],
        ["datasets", "fetch", f"no{BAD}"],
        ["report", f"no{BAD}"],
        [f"no{BAD}"],
        ["rules", "MODEL", f"--no{BAD}"],
        ["rules", "MODEL", "--format", BAD],
        ["--debug", "columns", f"no{BAD}.csv"],
    ],
    ids=lambda command: " ".join(command).replace(BAD, "…"),
)
def test_main_prints_no_control_characters_of_strangers(
    mltsk, strange, strange_model, tmp_path, command
):
    places = {"DATA": strange, "MODEL": strange_model, "OUT": tmp_path / f"out{BAD}"}
    result = mltsk(*(places.get(word, word) for word in command))
    assert result.status in (0, 2)
    assert CONTROL.findall(result.out + result.err) == []


def test_reproduce_and_report_print_no_control_characters(mltsk, csv_file, tmp_path):
    out = tmp_path / f"run{BAD}"
    rows = [[i, i % 7, i % 2, i % 3 % 2] for i in range(30)]
    strange = csv_file(f"run{BAD}.csv", [f"a{BAD}", "b", f"c{BAD}", "d"], rows)
    options = ("-m", "sklearn.svm:SVC", "--folds", 3, "--no-studies", "-j", 1)
    result = mltsk("reproduce", "-d", strange, "--labels", 2, *options, "--out", out)
    assert result.status == 1
    assert CONTROL.findall(result.out + result.err) == []
    result = mltsk("report", tmp_path / "new", "--add", out)
    assert result.status == 0
    assert CONTROL.findall(result.out + result.err) == []


def test_write_text_spells_out_on_a_terminal_and_gives_programs_every_byte(
    capsys, monkeypatch
):
    output.write_text(f"{BAD}\n", "-")
    assert capsys.readouterr().out == f"{BAD}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    output.write_text(f"{BAD}\n", "-")
    assert capsys.readouterr().out == "\\x1b[31m\\x07\\x9b2J\n"
