"""What every study shares: the rows and folds it uses, kinds of rules, our default, the paper's metrics, plain data.

Symbols: X (N, D) features, Y (N, L) labels, K rules. Studies show what the paper's figures show, so they use its
metrics (`CONVENTION`), but nothing of a test fold is used in training. "Our default" is whatever `MLTSKClassifier` is.
The *convex form* of the paper's problem (24) keeps its L1 term and its coupling, see `paper.solvers.problem`, over
rules of one common width, which do not collapse. Rows of a sparse data set stay sparse for both; the paper's rules need
a min-max scale and get a dense copy.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .... import MLTSKClassifier
from ....core.arrays import Array, Matrix, unit_rows
from ....core.fuzzymap import FuzzyMap
from ....core.membership import authors_widths
from ....core.terms import fit_scaling
from ....datasets import Dataset
from ....exceptions import InputError
from ....metrics import five_metrics
from ...antecedents import distinct_rules, find_rules
from ...methods import PaperMLTSK
from ..cross_validation import Fold, shuffled_folds

CONVENTION = "paper"
N_FOLDS, FAST_FOLDS = 5, 2
five = partial(
    five_metrics, convention=CONVENTION
)  # AP, HL, OE, RL and CV of scores of a test fold
CONVEX_RULES = 15  # of the convex form

Setting = tuple[tuple[str, float], ...]
Maps = tuple[FuzzyMap, FuzzyMap]  # the same rules over training and test rows


class Sample(NamedTuple):
    """The rows of a data set that a study uses, as floats, the folds that it fits, and what was left out."""

    X: Matrix
    dense: Array  # X as an array
    Y: Array
    folds: list[Fold]
    fast: bool
    note: str
    part: str  # for a figure: how many of the rows, where they are not all


def sample_of(data: Dataset, seed: int, grid: str, *, fast_rows: int = 2000) -> Sample:
    """All rows and five folds, or with ``grid="fast"`` at most ``fast_rows`` rows and `FAST_FOLDS` of the five."""
    if grid not in ("paper", "fast"):
        raise InputError(f'A study knows the grids "paper" and "fast", not {grid!r}.')
    n, fast = len(data), grid == "fast"
    kept = min(n, fast_rows) if fast else n
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:kept])
    folds = shuffled_folds(kept, min(N_FOLDS, kept), seed)[
        : FAST_FOLDS if fast else None
    ]
    note = f"{'all rows' if kept == n else f'{kept} rows'}, {len(folds)} of {N_FOLDS} folds"
    part = "" if kept == n else f"{kept:,} of {n:,} rows"
    X = data.X[rows]
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X)
    return Sample(X, dense, data.Y[rows].astype(np.float64), folds, fast, note, part)


def paper_rules(X: Array, T: Array, n_rules: int, width_scale: float) -> Maps:
    """Rules as the paper's authors find them: min-max scale, fuzzy c-means with m = 2, widths h · variance."""
    w = np.ones(len(X))
    scaling = fit_scaling(X, w, "minmax")
    Z = scaling.apply(X)
    C, spread = find_rules(Z, w, n_rules)
    S = authors_widths(spread, width_scale)
    return FuzzyMap.of(Z, C, S, firing="authors"), FuzzyMap.of(
        scaling.apply(T), C, S, firing="authors"
    )


def common_width_rules(X: Matrix, T: Matrix) -> Maps:
    """Rules of the convex form: percentile scale or rows of unit length, k-means, one width."""
    w = np.ones(X.shape[0])
    scaled = unit_rows if sparse.issparse(X) else fit_scaling(X, w, "quantile").apply
    Z = scaled(X)
    rules = distinct_rules(Z, w, CONVEX_RULES)
    return FuzzyMap.of(Z, *rules), FuzzyMap.of(scaled(T), *rules)


def our_metrics(sample: Sample, fold: Fold, **params: Any) -> Array:
    """Five metrics of our default on one test fold, with these parameters instead of its own."""
    train, test = fold
    model = MLTSKClassifier(**params).fit(sample.X[train], sample.Y[train].astype(int))
    return five(sample.Y[test], model.decision_function(sample.X[test]), threshold=0.0)


def search(
    sample: Sample, grid: Mapping[str, Sequence[float]]
) -> tuple[Setting, dict[Setting, Array]]:
    """The authors' method over a grid: the best setting by AP, and five metrics (folds, 5) at every one."""
    X, found = sample.dense, dict[Setting, list[Array]]()
    for train, test in sample.folds:
        for point in PaperMLTSK().grid_path(
            X[train], sample.Y[train].astype(int), X[test], grid
        ):
            key = tuple((name, float(point.params[name])) for name in grid)  # type: ignore[arg-type]
            found.setdefault(key, []).append(five(sample.Y[test], point.scores))
    tables = {setting: np.array(rows) for setting, rows in found.items()}
    return best_by_ap(tables), tables


def best_by_ap(scores: Mapping[Any, Array]) -> Any:
    """The setting of highest mean AP, the first of several; chosen on the folds that are reported, as in the paper."""
    return max(
        scores,
        key=lambda setting: float(
            np.nan_to_num(scores[setting][:, 0].mean(), nan=-1.0)
        ),
    )


def summary(rows: Array) -> dict[str, Any]:
    """Mean and SD (n - 1) over folds (…, F, 5) of the five metrics, as plain data."""
    sd = (
        rows.std(axis=-2, ddof=1)
        if rows.shape[-2] > 1
        else np.full_like(rows[..., 0, :], np.nan)
    )
    return {"mean": plain(rows.mean(axis=-2)), "sd": plain(sd)}


def plain(values: Any) -> Any:
    """Arrays as nested lists of floats, with None in the place of NaN and infinities: what JSON can hold."""
    array = np.asarray(values, dtype=object)
    array[~np.isfinite(array.astype(np.float64))] = None
    return array.tolist()
