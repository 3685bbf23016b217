"""Many problems over the same rows: one decomposition for all of them, each started beside its neighbour.

    min ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖Z‖₁   subject to   P = Z

Symbols: R (r, Md) with G = U R, U orthonormal, R Rᵀ = diag(s); P, Z, V (L, Md), labels first; Q = W diag(λ) Wᵀ.

Alternating directions with over-relaxation: P solves a ridge problem whose matrix has the eigenvalues s_i + c_j,
c_j = ρ + κ + α λ_j, so R, found once, serves every (coupling, α, β, ρ). How ill-conditioned A is does not matter: with
κ a few times ρ and a warm start the default certificate takes 2 to 4 steps on cal500, 5 to 7 on yeast and 7 to 16 on
scene, where accelerated gradients take 8, 20 and 70. Beside P its image P Rᵀ is free, so a step costs one product with
R each way, and one more where the certificate at Z is computed. Problems with few labels take their steps together: a
product with 6 columns is bound by reading R.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from .arrays import Array
from .fuzzymap import FuzzyMap
from .moments import GRAM_BYTES
from .ridge import Spectrum

KAPPA = 4.0  # penalty of P ≠ Z in units of ρ; 2 and 8 take a step or two more on one set or another
_LEAST_KAPPA = 1e-3  # in units of the largest s: where ρ all but vanishes, curvature is the data's and the coupling's
RELAX = 1.6  # over-relaxation; without it half as many steps again
COLUMNS = 96  # columns of a product from which BLAS runs at full speed
# Certificates down to this are computed in single precision, which is twice as fast, unless ρ is so small beside the
# largest s that the gap, a square over ρ, would drown in rounding.
SINGLE_TOL, SINGLE_RHO = 3e-5, 1e-4


@dataclass(frozen=True)
class Factor:
    """Rows in the basis of their singular vectors, ``R`` (r, Md), ``s`` (r,); ``B`` = YᵀWG (L, Md), ``yy`` = Σ w y²."""

    R: Array
    s: Array
    B: Array
    yy: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array) -> "Factor":
        """By the eigenvectors of the smaller Gram matrix, in the precision of G."""
        Gw, Yw = G.weighted(w), Y * np.sqrt(w)[:, None]
        N, width = Gw.shape
        gram = (Gw.dual_gram() if N <= width else Gw.gram()).T
        s, V = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        keep = s > max(float(s[-1]), np.finfo(s.dtype).tiny) * 100 * np.finfo(s.dtype).eps
        s, V = s[keep], V[:, keep]
        R = _rotated(Gw, V) if N <= width else np.sqrt(s)[:, None] * V.T
        B = np.ascontiguousarray(Gw.transpose_matmul(Yw).T)
        return cls(np.ascontiguousarray(R), s, B, float(np.einsum("nl,nl->", Yw, Yw)))

    @classmethod
    def from_spectrum(cls, G: FuzzyMap, Y: Array, w: Array, spectrum: Spectrum) -> "Factor":
        """Of rows whose decomposition, weights included, is there already; in the precision of G."""
        Gw, Yw = G.weighted(w), Y * np.sqrt(w)[:, None]
        s, U = (x.astype(Y.dtype, copy=False) for x in (spectrum.s, spectrum.U))
        B = np.ascontiguousarray(Gw.transpose_matmul(Yw).T)
        return cls(np.ascontiguousarray(_rotated(Gw, U)), s, B, float(np.einsum("nl,nl->", Yw, Yw)))


@dataclass(frozen=True)
class Setting:
    """One problem: the number of its coupling, and the weights α, β, ρ with ρ > 0."""

    coupling: int
    alpha: float
    beta: float
    rho: float


@dataclass(frozen=True)
class Point:
    """Where a problem was left: consequents ``Z`` and multipliers ``V`` (L, Md), the certificate at Z, the steps."""

    Z: Array
    V: Array
    certificate: float = np.inf
    n_iter: int = 0

    def beyond(self, before: "Point", share: float) -> "Point":
        """The point ``share`` times as far from this one as this one is from ``before``."""
        return Point(
            self.Z + share * (self.Z - before.Z), self.V + share * (self.V - before.V), np.inf, n_iter=self.n_iter
        )


@dataclass(frozen=True)
class Couplings:
    """Coupling matrices ``Q`` (n, L, L), positive semidefinite, with their eigenvalues (n, L) and eigenvectors."""

    Q: Array
    lam: Array
    W: Array

    @classmethod
    def of(cls, matrices: Sequence[Array]) -> "Couplings":
        """Decomposed once, for all the sweeps that share them."""
        Q = np.stack(matrices)
        return cls(Q, *np.linalg.eigh(Q))

    def astype(self, dtype: "np.dtype[Any]") -> "Couplings":
        """In another precision."""
        return Couplings(*(x.astype(dtype, copy=False) for x in (self.Q, self.lam, self.W)))


class Sweep:
    """Solves families of settings over one `Factor`.

    Parameters
    ----------
    factor : Factor
    couplings : Couplings
    max_iter, tol : int, float
        As in `fista`: ``tol`` is a relative duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> G = FuzzyMap(np.array([[1.0], [-1.0], [0.5]]), np.ones((3, 1)))
    >>> factor = Factor.of(G, np.array([[1.0], [0.0], [1.0]]), np.ones(3))
    >>> lines = [[Setting(0, 0.0, beta, 1.0) for beta in (0.0, 0.5, 5.0)]]
    >>> none = Couplings.of([np.zeros((1, 1))])
    >>> [int((point.Z != 0).sum()) for point in Sweep(factor, none).lines(lines)[0]]
    [2, 2, 0]
    """

    def __init__(self, factor: Factor, couplings: Couplings, *, max_iter: int = 1000, tol: float = 1e-4) -> None:
        self.factor, self.max_iter, self.tol = factor, max_iter, tol
        self.couplings = couplings.astype(factor.B.dtype)
        self._image_B = factor.B @ factor.R.T

    def lines(self, lines: Sequence[Sequence[Setting]]) -> list[list[Point]]:
        """Solutions along lines, each of one (coupling, α, ρ) and of rising β; several lines in step."""
        found: list[list[Point]] = [[] for _ in lines]
        order = sorted(range(len(lines)), key=lambda i: -len(lines[i]))
        together = max(1, COLUMNS // self.factor.B.shape[0])
        for chunk in (order[i : i + together] for i in range(0, len(order), together)):
            for stage in range(len(lines[chunk[0]])):
                running = [i for i in chunk if len(lines[i]) > stage]
                starts = [_ahead(lines[i], found[i]) for i in running]
                ends = self.solve([lines[i][stage] for i in running], starts)
                for i, end in zip(running, ends, strict=True):
                    found[i].append(end)
        return found

    def solve(self, settings: Sequence[Setting], starts: Sequence[Point | None]) -> list[Point]:
        """Problems in step until all have their certificate, from given points or from their ridge solutions."""
        run = _Problems.of(settings, self.couplings, float(self.factor.s.max(initial=0.0)))
        Z, v = self._start(run, starts)
        kappa, relax, R = run.kappa, Z.dtype.type(RELAX), self.factor.R
        image_Z, image_v = _times(Z, R.T), _times(v, R.T)
        expected = min((0 if s is None else s.n_iter - 1 for s in starts), default=0)
        for n_iter in range(1, self.max_iter + 1):
            D = Z - v
            D *= kappa
            D += self.factor.B
            P, image_P = self._ridge(run, D, self._image_B + kappa * (image_Z - image_v), kappa)
            P *= relax
            Z *= 1 - relax
            P += Z
            P += v
            image_v += relax * image_P + (1 - relax) * image_Z
            cut = run.beta / kappa
            v = np.clip(P, -cut, cut)
            P -= v
            Z, image_Z = P, _times(P, R.T)
            image_v -= image_Z
            if n_iter >= expected or n_iter == self.max_iter:
                gaps = self._gaps(run, Z, _times(image_Z, R))
                if bool((gaps <= self.tol).all()):
                    break
        return [Point(z, u, float(gap), n_iter) for z, u, gap in zip(Z, v * kappa, gaps, strict=True)]

    def _start(self, run: "_Problems", starts: Sequence[Point | None]) -> tuple[Array, Array]:
        B = np.broadcast_to(self.factor.B, (len(starts), *self.factor.B.shape))
        if any(start is None for start in starts):
            P, _ = self._ridge(run, B.copy(), self._image_B, np.zeros_like(run.kappa))
        Z = np.stack([P[t] if start is None else start.Z for t, start in enumerate(starts)])
        V = np.stack([np.zeros_like(B[t]) if start is None else start.V for t, start in enumerate(starts)])
        V /= run.kappa
        return Z, V

    def _ridge(self, run: "_Problems", C: Array, image_C: Array, kappa: Array) -> tuple[Array, Array]:
        """P with A P + (ρ + κ) P + α Q P = C, in the place of C, and its image P Rᵀ."""
        c = run.rho + kappa
        if run.W is None:
            image_P = image_C / (self.factor.s + c)
            C /= c
            C -= _times(image_P / c, self.factor.R)
            return C, image_P
        c = c + run.alpha * run.lam
        image_P = (run.W.transpose(0, 2, 1) @ image_C) / (self.factor.s + c)
        P = ((run.W / c.transpose(0, 2, 1)) @ run.W.transpose(0, 2, 1)) @ C
        P -= _times(run.W @ (image_P / c), self.factor.R)
        return P, run.W @ image_P

    def _gaps(self, run: "_Problems", P: Array, AP: Array) -> Array:
        """Relative duality gap of each at P, see `Problem.gap`; AP is used up."""
        Z = np.subtract(self.factor.B, AP, out=AP)  # ρP - slope
        if run.W is not None:
            Z -= (run.alpha * run.Q) @ P
        rho, beta = (x[:, 0, 0].astype(np.float64) for x in (run.rho, run.beta))
        own = 0.5 * rho * np.einsum("tlm,tlm->t", P, P) - np.einsum("tlm,tlm->t", P, Z)
        np.abs(Z, out=Z)
        Z -= run.beta
        np.maximum(Z, 0.0, out=Z)
        own += np.einsum("tlm,tlm->t", Z, Z) / (2 * rho) + beta * np.abs(P, out=Z).sum(axis=(1, 2))
        return np.maximum(own, 0.0) / max(0.5 * self.factor.yy, np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class _Problems:
    """Weights of T problems, (T, 1, 1), and their couplings (T, L, L) with eigenvectors; W is None without coupling."""

    alpha: Array
    beta: Array
    rho: Array
    kappa: Array
    Q: Array
    lam: Array
    W: Array | None

    @classmethod
    def of(cls, settings: Sequence[Setting], couplings: Couplings, largest: float) -> "_Problems":
        which, Q, lam, W = [s.coupling for s in settings], couplings.Q, couplings.lam, couplings.W
        numbers = np.array([(s.alpha, s.beta, s.rho) for s in settings], dtype=Q.dtype).T[:, :, None, None]
        alpha, beta, rho = numbers
        coupled = bool(np.any(alpha > 0) and np.any(lam[which]))
        kappa = np.maximum(
            np.maximum(KAPPA * rho, alpha * lam[which].mean(axis=1)[:, None, None]), _LEAST_KAPPA * largest
        )
        return cls(alpha, beta, rho, kappa, Q[which], lam[which][:, :, None], W[which] if coupled else None)


def _rotated(G: FuzzyMap, V: Array) -> Array:
    """Vᵀ G, over G itself where it is small: with as many columns as rows one product beats K of them."""
    small = not G.is_sparse and G.M.itemsize * G.shape[0] * G.shape[1] <= GRAM_BYTES
    return V.T @ G.rows() if small else G.transpose_matmul(V).T


def _times(P: Array, M: Array) -> Array:
    """P (T, L, m) times M (m, n) as one product: NumPy would make T of them."""
    return (P.reshape(-1, P.shape[2]) @ M).reshape(*P.shape[:2], M.shape[1])


def _ahead(line: Sequence[Setting], found: Sequence[Point]) -> Point | None:
    """Where the path seems to lead: on from the last two solutions, three quarters of the way in β."""
    if len(found) < 2:
        return found[-1] if found else None
    done, before, now = line[len(found)].beta, line[len(found) - 2].beta, line[len(found) - 1].beta
    return found[-1].beyond(found[-2], min(0.75 * (done - now) / (now - before), 2.0)) if now > before else found[-1]
