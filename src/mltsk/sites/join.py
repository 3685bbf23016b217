"""One model from the sums of many sites.

With the sums of all sites the ridge problem is the one of all rows together. Sums less
those of one site are a fit without that site, which is judged by the sums of the site:
squared errors exactly, and how well cases stand out from the mean and the variance of
their scores. Weights and ridge are chosen by generalised cross-validation of all rows:
chosen by sites left out they served new sites, but cost .02 of macro AP on rows of the
same precincts of stops. Scores become log-odds by the line of two normal distributions,
since no row is here to fit one to.

Symbols: Q columns of the plan, L labels, S sites.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import erf, log, sqrt
from operator import add
from typing import Any

import numpy as np

from ..classifier import MLTSKClassifier
from ..core.arrays import FloatArray, underflow_is_zero
from ..core.pairs import Pairs
from ..exceptions import InputError
from ..fit.design import Coefficients, Design
from ..fit.ridge import Moments, Penalty
from ..fit.sums import FitSums, LabelSums, check_sum_cells
from ..probabilities import Curves
from ..system import FuzzySystem
from ..thresholds import check_threshold_wish, find_thresholds
from .plan import Plan, keep_labels
from .plan_checks import plain_plan
from .sums import SiteSums

RIDGES = tuple((2.0 ** np.arange(0, 11)).tolist())
CURVE_SHARES = (0.0, 0.3, 1.0)
MIN_FREE_SHARE = 0.01  # of rows, next to as many columns
MIN_VARIANCE = 1e-12
MIN_SLOPE = 1e-3
MAX_SLOPE = 1e3
MIN_COLUMN_VARIANCE = 1e-6


@dataclass(frozen=True)
class ScoreStatistics:
    """Scores of the rows of a site, by sums alone.

    ``squared_error`` is the sum over rows; ``mean_case``, ``mean_other`` and the
    ``variance`` within both are those of scores.
    """

    n_cases: float
    n_others: float
    mean_case: float
    mean_other: float
    variance: float
    squared_error: float

    @classmethod
    def of(cls, site: Moments, B: FloatArray, intercept: float) -> "ScoreStatistics":
        """Statistics of intercept + Φ B, for one label."""
        n = site.total
        cases = float(site.y[0])
        others = n - cases
        score_sum = n * intercept + float(site.phi @ B)
        case_sum = cases * intercept + float(site.B[:, 0] @ B)
        squares = (
            n * intercept**2
            + 2 * intercept * float(site.phi @ B)
            + float(B @ site.H @ B)
        )
        mean_case = case_sum / max(cases, 1e-300)
        mean_other = (score_sum - case_sum) / max(others, 1e-300)
        within = squares - cases * mean_case**2 - others * mean_other**2
        return cls(
            n_cases=cases,
            n_others=others,
            mean_case=mean_case,
            mean_other=mean_other,
            variance=max(within / n, MIN_VARIANCE),
            squared_error=cases - 2 * case_sum + squares,
        )

    @property
    def auc(self) -> float:
        """AUC if scores of cases and others were normal."""
        distance = (self.mean_case - self.mean_other) / sqrt(self.variance)
        return 0.5 * (1 + erf(distance / 2))


@dataclass(frozen=True)
class JoinedSums:
    """Sums of all sites, in an order that does not depend on that of the files."""

    sites: tuple[SiteSums, ...]

    @classmethod
    def of(cls, sites: Sequence[SiteSums]) -> "JoinedSums":
        """Sums of sites that follow one plan."""
        if not sites:
            raise InputError("There are no sums to join.")
        ordered = sorted(sites, key=_digest)
        for one, other in pairwise(ordered):
            if not _is_same_plan(one.plan, other.plan):
                raise InputError(
                    f"The sums of {one.site!r:.80} and {other.site!r:.80} follow "
                    "different plans: share both again with the same plan."
                )
            if _digest(one) == _digest(other):
                raise InputError(
                    f"The sums of {one.site!r:.80} are there twice: give each site "
                    "once."
                )
        return cls(tuple(ordered))

    @property
    def plan(self) -> Plan:
        """The plan of all sites."""
        return self.sites[0].plan

    def of_label(self, j: int) -> dict[int, Moments]:
        """The sums of each site that shares a label, by its number."""
        by_site = {}
        for s, site in enumerate(self.sites):
            moments = site.of_label(j)
            if moments is not None:
                by_site[s] = moments
        return by_site

    def shared_labels(self) -> list[int]:
        """Labels that some site shares."""
        return [j for j in range(len(self.plan.label_names)) if self.of_label(j)]


def _digest(sums: SiteSums) -> str:
    """A text that depends on the sums alone, to sort them by."""
    content = hashlib.sha256()
    for moments in sums.moments:
        content.update(np.ascontiguousarray(moments.H).tobytes())
        content.update(np.ascontiguousarray(moments.B).tobytes())
        content.update(np.float64(moments.total).tobytes())
    return content.hexdigest()


def _is_same_plan(one: Plan, other: Plan) -> bool:
    """Whether two plans say the same, part by part."""
    return plain_plan(one) == plain_plan(other)


@dataclass(frozen=True)
class Weighing:
    """Weights of the columns, by the share of curves, and the ridge."""

    curve_share: float
    ridge: float


@underflow_is_zero()
def joined(
    sites: Sequence[SiteSums], threshold: Any = 0.5, *, keep_sums: bool = False
) -> MLTSKClassifier:
    """The model of the rows of all sites, from their sums.

    It has one more attribute, ``sites_``: a list of dicts, one per site and label, with
    the cases and the AUC of a fit without that site, told by its sums.

    Parameters
    ----------
    sites : sequence of SiteSums
    threshold : float, array or ("cost", 1, 5)
        As in `MLTSKClassifier`. Others need rows.
    keep_sums : bool, default=False
        Whether the model keeps the sums of all sites together, so that it can be
        corrected (`constrained`). They travel with its file: whoever has the sums of
        all sites but one can tell those of that one.

    Examples
    --------
    >>> from mltsk import read_table
    >>> from mltsk.sites import Plan, summary_of
    >>> whole = read_table("pbc")
    >>> frame = whole.X.join(whole.Y)
    >>> halves = [read_table(frame[s::2], labels=["edema"]) for s in (0, 1)]
    >>> plan = Plan.of([summary_of(half) for half in halves], curves=False)
    >>> model = joined([SiteSums.of(half, plan) for half in halves])
    >>> sorted(row["cases"] for row in model.sites_)
    [27, 37]
    """
    check_threshold_wish(threshold)
    if isinstance(threshold, str) or _names_goal(threshold):
        raise InputError(
            "Thresholds for F1, precision or recall are found on rows, which are not "
            "here: give a probability such as 0.3, or cost=1,5 (in Python ('cost', 1, "
            "5))."
        )
    sums = JoinedSums.of(sites)
    shared = sums.shared_labels()
    plan = keep_labels(sums.plan, [sums.plan.label_names[j] for j in shared])
    by_label = [sums.of_label(j) for j in shared]
    weighing, error = _chosen(plan, by_label)
    design = _weighed(plan, by_label, weighing.curve_share)
    solved = [_solved(by_site, design, weighing.ridge) for by_site in by_label]
    lines = []
    site_rows = []
    for name, by_site, whole in zip(plan.label_names, by_label, solved, strict=True):
        statistics = _left_out(by_site, design, weighing.ridge, whole)
        lines.append(_line(list(statistics.values())))
        for s, judged in statistics.items():
            site = sums.sites[s].site
            site_rows.append(_site_row(site, name, judged, len(by_site)))
    curves = Curves(*map(np.array, zip(*lines, strict=True)))
    system = _system(plan, design, solved, curves)
    nobody = np.zeros((1, len(shared)))
    thresholds, _ = find_thresholds(threshold, nobody, nobody, np.ones(1))
    system = replace(system, thresholds=thresholds)
    model = _classifier(system, plan, weighing, error, site_rows, threshold)
    if keep_sums:
        model.kept_sums_ = _kept_sums(by_label, design, weighing.ridge, curves)
    return model


def _kept_sums(
    by_label: Sequence[dict[int, Moments]], design: Design, ridge: float, curves: Curves
) -> FitSums:
    """The sums of all sites together, a part per label."""
    check_sum_cells(design.n_columns, len(by_label))
    sums = []
    for j, by_site in enumerate(by_label):
        moments = _scaled(_total(by_site), design)
        sums.append(LabelSums(np.array([j]), moments))
    return FitSums(design, ridge, tuple(sums), curves)


def _total(by_site: dict[int, Moments]) -> Moments:
    """The sums of a label over all of these sites."""
    return reduce(add, by_site.values())


def _names_goal(threshold: Any) -> bool:
    """Whether a threshold is wished by a goal that needs rows."""
    is_named = isinstance(threshold, tuple | list) and isinstance(threshold[0], str)
    return is_named and threshold[0] != "cost"


def _variances(by_label: Sequence[dict[int, Moments]]) -> FloatArray:
    """Variances (Q,) of the columns over all rows of the label that has most."""
    totals = [_total(by_site) for by_site in by_label]
    largest = max(totals, key=lambda moments: moments.total)
    mean = largest.phi / largest.total
    variances = np.diag(largest.H) / largest.total - mean**2
    return np.maximum(variances, 0.0)


def _weighed(
    plan: Plan, by_label: Sequence[dict[int, Moments]], curve_share: float
) -> Design:
    """The columns of a plan with their weights; those that nobody differs in have 0."""
    variances = _variances(by_label)
    weights = plan.scale.term_weights(variances, curve_share)
    weights = np.where(variances < MIN_COLUMN_VARIANCE, 0.0, weights)
    return replace(plan.design, term_weights=weights)


@dataclass(frozen=True)
class Solved:
    """Numbers of a label: ``B`` (Q,) of the weighed columns, their mean, the rate."""

    B: FloatArray
    mean: FloatArray
    rate: float

    @property
    def intercept(self) -> float:
        """The score where all columns are 0."""
        return self.rate - float(self.mean @ self.B)


def _scaled(moments: Moments, design: Design) -> Moments:
    """Sums of the weighed columns."""
    roots = np.sqrt(np.asarray(design.term_weights))
    return moments.weighted(np.arange(len(roots)), roots)


def _solved(by_site: dict[int, Moments], design: Design, ridge: float) -> Solved:
    """The numbers of a label by the sums of some sites."""
    moments = _scaled(_total(by_site), design)
    primal = moments.solve(Penalty(ridge))
    return Solved(primal.B[:, 0], moments.phi / moments.total, float(primal.rates[0]))


def _left_out(
    by_site: dict[int, Moments], design: Design, ridge: float, whole: Solved
) -> dict[int, ScoreStatistics]:
    """How each site is scored by the others; a single one by itself."""
    statistics = {}
    for s, moments in by_site.items():
        others = {other: sums for other, sums in by_site.items() if other != s}
        solved = _solved(others, design, ridge) if others else whole
        site = _scaled(moments, design)
        statistics[s] = ScoreStatistics.of(site, solved.B, solved.intercept)
    return statistics


def _chosen(
    plan: Plan, by_label: Sequence[dict[int, Moments]]
) -> tuple[Weighing, float]:
    """Weights and ridge with the lowest error on rows left out, and that error."""
    shares = CURVE_SHARES if plan.has_curves else (0.0,)
    tried = {}
    for share in shares:
        design = _weighed(plan, by_label, share)
        wholes = [_scaled(_total(by_site), design) for by_site in by_label]
        errors = np.mean([_errors(whole) for whole in wholes], axis=0)
        for ridge, error in zip(RIDGES, errors.tolist(), strict=True):
            tried[Weighing(share, ridge)] = error
    best = min(tried, key=lambda weighing: tried[weighing])
    return best, tried[best]


def _errors(whole: Moments) -> FloatArray:
    """Errors of a label on rows left out, next to its variance, for each ridge.

    They are those of generalised cross-validation, which sums tell: the mean squared
    error divided by the square of the share of rows that the numbers leave free.
    """
    n = whole.total
    mean = whole.phi / n
    rate = float(whole.y[0]) / n
    values, vectors = np.linalg.eigh(whole.H - np.outer(mean, whole.phi))
    values = np.maximum(values, 0.0)
    right = vectors.T @ (whole.B[:, 0] - mean * float(whole.y[0]))
    spread = max(n * rate * (1 - rate), MIN_VARIANCE)
    errors = []
    for ridge in RIDGES:
        B = right / (values + ridge)
        squared = spread - 2 * float(B @ right) + float(B @ (values * B))
        used = 1 + float((values / (values + ridge)).sum())
        free = max(1 - used / n, MIN_FREE_SHARE)
        errors.append(squared / spread / free**2)
    return np.array(errors)


def _line(sites: Sequence[ScoreStatistics]) -> tuple[float, float]:
    """Slope and offset of log-odds, by two normal distributions of scores."""
    n_cases = sum(site.n_cases for site in sites)
    n_others = sum(site.n_others for site in sites)
    mean_case = sum(site.n_cases * site.mean_case for site in sites) / n_cases
    mean_other = sum(site.n_others * site.mean_other for site in sites) / n_others
    within = 0.0
    for site in sites:  # sites differ in their means, too: that is within the two
        squared_case = (site.mean_case - mean_case) ** 2 + site.variance
        squared_other = (site.mean_other - mean_other) ** 2 + site.variance
        within += site.n_cases * squared_case + site.n_others * squared_other
    variance = max(within / (n_cases + n_others), MIN_VARIANCE)
    slope = float(np.clip((mean_case - mean_other) / variance, MIN_SLOPE, MAX_SLOPE))
    offset = log(n_cases / n_others) - slope * (mean_case + mean_other) / 2
    return slope, offset


def _site_row(
    site: str, label: str, judged: ScoreStatistics, n_sites: int
) -> dict[str, Any]:
    """What is told about a label at a site."""
    n = judged.n_cases + judged.n_others
    score = (
        judged.n_cases * judged.mean_case + judged.n_others * judged.mean_other
    ) / n
    return {
        "site": site,
        "label": label,
        "observed": round(n),
        "cases": round(judged.n_cases),
        "expected": float(np.clip(score, 0.0, 1.0) * n),
        "AUC": judged.auc if n_sites > 1 else None,
    }


def _system(
    plan: Plan, design: Design, solved: Sequence[Solved], curves: Curves
) -> FuzzySystem:
    """The system of the numbers of all labels, in log-odds."""
    B = np.column_stack([own.B for own in solved])
    mean = np.column_stack([own.mean for own in solved])
    rates = np.array([own.rate for own in solved])
    numbers: Coefficients = design.coefficients(B, mean, rates)
    n_labels = len(solved)
    n_columns = len(plan.scaling.values)
    none = np.zeros((0, n_columns))
    raw = FuzzySystem(
        feature_names=plan.columns.part_names,
        label_names=plan.label_names,
        scale_name="quantile",
        scaling=plan.scaling,
        intercept=numbers.intercept,
        terms=plan.terms,
        term_coef=np.ascontiguousarray(numbers.terms),
        pairs=Pairs.none(),
        pair_coef=np.zeros((0, n_labels)),
        centers=none,
        widths=none,
        coef=np.zeros((0, 1, n_labels)),
        prototypes=none,
        rule_weights=np.zeros(0),
        thresholds=np.full(n_labels, 0.5),
        quantiles=plan.quantiles,
        columns=plan.columns,
    )
    return raw.on_log_odds(curves)


def _classifier(
    system: FuzzySystem,
    plan: Plan,
    weighing: Weighing,
    error: float,
    site_rows: list[dict[str, Any]],
    threshold: Any,
) -> MLTSKClassifier:
    """A fitted classifier of a system."""
    model = MLTSKClassifier(n_rules=0, n_pairs=0, threshold=threshold)
    attributes = {
        "system_": system,
        "label_names_": system.label_names,
        "classes_": np.arange(len(system.label_names)),
        "multilabel_": True,
        "n_features_in_": len(plan.columns.names),
        "feature_names_in_": np.array(plan.columns.names, dtype=object),
        "given_rules_": (),
        "width_scale_": 1.0,
        "rule_share_": 0.0,
        "ridge_": weighing.ridge,
        "coupling_": None,
        "coupling_weight_": 0.0,
        "loo_error_": error,
        "loo_scores_": np.zeros((0, len(system.label_names))),
        "loo_rows_": np.zeros(0, dtype=np.intp),
        "fit_record_": None,
        "sites_": site_rows,
    }
    for name, value in attributes.items():
        setattr(model, name, value)
    return model
