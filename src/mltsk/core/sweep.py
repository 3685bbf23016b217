"""Many problems over the same rows: one decomposition for all of them, each started beside its neighbour.

    min ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

Symbols: R (r, Md) with G = U R, U orthonormal, R Rᵀ = diag(s); P (L, Md), labels first; Q = W diag(λ) Wᵀ.

R, found once, serves every (coupling, α, β, ρ): see `walk` for the steps. How ill-conditioned A is does not matter:
with a warm start the default certificate takes 2 steps on cal500, 2 to 4 on yeast and 3 to 6 on scene, where
accelerated gradients take 8, 20 and 70. Lines of problems with few labels take their products together: one with 6
columns is bound by reading R.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..paper.solvers.moments import GRAM_BYTES
from ..paper.solvers.ridge import Spectrum
from .arrays import Array
from .fuzzymap import FuzzyMap
from .walk import Line, Rows, Setting, Solved

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
    strict : bool, default=False
        Whether that gap is to be the one of `Problem.gap`: larger, so more steps, but it takes nothing but Z to see it.

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

    def __init__(
        self, factor: Factor, couplings: Couplings, *, max_iter: int = 1000, tol: float = 1e-4, strict: bool = False
    ) -> None:
        self.factor, self.max_iter, self.tol, self.strict = factor, max_iter, tol, strict
        self.couplings = couplings.astype(factor.B.dtype)
        self._rows = Rows(factor.s, factor.B, factor.B @ factor.R.T)

    def lines(self, lines: Sequence[Sequence[Setting]]) -> list[list[Solved]]:
        """Solutions along lines, each of one (coupling, α, ρ) and of rising β; several lines in step."""
        walks = [self._line(line) for line in lines]
        together = max(1, COLUMNS // self.factor.B.shape[0])
        for i in range(0, len(walks), together):
            self._walk(walks[i : i + together])
        return [walk.found for walk in walks]

    def _line(self, settings: Sequence[Setting]) -> Line:
        which = settings[0].coupling
        coupling = self.couplings.lam[which], self.couplings.W[which]
        scale = max(0.5 * self.factor.yy, float(np.finfo(np.float64).tiny))
        stop: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "strict": self.strict}
        return Line(self._rows, *coupling, settings, scale=scale, **stop)

    def _walk(self, walking: list[Line]) -> None:
        R = self.factor.R
        while walking:
            self._multiply(walking, Line.dual, R, Line.solve)
            moving = [line for line in walking if line.moving]
            self._multiply(moving, lambda line: line.Z, R.T, Line.settle)
            if self.strict:
                self._multiply(moving, Line.plain_image, R, Line.check)
            walking = [line for line in walking if not line.done]

    def _multiply(
        self, lines: list[Line], ask: Callable[[Line], Array], M: Array, answer: Callable[[Line, Array], None]
    ) -> None:
        """One product for all the lines: what they ask for times M."""
        if lines:
            asked = [ask(line) for line in lines]
            products = (np.concatenate(asked) if len(asked) > 1 else asked[0]) @ M
            for line, product in zip(lines, np.split(products, len(lines)), strict=True):
                answer(line, product)


def _rotated(G: FuzzyMap, V: Array) -> Array:
    """Vᵀ G, over G itself where it is small: with as many columns as rows one product beats K of them."""
    small = not G.is_sparse and G.M.itemsize * G.shape[0] * G.shape[1] <= GRAM_BYTES
    return V.T @ G.rows() if small else G.transpose_matmul(V).T
