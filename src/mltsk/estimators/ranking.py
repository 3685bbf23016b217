"""Scores of points on folds as the table that scikit-learn's searches give, and which branches may still win."""

import numpy as np
from scipy.stats import rankdata

# A branch is dropped when its best point lies behind the leader by this many standard errors of the paired differences,
# and on every fold so far.
BEHIND = 2.0


def results_table(points, scores, seconds) -> dict:
    """`cv_results_` of ``scores`` and ``seconds`` (points, folds); a point without a score on every fold has no mean.

    Examples
    --------
    >>> table = results_table([{"n_rules": 1}, {"n_rules": 2}], np.array([[0.5, 0.7], [0.9, 0.5]]), np.zeros((2, 2)))
    >>> table["rank_test_score"].tolist()
    [2, 1]
    """
    means = scores.mean(axis=1)
    table = {f"split{f}_test_score": scores[:, f].copy() for f in range(scores.shape[1])}
    ranks = rankdata(-np.where(np.isnan(means), -np.inf, means), method="min").astype(np.int32)
    names = sorted({name for point in points for name in point})
    columns = {f"param_{name}": _column([point.get(name) for point in points]) for name in names}
    return {
        "params": list(points),
        **columns,
        **table,
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": ranks,
        "fit_seconds": seconds.mean(axis=1),
    }


def still_hopeful(scores, members, n_folds) -> bool:
    """Whether some of the points ``members`` may still win after the first ``n_folds`` folds."""
    if n_folds < 2:
        return True
    seen = scores[:, :n_folds]
    means = seen.mean(axis=1)
    if not np.isfinite(means[members]).any():
        return False
    own = seen[members[int(np.nanargmax(means[members]))]]
    behind = seen[int(np.nanargmax(means))] - own
    error = behind.std(ddof=1) / np.sqrt(n_folds)
    return bool(behind.min() <= 0 or behind.mean() <= BEHIND * error)


def _column(values) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
