"""The figures of the studies have their panels, numbers and the page's colours."""

import pandas as pd
import pytest

from mltsk.paper.experiments.results import Results
from mltsk.paper.experiments.studies import STUDIES
from mltsk.paper.report.experiment import study_pictures
from mltsk.paper.report.study_figures import study_figure


def stored(studies, datasets=()):
    """Results of a run that has nothing but studies, its data sets in this order."""
    by_name_and_dataset = {}
    for name, by_dataset in studies.items():
        for dataset, result in by_dataset.items():
            by_name_and_dataset[name, dataset] = result
    return Results(
        run={"datasets": dict.fromkeys(datasets)},
        scores=pd.DataFrame(),
        cells=pd.DataFrame(),
        studies=by_name_and_dataset,
    )


@pytest.fixture(scope="module")
def pictures(studies):
    return dict(zip(STUDIES, study_pictures(stored(studies)), strict=True))


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
def test_study_figure_has_its_panels(name, n_axes, label, studies):
    figure = study_figure(name, studies[name])
    assert len(figure.axes) == n_axes
    assert any(ax.get_xlabel() == label for ax in figure.axes)


def test_study_figure_has_a_point_for_every_arm_but_the_control(studies):
    figure = study_figure("coupling-effect", studies["coupling-effect"])
    points = []
    for ax in figure.axes[::5]:
        lines = ax.lines[:-1]  # the last marks 0
        points.append(sum(len(line.get_xdata()) for line in lines))
    n_datasets = 2
    assert points == [n_datasets * 1, n_datasets * 6, n_datasets * 4]


def test_study_figure_draws_the_numbers_of_the_study(studies):
    figure = study_figure("rules", studies["rules"])
    means = studies["rules"]["toy"]["paper"]["mean"]
    assert list(figure.axes[0].lines[0].get_ydata()) == [mean[0] for mean in means]


@pytest.mark.parametrize("name", STUDIES)
def test_study_pictures_show_text_as_text_in_the_colours_of_the_page(name, pictures):
    svg = pictures[name].inline
    assert svg.startswith("<svg")
    assert "<b>" not in svg
    assert "var(--ink)" in svg
    assert "mathdefault" not in svg


def test_study_pictures_show_names_of_data_sets_as_they_are(pictures):
    assert "cost $x_1$ &lt;b&gt;" in pictures["rules"].inline


@pytest.mark.parametrize("name", STUDIES)
def test_study_pictures_are_files_that_stand_alone_on_white(name, pictures):
    assert pictures[name].png.startswith(b"\x89PNG")
    assert b"#ffffff" in pictures[name].svg
    assert b"var(--" not in pictures[name].svg


def test_study_pictures_follow_the_paper_and_the_run_and_leave_out_the_rest(studies):
    some_studies = {
        "rules": studies["rules"],
        "label-correlation": {"toy": studies["label-correlation"]["toy"]},
    }
    results = stored(some_studies, datasets=["cost $x_1$ <b>", "toy"])
    correlation, rules = study_pictures(results)
    assert correlation.title.startswith("Fig. 3, 4: ")
    assert rules.title.startswith("Fig. 6: ")
    assert "Used for cost $x_1$ <b>, toy: all rows, 2 of 5 folds" in rules.caption
