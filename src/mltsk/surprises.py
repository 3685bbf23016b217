"""Rows worth a second look: labels that surprise, and rows that pull hard.

Every row is judged by a model without that row, or without its group. A label that
such a model finds very unlikely may be a slip of the pen, or a person to learn from.
Among many labels some are unlikely by chance alone: each comes with how likely it is
that the most surprising label of such a table would be as unlikely.

Symbols: n rows, L labels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .core.arrays import FloatArray, asnumpy, is_tensor, underflow_is_zero
from .exceptions import InputError
from .explain import explain
from .explain.why import ROUNDED_TO_NOTHING, Part
from .explain.wording import name
from .probabilities import probabilities_of
from .record import FitRecord

MAX_REASONS = 3
CLEAR_CHANCE = 0.05  # a label less likely than that to be chance is worth asking about
REASON_KINDS = ("given", "feature", "pair", "exception")


@dataclass(frozen=True)
class SecondLook:
    """What is worth a second look.

    Attributes
    ----------
    unlikely : DataFrame
        Labels that a model without the row finds unlikely, the least likely first:
        ``row`` (its position in the data), ``label``, ``recorded`` (0 or 1),
        ``probability`` of the label, ``by_chance`` (how many labels of all that were
        looked at would be as unlikely if all of them were right), ``chance`` (how
        likely it is that there is at least one), and ``reasons``.
    pulling : DataFrame
        Rows that move their own answer most: ``row``, ``label``, ``recorded``,
        ``with_it`` and ``without_it`` (its probability by the model, and by one
        without the row or its group), and ``pull``, the difference in log-odds.
    n_cells : int
        How many labels were looked at.
    """

    unlikely: pd.DataFrame
    pulling: pd.DataFrame
    n_cells: int

    @property
    def clear(self) -> pd.DataFrame:
        """The unlikely labels that chance alone would hardly bring, if any."""
        return self.unlikely[self.unlikely["chance"] < CLEAR_CHANCE]


@underflow_is_zero()
def second_look(model: Any, at_most: int = 20) -> SecondLook:
    """Find labels that look wrong, and rows that pull the model most.

    Parameters
    ----------
    model : MLTSKClassifier
        Fitted in this process: files hold no rows.
    at_most : int, default=20
        How many of each to return.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table, second_look
    >>> table = read_table("pbc")
    >>> look = second_look(MLTSKClassifier().fit(table.X, table.Y), at_most=3)
    >>> list(look.unlikely.columns)[:4]
    ['row', 'label', 'recorded', 'probability']
    >>> len(look.pulling)
    3
    """
    check_is_fitted(model)
    record = model.fit_record_
    if record is None:
        raise InputError(
            "A model from a file holds no rows to look at: fit it again on its table."
        )
    cells = _Cells.of(model, record)
    unlikely = cells.unlikely(at_most)
    long = record
    if record.scores is not record.training.loo_scores:  # those of a short model
        long = FitRecord.of_training(record.training, record.index, record.long)
    unlikely["reasons"] = _reasons(record, long, cells, unlikely)
    pulling = _pulling(long, at_most, model.label_names_)
    return SecondLook(unlikely, pulling, n_cells=len(cells.rows))


@dataclass(frozen=True)
class _Cells:
    """All labels that were observed, one after another.

    ``places`` are rows of the record, ``rows`` their positions in the data.
    """

    names: tuple[str, ...]
    places: NDArray[np.intp]
    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    recorded: FloatArray
    probability: FloatArray

    @classmethod
    def of(cls, model: Any, record: FitRecord) -> "_Cells":
        """The observed labels of the rows that have honest scores."""
        Y = record.labels
        places, labels = np.nonzero(~np.isnan(Y))
        positions = np.arange(len(Y))
        if record.loo_rows is not None:
            positions = record.loo_rows
        return cls(
            names=model.label_names_,
            places=places,
            rows=positions[places],
            labels=labels,
            recorded=Y[places, labels],
            probability=probabilities_of(record.loo_scores)[places, labels],
        )

    def unlikely(self, at_most: int) -> pd.DataFrame:
        """The labels whose recorded value is least likely."""
        of_recorded = np.where(
            self.recorded == 1, self.probability, 1 - self.probability
        )
        first = np.argsort(of_recorded, kind="stable")[:at_most]
        by_chance = chance_counts(self.probability, of_recorded[first])
        return pd.DataFrame(
            {
                "row": self.rows[first],
                "label": [self.names[j] for j in self.labels[first]],
                "recorded": self.recorded[first].astype(int),
                "probability": self.probability[first],
                "by_chance": by_chance,
                "chance": 1 - np.exp(-by_chance),
            }
        )


def chance_counts(probability: FloatArray, levels: FloatArray) -> FloatArray:
    """How many of all labels would be as unlikely as each level, if all were right.

    A label of probability p is found to be absent with the probability 1 - p, and is
    as unlikely as a level q then if 1 - p <= q; the same goes for those present.

    Parameters
    ----------
    probability : array of shape (cells,)
        Of the labels that were looked at.
    levels : array of shape (k,)

    Examples
    --------
    >>> chance_counts(np.array([0.1, 0.5, 0.98]), np.array([0.02, 0.1])).round(2)
    array([0.02, 0.12])
    """
    either = np.sort(np.concatenate([probability, 1 - probability]))
    sums = np.concatenate([[0.0], np.cumsum(either)])
    return sums[np.searchsorted(either, levels * (1 + 1e-12), side="right")]


def _reasons(
    record: FitRecord, long: FitRecord, cells: _Cells, unlikely: pd.DataFrame
) -> list[str]:
    """What makes each of these rows look otherwise to the long model, in words.

    The places of cells are those of ``record``. What a short model adds is 0 at one end
    of a feature, so that nothing speaks against a rare label there; in the long one it
    is 0 on average.
    """
    system = long.system()
    _, first = np.unique(cells.rows, return_index=True)
    place_of = dict(zip(cells.rows[first], cells.places[first], strict=True))
    training = record.training.take(record.judged)
    reasons = []
    for row, label, recorded in zip(
        unlikely["row"], unlikely["label"], unlikely["recorded"], strict=True
    ):
        place = place_of[row]
        why = explain(system, training.X[place : place + 1]).why(label)
        sign = -1 if recorded else 1
        parts = [part for part in why.parts if part.part in REASON_KINDS]
        reasons.append("; ".join(_strongest(parts, sign)))
    return reasons


def _strongest(parts: list[Part], sign: int) -> list[str]:
    """The words of the parts that add most in one direction."""
    towards = [part for part in parts if sign * part.contribution > ROUNDED_TO_NOTHING]
    towards.sort(key=lambda part: -abs(part.contribution))
    words = [f"{name(part.words)} ({part.contribution:+.2f})" for part in towards]
    return words[:MAX_REASONS]


def _pulling(long: FitRecord, at_most: int, names: tuple[str, ...]) -> pd.DataFrame:
    """The rows that move their own answer most, in the long model.

    A score with the row less the score without it is leverage times the residual
    without it, which the closed form gives for all rows at once; both start from the
    base rates of all rows.
    """
    X = long.training.X
    without = long.loo_scores
    scores = long.long.scores(asnumpy(X) if is_tensor(X) else X)
    with_it = long.curves.log_odds(np.asarray(scores))
    places, labels = np.nonzero(~np.isnan(long.labels))
    pull = with_it - without
    largest = np.argsort(-np.abs(pull[places, labels]), kind="stable")[:at_most]
    places = places[largest]
    labels = labels[largest]
    positions = np.arange(len(pull)) if long.loo_rows is None else long.loo_rows
    return pd.DataFrame(
        {
            "row": positions[places],
            "label": [names[j] for j in labels],
            "recorded": long.labels[places, labels].astype(int),
            "with_it": probabilities_of(with_it)[places, labels],
            "without_it": probabilities_of(without)[places, labels],
            "pull": pull[places, labels],
        }
    )
