"""The convex problem for many weights and folds at a time, on tensors: `core.fista` for each, in wide products.

Symbols: as in `batch`; a setting is (α, β, ρ), Q in the place of R; S (n, L, Md) the slopes A W - B + ρ W + α Q W.

Every run has its own momentum, restarts when that points uphill, and stops on its own duality gap. A path of
`core.path` starts each problem where its neighbour ended, which saves steps; a batch starts all of them at their ridge
solutions (36) at once, which fills the device.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..core.coupling import CONVEX
from ..core.fista import CHECK_EVERY
from ..exceptions import InputError, NoMinimumError
from .batch import Batch, Problems, Runs, spectral_norms, torch

Setting = tuple[float, float, float]

_BUFFERS = 14  # tensors as large as W that a step needs at most, temporaries included


@dataclass(frozen=True)
class CertifiedRuns(Runs):
    """Also the relative duality gap ``certificate`` (b, S) at which every run stopped."""

    certificate: torch.Tensor


def fista_batch(
    problems: Problems, settings: Sequence[Setting], *, max_iter: int = 1000, tol: float = 1e-4
) -> Iterator[tuple[slice, CertifiedRuns]]:
    """Minimise the convex problem for every (alpha, beta, rho) over every set of moments, to a certificate.

    Parameters
    ----------
    problems : Problems
        On any device, with a convex coupling: ``Problems.of(G, Y, train, coupling="laplacian", centred=True)`` are
        those of the default fit on folds.
    settings : sequence of (alpha, beta, rho)
        The ridge weight rho must be positive: the certificate is a duality gap.
    max_iter, tol : int, float
        As in `core.fista`.

    Yields
    ------
    (slice, CertifiedRuns)
        Which problems, as many at a time as a third of the device's memory holds, and their results.

    Examples
    --------
    >>> G = torch.tensor([[[1.0, 0], [1, 1], [0, 1]]], dtype=torch.float64)
    >>> problems = Problems.of(G, G[0], torch.ones(1, 1, 3), coupling="ridge")
    >>> [(_, runs)] = fista_batch(problems, [(0.1, 0.01, 0.1), (0.1, 10, 0.1)])
    >>> (runs.certificate <= 1e-4).tolist(), bool((runs.P[0, 1] == 0).all())
    ([[True, True]], True)
    """
    if not settings or not all(a >= 0 and b >= 0 and r > 0 for a, b, r in settings):
        raise InputError("alpha, beta >= 0 and rho > 0 are needed, for at least one setting.")
    for part in problems.parts(len(settings), _BUFFERS):
        yield part, _Fista(problems.take(part), settings).run(max_iter, tol)


def dominating_diagonals(A: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    """For each of some matrices the diagonal (b, 1, Md) that `core.moments.dominating_diagonal` gives it."""
    absolute, norm = A.abs(), norms[:, None, None].clamp(min=torch.finfo(A.dtype).tiny)
    v = torch.maximum(absolute.sum(1, keepdim=True), 1e-12 * norm).sqrt()
    D = torch.maximum((v @ absolute) / v, 1e-12 * norm)
    return torch.where(D.log().mean(2, keepdim=True) < norm.log(), D, norm)


class _Fista(Batch):
    """Settings (α, β, ρ) on each of some problems."""

    moved: ClassVar = ("W_old", "S", "S_old", "beta", "rho", "ridge", "steps", "b", "gap")

    def __init__(self, problems: Problems, settings: Sequence[Setting]) -> None:
        like = problems.B
        alpha, beta, rho = (like.new_tensor(column).repeat(len(like)) for column in zip(*settings, strict=True))
        super().__init__(problems, alpha, len(settings))
        low, high = (ends[self.which] for ends in torch.linalg.eigvalsh(problems.R)[:, [0, -1]].T)
        _require_minimum(alpha, rho, low)
        self.beta, self.rho, self.b = beta[:, None, None], rho[:, None, None], torch.ones_like(self.alpha)
        self.ridge = (rho + alpha * low)[:, None, None]
        bound = dominating_diagonals(problems.A, spectral_norms(problems.A))
        bound = torch.nn.functional.pad(bound, (0, self.W.shape[2] - self.n_columns), value=1.0)[self.which]
        self.steps = 1 / (bound + self.rho + self.alpha * high[:, None, None].clamp(min=0))
        self.ridge_start((rho + alpha).clamp(min=1e-8))
        self.W_old, self.S = self.W, self._slope()
        self.S_old = self.S
        self.certificate = torch.zeros_like(beta)

    def run(self, max_iter: int, tol: float) -> CertifiedRuns:
        self.gap = self._certificates()
        done = self.put_away(self.gap <= tol, 0)
        for step in range(1, max_iter + 1):
            if done:
                break
            self._step()
            if step % CHECK_EVERY == 0 or step == max_iter:
                self.gap = self._certificates()
                done = self.put_away((self.gap <= tol) | (step == max_iter), step)
        return CertifiedRuns(self.n_iter.view(self.shape), self.consequents(), self.certificate.view(self.shape))

    def _step(self) -> None:
        b_new = (1 + (4 * self.b**2 + 1).sqrt()) / 2
        momentum = (self.b - 1) / b_new
        V = torch.addcmul(self.W, self.W - self.W_old, momentum)
        Z = V - self.steps * torch.addcmul(self.S, self.S - self.S_old, momentum)
        new = Z - torch.clamp(Z, -self.steps * self.beta, self.steps * self.beta)
        uphill = ((V - new) / self.steps * (new - self.W)).sum((1, 2), keepdim=True) > 0
        self.b = torch.where(uphill, 1.0, b_new)
        self.W_old, self.S_old, self.W = self.W, self.S, new
        self.S = self._slope()

    def _slope(self) -> torch.Tensor:
        S = torch.empty_like(self.W)
        self.multiply(S, torch.empty_like(self.W))
        return S.sub_(self.B).addcmul_(self.rho, self.W)

    def _certificates(self) -> torch.Tensor:
        """Relative duality gaps, as `core.objective.Problem.gap` has them."""
        Z = self.ridge * self.W - self.S
        excess = (Z.abs() - self.beta).clamp(min=0)
        own = 0.5 * self.ridge * self.W**2 + self.beta * self.W.abs()
        gap = (own + excess**2 / (2 * self.ridge) - self.W * Z).sum((1, 2)).clamp(min=0)
        return gap / (0.5 * self.problems.yy[self.which]).clamp(min=torch.finfo(gap.dtype).tiny)

    def keep(self, runs: torch.Tensor, here: torch.Tensor, step: int) -> None:
        super().keep(runs, here, step)
        self.certificate[runs] = self.gap[here]


def _require_minimum(alpha: torch.Tensor, rho: torch.Tensor, low: torch.Tensor) -> None:
    worst = int((rho + alpha * low).argmin())
    if float(rho[worst] + alpha[worst] * low[worst]) < 0:
        raise NoMinimumError(
            f"with alpha = {float(alpha[worst]):g} and rho = {float(rho[worst]):g} the problem may have no minimum: "
            f"the coupling has the eigenvalue {float(low[worst]):.3g}. Choose a convex one ({', '.join(CONVEX)})."
        )
