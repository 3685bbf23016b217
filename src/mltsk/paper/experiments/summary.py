"""What a run says, in plain sentences made from its numbers: what reproduces, what does not, what is an artefact.

Every sentence has a number behind it, and a section without one is left out, so that an unfinished run has a summary
of what it has finished. AP is compared with the paper's Table III, settings chosen by AP.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .artefacts import DEGENERATE_TIES, artefacts_of, explanation
from .paper import METHODS, METRICS, published_table, table_i
from .rank_tables import CONTROL, Comparison, f_text, p_text
from .results import Results
from .selection import datasets_of, methods_of
from .summary_protocols import protocol_sentences
from .table import signed
from .tables import Choices, method_title, title_of

CLOSE, NEAR = 0.01, 0.03
FEW = 5  # of two methods the worse one on all of fewer data sets has p of 1/8 at best in a sign test
_SLACK = 1e-9  # .83 − .82 is above .01 in floating point


@dataclass(frozen=True)
class Section:
    """A heading and its sentences."""

    title: str
    sentences: tuple[str, ...]


def summarise(results: Results, choices: Choices, found: Sequence[Comparison]) -> list[Section]:
    """The summary of a run.

    Parameters
    ----------
    results : Results
    choices : mapping
        From `selection.chosen_all`.
    found : sequence of Comparison
        From `rank_tables.comparisons`.
    """
    gaps = paper_gaps(results, choices)
    sections = [
        ("How far the run is", progress_sentences(results, choices)),
        ("What reproduces", reproduced(results, gaps)),
        ("What does not, and by how much", differing(results, gaps)),
        ("What is an artefact", artefact_sentences(results, choices)),
        ("What the leak and the selection are worth", protocol_sentences(results, choices)),
        ("Whether the methods differ", rank_sentences(found)),
        ("Methods that are not in the paper", outsiders(results, choices)),
    ]
    return [Section(title, tuple(sentences)) for title, sentences in sections if sentences]


def to_markdown(sections: Iterable[Section]) -> str:
    """The summary as Markdown.

    Examples
    --------
    >>> print(to_markdown([Section("What reproduces", ("3 of 3 cells.",))]))
    ## What reproduces
    - 3 of 3 cells.
    <BLANKLINE>
    """
    return "\n".join(f"## {s.title}\n" + "".join(f"- {line}\n" for line in s.sentences) for s in sections)


def main_protocol(results: Results) -> str:
    """The protocol that is compared with the paper: its own where it was run."""
    protocols = results.run["protocols"]
    return "paper" if "paper" in protocols else str(protocols[0])


def paper_gaps(results: Results, choices: Choices) -> pd.DataFrame:
    """Ours less the paper's Table III, one row a finished cell that the paper has, all metrics."""
    frame = choices[main_protocol(results), "AP"]
    cells, rows = published_table("III"), []
    for row in frame[(frame["folds"] >= frame["expected"]) & np.isfinite(frame["mean"])].to_dict("records"):
        name = str(results.run["methods"][row["method"]].get("paper") or "")
        if (row["dataset"], row["metric"], name) in cells:
            printed = cells[row["dataset"], row["metric"], name].mean
            wrong = bool(artefacts_of("III", row["dataset"], row["metric"], name))
            rows.append((row["dataset"], name, row["metric"], row["mean"], printed, row["mean"] - printed, wrong))
    return pd.DataFrame(rows, columns=["dataset", "method", "metric", "ours", "paper", "gap", "artefact"])


def progress_sentences(results: Results, choices: Choices) -> list[str]:
    """How much of the run is there, under every protocol."""
    sentences = []
    for protocol in results.run["protocols"]:
        frame = choices[protocol, "AP"]
        frame = frame[frame["metric"] == "AP"]
        there = frame[frame["folds"] > 0]
        done, failed = int(np.sum(frame["status"] == "done")), frame[frame["failed"] > 0]
        if done == len(frame):
            methods, sets = _counted(len(methods_of(results)), "method"), _sets(len(datasets_of(results)))
            sentences.append(f"Protocol {protocol}: {methods} on {sets}, all finished.")
        else:
            sentences.append(
                f"Protocol {protocol}: {there['method'].nunique()} of {len(methods_of(results))} methods on "
                f"{there['dataset'].nunique()} of {_sets(len(datasets_of(results)))} so far, {done} of {len(frame)} "
                "pairs finished."
            )
        if len(failed):
            names = _listed(
                f"{method_title(results, row.method)} on {title_of(results, row.dataset)} ({row.failed} of "
                f"{row.expected} folds)"
                for row in failed.itertuples()
            )
            sentences.append(f"Failed folds in {_counted(len(failed), 'pair')} of method and data set: {names}.")
    missing = [name for name in table_i() if name not in results.run["datasets"]]
    if missing:
        sentences.append(f"Not run of the paper's {len(table_i())} data sets: {_listed(missing)}.")
    return sentences


def reproduced(results: Results, gaps: pd.DataFrame) -> list[str]:
    """How close our results are to the paper's Table III."""
    ap, sentences = gaps[gaps["metric"] == "AP"], []
    for method in METHODS[::-1]:  # the paper's own method first
        rows = ap[ap["method"] == method]
        if len(rows):
            close, near = (rows[rows["gap"].abs() <= limit + _SLACK]["dataset"] for limit in (CLOSE, NEAR))
            named = f" ({_listed(title_of(results, d) for d in close)})" if len(close) and method == CONTROL else ""
            sentences.append(
                f"{method}: AP within {CLOSE} of Table III on {len(close)} of {_sets(len(rows))}{named}, within "
                f"{NEAR} on {len(near)}; mean difference {signed(float(rows['gap'].mean()))}."
            )
    fair = gaps[~gaps["artefact"]]
    if len(fair):
        near = int(np.sum(fair["gap"].abs() <= NEAR + _SLACK))
        sentences.append(
            f"Over all methods and metrics {near} of {len(fair)} comparable cells of Table III are within {NEAR}."
        )
    return sentences


def differing(results: Results, gaps: pd.DataFrame) -> list[str]:
    """Where AP differs from the paper's, with the reason where one is known."""
    ap, sentences = gaps[gaps["metric"] == "AP"], []
    for method in METHODS[::-1]:
        limit = CLOSE if method == CONTROL else NEAR
        rows = ap[(ap["method"] == method) & (ap["gap"].abs() > limit + _SLACK)]
        if not len(rows):
            continue
        rows = rows.reindex(rows["gap"].abs().sort_values(ascending=False, kind="stable").index)
        listed = _listed(f"{title_of(results, r.dataset)} {signed(r.gap)} ({r.ours:.3f})" for r in rows.itertuples())
        sentences.append(f"{method} differs by more than {limit} on {_sets(len(rows))}: {listed}.")
        sentences += _reasons(results, method, rows["dataset"])
    return sentences


def artefact_sentences(results: Results, choices: Choices) -> list[str]:
    """Printed values that cannot be compared, and degenerate settings of our own."""
    sentences = []
    names = [str(results.run["methods"][key].get("paper")) for key in methods_of(results)]
    for table in ("III", "IV", "V"):
        hit = [(d, k, m) for d in datasets_of(results) for k in METRICS for m in names if artefacts_of(table, d, k, m)]
        cells = [key for key in published_table(table) if key[0] in datasets_of(results) and key[2] in names]
        if hit:
            shown = sum(any(a.standing == "shown" for a in artefacts_of(table, *key)) for key in hit)
            sentences.append(
                f"Table {table} of the paper: {len(hit)} of the {len(cells)} printed cells beside ours cannot be "
                f"compared, {shown} of them shown and {len(hit) - shown} inferred; the table's notes say why."
            )
    for protocol in results.run["protocols"]:
        sentences += _degenerate_choices(results, choices, protocol)
    return sentences


def rank_sentences(found: Sequence[Comparison]) -> list[str]:
    """What the tests say of AP and the other metrics."""
    sentences: list[str] = []
    for source in dict.fromkeys(one.source for one in found if one.source.startswith("ours")):
        mine = [one for one in found if one.source == source]
        shown = mine if not sentences else [one for one in mine if one.metric == "AP"]  # the rest is in Table VI
        tests = _listed(f"{one.metric} F = {f_text(one.test.f)} (p {p_text(one.test.p_value)})" for one in shown)
        ranks = " ".join(_control_sentence(one) for one in mine if one.metric == "AP")
        sizes = f"{mine[0].test.n_methods} methods on {_sets(mine[0].test.n_datasets)}"
        sizes += " (too few for these tests to mean much)" if mine[0].test.n_datasets < FEW else ""
        sentences.append(f"{source[0].upper()}{source[1:]}: {sizes}, {tests}. {ranks}".strip())
    return sentences


def outsiders(results: Results, choices: Choices) -> list[str]:
    """How methods outside the paper compare, our default among them."""
    sentences = []
    for protocol in dict.fromkeys([main_protocol(results), *results.run["protocols"]]):
        frame = choices[protocol, "AP"]
        frame = frame[(frame["metric"] == "AP") & (frame["folds"] >= frame["expected"])]
        ap = frame.pivot(index="dataset", columns="method", values="mean")
        for key in methods_of(results):
            if key in ap.columns and results.run["methods"][key].get("paper") not in METHODS:
                sentences += _outsider(results, ap, key, protocol)
    return sentences


def _outsider(results: Results, ap: pd.DataFrame, key: str, protocol: str) -> list[str]:
    """A method's AP against that of the paper's method, in this run and as printed."""
    parts = []
    control = next((k for k in ap.columns if results.run["methods"][k].get("paper") == CONTROL), None)
    if control is not None:
        parts.append((f"that of {CONTROL} in this run", (ap[key] - ap[control]).dropna()))
    printed = pd.Series({d: published_table("III")[d, "AP", CONTROL].mean for d in ap.index if d in table_i()})
    parts.append((f"the paper's Table III value of {CONTROL}", (ap[key] - printed.astype(float)).dropna()))
    told = [
        f"above {what} on {int(np.sum(gap > 0))} of {_sets(len(gap))} (mean difference {signed(float(gap.mean()))})"
        for what, gap in parts
        if len(gap)
    ]
    return [f"{method_title(results, key)}, protocol {protocol}: AP {' and '.join(told)}."] if told else []


def _degenerate_choices(results: Results, choices: Choices, protocol: str) -> list[str]:
    frame = choices[protocol, "each"]
    frame = frame[(frame["metric"] == "OE") & (frame["tied"] >= DEGENERATE_TIES)]
    sentences = []
    for method, rows in frame.groupby("method", sort=False):
        listed = _listed(
            f"{title_of(results, r.dataset)} {r.mean:.3f} ({100 * r.tied:.0f} %)" for r in rows.itertuples()
        )
        sentences.append(
            f"Protocol {protocol}: the best OE of {method_title(results, str(method))} comes from scores that are "
            f"mostly tied on {_sets(len(rows))} (share of tied rows): {listed}."
        )
    return sentences


def _control_sentence(one: Comparison) -> str:
    ranks = one.test.mean_ranks
    place = int((ranks < ranks[one.control]).sum()) + 1
    worse = one.differing(one.stepdown.significant, worse=True)
    beside = f" (the printed Table V gives {one.printed.test.mean_ranks[one.control]:.2f})" if one.printed else ""
    return (
        f"By {one.metric} {one.control} has mean rank {ranks[one.control]:.2f}, place {place} of {len(ranks)}{beside}; "
        f"significantly worse by Holm's test: {_listed(worse) if worse else 'none of ' + str(len(ranks) - 1)}."
    )


def _reasons(results: Results, method: str, datasets: Iterable[str]) -> list[str]:
    """Known reasons of differences, one sentence a reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for dataset in datasets:
        if (known := explanation(method, dataset)) is not None:
            reasons.setdefault(known, []).append(title_of(results, dataset))
    return [f"{method} on {_listed(sets)}: {text} (docs/{page})." for (text, page), sets in reasons.items()]


def _sets(n: int) -> str:
    return _counted(n, "data set")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _listed(items: Iterable[str]) -> str:
    *first, last = list(items)
    return f"{', '.join(first)} and {last}" if first else last
