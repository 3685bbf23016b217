"""``mltsk share``, ``plan`` and ``join``."""

import numpy as np
import pandas as pd
import pytest

from mltsk.io import load


@pytest.fixture
def files(tmp_path):
    """The tables of three sites."""
    rng = np.random.default_rng(0)
    paths = []
    for s in range(3):
        n = 90
        table = pd.DataFrame({"age": rng.normal(60, 10, n).round(1)})
        table["ward"] = rng.choice(["east", "west", "north"], n)
        table["gout"] = (table["age"] + rng.normal(0, 6, n) > 60).astype(int)
        paths.append(tmp_path / f"site{s}.csv")
        table.to_csv(paths[-1], index=False)
    return paths


def test_three_commands_make_one_model_of_many_sites(files, succeeds, mltsk, tmp_path):
    plan, model, page = (tmp_path / name for name in ("plan.json", "m.skops", "p.html"))
    summaries = [path.with_suffix(".summary") for path in files]
    for path, out in zip(files, summaries, strict=True):
        succeeds("share", path, "--labels gout --summary --out", out)
    succeeds("plan", *summaries, "--curves --out", plan)
    sums = [path.with_suffix(".sums") for path in files]
    for path, out in zip(files, sums, strict=True):
        text = succeeds("share", path, "--plan", plan, "--out", out).out
        assert "no count of fewer than 10 people" in text
    text = succeeds("join", *sums, "--page", page, "--out", model).out
    assert text.count("gout") >= 3
    assert "AUC" in text
    assert "Each site by a fit without it" in page.read_text()
    assert load(model).label_names_ == ("gout",)
    succeeds("predict", model, files[0])
    first = load(model).system_.term_coef
    succeeds("join", *sums[::-1], "--out", model)
    np.testing.assert_array_equal(load(model).system_.term_coef, first)
    corrected = tmp_path / "corrected.skops"
    correct = ("correct", model, "--decreasing age --out", corrected)
    assert "keep-sums" in mltsk(*correct).err
    succeeds("join", *sums, "--keep-sums --out", model)
    assert "squared loss" in succeeds(*correct).out
    for words in (
        ("join", plan, "--out", tmp_path / "x.skops"),
        ("join", *sums, sums[0], "--out", tmp_path / "x.skops"),
        ("join", *sums, "--threshold f1 --out", tmp_path / "x.skops"),
        ("plan", *sums, "--out", tmp_path / "x.json"),
        ("share", files[0], "--plan", sums[0], "--out", tmp_path / "x.sums"),
        ("share", files[0], "--out", tmp_path / "x.sums"),
        ("share", files[0], "--labels gout --least 50 --summary --out", plan),
        ("share", files[0], "--plan", plan, "--out", plan),
    ):
        refused = mltsk(*words)
        assert refused.status == 2, words
        assert "Traceback" not in refused.err
    assert not list(tmp_path.glob("x.*"))


def test_share_and_plan_refuse_what_would_be_ignored(
    files, succeeds, refused, tmp_path
):
    one, two = (path.with_suffix(".summary") for path in files[:2])
    succeeds("share", files[0], "--labels gout --summary --out", one)
    succeeds("share", files[1], "--labels gout --summary --out", two)
    out = tmp_path / "plan.json"
    assert "The summary of 'site0' is there twice" in refused(
        "plan", one, two, one, "--out", out
    )
    assert not out.exists()
    succeeds("plan", one, two, "--out", out)
    sums = tmp_path / "site.sums"
    sentence = refused("share", files[0], "--number age --plan", out, "--out", sums)
    assert "The plan knows what each column is" in sentence
    assert not sums.exists()


def test_plan_and_join_name_the_file_that_is_not_there(files, refused, tmp_path):
    gone = tmp_path / "gone.summary"
    for command in ("plan", "join"):
        sentence = refused(command, files[0], gone, "--out", tmp_path / "out")
        assert f"There is no file {gone}." in sentence


def test_commands_say_that_a_folder_is_no_table(succeeds, refused, tmp_path):
    folder = tmp_path / "tables.csv"
    folder.mkdir()
    sentence = refused("share", folder, "--labels gout --summary --out", tmp_path / "s")
    assert "tables.csv is a folder: name a file in it." in sentence


def in_unit(path, unit, *, times=1):
    """The file of a site with ages in a unit."""
    table = pd.read_csv(path)
    ages = (table["age"] * times).round(1).astype(str)
    changed = path.with_name(f"{path.stem}_{unit}.csv")
    table.assign(age=ages + f" {unit}".rstrip()).to_csv(changed, index=False)
    return changed


def test_sites_in_other_units_are_refused_by_the_plan_and_by_share(
    files, succeeds, refused, tmp_path
):
    years = [in_unit(path, "years") for path in files[:2]]
    months = in_unit(files[2], "months", times=12)
    bare = in_unit(files[2], "", times=12)
    summaries = {}
    for path in (*years, months, bare):
        summaries[path] = path.with_suffix(".summary")
        succeeds("share", path, "--labels gout --summary --out", summaries[path])
    of_years = [summaries[path] for path in years]
    plan = tmp_path / "plan.json"
    sentence = refused("plan", *of_years, summaries[months], "--out", plan)
    assert "Column 'age' is in years at one site and in months at another" in sentence
    told = succeeds("plan", *of_years, summaries[bare], "--out", plan).err
    assert "'age' is in years at one site and without a unit at another" in told
    assert "All numbers of 'age' at one site are far from those at another" in told
    succeeds("plan", *of_years, "--out", plan)
    sums = tmp_path / "x.sums"
    sentence = refused("share", months, "--plan", plan, "--out", sums)
    assert "is in months, and it was in years in the plan: convert it" in sentence
    assert not sums.exists()
    told = succeeds("share", bare, "--plan", plan, "--out", sums).err
    assert "age is far from all numbers of the plan" in told
    quiet = succeeds("share", years[0], "--plan", plan, "--out", sums).err
    assert "unit" not in quiet
