"""All settings of a grid of ML-TSK FS, with what they share made once.

Trials hold unfitted `mltsk.paper.PaperMLTSK` that differ in their parameters.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TypedDict

import numpy as np

from ...core.arrays import Array, Matrix
from ...core.fuzzymap import FuzzyMap
from ..antecedents import find_rules, rule_widths
from ..solvers.algorithm1 import Setting, Stop, algorithm1_grid
from .base import GridPoint, Trial, agreeing_except_in, agreeing_in
from .nets import Device, batches, torch_device

# Numbers of all P that a batch of settings on a device holds together.
MAX_BATCH_NUMBERS = 10**8
SOLVER_WEIGHTS = ("correlation_weight", "l1_weight", "init_ridge")


class StoppingRule(TypedDict):
    """When Algorithm I stops; see `mltsk.paper.algorithm1`."""

    stop: Stop
    max_iter: int
    margin: float


def by_rules(
    trials: Sequence[Trial], Z: Matrix, w: Array
) -> Iterator[tuple[list[Trial], Callable[[Matrix], FuzzyMap]]]:
    """Trials that differ in their weights alone, with what maps rows by their rules.

    One clustering of the rows Z (N, D) serves all widths.
    """
    for same_centers in agreeing_in(trials, "n_rules", "formulas"):
        first = same_centers[0].model
        C, spread = find_rules(Z, w, first.n_rules, formulas=first.formulas)
        for same_rules in agreeing_except_in(same_centers, *SOLVER_WEIGHTS):
            model = same_rules[0].model
            S = rule_widths(spread, model.width_scale, model.formulas)
            yield same_rules, partial(FuzzyMap.of, C=C, S=S, firing=model._firing)


def grid_points(
    trials: Sequence[Trial], train: FuzzyMap, test: FuzzyMap, Y: Array, w: Array
) -> Iterator[GridPoint]:
    """Points of trials that differ in their weights alone."""
    if trials[0].model.objective == "algorithm1":
        scores_of = _algorithm1_scores(trials, train, test, Y, w)
    for params, model in trials:
        if model.objective == "algorithm1":
            scores = scores_of[model._alpha_beta_gamma()]
        else:
            scores = test @ model._consequents(train, Y, w)
        threshold = np.asarray(model.threshold)
        if model.formulas == "program":
            labels = threshold <= scores
        else:
            labels = scores > threshold
        yield GridPoint(params, scores, labels.astype(int))


def _algorithm1_scores(
    trials: Sequence[Trial], train: FuzzyMap, test: FuzzyMap, Y: Array, w: Array
) -> Mapping[Setting, Array]:
    """Scores of the test rows by (alpha, beta, gamma); each setting is solved once."""
    first = trials[0].model
    settings = [trial.model._alpha_beta_gamma() for trial in trials]
    axes = [sorted(set(weights)) for weights in zip(*settings, strict=True)]
    rule = first._stopping_rule()
    if first.device not in (None, "cpu"):
        device = torch_device(first.device)
        combinations = list(product(*axes))
        return _device_scores(train, test, Y, combinations, device=device, rule=rule)
    return algorithm1_grid(
        train,
        Y,
        *axes,
        then=lambda result: test @ result.P,
        sample_weight=w,
        precision=first.precision,
        **rule,
    )


def _device_scores(
    train: FuzzyMap,
    test: FuzzyMap,
    Y: Array,
    settings: Sequence[Setting],
    *,
    device: Device,
    rule: StoppingRule,
) -> dict[Setting, Array]:
    """Scores of every setting by `algorithm1_batch`, on the device.

    All rows have the same weight.
    """
    import torch

    from ..solvers.algorithm1_batch import Problems, algorithm1_batch

    G, T, labels = (
        torch.as_tensor(np.ascontiguousarray(array), device=device)
        for array in (train.rows(), test.rows(), Y)
    )
    problems = Problems.from_rows(G[None], labels, G.new_ones((1, 1, len(G))))
    size = max(1, MAX_BATCH_NUMBERS // (G.shape[1] * labels.shape[1]))
    scores: dict[Setting, Array] = {}
    for batch in batches(settings, size):
        ((_, _, P),) = algorithm1_batch(problems, batch, **rule)
        scores |= zip(batch, (T @ P[0]).cpu().numpy(), strict=True)
    return scores
