"""How the code reads, counted from its syntax tree.

    python scripts/style.py                 a row per room of src/mltsk, and the whole
    python scripts/style.py --worst         functions, calls and lines that stand out
    python scripts/style.py --check         exit status 1 where the whole misses an aim

Counts are per 1,000 code lines: lines that are neither blank, nor a comment, nor part
of a docstring. Aims are those of CONTRIBUTING.md.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "mltsk"
MAX_BODY_LINES = 45
MAX_COMPLEXITY = 12
MAX_POSITIONAL = 4
AIMS = {
    "characters": 38.0,
    "p90": 84.0,
    "tuples": 12.0,
    "ternaries": 25.0,
    "comprehensions": 40.0,
    "Any": 12.0,
    "complexity": MAX_COMPLEXITY,
    "body": MAX_BODY_LINES,
    "positional": 0,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.IfExp,
    ast.ExceptHandler,
    ast.comprehension,
    ast.With,
    ast.Assert,
    ast.match_case,
)


@dataclass
class Counts:
    """What was counted in some modules."""

    lengths: list[int] = field(default_factory=list)
    characters: int = 0
    nodes: int = 0
    tuples: int = 0
    ternaries: int = 0
    comprehensions: int = 0
    any_lines: int = 0
    complexity: int = 0
    body: int = 0
    positional: int = 0
    notable: list[str] = field(default_factory=list)

    def row(self) -> dict[str, float]:
        """The figures as they are printed and compared with AIMS."""
        lines = max(1, len(self.lengths))
        per_thousand = 1000 / lines
        return {
            "lines": len(self.lengths),
            "nodes": self.nodes,
            "characters": round(self.characters / lines, 1),
            "p90": sorted(self.lengths)[int(0.9 * lines)] if self.lengths else 0,
            "tuples": round(self.tuples * per_thousand, 1),
            "ternaries": round(self.ternaries * per_thousand, 1),
            "comprehensions": round(self.comprehensions * per_thousand, 1),
            "Any": round(self.any_lines * per_thousand, 1),
            "complexity": self.complexity,
            "body": self.body,
            "positional": self.positional,
        }


def docstring_of(node: ast.AST) -> ast.Expr | None:
    """The docstring of a module, class or function, as a statement."""
    if not isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) or not node.body:
        return None
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_text and isinstance(first.value.value, str):
        return first
    return None


def code_lines(text: str, tree: ast.AST) -> list[str]:
    """Lines that are neither blank, nor a comment, nor part of a docstring."""
    in_docstring: set[int] = set()
    for node in ast.walk(tree):
        docstring = docstring_of(node)
        if docstring is not None:
            in_docstring.update(range(docstring.lineno, docstring.end_lineno + 1))
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = line.lstrip().startswith("#")
        if line.strip() and not is_comment and number not in in_docstring:
            lines.append(line)
    return lines


def complexity_of(function: ast.AST) -> int:
    """Cyclomatic complexity, with conditional expressions and comprehensions."""
    total = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
    return total


def body_lines(function: ast.FunctionDef) -> int:
    """Lines of a function from the first statement after its docstring."""
    statements = function.body
    if docstring_of(function) is not None:
        statements = statements[1:]
    if not statements:
        return 0
    return function.end_lineno - statements[0].lineno + 1


def class_names(paths: list[Path]) -> set[str]:
    """Names of all classes that these modules define."""
    names: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                names.add(node.name)
    return names


def count(path: Path, counts: Counts, classes: set[str]) -> None:
    """Add what one module has."""
    text = path.read_text()
    tree = ast.parse(text)
    lines = code_lines(text, tree)
    counts.lengths += [len(line) for line in lines]
    counts.characters += sum(len(line.strip()) for line in lines)
    counts.any_lines += sum(bool(re.search(r"\bAny\b", line)) for line in lines)
    for node in ast.walk(tree):
        counts.nodes += 1
        counts.tuples += is_tuple_assignment(node)
        counts.ternaries += isinstance(node, ast.IfExp)
        counts.comprehensions += isinstance(node, COMPREHENSIONS)
        if isinstance(node, FUNCTIONS):
            count_function(path, node, counts)
        if is_long_call(node, classes):
            counts.positional += 1
            counts.notable.append(f"{path}:{node.lineno} many positional arguments")


def count_function(path: Path, function: ast.FunctionDef, counts: Counts) -> None:
    """Add the length and complexity of one function."""
    complexity = complexity_of(function)
    body = body_lines(function)
    counts.complexity = max(counts.complexity, complexity)
    counts.body = max(counts.body, body)
    where = f"{path}:{function.lineno} {function.name}"
    if complexity > MAX_COMPLEXITY:
        counts.notable.append(f"{where} complexity {complexity}")
    if body > MAX_BODY_LINES:
        counts.notable.append(f"{where} has {body} lines")


def is_tuple_assignment(node: ast.AST) -> bool:
    """Whether a statement assigns several values to several names at once."""
    if not isinstance(node, ast.Assign):
        return False
    return isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)


def is_long_call(node: ast.AST, classes: set[str]) -> bool:
    """Whether a call of one of our classes has too many arguments by position."""
    if not isinstance(node, ast.Call) or len(node.args) <= MAX_POSITIONAL:
        return False
    called = node.func
    name = (
        called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    )
    return name in classes


def rooms(paths: list[Path]) -> Iterator[tuple[str, list[Path]]]:
    """Modules by room: folders below the package, and what lies beside them."""
    grouped: dict[str, list[Path]] = {}
    for path in paths:
        parts = path.relative_to(SOURCE).parts[:-1]
        grouped.setdefault("/".join(parts[:2]) or ".", []).append(path)
    yield from sorted(grouped.items())


def main() -> int:
    """Print the table; the exit status says whether all aims are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worst", action="store_true", help="name the places")
    parser.add_argument(
        "--check", action="store_true", help="fail where an aim is missed"
    )
    arguments = parser.parse_args()
    paths = sorted(SOURCE.rglob("*.py"))
    classes = class_names(paths)
    whole = Counts()
    print(f"{'':18}" + "".join(f"{name:>15}" for name in whole.row()))
    for room, modules in rooms(paths):
        counts = Counts()
        for path in modules:
            count(path, counts, classes)
            count(path, whole, classes)
        print(f"{room:18}" + "".join(f"{value:>15}" for value in counts.row().values()))
    figures = whole.row()
    print(f"{'all':18}" + "".join(f"{value:>15}" for value in figures.values()))
    if arguments.worst:
        print("\n".join(whole.notable))
    missed = [name for name, aim in AIMS.items() if figures[name] > aim]
    if missed:
        print(f"beyond its aim: {', '.join(missed)}")
    return int(arguments.check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
