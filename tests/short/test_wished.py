"""What wishes leave to the candidates of a short model."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.fit.corrector import Corrector
from mltsk.fit.wishes import Wish
from mltsk.short.candidates import Candidates
from mltsk.short.selection import FORBIDDEN, signed_solution
from mltsk.short.wished import wished_signs

DATA = make_multilabel_rules(n_samples=120, random_state=0)
FEATURES = tuple(f"x{d}" for d in range(DATA.X.shape[1]))
LABELS = tuple(f"y{j}" for j in range(DATA.Y.shape[1]))


def signs_of(*wishes):
    clf = MLTSKClassifier(n_rules=4, order=0).fit(DATA.X, DATA.Y)
    candidates = Candidates.of(clf.system_, DATA.X, np.ones(120), 5)
    signs = wished_signs(candidates, Corrector(wishes, FEATURES, LABELS))
    return candidates, signs


def test_wished_signs_are_those_of_the_labels_that_a_wish_is_about():
    candidates, signs = signs_of(Wish(1, (0, 2), "falls"))
    own = candidates.terms.feature == 1
    assert (signs[: len(own)][own][:, [0, 2]] == -1).all()
    assert not signs[: len(own)][own][:, 1].any()
    assert not signs[: len(own)][~own].any()


def test_wished_signs_of_both_directions_leave_nothing():
    candidates, signs = signs_of(Wish(1, (0,), "falls"), Wish(1, (0,), "rises"))
    own = np.flatnonzero(candidates.terms.feature == 1)
    assert (signs[own, 0] == FORBIDDEN).all()


def test_wished_signs_forbid_exceptions_with_a_condition_on_the_feature():
    candidates, signs = signs_of(Wish(0, (0,), "rises"))
    has_condition = np.isfinite(candidates.widths[:, 0])
    of_exceptions = signs[len(candidates.terms) :]
    assert has_condition.any()
    assert (of_exceptions[has_condition, 0] == FORBIDDEN).all()
    assert not of_exceptions[has_condition, 1:].any()
    assert not of_exceptions[~has_condition].any()


def test_signed_solution_is_that_of_a_general_solver():
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = rng.normal(size=(8, 5))
        G = root.T @ root + 0.1 * np.eye(5)
        c = rng.normal(size=5)
        signs = rng.integers(-1, 2, 5)
        low = np.where(signs == 1, 0.0, -np.inf)
        high = np.where(signs == -1, 0.0, np.inf)
        lower = np.linalg.cholesky(G)
        target = np.linalg.solve(lower, c)
        solved = lsq_linear(lower.T, target, (low, high), tol=1e-14).x
        assert_allclose(signed_solution(G, c, signs), solved, atol=1e-6)
