"""Algorithm I for many settings and folds at a time, on tensors: the authors' grid in a few wide products per step.

Symbols are those of `algorithm1`: b problems (folds, widths) with moments A (b, Md, Md), B (b, L, Md) and label
couplings R (b, L, L); n runs, each a problem with one setting, ordered by problem; W, F and H (n, L, Md).

The products of all runs of one problem are one: (runs · L, Md) by A, and R by each W. A run that stops is put away at
once and drops out of the buffers when an eighth of them is idle: moving what is left costs a third of a step.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from ...core.arrays import device_memory, row_blocks
from ...core.coupling import coupling_matrix, label_correlation
from ...exceptions import InputError, optional
from .algorithm1 import Setting, Stop

torch = optional("torch", "torch")

_BUFFERS = 8  # tensors as large as W that a step needs, with what is put away
_ALIGN = 8  # columns are filled up with zeros: products of 207 run at 25 TFlop/s on an H200, of 208 at 41
_IDLE = 0.125
_SQUARINGS = 36  # A^(2^36): two eigenvalues that this does not tell apart differ by less than 1e-10 of themselves
_HOST_BYTES, _DEVICE_SHARE = 10**9, 0.3  # that all buffers may take together


class Problems(NamedTuple):
    """Moments of b problems of one shape: A (b, Md, Md), B (b, L, Md), yy (b,), label couplings R (b, L, L)."""

    A: torch.Tensor
    B: torch.Tensor
    yy: torch.Tensor
    R: torch.Tensor

    @classmethod
    def of(cls, G: torch.Tensor, Y: torch.Tensor, train: torch.Tensor) -> "Problems":
        """Of maps G (g, N, Md) and labels Y (N, L) under g × f masks of training rows (g, f, N): b = g f problems."""
        rows = train.to(G.dtype)[..., None]
        Gt, Yt = (G[:, None] * rows).flatten(0, 1), (Y * rows).flatten(0, 1)
        R = [
            coupling_matrix(label_correlation(Y, w), "paper")
            for w in rows[..., 0].flatten(0, 1)
        ]
        return cls(Gt.mT @ Gt, Yt.mT @ Gt, (Yt * Yt).sum((1, 2)), torch.stack(R))


def spectral_norms(A: torch.Tensor) -> torch.Tensor:
    """‖A‖₂ of symmetric matrices (b, n, n), by squaring: some wide products instead of b eigendecompositions."""
    tiny = torch.finfo(A.dtype).tiny
    power = A @ A
    for _ in range(_SQUARINGS):
        power = power / power.abs().amax((1, 2), keepdim=True).clamp(min=tiny)
        power = power @ power
    # the column of largest diagonal entry is the eigenvector, well away from 0
    best = power.diagonal(dim1=1, dim2=2).argmax(1)
    v = power[torch.arange(len(A), device=A.device), best][..., None]
    v = v / v.norm(dim=1, keepdim=True).clamp(min=tiny)
    return (A @ v).norm(dim=1)[:, 0]


def algorithm1_batch(
    problems: Problems,
    settings: Sequence[Setting],
    *,
    max_iter: int = 100,
    margin: float = 0.01,
    stop: Stop = "program",
    part_bytes: int | None = None,
) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
    """Algorithm I for every problem and setting: the stops and, up to rounding, the numbers of `algorithm1`.

    Problems lie on any device, in double precision, as the authors compute; settings are (alpha, beta, gamma). Yields
    which problems, as many at a time as ``part_bytes`` hold (a third of a GPU's memory, 1 GB of the host's), their
    steps (b, S) and consequents (b, S, Md, L).

    Examples
    --------
    >>> G = torch.tensor([[[1.0, 0], [1, 1], [0, 1]]], dtype=torch.float64)
    >>> problems = Problems.of(G, G[0], torch.ones(1, 1, 3))
    >>> [(_, n_iter, P)] = algorithm1_batch(problems, [(0.1, 0.01, 0.1), (0.1, 10, 0.1)])
    >>> n_iter.tolist()
    [[4, 2]]
    """
    if (
        not all(a >= 0 and b >= 0 and g > 0 for a, b, g in settings)
        or not settings
        or max_iter < 1
    ):
        raise InputError(
            "alpha, beta >= 0, gamma > 0 and max_iter >= 1 are needed, for at least one setting."
        )
    A, B, (_, L, Md), pad = (
        problems.A,
        problems.B,
        problems.B.shape,
        torch.nn.functional.pad,
    )
    each, more = _BUFFERS * B.itemsize * len(settings) * L * (Md + _ALIGN), -Md % _ALIGN
    for part in row_blocks(
        len(B), each, part_bytes or int(_DEVICE_SHARE * device_memory(B)) or _HOST_BYTES
    ):
        wide = Problems(
            pad(A[part], (0, more, 0, more)),
            pad(B[part], (0, more)),
            problems.yy[part],
            problems.R[part],
        )
        n_iter, P = _Batch(wide, settings, stop).run(max_iter, margin)
        yield part, n_iter, P[:, :, :Md]


class _Batch:
    """Settings (α, β, γ) on each of some problems: buffers over runs still going, results of those that stopped."""

    def __init__(
        self, problems: Problems, settings: Sequence[Setting], stop: Stop
    ) -> None:
        self.problems, self.by_text, b, like = (
            problems,
            stop == "text",
            len(problems.B),
            problems.B,
        )
        alpha, beta, gamma = (
            like.new_tensor(column).repeat(b) for column in zip(*settings, strict=True)
        )
        self.shape = b, len(settings)
        self.which = torch.arange(b, device=like.device).repeat_interleave(
            len(settings)
        )
        self.run_id = torch.arange(len(alpha), device=like.device)
        self.n_iter = torch.zeros_like(self.run_id)
        self.alpha, self.B = alpha[:, None, None], problems.B[self.which]
        norm_A, norm_R = (
            spectral_norms(M)[self.which] for M in (problems.A, problems.R)
        )
        lip = (2 * (norm_A**2 + (alpha * norm_R) ** 2)).sqrt()
        lip = torch.where(lip > 0, lip, 1.0)
        self.beta, self.rate, self.cut = (
            beta,
            (1 / lip)[:, None, None],
            (beta / lip)[:, None, None],
        )
        self.q = torch.full_like(
            beta, torch.inf if self.by_text else 0.0
        )  # the authors compare the first q with 0
        self.W, self.found, self.F, self.F_old = (
            torch.zeros_like(self.B) for _ in range(4)
        )
        self._ridge_start(gamma)
        self.H = self.B - gamma[:, None, None] * self.W  # A W of the start is free
        self._count()
        self._couple()

    def _ridge_start(self, gamma: torch.Tensor) -> None:
        """W = (A + γI)⁻¹B, one factor per problem and gamma.   (36)"""
        A, B = self.problems.A, self.problems.B
        eye = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)
        for value in gamma.unique().tolist():
            factor, failed = torch.linalg.cholesky_ex(A + value * eye)
            if bool(failed.any()):
                raise InputError(
                    f"gamma = {value:g} is too small for the ridge start: take a larger one."
                )
            runs = torch.nonzero(gamma == value)[:, 0]
            self.W[runs] = torch.cholesky_solve(B.mT, factor).mT[self.which[runs]]

    def _count(self) -> None:
        ends = [
            0,
            *torch.bincount(self.which, minlength=len(self.problems.B))
            .cumsum(0)
            .tolist(),
        ]
        self.parts = [
            (j, slice(*pair))
            for j, pair in enumerate(pairwise(ends))
            if pair[0] < pair[1]
        ]
        self.idle = torch.zeros(len(self.which), dtype=torch.bool, device="cpu")

    def run(self, max_iter: int, margin: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Every run to where it stops: steps (b, S) and consequents (b, S, Md, L)."""
        b_old, b = 1.0, 1.0
        for step in range(1, max_iter + 1):
            # W⁺ in the place of W; H and one F are used up   (31)-(33)
            torch.sub(self.B, self.H, out=self.H)
            torch.addcmul(self.W, self.H, self.rate, out=self.F)
            m = (b_old - 1) / b
            Z = (
                torch.lerp(self.F, self.F_old, -m, out=self.F_old)
                if m
                else self.F_old.copy_(self.F)
            )
            torch.clamp(Z, -self.cut, self.cut, out=self.H)
            torch.sub(Z, self.H, out=self.W)
            self.F, self.F_old, b_old, b = (
                self.F_old,
                self.F,
                b,
                (1 + sqrt(4 * b * b + 1)) / 2,
            )
            for j, part in self.parts:
                torch.mm(
                    self.W[part].flatten(0, 1),
                    self.problems.A[j],
                    out=self.H[part].flatten(0, 1),
                )
            self._couple()
            # q, or the objective (24); the buffer F is free here
            torch.sub(self.H, self.B, alpha=2, out=self.F)
            q = self.F.mul_(self.W).flatten(1).sum(1) + self.problems.yy[self.which]
            size = torch.linalg.vector_norm(
                self.W.flatten(1), 1 if self.by_text else 0, dim=1
            )
            q_old, self.q = self.q, (q / 2 if self.by_text else q) + self.beta * size
            ended = (self.q <= 0) & (not self.by_text) | (step == max_iter)
            if self._put_away(((q_old - self.q).abs() <= margin) | ended, step):
                break
        return self.n_iter.view(self.shape), self.found.view(
            *self.shape, *self.found.shape[1:]
        ).mT

    def _couple(self) -> None:
        """H += α W R; the buffer F is used up."""
        for j, part in self.parts:
            W = self.W[part]
            torch.bmm(self.problems.R[j].expand(len(W), -1, -1), W, out=self.F[part])
        self.H.addcmul_(self.F, self.alpha)

    def _put_away(self, stopped: torch.Tensor, step: int) -> bool:
        """Keep the results of runs that just stopped; True when none is left. One look from the host a step."""
        fresh = torch.nonzero(stopped.cpu() & ~self.idle)[:, 0]
        if len(fresh):
            here = fresh.to(self.W.device)
            self.n_iter[self.run_id[here]] = step
            self.found[self.run_id[here]] = self.W[here]
            self.idle[fresh] = True
        going = torch.nonzero(~self.idle)[:, 0]
        if 0 < len(going) < (1 - _IDLE) * len(self.idle):
            here = going.to(self.W.device)
            for name in (
                "W",
                "B",
                "H",
                "F_old",
                "alpha",
                "beta",
                "rate",
                "cut",
                "q",
                "which",
                "run_id",
            ):
                setattr(self, name, getattr(self, name)[here])
            self.F = self.F[: len(here)]
            self._count()
        return len(going) == 0
