"""A model file and a file of edits become the model that the page showed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from ..classifier import MLTSKClassifier
from ..correctable import under_edits
from ..edits import read_edits
from ..exceptions import InputError
from .loading import load


def edited(
    model: str | Path | BaseEstimator, edits: str | Path | Mapping[str, Any]
) -> MLTSKClassifier:
    """The model with edits that somebody made in its page.

    The numbers are found again from the sums of the model, as the page did, so that
    both predict the same. Nothing else of the model changes: calibration and thresholds
    stay. ``edits_`` of the result is the log: what was edited, by whom, when and why;
    ``price_`` is what that costs. Both travel with the file of the model.

    Parameters
    ----------
    model : str, Path or MLTSKClassifier
        A file that was written with its sums (``keep_sums=True``), or a fitted model.
    edits : str, Path or dict
        A file that the page exported, or what it holds.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> from mltsk.edits import fingerprint
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    >>> edit = {
    ...     "feature": clf.system_.feature_names[0],
    ...     "labels": [clf.label_names_[0]],
    ...     "action": "rises",
    ...     "author": "A. Person",
    ...     "reason": "more of it never helps",
    ...     "time": "2026-01-31T12:00:00Z",
    ... }
    >>> file = {"format": "mltsk-edits", "version": 1, "edits": [edit]}
    >>> changed = edited(clf, {**file, "model": fingerprint(clf.system_)})
    >>> changed.edits_[0]["reason"]
    'more of it never helps'
    """
    read = read_edits(edits)
    classifier = model if isinstance(model, BaseEstimator) else load(model)
    if type(classifier) is not MLTSKClassifier:
        what = "It" if isinstance(model, BaseEstimator) else str(model)
        raise InputError(
            f"{what} is a {type(classifier).__name__}, which cannot be edited: "
            "`mltsk fit` writes models that can."
        )
    return under_edits(classifier, read)
