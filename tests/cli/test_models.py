"""Commands on a model file: predict, evaluate, rules, explore and export."""

import csv
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from mltsk import MLTSKClassifier, from_dict, read_table
from mltsk.datasets import make_multilabel_rules, write_npz
from mltsk.io import load, read_info, save
from mltsk.metrics import evaluate
from mltsk.paper.methods import MLkNN

CLINIC_FEATURES = ["age", "smoker", "stage", "male"]


def read_predictions(path):
    """Header and numbers of a CSV file of predictions."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def probabilities(line):
    """The probabilities in a line of predictions."""
    return line.split(",")[0::2]


def digits(values):
    """Numbers as predictions have them."""
    return [f"{value:.5g}" for value in values]


@pytest.fixture
def toy():
    """A data set of 60 samples."""
    return make_multilabel_rules(n_samples=60, random_state=0)


@pytest.fixture
def toy_file(toy, tmp_path):
    """The toy as a file."""
    write_npz(tmp_path / "toy.npz", toy)
    return tmp_path / "toy.npz"


@pytest.fixture
def predicted(succeeds, model, tmp_path):
    """Header, numbers and notes of the predictions for a file."""

    def run(data):
        result = succeeds("predict", model, data, "--out", tmp_path / "p.csv")
        return (*read_predictions(tmp_path / "p.csv"), result.err)

    return run


# predict ------------------------------------------------------------------------------


def test_predict_writes_probabilities_and_labels_of_the_model(
    predicted, model, awkward, numbers, names
):
    header, values, _ = predicted(awkward)
    expected = []
    for name in names.labels:
        expected += [f"probability:{name}", name]
    assert header == expected
    system = load(model).system_
    scores = system.scores(numbers[:, :10])
    assert_allclose(values[:, 0::2], system.probabilities(scores), rtol=1e-4)
    assert_array_equal(values[:, 1::2], scores >= system.thresholds)


def test_predict_finds_columns_by_name_and_names_those_it_does_not_use(
    predicted, awkward, numbers, csv_file, names
):
    _, expected, _ = predicted(awkward)
    order = np.random.default_rng(0).permutation(10)
    header = [names.features[i] for i in order]
    rows = numbers[:, [*order, 0]].tolist()
    _, values, err = predicted(csv_file("new.csv", [*header, "id"], rows))
    assert_array_equal(values, expected)
    assert "has a column ('id') that the model does not use; left out" in err


def test_predict_writes_to_standard_output_by_default(succeeds, model, awkward):
    lines = succeeds("predict", model, awkward).out.splitlines()
    assert len(lines) == 121
    first = '"probability:good, cheap","good, cheap","probability:say ""hi"""'
    assert lines[0].startswith(first)


def test_predict_names_missing_columns(refused, model, csv_file, names):
    data = csv_file("few.csv", names.features[:9], [[0] * 9])
    assert "has no column 'n'" in refused("predict", model, data)


def test_predict_puts_identifiers_first(succeeds, clinic, patients):
    header, first, *_ = succeeds("predict", clinic, patients).out.splitlines()
    assert header == "patient,probability:gout,gout,probability:asthma,asthma"
    assert first.startswith("P000,0.")


def test_predict_takes_other_identifiers_but_no_features_or_labels(
    succeeds, refused, clinic, patients, csv_file
):
    header = ["ward", "male", "stage", "smoker", "age", "bed"]
    new = csv_file("new.csv", header, [["W", 1, "mild", "never", 60, 7]])
    lines = succeeds("predict", clinic, new).out.splitlines()
    assert lines[0].startswith("probability:gout")
    lines = succeeds("predict", clinic, new, "--id ward,bed").out.splitlines()
    assert lines[0].startswith("ward,bed,")
    assert lines[1].startswith("W,7,")
    sentence = refused("predict", clinic, new, "--id age")
    assert "Column 'age' is a feature of the model" in sentence
    sentence = refused("predict", clinic, patients, "--id gout")
    assert "Predictions have a column 'gout' of their own" in sentence


def test_predict_quotes_names_that_a_spreadsheet_would_run(
    succeeds, csv_file, tmp_path
):
    rows = [[i % 7 + 0.5, int(i % 7 > 3), f"=HYPERLINK({i})"] for i in range(40)]
    data = csv_file("d.csv", ["a", "=1+1", "@id"], rows)
    out = tmp_path / "m.skops"
    succeeds("fit", data, "--labels =1+1 --id @id --rules 0 --out", out)
    header, first, *_ = succeeds("predict", out, data).out.splitlines()
    assert header == "'@id,probability:=1+1,'=1+1"
    assert first.startswith("'=HYPERLINK(0),")


def test_predict_counts_missing_cells_and_new_words_in_one_note(
    succeeds, clinic, csv_file
):
    rows = [
        ["", "pipe", "mild", "yes"],
        [60, "pipe", "awful", "unsure"],
        ["<4", "daily", "severe", "no"],
    ]
    new = csv_file("new.csv", CLINIC_FEATURES, rows)
    err = succeeds("predict", clinic, new, "--missing '<4'").err
    (note,) = [line for line in err.splitlines() if line.startswith("note: ")]
    counts = "new.csv: 2 cells are missing and 4 values were never seen"
    assert f"{counts} (smoker: 'pipe'; stage: 'awful'; male: " in note
    assert note.endswith(
        "they count as nothing, except where the model has a number for 'not measured'."
    )


def test_predict_has_no_note_where_nothing_is_missing_or_new(
    succeeds, clinic, csv_file
):
    seen = csv_file("seen.csv", CLINIC_FEATURES, [[60, "daily", "severe", "no"]])
    assert "note" not in succeeds("predict", clinic, seen).err


def test_predict_counts_a_new_word_as_nothing(succeeds, clinic, csv_file):
    new = csv_file("new.csv", CLINIC_FEATURES, [[60, "pipe", "mild", "yes"]])
    table = read_table(new, kinds=read_info(clinic).kinds)
    _, line = succeeds("predict", clinic, new).out.splitlines()
    assert probabilities(line) == digits(load(clinic).predict_proba(table.X)[0])


def test_predict_refuses_text_among_numbers_by_name(
    refused, clinic, csv_file, tmp_path
):
    new = csv_file("new.csv", CLINIC_FEATURES, [["6O", "daily", "mild", "yes"]])
    sentence = refused("predict", clinic, new, "--out", tmp_path / "p.csv")
    assert sentence.endswith(
        "row 1: '6O' is not a number (1 such cell): correct the file or count such "
        'cells as missing (--missing "6O").'
    )
    assert not (tmp_path / "p.csv").exists()


def test_predict_names_the_nearest_column_for_a_misspelt_one(refused, clinic, csv_file):
    header = ["age", "smokre", "stage", "male"]
    new = csv_file("new.csv", header, [[60, "daily", "mild", "yes"]])
    sentence = "new has no column 'smoker' (it has 4 columns); did you mean 'smokre'?"
    assert sentence in refused("predict", clinic, new)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_predict_and_evaluate_give_the_same_answers_for_typed_files(
    succeeds, clinic, patients, tmp_path, command, ending
):
    pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    path = tmp_path / f"patients.{ending}"
    frame = pd.read_csv(patients)
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    expected = succeeds(command, clinic, patients).out
    assert succeeds(command, clinic, path).out == expected


def test_predict_and_evaluate_know_the_words_of_labels_and_missing_cells(
    succeeds, csv_file, tmp_path
):
    rows = []
    for i in range(60):
        crp = "<4" if i % 4 == 0 else i % 7 + 0.5
        rows.append([crp, "ill" if i % 7 > 3 else "well"])
    data = csv_file("d.csv", ["crp", "state"], rows)
    out = tmp_path / "m.skops"
    options = "--labels state=ill --missing '<4' --rules 0 --out"
    succeeds("fit", data, options, out)
    succeeds("predict", out, data)
    succeeds("evaluate", out, data)


def test_predict_takes_columns_by_position_if_the_model_has_no_names(
    succeeds, refused, toy, toy_file, csv_file, tmp_path
):
    path = save(MLTSKClassifier(n_rules=2).fit(toy.X, toy.Y), tmp_path / "m.skops")
    lines = succeeds("predict", path, toy_file).out.splitlines()
    assert len(lines) == 61
    rows = [*toy.X[:2].tolist(), ["", *toy.X[2, 1:].tolist()]]
    few = csv_file("few.csv", "abcdefghij", rows)
    assert succeeds("predict", path, few).out.splitlines()[:3] == lines[:3]
    narrow = csv_file("narrow.csv", ["a", "b"], [[1, 2]])
    sentence = "2 feature columns and the model was fitted on 10 without names"
    assert sentence in refused("predict", path, narrow)


def test_predict_writes_the_class_for_a_model_of_classes(
    succeeds, toy, toy_file, tmp_path
):
    n_labels = toy.Y[:, 0].astype(int) + toy.Y[:, 1]
    animals = np.array(["cat", "dog", "eel"])[n_labels]
    path = save(MLTSKClassifier(n_rules=2).fit(toy.X, animals), tmp_path / "m.skops")
    header, first, *_ = succeeds("predict", path, toy_file).out.splitlines()
    assert header == "probability:cat,probability:dog,probability:eel,prediction"
    assert first.split(",")[-1] in {"cat", "dog", "eel"}


def test_predict_uses_tuned_thresholds(succeeds, toy, toy_file, tmp_path):
    X, Y = toy.frames()
    clf = MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)).fit(X, Y)
    path = save(clf, tmp_path / "m.skops")
    succeeds("predict", path, toy_file, "--out", tmp_path / "p.csv")
    _, values = read_predictions(tmp_path / "p.csv")
    assert_array_equal(values[:, 1::2], clf.predict(X))


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "PK\x03\x04"])
def test_predict_refuses_a_file_that_is_no_model(refused, awkward, tmp_path, content):
    path = tmp_path / "m.skops"
    path.write_text(content)
    assert "model" in refused("predict", path, awkward)


def test_predict_finds_the_columns_of_a_pipeline_by_name(succeeds, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, n_features=3, random_state=0)
    X, Y = data.frames()
    pipe = make_pipeline(SimpleImputer(), MLTSKClassifier(n_rules=2)).fit(X, Y)
    path = save(pipe, tmp_path / "m.skops")
    new = csv_file("d.csv", ["x3", "x2", "x1"], data.X[:, ::-1].tolist())
    _, first, *_ = succeeds("predict", path, new).out.splitlines()
    assert probabilities(first) == digits(pipe.predict_proba(X)[0])


def test_predict_names_columns_that_a_pipeline_misses(refused, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, n_features=3, random_state=0)
    pipe = make_pipeline(SimpleImputer(), MLTSKClassifier(n_rules=2))
    path = save(pipe.fit(*data.frames()), tmp_path / "m.skops")
    rows = data.X[:, ::-1].tolist()
    misspelt = csv_file("e.csv", ["x3", "x2", "x11"], rows)
    sentence = refused("predict", path, misspelt, "--id x11")
    assert "has no column 'x1' (it has 2 columns)" in sentence
    constant = [[x3, x2, 1] for x3, x2, _ in rows]
    same = csv_file("f.csv", ["x3", "x2", "x1"], constant)
    sentence = refused("predict", path, same)
    assert "Column 'x1' of f is no feature here: left out" in sentence


# evaluate -----------------------------------------------------------------------------


def test_evaluate_prints_labels_first_then_the_convention_that_was_asked_for(
    succeeds, model, awkward
):
    plain = succeeds("evaluate", model, awkward).out
    assert "convention" not in plain
    assert not {"OE", "RL", "CV"} & set(plain.split())
    assert max(map(len, plain.splitlines())) <= 80
    result = succeeds("evaluate", model, awkward, "--convention paper")
    assert result.out.startswith(plain)
    lines = [line.split() for line in result.out.splitlines()]
    assert result.out.splitlines()[0] == "awkward: 120 rows, 5 labels"
    assert lines[2][:4] == ["label", "observed", "prevalence", "AP"]
    assert lines[7][:2] == ["plain", "120"]
    assert lines[10][:3] == ["Over", "all", "labels,"]
    start = lines.index(["convention:", "paper"])
    ranked = [line[0] for line in lines[start + 2 : start + 7]]
    assert ranked == ["AP", "HL", "OE", "RL", "CV"]
    assert "it may predict others less well" in result.err


def test_evaluate_leaves_out_labels_that_were_not_observed(succeeds, clinic, patients):
    metrics = json.loads(succeeds("evaluate", clinic, patients, "--json").out)
    by_label = metrics["per_label"]
    assert by_label["gout"]["observed"] == 80
    assert by_label["asthma"]["observed"] == 90
    table = read_table(patients, "gout,asthma", kinds=read_info(clinic).kinds)
    clf = load(clinic)
    scores = clf.decision_function(table.X) + clf.system_.thresholds
    expected = evaluate(table.Y, scores, predictions=clf.predict(table.X))
    assert metrics["standard"] == pytest.approx(expected)


def test_evaluate_prints_in_json_what_the_library_says(
    succeeds, model, awkward, numbers
):
    metrics = json.loads(succeeds("evaluate", model, awkward, "--json").out)
    Y = numbers[:, 10:]
    system = load(model).system_
    scores = system.scores(numbers[:, :10])
    given = scores >= system.thresholds
    for convention in ("paper", "standard"):
        expected = evaluate(Y, scores, convention=convention, predictions=given)
        assert metrics[convention] == pytest.approx(expected)
    plain = evaluate(Y, system.probabilities(scores), per_label=True).iloc[4]
    for name in ("observed", "prevalence", "AP", "AUC", "Brier"):
        assert metrics["per_label"]["plain"][name] == pytest.approx(plain[name])


def test_evaluate_finds_labels_by_name_in_any_order(
    succeeds, model, awkward, numbers, csv_file, names
):
    header = [*names.features, *names.labels][::-1]
    backwards = csv_file("t.csv", header, numbers[:, ::-1].tolist())
    expected = succeeds("evaluate", model, awkward, "--json").out
    assert succeeds("evaluate", model, backwards, "--json").out == expected


def test_evaluate_takes_labels_under_other_names(
    succeeds, model, awkward, numbers, csv_file, names
):
    renamed = csv_file("t.csv", [*names.features, *"pqrst"], numbers.tolist())
    expected = succeeds("evaluate", model, awkward, "--json").out
    assert succeeds("evaluate", model, renamed, "--labels 5 --json").out == expected


def test_evaluate_refuses_a_file_without_labels(refused, model, csv_file, names):
    data = csv_file("t.csv", names.features, [[0] * 10])
    assert f"has no column {names.labels[0]!r}" in refused("evaluate", model, data)


def test_evaluate_refuses_another_number_of_labels(refused, model, awkward):
    sentence = refused("evaluate", model, awkward, "--labels 2")
    assert "has 2 label columns and the model 5" in sentence


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_evaluate_and_predict_read_a_matlab_file(succeeds, toy, tmp_path, preset):
    path = tmp_path / "toy.mat"
    savemat(path, {"data": toy.X, "target": toy.Y.T})
    out = tmp_path / "m.skops"
    succeeds("fit", path, f"--preset {preset} --out", out)
    succeeds("evaluate", out, path)
    assert len(succeeds("predict", out, path).out.splitlines()) == 61


def test_evaluate_reads_a_sparse_file(succeeds, tmp_path):
    data = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)
    path = tmp_path / "words.npz"
    write_npz(path, data)
    out = tmp_path / "m.skops"
    succeeds("fit", path, "--rules 2 --out", out)
    assert succeeds("evaluate", out, path).out.startswith("words: 80 rows, 5 labels\n")


def test_evaluate_refuses_labels_that_are_neither_0_nor_1(
    refused, model, csv_file, names
):
    data = csv_file("t.csv", names.features + names.labels, [[0] * 10 + [3] * 5])
    sentence = refused("evaluate", model, data)
    assert "Label 'good, cheap' holds '3', not 0 and 1" in sentence


def test_evaluate_prints_null_for_a_metric_without_rows(
    succeeds, model, csv_file, names
):
    rows = [[0.5] * 10 + [0] * 5] * 2
    data = csv_file("empty_sets.csv", names.features + names.labels, rows)
    metrics = json.loads(succeeds("evaluate", model, data, "--json").out)
    assert metrics["standard"]["AP"] is None  # rows without any label have no ranking
    assert metrics["standard"]["HL"] is not None


def test_evaluate_refuses_a_model_of_classes(refused, toy, toy_file, tmp_path):
    clf = MLTSKClassifier(n_rules=2).fit(toy.X, toy.Y[:, 0] + toy.Y[:, 1])
    path = save(clf, tmp_path / "m.skops")
    sentence = refused("evaluate", path, toy_file, "--labels 3")
    assert "predicts one class of several" in sentence


def test_evaluate_uses_the_thresholds_of_a_pipeline(succeeds, toy, toy_file, tmp_path):
    X, Y = toy.frames()
    clf = MLTSKClassifier(n_rules=2, threshold="f1")
    pipe = make_pipeline(SimpleImputer(), clf).fit(X, Y)
    path = save(pipe, tmp_path / "m.skops")
    metrics = json.loads(succeeds("evaluate", path, toy_file, "--json").out)
    scores = pipe.decision_function(X) + pipe[-1].system_.thresholds
    expected = evaluate(Y, scores, predictions=pipe.predict(X))
    assert metrics["standard"] == pytest.approx(expected)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_predict_and_evaluate_take_a_compared_method(
    succeeds, toy, toy_file, tmp_path, command
):
    path = save(MLkNN().fit(*toy.frames()), tmp_path / "knn.skops")
    succeeds(command, path, toy_file)


def test_predict_with_a_compared_method_needs_complete_numbers(
    refused, toy, csv_file, tmp_path
):
    path = save(MLkNN().fit(*toy.frames()), tmp_path / "knn.skops")
    data = csv_file("gaps.csv", toy.feature_names, [[1] * 10, [1] * 9 + [""]])
    sentence = refused("predict", path, data, "--out", tmp_path / "p.csv")
    assert "has no value in row 2 (1 such in all)" in sentence
    assert not (tmp_path / "p.csv").exists()


# rules --------------------------------------------------------------------------------


def test_rules_names_the_callers_features_and_labels(succeeds, model, names):
    text = succeeds("rules", model, "--top 10").out
    assert all(name in text for name in [*names.features, *names.labels])
    assert text.count("\nException ") == 3


def test_rules_shows_less_with_top(succeeds, model):
    shorter = succeeds("rules", model, "--top 1").out
    assert len(shorter) < len(succeeds("rules", model).out)


def test_rules_shows_one_label_alone(succeeds, model, names):
    text = succeeds("rules", model, f"--label '{names.labels[0]}'").out
    assert names.labels[0] in text
    assert names.labels[3] not in text


def test_rules_tells_about_as_many_labels_as_asked_for(succeeds, model):
    text = succeeds("rules", model, "--max-labels 2").out
    assert "and 3 more labels, which for_label shows" in text


@pytest.mark.parametrize(("options", "n_shown"), [("", 10), ("--top 2", 2)])
def test_rules_holds_everything_in_json_unless_asked_for_less(
    succeeds, model, names, options, n_shown
):
    content = json.loads(succeeds("rules", model, "--format json", options).out)
    assert (content["features"], content["labels"]) == (names.features, names.labels)
    assert len(content["exceptions"]) == 3
    assert len(content["exceptions"][0]["conditions"]) == n_shown
    assert len(content["general"][0]["shapes"]) == n_shown


def test_rules_shortens_a_long_model_by_its_data_alone(
    succeeds, refused, model, awkward, names
):
    assert (
        "statements per label and holds no rows to shorten it by: fit it with `mltsk "
        "fit --statements 3`, or name its data with --data"
    ) in refused("rules", model, "--statements 3")
    text = succeeds("rules", model, "--statements 3 --data", awkward).out
    assert "cover the whole model" in text
    assert all(name in text for name in names.labels)


def test_rules_shortens_a_model_of_words_and_gaps(succeeds, clinic, patients):
    text = succeeds("rules", clinic, "--statements 3 --data", patients).out
    assert "cover the whole model" in text
    assert "smoker = daily" in text


def test_rules_prints_a_short_model_as_it_is(succeeds, awkward, tmp_path):
    out = tmp_path / "m.skops"
    succeeds("fit", awkward, "--labels 5 --statements 3 --out", out)
    text = succeeds("rules", out).out
    assert succeeds("rules", out, "--statements 4").out == text


def test_rules_prints_the_papers_model_and_does_not_shorten_it(
    succeeds, refused, awkward, tmp_path
):
    out = tmp_path / "m.skops"
    succeeds("fit", awkward, "--labels 5 --preset paper --out", out)
    text = succeeds("rules", out).out
    assert text.count("governs") == 3
    assert text.count(" is Gauss(") >= 3
    assert "above about" not in text
    assert "begin{align*}" in succeeds("rules", out, "--format latex").out
    sentence = refused("rules", out, "--statements 3")
    assert "holds a PaperMLTSK, which cannot be shortened" in sentence


def test_rules_writes_a_page_with_every_name_escaped(succeeds, model, tmp_path):
    out = tmp_path / "rules.html"
    succeeds("rules", model, "--format html --top 10 --out", out)
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_rules_writes_markdown_to_a_file(succeeds, model, tmp_path):
    out = tmp_path / "r.md"
    assert succeeds("rules", model, "--format md --out", out).out == ""
    assert "### Exception 1" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--label nope", "no label called 'nope'"),
        ("--top 0", "'--top'"),
        ("--format pdf", "'--format'"),
        ("--out no/such/folder/r.txt", "does not exist"),
    ],
)
def test_rules_refuses_bad_options(refused, model, options, sentence):
    assert sentence in refused("rules", model, options)


def test_rules_refuses_a_missing_model(refused, tmp_path):
    assert "There is no model file" in refused("rules", tmp_path / "none.skops")


# explore ------------------------------------------------------------------------------


def data_of_page(path):
    """The data inside a page."""
    tag = '<script type="application/json" id="x-model">(.*?)</script>'
    page = path.read_text(encoding="utf-8")
    (content,) = re.findall(tag, page, flags=re.DOTALL)
    return json.loads(content)


def test_explore_writes_a_page_of_the_model_alone(succeeds, model, names, tmp_path):
    out = tmp_path / "page.html"
    succeeds("explore", model, "--out", out)
    data = data_of_page(out)
    assert (data["features"], data["labels"]) == (names.features, names.labels)
    assert data["made"]["names"][0] == "every feature at its median"
    title = "<title>awkward: rules to explore</title>"
    assert title in out.read_text(encoding="utf-8")


def test_explore_has_as_many_labels_as_asked_for(succeeds, model, names, tmp_path):
    out = tmp_path / "page.html"
    succeeds("explore", model, "--max-labels 2 --out", out)
    labels = data_of_page(out)["labels"]
    assert len(labels) == 2
    assert set(labels) < set(names.labels)
    assert "Of 5 labels, this page shows the 2" in out.read_text(encoding="utf-8")


def test_explore_puts_samples_with_their_labels_into_the_page(
    succeeds, model, awkward, tmp_path
):
    out = tmp_path / "p.html"
    succeeds("explore", model, "--data", awkward, "--title '<i>' --out", out)
    data = data_of_page(out)
    assert data["rows"]["index"] is None
    assert data["rows"]["truth"] is not None
    assert set(data["correlation"]) == {"consequents", "labels"}
    # the model was fitted on these rows, so the page has shorter ones
    sizes = [size["size"] for size in data["sizes"]]
    assert sizes[:3] == [3, 5, 8]
    assert "<h1>&lt;i&gt;</h1>" in out.read_text(encoding="utf-8")


def test_explore_takes_samples_without_labels_and_finds_them_by_identifiers(
    succeeds, model, names, csv_file, tmp_path
):
    rows = [["ann", *[0.1] * 10], ["bob", *[0.9] * 10]]
    data = csv_file("rows.csv", ["patient", *names.features], rows)
    out = tmp_path / "p.html"
    options = "--id patient --neighbours --out"
    succeeds("explore", model, "--data", data, options, out)
    content = data_of_page(out)
    assert content["rows"]["ids"] == ["ann", "bob"]
    assert content["rows"]["truth"] is None
    assert content["neighbours"] is True
    assert set(content["correlation"]) == {"consequents"}
    assert content["sizes"] == []


def test_explore_refuses_bad_input_with_one_sentence(refused, toy, model, tmp_path):
    out = tmp_path / "page.html"
    elsewhere = tmp_path / "no" / "page.html"
    assert "does not exist" in refused("explore", model, "--out", elsewhere)
    assert "are about rows" in refused("explore", model, "--neighbours --out", out)
    assert "no column" in refused("explore", model, "--data yeast --out", out)
    other = save(MLkNN().fit(toy.X, toy.Y), tmp_path / "knn.skops")
    sentence = refused("explore", other, "--out", out)
    assert "holds a MLkNN, which has no rules" in sentence
    assert not out.exists()


# export -------------------------------------------------------------------------------


def test_export_writes_json_that_gives_the_model_back(succeeds, model, tmp_path):
    out = tmp_path / "m.json"
    succeeds("export", model, "--json", out)
    back = from_dict(json.loads(out.read_text(encoding="utf-8")))
    X = np.random.default_rng(0).normal(size=(20, 10))
    assert_array_equal(back.system_.scores(X), load(model).system_.scores(X))


def test_export_prints_json(succeeds, model):
    content = json.loads(succeeds("export", model, "--json -").out)
    assert content["format"] == "mltsk model"


@pytest.mark.parametrize("options", ["", "--float32"])
def test_export_writes_an_onnx_graph_with_the_same_scores(
    succeeds, model, tmp_path, options
):
    onnxruntime = pytest.importorskip("onnxruntime")
    out = tmp_path / "m.onnx"
    succeeds("export", model, "--onnx", out, options)
    X = np.random.default_rng(0).normal(size=(20, 10)).astype(np.float32)
    session = onnxruntime.InferenceSession(out.read_bytes())
    samples = X if options else X.astype(np.float64)
    (scores,) = session.run(["scores"], {"X": samples})
    expected = load(model).system_.scores(X.astype(np.float64))
    assert_allclose(scores, expected, atol=1e-9)


def test_export_names_the_outputs_of_the_papers_model_which_has_no_probabilities(
    succeeds, awkward, tmp_path
):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = tmp_path / "m.skops"
    out = tmp_path / "m.onnx"
    options = "--preset paper --rules 1 --formulas text --threshold 0 --l1-weight 100"
    succeeds("fit", awkward, "--labels 5 --out", model, options)
    said = succeeds("export", model, "--onnx", out).err
    assert "outputs scores, labels\n" in said
    # All consequents are 0, and so are scores: by the text they are not above 0.
    session = onnxruntime.InferenceSession(out.read_bytes())
    n_features = load(model).n_features_in_
    labels, scores = session.run(["labels", "scores"], {"X": np.zeros((2, n_features))})
    assert (scores == 0).all()
    assert (labels == 0).all()


def test_export_needs_something_to_write_and_a_place(refused, model, tmp_path):
    assert "--onnx FILE, --json FILE, or both" in refused("export", model)
    out = tmp_path / "no" / "m.json"
    assert "does not exist" in refused("export", model, "--json", out)
    assert "An ONNX graph is not written" in refused("export", model, "--onnx -")


def test_export_says_what_to_install(refused, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    out = tmp_path / "m.onnx"
    sentence = refused("export", model, "--onnx", out, status=1)
    assert 'pip install "mltsk[onnx]"' in sentence


def test_predict_disarms_classes_that_spreadsheets_would_take_for_formulas(
    succeeds, csv_file, tmp_path
):
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] > 20, "=cmd|' /C calc'!A0", "flu")
    path = tmp_path / "classes.skops"
    save(MLTSKClassifier(0).fit(X, y), path)
    data = csv_file("rows.csv", ["x0"], [[1.0], [39.0]])
    _, low, high = succeeds("predict", path, data).out.splitlines()
    assert low.endswith(",flu")
    assert high.endswith(",'=cmd|' /C calc'!A0")


def test_evaluate_and_predict_leave_the_group_out_of_the_features(
    succeeds, refused, csv_file, tmp_path
):
    rows = [[i // 3, f"{i * 37 % 60 / 7:.3f}", int(i % 5 > 2)] for i in range(60)]
    path = csv_file("visits.csv", ["patient", "weight", "gout"], rows)
    model = tmp_path / "model.skops"
    fitted = succeeds("fit", path, "--labels gout --rules 0 --out", model)
    assert "rows of one patient are kept together" in fitted.out
    assert "does not use" not in succeeds("evaluate", model, path).err
    assert "does not use" not in succeeds("evaluate", model, path, "--group none").err
    sentence = refused("evaluate", model, path, "--group patent")
    assert "did you mean 'patient'?" in sentence
    header = succeeds("predict", model, path).out.splitlines()[0]
    assert header == "patient,probability:gout,gout"


def test_rules_shortens_on_data_with_the_groups_of_the_fit(tmp_path, succeeds):
    rng = np.random.default_rng(0)
    n_patients = 40
    people = rng.normal(size=(n_patients, 4))
    rows = np.repeat(people, 6, axis=0) + 0.05 * rng.normal(size=(6 * n_patients, 4))
    frame = pd.DataFrame(rows.round(3), columns=list("abcd"))
    frame["patient"] = np.repeat(np.arange(n_patients), 6)
    for label, column in (("gout", 0), ("flu", 1)):
        noisy = people[:, column] + rng.normal(size=n_patients)
        frame[label] = np.repeat((noisy > 0).astype(int), 6)
    data = tmp_path / "visits.csv"
    frame.to_csv(data, index=False)
    model = tmp_path / "visits.skops"
    succeeds("fit", data, "--labels gout,flu --group patient --out", model)
    text = succeeds("rules", model, "--statements 2 --data", data).out
    X, Y = frame[list("abcd")], frame[["gout", "flu"]]
    ends = []
    for groups in (None, frame["patient"]):
        short = load(model).shorten(2, X=X, y=Y, groups=groups)
        ends.append(str(short.rules_).splitlines()[-3:])
    assert text.splitlines()[-3:] == ends[1]
    assert ends[0] != ends[1]
