"""Figures draw what the views say, and leave names and global state alone."""

import sys

import numpy as np
import pytest

from mltsk import MLTSKClassifier, evaluate, from_dict, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import plot

from .conftest import drawn

matplotlib = pytest.importorskip("matplotlib")


def test_shapes_choose_four_labels_and_may_be_none(make_system, tmp_path):
    six_labels = make_system(labels=tuple("abcdef"))
    assert len(plot.shapes(six_labels, top=2).axes) == 8
    figure = plot.shapes(make_system("minmax", order=1, general=False))
    assert "no general rule" in drawn(figure, tmp_path)


def test_rule_map_numbers_every_rule(make_system, X, tmp_path):
    text = drawn(plot.rule_map(make_system(K=5), X), tmp_path)
    assert all(f"rule {k}" in text for k in range(1, 6))


@pytest.mark.parametrize("K", [1, 2])
def test_rule_map_of_few_rules(make_system, K, tmp_path):
    assert f"{K} rules" in drawn(plot.rule_map(make_system(K=K)), tmp_path)


def test_rule_map_shows_the_rules_that_govern_most(make_system, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 4))
    text = drawn(plot.rule_map(make_system(K=300, X=X)), tmp_path)
    assert "60 of 300 rules" in text
    assert "rule 300" in text
    assert "rule 240 " not in text


@pytest.fixture
def paired():
    data = make_multilabel_rules(n_samples=300, n_labels=5, random_state=0)
    return MLTSKClassifier(n_pairs=3, n_rules=0).fit(*data.frames())


def test_pair_has_a_heat_map_with_numbers_for_each_label(paired, tmp_path):
    pair = paired.pairs_[1]
    figure = paired.plot.pair(1)
    assert len(figure.axes) == 4
    label = max(pair.size, key=pair.size.get)
    heights = pair.heights(label).to_numpy()
    first = figure.axes[0]
    assert first.get_title(loc="left") == label
    np.testing.assert_array_equal(first.images[0].get_array(), heights)
    assert first.images[0].origin == "lower"
    text = drawn(figure, tmp_path)
    assert f"{pair.title}: what both together add" in text
    assert "Blue makes a label more likely" in text
    assert f"{heights.max():+.2f}" in text
    assert len(paired.plot.pair(1, "label2").axes) == 1


def test_pairs_have_a_heat_map_each_for_their_largest_label(paired, tmp_path):
    figure = paired.plot.pairs()
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.images]
    assert titles == [max(pair.size, key=pair.size.get) for pair in paired.pairs_]
    figure = paired.plot.pairs("label2", top=2)
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.images]
    assert titles == ["label2", "label2"]
    drawn(figure, tmp_path)


def test_pair_that_is_not_there_is_refused_and_pairs_may_be_none(
    paired, make_system, tmp_path
):
    with pytest.raises(InputError, match="no pair 3: they are counted from 0 to 2"):
        paired.plot.pair(3)
    with pytest.raises(InputError, match="no pair 0: there are none"):
        plot.pair(make_system(), 0)
    assert "No features act together" in drawn(plot.pairs(make_system()), tmp_path)


def test_feature_importance_and_label_correlation_keep_names_as_text(
    make_system, tmp_path
):
    system = make_system("standard", labels=("$a_1$", "<b>", "c"))
    assert "$a_1$" in drawn(plot.feature_importance(system), tmp_path)
    assert "<b>" in drawn(plot.label_correlation(system), tmp_path)


def test_feature_importance_and_label_correlation_show_the_top_of_large_models(
    make_system, tmp_path
):
    X = np.random.default_rng(0).normal(size=(40, 300))
    features = [f"feature {d}" for d in range(300)]
    labels = [f"label {j}" for j in range(160)]
    system = make_system("standard", K=15, X=X, features=features, labels=labels)
    importance = plot.feature_importance(system)
    assert importance.axes[0].images[0].get_array().shape == (20, 30)
    drawn(importance, tmp_path)
    assert len(importance.axes[0].get_yticks()) == 20
    correlation = plot.label_correlation(system)
    assert correlation.axes[0].images[0].get_array().shape == (60, 60)


def test_size_path_is_drawn_from_the_classifier_itself():
    data = make_multilabel_rules(n_samples=80, random_state=0)
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    lines = clf.plot.size_path().axes[0].get_lines()
    heights = [line.get_ydata().tolist() for line in lines]
    path = clf.size_path_
    assert heights == [path["AP"].tolist(), path["macro_AP"].tolist()]
    assert clf.plot.shapes("label 0").axes


def test_roc_precision_recall_and_calibration_are_of_rows_left_out(tmp_path):
    data = make_multilabel_rules(n_samples=120, random_state=0)
    Y = data.Y.astype(float)
    Y[:40, 1] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(data.X, Y)
    metrics = evaluate(Y, clf.loo_scores_, per_label=True)
    auc = f"label 1: AUC {metrics['AUC'][1]:.2f}"
    assert auc in drawn(clf.plot.roc(), tmp_path)
    ap = f"label 1: AP {metrics['AP'][1]:.2f}"
    assert ap in drawn(clf.plot.precision_recall("label 1"), tmp_path)
    assert len(clf.plot.calibration("label 0", "label 1").axes) == 2
    assert clf.shorten(4).plot.roc("label 0").axes
    with pytest.raises(InputError, match="fitted here, not one of a file"):
        from_dict(to_dict(clf)).plot.roc()


def test_plot_leaves_settings_of_the_caller_alone(make_system):
    before = dict(matplotlib.rcParams)
    plot.rule_map(make_system())
    assert dict(matplotlib.rcParams) == before


def test_plot_without_matplotlib_says_what_to_install(make_system, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"mltsk\[report\]"):
        plot.rule_map(make_system())
