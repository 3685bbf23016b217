"""Commands on a model file: columns found by name, honest tables, rules in every format, pages, exports."""

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


def test_probabilities_and_labels_are_those_of_the_model(
    predicted, model, awkward, numbers, names
):
    header, values, _ = predicted(awkward)
    assert header == [
        column for name in names.labels for column in (f"probability:{name}", name)
    ]
    clf = load(model)
    scores = clf.system_.scores(numbers[:, :10])
    assert_allclose(values[:, 0::2], clf.system_.probabilities(scores), rtol=1e-4)
    assert_array_equal(values[:, 1::2], scores >= 0.5)


def test_order_and_labels_do_not_matter_and_extra_columns_are_named(
    predicted, awkward, numbers, csv_file, names
):
    _, expected, _ = predicted(awkward)
    order = [*np.random.default_rng(0).permutation(10), 0]
    names = [names.features[i] for i in order[:10]] + ["id"]
    shuffled = csv_file("new.csv", names, numbers[:, order].tolist())
    _, values, err = predicted(shuffled)
    assert_array_equal(values, expected)
    assert "has a column ('id') that the model does not use; left out" in err


def test_standard_output_is_the_default(mltsk, model, awkward):
    lines = mltsk("predict", model, awkward).out.splitlines()
    assert len(lines) == 121
    assert lines[0].startswith(
        '"probability:good, cheap","good, cheap","probability:say ""hi"""'
    )


def test_missing_columns_are_named(refused, model, tmp_path, csv_file, names):
    data = csv_file("few.csv", names.features[:9], [[0] * 9])
    assert "has no column 'n'" in refused("predict", model, data)


def test_identifiers_come_first(mltsk, clinic, patients, csv_file, refused):
    header, first, *_ = mltsk("predict", clinic, patients).out.splitlines()
    assert header == "patient,probability:gout,gout,probability:asthma,asthma"
    assert first.startswith("P000,0.")
    new = csv_file(
        "new.csv",
        ["ward", "male", "stage", "smoker", "age", "bed"],
        [["W", 1, "mild", "never", 60, 7]],
    )
    assert (
        mltsk("predict", clinic, new).out.splitlines()[0].startswith("probability:gout")
    )
    lines = mltsk("predict", clinic, new, "--id", "ward,bed").out.splitlines()
    assert (lines[0][:9], lines[1][:4]) == ("ward,bed,", "W,7,")
    assert "Column 'age' is a feature of the model" in refused(
        "predict", clinic, new, "--id", "age"
    )
    assert "Predictions have a column 'gout' of their own" in refused(
        "predict", clinic, patients, "--id", "gout"
    )


def test_names_that_a_spreadsheet_would_run_are_quoted(mltsk, csv_file, tmp_path):
    rows = [[i % 7 + 0.5, int(i % 7 > 3), f"=HYPERLINK({i})"] for i in range(40)]
    data, out = csv_file("d.csv", ["a", "=1+1", "@id"], rows), tmp_path / "m.skops"
    assert (
        mltsk(
            "fit", data, "--labels", "=1+1", "--id", "@id", "--rules", 0, "--out", out
        ).status
        == 0
    )
    header, first = mltsk("predict", out, data).out.splitlines()[:2]
    assert header == "'@id,probability:=1+1,'=1+1"
    assert first.startswith("'=HYPERLINK(0),")


def test_missing_cells_and_new_words_are_counted_in_one_note(mltsk, clinic, csv_file):
    header = ["age", "smoker", "stage", "male"]
    rows = [
        ["", "pipe", "mild", "yes"],
        [60, "pipe", "awful", "unsure"],
        ["<4", "daily", "severe", "no"],
    ]
    result = mltsk(
        "predict", clinic, csv_file("new.csv", header, rows), "--missing", "<4"
    )
    assert result.status == 0
    (note,) = [line for line in result.err.splitlines() if line.startswith("note: ")]
    assert (
        "new.csv: 2 cells are missing and 4 values were never seen (smoker: 'pipe'; stage: 'awful'; male: "
        in note
    )
    assert note.endswith(
        "they count as nothing, except where the model has a number for 'not measured'."
    )
    known = csv_file("known.csv", header, [[60, "daily", "severe", "no"]])
    assert "note" not in mltsk("predict", clinic, known).err


def test_a_new_word_counts_as_nothing(mltsk, clinic, csv_file):
    header, clf = ["age", "smoker", "stage", "male"], load(clinic)
    table = read_table(
        csv_file("new.csv", header, [[60, "pipe", "mild", "yes"]]),
        kinds=read_info(clinic).kinds,
    )
    line = mltsk(
        "predict", clinic, csv_file("new.csv", header, [[60, "pipe", "mild", "yes"]])
    ).out.splitlines()[1]
    assert line.split(",")[0::2] == [
        f"{value:.5g}" for value in clf.predict_proba(table.X)[0]
    ]


def test_text_among_numbers_is_refused_by_name(refused, clinic, csv_file, tmp_path):
    rows = csv_file(
        "new.csv", ["age", "smoker", "stage", "male"], [["6O", "daily", "mild", "yes"]]
    )
    said = refused("predict", clinic, rows, "--out", tmp_path / "p.csv")
    assert said.endswith(
        "row 1: '6O' is not a number (1 such cell): correct the file or count such cells as missing (missing=\"6O\")."
    )
    assert not (tmp_path / "p.csv").exists()


def test_a_misspelt_column_is_named_with_the_nearest_one(refused, clinic, csv_file):
    rows = csv_file(
        "new.csv", ["age", "smokre", "stage", "male"], [[60, "daily", "mild", "yes"]]
    )
    assert (
        "new has no column 'smoker' (it has 4 columns); did you mean 'smokre'?"
        in refused("predict", clinic, rows)
    )


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_typed_files_give_the_same_answers(mltsk, clinic, patients, tmp_path, ending):
    pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    frame = pd.read_csv(patients)
    (frame.to_excel if ending == "xlsx" else frame.to_parquet)(
        path := tmp_path / f"patients.{ending}", index=False
    )
    for command in ("predict", "evaluate"):
        result = mltsk(command, clinic, path)
        assert result.status == 0, result.err
        assert result.out == mltsk(command, clinic, patients).out


def test_words_of_labels_and_missing_cells_stay_with_the_model(
    mltsk, csv_file, tmp_path
):
    rows = [
        ["<4" if i % 4 == 0 else i % 7 + 0.5, "ill" if i % 7 > 3 else "well"]
        for i in range(60)
    ]
    data, out = csv_file("d.csv", ["crp", "state"], rows), tmp_path / "m.skops"
    assert (
        mltsk(
            "fit",
            data,
            "--labels",
            "state=ill",
            "--missing",
            "<4",
            "--rules",
            0,
            "--out",
            out,
        ).status
        == 0
    )
    assert (
        mltsk("predict", out, data).status == mltsk("evaluate", out, data).status == 0
    )


def test_a_model_without_names_takes_columns_by_position(
    mltsk, refused, tmp_path, csv_file
):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    path = save(MLTSKClassifier(n_rules=2).fit(data.X, data.Y), tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    assert len(mltsk("predict", path, tmp_path / "d.npz").out.splitlines()) == 61
    few = csv_file(
        "few.csv", "abcdefghij", [*data.X[:2].tolist(), ["", *data.X[2, 1:].tolist()]]
    )
    assert (
        mltsk("predict", path, few).out.splitlines()[:3]
        == mltsk("predict", path, tmp_path / "d.npz").out.splitlines()[:3]
    )
    narrow = csv_file("narrow.csv", ["a", "b"], [[1, 2]])
    assert "2 feature columns and the model was fitted on 10 without names" in refused(
        "predict", path, narrow
    )


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
    clf = MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)).fit(X, Y)
    path = save(clf, tmp_path / "m.skops")
    write_npz(tmp_path / "d.npz", data)
    assert (
        mltsk("predict", path, tmp_path / "d.npz", "--out", tmp_path / "p.csv").status
        == 0
    )
    _, values = read(tmp_path / "p.csv")
    assert_array_equal(values[:, 1::2], clf.predict(X))


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "PK\x03\x04"])
def test_a_file_that_is_no_model_is_refused(refused, awkward, tmp_path, content):
    (tmp_path / "m.skops").write_text(content)
    assert "model" in refused("predict", tmp_path / "m.skops", awkward)


def test_labels_come_first_then_both_conventions_side_by_side(mltsk, model, awkward):
    result = mltsk("evaluate", model, awkward)
    lines = result.out.splitlines()
    assert lines[0] == "awkward: 120 rows, 5 labels"
    assert lines[2].split()[:4] == ["label", "observed", "prevalence", "AP"]
    assert lines[7].split()[:2] == ["plain", "120"]
    assert lines[9].split() == ["metric", "standard", "paper", "better"]
    assert [line.split()[0] for line in lines[10:15]] == ["AP", "HL", "OE", "RL", "CV"]
    assert "this may be no estimate for others" in result.err


def test_labels_that_were_not_observed_are_left_out(mltsk, clinic, patients):
    found = json.loads(mltsk("evaluate", clinic, patients, "--json").out)
    assert {name: one["observed"] for name, one in found["per_label"].items()} == {
        "gout": 80,
        "asthma": 90,
    }
    table = read_table(patients, "gout,asthma", kinds=read_info(clinic).kinds)
    clf = load(clinic)
    scores = clf.decision_function(table.X) + clf.thresholds_
    assert found["standard"] == pytest.approx(evaluate(table.Y, scores))


def test_json_holds_what_the_library_says(mltsk, model, awkward, numbers):
    found = json.loads(mltsk("evaluate", model, awkward, "--json").out)
    clf, Y = load(model), numbers[:, 10:]
    scores = clf.system_.scores(numbers[:, :10])
    for convention in ("paper", "standard"):
        assert found[convention] == pytest.approx(
            evaluate(Y, scores, convention=convention)
        )
    one = evaluate(Y, clf.system_.probabilities(scores), per_label=True).iloc[4]
    same = ["observed", "prevalence", "AP", "AUC", "Brier"]
    assert {name: found["per_label"]["plain"][name] for name in same} == pytest.approx(
        one[same].to_dict()
    )


def test_labels_are_found_by_name_in_any_order(
    mltsk, model, awkward, numbers, csv_file, names
):
    backwards = csv_file(
        "t.csv", [*names.features, *names.labels][::-1], numbers[:, ::-1].tolist()
    )
    assert (
        mltsk("evaluate", model, backwards, "--json").out
        == mltsk("evaluate", model, awkward, "--json").out
    )


def test_labels_under_other_names_are_given(
    mltsk, model, awkward, numbers, csv_file, names
):
    renamed = csv_file(
        "t.csv", [*names.features, "l1", "l2", "l3", "l4", "l5"], numbers.tolist()
    )
    assert mltsk("evaluate", model, renamed, "--labels", 5, "--json").out == (
        mltsk("evaluate", model, awkward, "--json").out
    )


def test_a_file_without_labels_is_refused(refused, model, tmp_path, csv_file, names):
    data = csv_file("t.csv", names.features, [[0] * 10])
    assert f"has no column {names.labels[0]!r}" in refused("evaluate", model, data)


def test_another_number_of_labels_is_refused(refused, model, awkward):
    assert "has 2 label columns and the model 5" in refused(
        "evaluate", model, awkward, "--labels", 2
    )


def test_a_matlab_file_is_evaluated_too(mltsk, tmp_path):
    data, path = (
        make_multilabel_rules(n_samples=60, random_state=0),
        tmp_path / "toy.mat",
    )
    savemat(path, {"data": data.X, "target": data.Y.T})
    for preset in ("default", "paper"):
        assert (
            mltsk("fit", path, "--preset", preset, "--out", tmp_path / "m.skops").status
            == 0
        )
        assert mltsk("evaluate", tmp_path / "m.skops", path).status == 0
        assert len(mltsk("predict", tmp_path / "m.skops", path).out.splitlines()) == 61


def test_labels_that_are_no_labels_are_refused(
    refused, model, tmp_path, csv_file, names
):
    data = csv_file("t.csv", names.features + names.labels, [[0] * 10 + [3] * 5])
    assert "Label 'good, cheap' holds '3', not 0 and 1" in refused(
        "evaluate", model, data
    )


def test_a_metric_without_rows_is_null_in_json(mltsk, model, csv_file, names):
    data = csv_file(
        "empty_sets.csv", names.features + names.labels, [[0.5] * 10 + [0] * 5] * 2
    )
    found = json.loads(mltsk("evaluate", model, data, "--json").out)
    assert found["standard"]["AP"] is None  # rows without any label cannot be ranked
    assert found["standard"]["HL"] is not None


def test_a_model_of_classes_has_no_labels_to_compare(refused, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    path = save(
        MLTSKClassifier(n_rules=2).fit(data.X, data.Y[:, 0] + data.Y[:, 1]),
        tmp_path / "m.skops",
    )
    write_npz(tmp_path / "d.npz", data)
    assert "predicts one class of several" in refused(
        "evaluate", path, tmp_path / "d.npz", "--labels", 3
    )


def test_a_pipeline_is_evaluated_by_its_own_thresholds(mltsk, tmp_path):
    data = make_multilabel_rules(n_samples=60, random_state=0)
    X, Y = data.frames()
    pipe = make_pipeline(
        SimpleImputer(), MLTSKClassifier(n_rules=2, threshold="f1")
    ).fit(X, Y)
    write_npz(tmp_path / "d.npz", data)
    found = json.loads(
        mltsk(
            "evaluate", save(pipe, tmp_path / "m.skops"), tmp_path / "d.npz", "--json"
        ).out
    )
    scores = pipe.decision_function(X) + pipe[-1].thresholds_
    assert found["standard"] == pytest.approx(
        evaluate(Y, scores, predictions=pipe.predict(X))
    )


def test_columns_of_a_pipeline_are_found_by_name_or_named(
    mltsk, refused, csv_file, tmp_path
):
    data = make_multilabel_rules(n_samples=60, n_features=3, random_state=0)
    X, Y = data.frames()
    pipe = make_pipeline(SimpleImputer(), MLTSKClassifier(n_rules=2)).fit(X, Y)
    path, rows = save(pipe, tmp_path / "m.skops"), data.X[:, ::-1].tolist()
    lines = mltsk(
        "predict", path, csv_file("d.csv", ["x3", "x2", "x1"], rows)
    ).out.splitlines()
    assert lines[1].split(",")[0::2] == [
        f"{value:.5g}" for value in pipe.predict_proba(X)[0]
    ]
    misspelt = csv_file("e.csv", ["x3", "x2", "x11"], rows)
    assert "has no column 'x1' (it has 2 columns)" in refused(
        "predict", path, misspelt, "--id", "x11"
    )
    same = csv_file("f.csv", ["x3", "x2", "x1"], [[a, b, 1] for a, b, _ in rows])
    assert "Column 'x1' of f is no feature here: left out" in refused(
        "predict", path, same
    )


def test_text_names_the_callers_features_and_labels(mltsk, model, names):
    text = mltsk("rules", model, "--top", 10).out
    assert all(name in text for name in [*names.features, *names.labels])
    assert text.count("\nException ") == 3


def test_top_shortens(mltsk, model):
    assert len(mltsk("rules", model, "--top", 1).out) < len(mltsk("rules", model).out)


def test_one_label_alone(mltsk, model, names):
    text = mltsk("rules", model, "--label", names.labels[0]).out
    assert names.labels[0] in text
    assert names.labels[3] not in text


def test_json_holds_everything_unless_told(mltsk, model, names):
    rules = json.loads(mltsk("rules", model, "--format", "json").out)
    assert (rules["features"], rules["labels"], len(rules["exceptions"])) == (
        names.features,
        names.labels,
        3,
    )
    assert (
        len(rules["exceptions"][0]["conditions"])
        == len(rules["general"][0]["shapes"])
        == 10
    )
    short = json.loads(mltsk("rules", model, "--format", "json", "--top", 2).out)
    assert (
        len(short["exceptions"][0]["conditions"])
        == len(short["general"][0]["shapes"])
        == 2
    )


def test_a_long_model_is_shortened_by_its_data_alone(
    mltsk, refused, model, awkward, names
):
    said = refused("rules", model, "--statements", 3)
    assert (
        "holds no rows to shorten it by: fit it with `mltsk fit --statements 3`, or name its data with --data"
        in said
    )
    text = mltsk("rules", model, "--statements", 3, "--data", awkward).out
    assert "cover the whole model" in text
    assert all(name in text for name in names.labels)


def test_a_model_of_words_and_gaps_is_shortened_by_its_data(mltsk, clinic, patients):
    result = mltsk("rules", clinic, "--statements", 3, "--data", patients)
    assert "cover the whole model" in result.out
    assert "smoker = daily" in result.out


def test_a_short_model_is_printed_as_it_is(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert (
        mltsk("fit", awkward, "--labels", 5, "--statements", 3, "--out", out).status
        == 0
    )
    assert mltsk("rules", out, "--statements", 4).out == mltsk("rules", out).out


def test_the_papers_model_has_rules_and_cannot_be_shortened(
    mltsk, refused, awkward, tmp_path
):
    out = tmp_path / "m.skops"
    assert (
        mltsk("fit", awkward, "--labels", 5, "--preset", "paper", "--out", out).status
        == 0
    )
    assert mltsk("rules", out).out.count("governs") == 3
    assert "holds a PaperMLTSK, which cannot be shortened" in refused(
        "rules", out, "--statements", 3
    )


def test_html_is_a_page_with_every_name_escaped(mltsk, model, tmp_path):
    out = tmp_path / "rules.html"
    assert (
        mltsk("rules", model, "--format", "html", "--top", 10, "--out", out).status == 0
    )
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_markdown_to_a_file(mltsk, model, tmp_path):
    assert mltsk("rules", model, "--format", "md", "--out", tmp_path / "r.md").out == ""
    assert "### Exception 1" in (tmp_path / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "nope"], "no label called 'nope'"),
        (["--top", 0], "'--top'"),
        (["--format", "pdf"], "'--format'"),
        (["--out", "no/such/folder/r.txt"], "does not exist"),
    ],
)
def test_bad_options_are_refused(refused, model, options, says):
    assert says in refused("rules", model, *options)


def test_a_missing_model_is_refused(refused, tmp_path):
    assert "There is no model file" in refused("rules", tmp_path / "none.skops")


def data_of(path):
    page = path.read_text(encoding="utf-8")
    (found,) = re.findall(
        r'<script type="application/json" id="x-model">(.*?)</script>',
        page,
        flags=re.DOTALL,
    )
    return json.loads(found)


def test_a_page_of_the_model_alone(mltsk, model, names, tmp_path):
    result = mltsk("explore", model, "--out", tmp_path / "page.html")
    assert result.status == 0
    data = data_of(tmp_path / "page.html")
    assert (data["features"], data["labels"]) == (names.features, names.labels)
    assert data["made"]["names"][0] == "every feature at its median"
    assert "<title>awkward: rules to explore</title>" in (
        tmp_path / "page.html"
    ).read_text(encoding="utf-8")


def test_rows_are_in_the_page_with_their_labels(mltsk, model, awkward, tmp_path):
    assert (
        mltsk(
            "explore",
            model,
            "--data",
            awkward,
            "--out",
            tmp_path / "p.html",
            "--title",
            "<i>",
        ).status
        == 0
    )
    data = data_of(tmp_path / "p.html")
    assert data["rows"]["index"] is None
    assert data["rows"]["truth"] is not None
    assert set(data["correlation"]) == {"consequents", "labels"}
    assert [size["size"] for size in data["sizes"]][:3] == [
        3,
        5,
        8,
    ]  # it was fitted on these rows
    assert "<h1>&lt;i&gt;</h1>" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_rows_without_labels_are_there_too_and_found_by_identifiers(
    mltsk, model, names, csv_file, tmp_path
):
    rows = csv_file(
        "rows.csv",
        ["patient", *names.features],
        [["ann", *[0.1] * 10], ["bob", *[0.9] * 10]],
    )
    result = mltsk(
        "explore",
        model,
        "--data",
        rows,
        "--id",
        "patient",
        "--neighbours",
        "--out",
        tmp_path / "p.html",
    )
    assert result.status == 0
    data = data_of(tmp_path / "p.html")
    assert (data["rows"]["ids"], data["rows"]["truth"], data["neighbours"]) == (
        ["ann", "bob"],
        None,
        True,
    )
    assert (set(data["correlation"]), data["sizes"]) == ({"consequents"}, [])


def test_bad_input_is_one_sentence(refused, model, tmp_path):
    assert "does not exist" in refused(
        "explore", model, "--out", tmp_path / "no" / "page.html"
    )
    assert "are about rows" in refused(
        "explore", model, "--neighbours", "--out", tmp_path / "page.html"
    )
    assert "no column" in refused(
        "explore", model, "--data", "yeast", "--out", tmp_path / "page.html"
    )
    made = make_multilabel_rules(n_samples=40, random_state=0)
    other = save(MLkNN().fit(made.X, made.Y), tmp_path / "knn.skops")
    assert "holds a MLkNN, which has no rules" in refused(
        "explore", other, "--out", tmp_path / "page.html"
    )
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_compared_method_in_a_file_still_predicts(mltsk, command, csv_file, tmp_path):
    made = make_multilabel_rules(n_samples=40, random_state=0)
    path = save(MLkNN().fit(*made.frames()), tmp_path / "knn.skops")
    rows = [[*x, *y] for x, y in zip(made.X.tolist(), made.Y.tolist(), strict=True)]
    data = csv_file("rows.csv", [*made.feature_names, *made.label_names], rows)
    assert mltsk(command, path, data).status == 0


def test_a_compared_method_needs_complete_numbers(refused, csv_file, tmp_path):
    made = make_multilabel_rules(n_samples=40, random_state=0)
    path = save(MLkNN().fit(*made.frames()), tmp_path / "knn.skops")
    data = csv_file("gaps.csv", made.feature_names, [[1] * 10, [1] * 9 + [""]])
    assert "has no value in row 2 (1 such in all)" in refused(
        "predict", path, data, "--out", tmp_path / "p.csv"
    )
    assert not (tmp_path / "p.csv").exists()


def test_json_gives_the_model_back(mltsk, model, tmp_path):
    result = mltsk("export", model, "--json", tmp_path / "m.json")
    assert result.status == 0
    back = from_dict(json.loads((tmp_path / "m.json").read_text(encoding="utf-8")))
    X = np.random.default_rng(0).normal(size=(20, 10))
    assert_array_equal(back.system_.scores(X), load(model).system_.scores(X))
    assert (
        json.loads(mltsk("export", model, "--json", "-").out)["format"] == "mltsk model"
    )


@pytest.mark.parametrize("options", [[], ["--float32"]])
def test_onnx_gives_the_same_scores(mltsk, model, tmp_path, options):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert mltsk("export", model, "--onnx", tmp_path / "m.onnx", *options).status == 0
    X = np.random.default_rng(0).normal(size=(20, 10)).astype(np.float32)
    session = onnxruntime.InferenceSession((tmp_path / "m.onnx").read_bytes())
    (scores,) = session.run(["scores"], {"X": X if options else X.astype(np.float64)})
    assert_allclose(scores, load(model).system_.scores(X.astype(np.float64)), atol=1e-9)


def test_something_must_be_asked_for_and_have_a_place(refused, model, tmp_path):
    assert "--onnx FILE, --json FILE, or both" in refused("export", model)
    assert "does not exist" in refused(
        "export", model, "--json", tmp_path / "no" / "m.json"
    )
    assert "is no text" in refused("export", model, "--onnx", "-")


def test_without_the_extra_the_command_says_what_to_install(
    refused, model, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert 'pip install "mltsk[onnx]"' in refused(
        "export", model, "--onnx", tmp_path / "m.onnx", status=1
    )
