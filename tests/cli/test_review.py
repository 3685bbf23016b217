"""``mltsk review``."""

from html import unescape

import pytest


def test_a_page_and_a_line_per_label(mltsk, awkward, names, tmp_path):
    out = tmp_path / "review.html"
    result = mltsk("review", awkward, "--labels", 5, "--quick", "--out", out)
    assert result.status == 0
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".html"] == ["review.html"]
    lines = [line for line in result.out.splitlines() if line.startswith("  ")]
    assert len(lines) == 5
    assert all(line.strip().startswith(name) for line, name in zip(lines, names.labels, strict=True))
    assert result.out.splitlines()[-1] == f"review: {out}"
    page = out.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "ключ" in page
    assert "review of awkward: 3 of 3 steps" in result.err


def test_what_is_said_about_columns_and_thresholds_counts(mltsk, tmp_path):
    out = tmp_path / "review.html"
    wishes = ("--threshold", "recall=0.9", "--nominal", "stage", "--seed", 3, "--quick", "--out", out)
    result = mltsk("review", "pbc", *wishes)
    assert result.status == 0
    assert "hepatomegaly can be found: 9 of 10 cases are found" in result.out
    page = unescape(out.read_text(encoding="utf-8"))
    assert "threshold=('recall', 0.9)" in page
    assert "3 nominal columns" in page


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--labels", 5, "--cost", "1,5"), "--cost says what --threshold cost weighs"),
        (("--labels", "nothing"), "has no column 'nothing'"),
        ((), "has no labels"),
    ],
)
def test_bad_input_is_one_sentence(refused, awkward, tmp_path, options, says):
    assert says in refused("review", awkward, *options, "--out", tmp_path / "review.html")
    assert not (tmp_path / "review.html").exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(refused, awkward, tmp_path):
    assert "does not exist" in refused("review", awkward, "--labels", 5, "--out", tmp_path / "no" / "page.html")
