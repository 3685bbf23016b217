"""The numbers that meet linear demands and lie closest to the best ones.

The loss of a ridge problem around its least is (b - b₀)ᵀ A (b - b₀). With A = L Lᵀ and
u = Lᵀ (b - b₀), demands on b are demands on u, and what is wanted is the shortest u
that meets them (*least distance programming*, Lawson and Hanson, 1974): one problem of
non-negative least squares, which ends after finitely many steps at the exact solution,
or shows that there is none.

Symbols: n numbers, k demands, M (k, n) demands on u.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular
from scipy.optimize import nnls

from ..core.arrays import FloatArray

MIN_DEMAND = 1e-9  # length of what a demand adds to others, where its own is 1
MAX_ROUNDS = 30  # of adding demands that are not met
MAX_EXCHANGES = 200
PATIENCE = 3  # exchanges of many demands that may make nothing better
MAX_DISTANCE = 1e-5  # of a guess from what its demands make exact
MAX_BREACH = 1e-8  # of a demand of length 1, next to the largest that is asked for


class ContradictionError(ValueError):
    """No numbers meet all demands."""


@dataclass(frozen=True)
class Nearest:
    """The shortest u (n,) that meets demands.

    ``basis`` (n, a) is an orthonormal basis of the demands that hold it where it is;
    ``multipliers`` (k,) say how hard each of them pulls: u = Mᵀ multipliers.
    """

    u: FloatArray
    basis: FloatArray
    multipliers: FloatArray


def nearest(M: FloatArray, least: FloatArray, is_equal: NDArray[np.bool_]) -> Nearest:
    """Find the shortest u with M u = least where ``is_equal``, and M u >= least.

    Parameters
    ----------
    M : (k, n)
    least : (k,)
    is_equal : (k,)

    Examples
    --------
    >>> found = nearest(np.eye(2), np.array([1.0, -1.0]), np.array([False, False]))
    >>> found.u.tolist(), found.multipliers.tolist()
    ([1.0, 0.0], [1.0, 0.0])
    """
    M, least, lengths = _of_length_one(M, least, is_equal)
    scale = float(np.abs(least).max(initial=0.0)) or 1.0
    held = np.flatnonzero(is_equal)
    basis, shift, _ = _meeting(M[held], least[held] / scale)
    others = np.flatnonzero(~is_equal)
    rest = M[others] - (M[others] @ basis) @ basis.T
    missing = least[others] / scale - M[others] @ shift
    demands = Demands(M, least / scale, is_equal)
    found = None
    guess = _guessed(rest, missing)
    if guess is not None:
        guessed, move = guess
        near = shift + move
        found = demands.held_by(np.concatenate([held, others[guessed]]), near)
    if found is None:
        active = others[_pulling(rest, missing)]
        found = demands.held_by(np.concatenate([held, active]))
    if found is None:
        raise ContradictionError
    return Nearest(scale * found.u, found.basis, scale * found.multipliers / lengths)


@dataclass(frozen=True)
class Demands:
    """Demands M u >= least, or = least where ``is_equal``, whose rows have length 1."""

    M: FloatArray
    least: FloatArray
    is_equal: NDArray[np.bool_]

    def held_by(
        self, holding: NDArray[np.intp], near: FloatArray | None = None
    ) -> Nearest | None:
        """The shortest u that meets some demands as equations, if it meets all.

        It has to lie near another one, if that is given: pulls of demands that say the
        same are not unique, so they tell nothing.
        """
        try:
            basis, u, multipliers = _meeting(self.M[holding], self.least[holding])
        except ContradictionError:
            return None
        others = ~self.is_equal
        breach = np.max(self.least[others] - self.M[others] @ u, initial=0.0)
        if breach > MAX_BREACH * (1 + np.abs(u).max(initial=0.0)):
            return None
        if near is not None:
            distance = np.abs(u - near).max(initial=0.0)
            if distance > MAX_DISTANCE * (1 + np.abs(u).max(initial=0.0)):
                return None
        pulls = np.zeros(len(self.M))
        pulls[holding] = multipliers
        return Nearest(u, basis, pulls)


def _of_length_one(
    M: FloatArray, least: FloatArray, is_equal: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Demands whose rows have the length 1, and what they were divided by (k,).

    A row of zeros asks for nothing, or for what cannot be.
    """
    lengths = np.sqrt(np.einsum("kn,kn->k", M, M))
    is_empty = lengths == 0
    asks = np.where(is_equal, np.abs(least), least)
    if (asks[is_empty] > 0).any():
        raise ContradictionError
    lengths = np.where(is_empty, 1.0, lengths)
    return M / lengths[:, None], least / lengths, lengths


def _meeting(
    M: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The shortest u with M u = values (a,), with a basis (n, r) and multipliers (a,).

    Rows that say what others say already get a multiplier of 0.
    """
    n_rows, n_numbers = M.shape
    if n_rows == 0:
        return np.zeros((n_numbers, 0)), np.zeros(n_numbers), np.zeros(0)
    basis, R, order = qr(M.T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > MIN_DEMAND).sum())
    basis = basis[:, :rank]
    upper = R[:rank, :rank]
    inner = solve_triangular(upper, values[order[:rank]], trans="T")
    u = basis @ inner
    breach = np.abs(M @ u - values).max()
    if breach > MAX_BREACH * (1 + np.abs(u).max()):
        raise ContradictionError
    multipliers = np.zeros(n_rows)
    multipliers[order[:rank]] = solve_triangular(upper, inner)
    return basis, u, multipliers


def _pulling(M: FloatArray, least: FloatArray) -> NDArray[np.intp]:
    """Which of the demands M u >= least hold the shortest u that meets all of them.

    Rows that equations leave nothing of are met, or cannot be.
    """
    lengths = np.sqrt(np.einsum("kn,kn->k", M, M))
    can_move = lengths > MIN_DEMAND
    if (least[~can_move] > MAX_BREACH).any():
        raise ContradictionError
    rows = np.flatnonzero(can_move)
    if not (least[rows] > 0).any():
        return rows[:0]
    triangle = np.linalg.qr(M[rows].T, mode="r")  # as short as demands are many
    stacked = np.vstack([triangle, least[rows]])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    pulls, _ = nnls(stacked, target, maxiter=30 * stacked.shape[1] + 100)
    left = target - stacked @ pulls
    if left[-1] <= MIN_DEMAND:
        raise ContradictionError
    return rows[pulls > 0]


def _guessed(
    M: FloatArray, least: FloatArray
) -> tuple[NDArray[np.intp], FloatArray] | None:
    """Which demands hold the shortest u, and u, by exchanging many of them at a time.

    Demands that are met take no part until they are not. Where many hold, this takes a
    hundredth of the time of `_pulling`, but it may end without a result (None), and
    what it finds has to be checked.
    """
    working = np.flatnonzero(least > 0)
    for _ in range(MAX_ROUNDS):
        pulls = _exchanged(M[working], least[working])
        if pulls is None:
            return None
        u = pulls @ M[working]
        is_missed = least - M @ u > MIN_DEMAND
        is_missed[working] = False
        if not is_missed.any():
            return working[pulls > 0], u
        working = np.union1d(working, np.flatnonzero(is_missed))
    return None


def _exchanged(M: FloatArray, least: FloatArray) -> FloatArray | None:
    """Pulls (k,) of at least 0 with M Mᵀ pulls >= least, by block principal pivoting.

    All demands that are wrong change sides at once, as long as fewer and fewer are;
    then one at a time (Kim and Park, 2011).
    """
    G = M @ M.T
    G.flat[:: len(G) + 1] += MIN_DEMAND
    is_held = least > 0
    fewest = len(G) + 1
    patience = PATIENCE
    for _ in range(MAX_EXCHANGES):
        held = np.flatnonzero(is_held)
        pulls = np.zeros(len(G))
        try:
            pulls[held] = cho_solve(cho_factor(G[np.ix_(held, held)]), least[held])
        except np.linalg.LinAlgError:
            return None
        slack = G[:, held] @ pulls[held] - least
        is_wrong = np.where(is_held, pulls < 0, slack < -MIN_DEMAND)
        n_wrong = int(is_wrong.sum())
        if n_wrong == 0:
            return pulls
        if n_wrong < fewest:
            fewest = n_wrong
            patience = PATIENCE
        elif patience:
            patience -= 1
        else:
            is_wrong[: np.flatnonzero(is_wrong)[-1]] = False
        is_held = is_held ^ is_wrong
    return None
