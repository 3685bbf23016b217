"""Figures: they draw what the views say, stay small for large models, and leave names and global state alone."""

import sys

import numpy as np
import pytest

from mltsk import MLTSKClassifier, evaluate, from_dict, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import plot

matplotlib = pytest.importorskip("matplotlib")


def drawn(figure, tmp_path):
    """Everything written in a figure that has been rendered."""
    figure.savefig(tmp_path / "figure.png", dpi=30)
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


@pytest.mark.parametrize("scale", ["quantile", "standard"])
def test_shapes_are_small_curves_with_the_data_under_them(make_system, scale, tmp_path):
    figure = plot.shapes(make_system(scale), "gout", "asthma", top=3)
    assert len(figure.axes) == 6
    assert "gout by age" in drawn(figure, tmp_path)
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [2, 101, 19]


def test_shapes_of_named_values_are_bars(make_system, tmp_path):
    figure = plot.shapes(make_system(), "gout", top=4)
    assert sorted(len(ax.patches) for ax in figure.axes) == [0, 0, 0, 2]


def test_shapes_choose_four_labels_and_may_be_none(make_system, tmp_path):
    labels = tuple("abcdef")
    assert len(plot.shapes(make_system(labels=labels), top=2).axes) == 8
    assert "no general rule" in drawn(
        plot.shapes(make_system("minmax", order=1, general=False)), tmp_path
    )


def test_the_rule_map_numbers_every_rule(make_system, X, tmp_path):
    figure = plot.rule_map(make_system(K=5), X)
    assert all(f"rule {k}" in drawn(figure, tmp_path) for k in range(1, 6))


@pytest.mark.parametrize("K", [1, 2])
def test_few_rules_have_a_map_too(make_system, K, tmp_path):
    assert f"{K} rules" in drawn(plot.rule_map(make_system(K=K)), tmp_path)


def test_names_stay_text(make_system, tmp_path):
    system = make_system("standard", labels=("$a_1$", "<b>", "c"))
    assert "$a_1$" in drawn(plot.feature_importance(system), tmp_path)
    assert "<b>" in drawn(plot.label_correlation(system), tmp_path)


def test_large_models_show_their_top(make_system, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 300))
    names = [f"feature {d}" for d in range(300)], [f"label {j}" for j in range(160)]
    system = make_system("standard", K=15, X=X, features=names[0], labels=names[1])
    importance, related = (
        plot.feature_importance(system),
        plot.label_correlation(system),
    )
    assert importance.axes[0].images[0].get_array().shape == (20, 30)
    assert related.axes[0].images[0].get_array().shape == (60, 60)
    drawn(importance, tmp_path)
    assert len(importance.axes[0].get_yticks()) == 20


def test_curves_or_a_word_that_there_are_none(make_system, tmp_path):
    system = make_system()
    system.widths[1] = np.inf
    assert "glucose" in drawn(plot.membership(system, 0, top=4), tmp_path)
    assert "Rule 2: always" in drawn(plot.membership(system, 1), tmp_path)


def test_settings_of_the_caller_are_left_alone(make_system):
    before = dict(matplotlib.rcParams)
    plot.rule_map(make_system())
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_it_says_what_to_install(make_system, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"mltsk\[report\]"):
        plot.rule_map(make_system())


def test_a_table_has_bars_for_values_and_a_mark_for_what_is_not_measured(
    table, tmp_path
):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    figure = plot.shapes(clf, "copd", top=6)
    bars = {ax.get_title(loc="left"): len(ax.patches) for ax in figure.axes}
    assert (bars["copd by smoker"], bars["copd by sex"], bars["copd by age"]) == (
        5,
        2,
        0,
    )
    assert "not measured" in drawn(figure, tmp_path)
    assert "smoker" in drawn(plot.membership(clf, 0, top=6), tmp_path)
    assert "smoker" in drawn(plot.feature_importance(clf), tmp_path)


def test_the_price_of_brevity_is_drawn_from_the_classifier_itself():
    data = make_multilabel_rules(n_samples=80, random_state=0)
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    lines = clf.plot.size_path().axes[0].get_lines()
    path = clf.size_path_
    assert [line.get_ydata().tolist() for line in lines] == [
        path["AP"].tolist(),
        path["macro_AP"].tolist(),
    ]
    assert clf.plot.shapes("label 0").axes


def test_what_a_model_is_worth_is_drawn_from_rows_that_were_left_out(tmp_path):
    data = make_multilabel_rules(n_samples=120, random_state=0)
    Y = data.Y.astype(float)
    Y[:40, 1] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(data.X, Y)
    by_label = evaluate(Y, clf.loo_scores_, per_label=True)
    assert f"label 1: AUC {by_label['AUC'][1]:.2f}" in drawn(clf.plot.roc(), tmp_path)
    assert f"label 1: AP {by_label['AP'][1]:.2f}" in drawn(
        clf.plot.precision_recall("label 1"), tmp_path
    )
    assert len(clf.plot.calibration("label 0", "label 1").axes) == 2
    assert clf.shorten(4).plot.roc("label 0").axes
    with pytest.raises(InputError, match="fitted here, not one of a file"):
        from_dict(to_dict(clf)).plot.roc()
