"""Where exceptions sit: centres of clusters of rows, or rows themselves.

Symbols: N rows, D features, K centres, Z (N, D) scaled rows, w (N,) weights.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, Matrix, asnumpy, dense, put, spread_rows
from ..core.clustering import fuzzy_c_means, xie_beni
from .scale import Scale

# Centres are found on 2,000 rows for more than 50 centres, else on 5,000.
MANY_CENTERS = 50
CLUSTER_ROWS_FOR_MANY = 2_000
CLUSTER_ROWS = 5_000
XIE_BENI_NUMBERS = range(2, 21)  # of exceptions that Xie and Beni's index chooses from


@dataclass(frozen=True, eq=False)
class Clusters:
    """Where exceptions of scaled rows Z (N, D) of weights w (N,), all above 0, sit."""

    Z: Matrix
    w: Array
    scale: Scale
    cache: dict[int, Array] = field(default_factory=dict)

    def centers(self, n_centers: int) -> Array:
        """Centres by k-means (n_centers, D) or fewer, where the rows are."""
        if n_centers not in self.cache:
            self.cache[n_centers] = self._found(n_centers)
        return self.cache[n_centers]

    def _found(self, n_centers: int) -> Array:
        """Centres on the host, as the steps are small and many."""
        limit = CLUSTER_ROWS
        if n_centers > MANY_CENTERS:
            limit = CLUSTER_ROWS_FOR_MANY
        rows = spread_rows(len(self.w), limit)
        raw = self._on_host(self.Z[rows])
        w = asnumpy(self.w[rows])
        filled = self.scale.terms.filled(raw)
        clusters = fuzzy_c_means(
            filled,
            n_centers,
            fuzzifier=1.0,
            sample_weight=w,
            rtol=1e-3,
            max_iter=8,
            power_steps=2,
        )
        C = clusters.centers
        if filled is not raw:
            C = _measured_means(raw, clusters.memberships * w[:, None], C)
        return put(C, self.Z)

    def rows(self, n_centers: int) -> Array:
        """The first rows as centres, which are spread like the data."""
        return dense(self.scale.terms.filled(self.Z[:n_centers]))

    def most_valid(self) -> int:
        """The number of centres that Xie and Beni's index prefers."""
        rows = spread_rows(len(self.w), CLUSTER_ROWS)
        Z = self._on_host(self.scale.terms.filled(self.Z[rows]))
        w = asnumpy(self.w[rows])

        def index(n_centers: int) -> float:
            C = asnumpy(self.centers(n_centers))
            return xie_beni(Z, C, fuzzifier=1.0, sample_weight=w)

        return min(XIE_BENI_NUMBERS, key=index)

    @staticmethod
    def _on_host(Z: Matrix) -> Matrix:
        """Rows as NumPy or SciPy has them."""
        return Z if is_sparse(Z) else asnumpy(Z)


def _measured_means(Z: Array, V: Array, C: Array) -> Array:
    """Means (K, D) of what was measured in each cluster of memberships V (n, K).

    Where nothing was, the centre C (K, D) stays.
    """
    measured = Z == Z
    weight = V.T @ measured
    sums = V.T @ np.where(measured, Z, 0.0)
    return np.where(weight > 0, sums / np.maximum(weight, 1e-300), C)
