"""``mltsk fit``: options, summary, names, and input that must be refused."""

import numpy as np
import pytest

from mltsk.cli.fit import number_or
from mltsk.datasets import make_multilabel_rules, write_npz
from mltsk.io import load, read_info


def test_the_summary_says_what_was_fitted(mltsk, awkward, tmp_path):
    result = mltsk("fit", awkward, "--labels", 5, "--rules", 3, "--out", tmp_path / "m.skops")
    assert result.status == 0
    for words in (
        "awkward: 120 samples, 10 features, 5 labels",
        "rules        3, distinctness 0.",
        "by leave-one-out",
        "% of 165 are not zero",
        "training     AP 0.9",
        "on the rows that the model was fitted on: no estimate for new ones",
    ):
        assert words in result.out


def test_names_and_how_it_was_fitted_are_in_the_file(model, names):
    clf, info = load(model), read_info(model)
    assert clf.feature_names_in_.tolist() == names.features
    assert clf.label_names_ == info.label_names == tuple(names.labels)
    assert (info.data, info.fitted["samples"], info.fitted["options"]) == ("awkward", 120, {"n_rules": 3})


def test_options_reach_the_classifier(mltsk, awkward, tmp_path):
    options = "--rules 2 --width-scale 0.7 --correlation-weight 0.5 --l1-weight 0.01 --ridge 2 --coupling none"
    more = "--threshold 0.4 --scale standard --fuzzifier 1.2 --init random --seed 7"
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 5, "--out", out, *options.split(), *more.split()).status == 0
    expected = {
        "n_rules": 2,
        "width_scale": 0.7,
        "correlation_weight": 0.5,
        "l1_weight": 0.01,
        "ridge": 2.0,
        "coupling": None,
        "threshold": 0.4,
        "scale": "standard",
        "fuzzifier": 1.2,
        "init": "random",
        "random_state": 7,
    }
    assert expected.items() <= load(out).get_params().items()


def test_the_paper_preset_keeps_its_own_defaults(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 5, "--preset", "paper", "--rules", 2, "--out", out).status == 0
    model = load(out)
    assert type(model).__name__ == "PaperMLTSK"
    assert (model.objective, model.scale_, model.n_rules) == ("algorithm1", "minmax", 2)
    result = mltsk("fit", awkward, "--labels", 5, "--preset", "paper", "--fuzzifier", 1, "--out", out)
    assert result.status == 2
    assert "--preset paper has no fuzzifier" in result.err


def test_warnings_are_one_line_each(mltsk, awkward, tmp_path):
    result = mltsk("fit", awkward, "--labels", 5, "--width-scale", 1e6, "--out", tmp_path / "m.skops")
    assert [line[:26] for line in result.err.splitlines() if line.startswith("note")] == ["note: the 20 rules hardly "]


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
        (["--labels", 5, "--rules", 0], "'--rules'"),
        (["--labels", 5, "--rules", "many"], "'--rules'"),
        (["--labels", 5, "--width-scale", "wide"], "'wide' is neither a number nor 'auto'"),
        (["--labels", 5, "--ridge", "-1"], "-1 is not a number from 0 up"),
        (["--labels", 5, "--coupling", "tight"], "'tight' is not one of"),
        (["--labels", 5, "--preset", "paper", "--coupling", "laplacian"], "algorithm1"),
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
    parse = number_or("auto", zero=False)
    assert (parse("auto"), parse("1e-2")) == ("auto", 0.01)
    for text in ("0", "nan", "inf", "-2"):
        with pytest.raises(Exception, match="is not a number above 0"):
            parse(text)
    assert np.isclose(number_or("loo")("0"), 0)


def test_short_rules_on_request(mltsk, awkward, tmp_path):
    out, limits = tmp_path / "m.skops", ("--max-conditions", 2, "--max-terms", 3)
    result = mltsk("fit", awkward, "--labels", 5, "--rules", 3, *limits, "--out", out)
    assert "at most 2 conditions a rule (were 10) and 3 terms a label in it (were " in result.out
    assert all(len(rule.conditions) <= 2 for rule in load(out).rules_)
