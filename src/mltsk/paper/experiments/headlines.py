"""The few numbers with which a report begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .protocol_tables import WORTH, pairs_of, worths
from .rank_tables import CONTROL, Comparison
from .results import Results
from .summary import CLOSE, NEAR, main_protocol
from .table import signed
from .tables import Choices

_WHAT = {"leak": "what the leak adds to AP", "selection": "what choosing on reported folds adds to AP"}


@dataclass(frozen=True)
class Headline:
    """A number, what it counts, and a line in small print."""

    value: str
    label: str
    detail: str


def headlines(results: Results, choices: Choices, gaps: pd.DataFrame, found: Sequence[Comparison]) -> list[Headline]:
    """As many as the run has numbers for.

    Parameters
    ----------
    results, choices, found
        As for `summary.summarise`.
    gaps : data frame
        From `summary.paper_gaps`.
    """
    lines = [_closeness(gaps), _all_cells(gaps), _rank(found), *_worth(results, choices), _finished(results, choices)]
    return [line for line in lines if line is not None]


def _closeness(gaps: pd.DataFrame) -> Headline | None:
    rows = gaps[(gaps["metric"] == "AP") & (gaps["method"] == CONTROL)]
    if not len(rows):
        return None
    close = int(np.sum(rows["gap"].abs() <= CLOSE + 1e-9))
    return Headline(
        f"{close} of {len(rows)}",
        f"data sets with AP of {CONTROL} within {CLOSE} of Table III",
        f"mean difference {signed(float(rows['gap'].mean()))}",
    )


def _all_cells(gaps: pd.DataFrame) -> Headline | None:
    fair = gaps[~gaps["artefact"].astype(bool)]
    if not len(fair):
        return None
    near = int(np.sum(fair["gap"].abs() <= NEAR + 1e-9))
    return Headline(
        f"{near} of {len(fair)}",
        f"comparable cells of Table III within {NEAR}",
        f"{len(gaps) - len(fair)} more cannot be compared",
    )


def _rank(found: Sequence[Comparison]) -> Headline | None:
    ours = [one for one in found if one.metric == "AP" and one.source.startswith("ours")]
    if not ours or ours[0].control != CONTROL:
        return None
    printed = ours[0].printed
    beside = f"; the printed Table V: {printed.test.mean_ranks[CONTROL]:.2f}" if printed else ""
    return Headline(
        f"{ours[0].test.mean_ranks[CONTROL]:.2f}",
        f"mean rank of {CONTROL} by AP",
        f"of {ours[0].test.n_methods} methods on {ours[0].test.n_datasets} data sets{beside}",
    )


def _worth(results: Results, choices: Choices) -> list[Headline]:
    lines = []
    for pair in pairs_of(results):
        gains = [
            gain for (_, metric), g in worths(results, choices, pair, "AP").items() if metric == "AP" for gain in g
        ]
        if gains and WORTH[pair] in _WHAT:
            detail = f"mean over {len(gains)} pairs of method and data set"
            lines.append(Headline(signed(float(np.mean(gains))), _WHAT[WORTH[pair]], detail))
    return lines


def _finished(results: Results, choices: Choices) -> Headline:
    protocol = main_protocol(results)
    frame = choices[protocol, "AP"]
    frame = frame[frame["metric"] == "AP"]
    done, failed = int(np.sum(frame["status"] == "done")), int(np.sum(frame["failed"] > 0))
    detail = f"protocol {protocol}" + (f", {failed} with failed folds" if failed else "")
    return Headline(f"{done} of {len(frame)}", "pairs of method and data set finished", detail)
