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
def test_arms_of_a_family_choose_from_equally_many_settings(settings):
    counts = {arm: len(set(settings[arm])) for arm in ARMS}
    assert counts["off"] == counts["paper"]
    assert len({counts[arm] for arm in ARMS[2:]}) == 1


@pytest.mark.parametrize("settings", [PAPER_SETTINGS, FAST_SETTINGS])
def test_group_a_finds_every_beta_and_gamma_of_group_b(settings):
    assert {setting[1:] for setting in settings["paper"]} <= {
        setting[1:] for setting in settings["off"]
    }


def test_the_off_arm_is_the_uncoupled_fit(toy, rules):
    Y = toy.Y[:60].astype(float)
    G, T = rules
    scores = scores_of(G, T, Y, {"off": [(0.0, 0.1, 1.0)]})["off"]
    assert_allclose(scores[0.0, 0.1, 1.0], T @ algorithm1(G, Y, 0.0, 0.1, 1.0).P)


@pytest.mark.parametrize("arm", ["ridge", "laplacian", "signed", "shift", "precision"])
def test_closed_form_is_the_optimum_that_the_solver_finds(arm, toy, rules):
    Y = toy.Y[:60].astype(float)
    (G, T), rho, ratio = rules, 0.01, 0.0 if arm == "ridge" else 1.0
    scores = scores_of(G, T, Y, {arm: [(rho, ratio)]})[arm][rho, ratio]
    weight = rho * np.linalg.eigvalsh(G.gram())[-1]
    Q = coupling_matrix(label_correlation(Y), arm)
    problem = Problem(
        quadratic(G, Y - Y.mean(axis=0), form=False), Q, ratio * weight, 0.0, weight
    )
    P = fista(problem, max_iter=5000, tol=1e-10).P
    assert_allclose(scores, T @ P + Y.mean(axis=0), atol=1e-3)


def test_every_arm_reports_every_fold(found):
    result = found["coupling-effect"]
    assert list(result["arms"]["paper"]) == list(ARMS)
    for arms in result["arms"].values():
        for arm in arms.values():
            assert np.shape(arm["folds"]) == (2, 5)
            assert_allclose(np.mean(arm["folds"], axis=0), arm["mean"])


def test_group_b_has_the_best_alpha_and_group_a_the_same_setting_without():
    AP = {
        (0.0, 0.1, 1.0): 0.5,
        (0.0, 1.0, 1.0): 0.9,
        (1.0, 0.1, 1.0): 0.7,
        (1.0, 1.0, 1.0): 0.6,
    }
    groups = compared_groups(
        [{setting: np.full(5, value) for setting, value in AP.items()}] * 2
    )
    assert groups["setting"] == {"alpha": 1.0, "beta": 0.1, "gamma": 1.0}
    assert groups["B"]["mean"][0] == 0.7
    assert groups["A"]["mean"][0] == 0.5


def test_agreement_is_a_correlation(found):
    for model in found["label-correlation"]["models"].values():
        assert -1 <= model["pearson"] <= 1
        assert -1 <= model["spearman"] <= 1


def test_the_label_map_is_the_correlation_of_the_labels(toy, found):
    assert_allclose(
        found["label-correlation"]["of_labels"], label_correlation(toy.Y.astype(float))
    )


def test_agreement_at_alpha_0_is_that_of_the_uncoupled_model(found):
    result = found["label-correlation"]
    assert result["by_alpha"][0] == [
        0.0,
        result["models"]["paper_uncoupled"]["pearson"],
    ]


def test_maps_that_oppose_each_other_agree_minus_one():
    A = np.array([[1, 0.5, 0.1], [0.5, 1, -0.2], [0.1, -0.2, 1]])
    assert_allclose(agreement(A, -A), (-1, -1))
    assert agreement(A, np.ones((3, 3))) == (None, None)


def test_synthetic_labels_share_consequents_and_the_maps_agree(found):
    assert found["label-correlation"]["models"]["ours"]["pearson"] > 0.5
