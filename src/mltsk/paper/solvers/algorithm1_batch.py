"""Algorithm I for many settings and folds at a time, on tensors.

The authors' grid takes a few wide products per step.

Symbols are those of `algorithm1`, and::

    b problems      folds or widths, with moments A (b, Md, Md) and B (b, L, Md), and
                    label couplings R (b, L, L)
    n runs          each a problem with one setting, ordered by problem
    W, F, H         (n, L, Md)

The products of all runs of one problem are one: (runs · L, Md) by A, and R by each W. A
run that stops is put away at once and drops out of the buffers when an eighth of them
is idle: moving what is left costs a third of a step.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...core.arrays import device_memory, row_blocks
from ...core.coupling import coupling_matrix, label_correlation
from ...exceptions import InputError, optional
from .algorithm1 import Setting, Stop
from .problem import next_momentum

torch = optional("torch", "torch")

# Tensors as large as W that a step needs, with what is put away.
N_BUFFERS = 8
# Columns are filled up with zeros: products of 207 run at 25 TFlop/s on an H200, of 208
# at 41.
COLUMN_MULTIPLE = 8
# Share of idle runs from which on the buffers are made smaller.
MAX_IDLE_SHARE = 0.125
# A^(2^36): two eigenvalues that this does not tell apart differ by less than 1e-10 of
# themselves.
N_SQUARINGS = 36
# What all buffers may take together, on the host and of a device's memory.
HOST_BUFFER_BYTES = 10**9
DEVICE_BUFFER_SHARE = 0.3


class Problems(NamedTuple):
    """Moments of b problems of one shape.

    A (b, Md, Md), B (b, L, Md), yy (b,) and label couplings R (b, L, L).
    """

    A: torch.Tensor
    B: torch.Tensor
    yy: torch.Tensor
    R: torch.Tensor

    @classmethod
    def from_rows(
        cls, G: torch.Tensor, Y: torch.Tensor, train: torch.Tensor
    ) -> "Problems":
        """The b = g f problems of g maps, each on f sets of training rows.

        Parameters
        ----------
        G : tensor of shape (g, N, Md)
        Y : tensor of shape (N, L)
        train : tensor of shape (g, f, N)
            Masks of training rows.
        """
        masks = train.to(G.dtype)[..., None]
        G_train = (G[:, None] * masks).flatten(0, 1)
        Y_train = (Y * masks).flatten(0, 1)
        couplings = []
        for mask in masks[..., 0].flatten(0, 1):
            couplings.append(coupling_matrix(label_correlation(Y, mask), "paper"))
        return cls(
            A=G_train.mT @ G_train,
            B=Y_train.mT @ G_train,
            yy=(Y_train * Y_train).sum((1, 2)),
            R=torch.stack(couplings),
        )

    def padded(self, block: slice) -> "Problems":
        """A block of the problems, with columns filled up by zeros."""
        pad = torch.nn.functional.pad
        more = -self.B.shape[2] % COLUMN_MULTIPLE
        return Problems(
            A=pad(self.A[block], (0, more, 0, more)),
            B=pad(self.B[block], (0, more)),
            yy=self.yy[block],
            R=self.R[block],
        )


def spectral_norms(A: torch.Tensor) -> torch.Tensor:
    """‖A‖₂ of symmetric matrices (b, n, n), by squaring.

    That takes some wide products instead of b eigendecompositions.
    """
    tiny = torch.finfo(A.dtype).tiny
    power = A @ A
    for _ in range(N_SQUARINGS):
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
    """Algorithm I for every problem and setting.

    The stops are those of `algorithm1` and, up to rounding, so are the numbers. Yields
    which problems, their steps (b, S) and their consequents (b, S, Md, L).

    Parameters
    ----------
    problems : Problems
        On any device, in double precision, as the authors compute.
    settings : sequence of (alpha, beta, gamma)
    max_iter, margin, stop
        As for `algorithm1`.
    part_bytes : int, optional
        As many problems run at a time as this memory holds; a third of a GPU's memory,
        1 GB of the host's by default.

    Examples
    --------
    >>> G = torch.tensor([[[1.0, 0], [1, 1], [0, 1]]], dtype=torch.float64)
    >>> problems = Problems.from_rows(G, G[0], torch.ones(1, 1, 3))
    >>> settings = [(0.1, 0.01, 0.1), (0.1, 10, 0.1)]
    >>> [(_, n_iter, P)] = algorithm1_batch(problems, settings)
    >>> n_iter.tolist()
    [[4, 2]]
    """
    in_range = all(a >= 0 and b >= 0 and g > 0 for a, b, g in settings)
    if not in_range or not settings or max_iter < 1:
        raise InputError(
            "alpha, beta >= 0, gamma > 0 and max_iter >= 1 are needed, "
            "for at least one setting."
        )
    B = problems.B
    n_problems, L, Md = B.shape
    entries = len(settings) * L * (Md + COLUMN_MULTIPLE)
    limit = part_bytes or int(DEVICE_BUFFER_SHARE * device_memory(B))
    for block in row_blocks(
        n_problems, N_BUFFERS * B.itemsize * entries, limit or HOST_BUFFER_BYTES
    ):
        batch = _Batch(problems.padded(block), settings, stop)
        n_iter, P = batch.run(max_iter, margin)
        yield block, n_iter, P[:, :, :Md]


class _Batch:
    """Every setting (α, β, γ) on each of some problems.

    Buffers hold the runs that still go, ``P`` and ``n_iter`` the results of those that
    stopped. Of each run that still goes, ``problem`` is the position of its problem and
    ``run_id`` its place among the results.
    """

    # What is kept of each run that still goes; F is made anew in every step.
    PER_RUN = (
        "W",
        "B",
        "H",
        "F_old",
        "alpha",
        "beta",
        "rate",
        "threshold",
        "q",
        "problem",
        "run_id",
    )

    def __init__(
        self, problems: Problems, settings: Sequence[Setting], stop: Stop
    ) -> None:
        b = len(problems.B)
        device = problems.B.device
        alpha, beta, gamma = (
            problems.B.new_tensor(column).repeat(b)
            for column in zip(*settings, strict=True)
        )
        self.problems = problems
        self.by_text = stop == "text"
        self.shape = (b, len(settings))
        self.problem = torch.arange(b, device=device).repeat_interleave(len(settings))
        self.run_id = torch.arange(len(alpha), device=device)
        self.B = problems.B[self.problem]
        self.alpha = alpha[:, None, None]
        self.beta = beta
        norm_A = spectral_norms(problems.A)[self.problem]
        norm_R = spectral_norms(problems.R)[self.problem]
        lip = (2 * (norm_A**2 + (alpha * norm_R) ** 2)).sqrt()
        lip = torch.where(lip > 0, lip, 1.0)
        self.rate = (1 / lip)[:, None, None]
        self.threshold = (beta / lip)[:, None, None]
        self.n_iter = torch.zeros_like(self.run_id)
        self.P = torch.zeros_like(self.B)
        self.F = torch.zeros_like(self.B)
        self.F_old = torch.zeros_like(self.B)
        self.W = self._ridge_start(gamma)
        self.H = self.B - gamma[:, None, None] * self.W  # A W of the start is free
        self._find_blocks()
        self._couple()
        # the authors compare the first q with 0, the text with that of the start
        self.q = self._loss() if self.by_text else torch.zeros_like(beta)

    def _ridge_start(self, gamma: torch.Tensor) -> torch.Tensor:
        """W = (A + γI)⁻¹B, one factor per problem and gamma.   (36)"""
        A = self.problems.A
        W = torch.zeros_like(self.B)
        eye = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)
        for value in gamma.unique().tolist():
            factor, failed = torch.linalg.cholesky_ex(A + value * eye)
            if bool(failed.any()):
                raise InputError(
                    f"gamma = {value:g} is too small for the ridge start: "
                    "take a larger one."
                )
            runs = torch.nonzero(gamma == value)[:, 0]
            starts = torch.cholesky_solve(self.problems.B.mT, factor).mT
            W[runs] = starts[self.problem[runs]]
        return W

    def _find_blocks(self) -> None:
        """Find where the runs of each problem lie in the buffers; none is idle yet."""
        counts = torch.bincount(self.problem, minlength=len(self.problems.B))
        self.blocks = []
        first = 0
        for j, count in enumerate(counts.tolist()):
            if count:
                self.blocks.append((j, slice(first, first + count)))
            first += count
        self.idle = torch.zeros(len(self.problem), dtype=torch.bool, device="cpu")

    def run(self, max_iter: int, margin: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Every run to where it stops: steps (b, S) and consequents (b, S, Md, L)."""
        b_old = 1.0
        b = 1.0
        for step in range(1, max_iter + 1):
            self._step((b_old - 1) / b)
            b_old = b
            b = next_momentum(b)
            q_old = self.q
            self.q = self._loss()
            stopped = (q_old - self.q).abs() <= margin
            if not self.by_text:
                stopped |= self.q <= 0
            if step == max_iter:
                stopped[:] = True
            self._put_away(stopped, step)
            if self.idle.all():
                break
            self._drop_idle()
        P = self.P.view(*self.shape, *self.P.shape[1:]).mT
        return self.n_iter.view(self.shape), P

    def _step(self, m: float) -> None:
        """Put W⁺ in the place of W and its H into H; m is the momentum.   (31)-(33)"""
        torch.sub(self.B, self.H, out=self.H)
        torch.addcmul(self.W, self.H, self.rate, out=self.F)
        if m:
            torch.lerp(self.F, self.F_old, -m, out=self.F_old)
        else:
            self.F_old.copy_(self.F)
        torch.clamp(self.F_old, -self.threshold, self.threshold, out=self.H)
        torch.sub(self.F_old, self.H, out=self.W)
        self.F, self.F_old = self.F_old, self.F
        for j, runs in self.blocks:
            W = self.W[runs].flatten(0, 1)
            torch.mm(W, self.problems.A[j], out=self.H[runs].flatten(0, 1))
        self._couple()

    def _couple(self) -> None:
        """H += α W R; the buffer F is used up."""
        for j, runs in self.blocks:
            W = self.W[runs]
            R = self.problems.R[j].expand(len(W), -1, -1)
            torch.bmm(R, W, out=self.F[runs])
        self.H.addcmul_(self.F, self.alpha)

    def _loss(self) -> torch.Tensor:
        """q, or the objective (24) where the text decides; F is used up."""
        torch.sub(self.H, self.B, alpha=2, out=self.F)
        q = self.F.mul_(self.W).flatten(1).sum(1) + self.problems.yy[self.problem]
        W = self.W.flatten(1)
        if self.by_text:
            return q / 2 + self.beta * torch.linalg.vector_norm(W, 1, dim=1)
        return q + self.beta * torch.linalg.vector_norm(W, 0, dim=1)

    def _put_away(self, stopped: torch.Tensor, step: int) -> None:
        """Keep the results of runs that just stopped; one look from the host a step."""
        fresh = torch.nonzero(stopped.cpu() & ~self.idle)[:, 0]
        if len(fresh) == 0:
            return
        on_device = fresh.to(self.W.device)
        ids = self.run_id[on_device]
        self.n_iter[ids] = step
        self.P[ids] = self.W[on_device]
        self.idle[fresh] = True

    def _drop_idle(self) -> None:
        """Make the buffers smaller where enough runs are idle."""
        going = torch.nonzero(~self.idle)[:, 0]
        if len(going) >= (1 - MAX_IDLE_SHARE) * len(self.idle):
            return
        going = going.to(self.W.device)
        for name in self.PER_RUN:
            setattr(self, name, getattr(self, name)[going])
        self.F = self.F[: len(going)]
        self._find_blocks()
