"""``mltsk fit --preset paper``: the search of Table II from the command line."""

import numpy as np
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


def test_fit_refuses_a_search_of_the_default_preset(refused, numbers, tmp_path):
    sentence = refused(
        "fit", numbers, "--labels 2 --search --out", tmp_path / "m.skops"
    )
    assert "--search is an option of --preset paper alone" in sentence
