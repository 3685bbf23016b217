"""Many runs of an iteration over a few problems at a time, on tensors: what Algorithm I and FISTA have in common.

Symbols: b problems (folds, widths) with moments A (b, Md, Md), B (b, L, Md) and label couplings R (b, L, L); n runs,
each a problem with one setting, ordered by problem; W (n, L, Md) their consequents, transposed as in
`core.algorithm1_steps`.

The products of all runs of one problem are one: (runs · L, Md) by A, and R by each W. A run that stops is put away at
once and drops out of the buffers when an eighth of them is idle: moving what is left costs a third of a step. Md is
filled up with zeros to a multiple of 8, which changes no number: products of 207 columns run at 25 TFlop/s on an H200,
of 208 at 41.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

try:
    import torch
except ImportError:
    raise ImportError('batches on tensors need torch: pip install "mltsk[gpu]"') from None

from ..core.backend import device_memory
from ..core.coupling import coupling_matrix, label_correlation
from ..exceptions import InputError

_ALIGN = 8
_IDLE = 0.125
_SQUARINGS = 36  # A^(2^36): two eigenvalues that this does not tell apart differ by less than 1e-10 of themselves
_HOST_BYTES, _DEVICE_SHARE = 10**9, 0.3  # that all buffers may take together


@dataclass(frozen=True)
class Problems:
    """Moments of b problems of one shape: A (b, Md, Md), B (b, L, Md), yy (b,), label couplings R (b, L, L)."""

    A: torch.Tensor
    B: torch.Tensor
    yy: torch.Tensor
    R: torch.Tensor

    @classmethod
    def of(
        cls,
        G: torch.Tensor,
        Y: torch.Tensor,
        train: torch.Tensor,
        *,
        coupling: str | None = "paper",
        centred: bool = False,
    ) -> "Problems":
        """Of maps G (g, N, Md) and labels Y (N, L) under g × f masks of training rows (g, f, N): b = g f problems.

        With ``centred`` the base rates of the training rows are taken off the labels, as the default fit does.
        """
        rows = train.to(G.dtype)[..., None]
        targets = Y - (Y * rows).sum(2, keepdim=True) / rows.sum(2, keepdim=True) if centred else Y
        Gt, Yt = (G[:, None] * rows).flatten(0, 1), (targets * rows).flatten(0, 1)
        R = [coupling_matrix(label_correlation(Y, w), coupling) for w in rows[..., 0].flatten(0, 1)]
        return cls(Gt.mT @ Gt, Yt.mT @ Gt, (Yt * Yt).sum((1, 2)), torch.stack(R))

    def take(self, part: slice) -> "Problems":
        """Some of the problems."""
        return Problems(self.A[part], self.B[part], self.yy[part], self.R[part])

    def padded(self) -> "Problems":
        """With columns of zeros up to a multiple of 8."""
        more = -self.A.shape[1] % _ALIGN
        pad = torch.nn.functional.pad
        return Problems(pad(self.A, (0, more, 0, more)), pad(self.B, (0, more)), self.yy, self.R)

    def parts(self, n_settings: int, n_buffers: int) -> Iterator[slice]:
        """As many problems at a time as ``n_buffers`` tensors the size of W leave room for."""
        L, width = self.B.shape[1:]
        each = n_buffers * self.B.itemsize * n_settings * L * (width + _ALIGN)
        step = max(1, _bytes(self.B) // each)
        for start in range(0, len(self.B), step):
            yield slice(start, min(start + step, len(self.B)))


def _bytes(like: torch.Tensor) -> int:
    return int(_DEVICE_SHARE * device_memory(like)) or _HOST_BYTES


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


@dataclass(frozen=True)
class Runs:
    """Where every setting of every problem stopped: ``n_iter`` (b, S), consequents ``P`` (b, S, Md, L)."""

    n_iter: torch.Tensor
    P: torch.Tensor


class Batch:
    """Runs of S settings on each of b problems: buffers over those still going, results of those that stopped.

    A subclass names in ``moved`` what it keeps a run, tensors whose first axis is the run.
    """

    moved: ClassVar[tuple[str, ...]] = ()

    def __init__(self, problems: Problems, alpha: torch.Tensor, n_settings: int) -> None:
        self.problems, self.n_columns = problems.padded(), problems.B.shape[2]
        b, device = len(problems.B), problems.B.device
        self.shape = b, n_settings
        self.which = torch.arange(b, device=device).repeat_interleave(n_settings)
        self.run_id = torch.arange(b * n_settings, device=device)
        self.n_iter = torch.zeros(b * n_settings, dtype=torch.int64, device=device)
        self.idle = torch.zeros(b * n_settings, dtype=torch.bool, device="cpu")
        self.alpha = alpha[:, None, None]
        self.B = self.problems.B[self.which]
        self.W = torch.zeros_like(self.B)
        self.found = torch.empty_like(self.B)
        self._count()

    def _count(self) -> None:
        """Where the runs of each problem begin and end."""
        ends = torch.bincount(self.which, minlength=len(self.problems.B)).cumsum(0).tolist()
        pairs = enumerate(zip([0, *ends[:-1]], ends, strict=True))
        self.ranges = [(j, start, stop) for j, (start, stop) in pairs if stop > start]

    def ridge_start(self, gamma: torch.Tensor) -> None:
        """W = (A + γI)⁻¹B, one factor a problem and gamma.   (36)"""
        A, B = self.problems.A, self.problems.B
        eye = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)
        for value in gamma.unique().tolist():
            factor, failed = torch.linalg.cholesky_ex(A + value * eye)
            if bool(failed.any()):
                raise InputError(f"gamma = {value:g} is too small for the ridge start: take a larger one.")
            runs = torch.nonzero(gamma == value)[:, 0]
            self.W[runs] = torch.cholesky_solve(B.mT, factor).mT[self.which[runs]]

    def multiply(self, out: torch.Tensor, scratch: torch.Tensor) -> None:
        """A W + α W R, problem by problem."""
        for j, start, stop in self.ranges:
            part = slice(start, stop)
            torch.mm(self.W[part].flatten(0, 1), self.problems.A[j], out=out[part].flatten(0, 1))
        self.couple(out, scratch)

    def couple(self, out: torch.Tensor, scratch: torch.Tensor) -> None:
        """Add α W R."""
        for j, start, stop in self.ranges:
            R = self.problems.R[j].expand(stop - start, -1, -1)
            torch.bmm(R, self.W[start:stop], out=scratch[start:stop])
        out.addcmul_(scratch, self.alpha)

    def put_away(self, stopped: torch.Tensor, step: int) -> bool:
        """Keep the results of runs that just stopped; True when none is left. One look from the host a step."""
        fresh = torch.nonzero(stopped.cpu() & ~self.idle)[:, 0]
        if len(fresh):
            here = fresh.to(self.W.device)
            self.keep(self.run_id[here], here, step)
            self.idle[fresh] = True
        going = torch.nonzero(~self.idle)[:, 0]
        if 0 < len(going) < (1 - _IDLE) * len(self.idle):
            self.compact(going.to(self.W.device))
        return len(going) == 0

    def keep(self, runs: torch.Tensor, here: torch.Tensor, step: int) -> None:
        """What is known of the runs that lie at the positions ``here``."""
        self.n_iter[runs] = step
        self.found[runs] = self.W[here]

    def compact(self, going: torch.Tensor) -> None:
        """Go on with some of the runs."""
        for name in ("W", "B", "alpha", "which", "run_id", *self.moved):
            setattr(self, name, getattr(self, name)[going])
        self.idle = torch.zeros(len(going), dtype=torch.bool, device="cpu")
        self._count()

    def consequents(self) -> torch.Tensor:
        """Of every run, (b, S, Md, L)."""
        return self.found.view(*self.shape, *self.found.shape[1:])[..., : self.n_columns].mT
