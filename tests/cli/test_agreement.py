"""``fit``, ``evaluate`` and ``review`` say the same of the same table."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate, load, read_table
from mltsk.pages.review import review_page
from mltsk.pages.worth import judge

LABELS = "ascites,hepatomegaly,spiders,edema"
N_STATEMENTS = 12


@pytest.fixture(scope="module", params=["pbc", "pbcseq"])
def source(request):
    """The table in the box, or the file of visits, whose patients come again."""
    if request.param == "pbc":
        return "pbc"
    path = Path(os.environ.get("MLTSK_DATA", "")) / "tables" / "pbcseq.csv"
    if not path.is_file():
        pytest.skip("MLTSK_DATA names no folder with the real tables")
    return path


def words_of_source(source):
    """What a command is told of a table."""
    return [source] if source == "pbc" else [source, "--labels", LABELS]


def figures_of_labels(text, column):
    """A column of the printed table of labels, by label."""
    lines = [line.split() for line in text.splitlines()]
    (header,) = (line for line in lines if line[:2] == ["label", "observed"])
    place = header.index(column)
    rows = {line[0]: line for line in lines if line and line[0] in LABELS.split(",")}
    return [float(rows[label][place]) for label in LABELS.split(",")]


@pytest.mark.parametrize("n_statements", [None, N_STATEMENTS])
def test_fit_evaluate_and_review_agree_on_thresholds_and_on_what_is_found(
    succeeds, source, tmp_path, n_statements
):
    out = tmp_path / "m.skops"
    length = [] if n_statements is None else ["--statements", str(n_statements)]
    printed = succeeds("fit", *words_of_source(source), *length, "--out", out).out
    model = load(out)

    # what a review of the same table says of the same model
    labels = None if source == "pbc" else LABELS.split(",")
    table = read_table(source) if labels is None else read_table(source, labels)
    asked = MLTSKClassifier(threshold="f1", max_statements=n_statements)
    page = review_page(table, model=asked, quick=True)
    assert_allclose(page.model.thresholds_, model.thresholds_, rtol=1e-9)
    judged = judge(page.model)
    told = figures_of_labels(printed, "sensitivity")
    assert_allclose(told, [each.found / each.cases for each in judged], atol=6e-4)
    told = figures_of_labels(printed, "precision")
    assert_allclose(told, [each.found / each.given for each in judged], atol=6e-4)
    told = figures_of_labels(printed, "AUC")
    assert_allclose(told, [each.AUC[0] for each in judged], atol=6e-4)
    cannot = "Cannot be told better than by guessing" in printed
    assert cannot == any(each.is_guessed for each in judged)

    # evaluate predicts from these thresholds on
    on_rows = succeeds("evaluate", out, source).out
    chances = np.asarray(model.predict_proba(table.X))
    given = chances >= model.thresholds_
    expected = evaluate(table.Y, chances, predictions=given, per_label=True)
    told = figures_of_labels(on_rows, "sensitivity")
    assert_allclose(told, expected["sensitivity"], atol=6e-4)


def test_patients_of_pbcseq_are_kept_together_without_being_asked(succeeds, tmp_path):
    path = Path(os.environ.get("MLTSK_DATA", "")) / "tables" / "pbcseq.csv"
    if not path.is_file():
        pytest.skip("MLTSK_DATA names no folder with the real tables")
    out = tmp_path / "m.skops"
    text = " ".join(succeeds("fit", path, "--labels", LABELS, "--out", out).out.split())
    assert "rows of one patient are kept together (312 groups" in text
    assert "every row scored as if its patient had not been there" in text
