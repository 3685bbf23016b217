"""Do methods differ over several data sets? Friedman's test, and the tests that follow it.

M data sets, k methods ranked on each (1 is best), SE = √(k(k+1) / 6M) the standard error of a difference of two mean
ranks, CD = q · SE the critical difference: mean ranks at least this far apart differ.

`friedman` asks whether the methods differ at all. If so, `bonferroni_dunn` and `holm` compare all with one control
(Holm finds at least as much), and `nemenyi` compares every pair. After J. Demšar, Statistical comparisons of
classifiers over multiple data sets, JMLR 7 (2006). With R the mean rank of a method, where ties share ranks::

    χ² = 12M / (k(k+1)) · Σ (R − (k+1)/2)²            Friedman
    F  = (M−1) χ² / (M(k−1) − χ²)                     Iman and Davenport, with k−1 and (k−1)(M−1) degrees of freedom

Data frames in, labelled answers out: the columns of a frame name the methods, and mean ranks, differences and
verdicts then are a series by name. Arrays give arrays.

A diagram is laid out in inches, so that text keeps its distance whatever the number of methods: a ruler of the critical
difference, the scale from k (left) to 1 (right, best), bars, and below them one row per pair of names, the worse half
of the methods on the left and the better on the right. The names nearest the ends of the scale come first: then no two
lines cross.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..exceptions import InputError, optional

__all__ = [
    "Friedman",
    "RankComparison",
    "bonferroni_dunn",
    "critical_difference_diagram",
    "friedman",
    "holm",
]
__all__ += ["nemenyi"]

FloatArray = NDArray[np.float64]
Names = list[Any] | None

_FONT, _LINE = (
    10.0,
    1.55 * 10 / 72,
)  # of a diagram: points, and inches from line to line
_SCALE_Y, _BAR_STEP = (
    2.4 * _LINE,
    0.62 * _LINE,
)  # from the top to the scale, and from there from bar to bar
# Shares of the scale: bars closer than this get rows of their own, and reach beyond the methods at their ends.
_APART, _OVERHANG = 0.06, 0.01


@dataclass(frozen=True, eq=False)
class Friedman:
    """Answer of `friedman`: ``mean_ranks`` (n_methods,), 1 is best, Friedman's ``chi2``, Iman and Davenport's ``f``."""

    mean_ranks: Any
    chi2: float
    f: float
    n_datasets: int
    n_methods: int

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """Of F; the first is also that of χ²."""
        return self.n_methods - 1, (self.n_methods - 1) * (self.n_datasets - 1)

    @property
    def p_value(self) -> float:
        """Probability of an F at least this large if no method differed from another."""
        return float(stats.f.sf(self.f, *self.degrees_of_freedom))

    def critical_value(self, alpha: float = 0.05) -> float:
        """The F above which the methods differ at level ``alpha``."""
        return float(stats.f.isf(_level(alpha), *self.degrees_of_freedom))


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Answer of `bonferroni_dunn`, `holm` and `nemenyi`; what a test has not is None.

    Attributes
    ----------
    mean_ranks, n_datasets, alpha : as given
    significant : (n_methods,), from `nemenyi` (n_methods, n_methods)
        Whether a method differs, better or worse, from the control, or from each other one.
    control : int
        Position of the control.
    rank_differences : (n_methods,)
        Mean rank less that of the control: above 0 is worse than it.
    q, critical_difference : float
        Mean ranks differ if they are at least this far apart, q times the standard error.
    p_values, adjusted_p_values : of the shape of ``significant``
        Two-sided; those that `holm` has adjusted compare with ``alpha`` directly. 1 for the control itself.
    """

    mean_ranks: Any
    n_datasets: int
    alpha: float
    significant: Any
    control: int | None = None
    rank_differences: Any = None
    q: float | None = None
    critical_difference: float | None = None
    p_values: Any = None
    adjusted_p_values: Any = None


def friedman(
    scores: Any, *, greater_is_better: bool, correct_ties: bool = False
) -> Friedman:
    """Test whether any of several methods differs from the others over several data sets.

    If all data sets rank the methods alike, F is infinite and p 0; if every row is tied throughout, F is 0 and p 1.

    Parameters
    ----------
    scores : array or data frame of shape (n_datasets, n_methods)
        At least two of each and none missing. They are ranked as given: values that differ by rounding error only are
        no ties.
    greater_is_better : bool
        True for a score such as AP, False for a loss.
    correct_ties : bool
        Divide χ² by its tie correction, as `scipy.stats.friedmanchisquare` does. Demšar's formulas, and with them the
        paper, do not; F is larger with it.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.7, 0.5], [0.3, 0.4, 0.2]], greater_is_better=True)
    >>> test.mean_ranks
    array([1.375, 1.625, 3.   ])
    >>> round(test.f, 2), round(test.p_value, 3), round(test.critical_value(0.05), 2)
    (9.8, 0.013, 5.14)
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "Scores must be a table of numbers, one row per data set and one column per method."
        ) from None
    if values.ndim != 2 or min(values.shape) < 2:
        shape = f"the scores have shape {values.shape}"
        raise InputError(
            f"Ranks need at least two data sets (rows) and two methods (columns); {shape}."
        )
    names = list(scores.columns) if hasattr(scores, "columns") else None
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0].tolist()
        dataset, method = (
            scores.index[row] if names else row,
            names[column] if names else column,
        )
        where = f"method {method!r} on data set {dataset!r}"
        raise InputError(
            f"The score of {where} is missing: leave out the row or the column."
        )
    n, k = values.shape
    ranks = stats.rankdata(-values if greater_is_better else values, axis=1)
    # twice the ranks are whole numbers, so that equal rankings give exactly infinity
    doubled = np.rint(2 * ranks).astype(np.int64) - (k + 1)
    between = 3 * int(np.sum(doubled.sum(axis=0) ** 2))
    chi2, f = 0.0, 0.0
    if between:
        spread = 3 * int(np.sum(doubled**2)) if correct_ties else n * k * (k * k - 1)
        rest = n * spread - between
        chi2, f = (
            between * (k - 1) / spread,
            (n - 1) * between / rest if rest else float("inf"),
        )
    return Friedman(_labelled(ranks.mean(axis=0), names), chi2, f, n, k)


def bonferroni_dunn(
    mean_ranks: Any,
    n_datasets: int,
    *,
    control: int | str,
    alpha: float = 0.05,
    critical_values: str = "demsar",
) -> RankComparison:
    """Compare every method with a control by one critical difference of mean ranks.

    Parameters
    ----------
    mean_ranks : array or series of shape (n_methods,)
        Such as ``friedman(...).mean_ranks``.
    n_datasets : int
        Over how many data sets ranks were averaged.
    control : int or str
        Position of the method to compare with, or its name if ``mean_ranks`` has names.
    alpha : float
        Probability of any false difference.
    critical_values : {"demsar", "exact"}
        q as in Demšar's table, which published critical differences come from, or as the normal quantile at
        1 − alpha / 2(k−1). The table has three digits, levels 0.05 and 0.10 and up to ten methods (beyond it the
        quantile is taken), and for nine methods at 0.05 it prints 2.724 instead of 2.734: CD is .4 % too small there.

    Examples
    --------
    >>> result = bonferroni_dunn([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> round(result.critical_difference, 3), result.significant
    (1.262, array([False, False,  True,  True]))
    """
    position, differences, names, se = _against(control, mean_ranks, n_datasets)
    k = len(differences)
    q = float(stats.norm.isf(_level(alpha) / 2 / (k - 1)))
    if critical_values not in ("demsar", "exact"):
        raise InputError(
            f"critical_values is 'demsar' or 'exact', not {critical_values!r}."
        )
    if (
        critical_values == "demsar" and alpha in (0.05, 0.10) and k <= 10
    ):  # his Table 5(b)
        q = 2.724 if (k, alpha) == (9, 0.05) else round(q, 3)
    significant, gaps = (
        _labelled(found, names)
        for found in (np.abs(differences) >= q * se, differences)
    )
    return RankComparison(
        mean_ranks, n_datasets, alpha, significant, position, gaps, q, q * se
    )


def nemenyi(mean_ranks: Any, n_datasets: int, alpha: float = 0.05) -> RankComparison:
    """Compare every pair of methods by one critical difference of mean ranks, from the studentised range.

    Parameters are those of `bonferroni_dunn`.

    Examples
    --------
    >>> result = nemenyi([1.2, 2.1, 3.6, 3.1], n_datasets=12)
    >>> round(result.q, 3), round(result.critical_difference, 3), result.significant[0]
    (2.569, 1.354, array([False, False,  True,  True]))
    """
    ranks, names, se = _read_ranks(mean_ranks, n_datasets)
    spread = stats.studentized_range(len(ranks), np.inf)
    q, distances = (
        float(spread.isf(_level(alpha)) / np.sqrt(2)),
        np.abs(ranks[:, None] - ranks),
    )
    significant = _labelled(distances >= q * se, names)
    p = _labelled(spread.sf(distances / se * np.sqrt(2)), names)
    return RankComparison(
        mean_ranks,
        n_datasets,
        alpha,
        significant,
        q=q,
        critical_difference=q * se,
        p_values=p,
    )


def holm(
    mean_ranks: Any, n_datasets: int, *, control: int | str, alpha: float = 0.05
) -> RankComparison:
    """Compare every method with a control, stepping down from the smallest p-value (Holm 1979).

    Parameters are those of `bonferroni_dunn`.

    Examples
    --------
    >>> result = holm([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> result.adjusted_p_values.round(3), result.significant
    (array([1.   , 0.088, 0.   , 0.001]), array([False, False,  True,  True]))
    """
    at, differences, names, se = _against(control, mean_ranks, n_datasets)
    p = 2 * stats.norm.sf(np.abs(differences) / se)
    order = np.argsort(np.where(np.arange(len(p)) == at, np.inf, p), kind="stable")[
        :-1
    ]  # without the control
    adjusted = np.ones(
        len(p)
    )  # the i-th smallest of m times m − i + 1, never below the one before it
    adjusted[order] = np.minimum(
        np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0
    )
    found = (adjusted <= _level(alpha), differences, p, adjusted)
    differs, gaps, p, adjusted = (_labelled(values, names) for values in found)
    return RankComparison(
        mean_ranks,
        n_datasets,
        alpha,
        differs,
        at,
        gaps,
        p_values=p,
        adjusted_p_values=adjusted,
    )


def critical_difference_diagram(
    comparison: RankComparison,
    *,
    names: Sequence[str] | None = None,
    color: str = "tab:blue",
) -> Any:
    """Draw mean ranks on a line, better methods to the right, with what the test says about them.

    For `bonferroni_dunn` a band marks all mean ranks that do not differ from the control's; for `nemenyi` bars join
    methods that do not differ from each other. Returns a figure of matplotlib as large as the names need.

    Parameters
    ----------
    comparison : result of `bonferroni_dunn` or `nemenyi`
    names : sequence of str, optional
        Names of the methods; those of the mean ranks if they have any.
    color : colour of matplotlib
        Of the band or bars. Text and lines follow ``rcParams``.

    Examples
    --------
    >>> result = bonferroni_dunn([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> figure = critical_difference_diagram(result, names=["ours", "CC", "BR", "ML-kNN"])
    >>> figure.savefig("ranks.svg")  # doctest: +SKIP
    """
    if comparison.critical_difference is None:
        raise InputError(
            "A critical difference diagram draws the result of bonferroni_dunn or of nemenyi."
        )
    ranks, own_names, _ = _read_ranks(comparison.mean_ranks, comparison.n_datasets)
    shown = [str(name) for name in (names or own_names or range(1, len(ranks) + 1))]
    if len(shown) != len(ranks):
        raise InputError(f"There are {len(ranks)} methods and {len(shown)} names.")
    k, cd, control = len(ranks), comparison.critical_difference, comparison.control
    bars = (
        []
        if control is None
        else [(min(ranks[control] + cd, k), max(ranks[control] - cd, 1.0), 0)]
    )
    free: list[float] = []  # of every row of bars, the worst rank drawn so far
    for group in cliques(ranks, cd) if control is None else ():
        best, worst = float(ranks[group[0]]), float(ranks[group[-1]])
        row = next(
            (i for i, taken in enumerate(free) if best > taken + _APART * (k - 1)),
            len(free),
        )
        free[row : row + 1] = [worst]
        bars.append((worst, best, row))
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(shown, ranks, strict=True)]
    diagram = _Diagram(ranks, labels, 1 + max((row for *_, row in bars), default=-1))
    diagram.draw_scale(cd)
    for bar in bars:
        diagram.draw_bar(*bar, 0.0 if control is not None else _OVERHANG, color)
    diagram.draw_names(control, color)
    return diagram.ax.figure


def cliques(
    ranks: FloatArray, critical_difference: float
) -> tuple[tuple[int, ...], ...]:
    """Largest sets of two or more methods less than the critical difference apart, positions by rank."""
    order = np.argsort(ranks, kind="stable")
    spread = ranks[order]
    ends = [int(np.sum(spread - start < critical_difference)) for start in spread]
    kept = [
        (i, end)
        for i, end in enumerate(ends)
        if end - i > 1 and (i == 0 or end > ends[i - 1])
    ]
    return tuple(tuple(order[i:end].tolist()) for i, end in kept)


class _Diagram:
    """Axes of a new figure in inches; y runs down from 0 at the top."""

    def __init__(self, ranks: FloatArray, labels: Sequence[str], bar_rows: int) -> None:
        self.ranks, self.labels, self.k, margin = ranks, labels, len(ranks), 0.08
        figure: Any = optional("matplotlib.figure", "report").Figure
        self.ink = optional("matplotlib", "report").rcParams["text.color"]
        # names have the width of the longest, in bold, on both sides and a gap, the scale what is between
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="Glyph .* missing from"
            )  # drawing will say so
            bold = optional("matplotlib.font_manager", "report").FontProperties(
                weight="bold"
            )
            text = optional("matplotlib.textpath", "report").TextPath
            paths = [
                text((0, 0), label.replace("$", r"\$"), size=_FONT, prop=bold)
                for label in labels
            ]
        # Control points enclose their curve; exact extents took three quarters of the time of a diagram.
        self.left = max(float(path.vertices[:, 0].max()) for path in paths) / 72 + 0.25
        self.right = self.left + max(4.4, 0.3 * (self.k - 1))
        self.first_row = _SCALE_Y + _BAR_STEP * bar_rows + 1.1 * _LINE
        inner = np.array(
            [
                self.right + self.left,
                self.first_row + _LINE * ((self.k + 1) // 2 - 0.35),
            ]
        )
        size = inner + 2 * margin
        self.ax = figure(figsize=tuple(size)).add_axes(
            (*(margin / size), *(inner / size))
        )
        self.ax.set_axis_off()
        self.ax.set(xlim=(0, inner[0]), ylim=(inner[1], 0))

    def x(self, rank: Any) -> Any:
        """Place of a mean rank on the scale."""
        return self.left + (self.k - rank) / (self.k - 1) * (self.right - self.left)

    def rule(
        self, x: Sequence[float], y: Sequence[float], width: float = 1.0, **more: Any
    ) -> None:
        self.ax.plot(x, y, **{"color": self.ink, "lw": width, **more})

    def write(self, x: float, y: float, text: str, **more: Any) -> None:
        self.ax.text(x, y, text, **{"va": "center", "fontsize": _FONT, **more})

    def draw_scale(self, cd: float) -> None:
        """The scale, and above it the critical difference; in words alone where it is longer than the scale."""
        step = int(np.ceil(1.6 * _LINE / ((self.right - self.left) / (self.k - 1))))
        self.rule([self.left, self.right], [_SCALE_Y, _SCALE_Y], solid_capstyle="butt")
        for rank in np.arange(1, self.k + 0.5, 0.5):
            major, x = rank % 1 == 0 and (rank - 1) % step == 0, self.x(rank)
            self.rule(
                [x, x], [_SCALE_Y, _SCALE_Y - (0.35 if major else 0.18) * _LINE], 0.8
            )
            if major:
                self.write(
                    x, _SCALE_Y - 0.5 * _LINE, f"{rank:.0f}", ha="center", va="bottom"
                )
        y, text = 0.65 * _LINE, f"CD = {cd:.2f}"
        if cd > self.k - 1:
            self.write(self.left, y, f"{text}, longer than the scale")
            return
        ends = [self.left, self.x(self.k - cd)]
        self.rule(ends, [y, y])
        for end in ends:
            self.rule([end, end], [0.5 * _LINE, 0.8 * _LINE])
        self.write(ends[1] + 0.4 * _LINE, y, text, ha="left")

    def draw_bar(
        self, worst: float, best: float, row: int, overhang: float, color: str
    ) -> None:
        """A bar that holds methods reaches a little beyond them, but never to one that it does not hold."""
        outside = self.ranks[(self.ranks < best) | (self.ranks > worst)]
        gaps = [np.abs(outside - end).min(initial=self.k) / 3 for end in (worst, best)]
        reach = np.minimum(overhang * (self.k - 1), gaps)
        ends, y = (
            self.x(np.array([worst + reach[0], best - reach[1]])),
            _SCALE_Y + _BAR_STEP * (row + 1),
        )
        self.rule(
            ends, [y, y], 3.4, color=color, solid_capstyle="butt", zorder=3, gid="bar"
        )

    def draw_names(self, control: int | None, color: str) -> None:
        for place, method in enumerate(np.argsort(-self.ranks, kind="stable")):
            chosen, on_left = control == method, place < (self.k + 1) // 2
            x, y = (
                self.x(self.ranks[method]),
                self.first_row + _LINE * min(place, self.k - 1 - place),
            )
            end, side, align = (
                (self.left - 0.1, -0.06, "right")
                if on_left
                else (self.right + 0.1, 0.06, "left")
            )
            ink, width, above, weight = (
                (color, 1.6, 4, "bold") if chosen else (self.ink, 0.8, 2, "normal")
            )
            self.rule([x, x, end], [_SCALE_Y, y, y], width, color=ink, zorder=above)
            self.write(
                end + side,
                y,
                self.labels[method],
                ha=align,
                fontweight=weight,
                parse_math=False,
            )


def _read_ranks(mean_ranks: Any, n_datasets: int) -> tuple[FloatArray, Names, float]:
    """Mean ranks as an array, the names of the methods if they have any, and the standard error of a difference."""
    ranks = np.asarray(mean_ranks, dtype=np.float64)
    if ranks.ndim != 1 or len(ranks) < 2:
        shape = f"they have shape {ranks.shape}"
        raise InputError(
            f"Mean ranks are one number per method, of two methods or more; {shape}."
        )
    k = len(ranks)
    if not np.all((ranks >= 1) & (ranks <= k)):
        raise InputError(
            f"Mean ranks of {k} methods lie between 1 and {k}: were scores given instead of ranks?"
        )
    if n_datasets < 2:
        raise InputError(
            f"Methods cannot be told apart on {n_datasets} data set: there must be at least two."
        )
    names = list(mean_ranks.index) if hasattr(mean_ranks, "iloc") else None
    return ranks, names, float(np.sqrt(k * (k + 1) / (6 * n_datasets)))


def _against(
    control: int | str, mean_ranks: Any, n_datasets: int
) -> tuple[int, FloatArray, Names, float]:
    """Position of the control, mean ranks less its own, names and standard error as of `_read_ranks`."""
    ranks, names, se = _read_ranks(mean_ranks, n_datasets)
    k = len(ranks)
    if names is not None and names.count(control) == 1:
        position = names.index(control)
    elif isinstance(control, int | np.integer) and -k <= control < k:
        position = int(control) % k
    else:
        known = ", ".join(map(str, names)) if names else f"0 to {k - 1}"
        raise InputError(f"The control {control!r} is not one of the methods: {known}.")
    return position, ranks - ranks[position], names, se


def _level(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise InputError(f"The level alpha lies between 0 and 1; it is {alpha!r}.")
    return alpha


def _labelled(values: NDArray[Any], names: Names) -> Any:
    if names is None:
        return values
    return (
        pd.Series(values, names)
        if values.ndim == 1
        else pd.DataFrame(values, names, names)
    )
