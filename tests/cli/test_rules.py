"""``mltsk rules``: formats, narrowing, names that try everything."""

import json

import pytest


def test_text_names_the_callers_features_and_labels(mltsk, model, names):
    text = mltsk("rules", model, "--top", 10).out
    assert all(name in text for name in [*names.features, *names.labels])
    assert text.count("governs") == 3


def test_top_shortens(mltsk, model):
    assert len(mltsk("rules", model, "--top", 1).out) < len(mltsk("rules", model).out)


def test_one_label_alone(mltsk, model, names):
    text = mltsk("rules", model, "--label", names.labels[0]).out
    assert names.labels[0] in text
    assert names.labels[3] not in text


def test_json_holds_everything_unless_told(mltsk, model, names):
    rules = json.loads(mltsk("rules", model, "--format", "json").out)
    assert (rules["features"], rules["labels"], len(rules["exceptions"])) == (names.features, names.labels, 3)
    assert len(rules["exceptions"][0]["conditions"]) == len(rules["general"][0]["shapes"]) == 10
    short = json.loads(mltsk("rules", model, "--format", "json", "--top", 2).out)
    assert len(short["exceptions"][0]["conditions"]) == len(short["general"][0]["shapes"]) == 2


def test_a_long_model_is_shortened_by_its_data_alone(mltsk, refused, model, awkward, names):
    said = refused("rules", model, "--terms", 3)
    assert "holds no rows to shorten it by: fit it with `mltsk fit --terms 3`, or name its data with --data" in said
    text = mltsk("rules", model, "--terms", 3, "--data", awkward).out
    assert "cover the whole model" in text
    assert all(name in text for name in names.labels)


def test_a_short_model_is_printed_as_it_is(mltsk, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 5, "--terms", 3, "--out", out).status == 0
    assert mltsk("rules", out, "--terms", 4).out == mltsk("rules", out).out


def test_the_papers_model_has_rules_and_cannot_be_shortened(mltsk, refused, awkward, tmp_path):
    out = tmp_path / "m.skops"
    assert mltsk("fit", awkward, "--labels", 5, "--preset", "paper", "--out", out).status == 0
    assert mltsk("rules", out).out.count("governs") == 3
    assert "holds a PaperMLTSK, which cannot be shortened" in refused("rules", out, "--terms", 3)


def test_html_is_a_page_with_every_name_escaped(mltsk, model, tmp_path):
    out = tmp_path / "rules.html"
    assert mltsk("rules", model, "--format", "html", "--top", 10, "--out", out).status == 0
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_markdown_to_a_file(mltsk, model, tmp_path):
    assert mltsk("rules", model, "--format", "md", "--out", tmp_path / "r.md").out == ""
    assert "### Exception 1" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_categories_are_called_by_name(mltsk, tmp_path, csv_file):
    rows = [[i % 7, "red" if i % 2 else "blue", i % 2, (i // 2) % 2] for i in range(60)]
    data = csv_file("c.csv", ["n", "colour", "p", "q"], rows)
    assert mltsk("fit", data, "--labels", 2, "--rules", 2, "--out", tmp_path / "m.skops").status == 0
    text = mltsk("rules", tmp_path / "m.skops").out
    assert "red" in text or "blue" in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "nope"], "no label called 'nope'"),
        (["--top", 0], "'--top'"),
        (["--format", "pdf"], "'--format'"),
        (["--out", "no/such/folder/r.txt"], "does not exist"),
    ],
)
def test_bad_options_are_refused(refused, model, options, says):
    assert says in refused("rules", model, *options)


def test_a_missing_model_is_refused(refused, tmp_path):
    assert "There is no model file" in refused("rules", tmp_path / "none.skops")
