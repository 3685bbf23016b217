"""What a run says, in plain sentences made from its numbers: what reproduces, what does not, what is an artefact.

Every sentence has a number behind it, and a section without one is left out, so that an unfinished run has a summary
of what it has finished. AP is compared with the paper's Table III, settings chosen by AP. `headlines` are the few
numbers with which a report begins.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...text import plural
from . import published as paper
from .published import CONTROL, DEGENERATE_TIES, METHODS, TABLES
from .ranks import Comparison, f_text, p_text
from .results import WORTH, Results, worths
from .tables import signed

CLOSE, NEAR = 0.01, 0.03
FEW = 5  # of two methods the worse one on all of fewer data sets has p of 1/8 at best in a sign test
_SLACK = 1e-9  # .83 − .82 is above .01 in floating point
_STEPS = {
    "leak": "Scaling and clustering on all rows (protocol paper against strict, whose folds are cut otherwise)",
    "selection": "Choosing settings on the reported folds (protocol strict against nested)",
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
    results: Results, gaps: pd.DataFrame, found: Sequence[Comparison]
) -> list[Section]:
    """The summary of a run, from `paper_gaps` and `ranks.comparisons`."""
    sections = [
        ("How far the run is", progress_sentences(results)),
        ("What reproduces", reproduced(results, gaps)),
        ("What does not, and by how much", differing(results, gaps)),
        ("What other readings of a method give", reading_sentences(results)),
        ("What is an artefact", artefact_sentences(results)),
        ("What the leak and the selection are worth", protocol_sentences(results)),
        ("Whether the methods differ", rank_sentences(found)),
        ("Methods that are not in the paper", outsiders(results)),
    ]
    told = [Section(title, tuple(sentences)) for title, sentences in sections]
    return [section for section in told if section.sentences]


def to_markdown(sections: Iterable[Section]) -> str:
    """The summary as Markdown."""
    return "\n".join(
        f"## {s.title}\n" + "".join(f"- {line}\n" for line in s.sentences)
        for s in sections
    )


def paper_gaps(results: Results) -> pd.DataFrame:
    """Ours less the paper's Table III, one row per finished cell that the paper has, all metrics."""
    frame, cells, rows = (
        results.choices[results.main_protocol, "AP"],
        paper.published_table("III"),
        [],
    )
    for row in frame[
        (frame["folds"] >= frame["expected"]) & np.isfinite(frame["mean"])
    ].itertuples():
        place = (row.dataset, row.metric, results.paper_name(row.method))
        if place in cells:
            printed, wrong = cells[place].mean, bool(paper.artefacts_of("III", *place))
            rows.append(
                (
                    row.dataset,
                    place[2],
                    row.metric,
                    row.mean,
                    printed,
                    row.mean - printed,
                    wrong,
                )
            )
    frame = pd.DataFrame(
        rows,
        columns=["dataset", "method", "metric", "ours", "paper", "gap", "artefact"],
    )
    return frame.astype({"artefact": bool})


def headlines(
    results: Results, gaps: pd.DataFrame, found: Sequence[Comparison]
) -> Iterator[Headline]:
    """The numbers with which a report begins, as many as the run has."""
    control, fair = (
        gaps[(gaps["metric"] == "AP") & (gaps["method"] == CONTROL)],
        gaps[~gaps["artefact"]],
    )
    if len(control):
        label, mean = (
            f"data sets with AP of {CONTROL} within {CLOSE} of Table III",
            signed(control["gap"].mean()),
        )
        yield Headline(
            f"{_within(control, CLOSE).sum()} of {len(control)}",
            label,
            f"mean difference {mean}",
        )
    if len(fair):
        label, left_out = (
            f"comparable cells of Table III within {NEAR}",
            len(gaps) - len(fair),
        )
        yield Headline(
            f"{_within(fair, NEAR).sum()} of {len(fair)}",
            label,
            f"{left_out} more cannot be compared",
        )
    ours = next(
        (one for one in found if one.metric == "AP" and one.source.startswith("ours")),
        None,
    )
    if ours is not None and ours.control == CONTROL:
        printed = (
            f"; the printed Table V: {ours.printed.control_rank:.2f}"
            if ours.printed
            else ""
        )
        detail = f"of {ours.test.n_methods} methods on {ours.test.n_datasets} data sets{printed}"
        yield Headline(
            f"{ours.control_rank:.2f}", f"mean rank of {CONTROL} by AP", detail
        )
    labels = {
        "leak": "what the leak adds to AP",
        "selection": "what choosing on reported folds adds to AP",
    }
    for what, gains in (
        (WORTH[pair], gains)
        for pair, gains in _ap_gains(results)
        if WORTH[pair] in labels
    ):
        detail = f"mean over {len(gains)} pairs of method and data set"
        yield Headline(signed(gains["gain"].mean()), labels[what], detail)
    frame = results.of_metric(results.main_protocol, "AP", "AP").query(
        "status != 'left out'"
    )
    done, failed = (frame["status"] == "done").sum(), (frame["failed"] > 0).sum()
    detail = f"protocol {results.main_protocol}" + (
        f", {failed} with failed folds" if failed else ""
    )
    yield Headline(
        f"{done} of {len(frame)}", "pairs of method and data set finished", detail
    )


def progress_sentences(results: Results) -> Iterator[str]:
    """How much of the run is there, under every protocol."""
    for protocol in results.run["protocols"]:
        frame = results.of_metric(protocol, "AP", "AP").query("status != 'left out'")
        there, done, failed = (
            frame[frame["folds"] > 0],
            (frame["status"] == "done").sum(),
            frame[frame["failed"] > 0],
        )
        methods, sets = (
            plural(frame["method"].nunique(), "method"),
            _sets(frame["dataset"].nunique()),
        )
        some = f"{there['method'].nunique()} of {methods} on {there['dataset'].nunique()} of {sets} so far"
        told = (
            f"{methods} on {sets}, all"
            if done == len(frame)
            else f"{some}, {done} of {len(frame)} pairs"
        )
        yield f"Protocol {protocol}: {told} finished."
        pairs = [
            f"{results.title(r.method)} on {results.dataset_title(r.dataset)} ({r.failed} of {r.expected} folds)"
            for r in failed.itertuples()
        ]
        if pairs:
            yield f"Failed folds in {plural(len(pairs), 'pair')} of method and data set: {_listed(pairs)}."
    if missing := [
        name for name in paper.table_i() if name not in results.run["datasets"]
    ]:
        yield f"Not run of the paper's {len(paper.table_i())} data sets: {_listed(missing)}."


def reproduced(results: Results, gaps: pd.DataFrame) -> Iterator[str]:
    """How close our results are to the paper's Table III."""
    for method, rows in _ap_by_method(gaps):
        close, near = rows[_within(rows, CLOSE)]["dataset"], _within(rows, NEAR).sum()
        named = (
            f" ({_titles(results, close)})" if len(close) and method == CONTROL else ""
        )
        told = f"{method}: AP within {CLOSE} of Table III on {len(close)} of {_sets(len(rows))}{named}"
        yield f"{told}, within {NEAR} on {near}; mean difference {signed(rows['gap'].mean())}."
    fair = gaps[~gaps["artefact"]]
    if len(fair):
        near = _within(fair, NEAR).sum()
        yield f"Over all methods and metrics {near} of {len(fair)} comparable cells of Table III are within {NEAR}."


def differing(results: Results, gaps: pd.DataFrame) -> Iterator[str]:
    """Where AP differs from the paper's, with the reason where one is known."""
    for method, rows in _ap_by_method(gaps):
        limit = CLOSE if method == CONTROL else NEAR
        rows = rows[~_within(rows, limit)].sort_values(
            "gap", key=lambda gap: -gap.abs(), kind="stable"
        )
        if not len(rows):
            continue
        gaps_of = (
            f"{results.dataset_title(r.dataset)} {signed(r.gap)} ({r.ours:.3f})"
            for r in rows.itertuples()
        )
        yield f"{method} differs by more than {limit} on {_sets(len(rows))}: {_listed(gaps_of)}."
        reasons: dict[tuple[str, str], list[str]] = {}
        for dataset in rows["dataset"]:
            if known := paper.explanation(method, dataset):
                reasons.setdefault(known, []).append(dataset)
        for (text, page), sets in reasons.items():
            yield f"{method} on {_titles(results, sets)}: {text} (docs/{page})."
        near, around = _readings(results, method, set(rows["dataset"]))
        for key, values in near.items():
            named = _listed(
                f"{results.dataset_title(d)} ({value:.3f})"
                for d, value in values.items()
            )
            yield f"{method} on {named}: within {NEAR} of the paper in the reading “{results.title(key)}”."
        explained = {*chain(*reasons.values(), *near.values())}
        unexplained = [
            dataset for dataset in rows["dataset"] if dataset not in explained
        ]
        if between := [dataset for dataset in unexplained if dataset in around]:
            yield f"{method} on {_titles(results, between)}: the paper's value lies between those of two readings."
        if rest := [dataset for dataset in unexplained if dataset not in around]:
            yield f"{method} on {_titles(results, rest)}: no reading that was run explains it."


def _readings(
    results: Results, method: str, datasets: set[str]
) -> tuple[dict[str, dict[str, float]], set[str]]:
    """Variants that come near a method's printed AP, with theirs; data sets with readings on both sides of it."""
    keys = [key for key in results.methods if results.column(key) == method]
    ap, near = (
        results.finished(results.main_protocol, "AP", "AP")[keys],
        dict[str, dict[str, float]](),
    )
    theirs = paper.printed_means("III", "AP")[method]
    for dataset, key in product(
        (d for d in results.datasets if d in datasets), filter(results.variant_of, keys)
    ):
        if abs(ap.loc[dataset, key] - theirs[dataset]) <= NEAR + _SLACK:
            near.setdefault(key, {})[dataset] = ap.loc[dataset, key]
    return near, {
        d for d in datasets if ap.loc[d].min() <= theirs[d] <= ap.loc[d].max()
    }


def reading_sentences(results: Results) -> Iterator[str]:
    """How far every reading of a method is from the paper, and how far the one that is compared, on the same data."""
    frame = results.finished(results.main_protocol, "AP", "AP")
    for key in [
        key
        for key in results.methods
        if results.variant_of(key) in frame and results.column(key)
    ]:
        original = results.variant_of(key)
        theirs = paper.printed_means("III", "AP")[results.paper_name(original)]
        both = frame[[key, original]].sub(theirs, axis=0).abs().dropna()
        if len(both):
            own, other = both.to_numpy().T
            told = f"{results.title(key)}: mean distance from Table III {own.mean():.3f} AP on {_sets(len(both))}, against"
            told += f" {other.mean():.3f} of {results.title(original)} as compared"
            yield f"{told}; closer on {(own < other).sum()}, within {NEAR} on {(own <= NEAR).sum()}."


def artefact_sentences(results: Results) -> Iterator[str]:
    """Printed values that cannot be compared, and degenerate settings of our own."""
    names = [results.paper_name(key) for key in results.methods]
    for table in TABLES:
        cells = [
            key
            for key in paper.published_table(table)
            if key[0] in results.datasets and key[2] in names
        ]
        if wrong := [
            found for key in cells if (found := paper.artefacts_of(table, *key))
        ]:
            shown = sum(
                any(artefact.standing == "shown" for artefact in found)
                for found in wrong
            )
            told = f"Table {table} of the paper: {len(wrong)} of the {len(cells)} printed cells next to ours cannot be"
            told += (
                f" compared, {shown} of them shown and {len(wrong) - shown} inferred"
            )
            yield f"{told}; the table's notes say why."
    for protocol in results.run["protocols"]:
        frame = results.of_metric(protocol, "each", "OE")
        frame = frame[frame["tied"] >= DEGENERATE_TIES]
        for method, rows in frame.groupby("method", sort=False):
            of = [
                f"{results.dataset_title(r.dataset)} {r.mean:.3f} ({100 * r.tied:.0f} %)"
                for r in rows.itertuples()
            ]
            told = f"Protocol {protocol}: the best OE of {results.title(method)} comes from scores that are mostly tied"
            yield f"{told} on {_sets(len(rows))} (share of tied rows): {_listed(of)}."


def protocol_sentences(results: Results) -> Iterator[str]:
    """What each step from a lenient to a strict protocol is worth in AP, settings chosen by AP."""
    for pair, gains in _ap_gains(results):
        gain, by_method = (
            gains["gain"],
            {key: rows["gain"] for key, rows in gains.groupby("method", sort=False)},
        )
        told = f"{_STEPS[WORTH[pair]]} is worth {signed(gain.mean())} AP on average over {len(gain)} pairs of method and"
        told += f" data set ({signed(gain.min())} to {signed(gain.max())})"
        for own in (
            own for key, own in by_method.items() if results.paper_name(key) == CONTROL
        ):
            told += f", {signed(own.mean())} for {CONTROL} on {len(own)}"
        most = max(
            filter(by_method.__contains__, results.methods),
            key=lambda key: by_method[key].mean(),
        )
        yield f"{told}, most for {results.title(most)} ({signed(by_method[most].mean())})."


def rank_sentences(found: Sequence[Comparison]) -> Iterator[str]:
    """What the tests say of AP and, for the first source, of the other metrics; the rest is in Table VI."""
    sources = list(
        dict.fromkeys(one.source for one in found if one.source.startswith("ours"))
    )
    for source in sources:
        mine = [one for one in found if one.source == source]
        shown = [one for one in mine if one.metric == "AP" or source == sources[0]]
        tests = _listed(
            f"{one.metric} F = {f_text(one.test.f)} (p {p_text(one.test.p_value)})"
            for one in shown
        )
        sizes = f"{mine[0].test.n_methods} methods on {_sets(mine[0].test.n_datasets)}"
        sizes += (
            " (too few for these tests to mean much)"
            if mine[0].test.n_datasets < FEW
            else ""
        )
        told = [f"{source[0].upper()}{source[1:]}: {sizes}, {tests}."]
        for one in (one for one in mine if one.metric == "AP"):
            ranks, worse = (
                one.test.mean_ranks,
                one.differing(one.stepdown.significant, worse=True),
            )
            place = f"place {int((ranks < one.control_rank).sum()) + 1} of {len(ranks)}"
            place += (
                f" (the printed Table V gives {one.printed.control_rank:.2f})"
                if one.printed
                else ""
            )
            named = _listed(worse) if worse else f"none of {len(ranks) - 1}"
            told.append(
                f"By AP {one.control} has mean rank {one.control_rank:.2f}, {place};"
            )
            told.append(f"significantly worse by Holm's test: {named}.")
        yield " ".join(told)


def outsiders(results: Results) -> Iterator[str]:
    """How methods outside the paper compare, our default among them: in this run, and with the printed values."""
    for protocol in dict.fromkeys([results.main_protocol, *results.run["protocols"]]):
        ap = results.finished(protocol, "AP", "AP")
        against = {
            f"that of {CONTROL} in this run": ap[key]
            for key in ap
            if results.paper_name(key) == CONTROL
        }
        against[f"the paper's Table III value of {CONTROL}"] = paper.printed_means(
            "III", "AP"
        )[CONTROL]
        for key in [key for key in ap if not results.column(key)]:
            told = []
            for what, gap in (
                (what, (ap[key] - other).dropna()) for what, other in against.items()
            ):
                mean = f"(mean difference {signed(gap.mean())})"
                told += (
                    [f"above {what} on {(gap > 0).sum()} of {_sets(len(gap))} {mean}"]
                    if len(gap)
                    else []
                )
            if told:
                yield f"{results.title(key)}, protocol {protocol}: AP {' and '.join(told)}."


def _ap_gains(results: Results) -> Iterable[tuple[tuple[str, str], pd.DataFrame]]:
    """What AP gains under the more lenient protocol of each pair, where there is anything to compare."""
    for pair in results.protocol_pairs:
        gains = worths(results, pair, "AP")
        gains = gains[gains["metric"] == "AP"]
        if len(gains):
            yield pair, gains


def _ap_by_method(gaps: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Gaps in AP of each method that has any, the paper's own first."""
    for method in METHODS[::-1]:
        rows = gaps[(gaps["metric"] == "AP") & (gaps["method"] == method)]
        if len(rows):
            yield method, rows


def _within(gaps: pd.DataFrame, limit: float) -> Any:
    return gaps["gap"].abs() <= limit + _SLACK


def _titles(results: Results, datasets: Iterable[str]) -> str:
    return _listed(map(results.dataset_title, datasets))


def _sets(n: int) -> str:
    return plural(n, "data set")


def _listed(items: Iterable[str]) -> str:
    *first, last = list(items)
    return f"{', '.join(first)} and {last}" if first else last
