"""Algorithm I for many settings and folds at a time, on tensors: the authors' whole grid in a few wide products a step.

Symbols: as in `batch`, F and H (n, L, Md) like W. The formulas are those of `core.algorithm1_steps`:

    F = W + (B - H)/Lip,   W⁺ = soft((1 + m) F - m F', β/Lip),   H = A W + α W R,   q = ⟨W, H - 2B⟩ + yy + β nnz(W)
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import ClassVar

from ..exceptions import InputError
from ..metrics import five_metrics
from .batch import Batch, Problems, Runs, spectral_norms, torch

Setting = tuple[float, float, float]

_BUFFERS = 8  # tensors as large as W that a step needs, with what is put away


def algorithm1_batch(
    problems: Problems, settings: Sequence[Setting], *, max_iter: int = 100, margin: float = 0.01
) -> Iterator[tuple[slice, Runs]]:
    """Algorithm I for every problem and setting: the stops and, up to rounding, the numbers of `core.algorithm1`.

    Parameters
    ----------
    problems : Problems
        On any device; double precision, as the authors compute.
    settings : sequence of (alpha, beta, gamma)
    max_iter, margin : int, float
        The authors' stopping rule.

    Yields
    ------
    (slice, Runs)
        Which problems, as many at a time as a third of the device's memory holds, and their results.

    Examples
    --------
    >>> G = torch.tensor([[[1.0, 0], [1, 1], [0, 1]]], dtype=torch.float64)
    >>> problems = Problems.of(G, G[0], torch.ones(1, 1, 3))
    >>> [(_, runs)] = algorithm1_batch(problems, [(0.1, 0.01, 0.1), (0.1, 10, 0.1)])
    >>> runs.n_iter.tolist()
    [[4, 2]]
    """
    if not all(a >= 0 and b >= 0 and g > 0 for a, b, g in settings) or not settings or max_iter < 1:
        raise InputError("alpha, beta >= 0, gamma > 0 and max_iter >= 1 are needed, for at least one setting.")
    for part in problems.parts(len(settings), _BUFFERS):
        yield part, _Algorithm1(problems.take(part), settings).run(max_iter, margin)


def algorithm1_folds(
    G: torch.Tensor,
    Y: torch.Tensor,
    train: torch.Tensor,
    settings: Sequence[Setting],
    *,
    max_iter: int = 100,
    margin: float = 0.01,
    convention: str = "paper",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps and the five metrics of every setting on every fold.

    Parameters
    ----------
    G : tensor of shape (g, N, Md)
        g maps of the same samples: one a width, say.
    Y : tensor of shape (N, L) of 0 and 1
    train : boolean tensor of shape (g, f, N)
        The training rows of f folds of each map; the others are tested.
    settings : sequence of (alpha, beta, gamma)
    max_iter, margin
        As in `algorithm1_batch`.
    convention : {"paper", "standard"}
        Of the metrics.

    Returns
    -------
    (tensor of shape (g, f, S), tensor of shape (g, f, S, 5))
        Beside G; the metrics in double precision.
    """
    G, Y = G.double(), Y.double()
    problems, found = Problems.of(G, Y, train), []
    tested, weight = _test_rows(train.flatten(0, 1))
    maps = torch.arange(len(train), device=G.device).repeat_interleave(train.shape[1])
    for part, runs in algorithm1_batch(problems, settings, max_iter=max_iter, margin=margin):
        rows, W = tested[part], runs.P.mT
        scores = W.flatten(1, 2) @ G[maps[part, None], rows].mT
        scores = scores.unflatten(1, W.shape[1:3]).mT
        metrics = five_metrics(Y[rows][:, None], scores, sample_weight=weight[part, None], convention=convention)
        found.append((runs.n_iter, metrics))
    n_iter, metrics = (torch.cat(column).unflatten(0, train.shape[:2]) for column in zip(*found, strict=True))
    return n_iter, metrics


def _test_rows(train: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows that are not trained on (b, n), filled up to equal numbers with rows of weight 0."""
    sizes = (~train).sum(1)
    rows = train.to(torch.int8).argsort(dim=1, stable=True)[:, : int(sizes.max())]
    return rows, torch.arange(rows.shape[1], device=train.device) < sizes[:, None]


class _Algorithm1(Batch):
    """Settings (α, β, γ) on each of some problems."""

    moved: ClassVar = ("H", "F_old", "beta", "rate", "cut", "q")

    def __init__(self, problems: Problems, settings: Sequence[Setting]) -> None:
        like = problems.B
        alpha, beta, gamma = (like.new_tensor(column).repeat(len(like)) for column in zip(*settings, strict=True))
        super().__init__(problems, alpha, len(settings))
        norm_A, norm_R = (spectral_norms(M)[self.which] for M in (problems.A, problems.R))
        lip = (2 * (norm_A**2 + (alpha * norm_R) ** 2)).sqrt()
        lip = torch.where(lip > 0, lip, 1.0)
        self.beta, self.rate, self.cut = beta, (1 / lip)[:, None, None], (beta / lip)[:, None, None]
        self.q = torch.zeros_like(beta)  # the authors compare the first q with 0
        self.F, self.F_old = torch.empty_like(self.W), torch.empty_like(self.W)
        self.ridge_start(gamma)
        self.H = self.B - gamma[:, None, None] * self.W  # A W of the start is free
        self.couple(self.H, self.F)

    def run(self, max_iter: int, margin: float) -> Runs:
        b_old, b = 1.0, 1.0
        for step in range(1, max_iter + 1):
            self._step((b_old - 1) / b)
            b_old, b = b, (1 + sqrt(4 * b * b + 1)) / 2
            self.multiply(self.H, self.F)
            q, q_old = self._loss(), self.q
            self.q = q
            if self.put_away(((q_old - q).abs() <= margin) | (q <= 0) | (step == max_iter), step):
                break
        return Runs(self.n_iter.view(self.shape), self.consequents())

    def _step(self, momentum: float) -> None:
        """W⁺ in the place of W; H and one F are used up.   (31)-(33)"""
        torch.sub(self.B, self.H, out=self.H)
        torch.addcmul(self.W, self.H, self.rate, out=self.F)
        Z = torch.lerp(self.F, self.F_old, -momentum, out=self.F_old) if momentum else self.F_old.copy_(self.F)
        torch.clamp(Z, -self.cut, self.cut, out=self.H)
        torch.sub(Z, self.H, out=self.W)
        self.F, self.F_old = self.F_old, self.F

    def _loss(self) -> torch.Tensor:
        """q of every run; the buffer F is free here."""
        torch.sub(self.H, self.B, alpha=2, out=self.F)
        square = self.F.mul_(self.W).flatten(1).sum(1)
        nonzero = torch.linalg.vector_norm(self.W.flatten(1), 0, dim=1)
        return square + self.problems.yy[self.which] + self.beta * nonzero

    def compact(self, going: torch.Tensor) -> None:
        super().compact(going)
        self.F = self.F[: len(going)]
