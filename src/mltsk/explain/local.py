"""Why this label: the scores of samples taken apart, by rule and by feature.

Symbols: N samples, K rules, D features, L labels; M (N, K) firing strengths; z a scaled sample, z̄ the average one.

By rule, a score is Σ_k M_k · (b_k + a_k·z) (16): the share of each rule times what it says. By feature, it is

    Σ_k M_k (b_k + a_k·z̄)  +  Σ_d (Σ_k M_k a_kd) (z_d - z̄_d)

a *base*, what these rules in these shares give the average sample, and for each feature what its distance from the
average adds. For sparse rows z̄ is 0: absent features add nothing. Both sums are the score, up to rounding. Features
also decide how much each rule fires; that part of their influence is in M.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..core.arrays import Array, Matrix
from ..core.fuzzymap import FuzzyMap
from ..core.system import FuzzySystem
from .frames import explanation_frame
from .tables import Categories, Index, Tables, dense_rows, known, positions
from .why import FeaturePart, RulePart, Why, why_text
from .wording import times


def explain(system: FuzzySystem, X: Matrix, *, categories: Categories | None = None) -> "Explanation":
    """Take the scores of samples apart.

    Parameters
    ----------
    system : FuzzySystem
        ``clf.system_`` of a fitted classifier.
    X : array or CSR of shape (N, D)
        Samples in the caller's units.
    categories : mapping of feature name to a mapping of number to category name, optional
        What the numbers of nominal features stand for.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> why = explain(MLTSKClassifier(n_rules=3).fit(*data.frames()).system_, data.X[:2])
    >>> bool(abs(why.rule_contributions.sum(axis=1) - why.scores).max() < 1e-12)
    True
    >>> bool(abs(why.feature_contributions().sum(axis=1) - why.scores).max() < 1e-12)
    True
    """
    N, L = X.shape[0], system.shape[2]
    return Explanation(Tables.of(system, categories), X, system.map(X), np.arange(N), np.arange(L))


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The scores of some samples and labels taken apart; ``str()`` tells why.

    Made by `explain`. ``explanation[2]``, ``explanation[:5]`` and `for_label` narrow it down; `why` is the full account
    of one score. Arrays are computed when they are asked for.
    """

    tables: Tables
    X: Matrix
    map: FuzzyMap
    samples: Index
    kept_labels: Index

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.tables.system.label_names[j] for j in self.kept_labels)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int | slice) -> "Explanation":
        rows = np.atleast_1d(np.arange(len(self))[i])
        return replace(self, X=self.X[rows], map=self.map.take(rows), samples=self.samples[rows])

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[i] for i in range(len(self)))

    def for_label(self, *names: str) -> "Explanation":
        """The same samples for some labels only."""
        return replace(self, kept_labels=positions(self.label_names, names, self.kept_labels, "label"))

    @property
    def firing(self) -> Array:
        """Share of each rule in each sample, (N, K)."""
        return self.map.M

    @cached_property
    def scores(self) -> Array:
        """Score of each label, (N, L)."""
        return self.map @ self._coef.reshape(-1, len(self.kept_labels))

    @cached_property
    def rule_contributions(self) -> Array:
        """What each rule adds to each score, (N, K, L)."""
        said = [self.map.X @ coef[1:] + coef[0] for coef in self._coef]
        return self.firing[:, :, None] * np.stack(said, axis=1)

    def feature_contributions(self) -> Array:
        """What the base and each feature add to each score, (N, D+1, L), base first.

        Large for many samples and labels: narrow the explanation down first.
        """
        parts = np.tensordot(self.firing, self._coef, axes=1)
        middle = self.tables.reference
        parts[:, 0] += np.einsum("ndl,d->nl", parts[:, 1:], middle)
        parts[:, 1:] *= (dense_rows(self.map.X) - middle)[:, :, None]
        return parts

    @cached_property
    def _coef(self) -> Array:
        return np.ascontiguousarray(self.tables.system.coef[:, :, self.kept_labels])

    def why(self, label: str) -> Why:
        """The full account of one label's score, for the first sample of this explanation."""
        one = self[:1].for_label(label)
        return next(one._accounts())

    def _accounts(self) -> Iterator[Why]:
        """An account of each label for the first sample."""
        x, z = dense_rows(self.X[:1])[0], dense_rows(self.map.X[:1])
        places = self.tables.percentiles_of(x[None, :], z)[0]
        parts = self[:1].feature_contributions()[0]
        for j, label in enumerate(self.label_names):
            yield Why(
                sample=int(self.samples[0]),
                label=label,
                score=float(self.scores[0, j]),
                threshold=float(self.tables.system.thresholds[self.kept_labels[j]]),
                rules=self._rule_parts(self.rule_contributions[0, :, j]),
                base=float(parts[0, j]),
                features=self._feature_parts(x, places, parts[1:, j]),
            )

    def _rule_parts(self, amounts: Array) -> tuple[RulePart, ...]:
        fired = self.firing[0]
        return tuple(RulePart(int(k), float(fired[k]), float(amounts[k])) for k in _largest_first(amounts))

    def _feature_parts(self, x: Array, places: Array, amounts: Array) -> tuple[FeaturePart, ...]:
        names = self.tables.system.feature_names
        order = [int(d) for d in _largest_first(amounts) if amounts[d] != 0]
        return tuple(
            FeaturePart(names[d], float(x[d]), known(places[d]), self.tables.exactly(d, x[d]), float(amounts[d]))
            for d in order
        )

    def top_labels(self, count: int) -> tuple[str, ...]:
        """The labels that stand highest above their thresholds in the first sample."""
        above = self.scores[0] - self.tables.system.thresholds[self.kept_labels]
        return tuple(self.label_names[j] for j in np.argsort(-above, kind="stable")[:count])

    def to_text(self, top: int = 5, labels: int = 3, samples: int = 3) -> str:
        """Why the highest ``labels`` of the first ``samples`` have their scores: ``top`` entries of each ledger."""
        blocks = []
        for one in self[:samples]:
            accounts = (why_text(one.why(label), top) for label in one.top_labels(labels))
            blocks.append("\n\n".join([f"Sample {one.samples[0]}", *accounts]))
        if len(self) > samples:
            blocks.append(f"and {times(len(self) - samples, 'more sample')}")
        return "\n\n".join(blocks)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON: every sample and label, with the ``top`` largest features or all."""
        return {
            "format": "mltsk explanation",
            "version": 1,
            "samples": [
                {"sample": int(one.samples[0]), "labels": [why.to_dict(top) for why in one._accounts()]} for one in self
            ],
        }

    def to_frame(self) -> Any:
        """One pandas row for each amount: ``sample``, ``label``, ``part``, ``name``, ``value``, ``contribution``.

        ``part`` is "rule" (``name`` is its index, ``value`` its firing), "base", or "feature" (``value`` is the
        sample's). The rules of a score add up to it, and so do base and features.
        """
        return explanation_frame(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_text())}</pre>"

    def __repr__(self) -> str:
        return f"<Explanation: {len(self)} samples, {len(self.kept_labels)} labels>"


def _largest_first(amounts: Array) -> Index:
    return np.argsort(-np.abs(amounts), kind="stable")
