import json
import re

import pandas as pd
import pytest

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.experiments.results import Results
from mltsk.paper.experiments.studies import STUDIES
from mltsk.paper.report import study_figures
from mltsk.paper.report.study_pages import study_parts, study_picture


@pytest.fixture(scope="module")
def results():
    """Every study of two small data sets, through JSON, as a store keeps it."""
    sets = {
        "toy": make_multilabel_rules(n_samples=60, n_features=5, random_state=0),
        "cost $x_1$ <b>": make_multilabel_rules(n_samples=60, n_features=5, n_labels=3, random_state=1),
    }
    return {
        name: {key: json.loads(json.dumps(study.function(data, grid="fast"))) for key, data in sets.items()}
        for name, study in STUDIES.items()
    }


@pytest.fixture(scope="module")
def pictures(results):
    return {name: study_picture(name, found) for name, found in results.items()}


def drawn(name, results):
    return getattr(study_figures, name.replace("-", "_"))(results[name])


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
    points = [len([line for line in ax.lines if len(line.get_xdata()) == 1]) for ax in figure.axes[::5]]
    assert points == [2 * 1, 2 * 6, 2 * 4]


def test_the_numbers_of_a_curve_are_those_of_the_study(results):
    top = drawn("rules", results).axes[0]
    assert list(top.lines[0].get_ydata()) == [row[0] for row in results["rules"]["toy"]["paper"]["mean"]]


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
    parts = study_parts(Results(run=run, scores=pd.DataFrame(), cells=pd.DataFrame(), studies=stored))
    assert [part.title[:9] for part in parts] == ["Fig. 3, 4", "Fig. 6: A"]
    assert "Used for cost $x_1$ <b>, toy: all rows, 2 of 5 folds" in parts[1].pictures[0].caption
