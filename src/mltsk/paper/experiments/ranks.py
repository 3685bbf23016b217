"""Table VI: do the methods differ? For our results, and again from the printed Table V.

Each metric is ranked with the settings that are best for it, as the paper does. Data sets enter that every compared
method has finished; methods that have finished less than half as many sets as another are left out, so that one
latecomer does not empty the comparison.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from .published import CONTROL, METHODS, METRICS, printed_means, table_i, table_vi
from .results import Results
from .tables import Table, TableCell, captioned, number

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
    printed: "Comparison | None" = (
        None  # from the printed Table V, on those data sets and methods that it has
    )

    @property
    def control_rank(self) -> float:
        """Mean rank of the control."""
        return float(self.test.mean_ranks[self.control])

    def differing(self, significant: Any, *, worse: bool) -> list[str]:
        """Methods that a test tells from the control, on the named side of it."""
        gap = self.dunn.rank_differences
        return [
            name for name in significant.index[significant] if (gap[name] > 0) == worse
        ]


def compare(
    source: str, metric: str, scores: pd.DataFrame, control: str
) -> Iterator[Comparison]:
    """Every test on one table of scores; nothing when it has fewer than two rows or columns."""
    if min(scores.shape) >= 2:
        test = friedman(scores.round(10), greater_is_better=metric == "AP")
        ranks, n = test.mean_ranks, test.n_datasets
        dunn, stepdown = (
            compared(ranks, n, control=control) for compared in (bonferroni_dunn, holm)
        )
        yield Comparison(
            source, metric, scores, control, test, dunn, stepdown, nemenyi(ranks, n)
        )


def comparisons(results: Results) -> list[Comparison]:
    """Comparisons of the paper's printed values, then of ours under every protocol."""
    found = [
        one
        for metric in METRICS
        for one in compare(RECOMPUTED, metric, printed_means("V", metric), CONTROL)
    ]
    of_paper = [key for key in results.methods if results.paper_name(key)]
    own = [
        key for key in results.methods if not results.variant_of(key)
    ]  # a variant is no further method
    for protocol in results.run["protocols"]:
        groups = {f"ours, {protocol}": of_paper}
        if len(of_paper) < len(own):
            groups[f"ours, {protocol}, all methods"] = own
        for source, methods in groups.items():
            found += [
                one
                for metric in METRICS
                for one in _ours(results, source, metric, protocol, methods)
            ]
    return found


def _ours(
    results: Results, source: str, metric: str, protocol: str, methods: Sequence[str]
) -> Iterator[Comparison]:
    """Our means by one metric, without holes, and the printed ones on the same data sets and methods."""
    scores = results.finished(protocol, "each", metric)[list(methods)].replace(
        [np.inf, -np.inf], np.nan
    )
    done = scores.notna().sum()
    scores = scores.loc[:, done >= max(1, done.max() / 2)].dropna()
    titles, names = [results.title(key) for key in results.methods], {}
    for key in (
        scores.columns
    ):  # a title that is the paper's, or another method's, gets the key
        title = results.title(key)
        unique = (
            title
            if titles.count(title) == 1 and title not in METHODS
            else f"{title} ({key})"
        )
        names[key] = results.paper_name(key) or unique
    scores = scores.rename(columns=names)
    control = (
        CONTROL
        if CONTROL in scores.columns or scores.columns.empty
        else scores.columns[0]
    )
    sets, theirs = (
        [d for d in scores.index if d in table_i()],
        [m for m in METHODS if m in scores.columns],
    )
    label = f"paper, on {len(sets)} sets and {len(theirs)} methods"
    printed = (
        compare(label, metric, printed_means("V", metric).loc[sets, theirs], control)
        if control in theirs
        else ()
    )
    for one in compare(source, metric, scores, control):
        yield replace(one, printed=next(iter(printed), None))


def widest_sources(found: Sequence[Comparison]) -> list[str]:
    """Our sources, of each protocol the one with the most methods."""
    sources = list(
        dict.fromkeys(one.source for one in found if one.source.startswith("ours"))
    )
    return [source for source in sources if f"{source}, all methods" not in sources]


def table_six(found: Sequence[Comparison]) -> Table:
    """Table VI from `comparisons`; a printed one stands where it is new, before the first of ours that refers to it."""
    t, none, rows = table_vi(), TableCell(""), []
    for metric in METRICS:
        sizes = number(t.n_datasets, "d"), number(t.n_methods, "d"), none
        limits = (
            number(t.F[metric]),
            number(t.critical_value),
            none,
            none,
            number(t.critical_difference, ".4f"),
        )
        rows.append(((metric, "paper, printed"), (*sizes, *limits, *[none] * 4)))
        shown: list[Comparison] = []
        for one in (one for one in found if one.metric == metric):
            if one.printed is not None and not any(
                other.scores.equals(one.printed.scores) for other in shown
            ):
                shown.append(one.printed)
            shown.append(one)
        rows += [((metric, one.source), _test_cells(one)) for one in shown]
    return captioned("table-6", rows, control=CONTROL)


def _test_cells(one: Comparison) -> tuple[TableCell, ...]:
    test, holm = one.test, one.stepdown.significant
    sizes, limit = (
        [number(n, "d") for n in (test.n_datasets, test.n_methods)],
        test.critical_value(),
    )
    f, p = (
        TableCell(f_text(test.f), test.f, bold=test.f > limit),
        TableCell(p_text(test.p_value), test.p_value),
    )
    differences = [
        number(found.critical_difference, ".4f") for found in (one.dunn, one.pairs)
    ]
    named = ((one.dunn.significant, True), (holm, True), (holm, False))
    names = [
        TableCell(", ".join(one.differing(significant, worse=worse)) or "none")
        for significant, worse in named
    ]
    return (
        *sizes,
        number(test.chi2),
        f,
        number(limit),
        p,
        number(one.control_rank),
        *differences,
        *names,
    )


def rank_table(found: Sequence[Comparison], source: str) -> Table | None:
    """Mean ranks of one source, with those of the printed Table V on the same data sets and methods."""
    mine, cells = (
        [one for one in found if one.source == source],
        dict[tuple[str, str], TableCell](),
    )
    for one in mine:
        ranks, printed = (
            one.test.mean_ranks,
            {} if one.printed is None else dict(one.printed.test.mean_ranks),
        )
        for name, rank in ranks.items():
            other = float(printed[name]) if name in printed else None
            paper = (
                {}
                if other is None
                else {
                    "paper": f"{other:.2f}",
                    "paper_value": other,
                    "difference": rank - other,
                }
            )
            cells[name, one.metric] = number(rank, bold=rank == ranks.min(), **paper)
    names = dict.fromkeys(name for name, _ in cells)
    rows = [
        ((name,), [cells.get((name, metric), TableCell("—")) for metric in METRICS])
        for name in names
    ]
    key = "ranks-" + source.removeprefix("ours, ").replace(", ", "-").replace(" ", "-")
    return (
        captioned(
            "ranks",
            rows,
            key=key,
            source=source,
            n=max(one.test.n_datasets for one in mine),
        )
        if mine
        else None
    )


def f_text(f: float) -> str:
    """An F, which is infinite where all data sets rank the methods alike."""
    return "∞" if f == np.inf else f"{f:.2f}"


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
