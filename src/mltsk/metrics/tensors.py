"""The five metrics of tables of scores that are torch tensors, computed where they lie.

Symbols: scores (…, N, L) over the labels Y (N, L), or (…, N, L) with a table each; one sort along the labels gives
positions 0 … L-1 from the lowest score up (of ties, the lower index first), from which every metric of `conventions`
follows. Ties are groups of equal neighbours; NaN sorts highest, as in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mltsk.core.backend import Tensor, is_tensor, namespace
from mltsk.exceptions import InputError

_ENTRIES = 2 * 10**7  # sorted at a time: ten temporaries of 160 MB


def five_metrics_of_tensors(
    Y: Any, scores: Tensor, *, convention: str, threshold: Any = 0.5, sample_weight: Any = None
) -> Tensor:
    """AP, HL, OE, RL, CV (…, 5), in double precision, beside the scores; `five_metrics` says what they are."""
    if not is_tensor(Y) or Y.device != scores.device:
        raise InputError(f"scores are a tensor on {scores.device}, so Y must be one there too.")
    if scores.ndim < 2 or Y.shape[-2:] != scores.shape[-2:] or not bool(((Y == 0) | (Y == 1)).all()):
        raise InputError(
            f"Y must hold 0 and 1 for every score: scores have shape {tuple(scores.shape)}, Y has {tuple(Y.shape)}."
        )
    if convention != "paper" and bool(scores.isnan().any()):
        raise InputError('scores hold NaN; repair the model, or pass convention="paper", which has a rule for NaN.')
    xp, shape = namespace(scores), scores.shape
    labels = (Y == 1).expand(shape).reshape(-1, *shape[-2:])
    weight = xp.ones(shape[-2:-1], like=scores) if sample_weight is None else sample_weight
    weight = weight.double().expand(shape[:-1]).reshape(-1, shape[-2])
    tables = scores.reshape(-1, *shape[-2:])
    step = max(1, _ENTRIES // max(1, shape[-1] * shape[-2]))
    parts = [slice(i, i + step) for i in range(0, len(tables), step)]
    found = [_five(labels[p], tables[p], threshold, weight[p], convention == "paper") for p in parts]
    return xp.concatenate(found).reshape(*shape[:-2], 5)


def _five(Y: Tensor, scores: Tensor, cut: Any, weight: Tensor, paper: bool) -> Tensor:
    ranked = _Ranked.of(Y, scores, paper)
    m, L = ranked.m, scores.shape[-1]
    rankable = (m < L) if paper else (m > 0) & (m < L)
    columns = (
        (ranked.average_precision(), rankable),
        (((scores >= cut) != Y).sum(-1).double() / L, m >= 0),
        (ranked.one_error(), rankable),
        (ranked.ranking_loss(), rankable),
        (ranked.coverage(), (m >= 0) if paper else rankable),
    )
    means = [(values * weight * rows).sum(-1) / (weight * rows).sum(-1) for values, rows in columns]
    return namespace(scores).stack(means, -1)


@dataclass(frozen=True)
class _Ranked:
    """Rows sorted by score: values and labels ``y``, relevant labels ``before`` each position, and where ties begin."""

    values: Tensor
    y: Tensor
    m: Tensor
    before: Tensor
    start: Tensor
    position: Tensor
    paper: bool

    @classmethod
    def of(cls, Y: Tensor, scores: Tensor, paper: bool) -> _Ranked:
        xp = namespace(scores)
        values, order = xp.sort(scores + 0.0, dim=-1, stable=True)  # + 0.0: -0.0 and 0.0 are a tie
        y = xp.gather(Y, -1, order)
        position = xp.arange(scores.shape[-1], like=scores)
        tied = (values[..., 1:] == values[..., :-1]) | (values[..., 1:].isnan() & values[..., :-1].isnan())
        opens = xp.where(tied, 0, position[1:])
        start = xp.nn.functional.pad(opens, (1, 0)).cummax(-1)[0]
        return cls(values, y, y.sum(-1), y.cumsum(-1) - y.to(position.dtype), start, position, paper)

    @property
    def n_labels(self) -> int:
        return int(self.values.shape[-1])

    def average_precision(self) -> Tensor:
        L, first = self.n_labels, self.before if self.paper else self.before.gather(-1, self.start)
        depth = L - (self.position if self.paper else self.start)
        return (self.y * (self.m[..., None] - first).double() / depth).sum(-1) / self.m.clamp(min=1)

    def one_error(self) -> Tensor:
        numbers = ~self.values.isnan()
        last = (numbers.sum(-1, keepdim=True) - 1).clamp(min=0)
        at_top = (self.values == self.values.gather(-1, last)) & numbers
        hits = (at_top & self.y).sum(-1)
        return (hits == 0).double() if self.paper else 1.0 - hits.double() / at_top.sum(-1)

    def ranking_loss(self) -> Tensor:
        numbers = ~self.values.isnan()
        relevant = (self.y & numbers).sum(-1, keepdim=True)
        at_or_above = numbers.sum(-1, keepdim=True) - self.start
        others = at_or_above - (relevant - self.before.gather(-1, self.start))
        pairs = self.m * (self.n_labels - self.m)
        return (others * (self.y & numbers)).sum(-1).double() / pairs.clamp(min=1)

    def coverage(self) -> Tensor:
        xp, L = namespace(self.values), self.n_labels
        lowest = xp.amin(xp.where(self.y, self.position, L - 1), -1, keepdim=True)
        start = self.start.gather(-1, lowest)
        group = self.start == start
        end, last = start[..., 0] + group.sum(-1), xp.amax(xp.where(self.y & group, self.position, 0), -1)
        depth = L - end + last - start[..., 0] if self.paper else L - start[..., 0] - 1
        return xp.where(self.m > 0, depth, -1).double() / L
