"""What every study shares: the rows and folds it uses, the two kinds of rules, the paper's metrics, plain data.

Symbols: X (N, D) features, Y (N, L) labels, G (N, Md) rule-mapped features, K rules.

Studies show what the paper's figures show, so they use its metrics (`CONVENTION`), but nothing of a test fold is used
in training: scaling, clustering and consequents are fitted inside the training rows. Rows of a sparse data set stay
sparse for our rules; the paper's need a min-max scale and get a dense copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from ....core.arrays import Array, Matrix, unit_rows
from ....core.fuzzymap import FuzzyMap
from ....core.membership import authors_widths, rule_distinctness
from ....core.scaling import fit_scaling
from ....datasets import Dataset
from ....exceptions import InputError
from ....metrics import five_metrics
from ...antecedents import distinct_rules, find_rules
from ...methods import PaperMLTSK
from ..protocol import Fold, shuffled_folds

CONVENTION = "paper"
N_FOLDS = 5
FAST_ROWS, FAST_FOLDS = 2000, 2

Setting = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Sample:
    """The rows of a data set that a study uses, as floats, the folds that it fits, and what was left out."""

    X: Matrix
    Y: Array
    folds: list[Fold]
    fast: bool
    note: str

    @property
    def dense(self) -> Array:
        """X as an array."""
        return np.asarray(self.X.toarray() if sparse.issparse(self.X) else self.X)


def sample_of(data: Dataset, seed: int, grid: str, *, fast_rows: int = FAST_ROWS) -> Sample:
    """All rows and five folds, or with ``grid="fast"`` at most ``fast_rows`` rows and `FAST_FOLDS` of the five folds.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> [len(sample_of(make_multilabel_rules(n_samples=50, random_state=0), 0, g).folds) for g in ("paper", "fast")]
    [5, 2]
    """
    if grid not in ("paper", "fast"):
        raise InputError(f'A study knows the grids "paper" and "fast", not {grid!r}.')
    n, fast = len(data), grid == "fast"
    kept = n if not fast else min(n, fast_rows)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:kept]) if kept < n else np.arange(n)
    folds = shuffled_folds(kept, min(N_FOLDS, kept), seed)[: FAST_FOLDS if fast else None]
    rows_used = "all rows" if not fast or n <= fast_rows else f"{fast_rows} rows"
    note = f"{rows_used}, {len(folds)} of {N_FOLDS} folds"
    return Sample(data.X[rows], data.Y[rows].astype(np.float64), folds, fast, note)


@dataclass(frozen=True)
class Rules:
    """The same rules over training and test rows, and how much they differ there: 0 not at all, 1 fully."""

    train: FuzzyMap
    test: FuzzyMap

    @property
    def distinctness(self) -> float:
        """`rule_distinctness` over the training rows."""
        return rule_distinctness(self.train.M)


def paper_rules(X: Array, T: Array, n_rules: int, width_scale: float) -> Rules:
    """Rules as the paper's authors find them: min-max scale, fuzzy c-means with m = 2, widths h · variance."""
    w = np.ones(len(X))
    scaling = fit_scaling(X, w, "minmax")
    Z = scaling.apply(X)
    C, spread = find_rules(Z, w, n_rules)
    S = authors_widths(spread, width_scale)
    train, test = (FuzzyMap.of(A, C, S, underflow="authors") for A in (Z, scaling.apply(T)))
    return Rules(train, test)


def our_rules(X: Matrix, T: Matrix, n_rules: int) -> Rules:
    """Rules that stay apart: percentile scale or rows of unit length, centres by k-means, one width."""
    w = np.ones(X.shape[0])
    if sparse.issparse(X):
        Z, U = unit_rows(X), unit_rows(T)
    else:
        scaling = fit_scaling(X, w, "quantile")
        Z, U = scaling.apply(X), scaling.apply(T)
    rules = distinct_rules(Z, w, n_rules)
    train, test = (FuzzyMap.of(A, *rules) for A in (Z, U))
    return Rules(train, test)


def five(Y: Array, scores: Array) -> Array:
    """AP, HL, OE, RL and CV of scores of a test fold, under `CONVENTION`."""
    return np.asarray(five_metrics(Y, scores, convention=CONVENTION))


def search(sample: Sample, grid: Mapping[str, Sequence[float]]) -> dict[Setting, Array]:
    """Five metrics (folds, 5) of the authors' method at every setting of a grid; work is shared as in `grid_path`."""
    X, found = sample.dense, dict[Setting, list[Array]]()
    for train, test in sample.folds:
        for point in PaperMLTSK().grid_path(  # type: ignore[no-untyped-call]
            X[train], sample.Y[train].astype(int), X[test], grid
        ):
            key = tuple((name, float(point.params[name])) for name in grid)  # type: ignore[arg-type]
            found.setdefault(key, []).append(five(sample.Y[test], point.scores))
    return {setting: np.array(rows) for setting, rows in found.items()}


def best_by_ap(scores: Mapping[Setting, Array]) -> Setting:
    """The setting of highest mean AP, the first of several; chosen on the folds that are reported, as in the paper."""
    return max(scores, key=lambda setting: float(np.nan_to_num(scores[setting][:, 0].mean(), nan=-1.0)))


def summary(rows: Array) -> dict[str, list[float | None]]:
    """Mean and SD (n - 1) over folds (F, 5) of the five metrics, as plain data."""
    sd = rows.std(axis=0, ddof=1) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
    return {"mean": plain(rows.mean(axis=0)), "sd": plain(sd)}


def plain(values: Any) -> Any:
    """Arrays as nested lists of floats, with None in the place of NaN and infinities: what JSON can hold.

    Examples
    --------
    >>> plain(np.array([[1.0, np.nan], [np.inf, 2.0]]))
    [[1.0, None], [None, 2.0]]
    """
    if isinstance(values, np.ndarray | list | tuple):
        return [plain(value) for value in values]
    return float(values) if isfinite(values) else None
