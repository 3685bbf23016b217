"""Sums over the rows of one site, for the columns of a plan.

Labels that were observed in the same rows share sums of products of columns.

Symbols: n rows, Q columns of the plan, L labels.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray, underflow_is_zero
from ..exceptions import InputError
from ..fit.ridge import Moments, Penalty
from ..fit.rows import Block
from ..fit.solve import HeldRows, groups_of_labels, solve
from ..limits import memory_limit
from ..metrics.curves import weighted_ranking
from ..text import quoted_list
from .plan import Plan
from .protect import protected
from .summary import LEAST_PEOPLE

if TYPE_CHECKING:
    from ..tables import DataTable

BYTES_PER_CELL = 32  # of sums, while they are made or read
COST_RIDGE = 8.0  # of the local models by which the cost of protection is told


@dataclass(frozen=True)
class SiteSums:
    """What one site shares.

    Parameters
    ----------
    plan : Plan
    site : str
        Its name.
    least : int
        No count of fewer people is in the sums.
    told : list of str
        What was hidden, in sentences.
    labels : tuple of arrays
        Numbers of labels that were observed in the same rows.
    moments : tuple of Moments
        Sums of these labels; ``H`` is (Q, Q) and ``B`` (Q, labels).
    cost : str
        What that costs. It stays at the site, since it was measured on rows of which
        nothing was hidden; sums from a file have none.

    Examples
    --------
    >>> from mltsk import read_table
    >>> from mltsk.sites import Plan, summary_of
    >>> table = read_table("pbc")
    >>> plan = Plan.of([summary_of(table)], curves=False)
    >>> SiteSums.of(table, plan).moments[0].H.shape == (len(plan.terms),) * 2
    True
    """

    plan: Plan
    site: str
    least: int
    told: tuple[str, ...]
    labels: tuple[NDArray[np.intp], ...]
    moments: tuple[Moments, ...]
    cost: str = ""

    @classmethod
    @underflow_is_zero()
    def of(
        cls, table: "DataTable", plan: Plan, least: int = LEAST_PEOPLE
    ) -> "SiteSums":
        """Sums over the rows of a table."""
        _check_columns(plan)
        X = numbers_of_table(table, plan)
        Y, observed = labels_of_table(table, plan)
        safe = protected(
            X,
            Y,
            observed,
            columns=plan.columns,
            scaling=plan.scaling,
            label_names=plan.label_names,
            groups=table.groups,
            least=least,
        )
        shared = np.flatnonzero(safe.observed.any(axis=0))
        if not len(shared):
            raise InputError(
                f"No label of {table.name} has {least} cases and {least} others: "
                "nothing can be shared."
            )
        w = safe.observed.astype(np.float64)
        block = Block(safe.X, safe.Y, w)
        label_groups = []
        moments = []
        for own in groups_of_labels(w[:, shared], len(shared)):
            label_groups.append(shared[own])
            moments.append(block.moments(plan.design, shared[own]))
        sentences = [*safe.told]
        if least == 1:
            sentences.append("Nothing was hidden: sums may tell of single people.")
        sentences.append(_people_and_columns(int(observed.any(axis=1).sum()), plan))
        cost = ""
        if safe.told:
            cost = _cost(plan, (X, Y, observed), (safe.X, safe.Y, safe.observed))
        return cls(
            plan=plan,
            site=table.name,
            least=least,
            told=tuple(text for text in sentences if text),
            labels=tuple(label_groups),
            moments=tuple(moments),
            cost=cost,
        )

    def of_label(self, j: int) -> Moments | None:
        """The sums of one label; None where this site does not share it."""
        for labels, moments in zip(self.labels, self.moments, strict=True):
            places = np.flatnonzero(labels == j)
            if len(places):
                return Moments(
                    H=moments.H,
                    B=moments.B[:, places],
                    phi=moments.phi,
                    y=moments.y[places],
                    total=moments.total,
                )
        return None


def _check_columns(plan: Plan) -> None:
    """Refuse a plan whose sums would take more memory than they may."""
    n_columns = plan.design.n_columns
    size = BYTES_PER_CELL * n_columns**2
    if size > memory_limit():
        raise InputError(
            f"The plan has {n_columns:,} columns, and their sums would take "
            f"{size >> 20:,} MiB of memory, more than {memory_limit() >> 20:,} MiB: "
            "make a plan of fewer features, or without curves."
        )


def numbers_of_table(table: "DataTable", plan: Plan) -> FloatArray:
    """The features of a table in the columns of numbers of a plan, (n, D)."""
    gone = [name for name in plan.columns.names if name not in table.X]
    if gone:
        raise InputError(
            f"{table.name} has no column {quoted_list(gone)}, which the plan needs: "
            "make the plan with a summary of this file."
        )
    numbers = plan.columns.expand(table.X[list(plan.columns.names)])
    if np.isinf(numbers).any():
        raise InputError(f"{table.name} holds infinite numbers: write NaN for them.")
    return np.asarray(numbers, dtype=np.float64)


def labels_of_table(
    table: "DataTable", plan: Plan
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The labels of a plan (n, L) in a table, and which were observed."""
    Y = np.full((len(table), len(plan.label_names)), np.nan)
    for j, name in enumerate(plan.label_names):
        if name in table.Y:
            Y[:, j] = table.Y[name].to_numpy(float)
    observed = ~np.isnan(Y)
    return np.nan_to_num(Y), observed


def _people_and_columns(n_rows: int, plan: Plan) -> str:
    """A warning where there are fewer rows than columns."""
    n_columns = plan.design.n_columns
    if n_rows >= n_columns:
        return ""
    return (
        f"Rows: {n_rows:,}, columns: {n_columns:,}. With so few rows, whoever "
        "has the sums could work out much about single rows. Share more rows, or make "
        "a plan without curves."
    )


Labelled = tuple[FloatArray, FloatArray, NDArray[np.bool_]]


def _cost(plan: Plan, before: Labelled, after: Labelled) -> str:
    """What protection costs, by models of this site alone on rows left out."""
    judged = np.flatnonzero(after[2].any(axis=0))
    ap_before = _left_out_ap(plan, before, judged)
    ap_after = _left_out_ap(plan, after, judged)
    given = (
        f"by models of this site alone: AP {ap_after:.3f} instead of {ap_before:.3f}, "
        f"mean over {len(judged)} labels that are shared, every row left out."
    )
    if ap_after < ap_before:
        return f"That costs, {given}"
    return f"That costs nothing to speak of, {given}"


def _left_out_ap(plan: Plan, rows: Labelled, labels: NDArray[np.intp]) -> float:
    """Mean AP of leave-one-out scores under a plan."""
    X, Y, observed = rows
    w = observed[:, labels].astype(np.float64)
    block = Block(X, Y[:, labels], w)
    design = plan.design
    scaled = HeldRows(block, None, len(X))
    solution = solve(
        block.all_rows(),
        design,
        Penalty(COST_RIDGE),
        scaled,
        groups_of_labels(w, len(labels)),
    )
    aps = []
    for j in range(len(labels)):
        seen = w[:, j] > 0
        y = block.Y[seen, j] > 0
        aps.append(weighted_ranking(y, solution.loo_scores[seen, j], w[seen, j])[0])
    return float(np.nanmean(aps))
