"""``mltsk demo`` on fewer folds."""


def test_demo_writes_both_pages_and_stands_next_to_the_paper(succeeds, tmp_path):
    folder = tmp_path / "new" / "folder"
    result = succeeds("demo --quick --folds 2 --seed 1 --out", folder)
    lines = result.out.splitlines()
    assert lines[0].startswith("pbc: what do blood values say about 418 patients")
    assert any(
        line.startswith("  hepatomegaly can be predicted in part: ") for line in lines
    )
    assert f"review: {folder / 'index.html'}" in lines
    assert f"explorer: {folder / 'explorer.html'}" in lines
    ap = next(line for line in lines if line.startswith("  AP")).split()
    assert ap[1:4] == ["0.76", "±", "0.01"]
    assert all(0.74 < float(ap[i]) < 0.79 for i in (4, 7))
    files = sorted(file.name for file in folder.iterdir())
    assert files == ["explorer.html", "index.html"]
    assert "The model on one page" in (folder / "index.html").read_text(
        encoding="utf-8"
    )


def test_demo_refuses_a_file_in_the_place_of_the_folder(refused, tmp_path):
    (tmp_path / "out").write_text("here")
    assert "--out takes a folder" in refused("demo --out", tmp_path / "out")


def test_demo_refuses_a_bad_seed(refused, tmp_path):
    assert "'--seed'" in refused("demo --seed -1 --out", tmp_path)
