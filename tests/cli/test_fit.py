"""``mltsk fit``: options, summary, names, and input that must be refused."""

import numpy as np
import pytest

from mltsk.cli.fit import number_or
from mltsk.datasets import make_multilabel_rules, read_csv, write_npz
from mltsk.io import load, read_info
from mltsk.metrics import evaluate


def test_the_summary_says_what_was_fitted_and_what_it_is_worth(mltsk, awkward, tmp_path):
    result = mltsk("fit", awkward, "--labels", 5, "--rules", 3, "--order", 0, "--out", tmp_path / "m.skops")
    assert result.status == 0
    model = load(tmp_path / "m.skops")
    for words in (
        "awkward: 120 samples, 10 features, 5 labels",
        "terms; 3 exceptions of order 0 (a shift each); ",
        f"{model.n_terms_[0]} numbers per label",
        f"chose ridge {model.ridge_:.3g}, width scale {model.width_scale_:.3g}; mean squared error",
        "leave-one-out: every row scored as if it had not been there",
    ):
        assert words in result.out


def test_metrics_are_those_of_leave_one_out_next_to_base_rates(mltsk, awkward, tmp_path):
    lines = mltsk("fit", awkward, "--labels", 5, "--out", tmp_path / "m.skops").out.splitlines()
    Y, scores = read_csv(awkward).values[:, 10:], load(tmp_path / "m.skops").loo_scores_
    ours, none = evaluate(Y, scores)["AP"], evaluate(Y, np.broadcast_to(Y.mean(axis=0), Y.shape))["AP"]
    assert f"AP      {ours:.4f}      {none:.4f}  higher" in lines
    last = evaluate(Y, scores, per_label=True).iloc[-1]
    expected = ["plain", *(f"{last[name]:.4f}" for name in ("prevalence", "AP", "AUC"))]
    assert expected in [line.split() for line in lines]


def test_a_table_that_needs_no_exceptions_says_so(mltsk, csv_file, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    rows = [[*x, *y] for x, y in zip(X.tolist(), (X + rng.normal(size=X.shape) > 0).astype(int).tolist(), strict=True)]
    data = csv_file("linear.csv", ["a", "b", "p", "q"], rows)
    told = mltsk("fit", data, "--labels", 2, "--out", tmp_path / "m.skops").out
    assert "no exceptions: the table needs none" in told
    assert "width scale" not in told
    asked = mltsk("fit", data, "--labels", 2, "--rules", 0, "--out", tmp_path / "m.skops").out
    assert "no exceptions, as asked" in asked


def test_of_many_labels_the_first_are_shown(mltsk, csv_file, tmp_path):
    data = make_multilabel_rules(n_samples=60, n_labels=23, random_state=0)
    write_npz(tmp_path / "many.npz", data)
    lines = mltsk("fit", tmp_path / "many.npz", "--out", tmp_path / "m.skops").out.splitlines()
    assert "… and 3 more labels" in lines


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_one_label_is_fitted_evaluated_and_predicted_by_name(mltsk, awkward, tmp_path, preset):
    out = tmp_path / "m.skops"
    result = mltsk("fit", awkward, "--labels", "plain", "--preset", preset, "--out", out)
    assert result.status == 0, result.err
    assert "1 label, " in result.out
    assert mltsk("predict", out, awkward).out.splitlines()[0] == "probability:plain,plain"
    assert mltsk("evaluate", out, awkward).out.splitlines()[-1].startswith("plain")


def test_what_fails_after_the_fit_leaves_no_file(refused, awkward, tmp_path, monkeypatch):
    def fail(*args):
        raise RuntimeError("no table")

    monkeypatch.setattr("mltsk.cli.fit.summary", fail)
    assert "no table" in refused("fit", awkward, "--labels", 5, "--out", tmp_path / "m.skops", status=1)
    assert not list(tmp_path.iterdir())


def test_names_and_how_it_was_fitted_are_in_the_file(model, names):
    clf, info = load(model), read_info(model)
    assert clf.feature_names_in_.tolist() == names.features
    assert clf.label_names_ == info.label_names == tuple(names.labels)
    assert (info.data, info.fitted["samples"], info.fitted["options"]) == ("awkward", 120, {"n_rules": 3})


def test_options_reach_the_classifier(mltsk, awkward, tmp_path):
    options = "--rules 2 --order 1 --width-scale 0.7 --ridge 2 --coupling laplacian --coupling-weight 0.5"
    more = "--threshold f1 --scale standard --terms 9 --conditions 3"
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 5, "--out", out, *options.split(), *more.split()).status == 0
    expected = {
        "n_rules": 2,
        "order": 1,
        "width_scale": 0.7,
        "ridge": 2.0,
        "coupling": "laplacian",
        "coupling_weight": 0.5,
        "threshold": "f1",
        "scale": "standard",
        "max_terms": 9,
        "max_conditions": 3,
    }
    assert expected.items() <= load(out).get_params().items()


def test_the_paper_preset_has_its_own_options(mltsk, refused, awkward, tmp_path):
    out = tmp_path / "m.skops"
    fit = ("fit", awkward, "--labels", 5, "--out", out)
    options = ("--rules", 2, "--width-scale", 10, "--correlation-weight", 0.1, "--l1-weight", 0, "--init-ridge", 2)
    result = mltsk(*fit, "--preset", "paper", *options)
    assert "no estimate for new ones" in result.out
    model = load(out)
    assert type(model).__name__ == "PaperMLTSK"
    assert (model.n_rules, model.width_scale, model.correlation_weight, model.l1_weight) == (2, 10.0, 0.1, 0.0)
    assert "--ridge is an option of --preset default alone" in refused(*fit, "--preset", "paper", "--ridge", 1)
    assert "--terms is an option of --preset default alone" in refused(*fit, "--preset", "paper", "--terms", 1)
    assert "--l1-weight is an option of --preset paper alone" in refused(*fit, "--l1-weight", 1)


def test_warnings_are_one_line_each(mltsk, awkward, tmp_path):
    fit = ("fit", awkward, "--labels", 5, "--preset", "paper", "--width-scale", 1e6)
    notes = [line for line in mltsk(*fit, "--out", tmp_path / "m.skops").err.splitlines() if line.startswith("note")]
    assert any(line.startswith("note: the 3 rules hardly ") for line in notes)


def test_labels_by_name_may_hold_commas(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 'plain,"good, cheap"', "--rules", 2, "--out", out).status == 0
    assert read_info(out).label_names == ("plain", "good, cheap")
    assert len(read_info(out).feature_names) == 13


def test_categories_of_text_columns_are_kept(mltsk, tmp_path, csv_file):
    rows = [[i % 7, "red" if i % 2 else "blue", i % 2, (i // 2) % 2] for i in range(30)]
    data = csv_file("c.csv", ["n", "colour", "p", "q"], rows)
    assert mltsk("fit", data, "--labels", 2, "--rules", 2, "--out", tmp_path / "m.skops").status == 0
    assert read_info(tmp_path / "m.skops").categories == {"colour": ("blue", "red")}


def test_sparse_files_are_fitted_sparse(mltsk, tmp_path):
    data = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)
    write_npz(tmp_path / "words.npz", data)
    assert mltsk("fit", tmp_path / "words.npz", "--rules", 2, "--out", tmp_path / "m.skops").status == 0
    assert load(tmp_path / "m.skops").scale_ == "unit"


def test_an_existing_model_is_replaced(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    out.write_text("old")
    assert mltsk("fit", awkward, "--labels", 5, "--rules", 2, "--out", out).status == 0
    assert len(load(out).centers_) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "does not say which of its 15 columns are labels"),
        (["--labels", 0], "no labels"),
        (["--labels", 15], "would leave no feature"),
        (["--labels", "nope"], "has no column 'nope'"),
        (["--labels", 5, "--rules", -1], "-1 is not a number from 0 up"),
        (["--labels", 5, "--rules", "1.5"], "'1.5' is neither a whole number nor 'auto'"),
        (["--labels", 5, "--width-scale", "wide"], "'wide' is neither a number nor 'auto'"),
        (["--labels", 5, "--ridge", "-1"], "-1 is not a number above 0"),
        (["--labels", 5, "--order", "2"], "'2' is not one of"),
        (["--labels", 5, "--coupling", "tight"], "'tight' is not one of"),
        (["--labels", 5, "--preset", "paper", "--rules", 0], "n_rules"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(refused, awkward, tmp_path, options, says):
    assert says in refused("fit", awkward, *options, "--out", tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_missing_values_are_named(refused, tmp_path, csv_file):
    data = csv_file("gaps.csv", ["a", "b", "p", "q"], [[1, 2, 0, 1], [1, "", 1, 0], [2, "inf", 1, 1]])
    assert "Column 'b' of" in (said := refused("fit", data, "--labels", 2, "--out", tmp_path / "m.skops"))
    assert "has no value in row 2 (2 such in all)" in said


@pytest.mark.parametrize(
    ("data", "says"),
    [("yeats", "did you mean 'yeast'?"), ("none.csv", "cannot be read"), ("notes.docx", "no format that can be read")],
)
def test_data_that_is_not_there_is_refused(refused, data, says, tmp_path):
    assert says in refused("fit", data, "--labels", 2, "--out", tmp_path / "m.skops")


def test_a_place_that_cannot_be_written_is_refused_before_the_work(refused, awkward, tmp_path):
    said = refused("fit", awkward, "--labels", 5, "--out", tmp_path / "no" / "m.skops")
    assert said == f"mltsk: The folder {tmp_path / 'no'} does not exist: make it first, or write elsewhere."


def test_numbers_or_a_word():
    parse = number_or("auto", "above 0")
    assert (parse("auto"), parse("1e-2")) == ("auto", 0.01)
    for text in ("0", "nan", "inf", "-2"):
        with pytest.raises(Exception, match="is not a number above 0"):
            parse(text)
    assert (number_or("auto", "from 0 up")("0"), number_or("f1")("-0.5")) == (0.0, -0.5)


def test_short_models_on_request(mltsk, awkward, tmp_path):
    out, limits = tmp_path / "m.skops", ("--conditions", 2, "--terms", 4)
    result = mltsk("fit", awkward, "--labels", 5, "--rules", 3, *limits, "--out", out)
    assert "five folds: every row scored by terms that were chosen without it" in result.out
    model = load(out)
    assert model.n_terms_.max() <= 4
    assert all(len(rule.conditions) <= 2 for rule in model.rules_.exceptions)
