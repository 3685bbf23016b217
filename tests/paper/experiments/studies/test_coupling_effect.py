"""Fig. 3 to 5: what the label coupling does, with controls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.paper.experiments.studies.coupling_effect import (
    ARMS,
    FAST_SETTINGS,
    PAPER_SETTINGS,
    agreement,
    compared_groups,
    scores_of,
)
from mltsk.paper.experiments.studies.sample import paper_rules
from mltsk.paper.solvers.algorithm1 import algorithm1
from mltsk.paper.solvers.problem import Problem, fista, quadratic


@pytest.fixture
def rules(toy):
    return paper_rules(toy.X[:60], toy.X[60:], 2, 10.0)


@pytest.mark.parametrize("settings", [PAPER_SETTINGS, FAST_SETTINGS])
def test_settings_of_arms_of_a_family_are_equally_many(settings):
    counts = {arm: len(set(settings[arm])) for arm in ARMS}
    assert counts["off"] == counts["paper"]
    assert len({counts[arm] for arm in ARMS[2:]}) == 1


@pytest.mark.parametrize("settings", [PAPER_SETTINGS, FAST_SETTINGS])
def test_settings_of_group_a_have_every_beta_and_gamma_of_group_b(settings):
    group_a = {setting[1:] for setting in settings["off"]}
    group_b = {setting[1:] for setting in settings["paper"]}
    assert group_b <= group_a


def test_scores_of_the_off_arm_are_those_of_the_uncoupled_fit(toy, rules):
    Y = toy.Y[:60].astype(float)
    G, T = rules
    scores = scores_of(G, T, Y, {"off": [(0.0, 0.1, 1.0)]})["off"]
    assert_allclose(scores[0.0, 0.1, 1.0], T @ algorithm1(G, Y, 0.0, 0.1, 1.0).P)


@pytest.mark.parametrize("arm", ["ridge", "laplacian", "signed", "shift", "precision"])
def test_scores_of_convex_arms_are_the_optimum_that_the_solver_finds(arm, toy, rules):
    Y = toy.Y[:60].astype(float)
    G, T = rules
    rho = 0.01
    ratio = 0.0 if arm == "ridge" else 1.0
    scores = scores_of(G, T, Y, {arm: [(rho, ratio)]})[arm][rho, ratio]
    weight = rho * np.linalg.eigvalsh(G.gram())[-1]
    Q = coupling_matrix(label_correlation(Y), arm)
    data = quadratic(G, Y - Y.mean(axis=0), form=False)
    problem = Problem(data, Q=Q, alpha=ratio * weight, beta=0.0, rho=weight)
    P = fista(problem, max_iter=5000, tol=1e-10).P
    assert_allclose(scores, T @ P + Y.mean(axis=0), atol=1e-3)


def test_effect_study_reports_every_fold_of_every_arm(found):
    result = found["coupling-effect"]
    assert list(result["arms"]["paper"]) == list(ARMS)
    for arms in result["arms"].values():
        for arm in arms.values():
            assert np.shape(arm["folds"]) == (2, 5)
            assert_allclose(np.mean(arm["folds"], axis=0), arm["mean"])


def test_compared_groups_are_the_best_setting_and_the_same_without_alpha():
    metrics = {
        (0.0, 0.1, 1.0): np.full(5, 0.5),
        (0.0, 1.0, 1.0): np.full(5, 0.9),
        (1.0, 0.1, 1.0): np.full(5, 0.7),
        (1.0, 1.0, 1.0): np.full(5, 0.6),
    }
    groups = compared_groups([metrics] * 2)
    assert groups["setting"] == {"alpha": 1.0, "beta": 0.1, "gamma": 1.0}
    assert groups["B"]["mean"][0] == 0.7
    assert groups["A"]["mean"][0] == 0.5


def test_agreement_is_a_correlation(found):
    for model in found["label-correlation"]["models"].values():
        assert -1 <= model["pearson"] <= 1
        assert -1 <= model["spearman"] <= 1


def test_correlation_study_has_the_correlation_of_the_labels(toy, found):
    correlation = label_correlation(toy.Y.astype(float))
    assert_allclose(found["label-correlation"]["of_labels"], correlation)


def test_correlation_study_at_alpha_0_is_that_of_the_uncoupled_model(found):
    result = found["label-correlation"]
    pearson = result["models"]["paper_uncoupled"]["pearson"]
    assert result["by_alpha"][0] == [0.0, pearson]


def test_agreement_of_maps_that_oppose_each_other_is_minus_one():
    A = np.array([[1, 0.5, 0.1], [0.5, 1, -0.2], [0.1, -0.2, 1]])
    assert_allclose(agreement(A, -A), (-1, -1))
    assert agreement(A, np.ones((3, 3))) == (None, None)


def test_correlation_study_of_synthetic_labels_finds_agreement(found):
    assert found["label-correlation"]["models"]["ours"]["pearson"] > 0.5
