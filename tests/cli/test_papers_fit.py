"""``mltsk fit --preset paper``: the search of Table II from the command line."""

import numpy as np
import pandas as pd
import pytest

from mltsk import load

FIXED = "--rules 1 --width-scale 10 --correlation-weight 0.1 --formulas text"


@pytest.fixture
def numbers(tmp_path):
    """A file of 40 rows, two features and two labels."""
    rng = np.random.default_rng(0)
    lines = ["age,bmi,gout,flu"]
    for age, bmi in rng.normal([50, 25], [10, 3], (40, 2)).round(2):
        lines.append(f"{age},{bmi},{int(age > 50)},{int(bmi > 25)}")
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_fit_searches_what_the_user_does_not_give(succeeds, numbers, tmp_path):
    out = tmp_path / "m.skops"
    fit = ("fit", numbers, "--labels 2 --preset paper --search --out", out, FIXED)
    text = succeeds(*fit).out
    model = load(out)
    assert (model.n_rules, model.width_scale, model.formulas) == (1, 10.0, "text")
    assert f"l1_weight {model.l1_weight:g}" in text
    assert "best AP of 20 settings on five folds" in text
    assert "chosen without it" in text
    assert "no estimate for new ones" not in text


def test_fit_searches_for_one_label_by_its_precision(succeeds, numbers, tmp_path):
    out = tmp_path / "m.skops"
    options = "--labels gout --drop flu --preset paper --search"
    text = succeeds("fit", numbers, options, FIXED, "--out", out).out
    assert "best AP of gout of 20 settings" in " ".join(text.split())
    assert load(out).label_names_ == ("gout",)


def test_fit_takes_the_advice_about_rows_on_which_no_rule_fires(
    succeeds, numbers, tmp_path
):
    options = "--labels 2 --preset paper --rules 2 --width-scale 0.00001"
    fit = ("fit", numbers, options, "--correlation-weight 0.01")
    dead = succeeds(*fit, "--out", tmp_path / "dead.skops")
    advice = "underflow='softmax', which computes in logarithms"
    assert advice in " ".join((dead.out + dead.err).split())
    out = tmp_path / "alive.skops"
    alive = succeeds(*fit, "--underflow softmax --out", out)
    assert "no rule fires" not in alive.out + alive.err
    assert load(out).unfired_share_ == 0


@pytest.mark.parametrize(
    ("symbol", "option"), [("--K", "--rules"), ("--alpha", "--correlation-weight")]
)
def test_fit_answers_symbols_with_options(refused, numbers, tmp_path, symbol, option):
    out = tmp_path / "m.skops"
    sentence = refused("fit", numbers, "--labels 2", symbol, "3 --out", out)
    assert f"The paper's symbol is {option} here (see `mltsk fit --help`)." in sentence


@pytest.mark.parametrize(
    ("symbol", "where"),
    [
        ("--c", "mltsk rules shows it"),
        ("--δ", "mltsk rules shows it"),
        ("--P", "mltsk rules shows it"),
        ("--R", "in Python it is coupling_"),
    ],
)
def test_fit_says_where_to_read_symbols_that_it_finds(
    refused, numbers, tmp_path, symbol, where
):
    out = tmp_path / "m.skops"
    sentence = refused("fit", numbers, "--labels 2", symbol, "3 --out", out)
    name = symbol.lstrip("-")
    assert f"The paper's {name} is found by the fit: {where}" in sentence


def test_fit_refuses_a_search_of_the_default_preset(refused, numbers, tmp_path):
    sentence = refused(
        "fit", numbers, "--labels 2 --search --out", tmp_path / "m.skops"
    )
    assert "--search is an option of --preset paper alone: add it" in sentence


def test_predict_and_evaluate_have_scores_where_there_are_no_probabilities(
    succeeds, numbers, tmp_path
):
    out = tmp_path / "m.skops"
    succeeds("fit", numbers, "--labels 2 --preset paper", FIXED, "--out", out)
    header, first, *_ = succeeds("predict", out, numbers, "--reasons").out.splitlines()
    assert header.startswith("score:gout,gout,reasons:gout,score:flu,")
    model = load(out)
    X = pd.read_csv(numbers)[["age", "bmi"]]
    score = (model.decision_function(X) + model.thresholds_)[0, 0]
    assert float(first.split(",")[0]) == pytest.approx(score, rel=1e-4)
    assert "Brier" not in succeeds("evaluate", out, numbers).out


def test_predict_notes_rows_on_which_no_rule_fires(succeeds, numbers, tmp_path):
    out = tmp_path / "m.skops"
    options = "--labels 2 --preset paper --rules 1 --correlation-weight 0.1"
    succeeds("fit", numbers, options, "--out", out)
    assert "no rule fires" not in succeeds("predict", out, numbers).err
    far = tmp_path / "far.csv"
    far.write_text("age,bmi\n900,900\n50,25\n", encoding="utf-8")
    said = " ".join(succeeds("predict", out, far).err.split())
    assert "far.csv: no rule fires on 1 row, where all scores are 0" in said


def test_fit_judges_a_setting_that_leaves_nothing_to_search(
    succeeds, numbers, tmp_path
):
    given = f"{FIXED} --l1-weight 0.1 --init-ridge 1"
    options = f"--labels 2 --preset paper --search {given} --out"
    text = succeeds("fit", numbers, options, tmp_path / "m.skops").out
    said = " ".join(text.split())
    assert "nothing was left to search: all of Table II was given" in said
    assert "chosen without it" in said
