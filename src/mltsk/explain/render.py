"""Words on a page: plain text, Markdown or HTML from the same sentences.

Sentences carry no markup, so each renderer escapes them whole: a feature called ``<script>`` stays text.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import TextWrapper, fill

from .text import ConsequentWords, RuleWords

_WIDTH = 110
# Underscores inside a word are no emphasis in Markdown, and feature names are full of them.
_MARKDOWN = re.compile(r"([\\`*\[\]<>|#~]|(?<!\w)_|_(?!\w))")
_STYLE = (
    ".mltsk-rules{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".mltsk-rules summary{font-weight:600;cursor:pointer;padding:.3em 0}"
    ".mltsk-rules ul{margin:.2em 0 .6em 1.2em;padding:0}"
    ".mltsk-rules dl{margin:.2em 0 .8em 1.2em}.mltsk-rules dt{font-weight:600}"
    ".mltsk-rules dd{margin:0 0 .1em 1.2em}.mltsk-rules .muted{opacity:.65;font-weight:400}"
    ".mltsk-rules .up::before{content:'▲ ';color:#2a7}.mltsk-rules .down::before{content:'▼ ';color:#c43}"
)


def consequent_text(words: ConsequentWords) -> str:
    """A label and its terms as indented lines."""
    lines = [f"{words.label}: {words.level}"]
    lines += _wrapped("rises with  ", words.rises) + _wrapped("falls with  ", words.falls)
    return "\n".join(lines + ([f"    {words.rest}"] if words.rest else []))


def rule_text(words: RuleWords) -> str:
    """A rule as an indented block."""
    lines = [words.title, "  IF"]
    lines += [f"    {line}" for line in _filled(words.conditions, words.more_conditions)]
    lines += ["  THEN", *(_indented(consequent_text(c)) for c in words.consequents)]
    return "\n".join(lines + ([f"    {words.more_consequents}"] if words.more_consequents else []))


def page_text(legend: Iterable[str], rules: Iterable[RuleWords]) -> str:
    """All rules as plain text, at most 110 columns where names allow."""
    head = "\n".join(fill(line, _WIDTH) for line in legend)
    return "\n\n".join([head, *map(rule_text, rules)])


def page_markdown(legend: Iterable[str], rules: Iterable[RuleWords]) -> str:
    """All rules as Markdown: a heading and two lists each."""
    return "\n\n".join([*map(markdown, legend), *map(_rule_markdown, rules)])


def page_html(legend: Iterable[str], rules: Iterable[RuleWords]) -> str:
    """All rules as a piece of HTML that opens and folds, without scripts."""
    head = "".join(f"<p class='muted'>{escape(line)}</p>" for line in legend)
    return f"<div class='mltsk-rules'><style>{_STYLE}</style>{head}{''.join(map(_rule_html, rules))}</div>"


def markdown(sentence: str) -> str:
    """A sentence with everything that Markdown would read as markup escaped.

    Examples
    --------
    >>> print(markdown("mean_of_x *y* <b>"))
    mean_of_x \\*y\\* \\<b\\>
    """
    return _MARKDOWN.sub(r"\\\1", sentence)


def _filled(parts: Sequence[str], rest: str) -> list[str]:
    return [*parts, *([rest] if rest else [])]


def _wrapped(head: str, parts: Sequence[str]) -> list[str]:
    if not parts:
        return []
    # A part must not be torn apart at its spaces: they become unbreakable for the time of wrapping.
    line = ", ".join(part.replace(" ", "\0") for part in parts)
    wrapper = TextWrapper(_WIDTH - 4, f"    {head}", " " * (4 + len(head)))
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return [wrapper.fill(line).replace("\0", " ")]


def _indented(block: str) -> str:
    return "\n".join(f"    {line}" for line in block.splitlines())


def _rule_markdown(words: RuleWords) -> str:
    lines = [f"### {markdown(words.title)}", "", "**IF**", ""]
    lines += [f"- {markdown(line)}" for line in _filled(words.conditions, words.more_conditions)]
    lines += ["", "**THEN**", ""]
    for c in words.consequents:
        lines.append(f"- **{markdown(c.label)}**: {markdown(c.level)}")
        lines += [f"    - {markdown(line)}" for line in _moves(c)]
    return "\n".join(lines + ([f"- {markdown(words.more_consequents)}"] if words.more_consequents else []))


def _moves(c: ConsequentWords) -> list[str]:
    moves = [f"{verb} with {', '.join(parts)}" for verb, parts in (("rises", c.rises), ("falls", c.falls)) if parts]
    return _filled(moves, c.rest)


def _rule_html(words: RuleWords) -> str:
    conditions = "".join(f"<li>{escape(line)}</li>" for line in words.conditions)
    more = f"<li class='muted'>{escape(words.more_conditions)}</li>" if words.more_conditions else ""
    labels = "".join(map(_consequent_html, words.consequents))
    rest = f"<dt class='muted'>{escape(words.more_consequents)}</dt>" if words.more_consequents else ""
    return (
        f"<details open><summary>{escape(words.title)}</summary>"
        f"<b>IF</b><ul>{conditions}{more}</ul><b>THEN</b><dl>{labels}{rest}</dl></details>"
    )


def _consequent_html(c: ConsequentWords) -> str:
    sides = (("up", "rises with ", c.rises), ("down", "falls with ", c.falls), ("muted", "", (c.rest,)))
    moves = "".join(
        f"<dd class='{kind}'>{verb}{escape(', '.join(parts))}</dd>" for kind, verb, parts in sides if any(parts)
    )
    return f"<dt>{escape(c.label)}: <span class='muted'>{escape(c.level)}</span></dt>{moves}"
