"""One person: what a model says, how sure that is, why, and what to measure next."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .core.arrays import FloatArray, underflow_is_zero
from .exceptions import InputError
from .explain import Why
from .explain.subjects import Subject, Subjects, doubles
from .frames import MISSING
from .halves import half_answers, posterior_errors
from .probabilities import probabilities_of
from .record import FitRecord
from .system import FuzzySystem

# Of the interval: in simulations with known probabilities it held them in 93 to 98 %
# of cases (`python -m benchmarks sheets`).
STANDARD_ERRORS = 2.15
MIDDLE_REFITS = (0.1, 0.9)  # what most refits say lies between these shares of them
MIDDLE_PEOPLE = (0.1, 0.9)  # and so do the values of most people
MAX_MEASUREMENTS = 3


class Measurement(NamedTuple):
    """What a measurement that is missing could say.

    For eight of ten people the probability would lie between ``low`` and ``high``;
    ``spread`` is its standard deviation.
    """

    name: str
    low: float
    high: float
    spread: float


class Neighbour(NamedTuple):
    """A row of the table that is like the person: its position and distance."""

    row: int
    distance: float


@dataclass(frozen=True)
class PersonLabel:
    """What is known about one label of a person.

    Attributes
    ----------
    label : str
    probability : float
    low, high : float
        Ends of the 95 % interval of the probability; NaN without rows of the fit.
    threshold : float
        The probability from which on the label is given.
    refits : array of shape (H,)
        Probabilities by models of random halves of the table.
    why : Why
        The log-odds taken apart.
    measurements : list of Measurement
        What is missing, those that would say most first.
    """

    label: str
    probability: float
    low: float
    high: float
    threshold: float
    refits: FloatArray
    why: Why
    measurements: list[Measurement]

    @property
    def is_given(self) -> bool:
        """Whether the probability reaches the threshold."""
        return self.why.given

    @property
    def agreeing(self) -> int:
        """How many refits come to the same answer."""
        return int(((self.refits >= self.threshold) == self.is_given).sum())

    @property
    def refit_range(self) -> tuple[float, float]:
        """Between what eight of ten refits lie; NaN where there are none."""
        if not len(self.refits):
            return (np.nan, np.nan)
        low, high = np.quantile(self.refits, MIDDLE_REFITS).tolist()
        return low, high


@dataclass(frozen=True)
class Person:
    """What a model says about one person, per label, and which rows are alike."""

    labels: list[PersonLabel]
    neighbours: list[Neighbour]
    n_rows: int


@underflow_is_zero()
def person(model: Any, X: Any, neighbours: int = 0) -> Person:
    """What a model says about one person, and how sure it is.

    The interval says where the probability of people like this one is, as far as the
    rows of the fit can tell: of 100 such intervals about 95 hold it. It does not say
    whether the person has the label, nor does it know of people from elsewhere.

    Parameters
    ----------
    model : MLTSKClassifier
        Fitted without this person, and in this process: without rows of the fit there
        are no interval, no refits and no neighbours.
    X : data frame or array of shape (1, n_features)
    neighbours : int, default=0
        How many rows of the fit that are most like the person to name.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> from mltsk.person import person
    >>> table = read_table("pbc")
    >>> clf = MLTSKClassifier().fit(table.X[1:], table.Y[1:])
    >>> ascites = person(clf, table.X[:1]).labels[0]
    >>> ascites.low < ascites.probability < ascites.high
    True
    """
    check_is_fitted(model)
    if not model.multilabel_ and len(model.classes_) > 2:
        raise InputError(
            "A person's sheet is about labels, and this model tells one class of "
            "several: fit it on a column of 0 and 1 per class."
        )
    why = model.explain(X)
    if len(why) != 1:
        raise InputError(f"A sheet is about one person, got {len(why)} rows.")
    system = model.system_
    row = doubles(why.X)
    record = model.fit_record_
    log_odds = doubles(why.scores)
    errors = np.full(log_odds.shape, np.nan)
    answers = np.zeros((0, *log_odds.shape))
    if record is not None and _is_closed(record):
        answers, errors = certainty_of_people(record, row, log_odds)
    gaps = _Gaps(system, row)
    labels = []
    chances = probabilities_of(log_odds)
    low, high = interval(log_odds, errors)
    for j, label in enumerate(system.label_names):
        labels.append(
            PersonLabel(
                label=label,
                probability=float(chances[0, j]),
                low=float(low[0, j]),
                high=float(high[0, j]),
                threshold=float(model.thresholds_[j]),
                refits=probabilities_of(answers[:, 0, j]),
                why=why.why(label),
                measurements=gaps.measurements(j),
            )
        )
    if record is None or not _is_closed(record):
        return Person(labels, neighbours=[], n_rows=0)
    nearest = _nearest(record, row, neighbours)
    return Person(labels, nearest, n_rows=len(record.training))


def _is_closed(record: FitRecord) -> bool:
    """Whether answers of other tables are known in closed form, of dense rows.

    Of coupled labels they are not.
    """
    return record.training.penalty.basis is None and record.long.scaling is not None


def certainty_of_people(
    record: FitRecord, rows: FloatArray, log_odds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log-odds (H, P, L) of refits, and standard errors (P, L), of people (P, D).

    Log-odds (P, L) are those of the model that is asked.

    A short model is as sure as the long one that it imitates, less what both differ.
    """
    long = FitRecord.of_training(record.training, record.index, record.long)
    of_long = long.curves.log_odds(doubles(record.long.scores(rows)))
    gap = log_odds - of_long
    answers = half_answers(record, rows)
    posterior = posterior_errors(record, rows)
    of_halves = np.zeros_like(posterior)
    if len(answers):
        of_halves = answers.std(axis=0)
        answers = answers + (log_odds - answers.mean(axis=0))
    return answers, np.sqrt(np.maximum(posterior, of_halves) ** 2 + gap**2)


def interval(log_odds: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the 95 % intervals of probabilities, from log-odds and their errors."""
    reach = STANDARD_ERRORS * errors
    return probabilities_of(log_odds - reach), probabilities_of(log_odds + reach)


# what to measure ----------------------------------------------------------------------


class _Gaps:
    """What the features that were not measured could say about a person."""

    def __init__(self, system: FuzzySystem, row: FloatArray) -> None:
        self.system = system
        self.row = row
        self.subjects = Subjects(system)
        self.answers: dict[str, tuple[FloatArray, FloatArray]] = {}
        if system.quantiles is None or system.columns is None:
            return
        for subject in self.subjects:
            if subject.kind != MISSING and self._is_missing(subject):
                rows, shares = self._filled(subject)
                chances = system.probabilities(doubles(system.scores(rows)))
                self.answers[subject.name] = (chances, shares)

    def _is_missing(self, subject: Subject) -> bool:
        own = self.row[0, subject.columns]
        return len(own) > 0 and bool(np.isnan(own).any())

    def _filled(self, subject: Subject) -> tuple[FloatArray, FloatArray]:
        """The row with each value that others have, and how frequent values are."""
        start = subject.columns.start
        quantiles = doubles(self.system.quantiles)
        values = quantiles[start][:, None]
        shares = np.full(len(values), 1 / len(values))
        if subject.kind == "nominal":
            width = subject.columns.stop - start
            means = quantiles[subject.columns].mean(axis=1)
            values = np.vstack([np.zeros(width), np.eye(width)])[-len(subject.values) :]
            rest = np.clip(1 - means.sum(), 0.0, 1.0)
            shares = np.concatenate([[rest], means])[-len(subject.values) :]
            shares = shares / max(shares.sum(), 1e-300)
        rows = np.repeat(self.row, len(values), axis=0)
        rows[:, subject.columns] = values
        gap = self.subjects.gaps.get(subject.feature)
        if gap is not None:
            rows[:, self.subjects[gap].columns] = 0.0
        return rows, shares

    def measurements(self, j: int) -> list[Measurement]:
        """What is missing, those that would say most about label j first."""
        measurements = []
        for name, (chances, shares) in self.answers.items():
            own = chances[:, j]
            mean = own @ shares
            spread = float(np.sqrt(((own - mean) ** 2) @ shares))
            if spread > 0:
                low, high = _middle(own, shares)
                measurements.append(Measurement(name, low, high, spread))
        measurements.sort(key=lambda measurement: -measurement.spread)
        return measurements[:MAX_MEASUREMENTS]


def _middle(values: FloatArray, shares: FloatArray) -> tuple[float, float]:
    """Between what eight of ten values lie."""
    order = np.argsort(values)
    reached = np.cumsum(shares[order])
    ends = np.searchsorted(reached, np.array(MIDDLE_PEOPLE) - 1e-9)
    low, high = values[order][np.minimum(ends, len(values) - 1)].tolist()
    return low, high


# rows that are alike ------------------------------------------------------------------


def _nearest(record: FitRecord, row: FloatArray, count: int) -> list[Neighbour]:
    """The rows of the fit that are most like a row, on the scale of the model.

    Distances are over what was measured in both.
    """
    if count < 1:
        return []
    rows = record.training.take(slice(None))
    scale = rows.design.scale
    Z = doubles(scale.apply(np.asarray(rows.X)))
    z = doubles(scale.apply(row))
    squares = (Z - z) ** 2
    share: FloatArray = np.ones(Z.shape[1])
    if record.long.columns is not None:
        share = record.long.columns.shares
    both = ~np.isnan(squares)
    weights = np.maximum(both @ share, 1e-300)
    distances = np.sqrt(np.where(both, squares, 0.0) @ share / weights)
    nearest = np.argsort(distances, kind="stable")[:count]
    positions: NDArray[np.intp] = np.arange(len(rows))
    if not isinstance(record.index, slice):
        positions = np.asarray(record.index)
    return [Neighbour(int(positions[i]), float(distances[i])) for i in nearest]
