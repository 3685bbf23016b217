"""``mltsk evaluate``: both conventions, labels by name or number, JSON."""

import json

import pytest

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules, read_csv, write_npz
from mltsk.io import load, save
from mltsk.metrics import evaluate


def test_both_conventions_stand_side_by_side(mltsk, model, awkward):
    result = mltsk("evaluate", model, awkward)
    lines = result.out.splitlines()
    assert lines[0] == "awkward: 120 rows, 5 labels"
    assert lines[2].split() == ["metric", "standard", "paper", "better"]
    assert [line.split()[0] for line in lines[3:8]] == ["AP", "HL", "OE", "RL", "CV"]
    assert lines[14].split()[:4] == ["label", "observed", "prevalence", "AP"]
    assert lines[-1].split()[:2] == ["plain", "120"]
    assert "this may be no estimate for others" in result.err


def test_json_holds_what_the_library_says(mltsk, model, awkward):
    found = json.loads(mltsk("evaluate", model, awkward, "--json").out)
    table, clf = read_csv(awkward), load(model)
    scores = clf.system_.scores(table.values[:, :10])
    for convention in ("paper", "standard"):
        assert found[convention] == pytest.approx(evaluate(table.values[:, 10:], scores, convention=convention))
    one = evaluate(table.values[:, 10:], clf.system_.probabilities(scores), per_label=True).iloc[4]
    same = ["observed", "prevalence", "AP", "AUC", "Brier"]
    assert {name: found["per_label"]["plain"][name] for name in same} == pytest.approx(one[same].to_dict())


def test_labels_are_found_by_name_in_any_order(mltsk, model, awkward, tmp_path, csv_file):
    table = read_csv(awkward)
    backwards = csv_file("t.csv", table.names[::-1], table.values[:, ::-1].tolist())
    assert mltsk("evaluate", model, backwards, "--json").out == mltsk("evaluate", model, awkward, "--json").out


def test_labels_under_other_names_are_given(mltsk, model, awkward, tmp_path, csv_file, names):
    table = read_csv(awkward)
    renamed = csv_file("t.csv", [*names.features, "l1", "l2", "l3", "l4", "l5"], table.values.tolist())
    assert mltsk("evaluate", model, renamed, "--labels", 5, "--json").out == (
        mltsk("evaluate", model, awkward, "--json").out
    )


def test_a_file_without_labels_is_refused(refused, model, tmp_path, csv_file, names):
    data = csv_file("t.csv", names.features, [[0] * 10])
    assert f"has no column {names.labels[0]!r}" in refused("evaluate", model, data)


def test_another_number_of_labels_is_refused(refused, model, awkward):
    assert "has 2 label columns and the model 5" in refused("evaluate", model, awkward, "--labels", 2)


def test_labels_that_are_no_labels_are_refused(refused, model, tmp_path, csv_file, names):
    data = csv_file("t.csv", names.features + names.labels, [[0] * 10 + [3] * 5])
    assert "labels are 0 and 1" in refused("evaluate", model, data)


def test_a_metric_without_rows_is_null_in_json(mltsk, model, csv_file, names):
    data = csv_file("empty_sets.csv", names.features + names.labels, [[0.5] * 10 + [0] * 5] * 2)
    found = json.loads(mltsk("evaluate", model, data, "--json").out)
    assert found["standard"]["AP"] is None  # rows without any label cannot be ranked
    assert found["standard"]["HL"] is not None


def test_a_model_of_classes_has_no_labels_to_compare(refused, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    path = save(MLTSKClassifier(n_rules=2).fit(data.X, data.Y[:, 0] + data.Y[:, 1]), tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    assert "predicts one class of several" in refused("evaluate", path, tmp_path / "d.npz", "--labels", 3)
