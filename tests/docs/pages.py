"""Code blocks of Markdown pages: how they are found, run and compared.

The ``python`` blocks of a page run one after the other in one namespace; a ``text``
block right behind one is what it prints. In a ``console`` block the lines that begin
with ``$ mltsk`` are run, and what follows each is what it prints, on standard error
too where the line ends with ``2>&1``; one that begins with ``mltsk: `` must be refused
with status 2. ``…`` stands for anything. A block behind ``<!-- not run: why -->`` is
left alone.

What is shown and what is printed are compared word by word, and numbers with a
tolerance of a tenth: another BLAS may move a rule's last digits, swap two terms of
equal size, and change nothing that a reader learns.
"""

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import StringIO
from pathlib import Path

from mltsk.cli import BAD_INPUT, main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: .+ -->\n)?```(?P<kind>\w+)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
TOKEN = re.compile(rf"{NUMBER.pattern}|\w+|[^\w\s…]")
WITH_ERRORS = "2>&1"  # at the end of a command: standard error is shown, too
MIN_SHARE_ALIKE = 0.98  # of words and numbers


@dataclass(frozen=True)
class Block:
    """A piece of a page, the line it starts at, and whether it is to be left alone."""

    kind: str
    code: str
    line: int
    skip: bool


def blocks(text: str) -> list[Block]:
    """All code blocks of a page."""
    found = []
    for match in BLOCK.finditer(text):
        block = Block(
            kind=match["kind"],
            code=match["code"],
            line=text[: match.start("code")].count("\n"),
            skip=bool(match["skip"]),
        )
        found.append(block)
    return found


def run_page(text: str, name: str) -> None:
    """Run a page from top to bottom.

    An AssertionError says where it shows something else than is printed.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(text):
        where = f"{name}, line {block.line + 1}"
        if block.skip:
            continue
        if block.kind == "python":
            printed = run_python(block, where, namespace)
        elif block.kind == "text":
            check(block.code, printed, where)
        elif block.kind == "console":
            run_console(block, where)


def run_python(block: Block, where: str, namespace: dict[str, object]) -> str:
    """What the block prints."""
    # blank lines before the code: tracebacks then name the line of the page
    code = compile("\n" * block.line + block.code, where, "exec")
    with redirect_stdout(StringIO()) as out:
        exec(code, namespace)
    return out.getvalue()


def run_console(block: Block, where: str) -> None:
    """Run the commands of a block: each must print what stands below it.

    Each must succeed, or be refused where the page shows that it is.
    """
    for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        program, *args = shlex.split(command, comments=True)
        assert program == "mltsk", f"{where}: only mltsk can be run here, not {program}"
        errors = StringIO()
        with redirect_stdout(StringIO()) as out:
            if args[-1] == WITH_ERRORS:
                args.pop()
                errors = out
            with redirect_stderr(errors):
                status = main(args)
        expected = BAD_INPUT if shown.startswith("mltsk: ") else 0
        assert status == expected, f"{where}: {command} ended with status {status}"
        if shown.strip():
            check(shown, out.getvalue(), f"{where}: {command}")


def check(shown: str, printed: str, where: str) -> None:
    """Compare what a page shows with what was printed."""
    shown_tokens = TOKEN.findall(shown)
    printed_tokens = TOKEN.findall(printed)
    n_wanted = len(shown_tokens)
    if "…" not in shown:
        n_wanted = max(n_wanted, len(printed_tokens))
    n_alike = count_alike(shown_tokens, printed_tokens)
    message = f"{where}: the page shows\n{shown}\nbut the code prints\n{printed}"
    assert n_alike >= MIN_SHARE_ALIKE * n_wanted, message


def count_alike(shown: list[str], printed: list[str]) -> int:
    """How many tokens are alike, where both stand in the same order."""
    matcher = SequenceMatcher(
        None, list(map(word, shown)), list(map(word, printed)), autojunk=False
    )
    n_alike = 0
    for match in matcher.get_matching_blocks():
        for i in range(match.size):
            n_alike += close(shown[match.a + i], printed[match.b + i])
    return n_alike


def word(token: str) -> str:
    """The token, or one sign for all numbers."""
    return "#" if NUMBER.fullmatch(token) else token


def close(a: str, b: str) -> bool:
    """Whether two tokens that differ in their numbers at most are alike."""
    if not NUMBER.fullmatch(a):
        return a == b
    x = float(a.replace(",", ""))
    y = float(b.replace(",", ""))
    return abs(x - y) <= 0.1 * max(abs(x), abs(y)) + 0.02
