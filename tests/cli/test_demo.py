"""``mltsk demo``, on fewer folds and rules."""

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


def test_it_prints_metrics_next_to_the_papers_and_rules_and_writes_the_page(mltsk, folder):
    result = mltsk("demo", "--out", folder, "--folds", 2, "--rules", 3, "--seed", 1)
    assert result.status == 0
    assert "2-fold cross-validation, seed 1" in result.out
    ap = next(line for line in result.out.splitlines() if line.startswith("  AP"))
    assert 0.74 < float(ap.split()[1]) < 0.79
    assert "0.76 ± 0.01" in ap
    assert 0.74 < float(ap.split()[4]) < 0.79  # leaving one out
    assert "The whole of a model with at most 5 statements per label (leaving one out, AP 0.7" in result.out
    assert "smaller one" not in result.out
    assert "The paper's rules collapse" in result.err
    assert result.out.splitlines()[-2] == f"report: {folder / 'index.html'}"
    assert result.out.splitlines()[-1] == f"explorer: {folder / 'explorer.html'}"
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<h1>ML-TSK FS on yeast</h1>" in page
    assert sorted(file.name for file in folder.iterdir()) == ["explorer.html", "index.html"]


def test_progress_elsewhere_than_on_a_terminal_is_a_line_a_fit(mltsk, folder):
    lines = mltsk("demo", "--out", folder, "--folds", 2, "--rules", 2, "--terms", 1).err.splitlines()
    assert lines[:4] == [f"cross-validation: {i} of 4 fits" for i in (1, 2, 3, 4)]


def test_a_file_in_the_place_of_the_folder_is_refused(refused, tmp_path):
    (tmp_path / "out").write_text("here")
    assert "--out takes a folder" in refused("demo", "--out", tmp_path / "out")


def test_a_bad_seed_is_refused(refused, tmp_path):
    assert "'--seed'" in refused("demo", "--seed", "-1", "--out", tmp_path)
