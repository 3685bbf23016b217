"""Rules of the paper as LaTeX. (14)"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .latex import escape_latex
from .linear_rule import DIGITS, FuzzyRule, LinearConsequent, printed
from .wording import name

# Letters of a line as it is printed. The text of an article is 345 pt wide, and names
# and numbers of 10 pt take 4.6 pt a letter on average, 5.1 where they are wide.
LINE_LETTERS = 66


class Part(NamedTuple):
    """A condition or a term, and how many letters it has on paper."""

    latex: str
    n_letters: int


def rules_as_latex(
    rules: Iterable[FuzzyRule], top: int | None = None, digits: int = DIGITS
) -> str:
    """Rules as one ``align*``, with the ``top`` conditions and terms of each."""
    lines: list[str] = []
    for rule in rules:
        lines += _rule_lines(rule, top, digits)
    body = " \\\\\n".join(lines)
    aligned = f"\\begin{{align*}}\n{body}\n\\end{{align*}}"
    # a model of some rules and labels is longer than a page
    return f"{{\\allowdisplaybreaks\n{aligned}\n}}\n"


def _rule_lines(rule: FuzzyRule, top: int | None, digits: int) -> list[str]:
    """Lines of one rule: its number, its IF-part, and a formula per label."""
    conditions = []
    for condition in rule.shown_conditions(top):
        center = latex_number(condition.center, digits)
        numbers = f"{center},\\, {latex_number(condition.width, digits)}"
        feature = latex_name(condition.feature)
        latex = f"{feature} \\text{{ is }} \\mathrm{{Gauss}}({numbers})"
        conditions.append(Part(latex, len(condition.text(digits))))
    if len(conditions) < len(rule.conditions):
        conditions.append(Part("\\cdots", 3))
    lines = [f"&\\textbf{{Rule {rule.index + 1}}}"]
    lines += _broken(Part("\\text{IF } ", 3), conditions, Part(" \\wedge ", 3))
    for number, line in enumerate(rule.consequents):
        word = "THEN" if number == 0 else "\\phantom{THEN}"
        function = f"f^{{{rule.index + 1}}}_{{{latex_name(line.label)}}}(\\mathbf{{x}})"
        begin = Part(f"\\text{{{word} }} {function}", len("THEN f(x)" + line.label))
        lines += _broken(begin, _terms(line, top, digits), Part("", 0))
    return lines


def _terms(line: LinearConsequent, top: int | None, digits: int) -> list[Part]:
    """The constant and the terms of a label's formula, with their signs."""
    intercept = printed(line.intercept, digits)
    parts = [Part(f" = {latex_number(line.intercept, digits)}", len(intercept) + 3)]
    for feature, p in line.terms(top):
        sign = "-" if p < 0 else "+"
        latex = f" {sign} {latex_number(abs(p), digits)}\\,{latex_name(feature)}"
        n_letters = len(printed(abs(p), digits)) + len(name(feature)) + 4
        parts.append(Part(latex, n_letters))
    if line.n_left_out(top):
        parts.append(Part(" + \\cdots", 5))
    return parts


def _broken(begin: Part, parts: Sequence[Part], joint: Part) -> list[str]:
    """Lines with as many parts as fit; the first one begins with ``begin``."""
    line = f"&{begin.latex}"
    room = LINE_LETTERS - begin.n_letters
    is_empty = True
    lines = []
    for position, part in enumerate(parts):
        if part.n_letters > room and not is_empty:
            lines.append(line)
            line = "&\\quad "
            room = LINE_LETTERS - 2
        is_last = position == len(parts) - 1
        line += part.latex if is_last else part.latex + joint.latex
        room -= part.n_letters + joint.n_letters
        is_empty = False
    return [*lines, line]


def latex_name(text: str) -> str:
    r"""A caller's name inside a formula.

    >>> print(latex_name("blood_pressure"))
    \text{blood\_pressure}
    """
    return f"\\text{{{escape_latex(name(text))}}}"


def latex_number(x: float, digits: int = DIGITS) -> str:
    r"""A number of a printed rule.

    >>> print(latex_number(-1.5e-7))
    -1.5 \times 10^{-7}
    """
    number, _, power = printed(x, digits).partition("e")
    return f"{number} \\times 10^{{{int(power)}}}" if power else number
