"""The scale on which terms and rules live, fitted to some rows and applied to all."""

from dataclasses import dataclass

from scipy import sparse

from ..core.arrays import Array, Matrix, row_square_norms, unit_rows, weighted_mean, weighted_variance
from ..core.scaling import Scaling, fit_scaling
from ..core.terms import Terms
from ..exceptions import InputError

# A sparse matrix that is at least this full is multiplied faster as a dense array (SciPy's sparse products run on one
# thread), if it then takes at most DENSE_BYTES.
DENSE_SHARE, DENSE_BYTES = 0.01, 10**9


@dataclass(frozen=True)
class Scale:
    """``name`` of the scale, its ``scaling`` where it has one, the ``terms`` of the general rule on it (means still 0),
    and the total ``variance`` of scaled samples, the yardstick of widths and slopes."""

    name: str | None
    scaling: Scaling | None
    terms: Terms
    variance: float

    @property
    def has_ramps(self) -> bool:
        """Whether terms are ramps, not linear."""
        return self.terms.low is not None

    @classmethod
    def of(cls, X: Matrix, w: Array, name: str | None) -> "tuple[Scale, Matrix]":
        """Fitted to rows X under the weights w, with X on it; "auto" is "quantile" for dense and "unit" for sparse."""
        is_sparse = sparse.issparse(X)
        name = ("unit" if is_sparse else "quantile") if name == "auto" else name
        if is_sparse and name not in ("unit", None):
            raise InputError(f"scale={name!r} would make sparse X dense: use scale='unit' or None, or X.toarray().")
        scaling = None if name is None or name == "unit" else fit_scaling(X, w, name)
        terms = Terms.ramps(scaling) if scaling and name == "quantile" else Terms.linear(X.shape[1])
        scale = cls(name, scaling, terms, 1.0)
        Z = scale.apply(X)
        mean = weighted_mean(Z, w)
        if name == "unit":  # mean square length less the square of the mean: lengths are 1, so nothing cancels
            variance = float(w @ row_square_norms(Z)) / float(w.sum()) - float(mean @ mean)
        else:
            variance = float(weighted_variance(Z, w, mean).sum())
        return cls(name, scaling, terms, max(variance, 1e-300)), Z

    def apply(self, X: Matrix) -> Matrix:
        """Rows on this scale, dense where that pays."""
        if self.scaling is not None:
            return self.scaling.apply(X)
        Z = unit_rows(X) if self.name == "unit" else X
        if not sparse.issparse(Z):
            return Z
        size = Z.shape[0] * Z.shape[1]
        return Z.toarray() if 8 * size <= DENSE_BYTES and Z.nnz >= DENSE_SHARE * size else Z
