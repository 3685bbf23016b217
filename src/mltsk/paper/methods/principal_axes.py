"""Principal axes of weighted rows, dense or CSR, for methods that are run on reduced features."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from ...core.arrays import weighted_mean


@dataclass(frozen=True)
class PrincipalAxes:
    """The ``mean`` (D,) of the rows and their widest orthonormal ``axes`` (q, D), widest first.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0], [1, 1], [2, 2], [3, 3.1]])
    >>> found = PrincipalAxes.of(X, np.ones(4), 1)
    >>> found.axes.round(1).tolist(), found.apply(X).shape
    ([[0.7, 0.7]], (4, 1))
    """

    mean: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, X, w, n_components):
        """From the covariance matrix (D, D) under the weights w (N,); at most D axes."""
        mean = weighted_mean(X, w)
        D = X.shape[1]
        # subtracted rows where they are dense, which keeps every digit; moments where that would make X dense
        centred = X if sparse.issparse(X) else X - mean
        second = centred.T @ (sparse.diags_array(w) @ centred)
        S = second.toarray() - w.sum() * np.outer(mean, mean) if sparse.issparse(X) else second
        q = min(n_components, D)
        axes = eigh(S, subset_by_index=[D - q, D - 1])[1].T[::-1]
        largest = np.abs(axes).argmax(axis=1)  # signs are arbitrary: make the largest entry positive
        return cls(mean, axes * np.sign(axes[np.arange(q), largest])[:, None])

    def apply(self, X):
        """Coordinates (N, q) of the rows along the axes."""
        return np.asarray(X @ self.axes.T) - self.axes @ self.mean
