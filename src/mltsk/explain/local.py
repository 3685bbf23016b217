"""Why this label: the scores of samples, taken apart.

Symbols: N samples, K exceptions, D columns of numbers, F features, R rules that the
user gave, L labels.

A score begins with that of the average sample. Each feature adds its effect in general,
each pair of features what both add together, each rule that the user gave its number
where it holds, and each exception what it says times the membership of the sample in
it, less that of the average sample where exceptions only shift. The sum is the score,
up to rounding.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix, underflow_is_zero
from ..core.members import MIN_MEMBERSHIP
from ..exceptions import optional
from ..frames import MISSING
from ..system import FuzzySystem
from ..text import plural
from .effects import Effects
from .given import GivenRules
from .page import Node, left_out
from .pair_effects import PairEffects
from .rules import Narrowed
from .subjects import Index, Mask, doubles, largest_first
from .values import SHOWN_PER_LIST
from .why import Part, Why
from .wording import name, number, percent, place_words


def explain(
    system: FuzzySystem,
    X: Matrix,
    *,
    cells: NDArray[np.object_] | None = None,
    library: str = "pandas",
) -> "Explanation":
    """Take the scores of samples apart.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier.
    X : array or CSR of shape (N, D)
        Samples in the caller's units; those of a table in its columns of numbers.
    cells : array of words and None, of shape (N, F), optional
        The table as it came, `mltsk.columns.Columns.words`, to call values by name
        that were never seen.
    library : {"pandas", "polars"}
        Whose data frame `Explanation.to_frame` returns.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=3).fit(*data.frames())
    >>> why = explain(clf.system_, data.X[:2])
    >>> total = why.base + why.feature_effects().sum(axis=1)
    >>> total += why.pair_effects().sum(axis=1) + why.shifts.sum(axis=1)
    >>> bool(abs(total - why.scores).max() < 1e-12)
    True
    """
    if system.scaling is not None:
        X = doubles(X)
    firing: Array = np.zeros((X.shape[0], 0))
    if len(system.centers):
        firing = system.firing_strengths(X)
    return Explanation(
        effects=Effects(system),
        kept_labels=np.arange(system.shape[2]),
        X=X,
        Z=system.scale(X),
        firing=firing,
        all_scores=system.scores(X),
        samples=np.arange(X.shape[0]),
        cells=cells,
        library=library,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Narrowed):
    """The scores of some samples and labels taken apart; ``str()`` tells why.

    Made by `explain`. ``explanation[2]``, ``explanation[:5]`` and `for_label` narrow it
    down; `why` is the full account of one score. ``Z`` are the samples on the scale of
    the rules, ``firing`` (N, K) their membership in exceptions.
    """

    X: Matrix
    Z: Matrix
    firing: Array
    all_scores: Array
    samples: Index
    cells: NDArray[np.object_] | None = None
    library: str = "pandas"

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int | slice) -> "Explanation":
        rows = np.atleast_1d(np.arange(len(self))[i])
        return replace(
            self,
            X=self.X[rows],
            Z=self.Z[rows],
            firing=self.firing[rows],
            all_scores=self.all_scores[rows],
            samples=self.samples[rows],
            cells=None if self.cells is None else self.cells[rows],
        )

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[i] for i in range(len(self)))

    # numbers ------------------------------------------------------------------------

    @property
    def scores(self) -> Array:
        """Score of each label, (N, L)."""
        return self.all_scores[:, self.kept_labels]

    @property
    def probabilities(self) -> Array | None:
        """Calibrated probability of each label, (N, L), where the system has them."""
        if not self.system.has_log_odds:
            return None
        return self.system.probabilities(self.all_scores)[:, self.kept_labels]

    @property
    def base(self) -> Array:
        """What the average sample scores, (L,); `Effects.base` has what that means."""
        return self.effects.base[self.kept_labels]

    @cached_property
    @underflow_is_zero()
    def shifts(self) -> Array:
        """What each exception adds to each score, (N, K, L).

        Where exceptions only shift, that is how much more it adds than on average.
        """
        if self.system.order == 0:
            distance = self.firing - self.effects.usual_firing
            return distance[:, :, None] * self.system.coef[:, 0, self.kept_labels]
        says = np.zeros((len(self), len(self.system.centers), len(self.kept_labels)))
        Z = self.system.terms.filled(self.Z)
        for k, coef in enumerate(self.system.coef[:, :, self.kept_labels]):
            says[:, k] = coef[0] + Z @ coef[1:]
        return self.firing[:, :, None] * says

    @underflow_is_zero()
    def feature_effects(self) -> Array:
        """What each feature adds to each score in general, (N, F, L).

        It is large unless samples or labels are narrowed down first.
        """
        memberships = self.system.terms.memberships(self.Z, self.system.scaling)
        centred = doubles(memberships) - self.system.terms.mean
        by_column = []
        for j in self.kept_labels:
            amounts = centred * self.system.term_coef[:, j]
            by_column.append(
                self.system.terms.by_feature(amounts, self.system.shape[1])
            )
        return self._by_feature(np.stack(by_column, axis=2))

    @underflow_is_zero()
    def pair_effects(self) -> Array:
        """What each pair of features adds to each score, (N, pairs, L)."""
        pairs = self.system.pairs
        amounts = np.zeros((len(self), len(self._pairs), len(self.kept_labels)))
        if not len(pairs):
            return amounts
        fired = doubles(pairs.memberships(self.Z, self.system.scaling))
        coef = self._pairs.coef[:, self.kept_labels]
        for p, own in enumerate(self._pairs.own_rules):
            amounts[:, p] = fired[:, own] @ coef[own]
        return amounts

    @cached_property
    def _pairs(self) -> PairEffects:
        return PairEffects(self.effects)

    def given_effects(self) -> Array:
        """What each rule that the user gave adds to each score, (N, R, L)."""
        first = self.X.shape[1] - len(self.subjects.given)
        holds = doubles(self.X[:, first:])
        return holds[:, :, None] * self._given_rules.shifts[:, self.kept_labels]

    @cached_property
    def _given_rules(self) -> GivenRules:
        return GivenRules(self.effects)

    @underflow_is_zero()
    def slope_effects(self) -> Array:
        """What features do within exceptions of order 1, (N, F, L); 0 for order 0.

        Σ membership · slope · distance from the average, over the exceptions.
        """
        if self.system.order == 0:
            F = len(self.subjects.feature_names)
            return np.zeros((len(self), F, len(self.kept_labels)))
        slopes = np.tensordot(
            self.firing, self.system.coef[:, 1:, self.kept_labels], axes=1
        )
        distances = doubles(self.system.terms.filled(self.Z)) - self.effects.middle
        return self._by_feature(slopes * distances[:, :, None])

    def _by_feature(self, amounts: Array) -> Array:
        """Amounts (N, D, L) of columns as sums over those of a feature, (N, F, L)."""
        if self.system.columns is None:
            return amounts
        F = len(self.subjects.feature_names)
        by_feature = np.zeros((len(amounts), F, amounts.shape[2]))
        for subject in self.subjects:
            own = amounts[:, subject.columns]
            by_feature[:, subject.feature] += own.sum(axis=1)
        return by_feature

    # accounts -----------------------------------------------------------------------

    def why(self, label: str) -> Why:
        """The full account of one label's score, for the first sample."""
        return next(self[:1].for_label(label)._accounts())

    def reasons(self, top: int = 3) -> Iterator[dict[str, str]]:
        """For each sample, the ``top`` strongest reasons of each label, in words.

        A reason is something that adds to the score or takes from it: a feature, a
        pair, an exception or a rule of the user. The number after it is how much.

        Examples
        --------
        >>> from mltsk import MLTSKClassifier, read_table
        >>> table = read_table("pbc")
        >>> clf = MLTSKClassifier(max_statements=4).fit(table.X, table.Y)
        >>> reasons = next(clf.explain(table.X[:1]).reasons(top=2))
        >>> list(reasons) == list(table.Y)
        True
        """
        for sample in self:
            reasons = {}
            for account in sample._accounts(top):
                reasons[account.label] = account.strongest(top)
            yield reasons

    def _accounts(self, top: int | None = None) -> Iterator[Why]:
        """An account of each label, of an explanation of one sample.

        Where a page shows the ``top`` parts of each kind only, the others have no
        words: with 8,000 features, the words of all took four seconds.
        """
        thresholds = self.system.thresholds[self.kept_labels]
        effects = self.feature_effects()[0]
        slopes = self.slope_effects()[0]
        given = self.given_effects()[0]
        paired = self.pair_effects()[0]
        chances = self.probabilities
        missing = np.isnan(self._first_values)
        for j, label in enumerate(self.label_names):
            matters = self.effects.sizes[: len(effects), self.kept_labels[j]] > 0
            none = np.zeros_like(missing)
            parts = [
                *self._base_part(float(self.base[j])),
                *self._given_parts(given[:, j]),
                *self._feature_parts("feature", effects[:, j], missing & matters, top),
                *self._pair_parts(paired[:, j], top),
                *self._exception_parts(self.shifts[0, :, j], top),
                *self._feature_parts("slope", slopes[:, j], none, top),
            ]
            yield Why(
                sample=int(self.samples[0]),
                label=label,
                score=float(self.scores[0, j]),
                threshold=float(thresholds[j]),
                probability=None if chances is None else float(chances[0, j]),
                parts=tuple(parts),
            )

    def _base_part(self, base: float) -> list[Part]:
        """What the score begins with, unless that is 0."""
        if base == 0:
            return []
        return [Part("base", None, None, base, words=self.effects.start)]

    def _given_parts(self, amounts: Array) -> Iterator[Part]:
        """Rules of the user that hold, from what they add, (R,)."""
        holding = np.flatnonzero(amounts)
        for r in largest_first(holding, amounts[holding]):
            conditions = " and ".join(map(str, self._given_rules.conditions(r)))
            words = f"your rule {r + 1}: {conditions}"
            yield Part("given", r, 1.0, float(amounts[r]), words=words)

    def _pair_parts(self, amounts: Array, top: int | None) -> Iterator[Part]:
        """Pairs of features that add something, from what they add, (pairs,)."""
        moving = np.flatnonzero(amounts)
        for place, p in enumerate(largest_first(moving, amounts[moving])):
            words = ""
            if top is None or place < top:
                words = f"together: {self._pair_words(p)}"
            title = self._pair_titles[p]
            yield Part("pair", title, None, float(amounts[p]), words=words)

    @cached_property
    def _pair_titles(self) -> list[str]:
        """The names of both features of each pair."""
        return [self._pairs.title(p) for p in range(len(self._pairs))]

    def _pair_words(self, p: int) -> str:
        """Both values of pair p in the first sample."""
        first, second = self._pairs.features(p)
        return f"{self._describe(first)[1]} and {self._describe(second)[1]}"

    def _exception_parts(self, amounts: Array, top: int | None) -> Iterator[Part]:
        """Exceptions, from what they add, (K,)."""
        fits = self.firing[0].tolist()
        contributions = amounts.tolist()
        for place, k in enumerate(largest_first(np.arange(len(amounts)), amounts)):
            words = ""
            if top is None or place < top:
                words = self._exception_words(k, fits[k])
            yield Part("exception", k, fits[k], contributions[k], words=words)

    def _exception_words(self, k: int, share: float) -> str:
        """Exception k, and how far it fits the first sample."""
        words = f"{self.effects.noun} {k + 1}"
        members = self.system.members
        if members is not None:
            samples = plural(int(members.count[k]), "sample")
            if share >= MIN_MEMBERSHIP:
                samples += " like this one"
            words += f" ({samples})"
        return f"{words}, which fits by {percent(share)}"

    def _feature_parts(
        self, kind: str, amounts: Array, unknown: Mask, top: int | None
    ) -> Iterator[Part]:
        """Features, from what they add, (F,).

        ``unknown`` (F,) says which matter but have no value. Features that sparse rows
        do not have are one part together.
        """
        is_sparse = self.system.quantiles is None
        absent = is_sparse & (self._first_values == 0)
        names = self.subjects.feature_names
        contributions = amounts.tolist()
        moving = np.flatnonzero((amounts != 0) & ~absent)
        silent = np.flatnonzero((amounts == 0) & unknown)
        for features in (largest_first(moving, amounts[moving]), silent.tolist()):
            for place, f in enumerate(features):
                value: float | str | None = None
                words = ""
                if top is None or place < top:
                    value, words = self._describe(f)
                yield Part(kind, names[f], value, contributions[f], words=words)
        if amounts[absent].any():
            rest = float(amounts[absent].sum())
            if kind == "feature":
                yield Part("absent", None, 0.0, rest, words="for all that is absent")
            else:
                yield Part(kind, None, 0.0, rest, words="all that is absent")

    @cached_property
    def _first_values(self) -> Array:
        """The features (F,) of the first sample.

        These are numbers, positions of named values, and NaN where they are missing.
        """
        x = doubles(self.X[:1])[0]
        values = x[self.subjects.starts[: len(self.subjects.feature_names)]]
        for f, subject in self.subjects.unordered:
            own = x[subject.columns]
            if subject.kind == "nominal" and len(own) == len(subject.values):
                is_missing = np.isnan(own).any() or not len(own)
                values[f] = np.nan if is_missing else own.argmax()
        return values

    @cached_property
    def _describe(self) -> Callable[[int], tuple[float | str | None, str]]:
        """`_value_and_words`, remembered: they are the same for every label."""
        return cache(self._value_and_words)

    def _value_and_words(self, f: int) -> tuple[float | str | None, str]:
        """The value of feature f in the first sample, and its words.

        A value is told by its name, by its place in the training data, or as it is.
        """
        x = float(self._first_values[f])
        subject = self.subjects[f]
        feature = name(subject.name)
        if np.isnan(x):
            return None, f"{feature} {self._unknown(f)}"
        if subject.values:
            value = subject.values[int(x)]
            return value, f"{feature} = {name(value)}"
        category = self.subjects.named_values(f).get(x)
        if category is not None:
            return x, f"{feature} is {name(category)}"
        if self.system.quantiles is None:
            return x, f"{feature} is {number(x, size=0)}"
        place = place_words(x, self.subjects.percentile(subject.columns.start, x))
        return x, f"{feature} is {place}"

    def _unknown(self, f: int) -> str:
        """Why feature f of the first sample has no value, in words."""
        cell = None if self.cells is None else self.cells[0, f]
        if cell is not None:
            return f"= {name(repr(cell))} (never seen: counts as nothing)"
        if f in self.subjects.gaps:
            return MISSING
        return f"{MISSING} (counts as nothing)"

    # as text and data ---------------------------------------------------------------

    def nodes(
        self, top: int = SHOWN_PER_LIST, labels: int = 3, samples: int = 3
    ) -> list[Node]:
        """Why the first ``samples`` score highest in some ``labels``.

        Each account has its ``top`` parts.
        """
        thresholds = self.system.thresholds[self.kept_labels]
        page = []
        for sample in self[:samples]:
            above = sample.scores[0] - thresholds
            accounts: list[Node] = []
            for j in np.argsort(-above, kind="stable")[:labels]:
                narrowed = replace(sample, kept_labels=self.kept_labels[[j]])
                for account in narrowed._accounts(top):
                    accounts += account.nodes(top)
            page.append(Node(f"Sample {sample.samples[0]}", tuple(accounts)))
        return [*page, *left_out(len(self), samples, "more sample")]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON: every sample and label.

        Each has the ``top`` largest parts of each kind, or all.
        """
        samples = []
        for sample in self:
            accounts = [account.to_dict(top) for account in sample._accounts(top)]
            samples.append({"sample": int(sample.samples[0]), "labels": accounts})
        return {"format": "mltsk explanation", "version": 3, "samples": samples}

    def to_frame(self) -> Any:
        """One row for each `Part` of each ``sample`` and ``label``.

        Contributions add up to the score, except those of parts called "slope". In a
        polars frame names and numbers of rules are text.
        """
        rows = []
        for sample in self:
            for account in sample._accounts():
                own = {"sample": account.sample, "label": account.label}
                rows += [own | vars(part) for part in account.parts]
        if self.library == "polars":  # which finds types on all rows
            polars = optional("polars", "data")
            return polars.DataFrame(rows, infer_schema_length=None)
        return optional(self.library, "data").DataFrame(rows)

    def __repr__(self) -> str:
        return f"<Explanation: {len(self)} samples, {len(self.kept_labels)} labels>"
