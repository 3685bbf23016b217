from mltsk.paper.report.captions import study_caption


def model(r):
    return {"pearson": r}


def correlations(paper, uncoupled, positive=3, best=None):
    models = {
        "paper": model(paper),
        "paper_uncoupled": model(uncoupled),
        "ours": model(0.9),
        "ours_coupled": model(0.9),
    }
    return {
        "toy": {
            "note": "",
            "models": models,
            "positive_pairs": positive,
            "by_alpha": [[0.0, uncoupled], [1.0, best or paper]],
        }
    }


def test_agreement_without_coupling_is_not_credited_to_it():
    assert "not the coupling's doing" in study_caption("label-correlation", correlations(0.95, 0.95))
    assert "not the coupling's doing" not in study_caption("label-correlation", correlations(0.95, 0.6))


def test_disagreement_is_said():
    assert "do not agree" in study_caption("label-correlation", correlations(-0.1, -0.1, positive=0))


def arms(gain):
    ridge = {"mean": [0.8, 0, 0, 0, 0]}
    return {"ridge": ridge, "laplacian": {"mean": [0.8 + gain, 0, 0, 0, 0]}}


def coupling(gain):
    groups = {"A": {"mean": [0.7] * 5}, "B": {"mean": [0.72] * 5}}
    return {"toy": {"note": "", "groups": groups, "arms": {"paper": arms(gain), "ours": arms(gain)}}}


def test_a_gain_that_a_ridge_has_too_is_called_so():
    assert study_caption("coupling-effect", coupling(0.001)).count("a plain ridge does as well") == 2
    assert study_caption("coupling-effect", coupling(0.03)).count("adds to a plain ridge") == 2
    assert "1 of 1 data set (mean +0.020)" in study_caption("coupling-effect", coupling(0.0))


def test_convergence_names_the_stop_and_the_fall():
    line = {"alpha": 1.0, "stop": 2, "lowest": -3e7, "curvature": -1.3, "unbounded": True}
    text = study_caption(
        "convergence", {"toy": {"note": "", "paper": [line], "ours": {"certificates": [1, 1e-6], "steps": [0, 8]}}}
    )
    assert "stops after 2 steps for alpha = 1" in text
    assert "-3e+07" in text
    assert "no minimum" in text
    assert "8 steps" in text
