"""Rules of the paper as LaTeX. (14)"""

from collections.abc import Iterable

from .latex import escape_latex
from .linear_rule import FuzzyRule, LinearConsequent, printed
from .wording import name

PARTS_PER_LINE = 3  # conditions, or terms, before a line of a formula ends


def rules_as_latex(rules: Iterable[FuzzyRule], top: int | None) -> str:
    """Rules as one ``align*``, with the ``top`` conditions and terms of each."""
    lines: list[str] = []
    for rule in rules:
        lines += _rule_lines(rule, top)
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def _rule_lines(rule: FuzzyRule, top: int | None) -> list[str]:
    """Lines of one rule: its number, its IF-part, and a formula per label."""
    conditions = []
    for condition in rule.shown_conditions(top):
        center = latex_number(condition.center)
        numbers = f"{center},\\, {latex_number(condition.width)}"
        feature = latex_name(condition.feature)
        conditions.append(f"{feature} \\text{{ is }} \\mathrm{{Gauss}}({numbers})")
    if len(conditions) < len(rule.conditions):
        conditions.append("\\cdots")
    begin = "&\\text{IF } "
    lines = [f"&\\textbf{{Rule {rule.index + 1}}}"]
    lines += _broken(begin, conditions, " \\wedge ")
    for number, line in enumerate(rule.consequents):
        word = "THEN" if number == 0 else "\\phantom{THEN}"
        lines += _formula_lines(word, rule.index + 1, line, top)
    return lines


def _formula_lines(
    word: str, rule: int, line: LinearConsequent, top: int | None
) -> list[str]:
    """The formula of one label."""
    function = f"f^{{{rule}}}_{{{latex_name(line.label)}}}(\\mathbf{{x}})"
    begin = f"&\\text{{{word} }} {function}"
    parts = [f" = {latex_number(line.intercept)}"]
    for feature, p in line.terms(top):
        sign = "-" if p < 0 else "+"
        parts.append(f" {sign} {latex_number(abs(p))}\\,{latex_name(feature)}")
    if line.n_left_out(top):
        parts.append(" + \\cdots")
    return _broken(begin, parts, "")


def _broken(begin: str, parts: list[str], joint: str) -> list[str]:
    """Parts of a formula, some per line."""
    lines = []
    for first in range(0, len(parts), PARTS_PER_LINE):
        line = joint.join(parts[first : first + PARTS_PER_LINE])
        is_last = first + PARTS_PER_LINE >= len(parts)
        start = begin if first == 0 else "&\\quad "
        lines.append(start + line + ("" if is_last else joint))
    return lines


def latex_name(text: str) -> str:
    r"""A caller's name inside a formula.

    >>> print(latex_name("blood_pressure"))
    \text{blood\_pressure}
    """
    return f"\\text{{{escape_latex(name(text))}}}"


def latex_number(x: float) -> str:
    r"""A number of a printed rule.

    >>> print(latex_number(-1.5e-7))
    -1.5 \times 10^{-7}
    """
    digits, _, power = printed(x).partition("e")
    return f"{digits} \\times 10^{{{int(power)}}}" if power else digits
