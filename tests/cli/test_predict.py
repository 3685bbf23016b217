"""``mltsk predict``: columns found by name, files with and without labels, rows by row."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, MultilabelThreshold
from mltsk.datasets import make_multilabel_rules, read_csv, write_npz
from mltsk.io import load, save


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


@pytest.fixture
def predicted(mltsk, model, tmp_path):
    def run(data):
        result = mltsk("predict", model, data, "--out", tmp_path / "p.csv")
        assert result.status == 0, result.err
        return (*read(tmp_path / "p.csv"), result.err)

    return run


def test_probabilities_and_labels_are_those_of_the_model(predicted, model, awkward, names):
    header, values, _ = predicted(awkward)
    assert header == [column for name in names.labels for column in (f"probability:{name}", name)]
    clf = load(model)
    X = read_csv(awkward).values[:, :10]
    scores = clf.system_.scores(X)
    assert_allclose(values[:, 0::2], clf.system_.probabilities(scores), rtol=1e-4)
    assert_array_equal(values[:, 1::2], scores >= 0.5)


def test_order_and_labels_do_not_matter_and_extra_columns_are_named(predicted, awkward, tmp_path, csv_file, names):
    _, expected, _ = predicted(awkward)
    table = read_csv(awkward)
    order = [*np.random.default_rng(0).permutation(10), 0]
    names = [names.features[i] for i in order[:10]] + ["id"]
    shuffled = csv_file("new.csv", names, table.values[:, order].tolist())
    _, values, err = predicted(shuffled)
    assert_array_equal(values, expected)
    assert "has a column ('id') that the model does not know; left out" in err


def test_standard_output_is_the_default(mltsk, model, awkward):
    lines = mltsk("predict", model, awkward).out.splitlines()
    assert len(lines) == 121
    assert lines[0].startswith('"probability:good, cheap","good, cheap","probability:say ""hi"""')


def test_missing_columns_are_named(refused, model, tmp_path, csv_file, names):
    data = csv_file("few.csv", names.features[:9], [[0] * 9])
    assert "has no column 'n'" in refused("predict", model, data)


def test_an_unknown_category_is_named(mltsk, refused, tmp_path, csv_file):
    rows = [[i % 7, "red" if i % 2 else "blue", i % 2, (i // 2) % 2] for i in range(30)]
    data = csv_file("c.csv", ["n", "colour", "p", "q"], rows)
    assert mltsk("fit", data, "--labels", 2, "--rules", 2, "--out", tmp_path / "m.skops").status == 0
    one = csv_file("red.csv", ["colour", "n"], [["red", 3]])
    whole = mltsk("predict", tmp_path / "m.skops", data).out.splitlines()
    assert mltsk("predict", tmp_path / "m.skops", one).out.splitlines()[1] == whole[1 + 3]  # the row of red and 3
    other = csv_file("green.csv", ["colour", "n"], [["green", 3]])
    assert "holds 'green' in row 1" in refused("predict", tmp_path / "m.skops", other)


def test_a_model_without_names_takes_columns_by_position(mltsk, refused, tmp_path, csv_file):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    path = save(MLTSKClassifier(n_rules=2).fit(data.X, data.Y), tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    assert len(mltsk("predict", path, tmp_path / "d.npz").out.splitlines()) == 61
    narrow = csv_file("narrow.csv", ["a", "b"], [[1, 2]])
    assert "2 feature columns and the model was fitted on 10 without names" in refused("predict", path, narrow)


def test_a_model_of_classes_predicts_the_class(mltsk, tmp_path):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    kinds = np.array(["cat", "dog", "eel"])[data.Y[:, 0].astype(int) + data.Y[:, 1]]
    path = save(MLTSKClassifier(n_rules=2).fit(data.X, kinds), tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    header, first, *_ = mltsk("predict", path, tmp_path / "d.npz").out.splitlines()
    assert header == "probability:cat,probability:dog,probability:eel,prediction"
    assert first.rsplit(",", 1)[1] in {"cat", "dog", "eel"}


def test_tuned_thresholds_are_used(mltsk, tmp_path):
    data = make_multilabel_rules(n_samples=80, random_state=0)
    X, Y = data.frames()
    clf = MultilabelThreshold(MLTSKClassifier(n_rules=2), cv=2).fit(X, Y)
    path = save(clf, tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    assert mltsk("predict", path, tmp_path / "d.npz", "--out", tmp_path / "p.csv").status == 0
    _, values = read(tmp_path / "p.csv")
    assert_array_equal(values[:, 1::2], clf.predict(X))


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "PK\x03\x04"])
def test_a_file_that_is_no_model_is_refused(refused, awkward, tmp_path, content):
    (tmp_path / "m.skops").write_text(content)
    assert "model" in refused("predict", tmp_path / "m.skops", awkward)


def test_nothing_is_written_when_data_are_bad(refused, model, tmp_path, csv_file, names):
    data = csv_file("gaps.csv", names.features, [[1] * 10, [1] * 9 + [""]])
    assert "Column 'n' of" in refused("predict", model, data, "--out", tmp_path / "p.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gaps.csv"]
