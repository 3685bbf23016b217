"""Which setting of a grid is reported: the rules by which Tables III, IV and V choose.

The tables choose by AP, by HL and "each" (every metric by itself). Under the protocols `paper` and `strict` the best
mean over the reported folds wins, which is optimistic; under `nested` inner folds have chosen already, once a fold.

Means and spreads: with several seeds the mean is that of the seeds' fold means, and the standard deviation (n - 1) is
over all folds of all seeds. Only settings that have finished as many folds as any other setting of the same method may
win; one whose mean is not a number never does. Means closer than 1e-12 are equal, and then the first setting in the
order of the grid wins, so that a rerun chooses the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...exceptions import InputError
from .paper import METHODS, METRICS, table_i
from .results import Results

CHOICES = ("AP", "HL", "each")
_FOUND = ("mean", "sd", "setting", "n_settings", "tied", "folds", "expected", "failed", "error", "status")
COLUMNS = ("dataset", "method", "metric", "by", *_FOUND)
FloatArray = NDArray[np.float64]


def chosen(results: Results, protocol: str, by: str = "AP") -> pd.DataFrame:
    """Mean and spread of the five metrics for the chosen setting of every method on every data set.

    Parameters
    ----------
    results : Results
    protocol : {"paper", "strict", "nested"}
    by : {"AP", "HL", "each"}

    Returns
    -------
    data frame
        One row a data set, method and metric, in the order of `datasets_of` and `methods_of`. ``setting`` is canonical
        JSON (under `nested` the one chosen most often), ``n_settings`` how many it was chosen among (under `nested`:
        how many different ones were chosen), ``tied`` the share of test rows with equal scores, ``folds`` and
        ``expected`` count folds of all seeds, ``failed`` those with an error. ``status`` is "done", "partial" (folds
        or work are missing), "failed" (nothing but errors) or "missing".

    Examples
    --------
    >>> import pandas as pd
    >>> from mltsk.paper.experiments.results import CELLS, SCORES
    >>> rows = [("paper", "flags", "br", 0, f, "", s, ap, 0.3, 0.2, 0.2, 0.5, 0.0)
    ...         for s, ap in (('{"C":1}', 0.80), ('{"C":2}', 0.81)) for f in range(2)]
    >>> run = {"n_folds": 2, "seeds": [0], "datasets": {"flags": {}}, "methods": {"br": {"paper": "BR"}}}
    >>> made = Results(run, pd.DataFrame(rows, columns=list(SCORES)), pd.DataFrame(columns=list(CELLS)), {})
    >>> chosen(made, "paper", "AP").loc[0, ["metric", "setting", "status"]].tolist()
    ['AP', '{"C":2}', 'done']
    """
    if by not in CHOICES:
        raise InputError(f"Settings are chosen by {', '.join(CHOICES)}, not by {by!r}.")
    return _chosen(results, protocol, by, _blocks(results.scores, protocol))


def chosen_all(results: Results) -> dict[tuple[str, str], pd.DataFrame]:
    """`chosen` for every protocol of the run and every way to choose, by (protocol, by)."""
    found = {}
    for protocol in results.run["protocols"]:
        blocks = _blocks(results.scores, protocol)  # half of the work, and the same for all
        found.update({(protocol, by): _chosen(results, protocol, by, blocks) for by in CHOICES})
    return found


def datasets_of(results: Results) -> list[str]:
    """Data sets of the run: those of the paper in its order, then the others."""
    ours = list(results.run["datasets"])
    return [name for name in table_i() if name in ours] + [name for name in ours if name not in table_i()]


def methods_of(results: Results) -> list[str]:
    """Methods of the run: those of the paper in the order of its columns, then the others."""
    methods = results.run["methods"]
    rank = {key: METHODS.index(about["paper"]) for key, about in methods.items() if about.get("paper") in METHODS}
    return sorted(rank, key=rank.__getitem__) + [key for key in methods if key not in rank]


def canonical_key(setting: str, grid: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """Where a setting stands in its grid, for sorting: the first parameter counts most; unknown values come last.

    Examples
    --------
    >>> sorted(['{"k":11}', '{"k":3}'], key=lambda s: canonical_key(s, {"k": [1, 3, 11]}))
    ['{"k":3}', '{"k":11}']
    """
    try:
        values = json.loads(setting)
    except ValueError:
        values = {}
    places = [
        list(known).index(values[name]) if values.get(name) in known else len(known) for name, known in grid.items()
    ]
    return (*places, setting)


@dataclass(frozen=True, eq=False)
class _Block:
    """Scores of one method on one data set: one row a setting, fold and seed."""

    values: FloatArray  # (n, 5), the metrics
    tied: FloatArray
    seeds: NDArray[np.intp]
    settings: NDArray[np.intp]  # which of `names`, ascending
    names: NDArray[Any]
    chosen_by: NDArray[Any]

    @cached_property
    def folds(self) -> NDArray[np.intp]:
        """How many rows each setting has."""
        return np.bincount(self.settings, minlength=len(self.names))

    @cached_property
    def means(self) -> FloatArray:
        """Means of every setting, (n_settings, 5)."""
        weighted = self.values * _seed_weights(self.settings, self.seeds)[:, None]
        return np.stack([np.bincount(self.settings, column, len(self.names)) for column in weighted.T], axis=1)

    def winner(self, metric: str, grid: Mapping[str, Sequence[Any]]) -> NDArray[np.intp]:
        """Rows of the best complete setting by a metric; none when no mean is a number."""
        loss = np.round(self.means[:, METRICS.index(metric)] * (-1 if metric == "AP" else 1), 12)
        loss = np.where((self.folds == self.folds.max()) & np.isfinite(loss), loss, np.inf)
        if not np.isfinite(loss).any():
            return np.empty(0, dtype=np.intp)
        best = np.flatnonzero(loss == loss.min())
        first = min(best, key=lambda i: canonical_key(str(self.names[i]), grid))
        return np.arange(*np.searchsorted(self.settings, [first, first + 1]))

    def chosen_inside(self, metric: str) -> NDArray[np.intp]:
        """Rows that inner folds chose by a metric; those that nothing chose when the method has no grid."""
        rows = np.flatnonzero(self.chosen_by == metric)
        return rows if len(rows) else np.flatnonzero(self.chosen_by == "")


def _blocks(scores: pd.DataFrame, protocol: str) -> dict[tuple[str, str], _Block]:
    """Scores of a protocol by (data set, method); strings are compared once here and never again."""
    scores = scores[(scores["protocol"] == protocol).to_numpy()]
    if not len(scores):
        return {}
    (d, datasets), (m, methods), (s, names) = (pd.factorize(scores[key]) for key in ("dataset", "method", "setting"))
    order = np.lexsort((s, m, d))
    cuts = np.flatnonzero(np.diff(d[order] * len(methods) + m[order])) + 1
    values, tied = scores[list(METRICS)].to_numpy(np.float64), scores["tied"].to_numpy(np.float64)
    seeds, chosen_by = scores["seed"].to_numpy(np.intp), scores["chosen_by"].astype(object).fillna("").to_numpy()
    blocks = {}
    for rows in np.split(order, cuts):
        used, codes = np.unique(s[rows], return_inverse=True)
        block = _Block(values[rows], tied[rows], seeds[rows], codes, np.asarray(names)[used], chosen_by[rows])
        blocks[str(datasets[d[rows[0]]]), str(methods[m[rows[0]]])] = block
    return blocks


def _seed_weights(codes: NDArray[np.intp], seeds: NDArray[np.intp]) -> FloatArray:
    """Weights with which a sum over rows of a setting is the mean over seeds of means over folds."""
    _, seed = np.unique(seeds, return_inverse=True)
    n_seeds = int(seed.max(initial=0)) + 1
    counts = np.bincount(codes * n_seeds + seed, minlength=(int(codes.max(initial=0)) + 1) * n_seeds)
    seeds_of = np.count_nonzero(counts.reshape(-1, n_seeds), axis=1)
    return 1.0 / (counts[codes * n_seeds + seed] * seeds_of[codes])


def _chosen(results: Results, protocol: str, by: str, blocks: Mapping[tuple[str, str], _Block]) -> pd.DataFrame:
    trouble, rows = _failures(results, protocol), []
    expected = int(results.run["n_folds"]) * len(results.run["seeds"])
    for dataset in datasets_of(results):
        for method in methods_of(results):
            block, (failed, error) = blocks.get((dataset, method)), trouble.get((dataset, method), (0, ""))
            grid = results.run["methods"][method].get("grid") or {}
            for metric in METRICS:
                chooser = metric if by == "each" else by
                found = None if block is None else _summary(block, protocol, chooser, metric, grid)
                rows.append((dataset, method, metric, chooser, *_status(found, expected, failed, error)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _summary(
    block: _Block, protocol: str, chooser: str, metric: str, grid: Mapping[str, Sequence[Any]]
) -> tuple[Any, ...] | None:
    """Mean, spread, setting, number of settings, share of ties and number of folds of what was chosen."""
    nested = protocol == "nested"
    rows = block.chosen_inside(chooser) if nested else block.winner(chooser, grid)
    if not len(rows):
        return None
    values = block.values[rows, METRICS.index(metric)]
    codes, counts = np.unique(block.settings[rows], return_counts=True)
    mean = float(values @ _seed_weights(np.zeros(len(rows), dtype=np.intp), block.seeds[rows]))
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
    setting = str(block.names[codes[counts.argmax()]])
    among = len(codes) if nested else int(np.sum(block.folds == block.folds.max()))
    return mean, sd, setting, among, float(block.tied[rows].mean()), len(rows)


def _status(found: tuple[Any, ...] | None, expected: int, failed: int, error: str) -> tuple[Any, ...]:
    if found is None:
        return np.nan, np.nan, "", 0, np.nan, 0, expected, failed, error, "failed" if failed else "missing"
    return *found, expected, failed, error, "done" if found[-1] >= expected and not failed else "partial"


def _failures(results: Results, protocol: str) -> dict[tuple[str, str], tuple[int, str]]:
    """How many folds of a method on a data set had an error, and the first error."""
    cells = results.cells
    cells = cells[(cells["protocol"] == protocol) & (cells["status"] == "failed")]
    return {
        (dataset, method): (len(rows[["seed", "fold"]].drop_duplicates()), _one_line(rows["error"].iloc[0]))
        for (dataset, method), rows in cells.groupby(["dataset", "method"], observed=True, sort=False)
    }


def _one_line(error: Any, length: int = 300) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
