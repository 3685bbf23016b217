"""A run in plain sentences: what reproduces, what does not, what is an artefact.

Every sentence has a number behind it, and a section without one is left out, so that an
unfinished run has a summary of what it has finished. AP is compared with the paper's
Table III, settings chosen by AP. `headlines` are the few numbers with which a report
begins.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...text import listing, plural
from . import published as paper
from .published import CONTROL, DEGENERATE_TIES, PAPER_METHODS, RESULT_TABLES
from .ranks import MethodComparison, f_text, own_sources, p_text
from .results import WORTH, Results, worths
from .tables import signed

# Differences in AP up to which a result counts as close to the paper's, and as near it.
CLOSE = 0.01
NEAR = 0.03
# On fewer data sets rank tests mean little: where one of two methods is worse on all of
# four, a sign test has p of 1/8 at best.
MIN_RANKED_SETS = 5
_ROUNDING_SLACK = 1e-9  # .83 − .82 is above .01 in floating point
_WORTH_SUBJECTS = {
    "leak": (
        "Scaling and clustering on all rows "
        "(protocol paper against strict, whose folds are cut otherwise)"
    ),
    "selection": (
        "Choosing settings on the reported folds (protocol strict against nested)"
    ),
    "both": "Both together (protocol paper against nested)",
}


class Section(NamedTuple):
    """A heading and its sentences."""

    title: str
    sentences: tuple[str, ...]


class Headline(NamedTuple):
    """A number, what it counts, and a line in small print."""

    value: str
    label: str
    detail: str


def summarise(
    results: Results, gaps: pd.DataFrame, compared: Sequence[MethodComparison]
) -> list[Section]:
    """The summary of a run, from `paper_gaps` and `ranks.comparisons`."""
    contents = {
        "How far the run is": chain(
            progress_sentences(results), settings_sentences(results, gaps)
        ),
        "What reproduces": reproduced_sentences(results, gaps),
        "What does not, and by how much": differing_sentences(results, gaps),
        "What other readings of a method give": reading_sentences(results),
        "What is an artefact": artefact_sentences(results),
        "What the leak and the selection are worth": protocol_sentences(results),
        "Whether the methods differ": rank_sentences(compared),
        "Methods that are not in the paper": outsider_sentences(results),
    }
    sections = [Section(title, tuple(lines)) for title, lines in contents.items()]
    return [section for section in sections if section.sentences]


def to_markdown(sections: Iterable[Section]) -> str:
    """The summary as Markdown."""
    texts = []
    for section in sections:
        lines = [f"- {sentence}\n" for sentence in section.sentences]
        texts.append(f"## {section.title}\n{''.join(lines)}")
    return "\n".join(texts)


def paper_gaps(results: Results) -> pd.DataFrame:
    """Ours less the paper's Table III, one row per finished cell that the paper has."""
    frame = results.choices[results.main_protocol, "AP"]
    is_finished = (frame["folds"] >= frame["expected"]) & np.isfinite(frame["mean"])
    printed = paper.published_table("III")
    rows = []
    for choice in frame[is_finished].itertuples():
        place = (choice.dataset, choice.metric, results.paper_name(choice.method))
        if place not in printed:
            continue
        rows.append(
            {
                "dataset": choice.dataset,
                "method": place[2],
                "metric": choice.metric,
                "ours": choice.mean,
                "paper": printed[place].mean,
                "gap": choice.mean - printed[place].mean,
                "n_settings": choice.n_settings,
                "artefact": bool(paper.artefacts_of("III", *place)),
            }
        )
    columns = ["dataset", "method", "metric", "ours", "paper", "gap"]
    columns += ["n_settings", "artefact"]
    return pd.DataFrame(rows, columns=columns).astype({"artefact": bool})


def headlines(
    results: Results, gaps: pd.DataFrame, compared: Sequence[MethodComparison]
) -> Iterator[Headline]:
    """The numbers with which a report begins, as many as the run has."""
    yield from _closeness_headlines(gaps)
    yield from _rank_headlines(compared)
    yield from _protocol_headlines(results)
    yield _progress_headline(results)


def _closeness_headlines(gaps: pd.DataFrame) -> Iterator[Headline]:
    """How many values are as in the paper."""
    control = gaps[(gaps["metric"] == "AP") & (gaps["method"] == CONTROL)]
    if len(control):
        yield Headline(
            value=f"{_within(control, CLOSE).sum()} of {len(control)}",
            label=f"data sets with AP of {CONTROL} within {CLOSE} of Table III",
            detail=f"mean difference {signed(control['gap'].mean())}",
        )
    comparable = gaps[~gaps["artefact"]]
    if len(comparable):
        yield Headline(
            value=f"{_within(comparable, NEAR).sum()} of {len(comparable)}",
            label=f"comparable cells of Table III within {NEAR}",
            detail=f"{len(gaps) - len(comparable)} more cannot be compared",
        )


def _rank_headlines(compared: Sequence[MethodComparison]) -> Iterator[Headline]:
    """The mean rank of the paper's method in the first of our comparisons by AP."""
    sources = own_sources(compared)
    by_ap = [one for one in compared if one.metric == "AP" and one.source in sources]
    if not by_ap or by_ap[0].control != CONTROL:
        return
    first = by_ap[0]
    detail = f"of {first.test.n_methods} methods on {first.test.n_datasets} data sets"
    if first.printed:
        detail += f"; the printed Table V: {first.printed.control_rank:.2f}"
    label = f"mean rank of {CONTROL} by AP"
    yield Headline(f"{first.control_rank:.2f}", label, detail)


def _protocol_headlines(results: Results) -> Iterator[Headline]:
    """What the leak and the selection add to AP."""
    labels = {
        "leak": "what the leak adds to AP",
        "selection": "what choosing on reported folds adds to AP",
    }
    for pair, gains in _ap_gains(results):
        label = labels.get(WORTH[pair])
        if label is not None:
            detail = f"mean over {len(gains)} pairs of method and data set"
            yield Headline(signed(gains["gain"].mean()), label, detail)


def _progress_headline(results: Results) -> Headline:
    """How many pairs of method and data set are finished."""
    frame = _planned(results, results.main_protocol)
    done = (frame["status"] == "done").sum()
    failed = (frame["failed"] > 0).sum()
    detail = f"protocol {results.main_protocol}"
    if failed:
        detail += f", {failed} with failed folds"
    label = "pairs of method and data set finished"
    return Headline(f"{done} of {len(frame)}", label, detail)


def _planned(results: Results, protocol: str) -> pd.DataFrame:
    """Choices by AP of all pairs of method and data set that the run is to have."""
    frame = results.of_metric(protocol, "AP", "AP")
    return frame[frame["status"] != "left out"]


def progress_sentences(results: Results) -> Iterator[str]:
    """How much of the run is there, under every protocol."""
    for protocol in results.run["protocols"]:
        frame = _planned(results, protocol)
        begun = frame[frame["folds"] > 0]
        done = (frame["status"] == "done").sum()
        methods = plural(frame["method"].nunique(), "method")
        sets = _sets(frame["dataset"].nunique())
        if done == len(frame):
            extent = f"{methods} on {sets}, all"
        else:
            extent = (
                f"{begun['method'].nunique()} of {methods} "
                f"on {begun['dataset'].nunique()} of {sets} so far, "
                f"{done} of {len(frame)} pairs"
            )
        yield f"Protocol {protocol}: {extent} finished."
        pairs = []
        for row in frame[frame["failed"] > 0].itertuples():
            pair = (
                f"{results.title(row.method)} on {results.dataset_title(row.dataset)}"
            )
            pairs.append(f"{pair} ({row.failed} of {row.expected} folds)")
        if pairs:
            n_pairs = plural(len(pairs), "pair")
            yield f"Failed folds in {n_pairs} of method and data set: {listing(pairs)}."
    names = paper.table_i()
    missing = [name for name in names if name not in results.run["datasets"]]
    if missing:
        yield f"Not run of the paper's {len(names)} data sets: {listing(missing)}."


def settings_sentences(results: Results, gaps: pd.DataFrame) -> Iterator[str]:
    """Which methods had fewer settings to choose from than in the paper's Table II."""
    shares = []
    for method, rows in _ap_by_method(gaps):
        for n_settings, same in rows.groupby("n_settings"):
            few = _few_settings(results, method, int(n_settings))
            if few and len(same) == len(rows):
                shares.append(f"{method} {few}")
            elif few:
                shares.append(f"{method} {few} on {_titles(results, same['dataset'])}")
    if shares:
        yield f"Fewer settings than those of Table II: {listing(shares)}."


def reproduced_sentences(results: Results, gaps: pd.DataFrame) -> Iterator[str]:
    """How close our results are to the paper's Table III."""
    for method, rows in _ap_by_method(gaps):
        close = rows[_within(rows, CLOSE)]["dataset"]
        names = ""
        if len(close) and method == CONTROL:
            names = f" ({_titles(results, close)})"
        yield (
            f"{method}: AP within {CLOSE} of Table III "
            f"on {len(close)} of {_sets(len(rows))}{names}, "
            f"within {NEAR} on {_within(rows, NEAR).sum()}; "
            f"mean difference {signed(rows['gap'].mean())}."
        )
    comparable = gaps[~gaps["artefact"]]
    if len(comparable):
        near = _within(comparable, NEAR).sum()
        yield (
            f"Over all methods and metrics {near} of {len(comparable)} comparable "
            f"cells of Table III are within {NEAR}."
        )


def differing_sentences(results: Results, gaps: pd.DataFrame) -> Iterator[str]:
    """Where AP differs from the paper's, with the reason where one is known."""
    for method, rows in _ap_by_method(gaps):
        limit = CLOSE if method == CONTROL else NEAR
        far = rows[~_within(rows, limit)]
        if far.empty:
            continue
        far = far.sort_values("gap", key=lambda gap: -gap.abs(), kind="stable")
        values = []
        had_less_choice = []
        for row in far.itertuples():
            title = results.dataset_title(row.dataset)
            few = _few_settings(results, method, row.n_settings)
            of_table = f", {few} settings" if few else ""
            values.append(f"{title} {signed(row.gap)} ({row.ours:.3f}{of_table})")
            if few and row.gap < 0:
                had_less_choice.append(row.dataset)
        sets = _sets(len(far))
        yield f"{method} differs by more than {limit} on {sets}: {listing(values)}."
        yield from _reasons(results, method, list(far["dataset"]), had_less_choice)


def _few_settings(results: Results, method: str, n_settings: int) -> str:
    """How many settings of Table II were run, where it was not all of them."""
    n_printed = prod(map(len, paper.grid(method).values()))
    if results.main_protocol == "nested" or not 0 < n_settings < n_printed:
        return ""
    return f"{n_settings:,} of {n_printed:,}"


def _reasons(
    results: Results,
    method: str,
    datasets: Sequence[str],
    had_less_choice: Sequence[str],
) -> Iterator[str]:
    """Why the AP of a method differs from the paper's on these data sets.

    On some it is lower, and fewer settings were run than the paper's.
    """
    names_by_reason: dict[tuple[str, str], list[str]] = {}
    for dataset in datasets:
        reason = paper.explanation(method, dataset)
        if reason:
            names_by_reason.setdefault(reason, []).append(dataset)
    for (text, page), names in names_by_reason.items():
        yield f"{method} on {_titles(results, names)}: {text} (docs/{page})."

    near = _near_readings(results, method, datasets)
    for key, aps in near.items():
        values = [f"{results.dataset_title(d)} ({ap:.3f})" for d, ap in aps.items()]
        yield (
            f"{method} on {listing(values)}: within {NEAR} of the paper "
            f"in the reading “{results.title(key)}”."
        )

    explained = {*chain(*names_by_reason.values(), *near.values())}
    unexplained = [dataset for dataset in datasets if dataset not in explained]
    between = _between_readings(results, method, unexplained)
    if between:
        where = f"{method} on {_titles(results, between)}"
        yield f"{where}: the paper's value lies between those of two readings."
    rest = [dataset for dataset in unexplained if dataset not in between]
    yield from _not_explained(results, method, rest, had_less_choice)


def _not_explained(
    results: Results,
    method: str,
    datasets: Sequence[str],
    had_less_choice: Sequence[str],
) -> Iterator[str]:
    """Where no reading explains the AP of a method, perhaps for want of settings."""
    less = [dataset for dataset in datasets if dataset in had_less_choice]
    if less:
        where = f"{method} on {_titles(results, less)}"
        yield f"{where}: the paper had more settings to choose from."
    rest = [dataset for dataset in datasets if dataset not in less]
    if rest:
        where = f"{method} on {_titles(results, rest)}"
        yield f"{where}: no reading that was run explains it."


def _ap_of_readings(results: Results, method: str) -> pd.DataFrame:
    """AP by data set of a method of the paper, as compared and in other readings."""
    keys = [key for key in results.methods if results.column(key) == method]
    return results.finished(results.main_protocol, "AP", "AP")[keys]


def _near_readings(
    results: Results, method: str, datasets: Sequence[str]
) -> dict[str, dict[str, float]]:
    """AP of the variants that come near a method's printed one, by key and data set."""
    ap = _ap_of_readings(results, method)
    printed = paper.printed_means("III", "AP")[method]
    variants = [key for key in ap if results.variant_of(key)]
    near: dict[str, dict[str, float]] = {}
    for dataset, key in product(results.datasets, variants):
        if dataset not in datasets:
            continue
        value = ap.loc[dataset, key]
        if abs(value - printed[dataset]) <= NEAR + _ROUNDING_SLACK:
            near.setdefault(key, {})[dataset] = value
    return near


def _between_readings(
    results: Results, method: str, datasets: Sequence[str]
) -> list[str]:
    """Data sets that have readings on both sides of a method's printed AP."""
    ap = _ap_of_readings(results, method).loc[datasets]
    printed = paper.printed_means("III", "AP")[method].reindex(datasets)
    is_between = (ap.min(axis=1) <= printed) & (printed <= ap.max(axis=1))
    return list(ap.index[is_between])


def reading_sentences(results: Results) -> Iterator[str]:
    """How far every reading of a method is from the paper's Table III.

    The reading that is compared stands next to it, on the same data sets.
    """
    frame = results.finished(results.main_protocol, "AP", "AP")
    for key in results.methods:
        original = results.variant_of(key)
        if original not in frame or not results.column(key):
            continue
        printed = paper.printed_means("III", "AP")[results.paper_name(original)]
        distances = frame[[key, original]].sub(printed, axis=0).abs().dropna()
        if distances.empty:
            continue
        own, other = distances.to_numpy().T
        yield (
            f"{results.title(key)}: mean distance from Table III {own.mean():.3f} AP "
            f"on {_sets(len(distances))}, against {other.mean():.3f} of "
            f"{results.title(original)} as compared; closer on {(own < other).sum()}, "
            f"within {NEAR} on {(own <= NEAR).sum()}."
        )


def artefact_sentences(results: Results) -> Iterator[str]:
    """Printed values that cannot be compared, and degenerate settings of our own."""
    for table in RESULT_TABLES:
        yield from _printed_artefacts(results, table)
    for protocol in results.run["protocols"]:
        frame = results.of_metric(protocol, "each", "OE")
        frame = frame[frame["tied"] >= DEGENERATE_TIES]
        for method, rows in frame.groupby("method", sort=False):
            values = []
            for row in rows.itertuples():
                title = results.dataset_title(row.dataset)
                values.append(f"{title} {row.mean:.3f} ({100 * row.tied:.0f} %)")
            yield (
                f"Protocol {protocol}: the best OE of {results.title(method)} comes "
                f"from scores that are mostly tied on {_sets(len(rows))} "
                f"(share of tied rows): {listing(values)}."
            )


def _printed_artefacts(results: Results, table: str) -> Iterator[str]:
    """How many printed cells of a table cannot be compared, if there are any."""
    names = [results.paper_name(key) for key in results.methods]
    standings = []
    for dataset, metric, method in paper.published_table(table):
        if dataset in results.datasets and method in names:
            wrong = paper.artefacts_of(table, dataset, metric, method)
            standings.append([artefact.standing for artefact in wrong])
    n_wrong = sum(map(bool, standings))
    n_shown = sum("shown" in standing for standing in standings)
    if n_wrong:
        yield (
            f"Table {table} of the paper: {n_wrong} of the {len(standings)} printed "
            f"cells next to ours cannot be compared, {n_shown} of them shown and "
            f"{n_wrong - n_shown} inferred; the table's notes say why."
        )


def protocol_sentences(results: Results) -> Iterator[str]:
    """What each step from a lenient to a strict protocol is worth in AP.

    Settings are chosen by AP.
    """
    for pair, gains in _ap_gains(results):
        gain = gains["gain"]
        sentence = (
            f"{_WORTH_SUBJECTS[WORTH[pair]]} is worth {signed(gain.mean())} AP on "
            f"average over {len(gain)} pairs of method and data set "
            f"({signed(gain.min())} to {signed(gain.max())})"
        )
        means = {}
        for method, rows in gains.groupby("method", sort=False):
            means[method] = rows["gain"].mean()
            if results.paper_name(method) == CONTROL:
                sentence += f", {signed(means[method])} for {CONTROL} on {len(rows)}"
        most = max(filter(means.__contains__, results.methods), key=means.__getitem__)
        yield f"{sentence}, most for {results.title(most)} ({signed(means[most])})."


def rank_sentences(compared: Sequence[MethodComparison]) -> Iterator[str]:
    """What the tests say of AP and, for the first source, of the other metrics.

    The rest is in Table VI.
    """
    sources = own_sources(compared)
    for source in sources:
        of_source = [one for one in compared if one.source == source]
        by_ap = [one for one in of_source if one.metric == "AP"]
        shown = of_source if source == sources[0] else by_ap
        tests = listing(map(_test_text, shown))
        n_methods = of_source[0].test.n_methods
        n_datasets = of_source[0].test.n_datasets
        sizes = f"{n_methods} methods on {_sets(n_datasets)}"
        if n_datasets < MIN_RANKED_SETS:
            sizes += " (too few for these tests to mean much)"
        sentences = [f"{source[0].upper()}{source[1:]}: {sizes}, {tests}."]
        sentences += map(_rank_text, by_ap)
        yield " ".join(sentences)


def _test_text(comparison: MethodComparison) -> str:
    """Metric, F and p of a comparison."""
    test = comparison.test
    return f"{comparison.metric} F = {f_text(test.f)} (p {p_text(test.p_value)})"


def _rank_text(comparison: MethodComparison) -> str:
    """Where the control stands by AP, and which methods are significantly worse."""
    rank = comparison.control_rank
    ranks = comparison.test.mean_ranks
    place = f"place {int((ranks < rank).sum()) + 1} of {len(ranks)}"
    if comparison.printed:
        printed = comparison.printed.control_rank
        place += f" (the printed Table V gives {printed:.2f})"
    worse = comparison.differing(comparison.stepdown.significant, worse=True)
    names = listing(worse) or f"none of {len(ranks) - 1}"
    return (
        f"By AP {comparison.control} has mean rank {rank:.2f}, {place}; "
        f"significantly worse by Holm's test: {names}."
    )


def outsider_sentences(results: Results) -> Iterator[str]:
    """How methods outside the paper compare with the paper's, our default among them.

    They are compared within this run, and with the printed values.
    """
    for protocol in dict.fromkeys([results.main_protocol, *results.run["protocols"]]):
        ap = results.finished(protocol, "AP", "AP")
        rivals = {}
        for key in ap:
            if results.paper_name(key) == CONTROL:
                rivals[f"that of {CONTROL} in this run"] = ap[key]
        printed = paper.printed_means("III", "AP")[CONTROL]
        rivals[f"the paper's Table III value of {CONTROL}"] = printed
        for key in ap:
            if results.column(key):
                continue
            verdicts = _verdicts(ap[key], rivals)
            if verdicts:
                name = f"{results.title(key)}, protocol {protocol}"
                yield f"{name}: AP {' and '.join(verdicts)}."


def _verdicts(ap: pd.Series, rivals: Mapping[str, pd.Series]) -> list[str]:
    """On how many data sets an AP is above that of each rival, and by how much."""
    verdicts = []
    for name, other in rivals.items():
        gap = (ap - other).dropna()
        if len(gap):
            above = f"above {name} on {(gap > 0).sum()} of {_sets(len(gap))}"
            verdicts.append(f"{above} (mean difference {signed(gap.mean())})")
    return verdicts


def _ap_gains(results: Results) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """What AP gains under the more lenient protocol of each pair.

    Pairs without anything to compare are left out.
    """
    for pair in results.protocol_pairs:
        gains = worths(results, pair, "AP")
        gains = gains[gains["metric"] == "AP"]
        if len(gains):
            yield pair, gains


def _ap_by_method(gaps: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Gaps in AP of each method that has any, the paper's own first."""
    for method in PAPER_METHODS[::-1]:
        rows = gaps[(gaps["metric"] == "AP") & (gaps["method"] == method)]
        if len(rows):
            yield method, rows


def _within(gaps: pd.DataFrame, limit: float) -> pd.Series:
    """Which gaps are at most a limit."""
    return gaps["gap"].abs() <= limit + _ROUNDING_SLACK


def _titles(results: Results, datasets: Iterable[str]) -> str:
    return listing(map(results.dataset_title, datasets))


def _sets(n: int) -> str:
    return plural(n, "data set")
