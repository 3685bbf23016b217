"""Why this label: the scores of samples taken apart.

Symbols: N samples, K exceptions, D columns of numbers, F features, R rules that the user gave, L labels.

A score begins with that of the average sample before any exception. Each feature adds its effect in general, each rule
that the user gave its number where it holds, and each exception what it says times the membership of the sample in it:
the sum is the score, up to rounding.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..columns import MISSING
from ..core.arrays import Array, Matrix
from ..core.membership import MIN_MEMBERSHIP
from ..exceptions import optional
from ..system import FuzzySystem
from .rules import GivenRules, Narrowed
from .tables import Categories, Index, Tables, doubles, largest
from .wording import Node, Page, left_out, name, number, percent, place_words, times

_KINDS = ("base", "given", "feature", "absent", "exception", "slope")


@dataclass(frozen=True)
class Part:
    """One amount of a score.

    ``part`` is "base"; "given", a rule of the user that holds; "feature", with its ``value`` in the sample, None where
    it is not known; "absent", for all features that sparse rows do not have; "exception", with the membership of the
    sample in it; or "slope", what a feature does within exceptions of order 1, which is told but is no part of the sum.
    """

    part: str
    name: str | int | None
    value: float | str | None
    contribution: float
    words: str


@dataclass(frozen=True)
class Why(Page):
    """A score taken apart: ``parts`` add up to it, but for those that tell slopes; each kind largest first.

    Features that add nothing are left out, unless that is because their value is not known. ``probability`` is
    the calibrated one, or None.
    """

    sample: int
    label: str
    score: float
    threshold: float
    probability: float | None
    parts: tuple[Part, ...]

    @property
    def given(self) -> bool:
        """Whether the score reaches the threshold of the label."""
        return self.score >= self.threshold

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, with the ``top`` largest parts of each kind or all."""
        parts = [asdict(part) for kind in _KINDS for part in self.of_kind(kind)[:top]]
        return {**vars(self), "given": self.given, "parts": parts}

    def of_kind(self, kind: str) -> tuple[Part, ...]:
        """Parts of one kind."""
        return tuple(part for part in self.parts if part.part == kind)

    def nodes(self, top: int = 5) -> list[Node]:
        """The account on a page, with the ``top`` parts of each kind."""
        chance = (
            ""
            if self.probability is None
            else f", probability {percent(self.probability)}"
        )
        verdict = f"{'given' if self.given else 'not given'} (threshold {number(self.threshold)}{chance})"
        entries = [
            entry for kind in _KINDS[:-1] for entry in _ledger(self.of_kind(kind), top)
        ]
        slopes = tuple(_ledger(self.of_kind("slope"), top))
        entries += [Node("of what rules add, by feature", slopes)] if slopes else []
        return [
            Node(f"{name(self.label)}: {self.score:.3f}, {verdict}", tuple(entries))
        ]


def _ledger(parts: tuple[Part, ...], top: int) -> Iterator[Node]:
    silent = [
        part for part in parts if part.contribution == 0 and part.part == "feature"
    ]
    parts = tuple(part for part in parts if part not in silent)
    shown = min(top, max(1, sum(abs(part.contribution) >= 5e-4 for part in parts)))
    for part in parts[:shown]:
        yield Node(f"{part.contribution:+.3f}  {part.words}", amount=part.contribution)
    if rest := parts[shown:]:
        amount = sum(part.contribution for part in rest)
        yield Node(f"{amount:+.3f}  {times(len(rest), 'smaller one')}", amount=amount)
    yield from (Node(f"{0:+.3f}  {part.words}", muted=True) for part in silent[:top])
    yield from left_out(len(silent), top, "more unknown value")


def explain(
    system: FuzzySystem,
    X: Matrix,
    *,
    categories: Categories | None = None,
    cells: Any = None,
    library: str = "pandas",
) -> "Explanation":
    """Take the scores of samples apart.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier.
    X : array or CSR of shape (N, D)
        Samples in the caller's units; those of a table in its columns of numbers.
    categories : mapping of feature name to a mapping of number to category name, optional
        What the numbers of nominal features stand for.
    cells : array of words and None, of shape (N, F), optional
        The table as it came, `mltsk.columns.Columns.words`, to call values by name that were never seen.
    library : {"pandas", "polars"}
        Whose data frame `Explanation.to_frame` returns.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> why = explain(MLTSKClassifier(n_rules=3).fit(*data.frames()).system_, data.X[:2])
    >>> total = why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
    >>> bool(abs(total - why.scores).max() < 1e-12)
    True
    """
    X = X if system.scaling is None else doubles(X)
    M = system.firing_strengths(X) if len(system.centers) else np.zeros((X.shape[0], 0))
    tables, labels = Tables(system, categories), np.arange(system.shape[2])
    return Explanation(
        tables,
        labels,
        X,
        system.scale(X),
        M,
        system.scores(X),
        np.arange(X.shape[0]),
        cells,
        library,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Narrowed):
    """The scores of some samples and labels taken apart; ``str()`` tells why.

    Made by `explain`. ``explanation[2]``, ``explanation[:5]`` and `for_label` narrow it down; `why` is the full account
    of one score. ``Z`` are the samples on the scale of the rules, ``firing`` (N, K) their membership in exceptions.
    """

    X: Matrix
    Z: Matrix
    firing: Array
    all_scores: Array
    samples: Index
    cells: Any = None
    library: str = "pandas"

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int | slice) -> "Explanation":
        rows = np.atleast_1d(np.arange(len(self))[i])
        parts = (
            "X",
            "Z",
            "firing",
            "all_scores",
            "samples",
            *(("cells",) if self.cells is not None else ()),
        )
        kept: Any = {what: getattr(self, what)[rows] for what in parts}
        return replace(self, **kept)

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[i] for i in range(len(self)))

    @property
    def scores(self) -> Array:
        """Score of each label, (N, L)."""
        return self.all_scores[:, self.kept_labels]

    @property
    def probabilities(self) -> Array | None:
        """Calibrated probability of each label, (N, L), where the system has them."""
        system = self.tables.system
        return (
            None
            if system.slopes is None
            else system.probabilities(self.all_scores)[:, self.kept_labels]
        )

    @property
    def base(self) -> Array:
        """What the average sample scores before any exception, (L,)."""
        return doubles(self.tables.system.intercept)[self.kept_labels]

    @cached_property
    def shifts(self) -> Array:
        """What each exception adds to each score, (N, K, L)."""
        said = np.zeros(
            (len(self), len(self.tables.system.centers), len(self.kept_labels))
        )
        Z = self.tables.system.terms.filled(self.Z)
        for k, coef in enumerate(self.tables.system.coef[:, :, self.kept_labels]):
            said[:, k] = coef[0] + (Z @ coef[1:] if len(coef) > 1 else 0.0)
        return self.firing[:, :, None] * said

    def feature_effects(self) -> Array:
        """What each feature adds to each score in general, (N, F, L); large unless narrowed down first."""
        system, D = self.tables.system, self.tables.system.shape[1]
        T = (
            doubles(system.terms.memberships(self.Z, system.scaling))
            - system.terms.mean
        )
        found = [
            system.terms.by_feature(T * system.term_coef[:, j], D)
            for j in self.kept_labels
        ]
        return self._by_feature(np.stack(found, axis=2))

    def given_effects(self) -> Array:
        """What each rule that the user gave adds to each score, (N, R, L)."""
        held = doubles(self.X[:, self.X.shape[1] - len(self.tables.given) :])
        return held[:, :, None] * GivenRules(self.tables).shifts[:, self.kept_labels]

    def slope_effects(self) -> Array:
        """Σ membership · slope · distance from the average over exceptions, per feature, (N, F, L); 0 for order 0."""
        system = self.tables.system
        if system.order == 0:
            return np.zeros(
                (len(self), len(self.tables.feature_names), len(self.kept_labels))
            )
        slopes = np.tensordot(self.firing, system.coef[:, 1:, self.kept_labels], axes=1)
        return self._by_feature(
            slopes
            * (doubles(system.terms.filled(self.Z)) - self.tables.middle)[:, :, None]
        )

    def _by_feature(self, amounts: Array) -> Array:
        """Amounts (N, D, L) of columns as sums over the columns of each feature, (N, F, L)."""
        if self.tables.system.columns is None:
            return amounts
        out = np.zeros((len(amounts), len(self.tables.feature_names), amounts.shape[2]))
        for subject in self.tables.subjects:
            out[:, subject.feature] += amounts[:, subject.columns].sum(axis=1)
        return out

    def why(self, label: str) -> Why:
        """The full account of one label's score, for the first sample of this explanation."""
        return next(self[:1].for_label(label)._accounts())

    def _accounts(self) -> Iterator[Why]:
        """An account of each label, of an explanation of one sample."""
        tables, told = self.tables, cache(self._told)  # the same for every label
        chances, system, members = (
            self.probabilities,
            tables.system,
            tables.system.members,
        )
        effects, slopes, given = (
            self.feature_effects()[0],
            self.slope_effects()[0],
            self.given_effects()[0],
        )
        for j, label in enumerate(self.label_names):
            parts = (
                [Part("base", None, None, float(self.base[j]), tables.start)]
                if self.base[j]
                else []
            )
            for r in largest(
                np.flatnonzero(given[:, j]), given[given[:, j] != 0, j]
            ).tolist():
                words = f"your rule {r + 1}: {' and '.join(map(str, GivenRules(tables).conditions(r)))}"
                parts.append(Part("given", r, 1.0, float(given[r, j]), words))
            unknown = np.isnan(self._first) & (
                tables.sizes[: len(effects), self.kept_labels[j]] > 0
            )
            parts += self._features("feature", effects[:, j], unknown, told)
            for k in largest(
                np.arange(len(self.shifts[0])), self.shifts[0, :, j]
            ).tolist():
                share = float(self.firing[0, k])
                like = " like this one" * (share >= MIN_MEMBERSHIP)
                held = (
                    ""
                    if members is None
                    else f" ({times(int(members.count[k]), 'sample')}{like})"
                )
                words = f"{tables.noun} {k + 1}{held}, which fits by {percent(share)}"
                parts.append(
                    Part("exception", k, share, float(self.shifts[0, k, j]), words)
                )
            parts += self._features("slope", slopes[:, j], False, told)
            score, threshold = (
                float(self.scores[0, j]),
                float(system.thresholds[self.kept_labels[j]]),
            )
            chance = None if chances is None else float(chances[0, j])
            yield Why(
                int(self.samples[0]), label, score, threshold, chance, tuple(parts)
            )

    @cached_property
    def _first(self) -> Array:
        """The features (F,) of the first sample: numbers, positions of named values, NaN if missing."""
        x, tables = doubles(self.X[:1])[0], self.tables
        found = x[tables.starts[: len(tables.feature_names)]]
        for f, subject in tables.unordered:
            part = x[subject.columns]
            if subject.kind == "nominal" and len(part) == len(subject.values):
                found[f] = (
                    np.nan if np.isnan(part).any() or not len(part) else part.argmax()
                )
        return found

    def _features(
        self, kind: str, amounts: Array, also: Any, told: Any
    ) -> Iterator[Part]:
        x, names, dense = (
            self._first,
            self.tables.feature_names,
            self.tables.system.quantiles is not None,
        )
        shown = np.flatnonzero(((amounts != 0) & (dense | (x != 0))) | also)
        for f in largest(shown, amounts[shown]).tolist():
            value, words = told(f)
            yield Part(kind, names[f], value, float(amounts[f]), words)
        if not dense and amounts[x == 0].any():
            kind, words = (
                ("absent", "for all that is absent")
                if kind == "feature"
                else (kind, "all that is absent")
            )
            yield Part(kind, None, 0.0, float(amounts[x == 0].sum()), words)

    def _told(self, f: int) -> tuple[float | str | None, str]:
        """A value of the first sample and its words: by its name, by its place among the training values, as it is."""
        x, tables, subject = float(self._first[f]), self.tables, self.tables.subjects[f]
        feature = name(subject.name)
        if np.isnan(x) and self.cells is not None and self.cells[0, f] is not None:
            return (
                None,
                f"{feature} = {name(repr(self.cells[0, f]))} (never seen: counts as nothing)",
            )
        if np.isnan(x):
            return (
                None,
                f"{feature} {MISSING}{'' if f in tables.gaps else ' (counts as nothing)'}",
            )
        if subject.values:
            value = subject.values[int(x)]
            return value, f"{feature} = {name(value)}"
        if (known := tables.named_values(f).get(x)) is not None:
            return x, f"{feature} is {name(known)}"
        if tables.system.quantiles is None:
            return x, f"{feature} is {number(x)}"
        return (
            x,
            f"{feature} is {place_words(x, float(tables.percentile(subject.columns.start, x)))}",
        )

    def nodes(self, top: int = 5, labels: int = 3, samples: int = 3) -> list[Node]:
        """Why the highest ``labels`` of the first ``samples`` have their scores, with the ``top`` parts of each."""
        page = []
        for one in self[:samples]:
            above = one.scores[0] - self.tables.system.thresholds[self.kept_labels]
            highest = [
                self.label_names[j] for j in np.argsort(-above, kind="stable")[:labels]
            ]
            page.append(
                Node(
                    f"Sample {one.samples[0]}",
                    tuple(one.why(label).nodes(top)[0] for label in highest),
                )
            )
        return [*page, *left_out(len(self), samples, "more sample")]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON: every sample and label, with the ``top`` largest parts of each kind or all."""
        found = [
            {
                "sample": int(one.samples[0]),
                "labels": [w.to_dict(top) for w in one._accounts()],
            }
            for one in self
        ]
        return {"format": "mltsk explanation", "version": 2, "samples": found}

    def to_frame(self) -> Any:
        """One row for each `Part` of each ``sample`` and ``label``, whose contributions add up to the score.

        Parts called "slope" are no part of the sum. Of a polars frame it is one, in which names and numbers are text.
        """
        accounts = (why for one in self for why in one._accounts())
        rows = [
            {"sample": why.sample, "label": why.label} | vars(part)
            for why in accounts
            for part in why.parts
        ]
        options = (
            {"infer_schema_length": None} if self.library == "polars" else {}
        )  # types are found on all rows
        return optional(self.library, "data").DataFrame(rows, **options)

    def __repr__(self) -> str:
        return f"<Explanation: {len(self)} samples, {len(self.kept_labels)} labels>"
