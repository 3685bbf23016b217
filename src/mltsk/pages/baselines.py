"""A model next to other methods: all are fitted and judged on the same folds.

The methods are the model, the same in a few statements, logistic regression and a
forest. Every row is scored by models that have not seen it, nor another row of its
group; folds are drawn several times. Of large tables some rows and labels are compared,
evenly spread. Cells are prepared as is usual for these methods: the median and a mark
in place of a missing number, a column per category.

Symbols: n rows, L labels, M methods, R draws of folds, B resamples of the rows.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from ..classifier import MLTSKClassifier
from ..core.arrays import CSR, FloatArray, mean_of_known, spread_rows
from ..core.magnitude import in_ordinary_size, unit_factors
from ..core.worth import MIN_CLEAR_CASES
from ..fit.left_out import Groups, take_groups
from ..frames import MISSING
from ..metrics.curves import ranking, resamples
from ..metrics.scorers import label_scores
from ..model_selection import IterativeStratification
from ..pipelines import with_system

COMPARISON_FOLDS = 5
MAX_COMPARED_ROWS = 3000
MAX_COMPARED_LABELS = 30
# How often folds are drawn: on pbc (418 rows) one draw moves the mean AP by .02, and
# that of a rare label by a tenth. 1,945 visits are no more than 312 patients.
N_DRAWS = 5
N_DRAWS_OF_MANY_ROWS = 2
MANY_ROWS = 2000
READABLE_SIZES = (5, 8, 12, 20)  # statements per label of the model in words
REVIEW_STATEMENTS = 12  # per label of the model in words, if no other size is better
# A short model that is worse by less is called better: it can be read.
SLIGHTLY_WORSE_AP = 0.005

OURS = "the whole model"
LINEAR = "logistic regression"
FOREST = "forest"

Samples: TypeAlias = DataFrame | CSR
RowNumbers: TypeAlias = NDArray[np.intp]


class Lead(NamedTuple):
    """Where a method is clearly better than ours.

    On average, in how many ``draws`` of folds it is ahead on average, and for which
    labels.
    """

    on_average: bool
    draws: int
    labels: RowNumbers


class BaselineComparison(NamedTuple):
    """AP and AUC of several methods on the same rows and folds.

    Attributes
    ----------
    rows : int
        How many rows were compared.
    labels : array of shape (L,)
        Which labels were compared.
    cases : array of shape (L,)
        How many of these rows have each label.
    AP, AUC : {method: array of shape (L,)}
        Means over draws of folds. Our long model comes first, then our short one.
    drawn_AP : {method: array of shape (R, L)}
        AP of each draw.
    resampled_AP : {method: array of shape (B, L)}
        AP for each resample of the rows, means over draws.
    """

    rows: int
    labels: RowNumbers
    cases: RowNumbers
    AP: dict[str, FloatArray]
    AUC: dict[str, FloatArray]
    drawn_AP: dict[str, FloatArray]
    resampled_AP: dict[str, FloatArray]

    @property
    def n_draws(self) -> int:
        """How often folds were drawn."""
        return len(self.drawn_AP[OURS])

    @property
    def ours(self) -> list[str]:
        """Our long model and our short one."""
        return list(self.AP)[:2]

    @property
    def best(self) -> str:
        """The better of our models; the short one if it is hardly worse."""
        long, short = self.ours
        means = self.mean_AP()
        if not means or means[long] - means[short] > SLIGHTLY_WORSE_AP:
            return long
        return short

    def mean_AP(self) -> dict[str, float]:
        """Mean AP over labels by method; empty if no label could be judged."""
        if np.isnan(self.AP[OURS]).all():
            return {}
        return {method: float(np.nanmean(each)) for method, each in self.AP.items()}

    def leads(self) -> dict[str, Lead]:
        """Other methods whose AP is higher than our best beyond what chance does.

        The interval of the difference over resamples lies above 0: that of 95 % for the
        mean over labels, some of which have enough cases, of 99 % for one such label.
        """
        leads = {}
        for method in (LINEAR, FOREST):
            ahead = self.resampled_AP[method] - self.resampled_AP[self.best]
            is_known = np.isfinite(ahead).any(axis=0)
            if not is_known.any():
                continue
            mean = np.nanpercentile(mean_of_known(ahead, axis=1), 2.5)
            each = np.nanpercentile(ahead[:, is_known], 0.5, axis=0)
            has_cases = self.cases[is_known] >= MIN_CLEAR_CASES
            labels = self.labels[is_known][(each > 0) & has_cases]
            on_average = bool(mean > 0 and has_cases.any())
            if on_average or len(labels):
                by_draw = self.drawn_AP[method] - self.drawn_AP[self.best]
                n_ahead = int((np.nanmean(by_draw, axis=1) > 0).sum())
                leads[method] = Lead(on_average, draws=n_ahead, labels=labels)
        return leads


def readable_size(size_path: DataFrame) -> int:
    """How many statements per label the model in words has.

    It is the fewest with which AP by folds is hardly worse than with others.
    """
    readable = size_path[size_path["statements"].isin(READABLE_SIZES)]
    AP = readable["macro_AP"]
    good = readable[AP >= AP.max() - SLIGHTLY_WORSE_AP]
    return int(good["statements"].min()) if len(good) else REVIEW_STATEMENTS


def compare(
    model: MLTSKClassifier,
    X: Samples,
    Y: FloatArray,
    *,
    groups: Groups = None,
    statements: int = REVIEW_STATEMENTS,
    seed: int = 0,
    done: Callable[[], object] = lambda: None,
) -> BaselineComparison:
    """Compare a classifier with other methods.

    Parameters
    ----------
    model : MLTSKClassifier
        Unfitted.
    X : data frame or CSR matrix of n rows
    Y : array of shape (n, L)
        Labels of 0 and 1, NaN where not observed.
    groups : array of int of shape (n,), or None
        Rows of one group are in the same fold, and drawn together.
    statements : int
        Per label of the short model, as it was chosen on all rows; in each fold it is
        chosen again without the rows that are tested.
    seed : int
        Of folds, of the forest and of resamples.
    done : callable
        Called after each fold.
    """
    rows = np.arange(len(Y))[spread_rows(len(Y), MAX_COMPARED_ROWS)]
    n_labels = min(Y.shape[1], MAX_COMPARED_LABELS)
    labels = np.linspace(0, Y.shape[1] - 1, n_labels).round().astype(int)
    X = take_rows(X, rows)
    Y = Y[np.ix_(rows, labels)]
    groups = take_groups(groups, rows)
    task = _Task(model=model, X=X, Y=Y, groups=groups, seed=seed)
    scores = _scores_of_unseen(task, done)
    weights = resamples(len(Y), n_labels, seed)
    if groups is not None:
        weights = _resampled_groups(Y, groups, seed)

    methods = (OURS, f"{statements} statements per label", LINEAR, FOREST)
    n_draws = scores.shape[1]
    AP = np.zeros((len(methods), n_draws, n_labels))
    AUC = np.zeros((len(methods), n_draws, n_labels))
    resampled_AP = np.zeros((len(methods), len(weights), n_labels))
    for m, r, j in np.ndindex(AP.shape):
        is_seen = ~np.isnan(Y[:, j])
        y = Y[is_seen, j] > 0
        own = scores[m, r, is_seen, j]
        AP[m, r, j], AUC[m, r, j] = np.ravel(ranking(y, own))
        resampled_AP[m, :, j] += ranking(y, own, weights[:, is_seen])[0] / n_draws
    return BaselineComparison(
        rows=len(rows),
        labels=labels,
        cases=np.nansum(Y, axis=0).astype(np.intp),
        AP=dict(zip(methods, AP.mean(axis=1), strict=True)),
        AUC=dict(zip(methods, AUC.mean(axis=1), strict=True)),
        drawn_AP=dict(zip(methods, AP, strict=True)),
        resampled_AP=dict(zip(methods, resampled_AP, strict=True)),
    )


class _Task(NamedTuple):
    """What is compared: arguments of `compare`, for the rows and labels compared."""

    model: MLTSKClassifier
    X: Samples
    Y: FloatArray
    groups: Groups
    seed: int


def draws_of_rows(n_rows: int) -> int:
    """How often folds are drawn for so many rows."""
    return N_DRAWS if n_rows <= MANY_ROWS else N_DRAWS_OF_MANY_ROWS


def _resampled_groups(Y: FloatArray, groups: NDArray[np.intp], seed: int) -> FloatArray:
    """How often each row of Y (n, L) is drawn where groups are drawn whole, (B, n)."""
    n_groups = int(groups.max()) + 1
    return resamples(n_groups, Y.shape[1], seed)[:, groups]


def take_rows(X: Samples, rows: RowNumbers) -> Samples:
    """Some rows of a data frame or a matrix, by position."""
    return X.iloc[rows] if isinstance(X, DataFrame) else X[rows]


def _scores_of_unseen(task: _Task, done: Callable[[], object]) -> FloatArray:
    """Scores (M, R, n, L) by methods that have not seen the row, nor its group."""
    Y = task.Y
    cells = _usual_cells(task.X)
    n_draws = draws_of_rows(len(Y))
    scores = np.zeros((4, n_draws, *Y.shape))
    for draw in range(n_draws):
        seed = task.seed + draw
        folds = IterativeStratification(COMPARISON_FOLDS, random_state=seed)
        for train, test in folds.split(Y, Y, task.groups):
            scores[:2, draw, test] = _our_scores(task, (train, test))
            scores[2:, draw, test] = _other_scores(cells, Y, (train, test), seed)
            done()
    return scores


def _our_scores(task: _Task, fold: tuple[RowNumbers, RowNumbers]) -> FloatArray:
    """Probabilities of test rows by the whole model and by the short one, (2, n, L)."""
    train, test = fold
    Y = task.Y
    unseen = take_rows(task.X, test)
    # A label that no training row was observed for is the same for all test rows.
    scores = np.full((2, len(test), Y.shape[1]), 0.5)
    observed = np.flatnonzero(~np.isnan(Y[train]).all(axis=0))
    if not len(observed):
        return scores
    with warnings.catch_warnings(action="ignore"):
        long = clone(task.model).set_params(threshold=0.5, max_statements=None)
        long.fit(
            take_rows(task.X, train),
            DataFrame(Y[np.ix_(train, observed)]),
            groups=take_groups(task.groups, train),
        )
        # the length is chosen without the test rows, as it was on all rows
        record = long.fit_record_
        path = record.size_path(long.max_conditions, READABLE_SIZES)
        size = readable_size(path)
        short = with_system(long, record.bare_system(size, long.max_conditions))
        scores[0][:, observed] = long.predict_proba(unseen)
        scores[1][:, observed] = short.predict_proba(unseen)
    return scores


def _other_scores(
    cells: Samples, Y: FloatArray, fold: tuple[RowNumbers, RowNumbers], seed: int
) -> FloatArray:
    """Scores of test rows by logistic regression and by forests, (2, n of test, L)."""
    train, test = fold
    train_numbers, test_numbers = _as_numbers(cells, train, test)
    Y = Y[train]
    scores = np.zeros((2, len(test), Y.shape[1]))
    for labels in _observed_together(Y):
        is_seen = ~np.isnan(Y[:, labels[0]])
        A = train_numbers[is_seen]
        y = Y[is_seen][:, labels].astype(int)
        for j, column in zip(labels, y.T, strict=True):
            linear = LogisticRegression(max_iter=1000).fit(A, column)
            scores[0, :, j] = linear.decision_function(test_numbers)
        forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        forest.fit(A, y[:, 0] if len(labels) == 1 else y)
        scores[1][:, labels] = label_scores(forest, test_numbers, len(labels))
    return scores


def _observed_together(Y: FloatArray) -> list[list[int]]:
    """Groups of labels that were observed in the same rows: a forest for each.

    Labels that all of these rows have, or none, are left out.
    """
    groups: dict[bytes, list[int]] = {}
    for j, y in enumerate(Y.T):
        is_seen = ~np.isnan(y)
        if len(np.unique(y[is_seen])) == 2:
            groups.setdefault(is_seen.tobytes(), []).append(j)
    return list(groups.values())


def _usual_cells(X: Samples) -> Samples:
    """A table for scikit-learn's transformers: levels as ranks, other words as text.

    Very large and very small numbers are put in other units, as squares of them are no
    numbers.
    """
    if sparse.issparse(X):
        return in_ordinary_size(X)
    X = X.copy()
    for name, column in X.items():
        is_present = column.notna()
        if column.dtype == "category" and column.cat.ordered:
            X[name] = column.cat.codes.where(is_present).astype(float)
        elif column.dtype.kind not in "iuf":
            words = column.astype(object).where(is_present, MISSING).astype(str)
            X[name] = words.astype("category")
        else:
            factor = float(unit_factors(np.array(column.abs().max(), dtype=float)))
            if factor != 1:
                X[name] = column * factor
    return X


def _as_numbers(
    cells: Samples, train: RowNumbers, test: RowNumbers
) -> tuple[FloatArray | CSR, FloatArray | CSR]:
    """Training and test rows as numbers, prepared by what the training rows say."""
    train_cells = take_rows(cells, train)
    test_cells = take_rows(cells, test)
    if sparse.issparse(cells):
        unit_length = Normalizer()
        return unit_length.transform(train_cells), unit_length.transform(test_cells)
    imputer = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    encoder = OneHotEncoder(
        handle_unknown="ignore", min_frequency=5, sparse_output=False
    )
    prepared = make_column_transformer(
        (
            make_pipeline(imputer, StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (encoder, make_column_selector(dtype_include="category")),
    )
    with warnings.catch_warnings(action="ignore"):  # unknown categories in test rows
        return prepared.fit_transform(train_cells), prepared.transform(test_cells)
