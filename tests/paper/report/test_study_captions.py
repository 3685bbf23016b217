"""Captions say what the numbers of the studies say."""

import re

import pytest

from mltsk.paper.experiments.studies import STUDIES
from mltsk.paper.report.study_captions import study_caption


@pytest.mark.parametrize("name", STUDIES)
def test_study_caption_is_sentences_without_missing_numbers(name, studies):
    text = study_caption(name, studies[name])
    assert re.fullmatch(r"[A-Z].*\.", text)
    assert not re.search(r"\bnan\b", text)
    assert "Used for toy, cost $x_1$ <b>: " in text


def correlations(paper, uncoupled, positive_pairs=3):
    """A study of correlations with these agreements."""
    models = {
        "paper": {"pearson": paper},
        "paper_uncoupled": {"pearson": uncoupled},
        "ours": {"pearson": 0.9},
        "ours_coupled": {"pearson": 0.9},
    }
    result = {
        "note": "",
        "models": models,
        "positive_pairs": positive_pairs,
        "by_alpha": [[0.0, uncoupled], [1.0, paper]],
    }
    return {"toy": result}


def test_study_caption_credits_no_agreement_to_a_coupling_that_did_nothing():
    alike = study_caption("label-correlation", correlations(0.95, 0.95))
    better = study_caption("label-correlation", correlations(0.95, 0.6))
    assert "not the coupling's doing" in alike
    assert "not the coupling's doing" not in better


def test_study_caption_says_that_correlations_do_not_agree():
    results = correlations(-0.1, -0.1, positive_pairs=0)
    assert "do not agree" in study_caption("label-correlation", results)


def coupling(gain):
    """A study in which a coupling gains this much AP over a ridge."""
    arms = {
        "ridge": {"mean": [0.8, 0, 0, 0, 0]},
        "laplacian": {"mean": [0.8 + gain, 0, 0, 0, 0]},
    }
    result = {
        "note": "",
        "groups": {"A": {"mean": [0.7] * 5}, "B": {"mean": [0.72] * 5}},
        "arms": {"paper": arms, "ours": arms},
    }
    return {"toy": result}


def test_study_caption_says_that_a_ridge_gains_as_much():
    small = study_caption("coupling-effect", coupling(0.001))
    large = study_caption("coupling-effect", coupling(0.03))
    none = study_caption("coupling-effect", coupling(0.0))
    assert small.count("a plain ridge does as well") == 2
    assert large.count("adds to a plain ridge") == 2
    assert "1 of 1 data set (mean +0.020)" in none


def test_study_caption_names_the_stop_and_the_fall_of_the_objective():
    run = {
        "alpha": 1.0,
        "stop": 2,
        "lowest": -3e7,
        "curvature": -1.3,
        "unbounded": True,
    }
    ours = {"certificates": [1, 1e-6], "steps": [0, 8]}
    result = {"note": "", "paper": [run], "ours": ours}
    text = study_caption("convergence", {"toy": result})
    assert "stops after 2 steps for alpha = 1" in text
    assert "-3e+07" in text
    assert "no minimum" in text
    assert "8 steps" in text
