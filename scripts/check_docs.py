"""Checks what pages and docstrings claim: ``python scripts/check_docs.py``, or of some pages alone, ``… PAGE …``.

Every command in code (``mltsk``, ``make``, ``python -m benchmarks``, ``python -m fuzz``) must exist with its options. A
table or list below ``<!-- results: results/NAME.md -->`` (from the folder of the page) must be, line by line, one of
that file, which ``python -m benchmarks NAME --keep`` or ``scripts/section_iv.py`` writes. Words in capitals stand for
anything.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from pathlib import Path

import typer

from mltsk.cli import app

ROOT = Path(__file__).resolve().parents[1]
FENCED = re.compile(r"^( *)```.*\n((?:.*\n)*?)\1```$", re.M)
INDENTED = re.compile(r"^ +((?:mltsk|python -m) (?:.(?!  ))+.)", re.M)
INLINE = re.compile(r"(`+)((?:[^`\n]|\n(?!\n))+)\1")
COMMAND = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*(mltsk|make|python -m (?:benchmarks|fuzz)[\w.]*)(?: (.+))?$"
)
RESULTS = re.compile(r"^<!-- results: (\S+) -->\n((?:[|-].*\n?)*)", re.M)


def main(pages: Sequence[str]) -> int:
    """Print what is wrong, a line each; the exit status is 1 if anything is."""
    wrong = [
        line
        for path in (map(Path, pages) if pages else everything())
        for line in problems(path)
    ]
    print(
        "\n".join(wrong)
        or "Every command in the documentation exists, and tables are those of their results."
    )
    return int(bool(wrong))


def everything() -> Iterator[Path]:
    """All pages, and all modules with docstrings."""
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "docs/**/*.rst",
        "src/**/*.py",
        "benchmarks/**/*.py",
        "fuzz/**/*.py",
    ):
        yield from sorted(ROOT.glob(pattern))


def problems(path: Path) -> Iterator[str]:
    """What is wrong in a page or a module, and where."""
    text = path.read_text(encoding="utf-8")
    for line, code in commands(docstrings(text) if path.suffix == ".py" else text):
        if why := fault(code):
            yield f"{path}:{line}: `{code}`: {why}."
    for mark in RESULTS.finditer(text):
        for line, why in difference(mark[2].splitlines(), path.parent / mark[1]):
            yield f"{path}:{text.count(chr(10), 0, mark.start(2)) + line}: {why}."


def docstrings(source: str) -> str:
    """A module with all but its docstrings left blank, so that lines keep their numbers."""
    kept: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef
        ) and ast.get_docstring(node):
            kept |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return "\n".join(
        line if number in kept else ""
        for number, line in enumerate(source.splitlines(), start=1)
    )


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The commands of code blocks, of indented lines and of code between backticks, each with its line."""
    rest = FENCED.sub(lambda block: re.sub(r"\S", " ", block[0]), text)
    lines = [
        (block.start(2) + m.start(), m[0])
        for block in FENCED.finditer(text)
        for m in re.finditer(".+", block[2])
    ]
    lines += [(m.start(), m[1]) for m in INDENTED.finditer(rest)] + [
        (m.start(), m[2]) for m in INLINE.finditer(rest)
    ]
    for start, code in lines:
        code = re.split(r" [#|>] ?", " ".join(code.split()))[0].strip()
        if COMMAND.match(code):
            yield text.count("\n", 0, start) + 1, code


def fault(code: str) -> str | None:
    """Why a command cannot be run, or None."""
    program, rest = COMMAND.match(code).groups("")
    words = [
        word
        for word in re.sub('"[^"]*"', "", rest).split()
        if not re.match(r"[A-Z]{2,}$|[\[…]", word)
    ]
    if program == "mltsk":
        return unknown_to_mltsk(words)
    if program == "make":
        targets = re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.M)
        return next(
            (
                f"there is no target {w}"
                for w in words
                if "=" not in w and w not in targets
            ),
            None,
        )
    return unknown_to_module(program.split()[-1], words)


def unknown_to_mltsk(words: Sequence[str]) -> str | None:
    """The command or option that there is not."""
    command, name = typer.main.get_command(app), "mltsk"
    for word in (word.partition("=")[0] for word in words):
        options = {
            "--help",
            "--debug",
            *(o for p in command.params for o in (*p.opts, *p.secondary_opts)),
        }
        known = (
            options if word.startswith("-") else getattr(command, "commands", [word])
        )
        if word not in known:
            return f"{name} has no {'option' if known is options else 'command'} {word}"
        if hasattr(command, "commands") and known is not options:
            command, name = command.commands[word], f"{name} {word}"
    return None


def unknown_to_module(module: str, words: Sequence[str]) -> str | None:
    """The module, benchmark or option that there is not; options are read off the source."""
    place = ROOT / module.replace(".", "/")
    source = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    if not source.is_file():
        return f"there is no module {module}"
    names = (
        set(takewhile(lambda word: not word.startswith("-"), words))
        if module == "benchmarks"
        else set()
    )
    missing = [
        f"benchmark {name}"
        for name in names - {path.stem for path in place.glob("[!_]*")}
    ]
    options = re.findall(r'"(--[\w-]+)"', source.read_text())
    missing += [
        f"option {w}"
        for w in words
        if w.startswith("-") and w.partition("=")[0] not in options
    ]
    return f"there is no {missing[0]}" if missing else None


def difference(shown: Sequence[str], file: Path) -> Iterator[tuple[int, str]]:
    """The first line of a table that is not that of the file's table with the same header, and what that one has."""
    tables = (
        file.read_text(encoding="utf-8").strip().split("\n\n") if file.is_file() else []
    )
    same = [
        table.splitlines()
        for table in tables
        if table.splitlines()[0] == (shown or [""])[0]
    ]
    if not same:
        yield 1, f"{file} has no table that begins with {(shown or ['nothing'])[0]}"
    elif list(shown) not in same:
        pairs = enumerate(zip_longest(shown, same[0], fillvalue="nothing"), start=1)
        yield next(
            (i, f"the page shows {a} and {file} has {b}")
            for i, (a, b) in pairs
            if a != b
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
