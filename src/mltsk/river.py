"""RiverMLTSK: `IncrementalMLTSK` by river's conventions, a dict of features and a dict of labels at a time."""

from collections import Counter, deque
from math import nan
from typing import Any

import pandas as pd
from sklearn.base import clone

from .exceptions import optional
from .incremental import IncrementalMLTSK

base: Any = optional("river.base", "data")


class RiverMLTSK(base.MultiLabelClassifier):
    """A multi-label classifier for river's streams: fuzzy rules that people can read, learned from dicts.

    Values may be numbers, booleans and text; a feature that ``x`` does not have was not measured, a label that ``y``
    does not have is False. Until the first model is fitted, the probability of a label is its share so far.

    Parameters
    ----------
    model : IncrementalMLTSK, optional
        What to learn with; its ``forgetting`` is per batch.
    grace_period : int, default=300
        How many samples to collect for the first fit, which finds scale, terms and rules on them.
    batch_size : int, default=100
        How many samples to collect for each update; with 1 the model learns, and solves for all numbers, every time.
    memory : int, default=1000
        How many of the last samples to keep. When features or labels appear that the model does not know, it is
        fitted again to these.

    Attributes
    ----------
    model_ : IncrementalMLTSK or None
        The model, after the first fit: ``print(model.model_.rules_)``.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> model, metric = RiverMLTSK(), metrics.multioutput.MicroAverage(metrics.F1())
    >>> for x, y in datasets.Yeast().take(400):
    ...     if given := model.predict_one(x):
    ...         metric.update(y, given)
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
        self.model, self.grace_period, self.batch_size, self.memory = (
            model,
            grace_period,
            batch_size,
            memory,
        )
        self.model_: IncrementalMLTSK | None = None
        self._features: list[Any] = []
        self._labels: list[Any] = []
        self._rows: deque[tuple[dict[Any, Any], dict[Any, Any]]] = deque(maxlen=memory)
        self._waiting = self._seen = 0
        self._positive: Counter[Any] = Counter()

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool]) -> None:
        """Take in a sample; the model learns from it when its batch is full."""
        self._rows.append((dict(x), dict(y)))
        self._positive.update({label: bool(given) for label, given in y.items()})
        self._seen, self._waiting = self._seen + 1, self._waiting + 1
        if self._waiting >= (
            self.grace_period if self.model_ is None else self.batch_size
        ):
            self._learn(list(self._rows)[-self._waiting :])

    def _learn(self, new: list[Any]) -> None:
        rows, model, features, labels = new, self.model_, self._features, self._labels
        if not _names(new, 0) <= set(features) or not _names(new, 1) <= set(labels):
            rows, model = list(self._rows), clone(self.model or IncrementalMLTSK())
            features, labels = (
                sorted(_names(rows, part), key=str) for part in (0, 1)
            )  # the same in every order
        if model is None or not features or not labels:
            return  # nothing was named so far
        try:
            model.partial_fit(
                _frame([x for x, _ in rows], features, nan),
                _frame([y for _, y in rows], labels, False),
            )
        except Exception:
            for _ in new:  # those before them were fine
                self._rows.pop()
            raise
        finally:
            self._waiting = 0
        self.model_, self._features, self._labels = model, features, labels

    def predict_proba_one(
        self, x: dict[Any, Any], **kwargs: Any
    ) -> dict[Any, dict[bool, float]]:
        """The calibrated probability of each label that was named so far."""
        chances = {label: count / self._seen for label, count in self._positive.items()}
        return {
            label: {False: 1 - p, True: p}
            for label, p in (chances | self._told("predict_proba", x)).items()
        }

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, bool]:
        """Whether each label that was named so far is given, by the thresholds of the model."""
        often = {
            label: count > self._seen / 2 for label, count in self._positive.items()
        }
        return often | {
            label: bool(given) for label, given in self._told("predict", x).items()
        }

    def _told(self, method: str, x: dict[Any, Any]) -> dict[Any, Any]:
        if self.model_ is None:
            return {}
        values = getattr(self.model_, method)(_frame([x], self._features, nan))[0]
        return dict(zip(self._labels, values.tolist(), strict=True))


def _names(rows: list[Any], part: int) -> set[Any]:
    return set().union(*(row[part] for row in rows))


def _frame(rows: list[dict[Any, Any]], names: list[Any], absent: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {str(name): [row.get(name, absent) for row in rows] for name in names}
    )
