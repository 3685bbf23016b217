"""One line of problems, of rising β, by alternating directions: each starts where the path seems to lead.

    min ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖Z‖₁   subject to   P = Z

Symbols: R (r, Md) with G = U R, U orthonormal, R Rᵀ = diag(s); P, Z, V (L, Md), labels first; Q = W diag(λ) Wᵀ. Images
are products with Rᵀ in the basis W of the labels, (L, r).

P solves a ridge problem whose matrix has the eigenvalues s_i + c_j, c_j = ρ + κ + α λ_j, and its image is known before
P is: a step costs one product with R each way. They are left to whoever walks several lines (`sweep`).

The certificate is free. P solves its ridge problem, so the slope there of f, the smooth part but for a ridge, is known,
and for any Z

    F(Z) - min F  <=  f(Z) - f(P) - ⟨∇f(P), Z - P⟩  +  Σ [r/2 Z² + β|Z| + ∇f(P) Z + soft(∇f(P), β)² / 2r]

where r = ρ + α λ_min, the first part is a quadratic form in Z - P and no term is negative (Fenchel and Young). The gap
with the slope at Z itself multiplies Z - P by s/r: it takes twice the steps on scene, and a product more in each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Array

# The penalty κ of P ≠ Z is √(ρτ) with τ = ρ + α (mean λ), plus this share of β over the size of a coefficient: the cut
# β/κ is then of that size. A constant multiple of ρ takes a fifth more steps, the larger β, the more.
CUT = 0.7
LEAST_KAPPA = 1e-3  # in units of the largest s: where ρ all but vanishes, curvature is the data's and the coupling's
_NEAR = 1.5  # a κ as near as this to the best is kept: with many labels, W diag(1/c) Wᵀ is as much work as a product
RELAX = 1.6  # over-relaxation; without it half as many steps again


@dataclass(frozen=True)
class Setting:
    """One problem: the number of its coupling, and the weights α, β, ρ with ρ > 0."""

    coupling: int
    alpha: float
    beta: float
    rho: float


@dataclass(frozen=True)
class Rows:
    """Rows in the basis of their singular vectors: ``s`` (r,), ``B`` = YᵀWG (L, Md), its image B Rᵀ (L, r)."""

    s: Array
    B: Array
    image_B: Array


@dataclass(frozen=True)
class Point:
    """Where a line is: consequents ``Z`` and multipliers ``V`` (L, Md), and their images (L, r)."""

    Z: Array
    V: Array
    image_Z: Array
    image_V: Array

    def beyond(self, before: "Point", share: float) -> "Point":
        """The point ``share`` times as far from this one as this one is from ``before``."""
        parts = ((self.Z, before.Z), (self.V, before.V), (self.image_Z, before.image_Z), (self.image_V, before.image_V))
        Z, V, image_Z, image_V = (now - then for now, then in parts)
        for ahead, (now, _) in zip((Z, V, image_Z, image_V), parts, strict=True):
            ahead *= share
            ahead += now
        return Point(Z, V, image_Z, image_V)


@dataclass(frozen=True)
class Solved:
    """Consequents ``Z`` (L, Md) of a problem, the relative duality gap there, and the steps that it took."""

    Z: Array
    certificate: float
    n_iter: int


class Line:
    """A walk along problems of one (coupling, α, ρ) and rising β, from the ridge solution on.

    In turns: `dual` gives what R is to be multiplied with, `solve` takes the product and either moves Z, which is then
    to be multiplied with Rᵀ for `settle`, or goes on to the next problem; ``found`` holds those that are done. A strict
    line goes on by the gap with the slope at Z, for which R is to be multiplied with `plain_image` after that.

    Parameters
    ----------
    rows : Rows
    lam, W : arrays of shape (L,) and (L, L)
        Of the coupling.
    settings : sequence of Setting
    scale : float
        What gaps are relative to, ½ Σ w y².
    tol, max_iter : float, int
        The relative gap and the number of steps at which a problem is done.
    strict : bool
        Whether the gap is to be that of `Problem.gap`, which whoever knows nothing but Z computes.
    """

    def __init__(
        self,
        rows: Rows,
        lam: Array,
        W: Array,
        settings: Sequence[Setting],
        *,
        scale: float,
        tol: float,
        max_iter: int,
        strict: bool = False,
    ) -> None:
        self.rows, self.settings = rows, settings
        self.scale, self.enough, self.max_iter, self.strict = scale, tol * scale, max_iter, strict
        self.alpha, self.rho, self.lam = settings[0].alpha, settings[0].rho, lam[:, None]
        self.W = W if self.alpha > 0 and np.any(lam) else None
        self.ridge = self.rho + self.alpha * float(lam.min())
        self.beyond_ridge = self.alpha * (self.lam - lam.min())
        self.image_B = self._rotated(rows.image_B)
        self.found: list[Solved] = []
        self.trail: list[Point] = []  # the last two solutions
        self.moving = False
        nought, blank = np.zeros_like(rows.B), np.zeros_like(rows.image_B)
        self._penalise(0.0)
        self._start(Point(nought, nought, blank, blank))

    @property
    def done(self) -> bool:
        """Whether all problems are solved."""
        return len(self.found) == len(self.settings)

    @property
    def at_ridge(self) -> bool:
        """Whether the line is still to find its ridge solution."""
        return self.kappa == 0

    def _start(self, point: Point) -> None:
        self.n_iter, self.Z, self.image_Z = 0, point.Z, point.image_Z
        scale = 1.0 / self.kappa if self.kappa else 0.0
        self.v, self.image_v = point.V * scale, point.image_V * scale

    def _penalise(self, kappa: float) -> None:
        self.kappa, self.c = kappa, self.rho + kappa + self.alpha * self.lam
        self.mix = None if self.W is None else (self.W / self.c.T) @ self.W.T

    def dual(self) -> Array:
        """(L, r): its product with R is what P lacks."""
        self.pull = self.Z - self.v
        self.pull *= self.kappa
        image = self.image_Z - self.image_v
        image *= self.kappa
        image += self.image_B
        image /= self.rows.s + self.c
        self.image_P = image
        return image if self.W is None else self.W @ (image / self.c)

    def solve(self, product: Array) -> None:
        """P from the product of `dual` with R; then either a step from it, or on to the next problem."""
        P = self.pull + self.rows.B
        if self.mix is None:
            P -= product
            P /= self.c
        else:
            P = self.mix @ P
            P -= product
        if self.at_ridge:
            self._leave_ridge(P)
            return
        self.n_iter += 1
        self._bound(P)
        # a start, straight on, has coefficients beyond 0: it is never good enough
        self.moving = self.strict or self.n_iter == 1 or not self._finished(self._gap())
        if self.moving:
            self._step()

    def settle(self, product: Array) -> None:
        """Take the product of the new Z with Rᵀ, and go on to the next problem if that is good enough."""
        self.image_Z = self._rotated(product)
        self.image_v -= self.image_Z
        if not self.strict:
            self._finished(self._gap())

    def plain_image(self) -> Array:
        """Z Rᵀ, not rotated."""
        return self.image_Z if self.W is None else self.W @ self.image_Z

    def check(self, product: Array) -> None:
        """On to the next problem if the gap with the slope at Z allows; ``product`` is Z RᵀR."""
        beta, Z = self.settings[len(self.found)].beta, self.Z
        minus = self.rows.B - product
        if self.W is not None:
            minus -= self.alpha * ((self.W * self.lam.T) @ (self.W.T @ Z))
            minus += (self.ridge - self.rho) * Z
        own = 0.5 * self.ridge * _square(Z) - float(np.vdot(Z, minus)) + beta * float(np.abs(Z).sum())
        excess = np.maximum(np.abs(minus) - beta, 0.0)
        self._finished(max(0.0, own + _square(excess) / (2 * self.ridge)))

    def _leave_ridge(self, P: Array) -> None:
        self.size = float(np.sqrt(np.mean(P**2)))
        self.found = [Solved(P, 0.0, 0) for setting in self.settings if setting.beta == 0]
        self._go_on(Point(P, np.zeros_like(P), self.image_P, np.zeros_like(self.image_P)))
        if not self.done:  # the first step finds P again: no product
            self.pull, self.n_iter, self.moving = self.kappa * P, 1, True
            self._bound(P)
            self._step()

    def _step(self) -> None:
        """Z ← soft(relaxed P + v), v ← what that cuts off."""
        cut = self.settings[len(self.found)].beta / self.kappa
        self.image_v += RELAX * self.image_P + (1 - RELAX) * self.image_Z
        Z = self.P * RELAX
        Z += self.v
        Z += (1 - RELAX) * self.Z
        np.clip(Z, -cut, cut, out=self.v)
        Z -= self.v
        self.Z = Z

    def _finished(self, gap: float) -> bool:
        if gap > self.enough and self.n_iter < self.max_iter:
            return False
        self.found.append(Solved(self.Z, gap / self.scale, self.n_iter))
        self._go_on(Point(self.Z, self.v * self.kappa, self.image_Z, self.image_v * self.kappa))
        return True

    def _go_on(self, point: Point) -> None:
        """To the next problem, straight on from the last two solutions."""
        self.trail = [*self.trail[-1:], point]
        if self.done:
            return
        n, beta = len(self.found), self.settings[len(self.found)].beta
        if len(self.trail) > 1:
            now, before = self.settings[n - 1].beta, self.settings[n - 2].beta if n > 1 else 0.0
            point = point.beyond(self.trail[0], min((beta - now) / (now - before), 2.0)) if now > before else point
        kappa = self._penalty(beta)
        if not self.kappa / _NEAR < kappa < self.kappa * _NEAR:
            self._penalise(kappa)
        self._start(point)

    def _penalty(self, beta: float) -> float:
        """κ, see CUT; bounded where coefficients are all but 0."""
        largest, cut = float(self.rows.s.max(initial=0.0)), CUT * beta
        total = self.rho + self.alpha * float(self.lam.mean())
        weight = 2.0 if self.strict else 1.0  # a gap that multiplies Z - P wants them closer: 23 steps on birds, not 37
        kappa = weight * math.sqrt(self.rho * total) + cut / (self.size + cut / (largest + total))
        return max(kappa, LEAST_KAPPA * largest)

    def _bound(self, P: Array) -> None:
        """The slope at P, inside of ±β, and the Z that it would be the slope of; pull is used up."""
        beta = self.settings[len(self.found)].beta
        minus = P * (self.ridge + self.kappa)  # -∇f(P)
        minus -= self.pull
        self.P, self.inside = P, np.clip(minus, -beta, beta, out=self.pull)
        minus -= self.inside
        minus /= self.ridge
        self.aim = minus

    def _gap(self) -> float:
        """Bound on F(Z) - min F by the slope at P."""
        beta, Z = self.settings[len(self.found)].beta, self.Z
        gap = 0.5 * self.ridge * _square(self.aim - Z) + beta * float(np.abs(Z).sum()) - float(np.vdot(self.inside, Z))
        gap += 0.5 * _square(self.image_Z - self.image_P)
        if self.W is None or gap > self.enough:
            return gap
        apart = Z - self.P
        most = 0.5 * float(self.beyond_ridge.max()) * _square(apart)  # no product; where it fails, one beats a step
        return gap + (most if gap + most <= self.enough else 0.5 * self._in_coupling(apart))

    def _in_coupling(self, x: Array) -> float:
        """α Tr(xᵀ (Q - λ_min I) x)."""
        return float(np.vdot(self.beyond_ridge, np.square(self._rotated(x)).sum(axis=1)))

    def _rotated(self, image: Array) -> Array:
        return image if self.W is None else self.W.T @ image


def _square(x: Array) -> float:
    return float(np.vdot(x, x))
