"""Algorithm I for many settings and folds at a time, on tensors: the authors' whole grid in a few wide products a step.

Symbols: b problems (folds, widths) with moments A (b, Md, Md), B (b, L, Md), R (b, L, L); n runs, each a problem with
one (α, β, γ), ordered by problem; W, H, F (n, L, Md), transposed as in `core.algorithm1_steps`, whose formulas these
are:

    F = W + (B - H)/Lip,   W⁺ = soft((1 + m) F - m F', β/Lip),   H = A W + α W R,   q = ⟨W, H - 2B⟩ + yy + β nnz(W)

The products of all runs of one problem are one: (runs · L, Md) by A, and R by each W. A run that stops is put away at
once and drops out of the buffers when an eighth of them is idle: moving what is left costs a third of a step. Md is
filled up with zeros to a multiple of 8, which changes no number: products of 207 columns run at 25 TFlop/s on an H200,
of 208 at 41.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

try:
    import torch
except ImportError:
    raise ImportError('batches on tensors need torch: pip install "mltsk[gpu]"') from None

from ..core.backend import device_memory
from ..core.coupling import coupling_matrix, label_correlation
from ..exceptions import InputError
from ..metrics import five_metrics

Setting = tuple[float, float, float]

_ALIGN = 8
_IDLE = 0.125
_SQUARINGS = 36  # A^(2^36): two eigenvalues that this does not tell apart differ by less than 1e-10 of themselves
_BUFFERS = 8  # tensors as large as W that a step needs, with what is put away
_HOST_BYTES, _DEVICE_SHARE = 10**9, 0.3  # that they may take together


@dataclass(frozen=True)
class Problems:
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
        R = [coupling_matrix(label_correlation(Y, w), "paper") for w in rows[..., 0].flatten(0, 1)]
        return cls(Gt.mT @ Gt, Yt.mT @ Gt, (Yt * Yt).sum((1, 2)), torch.stack(R))

    def take(self, part: slice) -> "Problems":
        """Some of the problems."""
        return Problems(self.A[part], self.B[part], self.yy[part], self.R[part])

    def padded(self) -> "Problems":
        """With columns of zeros up to a multiple of 8."""
        more = -self.A.shape[1] % _ALIGN
        pad = torch.nn.functional.pad
        return Problems(pad(self.A, (0, more, 0, more)), pad(self.B, (0, more)), self.yy, self.R)


@dataclass(frozen=True)
class Runs:
    """Where every setting of every problem stopped: ``n_iter`` (b, S), consequents ``P`` (b, S, Md, L)."""

    n_iter: torch.Tensor
    P: torch.Tensor


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
    L, width = problems.B.shape[1:]
    step = max(1, _bytes(problems.B) // (_BUFFERS * 8 * len(settings) * L * (width + _ALIGN)))
    for start in range(0, len(problems.B), step):
        part = slice(start, min(start + step, len(problems.B)))
        yield part, _Batch(problems.take(part), settings).run(max_iter, margin)


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
        Beside G, in double precision.
    """
    G, Y = G.double(), Y.double()
    problems, found = Problems.of(G, Y, train), []
    tested, weight = _test_rows(train.flatten(0, 1))
    maps = torch.arange(len(train), device=G.device).repeat_interleave(train.shape[1])
    for part, runs in algorithm1_batch(problems, settings, max_iter=max_iter, margin=margin):
        rows = tested[part]
        W = runs.P.mT
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


def _bytes(like: torch.Tensor) -> int:
    return int(_DEVICE_SHARE * device_memory(like)) or _HOST_BYTES


def spectral_norms(A: torch.Tensor) -> torch.Tensor:
    """‖A‖₂ of symmetric matrices (b, n, n), by squaring: a dozen wide products instead of b eigendecompositions."""
    power = A @ A
    for _ in range(_SQUARINGS):
        power = power / power.abs().amax((1, 2), keepdim=True).clamp(min=torch.finfo(A.dtype).tiny)
        power = power @ power
    # the column of largest diagonal entry is the eigenvector, well away from 0
    best = power.diagonal(dim1=1, dim2=2).argmax(1)
    v = power[torch.arange(len(A), device=A.device), best][..., None]
    v = v / v.norm(dim=1, keepdim=True).clamp(min=torch.finfo(A.dtype).tiny)
    return (A @ v).norm(dim=1)[:, 0]


class _Batch:
    """The runs of some problems: buffers over the runs still going, results of those that stopped."""

    def __init__(self, problems: Problems, settings: Sequence[Setting]) -> None:
        self.problems, self.width = problems.padded(), problems.B.shape[2]
        b, S, like = len(problems.B), len(settings), problems.B
        alpha, beta, gamma = (like.new_tensor(column).repeat(b) for column in zip(*settings, strict=True))
        self.which = torch.arange(b, device=like.device).repeat_interleave(S)
        norms = spectral_norms(problems.A)[self.which], alpha * spectral_norms(problems.R)[self.which]
        lip = (2 * (norms[0] ** 2 + norms[1] ** 2)).sqrt()
        lip = torch.where(lip > 0, lip, 1.0)
        self.alpha, self.beta, self.rate, self.cut = (v[:, None, None] for v in (alpha, beta, 1 / lip, beta / lip))
        self._start(gamma)
        self.run_id = torch.arange(b * S, device=like.device)
        self.q = like.new_zeros(b * S)  # the authors compare the first q with 0
        self.n_iter = torch.zeros(b * S, dtype=torch.int64, device=like.device)
        self.found, self.shape = torch.empty_like(self.W), (b, S)
        self.idle = torch.zeros(b * S, dtype=torch.bool, device="cpu")
        self._count()

    def _start(self, gamma: torch.Tensor) -> None:
        """W = (A + γI)⁻¹B, one factor a problem and gamma; A W = B - γW is free.   (36)"""
        A, B = self.problems.A, self.problems.B
        self.B = B[self.which]
        self.W = torch.empty_like(self.B)
        eye = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)
        for value in gamma.unique().tolist():
            factor, failed = torch.linalg.cholesky_ex(A + value * eye)
            if bool(failed.any()):
                raise InputError(f"gamma = {value:g} is too small for the ridge start: take a larger one.")
            runs = torch.nonzero(gamma == value)[:, 0]
            self.W[runs] = torch.cholesky_solve(B.mT, factor).mT[self.which[runs]]
        self.H = self.B - gamma[:, None, None] * self.W
        self.F, self.F_old = torch.empty_like(self.W), torch.empty_like(self.W)

    def _count(self) -> None:
        """Where the runs of each problem begin and end."""
        ends = torch.bincount(self.which, minlength=len(self.problems.B)).cumsum(0).tolist()
        pairs = enumerate(zip([0, *ends[:-1]], ends, strict=True))
        self.ranges = [(j, start, stop) for j, (start, stop) in pairs if stop > start]

    def run(self, max_iter: int, margin: float) -> Runs:
        self._couple(self.F)
        b_old, b = 1.0, 1.0
        for step in range(1, max_iter + 1):
            self._step((b_old - 1) / b)
            b_old, b = b, (1 + sqrt(4 * b * b + 1)) / 2
            self._multiply()
            q = self._loss()
            stopped = ((self.q - q).abs() <= margin) | (q <= 0) | (step == max_iter)
            self.q = q
            if self._put_away(stopped.cpu(), step):
                break
        P = self.found.view(*self.shape, *self.found.shape[1:])[..., : self.width].mT
        return Runs(self.n_iter.view(self.shape), P)

    def _step(self, momentum: float) -> None:
        """W⁺ in the place of W; H and one F are used up.   (31)-(33)"""
        torch.sub(self.B, self.H, out=self.H)
        torch.addcmul(self.W, self.H, self.rate, out=self.F)
        Z = torch.lerp(self.F, self.F_old, -momentum, out=self.F_old) if momentum else self.F_old.copy_(self.F)
        torch.clamp(Z, -self.cut, self.cut, out=self.H)
        torch.sub(Z, self.H, out=self.W)
        self.F, self.F_old = self.F_old, self.F

    def _multiply(self) -> None:
        """H = A W + α W R, problem by problem; the buffer F is free here."""
        for j, start, stop in self.ranges:
            part = slice(start, stop)
            torch.mm(self.W[part].flatten(0, 1), self.problems.A[j], out=self.H[part].flatten(0, 1))
        self._couple(self.F)

    def _couple(self, scratch: torch.Tensor) -> None:
        for j, start, stop in self.ranges:
            R = self.problems.R[j].expand(stop - start, -1, -1)
            torch.bmm(R, self.W[start:stop], out=scratch[start:stop])
        self.H.addcmul_(scratch, self.alpha)

    def _loss(self) -> torch.Tensor:
        """q of every run."""
        torch.sub(self.H, self.B, alpha=2, out=self.F)
        square = self.F.mul_(self.W).flatten(1).sum(1)
        nonzero = torch.linalg.vector_norm(self.W.flatten(1), 0, dim=1)
        return square + self.problems.yy[self.which] + self.beta[:, 0, 0] * nonzero

    def _put_away(self, stopped: torch.Tensor, step: int) -> bool:
        """Keep the results of runs that just stopped; True when none is left."""
        fresh = torch.nonzero(stopped & ~self.idle)[:, 0]
        if len(fresh):
            here = fresh.to(self.W.device)
            self.n_iter[self.run_id[here]] = step
            self.found[self.run_id[here]] = self.W[here]
            self.idle[fresh] = True
        going = torch.nonzero(~self.idle)[:, 0]
        if 0 < len(going) < (1 - _IDLE) * len(self.idle):
            self._compact(going.to(self.W.device))
        return len(going) == 0

    def _compact(self, keep: torch.Tensor) -> None:
        for name in ("W", "H", "F_old", "B", "alpha", "beta", "rate", "cut", "q", "which", "run_id"):
            setattr(self, name, getattr(self, name)[keep])
        self.F = self.F[: len(keep)]
        self.idle = torch.zeros(len(keep), dtype=torch.bool, device="cpu")
        self._count()
