"""Rules of a system as rows of a data frame, a row per statement."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..exceptions import InputError
from .pairs import pair_rules
from .values import Rule

if TYPE_CHECKING:
    from .rules import RuleBase

SHAPE_COLUMNS = [
    "label",
    "feature",
    "kind",
    "at",
    "change",
    "error",
    "chosen",
    "size",
    "values",
]
CONDITION_COLUMNS = [
    "feature",
    "category",
    "center",
    "average",
    "low",
    "high",
    "percentile",
    "distinct",
    "members",
]
CONSEQUENT_COLUMNS = ["label", "positives", "observed", "overall", "error", "size"]
PAIR_COLUMNS = ["label", "change", "size", "share"]

Record = dict[str, object]  # a row of a data frame


def records(rules: "RuleBase", part: str | None = None) -> Iterator[Record]:
    """The statements of some rules, of one part or of all."""
    if part is not None and part not in RECORDS:
        choices = ", ".join(map(repr, RECORDS))
        raise InputError(f"part must be {choices} or None (all), got {part!r}.")
    for kind in [part] if part else RECORDS:
        yield from RECORDS[kind](rules)


def _given_records(rules: "RuleBase") -> Iterator[Record]:
    for rule in rules.given:
        conditions = " and ".join(map(str, rule.conditions))
        own = _rule_record("given", rule) | {"conditions": conditions}
        for consequent in rule.consequents:
            record = _record(consequent, CONSEQUENT_COLUMNS)
            yield own | record | {"change": consequent.shift}


def _general_records(rules: "RuleBase") -> Iterator[Record]:
    for consequent in rules.general:
        for shape in consequent.shapes:
            yield {"part": "general"} | _record(shape, SHAPE_COLUMNS)


def _pair_records(rules: "RuleBase") -> Iterator[Record]:
    pairs = list(rules.pairs)
    for label in rules.label_names:
        for rule in pair_rules(pairs, label):
            own = {"part": "pair", "rule": rule.pair, "conditions": rule.words}
            yield own | _record(rule, PAIR_COLUMNS)


def _condition_records(rules: "RuleBase") -> Iterator[Record]:
    for rule in rules.exceptions:
        for condition in rule.conditions:
            own = _rule_record("if", rule)
            yield own | _record(condition, CONDITION_COLUMNS)


def _consequent_records(rules: "RuleBase") -> Iterator[Record]:
    for rule in rules.exceptions:
        own = _rule_record("then", rule)
        for consequent in rule.consequents:
            shift = {"feature": None, "change": consequent.shift}
            yield own | _record(consequent, CONSEQUENT_COLUMNS) | shift
            for shape in consequent.shapes:
                yield own | _record(shape, SHAPE_COLUMNS)


def _rule_record(part: str, rule: Rule) -> Record:
    """The columns of a frame that say which rule a row is about."""
    return {
        "part": part,
        "rule": rule.index,
        "share": rule.weight,
        "samples": rule.members,
    }


def _record(value: object, columns: Sequence[str]) -> Record:
    """Some attributes of a value, as columns of a frame."""
    return {column: getattr(value, column) for column in columns}


RECORDS: dict[str, Callable[["RuleBase"], Iterator[Record]]] = {
    "given": _given_records,
    "general": _general_records,
    "pair": _pair_records,
    "if": _condition_records,
    "then": _consequent_records,
}
