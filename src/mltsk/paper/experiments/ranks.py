"""Table VI: do the methods differ? For our results, and again from the printed Table V.

Each metric is ranked with the settings that are best for it, as the paper does. Only
data sets that every compared method has finished enter. Methods that have finished less
than half as many sets as another are left out, so that one latecomer does not empty the
comparison.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..significance import (
    Friedman,
    RankComparison,
    bonferroni_dunn,
    friedman,
    holm,
    nemenyi,
)
from .published import CONTROL, METRICS, PAPER_METHODS, printed_means, table_i, table_vi
from .results import Results
from .tables import ReportTable, TableCell, TableLine, captioned, number

RECOMPUTED = "paper, recomputed"


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """All tests of one table of scores, data sets by methods, by one metric.

    ``source`` says whose results they are. ``printed`` is the same from the printed
    Table V, on those data sets and methods that it has.
    """

    source: str
    metric: str
    scores: pd.DataFrame
    control: str
    test: Friedman
    dunn: RankComparison
    stepdown: RankComparison
    pairs: RankComparison
    printed: "MethodComparison | None" = None

    @property
    def control_rank(self) -> float:
        """Mean rank of the control."""
        return float(self.test.mean_ranks[self.control])

    def differing(self, significant: pd.Series, *, worse: bool) -> list[str]:
        """Methods that a test tells from the control, on one side of it."""
        is_worse = self.dunn.rank_differences[significant.index] > 0
        return list(significant.index[significant & (is_worse == worse)])


def compare(
    source: str, metric: str, scores: pd.DataFrame, control: str
) -> MethodComparison | None:
    """Every test on one table of scores.

    None when it has fewer than two rows or columns.
    """
    if min(scores.shape) < 2:
        return None
    test = friedman(scores.round(10), greater_is_better=metric == "AP")
    ranks = test.mean_ranks
    return MethodComparison(
        source=source,
        metric=metric,
        scores=scores,
        control=control,
        test=test,
        dunn=bonferroni_dunn(ranks, test.n_datasets, control=control),
        stepdown=holm(ranks, test.n_datasets, control=control),
        pairs=nemenyi(ranks, test.n_datasets),
    )


def comparisons(results: Results) -> list[MethodComparison]:
    """Comparisons of the paper's printed values, then of ours under every protocol."""
    made = []
    for metric in METRICS:
        printed = printed_means("V", metric)
        made.append(compare(RECOMPUTED, metric, printed, CONTROL))
    of_paper = [key for key in results.methods if results.paper_name(key)]
    # a variant is no further method
    originals = [key for key in results.methods if not results.variant_of(key)]
    for protocol in results.run["protocols"]:
        groups = {f"ours, {protocol}": of_paper}
        if len(of_paper) < len(originals):
            groups[f"ours, {protocol}, all methods"] = originals
        for source, methods in groups.items():
            for metric in METRICS:
                scores = _ranked_scores(results, protocol, metric, methods)
                made.append(_compare_ours(source, metric, scores))
    return [comparison for comparison in made if comparison is not None]


def _ranked_scores(
    results: Results, protocol: str, metric: str, methods: Sequence[str]
) -> pd.DataFrame:
    """Our means by one metric, without holes, under names that tell methods apart."""
    scores = results.finished(protocol, "each", metric)[list(methods)]
    scores = scores.replace([np.inf, -np.inf], np.nan)
    n_finished = scores.notna().sum()
    scores = scores.loc[:, n_finished >= max(1, n_finished.max() / 2)].dropna()
    names = {key: _unique_name(results, key) for key in scores.columns}
    return scores.rename(columns=names)


def _unique_name(results: Results, key: str) -> str:
    """A method's name in the paper, or its title.

    A title that the paper or another method has too is followed by the key.
    """
    if results.paper_name(key):
        return results.paper_name(key)
    title = results.title(key)
    titles = [results.title(other) for other in results.methods]
    if titles.count(title) == 1 and title not in PAPER_METHODS:
        return title
    return f"{title} ({key})"


def _compare_ours(
    source: str, metric: str, scores: pd.DataFrame
) -> MethodComparison | None:
    """Tests of our means, with those of the printed means in the same places."""
    columns = scores.columns
    control = CONTROL
    if CONTROL not in columns and not columns.empty:
        control = columns[0]
    comparison = compare(source, metric, scores, control)
    names = [name for name in PAPER_METHODS if name in columns]
    if comparison is None or control not in names:
        return comparison
    datasets = [name for name in scores.index if name in table_i()]
    printed = printed_means("V", metric).loc[datasets, names]
    label = f"paper, on {len(datasets)} sets and {len(names)} methods"
    return replace(comparison, printed=compare(label, metric, printed, control))


def own_sources(made: Iterable[MethodComparison]) -> list[str]:
    """The sources of comparisons that are about our results."""
    sources = dict.fromkeys(comparison.source for comparison in made)
    return [source for source in sources if source.startswith("ours")]


def widest_sources(made: Iterable[MethodComparison]) -> list[str]:
    """Our sources; of each protocol the one with the most methods."""
    sources = own_sources(made)
    return [source for source in sources if f"{source}, all methods" not in sources]


def table_six(made: Sequence[MethodComparison]) -> ReportTable:
    """Table VI from `comparisons`.

    A printed comparison stands before the first of ours that refers to it, once.
    """
    rows = []
    for metric in METRICS:
        rows.append(((metric, "paper, printed"), _printed_cells(metric)))
        shown: list[MethodComparison] = []
        for comparison in made:
            if comparison.metric != metric:
                continue
            printed = comparison.printed
            if printed is not None and not _is_among(printed, shown):
                shown.append(printed)
            shown.append(comparison)
        for comparison in shown:
            rows.append(((metric, comparison.source), _test_cells(comparison)))
    return captioned("table-6", rows, control=CONTROL)


def _is_among(comparison: MethodComparison, others: Iterable[MethodComparison]) -> bool:
    """Whether one of the others compares the same scores."""
    return any(other.scores.equals(comparison.scores) for other in others)


def _printed_cells(metric: str) -> list[TableCell]:
    """What the paper's Table VI says of a metric; the rest stays empty."""
    table = table_vi()
    empty = TableCell("")
    return [
        number(table.n_datasets, "d"),
        number(table.n_methods, "d"),
        empty,
        number(table.F[metric]),
        number(table.critical_value),
        empty,
        empty,
        number(table.critical_difference, ".4f"),
        *[empty] * 4,
    ]


def _test_cells(comparison: MethodComparison) -> list[TableCell]:
    """A line of Table VI."""
    test = comparison.test
    limit = test.critical_value()
    dunn = comparison.dunn
    by_holm = comparison.stepdown.significant

    def names(significant: pd.Series, *, worse: bool) -> TableCell:
        differing = comparison.differing(significant, worse=worse)
        return TableCell(", ".join(differing) or "none")

    return [
        number(test.n_datasets, "d"),
        number(test.n_methods, "d"),
        number(test.chi2),
        TableCell(f_text(test.f), test.f, bold=test.f > limit),
        number(limit),
        TableCell(p_text(test.p_value), test.p_value),
        number(comparison.control_rank),
        number(dunn.critical_difference, ".4f"),
        number(comparison.pairs.critical_difference, ".4f"),
        names(dunn.significant, worse=True),
        names(by_holm, worse=True),
        names(by_holm, worse=False),
    ]


def rank_table(made: Iterable[MethodComparison], source: str) -> ReportTable | None:
    """Mean ranks of one source, with those of the printed Table V in the same place.

    None where nothing of this source was compared.
    """
    of_source = [comparison for comparison in made if comparison.source == source]
    if not of_source:
        return None
    cells: dict[str, dict[str, TableCell]] = {}
    for comparison in of_source:
        for name, cell in _rank_cells(comparison).items():
            cells.setdefault(name, {})[comparison.metric] = cell
    nothing = TableCell("—")
    rows: list[TableLine] = []
    for name, by_metric in cells.items():
        rows.append(((name,), [by_metric.get(metric, nothing) for metric in METRICS]))
    name = source.removeprefix("ours, ").replace(", ", "-").replace(" ", "-")
    n = max(comparison.test.n_datasets for comparison in of_source)
    return captioned("ranks", rows, key=f"ranks-{name}", source=source, n=n)


def _rank_cells(comparison: MethodComparison) -> dict[str, TableCell]:
    """Mean ranks by method; the best is bold."""
    ranks = comparison.test.mean_ranks
    printed = {}
    if comparison.printed is not None:
        printed = dict(comparison.printed.test.mean_ranks)
    cells = {}
    for name, rank in ranks.items():
        cell = replace(number(rank), bold=rank == ranks.min())
        if name in printed:
            other = float(printed[name])
            gap = rank - other
            cell = replace(
                cell, paper=f"{other:.2f}", paper_value=other, difference=gap
            )
        cells[name] = cell
    return cells


def f_text(f: float) -> str:
    """An F, which is infinite where all data sets rank the methods alike."""
    return "∞" if f == np.inf else f"{f:.2f}"


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
