"""How many exceptions, of which order and width, at which weight and ridge: by leave-one-out in closed form.

The error is the squared leave-one-out error summed over labels, on a few hundred rows evenly spread. It is a good judge
of a handful of numbers and a bad one of many, so there are few candidates. Structures (order, number of rules) come
first, at one width, from few numbers to many: one with more must lower the error by its share in GAINS. Then width
and weight are refined. Each candidate's ridge is found by steps of a factor 2 from the last one's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, Matrix, asnumpy, cast, namespace, put, spread_rows
from ..core.clustering import fuzzy_c_means, xie_beni
from ..core.membership import Firing
from .design import Design, Rules, Scale, gram
from .ridge import Factor, SingularError, centred_kernel, of_labels

LOO_ROWS, LOO_ROWS_LINEAR = (
    500,
    1200,
)  # linear terms (text) need more rows to notice what first-order rules add
PATTERNS = 6  # of observed rows that are judged by, the most frequent ones: each has a kernel of its own
# Share of the error by which exceptions of order 0 and 1 must lower it to be taken: more where they join ramps, which
# bend, and most where slopes do. On pbc shifts that gave 0.7 % made test AP worse (.584 against .596, two partitions).
GAINS, GAINS_LINEAR = (0.01, 0.03), (0.005, 0.005)
# On rows of unit length (text) exceptions of order 0 are not tried if slopes lower the error by this share: on the text
# sets slopes gave 2.8 to 5.3 %, and shifts a third to a half of that.
CLEAR_GAIN = 0.02
ZERO_ORDER, FIRST_ORDER = 400, 20  # numbers of exceptions that are tried, next to none
# Widths as shares of twice the variance of scaled samples: order 0, order 1, order 1 for linear terms. Half and twice
# of these are tried when the structure is known.
WIDTH_0, WIDTH_1, WIDTH_LINEAR = 0.3, 0.09, 0.025
SHARES, FINER = (
    (0.5, 5.0),
    (0.3, 3.0),
)  # weight of the exceptions, general rule 1; then times these
RIDGES = (
    1e-2,
    1e5,
)  # rows that come twice would ask for less: below this a model repeats its rows
FEW, MANY_ROWS, FEW_ROWS = (
    50,
    2_000,
    5_000,
)  # centres of exceptions on fewer rows: of more than 50 centres, of few
NUMBERS = range(2, 21)  # of exceptions, that Xie and Beni's index chooses from
EXACT_ROWS = 200  # up to here kernels are in double precision


@dataclass(frozen=True)
class Choice:
    """What leave-one-out took: the ``design``, the ridge ``rho``, and the mean squared ``error`` per row and label."""

    design: Design
    rho: float
    error: float
    width_scale: float
    share: float


@dataclass
class Judge:
    """Leave-one-out errors of kernels on some rows: ``parts`` are (labels, rows, weights, copies) per pattern.

    ``cells`` is the weight of all labels of all rows; ``dtype`` the precision of kernels. Single precision is enough
    but for a ridge that is given and may be small, and for so few rows that they may be reproduced exactly.
    """

    parts: list[tuple[Array, Array, Array, Array]]
    cells: float
    fixed: float | None
    dtype: Any = np.float32
    last: float = 1.0

    @classmethod
    def of(
        cls, block: Any, patterns: Sequence[NDArray[np.intp]], fixed: float | None
    ) -> "Judge":
        """A judge of rows with labels and weights, at a ridge that is ``fixed``; the largest patterns count."""
        xp, parts, cells = namespace(block.Y), [], 0.0
        dtype = (
            np.float32 if fixed is None and len(block.Y) > EXACT_ROWS else np.float64
        )
        for labels in sorted(patterns, key=len, reverse=True)[:PATTERNS]:
            Y, w, copies = of_labels(block, labels)
            rows = xp.flatnonzero(w > 0)
            if len(rows) < 2:
                continue
            Y, w = Y[rows], cast(w[rows], np.float64)
            target = xp.sqrt(w)[:, None] * (Y - (w @ Y) / w.sum())
            if (
                target.shape[0] < target.shape[1]
            ):  # fewer columns with the same sums of squares: 120 for 5,000 labels
                target = xp.linalg.qr(target.T)[1].T
            parts.append(
                (cast(target, dtype), rows, cast(w, dtype), cast(copies[rows], dtype))
            )
            cells += float(w.sum()) * len(labels)
        return cls(parts, max(cells, 1e-300), fixed, dtype)

    def error(self, K: Array) -> tuple[float, float]:
        """Least error of a kernel and the ridge that gives it; the next search begins there."""
        centred = [centred_kernel(K[rows][:, rows], w) for _, rows, w, _ in self.parts]
        if self.fixed is not None:
            return self._at(self.fixed, centred), self.fixed
        rho, error = self.last, self._at(self.last, centred)
        while error == np.inf and rho < RIDGES[1]:
            rho, error = 2 * rho, self._at(2 * rho, centred)
        for step in (0.5, 2.0):
            moved = False
            while (
                RIDGES[0] < rho * step < RIDGES[1]
                and (new := self._at(rho * step, centred)) < error
            ):
                rho, error, moved = rho * step, new, True
            if moved:
                break
        self.last = rho
        return error, rho

    def _at(self, rho: float, centred: Sequence[Array]) -> float:
        error = 0.0
        for K, (target, _, w, copies) in zip(centred, self.parts, strict=True):
            try:
                factor = Factor.of(K * 1, np.full(1, rho))
            except SingularError:
                if self.fixed is not None:
                    raise
                return np.inf  # in single precision
            solved = factor.solve(target)  # first: the diagonal overwrites the factor
            kept = (
                1.0
                - (1.0 - rho * factor.inverse_diagonal()[:, 0] + w / w.sum()) / copies
            )
            residual = rho * solved / namespace(K).maximum(kept, 1e-6)[:, None]
            error += float((residual * residual).sum())
        return error


def choose(
    scale: Scale,
    Z: Matrix,
    w: Array,
    judge: Judge,
    centers: Callable[[int], Array],
    *,
    n_rules: int | None,
    order: int | None,
    width_scale: float | None,
    tnorm: str,
    most: int,
) -> Choice:
    """The choice for scaled rows Z (n, D) of weights w; what is not None is given. At most ``most`` exceptions."""
    search, has_ramps = (
        _Search(scale, Z, w, judge, centers, tnorm),
        scale.terms.low is not None,
    )
    usual = WIDTH_0, WIDTH_1 if has_ramps else WIDTH_LINEAR
    if (
        n_rules is not None
    ):  # (order, number of rules) of the candidates, fewest numbers first
        structures = [
            (o, n_rules)
            for o in ((0, 1) if order is None and n_rules else (order or 0,))
        ]
    else:
        some = [(0, min(ZERO_ORDER, most)), (1, min(FIRST_ORDER, most))]
        structures = [(0, 0), *(pair for pair in some if order in (None, pair[0]))]
    found: dict[tuple[int, int], Choice] = {}
    is_text = n_rules is None and scale.name == "unit"
    for o, K in sorted(structures, key=lambda pair: pair[1]) if is_text else structures:
        if (
            is_text
            and len(found) == 2
            and min(c.error for c in found.values())
            < (1 - CLEAR_GAIN) * found[0, 0].error
        ):
            break
        width = usual[o] if width_scale is None else width_scale
        found[o, K] = search.best(o, K, width, SHARES[1:] if o else SHARES)
    tried = [found[pair] for pair in structures if pair in found]
    best = tried[0]
    for more in tried[1:]:
        gain = (GAINS if has_ramps else GAINS_LINEAR)[more.design.rules.order]
        if more.error < (1 - gain) * best.error:
            best = more
    if len(best.design.rules.centers):
        best = search.refined(best, () if width_scale is not None else (0.5, 2.0))
    return replace(best, error=best.error / judge.cells)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Where exceptions of scaled rows Z (N, D) of weights w, all above 0, sit."""

    Z: Matrix
    w: Array
    scale: Scale

    def centers(self, K: int) -> Array:
        """K centres by k-means, or fewer, where the rows are; found on the host, as the steps are small and many."""
        some = spread_rows(len(self.w), FEW_ROWS if K <= FEW else MANY_ROWS)
        raw, w = (
            self.Z[some] if is_sparse(self.Z) else asnumpy(self.Z[some]),
            asnumpy(self.w[some]),
        )
        filled = self.scale.terms.filled(raw)
        found = fuzzy_c_means(
            filled,
            K,
            fuzzifier=1.0,
            sample_weight=w,
            rtol=1e-3,
            max_iter=8,
            power_steps=2,
        )
        C = found.centers
        if filled is not raw:  # the mean of what was measured in each cluster
            V, there = (found.memberships * w[:, None]).T, raw == raw
            seen = V @ there
            C = np.where(
                seen > 0, V @ np.where(there, raw, 0.0) / np.maximum(seen, 1e-300), C
            )
        return put(C, self.Z)

    def most_valid(self) -> int:
        """The number of centres that Xie and Beni's index prefers."""
        some = spread_rows(len(self.w), FEW_ROWS)
        Z, w = self.scale.terms.filled(self.Z[some]), asnumpy(self.w[some])
        Z = Z if is_sparse(Z) else asnumpy(Z)
        found = {
            K: xie_beni(Z, asnumpy(self.centers(K)), fuzzifier=1.0, sample_weight=w)
            for K in NUMBERS
        }
        return min(found, key=found.__getitem__)


class _Search:
    """Choices for scaled rows Z of weights w: kernels of the general rule and of exceptions, of size 1 each."""

    def __init__(
        self, scale: Scale, Z: Matrix, w: Array, judge: Judge, centers: Any, tnorm: str
    ) -> None:
        self.scale, self.Z, self.w, self.judge, self.centers, self.tnorm = (
            scale,
            Z,
            w,
            judge,
            centers,
            tnorm,
        )
        G = gram(scale.general(Z))
        self.inner = None if scale.terms.low is not None else G
        self.general, self.general_size = self._sized(G)
        self.apart = 2.0 * scale.variance  # mean squared distance between two samples
        if tnorm == "minimum":  # that of the feature in which they lie farthest apart
            xp, half = namespace(Z), len(Z) // 2
            steps = xp.nan_to_num((Z[half : 2 * half] - Z[:half]) ** 2)
            self.apart = float(xp.amax(steps, axis=1).mean()) or 1.0

    def best(
        self, order: int, n_rules: int, h: float, shares: Sequence[float]
    ) -> Choice:
        """The best of a few weights for a structure."""
        if n_rules == 0:
            empty = Rules(self.centers(1)[:0], 1.0, 0)
            error, rho = self.judge.error(self.general)
            return Choice(
                Design(self.scale, empty, 1 / self.general_size, 1.0),
                rho,
                error,
                0.0,
                0.0,
            )
        firing: Firing = (
            "softmax" if order else "plain" if self.tnorm == "product" else "minimum"
        )
        rules = Rules(self.centers(n_rules), h * self.apart, order, firing)
        if order and self.inner is None:
            self.inner = gram(self.scale.terms.filled(self.Z))
        block, size = self._sized(
            Design(self.scale, rules).exception_kernel(self.Z, self.inner)
        )
        found = []
        for v in shares:
            error, rho = self.judge.error((self.general + v * block) / (1 + v))
            design = Design(
                self.scale,
                rules,
                1 / (self.general_size * (1 + v)),
                v / (size * (1 + v)),
            )
            found.append(Choice(design, rho, error, h, v))
        return min(found, key=lambda choice: choice.error)

    def refined(self, best: Choice, factors: Sequence[float]) -> Choice:
        """The choice with another width, the first of these times its own that is better, and another weight."""
        rules = best.design.rules
        for factor in factors:
            other = self.best(
                rules.order,
                len(rules.centers),
                best.width_scale * factor,
                (best.share,),
            )
            if other.error < best.error:
                best = other
                break
        finer = self.best(
            rules.order,
            len(rules.centers),
            best.width_scale,
            [best.share * f for f in FINER],
        )
        return min(best, finer, key=lambda choice: choice.error)

    def _sized(self, K: Array) -> tuple[Array, float]:
        """A kernel whose rows lie at a mean squared distance of 1 from their mean, and what it was divided by."""
        share, length = self.w / self.w.sum(), namespace(K).diagonal(K)
        size = float(share @ length) - float(share @ (K @ share))
        if size <= 1e-12 * float(share @ length):  # all rows are the same
            K, size = 0 * K, 1.0
        return cast(K / size, self.judge.dtype), size
