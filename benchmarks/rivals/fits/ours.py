"""Ours. Size is a statement of its text, per label."""

from typing import Any

import numpy as np

from . import SHORT
from .fold import Fold


class Ours:
    """Takes tables and labels as they are, and groups where there are any."""

    def __init__(self, fold: Fold, *, max_statements: int | None) -> None:
        self.fold = fold
        self.max_statements = max_statements

    def fit(self) -> None:
        from mltsk import MLTSKClassifier

        X, _ = self.fold.own_form
        model: Any = MLTSKClassifier().fit(X, self.fold.Y, groups=self.fold.groups)
        if self.max_statements is not None:
            model = model.shorten(self.max_statements)
        self.model = model

    def chances(self) -> np.ndarray:
        _, X_test = self.fold.own_form
        return self.model.predict_proba(X_test)

    def size(self) -> float:
        return float(np.mean(self.model.n_statements_))


def whole(fold: Fold) -> Ours:
    return Ours(fold, max_statements=None)


def short(fold: Fold) -> Ours:
    return Ours(fold, max_statements=SHORT)
