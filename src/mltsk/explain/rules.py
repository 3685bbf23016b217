"""What a fuzzy system says, as data: what holds in general about each label, and exceptions to it.

`rule_base` reads a `FuzzySystem` and keeps its arrays; rules and their parts are made when they are looked at.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ..columns import MISSING
from ..core.arrays import Array
from ..exceptions import InputError, optional
from ..system import FuzzySystem
from .tables import Categories, Index, Tables, doubles, largest
from .values import LOW, TOP, Condition, Consequent, Given, Items, Rule, Shape, plain
from .wording import (
    Node,
    Page,
    left_out,
    name,
    number,
    percent,
    positions,
    summed_up,
    times,
)

SHORT = 25  # statements per label, up to which a model is printed whole
TWO_SIDED = 1.96  # standard errors, between which a number lies in 95 of 100 cases
MOST = 20  # labels and exceptions that are printed of a long model
# How to read a short model, which can be worked out by hand.
SHEET = (
    "A score starts at the number after its label. Each line adds to it: nothing up to the first value that it names, "
    "its whole number from the second on, and in between its share. What was not measured counts as it does on "
    "average.",
    "± is where the number lies in 95 of 100 cases (by the covariance of the ridge, for terms as chosen); the count "
    "after it says in how many fits to four fifths of the data the same was chosen.",
)
MET = (
    "A condition is met by half at the values that it names: wholly in the middle between two of them, or at the end "
    "of the data beyond one, and less and less (as a Gaussian) outside. An exception applies by the product of its "
    "conditions.",
)
OWN = "A rule of yours adds its numbers where all that it asks for was measured and holds, and nothing elsewhere."
_PARTS = ("given", "general", "if", "then")
_SHAPE = (
    "label",
    "feature",
    "kind",
    "at",
    "change",
    "error",
    "chosen",
    "size",
    "values",
)
_CONDITION = (
    "feature",
    "category",
    "center",
    "average",
    "low",
    "high",
    "percentile",
    "distinct",
    "members",
)
_CONSEQUENT = ("label", "positives", "observed", "overall", "error", "size")


def rule_base(
    system: FuzzySystem | Tables, *, categories: Categories | None = None
) -> "RuleBase":
    """The rules of a fitted system.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier, or its tables where they are at hand.
    categories : mapping of feature name to a mapping of number to category name, optional
        What the numbers of nominal features stand for.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> rules = rule_base(MLTSKClassifier(n_rules=3).fit(*data.frames()).system_)
    >>> len(rules.general), len(rules.exceptions)
    (5, 3)
    """
    tables = system if isinstance(system, Tables) else Tables(system, categories)
    K, _, L = tables.system.shape
    return RuleBase(tables, np.arange(L), np.arange(K), np.arange(len(tables.subjects)))


@dataclass(frozen=True, eq=False, repr=False)
class Narrowed(Page):
    """What is told of some labels of a system."""

    tables: Tables
    kept_labels: Index

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.tables.system.label_names[j] for j in self.kept_labels)

    def for_label(self, *names: str) -> Self:
        """The same for some labels only."""
        return replace(
            self,
            kept_labels=positions(self.label_names, names, self.kept_labels, "label"),
        )


@dataclass(frozen=True, eq=False, repr=False)
class RuleBase(Narrowed, Sequence[Rule]):
    """What holds in general, and a sequence of exceptions, over some features and labels; ``str()`` prints it.

    Made by `rule_base`. ``rules[2]`` is the `Rule` that is called Exception 3 in words, ``rules[:3]`` a rule base with
    fewer exceptions; `for_label` and `for_feature` leave out everything else.
    """

    kept_rules: Index
    kept_subjects: Index

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features in these rules."""
        told = (self.tables.subjects[t] for t in self.kept_subjects)
        return tuple(subject.name for subject in told if subject.kind != MISSING)

    def for_feature(self, *names: str) -> "RuleBase":
        """The same rules with what they say about some features only."""
        known = [self.tables.subjects[t].name for t in self.kept_subjects]
        return replace(
            self, kept_subjects=positions(known, names, self.kept_subjects, "feature")
        )

    @property
    def general(self) -> Sequence[Consequent]:
        """What holds for everybody about each label; empty where a system has nothing but rules with conditions."""
        return Items(
            self.kept_labels.tolist() if len(self.tables.system.terms) else [],
            self._general,
        )

    @property
    def given(self) -> Sequence[Rule]:
        """The rules that the user wrote, those about some of these features."""
        features = {self.tables.subjects[t].feature for t in self.kept_subjects}
        kept = [
            r
            for r, rule in enumerate(self.tables.given)
            if any(asked[0] in features for asked in rule)
        ]
        return Items(kept, lambda r: GivenRules(self.tables).rule(r, self.kept_labels))

    @property
    def exceptions(self) -> Sequence[Rule]:
        """The rules with conditions."""
        return Items(range(len(self)), self.__getitem__)

    def __len__(self) -> int:
        return len(self.kept_rules)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return replace(self, kept_rules=self.kept_rules[i])
        k, tables = int(self.kept_rules[i]), self.tables
        order, told = tables.order(k, self.kept_subjects)
        conditions = Items(order.tolist(), partial(self._condition, k))
        moved = self.kept_labels[
            (tables.system.coef[k][:, self.kept_labels] != 0).any(axis=0)
        ]
        consequents = Items(
            largest(moved, tables.shifts[k, moved]).tolist(),
            partial(self._consequent, k),
        )
        weight, always = (
            float(tables.system.rule_weights[k]),
            bool(np.isnan(tables.distinct[k]).all()),
        )
        members = tables.system.members
        counts = (
            (None, None)
            if members is None
            else (int(members.count[k]), int(members.count[-1]))
        )
        return Rule(
            k, weight, conditions, consequents, always, tables.noun, told, *counts
        )

    def _general(self, j: int) -> Consequent:
        tables, system, begins = (
            self.tables,
            self.tables.system,
            self.tables.system.intercept[j],
        )
        if system.is_sheet:
            moved = sum(
                _line(tables, t, j)[3]
                for t in np.flatnonzero(tables.sizes[:, j]).tolist()
            )
            begins = np.round(
                begins - system.terms.mean @ system.term_coef[:, j] + moved, 9
            )
        known: Any = {
            "threshold": float(system.thresholds[j]),
            "exact": system.is_sheet,
        }
        return Consequent(
            system.label_names[j],
            float(begins),
            0.0,
            self._shapes(j, tables.sizes[:, j]),
            **known,
        )

    def _shapes(self, j: int, sizes: Array, k: int | None = None) -> Sequence[Shape]:
        """A shape of each subject of some size, largest first."""
        kept = self.kept_subjects[sizes[self.kept_subjects] != 0]
        return Items(
            largest(kept, sizes[kept]).tolist(),
            lambda t: self._shape(j, t, float(sizes[t]), k),
        )

    def _shape(self, j: int, t: int, size: float, k: int | None = None) -> Shape:
        """What subject t does to label j, in general or within rule k."""
        tables, subject, named = (
            self.tables,
            self.tables.subjects[t],
            self.tables.named_values(t),
        )
        d, names, sheet = (
            subject.columns.start,
            tuple(named.values()),
            k is None and tables.system.is_sheet,
        )
        x = doubles(
            [*named]
            or (
                [0.0, 1.0]
                if tables.system.quantiles is None
                else tables.system.quantiles[d]
            )
        )
        y = tables.effect(t, x, j, k)
        if subject.kind == "nominal" or (len(names) > 2 and subject.kind == "number"):
            kind, at, change, ends = (
                "varies",
                np.nan,
                float(np.ptp(y)),
                (int(y.argmax()), int(y.argmin())),
            )
        else:
            inner = (
                slice(2, -2)
                if len(x) > 4 and not names and not sheet and x[2] < x[-3]
                else slice(None)
            )
            kind, at, change, ends = summed_up(x[inner], y[inner])
            ends = ends[0] + (inner.start or 0), ends[1] + (inner.start or 0)
        place = (
            None
            if names or tables.system.quantiles is None
            else float(tables.percentile(d, at))
        )
        known: dict[str, Any] = {
            "at": None if place is None else at,
            "percentile": place,
            "names": names,
        }
        if k is None:
            error = tables.deviation(t, j, x[[ends[0]]], x[[ends[1]]])
            known["error"] = None if error is None else TWO_SIDED * float(error[0])
            sure = tables.system.certainty
            known["chosen"] = (
                None
                if sure is None or sure.chosen is None
                else (int(sure.chosen[d, j]), sure.folds)
            )
        if sheet:
            x, y, average, _ = _line(tables, t, j)
            known["average"] = round(average, 9)
            change = float(np.copysign(np.ptp(y), change))
        x, first = np.unique(x if k is None or names else [], return_index=True)
        known |= {"x": tuple(x.tolist()), "y": tuple(y[first].tolist()), "exact": sheet}
        kind = MISSING if subject.kind == MISSING else kind
        return Shape(
            tables.system.label_names[j], subject.name, kind, change, size, **known
        )

    def _condition(self, k: int, t: int) -> Condition:
        tables, subject, distinct = (
            self.tables,
            self.tables.subjects[t],
            float(self.tables.distinct[k, t]),
        )
        d, regions, who = (
            subject.columns.start,
            tables.member_regions,
            tables.system.members,
        )
        members = None if who is None or regions is None else int(who.count[k])
        if subject.kind == "nominal":
            values, measured = (
                tables.shares(k, t),
                None if regions is None else int(regions[k, d, 1]),
            )
            _, here, usual = max(values, key=lambda value: abs(value[1] - value[2]))
            return Condition(
                subject.name,
                here,
                usual,
                None,
                None,
                None,
                distinct,
                (),
                values,
                members,
                measured,
            )
        center, average = float(tables.centers[k, d]), float(tables.averages[d])
        place = (
            None
            if tables.system.quantiles is None
            else float(tables.percentile(d, center))
        )
        names = tuple(tables.named_values(t).items())
        known: Any = {"members": members}
        if tables.system.is_sheet and tables.system.quantiles is not None:
            width, span = (
                np.sqrt(doubles(tables.system.widths)[k, d]),
                np.ptp(doubles(tables.system.quantiles[d])),
            )
            known["reach"] = float(np.round(width * span, 9))
        return Condition(
            subject.name,
            center,
            average,
            *tables.ends(k, t),
            place,
            distinct,
            names,
            **known,
        )

    def _consequent(self, k: int, j: int) -> Consequent:
        tables, members = self.tables, self.tables.system.members
        had = (
            None
            if members is None
            else (members.positives[k, j], members.observed[k, j])
        )
        own = (
            None if tables.system.order else len(tables.system.terms) + k
        )  # none is known of slopes
        shift, size = float(tables.shifts[k, j]), float(tables.shift_sizes[k, j])
        return _consequent(
            tables,
            j,
            had,
            own,
            shift,
            size,
            self._shapes(j, tables.slope_sizes(k, j), k),
        )

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON: all of it, or the ``top`` first of shapes, conditions and consequents."""
        names = {"features": list(self.feature_names), "labels": list(self.label_names)}
        parts = {
            "given": self.given,
            "general": self.general,
            "exceptions": self.exceptions,
        }
        told = {
            part: [plain(rule, top) for rule in rules] for part, rules in parts.items()
        }
        return {"format": "mltsk rules", "version": 3, **names, **told}

    def to_json(
        self, top: int | None = None, label: str | None = None, indent: int | None = 2
    ) -> str:
        """`to_dict` as JSON text."""
        kept = self if label is None else self.for_label(label)
        return json.dumps(
            kept.to_dict(top), indent=indent, ensure_ascii=False, allow_nan=False
        )

    def to_frame(self, part: str | None = None) -> Any:
        """One pandas row for each statement; ``part`` is "given", "general", "if" or "then" for one of them only.

        Columns: ``part``; for rules that the user gave, ``rule`` (its index), ``conditions`` in words, and those of a
        `Consequent`, with its shift as ``change``; for what holds in general, ``label``, ``feature`` and the ``kind``,
        ``at``, ``change``, ``size`` and ``values`` (those with names) of a `Shape`; for exceptions, ``rule``, ``share``
        of the data that it governs and ``samples`` in it, then those of a `Condition`, or those of a `Shape`, whose
        feature is missing for the shift, with the counts of a `Consequent`.
        """
        if part not in (None, *_PARTS):
            raise InputError(
                f"part must be {', '.join(map(repr, _PARTS))} or None (all), got {part!r}."
            )
        rows = [
            row for one in ([part] if part else _PARTS) for row in self._records(one)
        ]
        return optional("pandas", "data").DataFrame(rows)

    def _records(self, part: str) -> Iterator[dict[str, Any]]:
        for rule in self.given if part == "given" else ():
            own = {
                "part": part,
                "rule": rule.index,
                "share": rule.weight,
                "samples": rule.members,
            }
            own |= {"conditions": " and ".join(map(str, rule.conditions))}
            yield from (
                own | {w: getattr(c, w) for w in _CONSEQUENT} | {"change": c.shift}
                for c in rule.consequents
            )
        for shape in (
            (shape for rule in self.general for shape in rule.shapes)
            if part == "general"
            else ()
        ):
            yield {"part": part} | {what: getattr(shape, what) for what in _SHAPE}
        for rule in self if part in ("if", "then") else ():
            own = {
                "part": part,
                "rule": rule.index,
                "share": rule.weight,
                "samples": rule.members,
            }
            for condition in rule.conditions if part == "if" else ():
                yield own | {what: getattr(condition, what) for what in _CONDITION}
            for c in rule.consequents if part == "then" else ():
                yield {
                    **own,
                    **{what: getattr(c, what) for what in _CONSEQUENT},
                    "feature": None,
                    "change": c.shift,
                }
                yield from (
                    own | {what: getattr(shape, what) for what in _SHAPE}
                    for shape in c.shapes
                )

    def nodes(self, top: int | None = None, label: str | None = None) -> list[Node]:
        """The page that `to_text` prints, with the ``top`` shapes, conditions and labels of each, for one label or all.

        Without ``top``, a model of few statements is printed whole, and five of each of a longer one.
        """
        if label is not None:
            return self.for_label(label).nodes(top)
        tables, most = self.tables, None
        coef, sizes = (
            tables.system.coef[:, :, self.kept_labels],
            tables.sizes[:, self.kept_labels],
        )
        longest = (
            np.count_nonzero(sizes, axis=0) + np.count_nonzero(coef, axis=(0, 1))
        ).max()
        chosen = getattr(
            tables.system.certainty, "chosen", None
        )  # the statements of a short model
        if top is not None or (chosen is None and longest > SHORT):
            top, most = top or TOP, MOST
        sizes = np.concatenate(
            [tables.importance, GivenRules(tables).sizes, tables.shift_sizes]
        )[:, self.kept_labels]
        shifted = tables.shift_sizes[np.ix_(self.kept_rules, self.kept_labels)].sum(
            axis=1
        )
        largest_labels, largest_rules = (
            np.argsort(-s, kind="stable")[:most] for s in (sizes.sum(axis=0), shifted)
        )
        general = (
            [self.general[i] for i in sorted(largest_labels.tolist())]
            if len(self.general)
            else []
        )
        rules, given = [self[i] for i in sorted(largest_rules.tolist())], [*self.given]
        said = [c for rule in [*given, *rules] for c in rule.consequents[:top]]
        shown = [c.size for c in said] + [
            shape.size for c in [*general, *said] for shape in c.shapes[:top]
        ]
        share = min(sum(shown) / float(sizes.sum()), 1.0) if sizes.any() else 1.0
        whole = (
            "cover the whole model"
            if share > 1 - 1e-9
            else f"carry {percent(share)} of what the model does"
        )
        page = [
            Node(line)
            for line in (
                *self.legend(),
                f"These {times(len(shown), 'statement')} {whole}.",
            )
        ]
        page += [node for rule in given for node in rule.nodes(top)]
        if general:
            parts = tuple(rule.nodes(top, general=tables.start)[0] for rule in general)
            more = left_out(
                len(self.kept_labels), most, "more label", ", which for_label shows"
            )
            page.append(Node("In general", parts + more))
        page += [node for rule in rules for node in rule.nodes(top)]
        return [*page, *left_out(len(self), most, f"more {tables.noun.lower()}")]

    def legend(self) -> tuple[str, ...]:
        """How to read the rules, in two sentences or three."""
        system, count = self.tables.system, times(len(self), self.tables.noun.lower())
        chosen = getattr(system.certainty, "chosen", None) is not None
        on = f"on {times(len(self.feature_names), 'feature')} for {times(len(self.kept_labels), 'label')}"
        if not len(system.terms):
            begin = f"{count} {on}. Each adds what it says to the scores of samples as far as it fits them."
        elif not len(system.centers):
            begin = f"What holds in general, {on}{'' if chosen else '; this table needs no exceptions'}."
        else:
            begin = f"What holds in general, {on}, and {count}: each shifts scores of samples as far as it fits them."
        begin += f" {OWN}" * bool(self.tables.given)
        cuts = system.thresholds[self.kept_labels].tolist()
        low, high = number(min(cuts)), number(max(cuts))
        cut = f", {low}" if low == high else f", {low} to {high}"
        if low != high and len(cuts) <= MOST:
            cut = ": " + ", ".join(
                f"{name(what)} {number(x)}"
                for what, x in zip(self.label_names, cuts, strict=True)
            )
        begin += f" A label is given where its score reaches its threshold{cut}."
        if system.is_sheet:
            return begin, *SHEET, *(MET if len(system.centers) else ())
        per = "from its 10th to its 90th percentile"
        if system.quantiles is None:
            per = (
                "for its full weight in a row"
                if system.unit_length
                else "for 1 unit of it"
            )
        after = f"After a feature: where it matters, and the change of the score {per}; largest effects first."
        if any(
            subject.kind in ("nominal", MISSING) for subject in self.tables.subjects
        ):
            after += " After a value: what it adds, 0 on average."
        return begin, after, *(SHEET[1:] if chosen else ())

    def __repr__(self) -> str:
        return f"<RuleBase: {len(self)} exceptions, {len(self.feature_names)} features, {len(self.kept_labels)} labels>"


class GivenRules:
    """The R rules that the user gave to a system: each has one of its last R columns, of 0 and 1, and a term on it.

    ``shifts`` (R, L) are what each adds to each label where it holds, ``sizes`` the standard deviation of that over the
    data, ``counts`` (R, 2) for how many samples it holds and how many there are.
    """

    def __init__(self, tables: Tables) -> None:
        regions, first, D = (
            tables.member_regions,
            tables.system.shape[1] - len(tables.given),
            tables.system.shape[1],
        )
        self.tables = tables
        self._terms = (
            np.arange(first, D)[:, None] == tables.system.terms.feature
        )  # none if it holds for nobody, or all
        self.shifts = np.asarray(self._terms @ np.asarray(tables.system.term_coef))
        found = np.zeros((D - first, 2)) if regions is None else regions[-1, first:]
        self.counts = np.asarray(found, dtype=np.int64)
        share = self.counts[:, 0] / np.maximum(self.counts[:, 1], 1)
        self.sizes = np.asarray(
            np.abs(self.shifts) * np.sqrt(share * (1 - share))[:, None]
        )

    def conditions(self, r: int) -> tuple[Given, ...]:
        """What a rule asks for."""
        found = []
        for f, low, high, words in self.tables.given[r]:
            subject = self.tables.subjects[f]
            ends = [
                int(x)
                for x in (low, high)
                if x is not None and subject.kind == "ordinal"
            ]
            found.append(
                Given(
                    subject.name,
                    low,
                    high,
                    words,
                    tuple(subject.values[x] for x in ends),
                )
            )
        return tuple(found)

    def rule(self, r: int, labels: Index) -> Rule:
        """A rule with what it says about some labels, the largest first."""
        held, of = self.counts[r].tolist()
        moved = labels[self.shifts[r, labels] != 0]
        says = Items(
            largest(moved, self.shifts[r, moved]).tolist(), partial(self._says, r)
        )
        counts = {"members": held, "total": of} if of else {}
        return Rule(
            r,
            held / max(of, 1),
            self.conditions(r),
            says,
            noun="Your rule",
            given=True,
            **counts,
        )

    def _says(self, r: int, j: int) -> Consequent:
        members, own = self.tables.system.members, np.flatnonzero(self._terms[r])
        had = None if members is None else members.given[r, :, j]
        return _consequent(
            self.tables, j, had, own, float(self.shifts[r, j]), float(self.sizes[r, j])
        )


def _consequent(tables: Tables, j: int, had: Any, own: Any, *says: Any) -> Consequent:
    """What a rule says about label j, which ``had`` (positives, observed) of its members have.

    ``own`` is where its numbers are among those of the label, None where their covariance is not known.
    """
    known: dict[str, Any] = {"exact": tables.system.is_sheet}
    if (members := tables.system.members) is not None:
        overall = int(members.positives[-1, j]), int(members.observed[-1, j])
        known |= {"positives": int(had[0]), "observed": int(had[1]), "overall": overall}
    if own is not None and (cov := tables.covariance(j)) is not None:
        known["error"] = TWO_SIDED * float(np.sqrt(max(cov[own, own].sum(), 0.0)))
    return Consequent(tables.system.label_names[j], *says, **known)


def _line(tables: Tables, t: int, j: int) -> tuple[Array, Array, float, float]:
    """Of a short model: values of subject t, what they add to label j, what no value adds, and what counts as 0."""
    system: Any = tables.system
    x, d = doubles([*tables.named_values(t)]), tables.subjects[t].columns.start
    own, _ = tables.memberships(t, x)
    average = float(system.terms.mean[own] @ doubles(system.term_coef[own, j]))
    if len(x):
        return x, np.round(tables.effect(t, x, j) + average, 9), average, 0.0
    low, high = system.scaling.values[d, [0, -1]]
    used = own[system.term_coef[own, j] != 0]  # its ramps
    levels = np.unique([system.terms.low[used], system.terms.high[used]])
    x = doubles([float(f"{x:.15g}") for x in low + levels * (high - low)])
    y = tables.effect(t, x, j) + average
    if (
        len(x) == 2
    ):  # 0 on the larger side of the data, or in the middle of a line that bends
        zero = float(y[1] if tables.percentile(d, x.mean()) < LOW else y[0])
    else:
        zero = float(y[np.abs(tables.percentile(d, x) - 0.5).argmin()])
    return x, np.round(y - zero, 9), average - zero, zero
