"""The rules of a fuzzy system as data: a sequence of `Rule` objects that can be filtered, exported and printed.

`rule_base` reads a `FuzzySystem` and keeps its arrays; rules, conditions and terms are made when they are looked at.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, overload

import numpy as np

from ..core.system import FuzzySystem
from .frames import rules_frame
from .render import page_html, page_markdown, page_text
from .tables import Categories, Index, Tables, known, positions
from .text import RuleWords, legend, rule_words
from .values import Condition, Consequent, Items, Rule, Term, rule_dict

__all__ = ["Condition", "Consequent", "Rule", "RuleBase", "Term", "rule_base"]


def rule_base(system: FuzzySystem, *, categories: Categories | None = None) -> "RuleBase":
    """The rules of a fitted system.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier.
    categories : mapping of feature name to a mapping of number to category name, optional
        What the numbers of nominal features stand for.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> rules = rule_base(MLTSKClassifier(n_rules=3).fit(*data.frames()).system_)
    >>> len(rules), rules[0].conditions[0].feature in data.feature_names
    (3, True)
    """
    K, D, L = system.shape
    return RuleBase(Tables.of(system, categories), np.arange(K), np.arange(D), np.arange(L))


@dataclass(frozen=True, eq=False, repr=False)
class RuleBase(Sequence[Rule]):
    """A sequence of rules over some features and some labels; ``str()`` prints it.

    Made by `rule_base`. ``rules[2]`` is the `Rule` that is called Rule 3 in words, ``rules[:3]`` a shorter rule base;
    `for_label` and `for_feature` leave out everything else.
    """

    tables: Tables
    kept_rules: Index
    kept_features: Index
    kept_labels: Index

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features in these rules."""
        return tuple(self.tables.system.feature_names[d] for d in self.kept_features)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels in these rules."""
        return tuple(self.tables.system.label_names[j] for j in self.kept_labels)

    def for_label(self, *names: str) -> "RuleBase":
        """The same rules with the consequents of some labels only."""
        return replace(self, kept_labels=positions(self.label_names, names, self.kept_labels, "label"))

    def for_feature(self, *names: str) -> "RuleBase":
        """The same rules with the conditions and terms of some features only."""
        return replace(self, kept_features=positions(self.feature_names, names, self.kept_features, "feature"))

    def __len__(self) -> int:
        return len(self.kept_rules)

    @overload
    def __getitem__(self, i: int) -> Rule: ...
    @overload
    def __getitem__(self, i: slice) -> "RuleBase": ...
    def __getitem__(self, i: int | slice) -> "Rule | RuleBase":
        if isinstance(i, slice):
            return replace(self, kept_rules=self.kept_rules[i])
        k = int(self.kept_rules[i])
        order = self.tables.order(k, self.kept_features)
        return Rule(
            index=k,
            weight=float(self.tables.system.rule_weights[k]),
            conditions=Items(len(order), partial(self._condition, k, order)),
            consequents=Items(len(self.kept_labels), partial(self._consequent, k)),
            step=self.step,
            always=not self.tables.conditioned[k].any(),
        )

    def __iter__(self) -> Iterator[Rule]:
        return (self[i] for i in range(len(self)))

    def _condition(self, k: int, order: Index, i: int) -> Condition:
        d, tables = int(order[i]), self.tables
        low, high = (known(side[k, d]) for side in tables.ranges)
        center, pair = float(tables.centers[k, d]), tables.pairs[d].tolist()
        values = None if np.isnan(pair[0]) else (pair[0], pair[1])
        return Condition(
            feature=tables.system.feature_names[d],
            center=center,
            average=float(tables.averages[d]),
            low=low,
            high=high,
            percentile=known(tables.percentiles[k, d]),
            distinct=float(tables.distinct[k, d]),
            category=tables.category(d, center),
            values=values,
            value_names=None if values is None else tables.pair_names(d),
        )

    def _consequent(self, k: int, i: int) -> Consequent:
        j, tables = int(self.kept_labels[i]), self.tables
        effects = tables.system.coef[k, 1 + self.kept_features, j] * tables.spreads[self.kept_features]
        nonzero = np.flatnonzero(tables.system.coef[k, 1 + self.kept_features, j])
        order = self.kept_features[nonzero[np.argsort(-np.abs(effects[nonzero]), kind="stable")]]
        return Consequent(
            label=tables.system.label_names[j],
            intercept=float(tables.intercepts[k, j]),
            level=float(tables.levels[k, j]),
            usual=float(tables.usual[j]),
            threshold=float(tables.system.thresholds[j]),
            terms=Items(len(order), partial(self._term, k, j, order)),
        )

    def _term(self, k: int, j: int, order: Index, i: int) -> Term:
        d = int(order[i])
        coef = float(self.tables.system.coef[k, 1 + d, j])
        return Term(
            feature=self.tables.system.feature_names[d],
            weight=coef * float(self.tables.factors[d]),
            per=self.tables.step(d),
            effect=coef * float(self.tables.spreads[d]),
        )

    @property
    def step(self) -> str:
        """What one step of most features is."""
        return self.tables.usual_step

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON: all of it, or the ``top`` most distinct conditions and largest terms."""
        return {
            "format": "mltsk rules",
            "version": 1,
            "step": self.step,
            "features": list(self.feature_names),
            "labels": list(self.label_names),
            "rules": [rule_dict(rule, top) for rule in self],
        }

    def to_json(self, top: int | None = None, label: str | None = None, indent: int | None = 2) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self._narrowed(label).to_dict(top), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, part: str | None = None) -> Any:
        """One pandas row for each number of the rules; ``part="if"`` or ``"then"`` for one side only.

        Columns: ``rule`` (its index), ``share`` of the data that it governs, ``part``; then for conditions
        ``feature``, ``center``, ``average``, ``low``, ``high``, ``percentile``, ``distinct``, and for consequents
        ``label``, ``feature`` (missing for the intercept), ``weight``, ``per``, ``effect``.
        """
        return rules_frame(self.tables, self.kept_rules, self.kept_features, self.kept_labels, part)

    def to_text(self, top: int = 5, label: str | None = None) -> str:
        """The rules in words, with the ``top`` conditions, labels and terms of each."""
        return self._page(page_text, top, label)

    def to_markdown(self, top: int = 5, label: str | None = None) -> str:
        """`to_text` as Markdown."""
        return self._page(page_markdown, top, label)

    def to_html(self, top: int = 5, label: str | None = None) -> str:
        """`to_text` as a piece of HTML."""
        return self._page(page_html, top, label)

    def _page(self, page: Callable[[Iterable[str], Iterable[RuleWords]], str], top: int, label: str | None) -> str:
        shown = self._narrowed(label)
        thresholds = shown.tables.system.thresholds[shown.kept_labels].tolist()
        nominal = any(len(names) > 2 for names in shown.tables.categories.values())
        head = legend(len(shown), len(shown.kept_features), thresholds, shown.step, nominal=nominal)
        return page(head, (rule_words(rule, top) for rule in shown))

    def _narrowed(self, label: str | None) -> "RuleBase":
        return self if label is None else self.for_label(label)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<RuleBase: {len(self)} rules, {len(self.kept_features)} features, {len(self.kept_labels)} labels>"

    def _repr_html_(self) -> str:
        return self.to_html()
