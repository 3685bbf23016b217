"""What a rule is, as values: conditions, terms, consequents and the rule that holds them.

All numbers are in the caller's units (`mltsk.explain.tables` says how); nothing here is a sentence, and no sentence is
ever read back. Parts of a rule are sequences that make an item when it is asked for: a model of 15 rules, 500
features and 160 labels has a million terms, of which a reader looks at a few.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from . import render, text

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Items(Sequence[T], Generic[T]):
    """A read-only sequence of ``length`` items, each made on access; slices are tuples.

    Examples
    --------
    >>> squares = Items(4, lambda i: i * i)
    >>> squares[-1], squares[:2], list(squares)
    (9, (0, 1), [0, 1, 4, 9])
    """

    length: int
    make: Callable[[int], T]

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, i: int) -> T: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[T, ...]: ...
    def __getitem__(self, i: int | slice) -> T | tuple[T, ...]:
        where = range(self.length)[i]
        return self.make(where) if isinstance(where, int) else tuple(map(self.make, where))

    def __iter__(self) -> Iterator[T]:
        return map(self.make, range(self.length))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Sequence) and len(self) == len(other)
        return same and all(a == b for a, b in zip(self, other, strict=True))  # type: ignore[call-overload]

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        more = f", … {self.length} in all" if self.length > 2 else ""
        return f"({', '.join(map(repr, self[:2]))}{more})"


@dataclass(frozen=True)
class Condition:
    """One fuzzy set of an IF-part.

    ``center`` is where the rule is most itself, ``average`` the same of the whole data; between ``low`` and ``high``
    membership is above 1/2 (None: no limit on that side, or no way to state it in the caller's units). ``percentile``
    (0..1) places the centre among the training values, None for sparse features. ``distinct`` is the signed distance
    of the centre from the average on the scale of the rules, in widths of the set: conditions come in the order of its
    size. ``category`` names the nearest category; ``values`` and ``value_names`` are the two values of a
    feature that has no more.
    """

    feature: str
    center: float
    average: float
    low: float | None
    high: float | None
    percentile: float | None
    distinct: float
    category: str | None = None
    values: tuple[float, float] | None = None
    value_names: tuple[str, str] | None = None

    def __str__(self) -> str:
        return text.condition_words(self)


@dataclass(frozen=True)
class Term:
    """What one feature does to the score of a label within a rule.

    ``weight`` is the change of the score for one step of the feature, and ``per`` says what a step is; ``effect`` is
    the change for about one standard deviation, which compares features: terms come in the order of its size.
    """

    feature: str
    weight: float
    per: str
    effect: float

    def __str__(self) -> str:
        return text.term_words(self)


@dataclass(frozen=True)
class Consequent:
    """The THEN-part of a rule for one label: ``intercept`` plus the sum of its terms.

    ``level`` is the score at the centre of the rule and ``usual`` the mean of that over all rules; the label is given
    where the score of all rules together reaches ``threshold``. Terms that are zero are left out.
    """

    label: str
    intercept: float
    level: float
    usual: float
    threshold: float
    terms: Sequence[Term]

    def __str__(self) -> str:
        return render.consequent_text(text.consequent_words(self, 5))


@dataclass(frozen=True)
class Rule:
    """One rule: ``weight`` is the share of the data that it governs, ``step`` what a step of most features is.

    Counted from 0 by ``index``, from 1 in words. The most distinct conditions come first, labels in their own order.
    ``always`` is true of a rule that has no condition on any feature.
    """

    index: int
    weight: float
    conditions: Sequence[Condition]
    consequents: Sequence[Consequent]
    step: str = ""
    always: bool = False

    @property
    def number(self) -> int:
        """The number of the rule in words, from 1."""
        return self.index + 1

    def __str__(self) -> str:
        step = f"\n  (after a feature: change of the score per {self.step})" if self.step else ""
        return render.rule_text(text.rule_words(self, 5)) + step


def condition_dict(c: Condition) -> dict[str, Any]:
    """A condition as plain data."""
    return {
        "feature": c.feature,
        "center": c.center,
        "average": c.average,
        "low": c.low,
        "high": c.high,
        "percentile": c.percentile,
        "distinct": c.distinct,
        "category": c.category,
        "values": None if c.values is None else list(c.values),
        "value_names": None if c.value_names is None else list(c.value_names),
    }


def consequent_dict(c: Consequent, top: int | None = None) -> dict[str, Any]:
    """A consequent as plain data, with its ``top`` largest terms or all."""
    return {
        "label": c.label,
        "intercept": c.intercept,
        "level": c.level,
        "usual": c.usual,
        "threshold": c.threshold,
        "n_terms": len(c.terms),
        "terms": [
            {"feature": t.feature, "weight": t.weight, "per": t.per, "effect": t.effect} for t in c.terms[slice(top)]
        ],
    }


def rule_dict(rule: Rule, top: int | None = None) -> dict[str, Any]:
    """A rule as plain data, with the ``top`` most distinct conditions and largest terms, or all."""
    return {
        "index": rule.index,
        "number": rule.number,
        "weight": rule.weight,
        "n_conditions": len(rule.conditions),
        "conditions": [condition_dict(c) for c in rule.conditions[slice(top)]],
        "consequents": [consequent_dict(c, top) for c in rule.consequents],
    }
