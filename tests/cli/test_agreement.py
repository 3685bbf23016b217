"""``fit``, ``evaluate`` and ``review`` say the same of the same table."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, evaluate, load, read_table
from mltsk.pages.judged import judge
from mltsk.pages.review import review_page

OF_LIVERS = ["ascites", "hepatomegaly", "spiders", "edema"]
OF_SMOKERS = [
    *("asthma", "bronch", "hbp", "pepticulcer", "chroniccough", "hayfever"),
    *("diabetes", "nervousbreak", "headache", "otherpain", "allergies"),
    *("nerves", "lackpep", "boweltrouble", "hbpmed"),
]
OF_STOPS = ["citation", "person", "vehicle"]
EVERY_STOP = 40  # of 51,920 stops, one in so many
N_STATEMENTS = 12


class Source(NamedTuple):
    """A table, what a command is told of it, and its labels."""

    data: str | Path
    labels: list[str]
    words: list


@pytest.fixture(scope="module", params=["pbc", "nhefs", "pbcseq", "stops"])
def source(request, tmp_path_factory):
    """The table in the box, smokers, visits of patients, or some of the stops."""
    if request.param == "pbc":
        return Source("pbc", OF_LIVERS, ["pbc"])
    if request.param in ("nhefs", "pbcseq"):
        path = real_table(f"{request.param}.csv")
        labels = OF_SMOKERS if request.param == "nhefs" else OF_LIVERS
        return Source(path, labels, [path, "--labels", ",".join(labels)])
    path = tmp_path_factory.mktemp("stops") / "stops.csv"
    stops = pd.read_csv(real_table("stops.csv.gz"))[::EVERY_STOP]
    stops = stops.drop(columns=["stop", "date"])
    # a printed table is read word by word
    stops.columns = [name.removesuffix(" searched") for name in stops.columns]
    stops.to_csv(path, index=False)
    return Source(path, OF_STOPS, [path, "--labels", ",".join(OF_STOPS)])


def real_table(name):
    """The path of a table in the folder that MLTSK_DATA names."""
    path = Path(os.environ.get("MLTSK_DATA", "")) / "tables" / name
    if not path.is_file():
        pytest.skip("MLTSK_DATA names no folder with the real tables")
    return path


def figures_of_labels(text, column, labels):
    """A column of the printed table of labels, by label."""
    lines = [line.split() for line in text.splitlines()]
    (header,) = (line for line in lines if line[:2] == ["label", "observed"])
    place = header.index(column)
    rows = {line[0]: line for line in lines if line and line[0] in labels}
    return [float(rows[label][place]) for label in labels]


@pytest.mark.parametrize("n_statements", [None, N_STATEMENTS])
def test_fit_evaluate_and_review_agree_on_thresholds_and_on_what_is_found(
    succeeds, source, tmp_path, n_statements
):
    out = tmp_path / "m.skops"
    length = [] if n_statements is None else ["--statements", str(n_statements)]
    printed = succeeds("fit", *source.words, *length, "--out", out).out
    model = load(out)

    # what a review of the same table says of the same model
    table = read_table(source.data, source.labels)
    asked = MLTSKClassifier(threshold="f1", max_statements=n_statements)
    page = review_page(table, model=asked, quick=True)
    assert_allclose(page.model.thresholds_, model.thresholds_, rtol=1e-9)
    judged = judge(page.model)
    told = figures_of_labels(printed, "sensitivity", source.labels)
    assert_allclose(told, [each.found / each.cases for each in judged], atol=6e-4)
    told = figures_of_labels(printed, "precision", source.labels)
    assert_allclose(told, [each.found / each.given for each in judged], atol=6e-4)
    told = figures_of_labels(printed, "AUC", source.labels)
    assert_allclose(told, [each.AUC[0] for each in judged], atol=6e-4)
    cannot = "Cannot be predicted better than by guessing" in printed
    assert cannot == any(each.is_guessed for each in judged)

    # evaluate predicts from these thresholds on
    on_rows = succeeds("evaluate", out, source.data).out
    chances = np.asarray(model.predict_proba(table.X))
    given = chances >= model.thresholds_
    expected = evaluate(table.Y, chances, predictions=given, per_label=True)
    told = figures_of_labels(on_rows, "sensitivity", source.labels)
    assert_allclose(told, expected["sensitivity"], atol=6e-4)


def test_patients_of_pbcseq_are_kept_together_without_being_asked(succeeds, tmp_path):
    path = real_table("pbcseq.csv")
    out = tmp_path / "m.skops"
    text = " ".join(
        succeeds("fit", path, "--labels", ",".join(OF_LIVERS), "--out", out).out.split()
    )
    assert "rows of one patient are kept together (312 groups" in text
    assert "every row scored as if its patient had not been there" in text
