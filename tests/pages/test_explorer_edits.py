"""What a page needs to edit a model, and the page's own solver next to Python's."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, PaperMLTSK, edited, load, save
from mltsk.datasets import make_multilabel_rules
from mltsk.edits import fingerprint
from mltsk.fit.least_change import ContradictionError, nearest
from mltsk.pages import explorer_edits
from mltsk.pages.explorer import explorer_data
from mltsk.pages.render import source

DATA = make_multilabel_rules(n_samples=120, random_state=0)

# Reads problems from the file that is named first, prints the shortest moves.
SOLVE = """
const { readFileSync } = require("fs");
const problems = JSON.parse(readFileSync(process.argv[2], "utf8"));
const solved = problems.map(({ M, least, isEqual }) => {
  try {
    const rows = M.map((row) => Float64Array.from(row));
    const change = new LeastChange(rows, least, isEqual);
    return change.u.map((value) => value * change.scale);
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return null;
  }
});
console.log(JSON.stringify(solved.map((u) => u && Array.from(u))));
"""


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)


def problems(count):
    """Demands of all sorts: redundant, contradictory, equations and inequalities."""
    rng = np.random.default_rng(0)
    for number in range(count):
        n = int(rng.integers(1, 12))
        k = int(rng.integers(1, 20))
        M = rng.normal(size=(k, n))
        if number % 3 == 0:
            M[k // 2 :] = M[: k - k // 2] * rng.uniform(0.5, 2, size=(k - k // 2, 1))
        is_equal = rng.random(k) < (0.3 if n > 4 else 0.1)
        least = rng.normal(size=k) * (number % 4 > 0)
        if number % 2:  # some numbers meet all of it
            least = M @ rng.normal(size=n) - np.where(is_equal, 0, rng.random(k))
        yield M, least, is_equal


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_solver_of_the_page_finds_what_nearest_finds(tmp_path):
    asked = list(problems(400))
    plain = [
        {"M": M.tolist(), "least": least.tolist(), "isEqual": is_equal.tolist()}
        for M, least, is_equal in asked
    ]
    (tmp_path / "in.json").write_text(json.dumps(plain))
    program = source("explorer/model.js") + source("explorer/quadratic.js") + SOLVE
    (tmp_path / "run.js").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "run.js", tmp_path / "in.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    n_met = 0
    for problem, u in zip(asked, json.loads(done.stdout), strict=True):
        try:
            expected = nearest(*problem).u
        except ContradictionError:
            assert u is None
            continue
        n_met += 1
        assert_allclose(u, expected, atol=1e-8 * (1 + np.abs(expected).max()))
    assert 200 <= n_met < 400


def test_pages_that_hold_rows_hold_sums(model):
    with_rows = explorer_data(model, DATA.X)
    assert with_rows["edits"]["model"] == fingerprint(model.system_)
    assert explorer_data(model, DATA.X, rows=False)["edits"] is None
    assert explorer_data(model, DATA.X, edits=False)["edits"] is None
    assert explorer_data(model)["edits"] is None
    assert explorer_data(model, edits=True)["edits"]["refused"] == ""


def test_models_that_cannot_be_edited_say_why(model, tmp_path, monkeypatch):
    without = load(save(model, tmp_path / "model.skops"))
    assert "keep_sums=True" in explorer_data(without, edits=True)["edits"]["refused"]
    few = explorer_data(model, max_labels=2, edits=True)["edits"]
    assert few["refused"] == "This page has some of the labels alone."
    same = model.constrained(curves={"x1": {"same": True}})
    refused = explorer_data(same, edits=True)["edits"]["refused"]
    assert "the same for several labels" in refused
    monkeypatch.setattr(explorer_edits, "MAX_EDIT_COLUMNS", 5)
    refused = explorer_data(model, edits=True)["edits"]["refused"]
    assert refused.endswith("too large for a page: correct it with `mltsk correct`.")


def test_models_without_curves_offer_no_edits(model):
    assert explorer_data(model.shorten(5), edits=True)["edits"] is None
    unit = MLTSKClassifier(n_rules=0, scale="unit").fit(DATA.X, DATA.Y)
    assert explorer_data(unit, edits=True)["edits"] is None
    papers = PaperMLTSK(2, correlation_weight=0.01).fit(DATA.X, DATA.Y)
    assert explorer_data(papers, edits=True)["edits"] is None


def test_a_page_has_the_log_of_an_edited_model(model):
    edit = {
        "feature": model.system_.feature_names[0],
        "labels": [model.label_names_[0]],
        "action": "off",
        "author": "A\n. Person",
        "reason": "<b>",
        "time": "2026-01-31",
    }
    content = {"format": "mltsk-edits", "version": 1, "edits": [edit]}
    content["model"] = fingerprint(model.system_)
    data = explorer_data(edited(model, content), rows=False)
    assert data["edits"] is None
    (told,) = data["log"]
    assert told["author"] == "A . Person"
    assert "has no effect" in told["told"]
