"""``mltsk adapt``: a model for another site."""

import numpy as np
import pandas as pd
import pytest

from mltsk.io import load


@pytest.fixture
def sites(tmp_path, succeeds):
    """A model of one site, and the file of another."""
    rng = np.random.default_rng(0)
    n = 260
    table = pd.DataFrame({"age": rng.normal(60, 10, n).round(1)})
    table["ward"] = rng.choice(["east", "west"], n)
    table["gout"] = (table["age"] + rng.normal(0, 6, n) > 62).astype(int)
    table["flu"] = ((table["ward"] == "east") & (rng.random(n) < 0.7)).astype(int)
    table[:200].to_csv(tmp_path / "old.csv", index=False)
    table[200:].to_csv(tmp_path / "new.csv", index=False)
    model = tmp_path / "old.skops"
    succeeds("fit", tmp_path / "old.csv", "--labels gout,flu --out", model)
    return model, tmp_path / "new.csv"


def test_adapt_prints_four_ways_and_changes_and_writes_a_model(
    sites, succeeds, tmp_path
):
    model, new = sites
    out = tmp_path / "adapted.skops"
    text = succeeds("adapt", model, new, "--out", out).out
    for way in ("as it is", "recalibrated", "adapted", "refitted from nothing"):
        assert way in text
    assert "changes:" in text
    assert load(out).label_names_ == ("gout", "flu")
    succeeds("predict", out, new)


def test_adapt_refuses_files_it_cannot_use_with_one_sentence(sites, mltsk, tmp_path):
    model, new = sites
    out = tmp_path / "x.skops"
    pd.DataFrame({"a": [1, 2], "b": [0, 1]}).to_csv(tmp_path / "no.csv", index=False)
    frame = pd.read_csv(new)
    frame.drop(columns=["age", "ward"]).to_csv(tmp_path / "bare.csv", index=False)
    for name, word in (("no.csv", "labels"), ("bare.csv", "features")):
        refused = mltsk("adapt", model, tmp_path / name, "--out", out)
        assert refused.status == 2
        assert f"none of the {word}" in refused.err
    assert mltsk("adapt", model, new, "--out", model).status == 2
    assert not out.exists()


def test_adapt_refuses_another_unit_and_asks_about_far_numbers(
    sites, succeeds, refused, tmp_path
):
    _, new = sites
    old = pd.read_csv(tmp_path / "old.csv", dtype=str)
    in_years = tmp_path / "years.csv"
    old.assign(age=old["age"] + " years").to_csv(in_years, index=False)
    model = tmp_path / "years.skops"
    succeeds("fit", in_years, "--labels gout,flu --rules 0 --out", model)
    frame = pd.read_csv(new)
    in_months = tmp_path / "months.csv"
    months = (frame["age"] * 12).round().astype(int)
    frame.assign(age=months.astype(str) + " months").to_csv(in_months, index=False)
    out = tmp_path / "x.skops"
    sentence = refused("adapt", model, in_months, "--out", out)
    assert "is in months, and it was in years when the model was fitted" in sentence
    assert not out.exists()
    frame.assign(age=months).to_csv(in_months, index=False)
    told = succeeds("adapt", model, in_months, "--out", out).err
    assert "age is without a unit here and was in years" in told
    assert "age is far from all numbers of the fit" in told
