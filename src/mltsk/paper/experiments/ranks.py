"""Table VI: do the methods differ? For our results, and again from the printed Table V.

Each metric is ranked with the settings that are best for it, as the paper does. Data sets enter that every compared
method has finished; methods that have finished less than half as many sets as another are left out, so that one
latecomer does not empty the comparison.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..significance import Friedman, RankComparison, bonferroni_dunn, friedman, holm, nemenyi
from .published import CONTROL, METHODS, METRICS, published_table, table_i, table_vi
from .results import Results
from .table import Table, TableCell, TableRow, captioned, number

RECOMPUTED = "paper, recomputed"


@dataclass(frozen=True, eq=False)
class Comparison:
    """All tests of one table of scores, data sets by methods, by one metric; ``source`` says whose results they are."""

    source: str
    metric: str
    scores: pd.DataFrame
    control: str
    test: Friedman
    dunn: RankComparison
    stepdown: RankComparison
    pairs: RankComparison
    printed: "Comparison | None" = None  # from the printed Table V, on those data sets and methods that it has

    @property
    def control_rank(self) -> float:
        """Mean rank of the control."""
        return float(self.test.mean_ranks[self.control])

    def differing(self, significant: Any, *, worse: bool) -> list[str]:
        """Methods that a test tells from the control, on the named side of it."""
        gap = self.dunn.rank_differences
        return [name for name in significant.index[significant] if (gap[name] > 0) == worse]


def compare(
    source: str, metric: str, scores: pd.DataFrame, control: str, printed: Comparison | None = None
) -> Comparison | None:
    """Every test on one table of scores; None when it has fewer than two rows or columns."""
    if min(scores.shape) < 2:
        return None
    test = friedman(scores.round(10), greater_is_better=metric == "AP")
    ranks, n = test.mean_ranks, test.n_datasets
    dunn, stepdown = (compared(ranks, n, control=control) for compared in (bonferroni_dunn, holm))
    return Comparison(source, metric, scores, control, test, dunn, stepdown, nemenyi(ranks, n), printed)


def comparisons(results: Results) -> list[Comparison]:
    """Comparisons of the paper's printed values, then of ours under every protocol."""
    found = [compare(RECOMPUTED, metric, printed_scores(metric), CONTROL) for metric in METRICS]
    of_paper = [key for key in results.methods if results.paper_name(key)]
    for protocol in results.run["protocols"]:
        groups = {f"ours, {protocol}": of_paper}
        own = [key for key in results.methods if not results.variant_of(key)]  # a variant is no further method
        if len(of_paper) < len(own):
            groups[f"ours, {protocol}, all methods"] = own
        for source, methods in groups.items():
            found += [_ours(results, source, metric, protocol, methods) for metric in METRICS]
    return [comparison for comparison in found if comparison is not None]


def printed_scores(metric: str, datasets: Sequence[str] | None = None, methods: Sequence[str] = METHODS) -> Any:
    """Printed means of Table V, data sets by methods."""
    cells, rows = published_table("V"), list(table_i() if datasets is None else datasets)
    values = [[cells[d, metric, m].mean for m in methods] for d in rows]
    return pd.DataFrame(values, index=rows, columns=list(methods))


def finished_scores(results: Results, metric: str, protocol: str, methods: Sequence[str]) -> pd.DataFrame:
    """Means of finished cells by one metric, data sets by methods, without holes."""
    wide = results.finished(protocol, "each", metric).pivot(index="dataset", columns="method", values="mean")
    wide = wide.reindex(index=results.datasets, columns=list(methods)).replace([np.inf, -np.inf], np.nan)
    done = wide.notna().sum()
    return wide.loc[:, done >= max(1, done.max() / 2)].dropna()


def _ours(results: Results, source: str, metric: str, protocol: str, methods: Sequence[str]) -> Comparison | None:
    scores = finished_scores(results, metric, protocol, methods)
    scores = scores.rename(columns={key: print_name(results, key) for key in scores.columns})
    sets, names = [d for d in scores.index if d in table_i()], [m for m in METHODS if m in scores.columns]
    control = CONTROL if CONTROL in scores.columns or scores.columns.empty else scores.columns[0]
    printed = None
    if control in names:
        label = f"paper, on {len(sets)} sets and {len(names)} methods"
        printed = compare(label, metric, printed_scores(metric, sets, names), control)
    return compare(source, metric, scores, control, printed)


def print_name(results: Results, key: str) -> str:
    """A method's name in comparisons: the paper's for its own methods, otherwise a title that none of them has."""
    titles, title = [results.title(other) for other in results.methods], results.title(key)
    unique = title if titles.count(title) == 1 and title not in METHODS else f"{title} ({key})"
    return results.paper_name(key) or unique


def widest_sources(found: Sequence[Comparison]) -> list[str]:
    """Our sources, of each protocol the one with the most methods."""
    sources = list(dict.fromkeys(one.source for one in found if one.source.startswith("ours")))
    return [source for source in sources if f"{source}, all methods" not in sources]


def table_six(found: Sequence[Comparison]) -> Table:
    """Table VI from `comparisons`."""
    rows = []
    for metric in METRICS:
        rows.append(TableRow((metric, "paper, printed"), _printed_cells(metric)))
        mine = _with_printed([one for one in found if one.metric == metric])
        rows += [TableRow((metric, one.source), _test_cells(one)) for one in mine]
    return captioned("table-6", rows, control=CONTROL)


def rank_table(found: Sequence[Comparison], source: str) -> Table | None:
    """Mean ranks of one source, with those of the printed Table V on the same data sets and methods."""
    mine = {one.metric: one for one in found if one.source == source}
    if not mine:
        return None
    names = list(dict.fromkeys(name for one in mine.values() for name in one.scores.columns))
    rows = [TableRow((name,), tuple(_rank_cell(name, mine.get(m)) for m in METRICS)) for name in names]
    key = "ranks-" + source.removeprefix("ours, ").replace(", ", "-").replace(" ", "-")
    return captioned("ranks", rows, key=key, source=source, n=max(one.test.n_datasets for one in mine.values()))


def _printed_cells(metric: str) -> tuple[TableCell, ...]:
    t, none = table_vi(), TableCell("")
    cells = (number(t.n_datasets, "d"), number(t.n_methods, "d"), none, number(t.F[metric]), number(t.critical_value))
    return (*cells, none, none, number(t.critical_difference, ".4f"), *[none] * 4)


def _test_cells(one: Comparison) -> tuple[TableCell, ...]:
    test, holm = one.test, one.stepdown.significant
    better, worse = (one.differing(holm, worse=worse) for worse in (False, True))
    sizes, limit = [number(n, "d") for n in (test.n_datasets, test.n_methods)], test.critical_value()
    f, p = TableCell(f_text(test.f), test.f, bold=test.f > limit), TableCell(p_text(test.p_value), test.p_value)
    differences = [number(found.critical_difference, ".4f") for found in (one.dunn, one.pairs)]
    named = one.differing(one.dunn.significant, worse=True), worse, better
    names = [TableCell(", ".join(found) or "none") for found in named]
    return (*sizes, number(test.chi2), f, number(limit), p, number(one.control_rank), *differences, *names)


def _with_printed(found: Sequence[Comparison]) -> list[Comparison]:
    """Comparisons with the printed ones that belong to them, each of those once and where it is new."""
    shown: list[Comparison] = []
    for one in found:
        same = [c for c in shown if one.printed is not None and c.scores.equals(one.printed.scores)]
        shown += [one] if one.printed is None or same else [one.printed, one]
    return shown


def _rank_cell(name: str, mine: Comparison | None) -> TableCell:
    if mine is None or name not in mine.test.mean_ranks.index:
        return TableCell("—")
    ranks, printed = mine.test.mean_ranks, {} if mine.printed is None else dict(mine.printed.test.mean_ranks)
    rank, best = float(ranks[name]), ranks[name] == ranks.min()
    if name not in printed:
        return number(rank, bold=best)
    other = float(printed[name])
    return number(rank, bold=best, paper=f"{other:.2f}", paper_value=other, difference=rank - other)


def f_text(f: float) -> str:
    """An F, which is infinite where all data sets rank the methods alike."""
    return "∞" if f == np.inf else f"{f:.2f}"


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
