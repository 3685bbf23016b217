"""The terms that all sites use, from their summaries.

Percentile scales and averages of terms are those of made-up rows which have, feature by
feature, the distribution that the summaries tell. No row of a site is in them.

Symbols: D columns of numbers, P terms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from ..columns import Columns, least_rows
from ..core.arrays import FloatArray
from ..core.scales import Scaling
from ..core.terms import Terms
from ..datasets.dataset import as_number
from ..exceptions import InputError
from ..fit.design import Design, ExceptionRules
from ..fit.scale import Scale
from ..tables.kinds import CONSTANT, NOMINAL, NUMBER, YES_NO
from ..text import quoted_list
from .units import common_units, notes_on_far_numbers

PLAN_FORMAT = "mltsk plan"
PLAN_VERSION = 1
MADE_UP_ROWS = 2_000
MIN_SHARED_FEATURES = 1

Json = Any
Summary = Mapping[str, Json]


@dataclass(frozen=True)
class Plan:
    """Terms of a general rule, for the columns of every site.

    Parameters
    ----------
    kinds : kinds of the features by name, as `mltsk.read_table` takes them
    columns : Columns
    scaling, terms : Scaling, Terms
    variance : total variance of scaled rows
    quantiles : (D, 21) percentiles
    label_names : L texts
    notes : sentences on what was left out
    units : units of the features that have one, by name

    Examples
    --------
    >>> from mltsk import read_table
    >>> from mltsk.sites import summary_of
    >>> plan = Plan.of([summary_of(read_table("pbc"))], curves=False)
    >>> plan.has_curves, plan.label_names[0]
    (False, 'ascites')
    """

    kinds: dict[str, str | tuple[str, ...]]
    columns: Columns
    scaling: Scaling
    terms: Terms
    variance: float
    quantiles: FloatArray
    label_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> Scale:
        """The scale of the features with the terms on it."""
        return Scale(
            "quantile",
            self.scaling,
            self.terms,
            self.variance,
            is_gap=self.columns.is_gap,
        )

    @property
    def design(self) -> Design:
        """The columns whose sums are shared: memberships in terms."""
        no_rules = ExceptionRules(
            np.zeros((0, len(self.scaling.values))), width=1.0, order=0
        )
        return Design(self.scale, no_rules)

    @property
    def has_curves(self) -> bool:
        """Whether there are ramps next to lines."""
        straight = self.terms.straight
        if straight is None:
            return False
        return bool(
            np.isin(self.terms.feature[~straight], self.terms.feature[straight]).any()
        )

    @classmethod
    def of(cls, summaries: Sequence[Summary], curves: bool | None = None) -> "Plan":
        """A plan from the summaries of all sites, the same in any order of them.

        ``curves`` says whether features get ramps next to lines; None gives them where
        every site has as many people as there are columns then.
        """
        if not summaries:
            raise InputError("A plan needs the summary of one site at least.")
        sites = sorted(summaries, key=repr)
        _check_given_once(sites)
        names, notes_on_features = _shared_features(sites)
        features = {name: [_feature_of(site, name) for site in sites] for name in names}
        n_rows = sum(site["rows"] for site in sites)
        kinds = {name: _common_kind(name, features[name]) for name in names}
        for name, kind in kinds.items():
            features[name] = [
                _as_elsewhere(feature, kind) for feature in features[name]
            ]
        units, notes_on_units = common_units(features)
        notes_on_units += notes_on_far_numbers(features)
        columns = _columns(kinds, features, n_rows)
        labels, notes_on_labels = _labels(sites)
        X = _made_up(columns, features, n_rows)
        fewest = min(site["people"] for site in sites)
        scale, notes_on_scale = _scale_for(X, columns, n_rows, fewest, curves)
        return cls(
            kinds=kinds,
            columns=columns,
            scaling=scale.scaling,  # type: ignore[arg-type]
            terms=scale.terms,
            variance=scale.variance,
            quantiles=np.quantile(X, np.linspace(0, 1, 21), axis=0).T.copy(),
            label_names=labels,
            notes=(
                *notes_on_features,
                *notes_on_units,
                *notes_on_labels,
                *notes_on_scale,
            ),
            units=units,
        )


def _check_given_once(sites: Sequence[Summary]) -> None:
    """Refuse summaries, in order, of which two are the same."""
    for one, other in pairwise(sites):
        if one == other:
            raise InputError(
                f"The summary of {one['site']!r:.80} is there twice: give each site "
                "once."
            )


def _scale_for(
    X: FloatArray, columns: Columns, n_rows: int, fewest: int, curves: bool | None
) -> tuple[Scale, list[str]]:
    """The scale of made-up rows X (n, D) for sites of ``fewest`` people, and notes.

    Finer curves, and curves at all, need as many people at every site as there are
    columns, unless ``curves`` says that they are wanted.
    """
    scale = _scale(X, columns, n_rows)
    if len(scale.terms) > fewest:
        scale = _scale(X, columns, n_rows=0)
    has_people = len(scale.terms) <= fewest
    if curves or (curves is None and has_people):
        return scale, []
    notes = []
    if curves is None:
        notes.append(
            f"The smallest site has {fewest:,} people and there would be "
            f"{len(scale.terms):,} columns with curves: features have straight lines "
            "only (--curves for more)."
        )
    return scale.keeping(_without_curves(scale.terms)), notes


def _scale(X: FloatArray, columns: Columns, n_rows: int) -> Scale:
    """The scale of made-up rows X (n, D), with terms as fine as ``n_rows`` allow."""
    scale, _ = Scale.of(X, np.ones(len(X)), "quantile", columns, n_rows=n_rows)
    return scale


def _without_curves(terms: Terms) -> Any:
    """Which terms are lines, or the only one of their feature."""
    straight = terms.straight
    if straight is None:
        return np.ones(len(terms), dtype=bool)
    return straight | ~np.isin(terms.feature, terms.feature[straight])


def _feature_of(site: Summary, name: str) -> Mapping[str, Json]:
    """What a summary tells about a feature."""
    feature: Mapping[str, Json]
    for feature in site["features"]:
        if feature["name"] == name:
            return feature
    raise KeyError(name)


def _shared_features(sites: Sequence[Summary]) -> tuple[list[str], list[str]]:
    """Names of the features that all sites have, and notes on the others."""
    names_by_site = [
        [feature["name"] for feature in site["features"]] for site in sites
    ]
    everywhere = set.intersection(*map(set, names_by_site))
    constant = []
    shared = []
    for name in names_by_site[0]:
        if name not in everywhere:
            continue
        if _is_constant_everywhere(sites, name):
            constant.append(name)
        else:
            shared.append(name)
    if len(shared) < MIN_SHARED_FEATURES:
        raise InputError(
            "The sites have no feature in common: give columns that mean the same the "
            "same name."
        )
    notes = []
    if constant:
        notes.append(
            f"The same in all rows of each site, so left out: {quoted_list(constant)}."
        )
    elsewhere = sorted(set.union(*map(set, names_by_site)) - everywhere)
    if elsewhere:
        notes.append(f"Not at every site, so left out: {quoted_list(elsewhere)}.")
    return shared, notes


def _is_constant_everywhere(sites: Sequence[Summary], name: str) -> bool:
    """Whether a column is the same in all rows of each site."""
    return all(_feature_of(site, name)["kind"] == CONSTANT for site in sites)


def _as_elsewhere(
    feature: Mapping[str, Json], kind: str | tuple[str, ...]
) -> Mapping[str, Json]:
    """What a site tells about a feature, whose column may be the same in its rows.

    Its one value is then that of the kind that the feature has elsewhere, if it can be:
    words for yes and no may differ.
    """
    if feature["kind"] != CONSTANT:
        return feature
    values: list[Json] = []
    numbers: list[Json] = []
    for word, count in feature["values"]:
        number = as_number(word)  # NaN if it is none
        if kind == NOMINAL or (isinstance(kind, tuple) and word in kind):
            values.append([word, count])
        elif kind == NUMBER and isfinite(number):
            numbers.append([number, count])
    return {**feature, "values": values, "numbers": numbers}


def _common_kind(
    name: str, features: Sequence[Mapping[str, Json]]
) -> str | tuple[str, ...]:
    """The kind that a feature has at all sites where its values differ."""
    kinds = []
    for feature in features:
        kind = feature["kind"]
        if kind == CONSTANT:
            continue
        kinds.append(kind if isinstance(kind, str) else tuple(kind))
    different = sorted({str(kind) for kind in kinds})
    if set(different) == {NOMINAL, YES_NO}:
        return NOMINAL
    if len(different) > 1:
        raise InputError(
            f"Column {name!r:.80} is {' at one site and '.join(different)} at another: "
            "read it the same way everywhere, with --number, --nominal or --ordinal."
        )
    return kinds[0]


def _labels(sites: Sequence[Summary]) -> tuple[tuple[str, ...], list[str]]:
    """Labels that some site has enough cases of, and notes on the others."""
    names: list[str] = []
    enough: set[str] = set()
    for site in sites:
        for label in site["labels"]:
            if label["name"] not in names:
                names.append(label["name"])
            if label["cases"]:
                enough.add(label["name"])
    notes = []
    left_out = [name for name in names if name not in enough]
    if left_out:
        notes.append(
            f"Too few cases, or others, at every site: {quoted_list(left_out)}."
        )
    labels = tuple(name for name in names if name in enough)
    if not labels:
        raise InputError(
            "No site has enough cases of any label: share more rows, or lower --least."
        )
    return labels, notes


def _columns(
    kinds: Mapping[str, str | tuple[str, ...]],
    features: Mapping[str, Sequence[Mapping[str, Json]]],
    n_rows: int,
) -> Columns:
    """The features of all sites as columns of numbers."""
    least = least_rows(n_rows)
    values = []
    rare = []
    gaps = []
    for name, kind in kinds.items():
        missing = sum(feature["missing"] for feature in features[name])
        gaps.append(bool(least <= missing <= n_rows - least))
        frequent, infrequent = _by_frequency(kind, features[name], least)
        values.append(frequent)
        rare.append(infrequent)
    return Columns(
        names=tuple(kinds),
        kinds=tuple(map(_plain_kind, kinds.values())),
        values=tuple(values),
        rare=tuple(rare),
        gaps=tuple(gaps),
    )


def _by_frequency(
    kind: str | tuple[str, ...], features: Sequence[Mapping[str, Json]], least: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Values of at least ``least`` rows, and the rarer ones; all levels of ranks."""
    if isinstance(kind, tuple):
        return kind, ()
    if _plain_kind(kind) == "number":
        return (), ()
    counts = _total_counts(features)
    values = sorted(counts, key=lambda value: (-counts[value], value))
    frequent = tuple(value for value in values if counts[value] >= least)
    return frequent, tuple(values[len(frequent) :])


def _plain_kind(kind: str | tuple[str, ...]) -> str:
    """ "number", "ordinal" or "nominal"."""
    if isinstance(kind, tuple):
        return "ordinal"
    return "number" if kind == NUMBER else "nominal"


def _total_counts(features: Sequence[Mapping[str, Json]]) -> dict[str, int]:
    """Rows of all sites that have each value."""
    counts: dict[str, int] = {}
    for feature in features:
        for value, count in feature.get("values", []):
            counts[value] = counts.get(value, 0) + count
    return counts


def _made_up(
    columns: Columns,
    features: Mapping[str, Sequence[Mapping[str, Json]]],
    n_rows: int,
) -> FloatArray:
    """Made-up rows (n, D) with the distribution of each column that summaries tell."""
    made = []
    for d, part in enumerate(columns.parts):
        own = features[columns.names[part.feature]]
        if part.value is None:
            made.append(_made_up_numbers(own, columns.values[part.feature]))
            continue
        share = _share_of_ones(columns, d, own, n_rows)
        n_ones = int(np.clip(round(share * MADE_UP_ROWS), 1, MADE_UP_ROWS - 1))
        made.append(1.0 * (np.arange(MADE_UP_ROWS) < n_ones))
    return np.column_stack(made).astype(np.float64)


def _share_of_ones(
    columns: Columns, d: int, features: Sequence[Mapping[str, Json]], n_rows: int
) -> float:
    """The share of rows with a 1 in column d, which is about a gap or a value.

    A value with no column of its own counts in the column of rare values.
    """
    part = columns.parts[d]
    if columns.is_gap[d]:
        return float(sum(feature["missing"] for feature in features) / n_rows)
    counts = _total_counts(features)
    n_with_value = sum(counts.values())
    if part.value in counts and part.value in columns.values[part.feature]:
        n_ones = counts[part.value]
    else:
        n_ones = sum(counts[value] for value in columns.rare[part.feature])
    return n_ones / max(n_with_value, 1)


def _made_up_numbers(
    features: Sequence[Mapping[str, Json]], levels: tuple[str, ...]
) -> FloatArray:
    """Made-up numbers (n,) of a feature, from what all sites tell of it."""
    total = sum(feature["rows"] for feature in features)
    if not total:
        return np.zeros(MADE_UP_ROWS)
    samples = []
    for feature in features:
        n_own = round(4 * MADE_UP_ROWS * feature["rows"] / total)
        shares = (np.arange(n_own) + 0.5) / max(n_own, 1)
        if "percentiles" in feature:
            knots = np.linspace(0, 1, len(feature["percentiles"]))
            samples.append(np.interp(shares, knots, feature["percentiles"]))
            continue
        pairs = feature.get("numbers", [])
        if levels:
            pairs = [[levels.index(v), count] for v, count in feature["values"]]
            pairs.sort()
        if pairs:
            values, counts = np.array(pairs, dtype=np.float64).T
            up_to = np.cumsum(counts) / counts.sum()
            places = np.searchsorted(up_to, shares).clip(0, len(values) - 1)
            samples.append(values[places])
    if not samples:
        return np.zeros(MADE_UP_ROWS)
    numbers = np.sort(np.concatenate(samples))
    places = np.linspace(0, len(numbers) - 1, MADE_UP_ROWS).astype(np.intp)
    return np.asarray(numbers[places])


def keep_labels(plan: Plan, names: Sequence[str]) -> Plan:
    """The same plan for some of its labels."""
    return replace(plan, label_names=tuple(names))
