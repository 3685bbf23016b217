"""What every study shares: rows and folds, kinds of rules, metrics, and plain data.

Symbols: X (N, D) features, Y (N, L) labels, K rules. Studies show what the paper's
figures show, so they use its metrics (`CONVENTION`), but nothing of a test fold is used
in training. "Our default" is whatever `MLTSKClassifier` is. The *convex form* of the
paper's problem (24) keeps its L1 term and its coupling, see `paper.solvers.problem`,
over rules of one common width, which do not collapse. Rows of a sparse data set stay
sparse for both; the paper's rules need a min-max scale and get a dense copy.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .... import MLTSKClassifier
from ....core.arrays import Array, Matrix, dense
from ....core.fuzzymap import FuzzyMap
from ....core.magnitude import unit_rows
from ....core.membership import authors_widths
from ....core.scales import fit_scaling
from ....datasets import Dataset
from ....exceptions import InputError
from ....metrics import five_metrics
from ...antecedents import distinct_rules, find_rules
from ...methods import PaperMLTSK
from ..cross_validation import Fold, shuffled_folds
from ..published import PlainData

CONVENTION = "paper"
STUDY_FOLDS = 5
FAST_STUDY_FOLDS = 2  # of the five that are fitted with ``grid="fast"``
FAST_STUDY_ROWS = 2000
CONVEX_RULES = 15  # of the convex form

Setting = tuple[tuple[str, float], ...]
ParameterValues = Mapping[str, Sequence[object]]
Maps = tuple[FuzzyMap, FuzzyMap]  # the same rules over training and test rows
Key = TypeVar("Key", bound=Hashable)


class StudySample(NamedTuple):
    """The rows of a data set that a study uses, and the folds that it fits.

    ``dense`` is X as an array; ``note`` says which rows and folds are used, and
    ``extent``, for a figure, how many of the rows where they are not all.
    """

    X: Matrix
    dense: Array
    Y: Array
    folds: list[Fold]
    fast: bool
    note: str
    extent: str


def sample_of(
    data: Dataset, seed: int, grid: str, *, fast_rows: int = FAST_STUDY_ROWS
) -> StudySample:
    """All rows and five folds of a data set.

    With ``grid="fast"`` it is at most ``fast_rows`` rows and two of the five folds.
    """
    if grid not in ("paper", "fast"):
        raise InputError(f'A study knows the grids "paper" and "fast", not {grid!r}.')
    fast = grid == "fast"
    n = len(data)
    kept = min(n, fast_rows) if fast else n
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:kept])
    folds = shuffled_folds(kept, min(STUDY_FOLDS, kept), seed)
    if fast:
        folds = folds[:FAST_STUDY_FOLDS]
    rows_text = "all rows" if kept == n else f"{kept} rows"
    X = data.X[rows]
    return StudySample(
        X=X,
        dense=np.asarray(dense(X)),
        Y=data.Y[rows].astype(np.float64),
        folds=folds,
        fast=fast,
        note=f"{rows_text}, {len(folds)} of {STUDY_FOLDS} folds",
        extent="" if kept == n else f"{kept:,} of {n:,} rows",
    )


def paper_metrics(Y: Array, scores: Array, *, threshold: float = 0.5) -> Array:
    """AP, HL, OE, RL and CV of scores (N, L) of a test fold, as the paper counts."""
    return five_metrics(Y, scores, threshold=threshold, convention=CONVENTION)


def paper_rules(X: Array, T: Array, n_rules: int, width_scale: float) -> Maps:
    """Rules as the paper's authors find them, over training rows X and test rows T.

    They are found by min-max scale and fuzzy c-means with m = 2; widths are
    h · variance.
    """
    w = np.ones(len(X))
    scaling = fit_scaling(X, w, "minmax")
    Z = scaling.apply(X)
    C, spread = find_rules(Z, w, n_rules)
    S = authors_widths(spread, width_scale)
    train = FuzzyMap.of(Z, C, S, firing="authors")
    test = FuzzyMap.of(scaling.apply(T), C, S, firing="authors")
    return train, test


def common_width_rules(X: Matrix, T: Matrix) -> Maps:
    """Rules of the convex form, over training rows X and test rows T.

    They are found by k-means on a percentile scale, or on rows of unit length where X
    is sparse, and have one width.
    """
    w = np.ones(X.shape[0])
    scaled = unit_rows if sparse.issparse(X) else fit_scaling(X, w, "quantile").apply
    Z = scaled(X)
    rules = distinct_rules(Z, w, CONVEX_RULES)
    return FuzzyMap.of(Z, *rules), FuzzyMap.of(scaled(T), *rules)


def our_metrics(sample: StudySample, fold: Fold, **params: object) -> Array:
    """Five metrics of our default on one test fold, with some other parameters."""
    train, test = fold
    model = MLTSKClassifier(**params)
    model.fit(sample.X[train], sample.Y[train].astype(int))
    scores = model.decision_function(sample.X[test])
    return paper_metrics(sample.Y[test], scores, threshold=0.0)


def search(
    sample: StudySample, grid: ParameterValues
) -> tuple[Setting, dict[Setting, Array]]:
    """The authors' method over a grid.

    Returns the best setting by AP, and five metrics (folds, 5) at every one.
    """
    X = sample.dense
    by_fold: dict[Setting, list[Array]] = {}
    for train, test in sample.folds:
        Y = sample.Y[train].astype(int)
        for point in PaperMLTSK().grid_path(X[train], Y, X[test], grid):
            params: PlainData = point.params
            setting = tuple((name, float(params[name])) for name in grid)
            metrics = paper_metrics(sample.Y[test], point.scores)
            by_fold.setdefault(setting, []).append(metrics)
    tables = {setting: np.array(rows) for setting, rows in by_fold.items()}
    return best_by_ap(tables), tables


def best_by_ap(tables: Mapping[Key, Array]) -> Key:
    """The setting of highest mean AP, the first of several.

    It is chosen on the folds that are reported, as in the paper.
    """
    return max(tables, key=lambda setting: comparable(tables[setting][:, 0].mean()))


def comparable(ap: float) -> float:
    """AP, or −1 where it is not a number, so that it never is the highest."""
    return float(np.nan_to_num(ap, nan=-1.0))


def summary(rows: Array) -> PlainData:
    """Mean and SD (n - 1) over folds (…, F, 5) of the five metrics, as plain data."""
    mean = rows.mean(axis=-2)
    sd = np.full_like(mean, np.nan)
    if rows.shape[-2] > 1:
        sd = rows.std(axis=-2, ddof=1)
    return {"mean": plain(mean), "sd": plain(sd)}


def plain(values: ArrayLike) -> Any:
    """Arrays as nested lists of floats, with None for NaN and infinities.

    That is what JSON can hold.
    """
    array = np.asarray(values, dtype=object)
    array[~np.isfinite(array.astype(np.float64))] = None
    return array.tolist()
