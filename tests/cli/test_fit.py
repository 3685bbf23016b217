"""``mltsk fit``: options, summary, names, and input that must be refused."""

import numpy as np
import pytest

from mltsk import read_table
from mltsk.cli.options import threshold_wish
from mltsk.datasets import Dataset, catalog, make_multilabel_rules, write_npz
from mltsk.io import load, read_info
from mltsk.metrics import evaluate


def test_the_summary_says_what_was_fitted_and_what_it_is_worth(
    mltsk, awkward, tmp_path
):
    result = mltsk(
        "fit",
        awkward,
        "--labels",
        5,
        "--rules",
        3,
        "--order",
        0,
        "--out",
        tmp_path / "m.skops",
    )
    assert result.status == 0
    model = load(tmp_path / "m.skops")
    for words in (
        "awkward: 120 samples, 10 features, 5 labels",
        "terms; 3 exceptions of order 0 (a shift each); ",
        f"{model.n_statements_[0]} statements per label",
        f"chose ridge {model.ridge_:.3g}, width scale {model.width_scale_:.3g}; mean squared error",
        "leave-one-out: every row scored as if it had not been there",
    ):
        assert words in result.out


def test_metrics_are_those_of_leave_one_out_next_to_base_rates(
    mltsk, awkward, numbers, tmp_path
):
    lines = mltsk(
        "fit", awkward, "--labels", 5, "--out", tmp_path / "m.skops"
    ).out.splitlines()
    Y, scores = numbers[:, 10:], load(tmp_path / "m.skops").loo_scores_
    ours, none = (
        evaluate(Y, scores)["AP"],
        evaluate(Y, np.broadcast_to(Y.mean(axis=0), Y.shape))["AP"],
    )
    assert f"AP      {ours:.4f}      {none:.4f}  higher" in lines
    last = evaluate(Y, scores, per_label=True).iloc[-1]
    expected = ["plain", *(f"{last[name]:.4f}" for name in ("prevalence", "AP", "AUC"))]
    assert expected in [line.split() for line in lines]


def test_a_table_that_needs_no_exceptions_says_so(mltsk, csv_file, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    rows = [
        [*x, *y]
        for x, y in zip(
            X.tolist(),
            (X + rng.normal(size=X.shape) > 0).astype(int).tolist(),
            strict=True,
        )
    ]
    data = csv_file("linear.csv", ["a", "b", "p", "q"], rows)
    told = mltsk("fit", data, "--labels", 2, "--out", tmp_path / "m.skops").out
    assert "no exceptions: the table needs none" in told
    assert "width scale" not in told
    asked = mltsk(
        "fit", data, "--labels", 2, "--rules", 0, "--out", tmp_path / "m.skops"
    ).out
    assert "no exceptions, as asked" in asked


def test_of_many_labels_the_first_are_shown(mltsk, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, n_labels=23, random_state=0)
    write_npz(tmp_path / "many.npz", data)
    lines = mltsk(
        "fit", tmp_path / "many.npz", "--out", tmp_path / "m.skops"
    ).out.splitlines()
    assert "… and 3 more labels" in lines


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_one_label_is_fitted_evaluated_and_predicted_by_name(
    mltsk, awkward, tmp_path, preset
):
    out = tmp_path / "m.skops"
    result = mltsk(
        "fit", awkward, "--labels", "plain", "--preset", preset, "--out", out
    )
    assert result.status == 0, result.err
    assert "1 label, " in result.out
    assert (
        mltsk("predict", out, awkward).out.splitlines()[0] == "probability:plain,plain"
    )
    assert mltsk("evaluate", out, awkward).out.splitlines()[3].startswith("plain")


def test_what_fails_after_the_fit_leaves_no_file(
    refused, awkward, tmp_path, monkeypatch
):
    def fail(*args, **options):
        raise RuntimeError("no table")

    monkeypatch.setattr("mltsk.cli.fit.summary", fail)
    assert "no table" in refused(
        "fit", awkward, "--labels", 5, "--out", tmp_path / "m.skops", status=1
    )
    assert not list(tmp_path.iterdir())


def test_names_and_how_it_was_fitted_are_in_the_file(model, names):
    clf, info = load(model), read_info(model)
    assert clf.feature_names_in_.tolist() == names.features
    assert clf.label_names_ == info.label_names == tuple(names.labels)
    assert (info.data, info.fitted["samples"], info.fitted["options"]) == (
        "awkward",
        120,
        {"n_rules": 3},
    )


def test_options_reach_the_classifier(mltsk, awkward, tmp_path):
    options = "--rules 2 --order 1 --width-scale auto --ridge 2 --coupling laplacian --coupling-weight 0"
    more = "--threshold cost=1,5 --scale standard --statements 9 --conditions 3"
    out = tmp_path / "m.skops"
    assert (
        mltsk(
            "fit", awkward, "--labels", 5, "--out", out, *options.split(), *more.split()
        ).status
        == 0
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


def test_the_paper_preset_has_its_own_options(mltsk, refused, awkward, tmp_path):
    out = tmp_path / "m.skops"
    fit = ("fit", awkward, "--labels", 5, "--out", out)
    options = (
        "--rules",
        2,
        "--width-scale",
        10,
        "--correlation-weight",
        0.1,
        "--l1-weight",
        0,
        "--init-ridge",
        2,
    )
    result = mltsk(*fit, "--preset", "paper", *options)
    assert "no estimate for new ones" in result.out
    model = load(out)
    assert type(model).__name__ == "PaperMLTSK"
    assert (
        model.n_rules,
        model.width_scale,
        model.correlation_weight,
        model.l1_weight,
    ) == (2, 10.0, 0.1, 0.0)
    assert "--ridge is an option of --preset default alone" in refused(
        *fit, "--preset", "paper", "--ridge", 1
    )
    assert "--statements is an option of --preset default alone" in refused(
        *fit, "--preset", "paper", "--statements", 1
    )
    assert "--l1-weight is an option of --preset paper alone" in refused(
        *fit, "--l1-weight", 1
    )


def test_warnings_are_one_line_each(mltsk, awkward, tmp_path):
    fit = ("fit", awkward, "--labels", 5, "--preset", "paper", "--width-scale", 1e6)
    notes = [
        line
        for line in mltsk(*fit, "--out", tmp_path / "m.skops").err.splitlines()
        if line.startswith("note")
    ]
    assert any(line.startswith("note: the 3 rules hardly ") for line in notes)


def test_labels_by_name_may_hold_commas(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert (
        mltsk(
            "fit",
            awkward,
            "--labels",
            'plain,"good, cheap"',
            "--rules",
            2,
            "--out",
            out,
        ).status
        == 0
    )
    assert read_info(out).label_names == ("plain", "good, cheap")
    assert len(read_info(out).feature_names) == 13


def test_the_column_report_comes_first_where_something_was_decided(
    mltsk, patients, awkward, tmp_path
):
    said = (
        "--labels",
        "gout,asthma",
        "--ordinal",
        "stage: mild < severe",
        "--rules",
        0,
        "--out",
        tmp_path / "m.skops",
    )
    result = mltsk("fit", patients, *said)
    assert result.status == 0, result.err
    assert result.out.startswith(
        "patients: 90 rows, 4 features, 2 labels, 1 column left out\n\ncolumn "
    )
    assert "patient: left out as an identifier" in result.out
    plain = mltsk(
        "fit", awkward, "--labels", 5, "--rules", 0, "--out", tmp_path / "m.skops"
    )
    assert plain.out.startswith("data  ")


def test_labels_that_were_not_observed_count_in_no_metric(mltsk, patients, tmp_path):
    out = tmp_path / "m.skops"
    lines = mltsk(
        "fit", patients, "--labels", "gout,asthma", "--rules", 0, "--out", out
    ).out.splitlines()
    table = read_table(patients, "gout,asthma")
    assert (
        "data           patients: 90 samples, 4 features, 2 labels, 6% of their cells not observed"
        in lines
    )
    gout = evaluate(table.Y, load(out).loo_scores_, per_label=True).loc["gout"]
    expected = [
        "gout",
        "80",
        *(f"{gout[name]:.4f}" for name in ("prevalence", "AP", "AUC")),
    ]
    assert expected in [line.split() for line in lines]
    rates = np.broadcast_to(table.Y.mean().to_numpy(), table.Y.shape)
    assert (
        f"HL      {evaluate(table.Y, load(out).loo_scores_)['HL']:.4f}      {evaluate(table.Y, rates)['HL']:.4f}"
        in ("\n".join(lines))
    )


def test_what_each_column_is_stays_with_the_model(clinic):
    info = read_info(clinic)
    assert info.kinds == {
        "age": "number",
        "smoker": "nominal",
        "stage": ("mild", "severe"),
        "male": "yes/no",
    }
    assert (info.ids, info.reading, info.categories) == (("patient",), {}, {})


def test_every_option_of_columns_arrives(mltsk, patients, tmp_path):
    said = [
        "--drop",
        "male",
        "--id",
        "age",
        "--nominal",
        "patient",
        "--number",
        "gout",
        "--missing",
        "P001,1",
    ]
    result = mltsk(
        "fit", patients, "--labels", "asthma=0", *said, "--out", tmp_path / "m.skops"
    )
    assert result.status == 0, result.err
    info = read_info(tmp_path / "m.skops")
    assert info.kinds == {
        "patient": "nominal",
        "smoker": "nominal",
        "stage": "nominal",
        "gout": "number",
    }
    assert (info.ids, info.reading) == (
        ("age",),
        {"labels": "asthma=0", "missing": "P001,1"},
    )


def test_labels_may_be_lists_in_one_column(mltsk, csv_file, tmp_path):
    sick = ["gout|flu", "none", "flu", "", "gout"]
    rows = [[i % 7 + 0.5, i % 3 + 0.5, sick[i % 5]] for i in range(60)]
    data, out = csv_file("lists.csv", ["a", "b", "sick"], rows), tmp_path / "m.skops"
    lists = ("--label-column", "sick", "--separator", "|")
    assert mltsk("fit", data, *lists, "--rules", 0, "--out", out).status == 0
    assert read_info(out).label_names == ("flu", "gout")
    assert mltsk("evaluate", out, data).out == mltsk("evaluate", out, data, *lists).out
    few = csv_file(
        "few.csv",
        ["a", "b", "sick"],
        [[1.5, 2.5, "flu|cough"], [0.5, 1.5, ""], [2.5, 0.5, "none"]],
    )
    result = mltsk("evaluate", out, few)
    assert [line.split()[:3] for line in result.out.splitlines()[3:5]] == [
        ["flu", "2", "0.5000"],
        ["gout", "2", "0.0000"],
    ]
    assert "few has labels ('cough') that the model does not know" in result.err


@pytest.mark.parametrize("option", ["--drop", "--label-column", "--missing"])
def test_columns_of_the_catalog_are_known(refused, tmp_path, option):
    assert f"{option} is for files of your own" in refused(
        "fit", "yeast", option, "Att1", "--out", tmp_path / "m"
    )


def test_nominal_features_of_the_catalog_are_categories(
    mltsk, monkeypatch, tmp_path, names, csv_file
):
    rng = np.random.default_rng(0)
    n, d, n_labels = catalog()["flags"].shape
    X = np.column_stack([rng.integers(0, 3, n), rng.random((n, d - 1))])
    kinds = [("red", "green", "blue"), *[()] * (d - 1)]
    data = Dataset(X, rng.random((n, n_labels)) < 0.5, name="flags", categories=kinds)
    write_npz(tmp_path / "flags.npz", data)
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    data.to_frame().to_csv(tmp_path / "same.csv", index=False)
    for preset, categories in (("default", {}), ("paper", {"x1": kinds[0]})):
        out = tmp_path / f"{preset}.skops"
        assert mltsk("fit", "flags", "--preset", preset, "--out", out).status == 0
        assert (read_info(out).kinds["x1"], read_info(out).categories) == (
            "nominal",
            categories,
        )
        assert (
            mltsk("predict", out, "flags").out
            == mltsk("predict", out, tmp_path / "same.csv").out
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            [],
            "Column 'smoker' of patients is nominal, and this method needs complete numbers: drop it",
        ),
        (
            ["--drop", "smoker,stage"],
            "Column 'age' of patients has no value in 9 rows, and this method needs",
        ),
        (
            ["--drop", "smoker,stage,age"],
            "Label 'gout' of patients has no value in 10 rows",
        ),
    ],
)
def test_the_paper_preset_needs_complete_numbers(
    refused, patients, tmp_path, options, says
):
    out = tmp_path / "m.skops"
    assert says in refused(
        "fit",
        patients,
        "--labels",
        "gout,asthma",
        "--preset",
        "paper",
        *options,
        "--out",
        out,
    )
    assert not out.exists()


def test_sparse_files_are_fitted_sparse(mltsk, tmp_path):
    data = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)
    write_npz(tmp_path / "words.npz", data)
    assert (
        mltsk(
            "fit", tmp_path / "words.npz", "--rules", 2, "--out", tmp_path / "m.skops"
        ).status
        == 0
    )
    assert load(tmp_path / "m.skops").scale_ == "unit"


def test_an_existing_model_is_replaced(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    out.write_text("old")
    assert mltsk("fit", awkward, "--labels", 5, "--rules", 2, "--out", out).status == 0
    assert len(load(out).centers_) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "awkward has no labels: name or count its label columns with --labels"),
        (["--labels", 0], "no labels"),
        (["--labels", 15], "15 labels leave no feature"),
        (["--labels", "nope"], "has no column 'nope'"),
        (["--labels", 5, "--rules", -1], "-1 is not a number from 0 up"),
        (
            ["--labels", 5, "--rules", "1.5"],
            "'1.5' is neither a whole number nor 'auto'",
        ),
        (
            ["--labels", 5, "--width-scale", "wide"],
            "'wide' is neither a number nor 'auto'",
        ),
        (["--labels", 5, "--ridge", "-1"], "-1 is not a number above 0"),
        (["--labels", 5, "--ridge", "0"], "0 is not a number above 0"),
        (["--labels", 5, "--ridge", "nan"], "nan is not a number above 0"),
        (["--labels", 5, "--coupling-weight", "inf"], "inf is not a number from 0 up"),
        (["--labels", 5, "--order", "2"], "'2' is not one of"),
        (["--labels", 5, "--coupling", "tight"], "'tight' is not one of"),
        (["--labels", 5, "--preset", "paper", "--rules", 0], "n_rules"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(
    refused, awkward, tmp_path, options, says
):
    assert says in refused("fit", awkward, *options, "--out", tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("header", "row", "says"),
    [
        (
            ["a", "b", "p"],
            [1, "2.O", 0],
            "Column 'b', row 30: '2.O' is not a number (1 such cell)",
        ),
        (["a", "b", "p"], [1, "inf", 0], "Column 'b', row 30: 'inf' is not a number"),
        (["a", "b", "p"], [1, 2, -1], "Label 'p' holds '-1', '0', '1', not 0 and 1"),
        (["a", "a", "p"], [1, 2, 0], "two columns are called 'a'"),
    ],
)
def test_cells_that_cannot_be_read_are_named(
    refused, tmp_path, csv_file, header, row, says
):
    rows = [[i + 0.5, i % 7 + 0.5, i % 2] for i in range(29)]
    assert says in refused(
        "fit",
        csv_file("d.csv", header, [*rows, row]),
        "--labels",
        1,
        "--out",
        tmp_path / "m.skops",
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d.csv"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("yeats", "did you mean 'yeast'?"),
        ("none.csv", "cannot be read"),
        ("notes.docx", "no format that can be read"),
    ],
)
def test_data_that_is_not_there_is_refused(refused, data, says, tmp_path):
    assert says in refused("fit", data, "--labels", 2, "--out", tmp_path / "m.skops")


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    refused, awkward, tmp_path
):
    said = refused("fit", awkward, "--labels", 5, "--out", tmp_path / "no" / "m.skops")
    assert (
        said
        == f"mltsk: The folder {tmp_path / 'no'} does not exist: make it first, or write elsewhere."
    )


def test_thresholds_and_costs_as_they_are_typed(refused, awkward, tmp_path):
    assert [threshold_wish(text) for text in ("f1", "-0.5", "precision=0.8")] == [
        "f1",
        -0.5,
        ("precision", 0.8),
    ]
    fit = ("fit", awkward, "--labels", 5, "--out", tmp_path / "m.skops")
    for wrong in ("median", "precision=80", "recall=", "beauty=0.5", "nan"):
        assert "is neither a number nor f1, cost=1,5, precision=0.8" in refused(
            *fit, "--threshold", wrong
        )
    for wrong in ("cost", "cost=5", "cost=1,x", "cost=1,-5", "cost=1,2,3"):
        assert "does not say what a false alarm and what a miss costs" in refused(
            *fit, "--threshold", wrong
        )


def test_short_models_on_request(mltsk, awkward, tmp_path):
    out, limits = tmp_path / "m.skops", ("--conditions", 2, "--statements", 4)
    result = mltsk("fit", awkward, "--labels", 5, "--rules", 3, *limits, "--out", out)
    assert (
        "five folds: every row scored by terms that were chosen without it"
        in result.out
    )
    model = load(out)
    assert model.n_statements_.max() <= 4
    assert all(len(rule.conditions) <= 2 for rule in model.rules_.exceptions)


def test_rules_of_the_user_come_from_a_json_file(mltsk, refused, tmp_path):
    out, rules = tmp_path / "m.skops", tmp_path / "rules.json"
    fit = ("fit", "pbc", "--rules", 0, "--own-rules", rules, "--out", out)
    assert f"No rules can be read from {rules}: No such file" in refused(*fit)
    for text, says in (
        ("age > 60", "give a JSON file such as [{"),
        ('[{"agee": [60, null]}]', "did you mean 'age'?"),
    ):
        rules.write_text(text, encoding="utf-8")
        assert says in refused(*fit)
        assert not out.exists()
    rules.write_text('[{"age": [60, null], "sex": "male"}]', encoding="utf-8")
    assert mltsk(*fit).status == 0
    assert "Your rule 1 — 17 samples" in mltsk("rules", out).out
