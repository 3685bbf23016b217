"""Processor seconds until a command answers.

Every command prints its help, and is asked for a file that is not there. Where a
command has work that is small, it does it: on a short model of pbc, or on pbc itself
and its halves, from reading the table to writing the file. The best of three processes
counts. Next to them stands what scikit-learn takes to be imported, without which no
model can score a table, and skops, which our files do without. The aim for help, for a
sentence about a file that is not there, and for what is said of a model alone (rules,
plain data) is 0.6 s; PyTorch is never imported.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import Options, print_table
from mltsk import read_table

REPEATS = 3
COMMANDS = (
    "columns",
    "doctor",
    "review",
    "fit",
    "correct",
    "adapt",
    "share",
    "plan",
    "join",
    "predict",
    "evaluate",
    "rules",
    "explore",
    "export",
    "points",
    "person",
    "second-look",
    "methods",
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
    "correct": "none.skops --without age --out new.skops",
    "adapt": "none.skops none.csv --out new.skops",
    "share": "none.csv --labels 1 --summary --out site.summary",
    "plan": "none.summary --out new.json",
    "join": "none.sums --out new.skops",
    "predict": "none.skops none.csv",
    "evaluate": "none.skops none.csv",
    "rules": "none.skops",
    "explore": "none.skops --out page.html",
    "export": "none.skops --json -",
    "points": "none.skops none.csv --out points.html",
    "person": "none.skops none.csv --row 1 --out person.html",
    "second-look": "none.skops none.csv",
    "methods": "none.skops none.csv --out methods.md",
    "report": "none",
}
# What is small work: short.skops and long.skops are models of pbc, south.skops is one
# of half of it; `prepare` writes them.
SMALL = {
    "columns": "pbc",
    "doctor": "pbc",
    "review": "pbc --quick --out page.html",
    "fit": "pbc --out new.skops",
    "correct": "long.skops --without age --out new.skops",
    "adapt": "south.skops north.csv --out new.skops",
    "share": "north.csv --plan plan.json --out new.sums",
    "plan": "north.summary south.summary --out new.json",
    "join": "north.sums south.sums --out new.skops",
    "predict": "short.skops pbc --out new.csv",
    "evaluate": "short.skops pbc",
    "rules": "short.skops",
    "explore": "short.skops --out page.html",
    "export": "short.skops --json model.json",
    "points": "long.skops pbc --out points.html",
    "person": "long.skops pbc --row 1 --out person.html",
    "second-look": "long.skops pbc --out look.csv",
    "methods": "long.skops pbc --out methods.md",
}
PREPARED = (
    "fit pbc --statements 4 --out short.skops",
    "fit pbc --keep-sums --out long.skops",
    "fit south.csv --labels 4 --out south.skops",
    "share north.csv --labels 4 --summary --out north.summary",
    "share south.csv --labels 4 --summary --out south.summary",
    "plan north.summary south.summary --out plan.json",
    "share north.csv --plan plan.json --out north.sums",
    "share south.csv --plan plan.json --out south.sums",
)
# Runs a command in the process and prints its processor seconds at the end.
PROGRAM = """
import sys, time
from mltsk.cli import main
status = main(sys.argv[1:])
print(time.process_time(), status, "torch" in sys.modules, file=sys.stderr)
"""


def run(options: Options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        rows = [row_of(command, folder) for command in COMMANDS]
        for module in ("mltsk", "sklearn.base", "skops.io"):
            seconds = best_of(f"import {module}", folder)
            rows.append([f"(import {module})", f"{seconds:.2f}", "", ""])
    print_table(["command", "--help", "no such file", "small work"], rows)


def prepare(folder: Path) -> None:
    """Write the files that small work reads."""
    table = read_table("pbc")
    rows = table.ids.join(table.X).join(table.Y)
    half = len(rows) // 2
    rows[:half].to_csv(folder / "north.csv", index=False)
    rows[half:].to_csv(folder / "south.csv", index=False)
    for line in PREPARED:
        answer = started(PROGRAM, line.split(), str(folder))
        _, status, _ = answer.splitlines()[-1].split()
        if status != "0":
            raise RuntimeError(f"mltsk {line}: {answer}")


def row_of(command: str, folder: str) -> list[str]:
    """The processor seconds of one command; blank where there is no such case."""
    cells = [seconds_of(f"{command} --help", folder, status=0)]
    cells.append("")
    if command in REFUSED:
        cells[-1] = seconds_of(f"{command} {REFUSED[command]}", folder, status=2)
    cells.append("")
    if command in SMALL:
        cells[-1] = seconds_of(f"{command} {SMALL[command]}", folder, status=0)
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
