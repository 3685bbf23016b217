"""Code blocks of Markdown pages: how they are found, run and compared with the output that the page shows.

The ``python`` blocks of a page run one after the other in one namespace; a ``text`` block right behind one is what it
prints. In a ``console`` block the lines that begin with ``$ mltsk`` are run, and what follows each is what it prints.
``…`` stands for anything. A block behind ``<!-- not run: why -->`` is left alone.

What is shown and what is printed are compared word by word, and numbers with a tolerance of a tenth: another BLAS may
move a rule's last digits, swap two terms of equal size, and change nothing that a reader learns.
"""

import re
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import StringIO
from pathlib import Path

from mltsk.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: .+ -->\n)?```(?P<kind>\w+)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
TOKEN = re.compile(rf"{NUMBER.pattern}|\w+|[^\w\s…]")
ALIKE = 0.98  # share of words and numbers that must agree


@dataclass(frozen=True)
class Block:
    """A piece of a page: its kind, its text, the line it starts at, and whether it is to be left alone."""

    kind: str
    code: str
    line: int
    skip: bool


def blocks(text: str) -> list[Block]:
    """All code blocks of a page."""
    return [
        Block(
            m["kind"], m["code"], text[: m.start("code")].count("\n"), bool(m["skip"])
        )
        for m in BLOCK.finditer(text)
    ]


def run_page(text: str, name: str) -> None:
    """Run a page from top to bottom; an AssertionError says where it shows something else than is printed."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in (block for block in blocks(text) if not block.skip):
        where = f"{name}, line {block.line + 1}"
        if block.kind == "python":
            printed = run_python(block, where, namespace)
        elif block.kind == "text":
            check(block.code, printed, where)
        elif block.kind == "console":
            run_console(block, where)


def run_python(block: Block, where: str, namespace: dict[str, object]) -> str:
    """What the block prints."""
    with redirect_stdout(StringIO()) as out:
        exec(compile("\n" * block.line + block.code, where, "exec"), namespace)
    return out.getvalue()


def run_console(block: Block, where: str) -> None:
    """Run the commands of a block, each of which must succeed and print what stands below it."""
    for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        program, *args = shlex.split(command, comments=True)
        assert program == "mltsk", f"{where}: only mltsk can be run here, not {program}"
        with redirect_stdout(StringIO()) as out:
            assert main(args) == 0, f"{where}: {command} failed"
        if shown.strip():
            check(shown, out.getvalue(), f"{where}: {command}")


def check(shown: str, printed: str, where: str) -> None:
    """Compare what a page shows with what was printed."""
    mine, theirs = TOKEN.findall(shown), TOKEN.findall(printed)
    runs = SequenceMatcher(
        None, [word(x) for x in mine], [word(x) for x in theirs], autojunk=False
    )
    pairs = [
        (mine[m.a + i], theirs[m.b + i])
        for m in runs.get_matching_blocks()
        for i in range(m.size)
    ]
    wanted = len(mine) if "…" in shown else max(len(mine), len(theirs))
    found = sum(close(a, b) for a, b in pairs) >= ALIKE * wanted
    assert found, f"{where}: the page shows\n{shown}\nbut the code prints\n{printed}"


def word(token: str) -> str:
    """The token, or one sign for all numbers."""
    return "#" if NUMBER.fullmatch(token) else token


def close(a: str, b: str) -> bool:
    """Whether two tokens that differ in their numbers at most are alike."""
    if not NUMBER.fullmatch(a):
        return a == b
    x, y = (float(token.replace(",", "")) for token in (a, b))
    return abs(x - y) <= 0.1 * max(abs(x), abs(y)) + 0.02
