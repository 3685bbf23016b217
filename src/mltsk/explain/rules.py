"""What a fuzzy system says, as data and as text.

`rule_base` reads a `FuzzySystem` and keeps its arrays; rules and their statements are
made when somebody looks at them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from ..core.arrays import Array
from ..exceptions import optional
from ..frames import MISSING
from ..system import FuzzySystem
from ..text import plural
from .effects import Effects
from .given import GivenRules
from .legend import legend
from .page import Node, Page, left_out
from .pair_effects import PairEffects
from .pairs import FeaturePair, PairRule, pair_rules
from .rules_frame import records
from .statements import Statements
from .subjects import Index, Subjects
from .values import SHOWN_PER_LIST, Consequent, GeneralRule, Items, Rule, plain
from .wording import name, percent, positions
from .worth import worth_figures, worth_nodes

if TYPE_CHECKING:
    import pandas as pd

MAX_STATEMENTS_WHOLE = 25  # per label; a model of no more is printed whole
MAX_LISTED = 20  # labels, and exceptions, that are printed of a long model
# Labels that a page has unless the caller asks for more; a long model of more is not
# printed whole. Nobody reads 400,000 lines about 20,000 labels, which took 88 seconds.
MAX_SHOWN_LABELS = 500


def rule_base(system: FuzzySystem | Effects) -> "RuleBase":
    """The rules of a fitted system.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier, or its `Effects` where they are at hand.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> rules = rule_base(MLTSKClassifier(n_rules=3).fit(*data.frames()).system_)
    >>> len(rules.general), len(rules.exceptions)
    (5, 3)
    >>> len(rules)
    4
    """
    effects = system if isinstance(system, Effects) else Effects(system)
    n_exceptions, _, n_labels = effects.system.shape
    n_subjects = len(effects.subjects)
    if effects.system.used is not None:
        n_subjects -= 1  # the last stands for features that have no effect
    pair_effects = PairEffects(effects)
    numbers = {
        "given": range(len(effects.subjects.given)),
        "general": range(len(effects.system.terms) > 0),
        "pair": range(len(pair_effects)),
        "exception": range(n_exceptions),
    }
    return RuleBase(
        effects=effects,
        kept_labels=np.arange(n_labels),
        kept_subjects=np.arange(n_subjects),
        kept_rules=tuple((kind, i) for kind in numbers for i in numbers[kind]),
        statements=Statements(effects),
        pair_effects=pair_effects,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Narrowed(Page):
    """What can be said about some labels of a system."""

    effects: Effects
    kept_labels: Index

    @property
    def system(self) -> FuzzySystem:
        """The system itself."""
        return self.effects.system

    @property
    def subjects(self) -> Subjects:
        """What statements about the system are about."""
        return self.effects.subjects

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.system.label_names[j] for j in self.kept_labels)

    def for_label(self, *names: str) -> Self:
        """The same for some labels only."""
        kept = positions(self.label_names, names, self.kept_labels, "label")
        return replace(self, kept_labels=kept)


@dataclass(frozen=True, eq=False, repr=False)
class RuleBase(Narrowed, Sequence[Rule | GeneralRule | FeaturePair]):
    """The rules of a system, over some features and labels; ``str()`` prints them.

    Made by `rule_base`. It is a sequence of all its rules in the order in which they
    are printed: those that the user gave, the general rule (one, with a consequent per
    label; a system of the paper has none), pairs of features that act together, and the
    exceptions. So ``len(rules)`` is 1 for a model without pairs and exceptions, and
    ``rules[:2]`` is a rule base with fewer rules. ``given``, ``general``, ``pairs`` and
    ``exceptions`` are the four kinds; `for_label` and `for_feature` leave out
    everything else.
    """

    kept_subjects: Index
    kept_rules: tuple[tuple[str, int], ...]  # kinds, and numbers within the kind
    statements: Statements
    pair_effects: PairEffects

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features in these rules."""
        subjects = [self.subjects[t] for t in self.kept_subjects]
        return tuple(s.name for s in subjects if s.kind != MISSING)

    def for_feature(self, *names: str) -> "RuleBase":
        """The same rules with what they say about some features only.

        Of pairs and of the rules that the user gave, those that ask for one of them.
        """
        all_names = [self.subjects[t].name for t in self.kept_subjects]
        subjects = positions(all_names, names, self.kept_subjects, "feature")
        features = {self.subjects[t].feature for t in subjects}
        rules = []
        for kind, r in self.kept_rules:
            asks_for = features
            if kind == "given":
                asks_for = {asked[0] for asked in self.subjects.given[r]}
            elif kind == "pair":
                asks_for = set(self.pair_effects.features(r))
            if features & asks_for:
                rules.append((kind, r))
        return replace(self, kept_subjects=subjects, kept_rules=tuple(rules))

    # the rules ----------------------------------------------------------------------

    def _numbers(self, kind: str) -> list[int]:
        """Numbers of the rules of one kind."""
        return [i for own_kind, i in self.kept_rules if own_kind == kind]

    @property
    def given(self) -> Sequence[Rule]:
        """The rules that the user gave."""
        return Items(self._numbers("given"), self._given_rule)

    @property
    def general(self) -> Sequence[Consequent]:
        """What holds for every sample about each label.

        It is empty where a system has nothing but rules with conditions.
        """
        labels = self.kept_labels.tolist() if self._numbers("general") else []
        return Items(labels, self._general_consequent)

    @property
    def pairs(self) -> Sequence[FeaturePair]:
        """The pairs of features that act together, the largest first."""
        return Items(self._numbers("pair"), self._pair)

    @property
    def exceptions(self) -> Sequence[Rule]:
        """The rules with conditions that the fit found."""
        return Items(self._numbers("exception"), self._exception)

    def __len__(self) -> int:
        return len(self.kept_rules)

    @overload
    def __getitem__(self, i: int) -> Rule | GeneralRule | FeaturePair: ...
    @overload
    def __getitem__(self, i: slice) -> "RuleBase": ...
    def __getitem__(
        self, i: int | slice
    ) -> "Rule | GeneralRule | FeaturePair | RuleBase":
        if isinstance(i, slice):
            return replace(self, kept_rules=self.kept_rules[i])
        kind, own_number = self.kept_rules[i]
        if kind == "given":
            return self._given_rule(own_number)
        if kind == "general":
            return self._general_rule(self.general)
        if kind == "pair":
            return self._pair(own_number)
        return self._exception(own_number)

    def _given_rule(self, r: int) -> Rule:
        return self._given_rules.rule(r, self.kept_labels)

    @cached_property
    def _given_rules(self) -> GivenRules:
        return GivenRules(self.effects)

    def _general_rule(self, consequents: Sequence[Consequent]) -> GeneralRule:
        n_labels = len(self.kept_labels)
        rule = GeneralRule(consequents, self.effects.start, n_labels)
        if n_labels <= MAX_SHOWN_LABELS:
            return rule
        more = f"for_label or max_labels={n_labels} shows"
        return replace(rule, how_to_see_more=more)

    def _general_consequent(self, j: int) -> Consequent:
        return self.statements.general(j, self.kept_subjects)

    def _pair(self, p: int) -> FeaturePair:
        return self.pair_effects.pair(p, self.kept_labels)

    def _exception(self, k: int) -> Rule:
        return self.statements.exception(k, self.kept_labels, self.kept_subjects)

    # as data ------------------------------------------------------------------------

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON.

        All of it, or the ``top`` first of shapes, conditions and consequents.
        """
        return {
            "format": "mltsk rules",
            "version": 4,
            "features": list(self.feature_names),
            "labels": list(self.label_names),
            "told": worth_figures(self.system, self.kept_labels),
            "given": [plain(rule, top) for rule in self.given],
            "general": [plain(consequent, top) for consequent in self.general],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "exceptions": [plain(rule, top) for rule in self.exceptions],
        }

    def to_json(
        self, top: int | None = None, label: str | None = None, indent: int | None = 2
    ) -> str:
        """`to_dict` as JSON text."""
        rules = self if label is None else self.for_label(label)
        data = rules.to_dict(top)
        return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, part: str | None = None) -> "pd.DataFrame":
        """One pandas row per statement.

        ``part`` is "given", "general", "pair", "if" or "then" for one kind only.

        Columns: ``part``; for rules that the user gave, ``rule`` (its index),
        ``conditions`` in words, and those of a `Consequent`, with its shift as
        ``change``; for what holds in general, ``label``, ``feature`` and the ``kind``,
        ``at``, ``change``, ``size`` and ``values`` (those with names) of a `Shape`; for
        pairs of features, ``rule`` (the number of the pair), ``conditions`` in words,
        ``label``, ``change``, ``size`` and ``share`` of a `PairRule`; for exceptions,
        ``rule``, ``share`` of the data that it governs and ``samples`` in it, then
        those of a `Condition`, or those of a `Shape`, whose feature is missing for the
        shift, with the counts of a `Consequent`.
        """
        rows = list(records(self, part))
        return optional("pandas", "data").DataFrame(rows)

    # as text ------------------------------------------------------------------------

    def nodes(
        self,
        top: int | None = None,
        label: str | None = None,
        max_labels: int | None = None,
    ) -> list[Node]:
        """The page that `to_text` prints, for one label or all.

        It has the ``top`` shapes, conditions and labels of each rule. Without ``top``,
        a model of few statements is printed whole, and five of each of a longer one,
        or of one that has more than 500 labels. What holds in general is told about
        the ``max_labels`` that the model moves most; without ``max_labels``, about all
        of a model that is printed whole, else about 20.
        """
        if label is not None:
            return self.for_label(label).nodes(top)
        most = None
        if top is not None or not self._is_printed_whole:
            top = top or SHOWN_PER_LIST
            most = MAX_LISTED
        given = list(self.given)
        general = self._largest_general(max_labels or most)
        paired = self._largest_pair_rules(most)
        exceptions = self._largest_exceptions(most)
        page = [*worth_nodes(self.system, self.kept_labels)]
        page += [Node(line) for line in legend(self)]
        coverage = self._coverage(general, paired, [*given, *exceptions], top)
        page.append(Node(coverage))
        for rule in given:
            page += rule.nodes(top)
        if general:
            page += self._general_rule(general).nodes(top)
        if paired:
            page.append(self._pair_node(paired, top))
        for rule in exceptions:
            page += rule.nodes(top)
        noun = self.effects.noun.lower()
        return [*page, *left_out(len(self.exceptions), most, f"more {noun}")]

    @property
    def _is_printed_whole(self) -> bool:
        """Whether it is a short model, or has neither many labels nor long ones."""
        if self.system.is_chosen:
            return True
        if len(self.kept_labels) > MAX_SHOWN_LABELS:
            return False
        n_shapes = np.count_nonzero(self.effects.sizes, axis=0)
        n_pair_rules = np.count_nonzero(self.pair_effects.coef, axis=0)
        n_shifts = np.count_nonzero(self.system.coef, axis=(0, 1))
        n_statements = (n_shapes + n_pair_rules + n_shifts)[self.kept_labels]
        return bool(n_statements.max() <= MAX_STATEMENTS_WHOLE)

    @cached_property
    def _sizes(self) -> Array:
        """Sizes of all statements about the kept labels, a row each."""
        sizes = [
            self.effects.importance,
            self._given_rules.sizes,
            self.pair_effects.sizes,
            self.effects.shift_sizes,
        ]
        return np.concatenate(sizes)[:, self.kept_labels]

    def _largest_general(self, most: int | None) -> list[Consequent]:
        """What holds in general about the labels that the model moves most."""
        if not len(self.general):
            return []
        return [self.general[i] for i in self._largest_labels(most)]

    def _largest_labels(self, most: int | None) -> list[int]:
        """Positions of the labels that the model moves most, in their own order."""
        order = np.argsort(-self._sizes.sum(axis=0), kind="stable")[:most]
        return sorted(order.tolist())

    def _largest_pair_rules(self, most: int | None) -> list[Sequence[PairRule]]:
        """The rules of pairs about the labels that the model moves most."""
        pairs = list(self.pairs)
        if not pairs:
            return []
        labels = [self.label_names[i] for i in self._largest_labels(most)]
        by_label = [pair_rules(pairs, label) for label in labels]
        return [rules for rules in by_label if len(rules)]

    def _pair_node(self, paired: list[Sequence[PairRule]], top: int | None) -> Node:
        """Rules of pairs on a page, the ``top`` of each label."""
        labels = []
        for rules in paired:
            shown = [Node(str(rule), amount=rule.change) for rule in rules[:top]]
            more = left_out(len(rules), top, "smaller one")
            labels.append(Node(name(rules[0].label), (*shown, *more)))
        return Node("Two features together", tuple(labels))

    def _largest_exceptions(self, most: int | None) -> list[Rule]:
        """The exceptions that move the labels most, in their own order."""
        numbers = np.array(self._numbers("exception"), dtype=np.intp)
        kept = np.ix_(numbers, self.kept_labels)
        shifted = self.effects.shift_sizes[kept].sum(axis=1)
        order = np.argsort(-shifted, kind="stable")[:most]
        return [self.exceptions[i] for i in sorted(order.tolist())]

    def _coverage(
        self,
        general: list[Consequent],
        paired: list[Sequence[PairRule]],
        rules: list[Rule],
        top: int | None,
    ) -> str:
        """How many statements the page has, and how much of the model they are."""
        consequents: list[Consequent] = []
        for rule in rules:
            consequents += rule.consequents[:top]
        shown = [consequent.size for consequent in consequents]
        for consequent in [*general, *consequents]:
            shown += [shape.size for shape in consequent.shapes[:top]]
        for pair_statements in paired:
            shown += [rule.size for rule in pair_statements[:top]]
        total = float(self._sizes.sum())
        share = min(sum(shown) / total, 1.0) if total else 1.0
        if not shown and not total:
            return "There is no statement: the model adds nothing to its start."
        return _coverage_in_words(len(shown), share)

    def legend(self) -> tuple[str, ...]:
        """How to read the rules, in two sentences or more."""
        return legend(self)

    def __repr__(self) -> str:
        pairs = f"{len(self.pairs)} pairs, " if len(self.pairs) else ""
        return (
            f"<RuleBase: {pairs}{len(self.exceptions)} exceptions, "
            f"{len(self.feature_names)} features, {len(self.kept_labels)} labels>"
        )


def _coverage_in_words(n_statements: int, share: float) -> str:
    """How much of the model, a share of 1, some statements are."""
    is_whole = share > 1 - 1e-9
    if n_statements == 1:
        if is_whole:
            return "This statement is the whole model."
        return f"This statement carries {percent(share)} of what the model does."
    statements = plural(n_statements, "statement")
    if is_whole:
        return f"These {statements} cover the whole model."
    return f"These {statements} carry {percent(share)} of what the model does."
