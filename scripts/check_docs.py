"""Check what pages and docstrings claim: ``python scripts/check_docs.py``.

With names of pages, only these are checked. ``--update`` first puts the tables of
results into pages that show older ones, where one table alone has their header.

Every command in code (``mltsk``, ``make``, ``python -m benchmarks``, ``python -m
fuzz``) must exist with its options. A table or list below ``<!-- results:
results/NAME.md -->`` (from the folder of the page) must be, line by line, one of that
file, which ``python -m benchmarks NAME --keep`` or ``scripts/section_iv.py`` writes.
Words in capitals stand for anything.
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
PATTERNS = (
    "*.md",
    "docs/**/*.md",
    "docs/**/*.rst",
    "src/**/*.py",
    "benchmarks/**/*.py",
    "fuzz/**/*.py",
)
FENCED = re.compile(r"^( *)```.*\n((?:.*\n)*?)\1```$", re.M)
INDENTED = re.compile(r"^ +((?:mltsk|python -m) (?:.(?!  ))+.)", re.M)
INLINE = re.compile(r"(`+)((?:[^`\n]|\n(?!\n))+)\1")
COMMAND = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*"
    r"(mltsk|make|python -m (?:benchmarks|fuzz)[\w.]*)(?: (.+))?$"
)
RESULTS = re.compile(r"^<!-- results: (\S+) -->\n((?:[|-].*\n?)*)", re.M)


def main(names: Sequence[str]) -> int:
    """Print what is wrong, a line each; the exit status is 1 if anything is."""
    pages = [Path(name) for name in names if name != "--update"]
    faults = []
    for path in pages or list(all_pages()):
        if "--update" in names:
            update(path)
        faults += faults_of(path)
    if faults:
        print("\n".join(faults))
        return 1
    print(
        "Every command in the documentation exists, "
        "and tables are those of their results."
    )
    return 0


def all_pages() -> Iterator[Path]:
    """All pages, and all modules with docstrings."""
    for pattern in PATTERNS:
        yield from sorted(ROOT.glob(pattern))


def faults_of(path: Path) -> Iterator[str]:
    """What is wrong in a page or a module, and where."""
    text = path.read_text(encoding="utf-8")
    prose = docstrings(text) if path.suffix == ".py" else text
    for line, code in commands(prose):
        why = fault_of_command(code)
        if why:
            yield f"{path}:{line}: `{code}`: {why}."
    for mark in RESULTS.finditer(text):
        first_line = text.count("\n", 0, mark.start(2))
        shown = mark[2].splitlines()
        for line, why in fault_of_table(shown, path.parent / mark[1]):
            yield f"{path}:{first_line + line}: {why}."


def update(path: Path) -> None:
    """Show the tables of results as they are now."""
    text = path.read_text(encoding="utf-8")

    def as_it_is_now(mark: re.Match[str]) -> str:
        header = mark[2].partition("\n")[0]
        tables = tables_with(header, path.parent / mark[1])
        if len(tables) != 1:
            return mark[0]
        return mark[0].replace(mark[2], "\n".join(tables[0]) + "\n")

    newer = RESULTS.sub(as_it_is_now, text)
    if newer != text:
        path.write_text(newer, encoding="utf-8")


def docstrings(source: str) -> str:
    """A module with all but its docstrings left blank: lines keep their numbers."""
    in_docstring: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        has_body = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if has_body and ast.get_docstring(node):
            first = node.body[0]
            in_docstring.update(range(first.lineno, first.end_lineno + 1))
    lines = source.splitlines()
    for number in range(1, len(lines) + 1):
        if number not in in_docstring:
            lines[number - 1] = ""
    return "\n".join(lines)


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The commands in code, each with its line.

    Code is in blocks, in indented lines and between backticks.
    """
    snippets = []
    for block in FENCED.finditer(text):
        for line in re.finditer(".+", block[2]):
            snippets.append((block.start(2) + line.start(), line[0]))
    rest = FENCED.sub(lambda block: re.sub(r"\S", " ", block[0]), text)
    snippets += [(match.start(), match[1]) for match in INDENTED.finditer(rest)]
    snippets += [(match.start(), match[2]) for match in INLINE.finditer(rest)]
    for start, snippet in snippets:
        one_line = " ".join(snippet.split())
        code = re.split(r" [#|>] ?", one_line)[0].strip()
        if COMMAND.match(code):
            yield text.count("\n", 0, start) + 1, code


def fault_of_command(code: str) -> str | None:
    """Why a command cannot be run, or None."""
    program, rest = COMMAND.match(code).groups("")
    unquoted = re.sub('"[^"]*"', "", rest)
    words = []
    for word in unquoted.split():
        stands_for_anything = re.match(r"[A-Z]{2,}$|[\[…]", word)
        if not stands_for_anything:
            words.append(word)
    if program == "mltsk":
        return unknown_to_mltsk(words)
    if program == "make":
        return unknown_to_make(words)
    return unknown_to_module(program.split()[-1], words)


def unknown_to_make(words: Sequence[str]) -> str | None:
    """The target that the Makefile has not."""
    targets = re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.M)
    for word in words:
        if "=" not in word and word not in targets:
            return f"there is no target {word}"
    return None


def unknown_to_mltsk(words: Sequence[str]) -> str | None:
    """The command or option that the command line has not."""
    command = typer.main.get_command(app)
    name = "mltsk"
    for written in words:
        word = written.partition("=")[0]
        if word.startswith("-"):
            if word not in options_of(command):
                return f"{name} has no option {word}"
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return f"{name} has no command {word}"
            command = command.commands[word]
            name = f"{name} {word}"
    return None


def options_of(command: object) -> set[str]:
    """Options of a command, with those that every command has."""
    options = {"--help", "--debug"}
    for parameter in command.params:
        options.update(parameter.opts, parameter.secondary_opts)
    return options


def unknown_to_module(module: str, words: Sequence[str]) -> str | None:
    """The module, benchmark or option that there is not.

    Options are read off the source.
    """
    place = ROOT / module.replace(".", "/")
    source = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    if not source.is_file():
        return f"there is no module {module}"
    if module == "benchmarks":
        benchmarks = {path.stem for path in place.glob("[!_]*")}
        for name in takewhile(lambda word: not word.startswith("-"), words):
            if name not in benchmarks:
                return f"there is no benchmark {name}"
    options = re.findall(r'"(--[\w-]+)"', source.read_text())
    for word in words:
        if word.startswith("-") and word.partition("=")[0] not in options:
            return f"there is no option {word}"
    return None


def fault_of_table(shown: Sequence[str], file: Path) -> Iterator[tuple[int, str]]:
    """The first line of a table that differs from the file's, and what that one has.

    The two tables have the same header.
    """
    header = shown[0] if shown else ""
    same_header = tables_with(header, file)
    if not same_header:
        yield 1, f"{file} has no table that begins with {header or 'nothing'}"
        return
    if list(shown) in same_header:
        return
    pairs = zip_longest(shown, same_header[0], fillvalue="nothing")
    for number, (ours, theirs) in enumerate(pairs, start=1):
        if ours != theirs:
            yield number, f"the page shows {ours} and {file} has {theirs}"
            return


def tables_with(header: str, file: Path) -> list[list[str]]:
    """Tables of a file of results that begin with this line, each as lines."""
    if not file.is_file():
        return []
    tables = []
    for table in file.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = table.splitlines()
        if lines[0] == header:
            tables.append(lines)
    return tables


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
