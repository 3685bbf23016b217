"""``mltsk fit``: options, summary, names, and input that must be refused."""

import numpy as np
import pytest

from mltsk import MLTSKClassifier, read_table
from mltsk.datasets import Dataset, catalog, make_multilabel_rules, write_npz
from mltsk.io import load, read_info
from mltsk.metrics import evaluate

LISTS = "--label-column sick --separator '|'"


@pytest.fixture
def out(tmp_path):
    """Where the model is written."""
    return tmp_path / "m.skops"


def words_of_lines(text):
    return [line.split() for line in text.splitlines()]


# the summary --------------------------------------------------------------------------


def test_fit_says_what_was_fitted_and_how_good_it_is(succeeds, awkward, out):
    options = "--labels 5 --rules 3 --order 0 --out"
    text = succeeds("fit", awkward, options, out).out
    text = " ".join(text.split())
    model = load(out)
    for words in (
        "awkward: 120 samples, 10 features, 5 labels",
        "terms; 3 exceptions of order 0 (a shift each); ",
        f"; {model.n_statements_[0]} statements per label",
        f"chose ridge {model.ridge_:.3g}, width scale {model.width_scale_:.3g}; ",
        "; mean squared error ",
        "leave-one-out: every row scored as if it had not been there",
    ):
        assert words in text


def test_fit_prints_leave_one_out_metrics_next_to_base_rates(
    succeeds, awkward, numbers, out
):
    text = succeeds("fit", awkward, "--labels 5 --out", out).out
    lines = words_of_lines(text)
    X, Y = numbers[:, :10], numbers[:, 10:]
    clf = MLTSKClassifier(threshold="f1").fit(X, Y)
    given = clf.fit_record_.given_by_folds("f1")
    by_label = evaluate(Y, clf.loo_scores_, predictions=given, per_label=True)
    metrics = ("prevalence", "AP", "AUC", "sensitivity", "precision")
    cells = [f"{by_label[name].iloc[-1]:.3f}" for name in metrics]
    assert ["plain", *cells, f"{100 * given[:, -1].mean():.0f}"] in lines
    means = [f"{by_label[name].mean():.3f}" for name in metrics[1:]]
    assert ["mean", "of", "labels", *means] in lines
    assert "AP: average precision of the ranking of rows; guessing gives" in text


def test_fit_prints_no_ranking_of_labels_and_no_line_over_80_characters(
    succeeds, awkward, out
):
    text = succeeds("fit", awkward, "--labels 5 --out", out).out
    results = text[text.index("leave-one-out: every row") :]
    assert max(map(len, results.splitlines())) <= 80
    assert not {"OE", "RL", "CV", "HL"} & set(text.split())
    assert len([line for line in results.splitlines() if " AP " in line]) == 1


def test_fit_says_which_labels_cannot_be_told_better_than_by_guessing(
    succeeds, csv_file, out
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    signal = X[:, 0] + 0.5 * rng.normal(size=200) > 0
    noise = rng.random(200) < 0.3
    rows = np.column_stack([X, signal, noise]).tolist()
    data = csv_file("two.csv", ["a", "b", "c", "signal", "noise"], rows)
    text = succeeds("fit", data, "--labels 2 --out", out).out
    assert "\nCannot be predicted better than by guessing: noise.\n" in text
    assert "almost without error" not in text


def test_fit_doubts_labels_that_are_told_almost_without_error(succeeds, csv_file, out):
    rng = np.random.default_rng(0)
    weight = rng.normal(3000, 500, size=200)
    rows = np.column_stack([weight, weight < 2500, rng.random(200) < 0.3]).tolist()
    data = csv_file("leak.csv", ["weight", "low", "noise"], rows)
    text = " ".join(succeeds("fit", data, "--labels 2 --out", out).out.split())
    assert "Predicted almost without error: low. A feature may be known only" in text


def auc_of(label, text):
    """The AUC of a label in what `mltsk fit` printed."""
    (line,) = [line for line in words_of_lines(text) if line[:1] == [label]][-1:]
    return float(line[-4])


def test_fit_leaves_rows_of_a_group_out_together_and_says_so(succeeds, csv_file, out):
    rng = np.random.default_rng(1)
    patients = np.repeat(np.arange(60), 3)
    X = rng.normal(size=(60, 3))[patients] + 0.01 * rng.normal(size=(180, 3))
    y = (rng.random(60) < 0.4)[patients]
    rows = np.column_stack([patients, X, y]).tolist()
    header = ["patient", "a", "b", "c", "ill"]
    data = csv_file("visits.csv", header, rows)
    text = succeeds("fit", data, "--labels ill --group patient --out", out).out
    assert "60 groups: rows of one patient are left out together" in text
    assert "every row scored as if its patient had not been there" in text
    assert "Cannot be predicted better than by guessing: ill." in text
    apart = succeeds("fit", data, "--labels ill --group none --drop patient --out", out)
    assert "groups" not in apart.out
    # other rows of a patient tell
    assert auc_of("ill", apart.out) > 0.9 > 0.7 > auc_of("ill", text)


def test_fit_finds_thresholds_for_f1_unless_the_user_says_otherwise(
    succeeds, awkward, out
):
    text = succeeds("fit", awkward, "--labels 5 --rules 0 --out", out).out
    assert load(out).threshold == "f1"
    assert ", by label, for the best F1\n" in text
    text = succeeds("fit", awkward, "--labels 5 --threshold 0.5 --out", out).out
    assert load(out).threshold == 0.5
    assert "from a probability of 0.5 on, as asked\n" in text


def test_fit_says_that_a_table_needs_no_exceptions(succeeds, csv_file, out):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X + rng.normal(size=X.shape) > 0).astype(int)
    rows = [[*x, *y] for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    data = csv_file("linear.csv", ["a", "b", "p", "q"], rows)
    text = succeeds("fit", data, "--labels 2 --out", out).out
    assert "no exceptions: the table needs none" in text
    assert "width scale" not in text
    text = succeeds("fit", data, "--labels 2 --rules 0 --out", out).out
    assert "no exceptions, as asked" in text


def test_fit_says_that_a_short_model_kept_no_exceptions(succeeds, awkward, out):
    text = succeeds("fit", awkward, "--labels 5 --rules 3 --statements 4 --out", out)
    assert "no exceptions: the short model kept none" in " ".join(text.out.split())
    assert "as asked" not in text.out


def test_fit_shows_the_first_of_many_labels(succeeds, tmp_path, out):
    data = make_multilabel_rules(n_samples=60, n_labels=23, random_state=0)
    write_npz(tmp_path / "many.npz", data)
    text = succeeds("fit", tmp_path / "many.npz", "--out", out).out
    assert "… and 3 more labels" in text.splitlines()


@pytest.mark.parametrize(
    ("preset", "kind"), [("default", "probability"), ("paper", "score")]
)
def test_fit_evaluate_and_predict_take_one_label_by_name(
    succeeds, awkward, out, preset, kind
):
    fit = succeeds("fit", awkward, f"--labels plain --preset {preset} --out", out)
    assert "1 label, " in fit.out
    predictions = succeeds("predict", out, awkward).out.splitlines()
    assert predictions[0] == f"{kind}:plain,plain"
    metrics = succeeds("evaluate", out, awkward).out.splitlines()
    assert metrics[3].startswith("plain")


def test_fit_prints_the_column_report_where_something_was_decided(
    succeeds, patients, awkward, out
):
    options = "--labels gout,asthma --ordinal 'stage: mild < severe' --rules 0 --out"
    text = succeeds("fit", patients, options, out).out
    title = "patients: 90 rows, 4 features, 2 labels, 1 column left out"
    assert text.startswith(f"{title}\n\ncolumn ")
    assert "patient: left out as an identifier" in text
    plain = succeeds("fit", awkward, "--labels 5 --rules 0 --out", out).out
    assert plain.startswith("data  ")


def test_fit_counts_labels_that_were_not_observed_in_no_metric(succeeds, patients, out):
    text = succeeds("fit", patients, "--labels gout,asthma --rules 0 --out", out).out
    size = "patients: 90 samples, 4 features, 2 labels"
    said = f"data {size}, 6% of their cells not observed model "
    assert said in " ".join(text.split())
    lines = words_of_lines(text)
    Y = read_table(patients, "gout,asthma").Y
    scores = load(out).loo_scores_
    gout = evaluate(Y, scores, per_label=True).loc["gout"]
    cells = [f"{gout[name]:.3f}" for name in ("prevalence", "AP")]
    assert ["gout", "80", *cells] in [line[:4] for line in lines]


def test_fit_prints_a_warning_as_one_line(succeeds, awkward, out):
    options = "--labels 5 --preset paper --width-scale 1e6 --out"
    lines = succeeds("fit", awkward, options, out).err.splitlines()
    assert any(line.startswith("note: the 3 rules hardly ") for line in lines)


# the file -----------------------------------------------------------------------------


def test_fit_leaves_no_file_if_something_fails_after_the_fit(
    refused, awkward, tmp_path, out, monkeypatch
):
    def fail(*args, **options):
        raise RuntimeError("no table")

    monkeypatch.setattr("mltsk.cli.fit.summary", fail)
    assert "no table" in refused("fit", awkward, "--labels 5 --out", out, status=1)
    assert not list(tmp_path.iterdir())


def test_fit_writes_names_and_how_it_was_fitted(model, names):
    clf = load(model)
    info = read_info(model)
    assert clf.feature_names_in_.tolist() == names.features
    assert clf.label_names_ == info.label_names == tuple(names.labels)
    assert (info.data, info.fitted["samples"]) == ("awkward", 120)
    assert info.fitted["options"] == {"n_rules": 3, "threshold": "f1"}


def test_fit_keeps_what_each_column_is(clinic):
    info = read_info(clinic)
    assert info.kinds == {
        "age": "number",
        "smoker": "nominal",
        "stage": ("mild", "severe"),
        "male": "yes/no",
    }
    assert (info.ids, info.reading, info.categories) == (("patient",), {}, {})


def test_fit_replaces_an_existing_model(succeeds, awkward, out):
    for n_rules in (1, 2):
        succeeds("fit", awkward, f"--labels 5 --rules {n_rules} --out", out)
    assert len(load(out).centers_) == 2


# options ------------------------------------------------------------------------------


def test_fit_hands_its_options_to_the_classifier(succeeds, awkward, out):
    succeeds(
        "fit",
        awkward,
        "--labels 5 --rules 2 --order 1 --width-scale auto --ridge 2",
        "--coupling laplacian --coupling-weight 0 --threshold cost=1,5",
        "--scale standard --statements 9 --conditions 3 --out",
        out,
    )
    expected = {
        "n_rules": 2,
        "order": 1,
        "width_scale": "auto",
        "ridge": 2.0,
        "coupling": "laplacian",
        "coupling_weight": 0.0,
        "threshold": ("cost", 1.0, 5.0),
        "scale": "standard",
        "max_statements": 9,
        "max_conditions": 3,
    }
    assert expected.items() <= load(out).get_params().items()


def test_fit_with_costs_gives_a_model_that_predicts_more_often(succeeds, awkward, out):
    succeeds("fit", awkward, "--labels 5 --rules 0 --threshold cost=1,5 --out", out)
    assert (load(out).thresholds_ < 0.5).all()


def test_fit_has_options_of_the_papers_preset(succeeds, awkward, out):
    fit = ("fit", awkward, "--labels 5 --out", out)
    options = "--rules 2 --width-scale 10 --correlation-weight 0.1 --l1-weight 0"
    text = succeeds(*fit, "--preset paper --init-ridge 2", options).out
    assert "no estimate for new ones" in text
    model = load(out)
    assert type(model).__name__ == "PaperMLTSK"
    assert (model.n_rules, model.width_scale) == (2, 10.0)
    assert (model.correlation_weight, model.l1_weight) == (0.1, 0.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--preset paper --ridge 1", "--ridge is an option of --preset default alone"),
        (
            "--preset paper --statements 1",
            "--statements is an option of --preset default alone",
        ),
        ("--l1-weight 1", "--l1-weight is an option of --preset paper alone"),
    ],
)
def test_fit_refuses_options_of_the_other_preset(
    refused, awkward, out, options, sentence
):
    assert sentence in refused("fit", awkward, options, "--labels 5 --out", out)


def test_fit_takes_labels_whose_names_hold_commas(succeeds, awkward, out):
    options = """--labels 'plain,"good, cheap"' --rules 2 --out"""
    succeeds("fit", awkward, options, out)
    assert read_info(out).label_names == ("plain", "good, cheap")
    assert len(read_info(out).feature_names) == 13


def test_fit_takes_every_option_about_columns(succeeds, patients, out):
    succeeds(
        "fit",
        patients,
        "--labels asthma=0 --drop male --id age --nominal patient --number gout",
        "--missing P001,1 --out",
        out,
    )
    info = read_info(out)
    assert info.kinds == {
        "patient": "nominal",
        "smoker": "nominal",
        "stage": "nominal",
        "gout": "number",
    }
    assert info.ids == ("age",)
    assert info.reading == {"labels": "asthma=0", "missing": "P001,1"}


@pytest.fixture
def lists(csv_file):
    """A file with a column of lists of labels."""
    sick = ["gout|flu", "none", "flu", "", "gout"]
    rows = [[i % 7 + 0.5, i % 3 + 0.5, sick[i % 5]] for i in range(60)]
    return csv_file("lists.csv", ["a", "b", "sick"], rows)


def test_fit_and_evaluate_take_labels_as_lists_in_one_column(succeeds, lists, out):
    succeeds("fit", lists, LISTS, "--rules 0 --out", out)
    assert read_info(out).label_names == ("flu", "gout")
    by_itself = succeeds("evaluate", out, lists).out
    assert by_itself == succeeds("evaluate", out, lists, LISTS).out


def test_evaluate_counts_a_label_as_absent_where_a_list_does_not_name_it(
    succeeds, lists, csv_file, out
):
    succeeds("fit", lists, LISTS, "--rules 0 --out", out)
    rows = [[1.5, 2.5, "flu|cough"], [0.5, 1.5, ""], [2.5, 0.5, "none"]]
    result = succeeds("evaluate", out, csv_file("few.csv", ["a", "b", "sick"], rows))
    flu, gout = words_of_lines(result.out)[3:5]
    assert flu[:3] == ["flu", "2", "0.500"]
    assert gout[:3] == ["gout", "2", "0.000"]
    assert "few has labels ('cough') that the model does not know" in result.err


def test_evaluate_knows_labels_of_lists_in_other_capitals(
    succeeds, lists, csv_file, out
):
    succeeds("fit", lists, LISTS, "--rules 0 --out", out)
    rows = [[1.5, 2.5, "FLU"], [0.5, 1.5, "Gout|FLU"], [2.5, 0.5, "none"]]
    result = succeeds("evaluate", out, csv_file("few.csv", ["a", "b", "sick"], rows))
    flu, gout = words_of_lines(result.out)[3:5]
    assert (flu[2], gout[2]) == ("0.667", "0.333")
    assert "few: label 'FLU' read as 'flu', which the model knows." in result.err


@pytest.mark.parametrize("option", ["--drop", "--label-column", "--missing"])
def test_fit_refuses_options_about_columns_of_the_catalog(refused, out, option):
    sentence = refused(f"fit yeast {option} Att1 --out", out)
    assert f"{option} is for files of your own" in sentence


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_fit_takes_nominal_features_of_the_catalog_as_categories(
    succeeds, monkeypatch, tmp_path, out, preset
):
    rng = np.random.default_rng(0)
    n, d, n_labels = catalog()["flags"].shape
    X = np.column_stack([rng.integers(0, 3, n), rng.random((n, d - 1))])
    colours = ("red", "green", "blue")
    categories = [colours, *[()] * (d - 1)]
    Y = rng.random((n, n_labels)) < 0.5
    data = Dataset(X, Y, name="flags", categories=categories)
    write_npz(tmp_path / "flags.npz", data)
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    succeeds(f"fit flags --preset {preset} --out", out)
    info = read_info(out)
    assert info.kinds["x1"] == "nominal"
    assert info.categories == ({} if preset == "default" else {"x1": colours})
    same = tmp_path / "same.csv"
    data.to_frame().to_csv(same, index=False)
    by_name = succeeds("predict", out, "flags").out
    assert by_name == succeeds("predict", out, same).out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            "",
            "Column 'smoker' of patients is nominal (and 1 other column like it), and "
            "this method needs complete numbers: drop them",
        ),
        (
            "--drop smoker,stage",
            "Column 'age' of patients has no value in 9 rows, and this method needs",
        ),
        (
            "--drop smoker,stage,age",
            "Label 'gout' of patients has no value in 10 rows",
        ),
    ],
)
def test_fit_with_the_papers_preset_needs_complete_numbers(
    refused, patients, out, options, sentence
):
    words = ("--labels gout,asthma --preset paper", options, "--out", out)
    assert sentence in refused("fit", patients, *words)
    assert not out.exists()


def test_fit_keeps_sparse_files_sparse(succeeds, tmp_path, out):
    data = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)
    write_npz(tmp_path / "words.npz", data)
    succeeds("fit", tmp_path / "words.npz", "--rules 2 --out", out)
    assert load(out).scale_ == "unit"


def test_fit_makes_a_short_model_on_request(succeeds, awkward, out):
    options = "--labels 5 --rules 3 --conditions 2 --statements 4 --out"
    text = succeeds("fit", awkward, options, out).out
    assert "five folds: every row scored by terms that were chosen without it" in text
    model = load(out)
    assert model.n_statements_.max() <= 4
    assert all(len(rule.conditions) <= 2 for rule in model.rules_.exceptions)


def test_fit_takes_rules_of_the_user_from_a_json_file(succeeds, tmp_path, out):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"age": [60, null], "sex": "male"}]', encoding="utf-8")
    succeeds("fit pbc --rules 0 --own-rules", rules, "--out", out)
    assert "Your rule 1 — 17 samples" in succeeds("rules", out).out


def test_fit_refuses_rules_that_cannot_be_read(refused, tmp_path, out):
    rules = tmp_path / "rules.json"
    fit = ("fit pbc --rules 0 --own-rules", rules, "--out", out)
    assert f"No rules can be read from {rules}: No such file" in refused(*fit)
    rules.write_text("age > 60", encoding="utf-8")
    assert "give a JSON file such as [{" in refused(*fit)
    rules.write_text("[" * 100_000, encoding="utf-8")
    assert "it is nested too deeply; give a JSON file" in refused(*fit)
    rules.write_text('[{"agee": [60, null]}]', encoding="utf-8")
    assert "did you mean 'age'?" in refused(*fit)
    assert not out.exists()


# what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("", "awkward has no labels: name or count its label columns with --labels"),
        ("--labels 0", "no labels"),
        ("--labels 15", "15 labels leave no feature"),
        ("--labels nope", "has no column 'nope'"),
        ("--labels 5 --rules -1", "-1 is not a number from 0 up"),
        ("--labels 5 --rules 1.5", "'1.5' is neither a whole number nor 'auto'"),
        ("--labels 5 --width-scale wide", "'wide' is neither a number nor 'auto'"),
        ("--labels 5 --ridge -1", "-1 is not a number above 0"),
        ("--labels 5 --ridge 0", "0 is not a number above 0"),
        ("--labels 5 --ridge nan", "nan is not a number above 0"),
        ("--labels 5 --coupling-weight inf", "inf is not a number from 0 up"),
        ("--labels 5 --order 2", "'2' is not one of"),
        ("--labels 5 --coupling tight", "'tight' is not one of"),
        ("--labels 5 --threshold median", "'median' is neither a number nor f1"),
        ("--labels 5 --threshold cost=5", "what a false alarm and what a miss costs"),
        ("--labels 5 --threshold 1e200", "threshold=1e+200 is no probability"),
        ("--labels 5 --threshold cost=1e-300,1e300", "is nothing next to the other"),
        ("--labels 5 --preset paper --threshold f1", "give --preset paper a number"),
        (
            "--labels 5 --preset paper --threshold recall=0.9",
            "--threshold recall works with --preset default only",
        ),
        ("--labels 5 --cost 1,5", "No such option"),
        ("--labels 5 --preset paper --rules 0", "--rules 0 is not for --preset paper"),
        (
            "--labels 5 --preset paper --width-scale auto",
            "--width-scale auto is not for",
        ),
    ],
)
def test_fit_refuses_bad_options_and_writes_nothing(
    refused, awkward, tmp_path, out, options, sentence
):
    assert sentence in refused("fit", awkward, options, "--out", out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        (
            "abp",
            [1, "2.O", 0],
            "Column 'b', row 30: '2.O' is not a number (1 such cell)",
        ),
        ("abp", [1, "inf", 0], "Column 'b', row 30: 'inf' is not a number"),
        ("abp", [1, 2, -1], "Label 'p' holds '-1', '0', '1', not 0 and 1"),
    ],
)
def test_fit_names_cells_that_cannot_be_read(
    refused, tmp_path, csv_file, out, header, row, sentence
):
    rows = [[i + 0.5, i % 7 + 0.5, i % 2] for i in range(29)]
    data = csv_file("d.csv", header, [*rows, row])
    assert sentence in refused("fit", data, "--labels 1 --out", out)
    assert [file.name for file in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("yeats", "did you mean 'yeast'?"),
        ("none.csv", "cannot be read"),
        ("notes.docx", "there is no such file"),
    ],
)
def test_fit_refuses_data_that_is_not_there(refused, data, sentence, out):
    assert sentence in refused("fit", data, "--labels 2 --out", out)


def test_fit_refuses_a_place_that_cannot_be_written_before_the_work(
    refused, awkward, tmp_path
):
    folder = tmp_path / "no"
    sentence = refused("fit", awkward, "--labels 5 --out", folder / "m.skops")
    advice = "make it first, or write elsewhere"
    assert sentence == f"mltsk: The folder {folder} does not exist: {advice}."


@pytest.mark.parametrize("threshold", ["1e200", "cost=1e-300,1e300", "recall=2"])
def test_fit_and_review_refuse_a_threshold_before_they_look_for_the_data(
    refused, tmp_path, threshold
):
    for command in ("fit", "review"):
        words = f"{command} none.csv --labels 2 --threshold {threshold} --out"
        sentence = refused(words, tmp_path / "out")
        assert "'--threshold'" in sentence
        assert "none.csv" not in sentence


def test_fit_of_a_label_more_that_no_row_has_leaves_the_others_as_they_were(
    succeeds, csv_file, numbers, names, tmp_path
):
    header = [*(f"x{d}" for d in range(10)), "first", "second"]
    rows = numbers[:, :12].tolist()
    plain = csv_file("plain.csv", header, rows)
    more = csv_file("more.csv", [*header, "never"], [[*row, 0] for row in rows])
    for path, labels in ((plain, "first,second"), (more, "first,second,never")):
        model = path.with_suffix(".skops")
        succeeds("fit", path, "--labels", labels, "--out", model)
        succeeds("predict", model, path, "--out", path.with_suffix(".out"))
    few = (tmp_path / "plain.out").read_text("utf-8").splitlines()
    many = (tmp_path / "more.out").read_text("utf-8").splitlines()
    assert few[0] in many[0]
    n_cells = len(few[0].split(","))
    assert [line.split(",")[:n_cells] for line in many] == [
        line.split(",") for line in few
    ]
    assert {line.split(",")[-1] for line in many[1:]} == {"0"}


def test_fit_says_that_nothing_is_learned_of_a_label_that_all_rows_have(
    succeeds, csv_file, out
):
    rows = [[40 + i, i % 2, 1] for i in range(30)]
    data = csv_file("all.csv", ["age", "flu", "gout"], rows)
    text = succeeds("fit", data, "--labels flu,gout --rules 0 --out", out).out
    assert "The same in all rows, so that nothing was learned: gout." in text


def test_fit_says_that_few_cases_cannot_be_judged_and_nothing_else(
    succeeds, csv_file, out
):
    rows = [[61, 1], [45, 0], [50, 0], [70, 1], [33, 0]]
    data = csv_file("tiny.csv", ["age", "gout"], rows)
    text = succeeds("fit", data, "--labels gout --out", out).out
    assert "Too few rows of the rarer answer to be judged: gout (2)." in text
    assert "Cannot be predicted" not in text
    assert "Predicted almost without error" not in text
    assert "gout cannot be judged by so few cases: AUC" in succeeds("rules", out).out
