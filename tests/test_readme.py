"""The README's example runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(
        r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    exec(compile(code, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert re.search(r"^patient +identifier +418 ", shown, flags=re.MULTILINE)
    assert "more likely with" in shown
    assert "hepatomegaly" in shown
    assert (tmp_path / "review.html").stat().st_size > 100_000


def test_pictures_and_links_work_on_a_package_index_and_lead_to_files():
    text = README.read_text(encoding="utf-8")
    ours = re.findall(
        r"\]\((https://(?:raw\.githubusercontent|github)\.com/mltsk/mltsk/(?:blob/)?main/([^)#]+))\)",
        text,
    )
    assert {path for address, path in ours if "raw." in address} >= {
        "docs/images/one_page.png",
        "docs/images/explorer.png",
    }
    assert [path for _, path in ours if not (README.parent / path).exists()] == []
    assert re.findall(r"\]\((?!https://)[^)]*\)", text) == []


def test_readme_is_one_screen_and_a_few_more():
    text = README.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.split()) < 850
    code = text[text.index("```") :]
    assert code.splitlines()[1].startswith("pip install mltsk ")


def test_differences_from_others_are_those_of_the_results():
    text = README.read_text(encoding="utf-8")
    results = (README.parent / "docs/results/rivals.md").read_text(encoding="utf-8")
    behind = results.partition("\n\n")[0]  # where ours is not first
    n_sets = len(behind.splitlines()) - 2  # below the head
    told = re.search(r"On (\d+) of 17 data sets(.*?)at most", text, flags=re.DOTALL)
    assert int(told[1]) == n_sets
    for number in re.findall(r"\.\d{3}", told[2]):
        assert f"| -0{number} |" in behind, number
