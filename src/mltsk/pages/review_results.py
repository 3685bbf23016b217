"""Results in depth: how well each label is found, at the threshold and beyond it."""

import json

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.worth import MIN_CLEAR_CASES
from ..explain.wording import name
from ..metrics import calibration_line, decision_intervals, net_benefit
from ..metrics.calibration import CalibrationLine
from ..metrics.curves import precision_recall_curve, roc_curve
from ..metrics.decisions import DecisionFigures
from ..metrics.proportions import IntervalEstimate
from . import svg, worth
from .filed import MAX_FILED_CURVES, MAX_FILED_ROWS, best_predicted, note_on_left_out
from .judged import JudgedLabel
from .packing import PageData
from .review_methods import comparison_facts
from .sections import Review, Section, how_many_rows

MAX_UNFOLDED_LABELS = 1
MAX_LISTED_RESULTS = 10  # labels that have a line each; the others fold together
# What is drawn across and up.
ROC_AXES = ("false alarms among the others", "cases found")
PRECISION_AXES = ("cases found", "right among those given")
# Thresholds that a reader can choose, in per cent: finer where they are small.
CHOSEN_PERCENTS = np.concatenate(
    [np.arange(1, 10) / 10, np.arange(2, 20) / 2, np.arange(10, 100)]
)
MAX_DECISION_THRESHOLD = 0.99  # of a decision curve; at 1 a false alarm weighs all


def results_section(review: Review) -> Section:
    """All figures, label by label, and next to other methods."""
    n_judged = len(review.table)
    if not review.is_external:
        n_judged = len(review.taken.fit_record_.labels)
    judged = []
    for j in review.shown.tolist():
        judged.append(label_results(review.labels[j], is_off=bool(review.is_off[j])))
    return Section(
        key="worth",
        title="Results in depth",
        bar_title="Results",
        template="review/results.html",
        facts={
            "labels": judged,
            "group": name(review.table.group_name),
            "some": how_many_rows(n_judged, len(review.table)),
            "is_external": review.is_external,
            "compared": comparison_facts(
                review.comparison,
                list(review.own_labels),
                len(review.training or review.table),
            ),
            "n_open": MAX_UNFOLDED_LABELS,
            "has_filed_curves": len(judged) <= MAX_FILED_CURVES,
            "is_filed": best_predicted(review.shown_labels, MAX_FILED_ROWS),
            "left_out": note_on_left_out(len(judged), MAX_FILED_ROWS),
            "n_listed": MAX_LISTED_RESULTS,
            "movers": _mover_data(review.shown_labels),
        },
        is_open=True,
        is_filed=True,
    )


def label_results(label: JudgedLabel, *, is_off: bool = False) -> PageData:
    """Figures, curves and a sentence on one label.

    ``is_off`` says whether its probabilities are, as `miscalibrated` found.
    """
    facts = {
        "name": label.name,
        "cases": label.cases,
        "observed": label.observed,
        "found": label.found,
        "alarms": label.alarms,
        "AP": label.AP,
        "AUC": label.AUC,
        "sentence": worth.sentence(label),
        "unknown": worth.why_unknown(label),
        "known": label.is_known,
        "rate": label.rate,
        "guessed_AP": label.guessed_AP,
        "threshold": f"{100 * label.threshold:.3g}\N{NO-BREAK SPACE}%",
        "figures": None,
    }
    if not label.is_known:
        return facts
    figures = decision_intervals(label.y, label.is_given, groups=label.groups)
    line = calibration_line(label.y, label.chances, groups=label.groups)
    return {
        **facts,
        "figures": figures,
        "shares": _shares_in_words(figures),
        "chances": worth.sentence_on_chances(label, is_off=is_off),
        "line": line,
        "line_words": _line_in_words(line),
        "benefit_words": _benefit_in_words(label),
        "pictures": {
            **_curves(label, figures),
            "calibration": svg.calibration(
                f"Calibration of {label.name}", label.calibration
            ),
            "benefit": _decision_curve(label),
        },
    }


def _curves(label: JudgedLabel, figures: DecisionFigures) -> dict[str, str]:
    """ROC and precision-recall curve, with a ring where the label is given."""
    recall = figures.sensitivity.value
    precision = figures.precision.value
    roc = svg.curve(
        f"ROC curve of {label.name}",
        axes=ROC_AXES,
        points=roc_curve(label.y, label.scores),
        guess=[0, 1],
        at=(1 - figures.specificity.value, recall),
    )
    precision_recall = svg.curve(
        f"Precision and recall of {label.name}",
        axes=PRECISION_AXES,
        points=precision_recall_curve(label.y, label.scores),
        guess=[label.rate, label.rate],
        at=None if np.isnan(precision) else (recall, precision),
    )
    return {"roc": roc, "pr": precision_recall}


# at the threshold ---------------------------------------------------------------------


def _shares_in_words(figures: DecisionFigures) -> list[PageData]:
    """The four figures at the threshold: name, value, and counts out of 100."""
    told = (
        ("Sensitivity", figures.sensitivity, "that have it", "are given it"),
        ("Specificity", figures.specificity, "that do not", "are not given it"),
        ("Positive predictive value", figures.precision, "given it", "have it"),
        (
            "Negative predictive value",
            figures.negative_predictive_value,
            "not given it",
            "do not have it",
        ),
    )
    return [
        {
            "name": title,
            "share": share,
            "words": _out_of_hundred(share, f"rows {among}", outcome),
        }
        for title, share, among, outcome in told
    ]


def _out_of_hundred(share: IntervalEstimate, among: str, outcome: str) -> str:
    """A share as a count out of 100, with its interval."""
    if np.isnan(share.value):
        return f"there are no {among}"
    middle, low, high = (f"{100 * figure:.0f}" for figure in share)
    return f"of 100 {among}, {middle} {outcome} ({low} to {high})"


def _line_in_words(line: CalibrationLine) -> str:
    """What slope and intercept of the calibration say."""
    words = []
    if line.slope.high < 1:
        words.append("Probabilities are too extreme: both too high and too low.")
    elif line.slope.low > 1:
        words.append("Probabilities are too near to the average.")
    if line.intercept.low > 0:
        words.append("More rows have the label than was predicted.")
    elif line.intercept.high < 0:
        words.append("Fewer rows have the label than was predicted.")
    return " ".join(words)


# net benefit --------------------------------------------------------------------------


def decision_thresholds(label: JudgedLabel) -> FloatArray:
    """Thresholds of a label's decision curve: from 0 to where nobody is acted on."""
    highest = float(label.chances.max(initial=0.0))
    end = min(max(highest, 2 * label.rate, 0.02), MAX_DECISION_THRESHOLD)
    return np.linspace(0.0, end, 100)


def _decision_curve(label: JudgedLabel) -> str:
    """Net benefit of the model, of acting on all rows, and of acting on none."""
    thresholds = decision_thresholds(label)
    everybody = np.ones(len(label.y))
    return svg.decision_curve(
        f"Net benefit of {label.name}",
        thresholds=thresholds,
        model=net_benefit(label.y, label.chances, thresholds),
        everybody=net_benefit(label.y, everybody, thresholds),
        at=label.threshold,
    )


def _benefit_in_words(label: JudgedLabel) -> str:
    """At which thresholds the model is of more use than acting on all or on none."""
    thresholds = decision_thresholds(label)[1:]
    everybody = net_benefit(label.y, np.ones(len(label.y)), thresholds)
    ahead = net_benefit(label.y, label.chances, thresholds) > np.maximum(everybody, 0)
    if not ahead.any():
        return "At no threshold is the model of more use than acting on all or on none."
    first, last = longest_stretch(ahead)
    ends = (_whole_percent(thresholds[first]), _whole_percent(thresholds[last]))
    where = f"from {ends[0]} to {ends[1]}"
    if ends[0] == ends[1]:
        where = f"of about {ends[0]}"
    text = (
        f"At thresholds {where} the model is of more use than acting on all rows or on "
        "none."
    )
    if label.rarer < MIN_CLEAR_CASES:
        return f"{text} With so few cases this may be chance."
    if label.is_guessed:
        return f"{text} This may be chance: the model may be no better than guessing."
    return text


def _whole_percent(share: float) -> str:
    """A share as whole per cent, as a net benefit is no surer than that.

    >>> _whole_percent(0.0567), _whole_percent(0.0032)
    ('6 %', '0.3 %')
    """
    digits = ".0f" if share >= 0.01 else ".1g"
    return f"{100 * share:{digits}} %"


def longest_stretch(is_true: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last place of the longest run of true values.

    >>> longest_stretch(np.array([True, False, True, True, False]))
    (2, 3)
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_true, [False]])))
    starts = edges[::2]
    ends = edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest]) - 1


# other thresholds, chosen by the reader -----------------------------------------------


def _mover_data(labels: list[JudgedLabel]) -> str:
    """Counts of each label at all thresholds that a reader can choose, as JSON.

    Numbers alone, so that nothing in it needs to be escaped.
    """
    thresholds = CHOSEN_PERCENTS / 100
    movers = []
    for label in labels:
        movers.append(_counts_from(label, thresholds) if label.is_known else None)
    data = {"percents": CHOSEN_PERCENTS.tolist(), "labels": movers}
    return json.dumps(data, separators=(",", ":"))


def _counts_from(label: JudgedLabel, thresholds: FloatArray) -> PageData:
    """Cases and other rows whose probability reaches each threshold.

    At ``start``, next to the label's own threshold, are ``own`` counts: those of the
    figures above, by thresholds that were chosen without the counted rows.
    """
    cases = np.sort(label.chances[label.y])
    others = np.sort(label.chances[~label.y])
    start = int(np.argmin(np.abs(thresholds - label.threshold)))
    return {
        "cases": len(cases),
        "others": len(others),
        "found": (len(cases) - np.searchsorted(cases, thresholds)).tolist(),
        "alarms": (len(others) - np.searchsorted(others, thresholds)).tolist(),
        "start": start,
        "own": {
            "percent": f"{100 * label.threshold:.3g}",
            "found": label.found,
            "alarms": label.alarms,
        },
    }
