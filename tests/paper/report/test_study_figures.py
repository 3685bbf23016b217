"""The figures of the studies have their panels, and captions say what the numbers say."""

import json
import re

import pandas as pd
import pytest

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.experiments.results import Results
from mltsk.paper.experiments.studies import STUDIES
from mltsk.paper.report.experiment import study_pictures
from mltsk.paper.report.study_figures import study_caption, study_figure


@pytest.fixture(scope="module")
def results():
    """Every study of two small data sets, through JSON, as a store keeps it."""
    sets = {
        "toy": make_multilabel_rules(n_samples=60, n_features=5, random_state=0),
        "cost $x_1$ <b>": make_multilabel_rules(
            n_samples=60, n_features=5, n_labels=3, random_state=1
        ),
    }
    return {
        name: {
            key: json.loads(json.dumps(study.function(data, grid="fast")))
            for key, data in sets.items()
        }
        for name, study in STUDIES.items()
    }


@pytest.fixture(scope="module")
def pictures(results):
    stored = {
        (name, key): found
        for name, sets in results.items()
        for key, found in sets.items()
    }
    drawn = study_pictures(
        Results({"datasets": {}}, pd.DataFrame(), pd.DataFrame(), stored)
    )
    return dict(zip(STUDIES, drawn, strict=True))


def drawn(name, results):
    return study_figure(name, results[name])


@pytest.mark.parametrize(
    ("name", "n_axes", "label"),
    [
        ("label-correlation", 6, ""),
        ("coupling-effect", 15, ""),
        ("rules", 4, "number of rules"),
        ("sensitivity", 4, "alpha"),
        ("convergence", 6, "step"),
    ],
)
def test_a_figure_has_its_panels(name, n_axes, label, results):
    figure = drawn(name, results)
    assert len(figure.axes) == n_axes
    assert any(ax.get_xlabel() == label for ax in figure.axes)


def test_every_arm_but_the_control_has_a_point_for_every_data_set(results):
    figure = drawn("coupling-effect", results)
    points = [
        sum(len(line.get_xdata()) for line in ax.lines[:-1]) for ax in figure.axes[::5]
    ]  # the last marks 0
    assert points == [2 * 1, 2 * 6, 2 * 4]


def test_the_numbers_of_a_curve_are_those_of_the_study(results):
    top = drawn("rules", results).axes[0]
    assert list(top.lines[0].get_ydata()) == [
        row[0] for row in results["rules"]["toy"]["paper"]["mean"]
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_on_a_page_text_is_text_in_the_colours_of_the_page(name, pictures):
    svg = pictures[name].inline
    assert svg.startswith("<svg")
    assert "<b>" not in svg
    assert "var(--ink)" in svg
    assert "mathdefault" not in svg


def test_names_of_data_sets_stay_as_they_are(pictures):
    assert "cost $x_1$ &lt;b&gt;" in pictures["rules"].inline


@pytest.mark.parametrize("name", STUDIES)
def test_files_stand_alone_on_white(name, pictures):
    assert pictures[name].png.startswith(b"\x89PNG")
    assert b"#ffffff" in pictures[name].svg
    assert b"var(--" not in pictures[name].svg


@pytest.mark.parametrize("name", STUDIES)
def test_a_caption_is_sentences_without_missing_numbers(name, pictures):
    text = pictures[name].caption
    assert re.fullmatch(r"[A-Z].*\.", text)
    assert not re.search(r"\bnan\b", text)
    assert "Used for toy, cost $x_1$ <b>: " in text


def test_parts_follow_the_paper_and_the_run_and_leave_out_what_was_not_run(results):
    stored = {("rules", key): found for key, found in results["rules"].items()}
    stored |= {("label-correlation", "toy"): results["label-correlation"]["toy"]}
    run = {"datasets": {"cost $x_1$ <b>": {}, "toy": {}}}
    pictures = list(
        study_pictures(
            Results(
                run=run, scores=pd.DataFrame(), cells=pd.DataFrame(), studies=stored
            )
        )
    )
    assert [picture.title[:9] for picture in pictures] == ["Fig. 3, 4", "Fig. 6: A"]
    assert "Used for cost $x_1$ <b>, toy: all rows, 2 of 5 folds" in pictures[1].caption


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
    assert "not the coupling's doing" in study_caption(
        "label-correlation", correlations(0.95, 0.95)
    )
    assert "not the coupling's doing" not in study_caption(
        "label-correlation", correlations(0.95, 0.6)
    )


def test_disagreement_is_said():
    assert "do not agree" in study_caption(
        "label-correlation", correlations(-0.1, -0.1, positive=0)
    )


def arms(gain):
    ridge = {"mean": [0.8, 0, 0, 0, 0]}
    return {"ridge": ridge, "laplacian": {"mean": [0.8 + gain, 0, 0, 0, 0]}}


def coupling(gain):
    groups = {"A": {"mean": [0.7] * 5}, "B": {"mean": [0.72] * 5}}
    return {
        "toy": {
            "note": "",
            "groups": groups,
            "arms": {"paper": arms(gain), "ours": arms(gain)},
        }
    }


def test_a_gain_that_a_ridge_has_too_is_called_so():
    assert (
        study_caption("coupling-effect", coupling(0.001)).count(
            "a plain ridge does as well"
        )
        == 2
    )
    assert (
        study_caption("coupling-effect", coupling(0.03)).count("adds to a plain ridge")
        == 2
    )
    assert "1 of 1 data set (mean +0.020)" in study_caption(
        "coupling-effect", coupling(0.0)
    )


def test_convergence_names_the_stop_and_the_fall():
    line = {
        "alpha": 1.0,
        "stop": 2,
        "lowest": -3e7,
        "curvature": -1.3,
        "unbounded": True,
    }
    text = study_caption(
        "convergence",
        {
            "toy": {
                "note": "",
                "paper": [line],
                "ours": {"certificates": [1, 1e-6], "steps": [0, 8]},
            }
        },
    )
    assert "stops after 2 steps for alpha = 1" in text
    assert "-3e+07" in text
    assert "no minimum" in text
    assert "8 steps" in text
