"""Several labels by methods of one label, or at once."""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import TooSlow

# A model per label is given up when a sixth of the limit is used and the labels so far
# say that all would take twice the limit.
ENOUGH_TO_TELL = 1 / 6
SURELY_OVER = 2.0


class PerLabel:
    """One model per label, on the rows where it was observed.

    ``make`` gives an unfitted model, or, of a model that chooses something on inner
    folds, a model for the groups of these rows. A label of one value is predicted as
    it is.
    """

    def __init__(
        self,
        X: Any,
        X_test: Any,
        Y: np.ndarray,
        make: Callable[[np.ndarray], Any],
        size_of: Callable[[Any], float],
    ) -> None:
        self.X = X
        self.X_test = X_test
        self.Y = Y
        self.make = make
        self.size_of = size_of
        self.models: list[Any] = []

    def fit(self) -> None:
        for place, y in enumerate(self.Y.T):
            give_up_in_time(place / self.Y.shape[1])
            observed = np.flatnonzero(np.isfinite(y))
            known = y[observed].astype(int)
            if known.min() == known.max():
                self.models.append(float(known[0]))
                continue
            model = self.make(observed)
            model.fit(rows_of(self.X, observed), known)
            self.models.append(model)

    def chances(self) -> np.ndarray:
        columns = []
        for model in self.models:
            if isinstance(model, float):
                columns.append(np.full(len_of(self.X_test), model))
            else:
                columns.append(of_yes(model.predict_proba(self.X_test)))
        return np.column_stack(columns)

    def size(self) -> float:
        """Mean over labels."""
        sizes = [
            0.0 if isinstance(model, float) else float(self.size_of(model))
            for model in self.models
        ]
        return float(np.mean(sizes))


class AllAtOnce:
    """One model of all labels, which all have to be observed."""

    def __init__(
        self,
        X: Any,
        X_test: Any,
        Y: np.ndarray,
        model: Any,
        size_of: Callable[[Any], float],
    ) -> None:
        self.X = X
        self.X_test = X_test
        self.Y = Y.astype(int)
        self.model = model
        self.size_of = size_of

    def fit(self) -> None:
        self.model.fit(self.X, self.Y)

    def chances(self) -> np.ndarray:
        values = self.model.predict_proba(self.X_test)
        if not isinstance(values, list):
            return np.asarray(values, dtype=float)
        columns = []
        for place, both in enumerate(values):
            if both.shape[1] == 1:  # the one value that the label has
                columns.append(np.full(len(both), float(self.Y[0, place])))
            else:
                columns.append(both[:, 1])
        return np.column_stack(columns)

    def size(self) -> float:
        return float(self.size_of(self.model))


def give_up_in_time(share: float) -> None:
    """Raise an error where this share of the labels took far too long."""
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = time.process_time()
    if limit == resource.RLIM_INFINITY or used < ENOUGH_TO_TELL * limit:
        return
    if used > share * SURELY_OVER * limit:
        raise TooSlow


def of_yes(chances: Any) -> np.ndarray:
    """The second column of the probabilities of no and yes."""
    return np.asarray(chances, dtype=float)[:, 1]


def rows_of(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def len_of(X: Any) -> int:
    return X.shape[0]
