"""Processor seconds until a command answers, where it has no table to read.

Every command prints its help, and is asked for a file that is not there. Commands that
read a model print what a small one says. The best of three processes counts. Next to
them stands what scikit-learn takes to be imported, without which no model can be read.
The aim for help, and for a sentence about a file that is not there, is 0.6 s; PyTorch
is never imported.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, read_table, save

REPEATS = 3
COMMANDS = (
    "columns",
    "doctor",
    "review",
    "fit",
    "predict",
    "evaluate",
    "rules",
    "explore",
    "export",
    "reproduce",
    "report",
    "datasets",
    "demo",
)
# What is asked of each command: a file that is not there, in the place of the first.
REFUSED = {
    "columns": "none.csv",
    "doctor": "none.csv --labels 1",
    "review": "none.csv --labels 1 --out page.html",
    "fit": "none.csv --labels 1 --out new.skops",
    "predict": "none.skops none.csv",
    "evaluate": "none.skops none.csv",
    "rules": "none.skops",
    "explore": "none.skops --out page.html",
    "export": "none.skops --json -",
    "report": "none",
}
# What reads a model alone.
OF_MODEL = {
    "rules": "model.skops",
    "explore": "model.skops --out page.html",
    "export": "model.skops --json model.json",
}
# Runs a command in the process and prints its processor seconds at the end.
PROGRAM = """
import sys, time
from mltsk.cli import main
status = main(sys.argv[1:])
print(time.process_time(), status, "torch" in sys.modules, file=sys.stderr)
"""


def run(options: Options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = read_table("pbc")
        short = MLTSKClassifier(max_statements=4).fit(table.X, table.Y)
        save(short, Path(folder) / "model.skops")
        rows = [row_of(command, folder) for command in COMMANDS]
        bare = best_of("import mltsk", folder)
        sklearn = best_of("import sklearn.base", folder)
    rows.append(["(import mltsk)", f"{bare:.2f}", "", ""])
    rows.append(["(import sklearn.base)", f"{sklearn:.2f}", "", ""])
    print_table(["command", "--help", "no such file", "a small model"], rows)


def row_of(command: str, folder: str) -> list[str]:
    """The processor seconds of one command; blank where there is no such case."""
    cells = [seconds_of(f"{command} --help", folder, status=0)]
    cells.append("")
    if command in REFUSED:
        cells[-1] = seconds_of(f"{command} {REFUSED[command]}", folder, status=2)
    cells.append("")
    if command in OF_MODEL:
        cells[-1] = seconds_of(f"{command} {OF_MODEL[command]}", folder, status=0)
    return [command, *cells]


def seconds_of(line: str, folder: str, *, status: int) -> str:
    """Processor seconds of a command line, the best of a few."""
    seconds = []
    for _ in range(REPEATS):
        answer = started(PROGRAM, line.split(), folder)
        cpu, found, has_torch = answer.splitlines()[-1].split()
        if int(found) != status:
            raise RuntimeError(f"mltsk {line}: {answer}")
        if has_torch == "True":
            raise RuntimeError(f"mltsk {line} imports torch")
        seconds.append(float(cpu))
    return f"{min(seconds):.2f}"


def best_of(statement: str, folder: str) -> float:
    """Processor seconds of a statement in a process of its own."""
    program = f"{statement}\nimport sys, time\n"
    program += "print(time.process_time(), file=sys.stderr)"
    return min(float(started(program, [], folder)) for _ in range(REPEATS))


def started(program: str, arguments: list[str], folder: str) -> str:
    """What a program says on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr
