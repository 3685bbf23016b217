"""RiverMLTSK: `IncrementalMLTSK` by the conventions of the package river.

It learns from a dict of features and a dict of labels at a time.
"""

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from math import nan
from typing import Any, TypeAlias

import pandas as pd
from sklearn.base import clone

from .exceptions import InputError, optional
from .incremental import IncrementalMLTSK

base: Any = optional("river.base", "data")

FeatureDict: TypeAlias = dict[Hashable, object]
LabelDict: TypeAlias = dict[Hashable, bool]


class RiverMLTSK(base.MultiLabelClassifier):
    """A multi-label classifier for river's streams, with rules that people can read.

    Values may be numbers, booleans and text; a feature that ``x`` does not have was not
    measured. A label that ``y`` does not have is False: name all labels of a sample, or
    those that it has. (River's own chains leave out a label that is absent from ``y``;
    here the labels of a sample are learned together.) None for a label is refused.
    Until the first model is fitted, the probability of a label is its share so far.

    Parameters
    ----------
    model : IncrementalMLTSK, optional
        What to learn with; its ``forgetting`` is per batch.
    grace_period : int, default=300
        How many samples to collect for the first fit, which finds scale, terms and
        rules on them.
    batch_size : int, default=100
        How many samples to collect for each update; with 1 the model learns, and solves
        for all numbers, every time.
    memory : int, default=1000
        How many of the last samples to keep. When features or labels appear that the
        model does not know, it is fitted again to these.

    Attributes
    ----------
    model_ : IncrementalMLTSK or None
        The model, after the first fit: ``print(model.model_.rules_)``.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> model, metric = RiverMLTSK(), metrics.multioutput.MicroAverage(metrics.F1())
    >>> for x, y in datasets.Yeast().take(400):
    ...     predicted = model.predict_one(x)
    ...     if predicted:
    ...         metric.update(y, predicted)
    ...     model.learn_one(x, y)
    >>> model.model_.n_seen_
    400
    """

    def __init__(
        self,
        model: IncrementalMLTSK | None = None,
        grace_period: int = 300,
        batch_size: int = 100,
        memory: int = 1000,
    ) -> None:
        self.model = model
        self.grace_period = grace_period
        self.batch_size = batch_size
        self.memory = memory
        self.model_: IncrementalMLTSK | None = None
        self._features: list[Hashable] = []
        self._labels: list[Hashable] = []
        self._samples: deque[tuple[FeatureDict, LabelDict]] = deque(maxlen=memory)
        self._n_waiting = 0
        self._n_seen = 0
        self._n_positive: Counter[Hashable] = Counter()
        # both without the samples that wait
        self._n_learned = 0
        self._n_learned_positive: Counter[Hashable] = Counter()

    def learn_one(self, x: FeatureDict, y: LabelDict) -> None:
        """Take in a sample; the model learns from it when its batch is full."""
        self._samples.append((dict(x), dict(y)))
        self._n_positive.update({label: bool(has) for label, has in y.items()})
        self._n_seen += 1
        self._n_waiting += 1
        full = self.grace_period if self.model_ is None else self.batch_size
        if self._n_waiting >= full:
            self._learn()

    def _learn(self) -> None:
        """Learn from the waiting samples, or from all kept ones after new names."""
        xs, ys = self._last_samples(self._n_waiting)
        n_new = len(xs)
        model = self.model_
        features = self._features
        labels = self._labels
        if _names(xs) - set(features) or _names(ys) - set(labels):
            xs, ys = self._last_samples(len(self._samples))
            model = clone(self.model or IncrementalMLTSK())
            # Sorted, so that the order in which names appeared does not matter.
            features = sorted(_names(xs), key=str)
            labels = sorted(_names(ys), key=str)
        if model is None or not features or not labels:
            return  # nothing was named so far
        try:
            X = _frame(xs, features, absent=nan)
            Y = _frame(ys, labels, absent=False)
            model.partial_fit(X, Y)
        except Exception:
            self._forget(n_new)  # those before them were fine
            raise
        self.model_ = model
        self._features = features
        self._labels = labels
        self._n_waiting = 0
        self._n_learned = self._n_seen
        self._n_learned_positive = self._n_positive.copy()

    def _forget(self, n: int) -> None:
        """Forget the last n samples, which wait and cannot be learned from."""
        for _ in range(n):
            self._samples.pop()
        self._n_waiting = 0
        self._n_seen = self._n_learned
        self._n_positive = self._n_learned_positive.copy()

    def _last_samples(self, n: int) -> tuple[list[FeatureDict], list[LabelDict]]:
        """Features and labels of the last n samples."""
        samples = list(self._samples)[-n:]
        return [x for x, _ in samples], [y for _, y in samples]

    def predict_proba_one(
        self, x: FeatureDict, **kwargs: object
    ) -> dict[Hashable, dict[bool, float]]:
        """The calibrated probability of each label that was named so far."""
        chances: dict[Hashable, float] = {}
        for label, count in self._n_positive.items():
            chances[label] = count / self._n_seen
        chances |= self._ask("predict_proba", x)
        return {label: {False: 1 - p, True: p} for label, p in chances.items()}

    def predict_one(self, x: FeatureDict, **kwargs: object) -> LabelDict:
        """Whether each label that was named so far is predicted.

        The thresholds of the model decide.
        """
        predicted: LabelDict = {}
        for label, count in self._n_positive.items():
            predicted[label] = count > self._n_seen / 2
        for label, value in self._ask("predict", x).items():
            predicted[label] = bool(value)
        return predicted

    def _ask(self, method: str, x: FeatureDict) -> dict[Hashable, float]:
        """What a method of the model says of each label that the model knows."""
        if self.model_ is None:
            return {}
        X = _frame([x], self._features, absent=nan)
        values = getattr(self.model_, method)(X)[0]
        return dict(zip(self._labels, values.tolist(), strict=True))


def _names(dicts: Sequence[dict[Hashable, Any]]) -> set[Hashable]:
    """All keys of these dicts."""
    return set().union(*dicts)


def _frame(
    dicts: Sequence[dict[Hashable, Any]], names: Sequence[Hashable], *, absent: float
) -> pd.DataFrame:
    """A table with a row per dict and a column per name."""
    columns: dict[str, list[object]] = {}
    for name in names:
        if str(name) in columns:
            raise InputError(
                f"Two names read {str(name)!r}, such as 1 and '1': columns are told "
                "apart by their text, so rename one."
            )
        columns[str(name)] = [row.get(name, absent) for row in dicts]
    return pd.DataFrame(columns)
