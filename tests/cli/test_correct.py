"""``mltsk correct`` and directions of ``mltsk fit``."""

import json

import numpy as np
import pandas as pd
import pytest

from mltsk import load
from mltsk.cli.correct import directions_of
from mltsk.edits import fingerprint


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "albumin": rng.normal(3.5, 0.5, n).round(2),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    strength = np.sin(frame["age"] / 8) - frame["albumin"] + 3.5
    frame["fever"] = (strength + rng.normal(size=n) > 0).astype(int)
    frame["gout"] = (strength + rng.normal(size=n) > 0.5).astype(int)
    path = tmp_path_factory.mktemp("table") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def model(table, tmp_path, succeeds):
    path = tmp_path / "model.skops"
    succeeds("fit", table, "--labels 2 --keep-sums --out", path)
    return path


def assert_falls(clf, table, labels):
    rows = pd.read_csv(table).iloc[[0] * 100].reset_index(drop=True)
    rows["albumin"] = np.linspace(2, 5, 100)
    changes = np.diff(clf.decision_function(rows[["age", "albumin", "sex"]]), axis=0)
    assert (changes[:, labels] < 1e-9).all()


def test_fit_takes_directions_and_prints_what_they_cost(table, tmp_path, succeeds):
    out = tmp_path / "model.skops"
    wishes = "--decreasing albumin --increasing 'age: gout'"
    result = succeeds("fit", table, "--labels 2", wishes, "--out", out)
    assert "wishes: age rises for gout and albumin falls" in result.out
    header = "label AP before AP lost log loss before log loss added"
    assert header in " ".join(result.out.split())
    assert_falls(load(out), table, [0, 1])


@pytest.mark.parametrize("option", ["--rules 3", "--coupling ridge", "--scale unit"])
def test_fit_refuses_what_directions_do_not_go_with(table, tmp_path, mltsk, option):
    out = tmp_path / "model.skops"
    result = mltsk("fit", table, "--labels 2 --increasing age", option, "--out", out)
    assert result.status == 2
    name = option.split()[0]
    assert f"{name} does not go with --increasing and --decreasing" in result.err


def test_correct_needs_no_rows_and_can_be_done_again(model, table, tmp_path, succeeds):
    once, twice = tmp_path / "once.skops", tmp_path / "twice.skops"
    result = succeeds("correct", model, "--decreasing albumin --out", once)
    assert "generalised cross-validation" in result.out
    assert result.out.endswith(f"\n\nfile  {once}\n")
    result = succeeds("correct", once, "--without 'sex: gout' --out", twice)
    assert "albumin falls and sex has no effect for gout" in result.out
    assert_falls(load(twice), table, [0, 1])


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ("--increasing albumn", "'albumn' is no feature: did you mean 'albumin'?"),
        ("--increasing sex", "'sex' is nominal"),
        ("--increasing age --decreasing age", "'age' cannot both rise and fall"),
        ("--increasing 'age: flu'", "which is no label"),
        ("--increasing age:", "'age:' names no label after its colon"),
        ("--without weight", "'weight' is no feature: they are age, albumin and sex."),
        ("", "No correction is asked for: give --increasing, --decreasing, --without"),
        ("--curves missing.json", "No curves can be read from"),
    ],
)
def test_correct_refuses_wrong_wishes_in_one_sentence(
    model, tmp_path, mltsk, wishes, says
):
    result = mltsk("correct", model, wishes, "--out", tmp_path / "new.skops")
    assert result.status == 2
    assert says in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "new.skops").exists()


def test_correct_refuses_curves_that_contradict_each_other(model, tmp_path, mltsk):
    curves = tmp_path / "curves.json"
    curves.write_text(json.dumps({"age": [[50, 0], [50, 1]]}))
    result = mltsk("correct", model, "--curves", curves, "--out", tmp_path / "x.skops")
    assert result.status == 2
    assert "No curve of this model does all of this" in result.err


def test_correct_refuses_a_file_without_sums(table, tmp_path, mltsk, succeeds):
    path = tmp_path / "model.skops"
    succeeds("fit", table, "--labels 2 --out", path)
    result = mltsk("correct", path, "--increasing age --out", tmp_path / "x.skops")
    assert result.status == 2
    assert "--keep-sums" in result.err


def test_directions_of_knows_names_with_colons():
    features = ["a:b", "c"]
    assert directions_of(["a:b"], ["c: x"], features) == {"a:b": 1, "c": {"x": -1}}


@pytest.fixture
def edits(model, tmp_path):
    """A file of one edit, as the page of the model would export it."""
    edit = {
        "feature": "albumin",
        "labels": ["fever", "gout"],
        "action": "falls",
        "author": "Dr. \u001b[2J Person",
        "reason": "known *since* 1958",
        "time": "2026-01-31T12:00:00Z",
    }
    content = {
        "format": "mltsk-edits",
        "version": 1,
        "model": fingerprint(load(model).system_),
        "edits": [edit],
    }
    path = tmp_path / "edits.json"
    path.write_text(json.dumps(content))
    return path


def test_correct_applies_edits_whose_log_rules_tell(
    model, edits, table, tmp_path, succeeds
):
    out = tmp_path / "edited.skops"
    result = succeeds("correct", model, "--edits", edits, "--out", out)
    assert "wishes: albumin falls" in result.out
    assert_falls(load(out), table, [0, 1])
    said = "albumin may only fall for fever and gout (Dr. ?[2J Person, 2026-01-31: "
    text = succeeds("rules", out).out
    assert text.startswith(f"This model was edited by hand:\n\n- {said}known *since*")
    markdown = succeeds("rules", out, "--format md").out
    assert "known \\*since\\* 1958" in markdown
    page = succeeds("rules", out, "--format html").out
    assert "This model was edited by hand" in page
    assert "edited by hand" not in succeeds("rules", model).out


def test_correct_takes_edits_and_wishes_together(model, edits, tmp_path, succeeds):
    out = tmp_path / "edited.skops"
    result = succeeds("correct", model, "--without sex --edits", edits, "--out", out)
    assert "wishes: albumin falls and sex has no effect" in result.out
    assert len(load(out).edits_) == 1


def test_correct_refuses_edits_of_another_model(
    model, edits, tmp_path, mltsk, succeeds
):
    other = tmp_path / "other.skops"
    succeeds("correct", model, "--without sex --out", other)
    out = tmp_path / "edited.skops"
    result = mltsk("correct", other, "--edits", edits, "--out", out)
    assert result.status == 2
    assert "was made in the page of another model" in result.err
    assert result.err.count("\n") == 1
    assert not out.exists()
