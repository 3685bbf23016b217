"""ML-HDTSK FS: couplings and steps by hand, rules that fire, files, and its experiment.

``tests/golden/test_hdtsk.py`` compares it with its authors' program.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import explore, load, save
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.datasets import make_multilabel_rules
from mltsk.paper.experiments.definition import pick_methods, section_iv
from mltsk.paper.methods import METHODS, MLHDTSK, SUCCESSORS
from mltsk.paper.methods.ml_hdtsk_fs import (
    GroupSparseProblem,
    coupling_of,
    frobenius_norm,
    group_directions,
    group_sparse_consequents,
    jaccard_distances,
    label_likeness,
)
from mltsk.paper.solvers.problem import quadratic

DATA = make_multilabel_rules(n_samples=80, random_state=0)


def with_many_features(n_features, n=40, seed=0):
    """Rows of many features, two labels that one of them decides."""
    X = np.random.default_rng(seed).random((n, n_features))
    return X, (X[:, :2] > 0.5).astype(int)


# by hand ------------------------------------------------------------------------------


def test_jaccard_distances_count_rows_by_their_weights():
    Y = np.array([[1.0, 1, 0], [1, 0, 0], [0, 1, 0]])
    D = jaccard_distances(Y, np.array([2.0, 1.0, 1.0]))
    # labels 0 and 1: 4 of weight with one of them, 2 with both; label 2 has no row
    assert_allclose(D, [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]])
    repeated = jaccard_distances(Y[[0, 0, 1, 2]], np.ones(4))
    assert_array_equal(D, repeated)


def test_coupling_is_positive_between_labels_apart_and_negative_between_others():
    Y = np.array([[1.0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1]])
    Q = coupling_of(jaccard_distances(Y, np.ones(4)))
    # distances: 1 of 4 (0, 1), 3 of 4 (0, 2), 4 of 4 (1, 2)
    assert_allclose(Q, [[0, -0.75, 0.75], [-0.75, 0, 1], [0.75, 1, 0]])


def test_label_likeness_is_the_weighted_sum_of_cosines():
    P = np.array([[1.0, 2, 0], [0, 2, 0]])  # 45 degrees apart, and a label of nothing
    Q = np.array([[0.0, -0.5, 1], [-0.5, 0, 1], [1, 1, 0]])
    assert_allclose(label_likeness(P, Q), 2 * 0.5 * np.sqrt(0.5))


def test_group_directions_are_the_slopes_of_norms_above_the_smoothing():
    P = np.array([[0.3], [0.02], [0.4], [0.03]])  # two rules of two rows
    moved = P + 1e-7 * np.array([[1.0], [0], [0], [0]])
    norms = [np.hypot(*p[[0, 2], 0]) + np.hypot(*p[[1, 3], 0]) for p in (P, moved)]
    slope = (norms[1] - norms[0]) / 1e-7
    assert_allclose(group_directions(P, 2)[0, 0], slope, rtol=1e-6)


def test_one_step_by_hand():
    # one rule, one feature, one label: G is [1, x], and nothing is coupled
    X = np.array([[0.0], [1.0]])
    G = FuzzyMap(X, np.ones((2, 1)))
    data = quadratic(G, X)
    # A = [[2, 1], [1, 1]], B = [1, 1]; (A + I)⁻¹B = [.2, .4]; A P = [.8, .6]
    # ‖A‖ = √7, so Lip = √14; slope A P - B + β P/|P| = [.8, .6]
    problem = GroupSparseProblem(data, np.zeros((1, 1)), 1, 2, alpha=0, beta=1)
    result = group_sparse_consequents(problem, gamma=1, max_iter=1)
    assert_allclose(frobenius_norm(data), np.sqrt(7))
    P = np.array([0.2, 0.4]) - np.array([0.8, 0.6]) / np.sqrt(14)
    assert_allclose(result.P[:, 0], P)
    misfit = P[0] ** 2 + (P.sum() - 1) ** 2
    assert_allclose(result.losses, [misfit / 4 + np.abs(P).sum() / 2])


# the model ----------------------------------------------------------------------------


def test_rules_stay_apart_and_fire_on_every_row_of_thousands_of_features():
    X, Y = with_many_features(3000)
    clf = MLHDTSK(3).fit(X, Y)
    assert clf.unfired_share_ == 0
    assert clf.rule_distinctness_ > 0.5
    assert_allclose(clf.widths_, 3000 / 745)
    far = clf.decision_function(np.where(X > 0.5, 1.0, 0.0))
    assert np.isfinite(far).all()


def test_steps_shrink_groups_and_more_with_a_larger_weight():
    norms = []
    for weight in (0.0, 1.0, 10.0):
        clf = MLHDTSK(2, group_weight=weight, correlation_weight=0).fit(DATA.X, DATA.Y)
        norms.append(np.linalg.norm(clf.coef_, axis=0).sum())
    assert norms[0] > norms[1] > norms[2]


def test_coupling_draws_labels_that_occur_together_to_each_other():
    X, Y = with_many_features(5, n=200)
    Y = np.column_stack([Y[:, 0], Y[:, 0] | (Y[:, 1] & (X[:, 2] > 0.8))])

    def cosine(weight):
        clf = MLHDTSK(2, correlation_weight=weight, group_weight=0).fit(X, Y)
        p = clf.coef_.reshape(-1, 2)
        return p[:, 0] @ p[:, 1] / np.prod(np.linalg.norm(p, axis=0))

    assert cosine(1.0) > cosine(0.0)


def test_predict_gives_labels_above_one_half():
    clf = MLHDTSK(2).fit(DATA.X, DATA.Y)
    scores = clf.system_.scores(DATA.X)
    assert_array_equal(clf.predict(DATA.X), scores > 0.5)


def test_rules_are_in_the_form_of_the_paper_and_whole():
    clf = MLHDTSK(2).fit(DATA.X, DATA.Y)
    rules = clf.rules_
    Z = (DATA.X[:, None, :] - rules.centers) / rules.widths
    firing = np.exp(-np.square(Z).sum(axis=2) / 2)
    firing /= firing.sum(axis=1, keepdims=True)
    lines = rules.intercepts + np.einsum("nd,kdl->nkl", DATA.X, rules.slopes)
    scores = np.einsum("nk,nkl->nl", firing, lines)
    assert_allclose(scores, clf.system_.scores(DATA.X), atol=1e-9)
    assert "Gauss" in str(rules)
    assert "is above 0.5" in str(rules)


def test_a_model_can_be_saved_and_looked_at(tmp_path):
    clf = MLHDTSK(2).fit(DATA.X, DATA.Y)
    save(clf, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.decision_function(DATA.X), clf.decision_function(DATA.X))
    explore(clf, tmp_path / "page.html", DATA.X, DATA.Y)
    assert "Gauss" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_it_is_a_successor_and_no_method_of_the_paper():
    assert SUCCESSORS == {"ml-hdtsk-fs": MLHDTSK}
    assert "ml-hdtsk-fs" not in METHODS
    (method,) = pick_methods(section_iv(), ["ml-hdtsk-fs"])
    assert method.title == "ML-HDTSK FS"
    assert method.paper is None


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [({"n_rules": 0}, "n_rules"), ({"group_weight": -1.0}, "group_weight")],
)
def test_values_that_make_no_sense_are_refused(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        MLHDTSK(**parameters).fit(DATA.X, DATA.Y)
