"""``mltsk explore``: the page of a model, with and without rows."""

import json
import re

import pytest

from mltsk.datasets import make_multilabel_rules
from mltsk.io import save
from mltsk.paper.methods import MLkNN


def data_of(path):
    page = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="model">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(found)


def test_a_page_of_the_model_alone(mltsk, model, names, tmp_path):
    result = mltsk("explore", model, "--out", tmp_path / "page.html")
    assert result.status == 0
    data = data_of(tmp_path / "page.html")
    assert (data["features"], data["labels"]) == (names.features, names.labels)
    assert data["examples"][0]["name"] == "every feature at its median"
    assert "<title>awkward: rules to explore</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_rows_become_examples_with_their_labels(mltsk, model, awkward, tmp_path):
    assert mltsk("explore", model, "--data", awkward, "--out", tmp_path / "p.html", "--title", "<i>").status == 0
    data = data_of(tmp_path / "p.html")
    assert data["examples"][0]["name"].startswith("row ")
    assert sum(example["truth"] is not None for example in data["examples"]) == 12
    assert set(data["correlation"]) == {"consequents", "labels"}
    assert "<h1>&lt;i&gt;</h1>" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_rows_without_labels_are_examples_too(mltsk, model, names, csv_file, tmp_path):
    rows = csv_file("rows.csv", names.features, [[0.1] * 10, [0.9] * 10])
    assert mltsk("explore", model, "--data", rows, "--out", tmp_path / "p.html").status == 0
    data = data_of(tmp_path / "p.html")
    assert [example["truth"] for example in data["examples"][:2]] == [None, None]
    assert set(data["correlation"]) == {"consequents"}


def test_bad_input_is_one_sentence(refused, model, tmp_path):
    assert "does not exist" in refused("explore", model, "--out", tmp_path / "no" / "page.html")
    assert "no column" in refused("explore", model, "--data", "yeast", "--out", tmp_path / "page.html")
    made = make_multilabel_rules(n_samples=40, random_state=0)
    other = save(MLkNN().fit(made.X, made.Y), tmp_path / "knn.skops")
    assert "holds a MLkNN, which has no rules" in refused("explore", other, "--out", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_compared_method_in_a_file_still_predicts(mltsk, command, csv_file, tmp_path):
    made = make_multilabel_rules(n_samples=40, random_state=0)
    path = save(MLkNN().fit(*made.frames()), tmp_path / "knn.skops")
    rows = [[*x, *y] for x, y in zip(made.X.tolist(), made.Y.tolist(), strict=True)]
    data = csv_file("rows.csv", [*made.feature_names, *made.label_names], rows)
    assert mltsk(command, path, data).status == 0
