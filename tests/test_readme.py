"""The README's example runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert re.search(r"^patient +identifier +418 ", shown, flags=re.MULTILINE)
    assert "more likely with" in shown
    assert "hepatomegaly" in shown
    assert (tmp_path / "review.html").stat().st_size > 100_000


def test_every_link_into_the_repository_exists():
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    assert [t for t in targets if not (README.parent / t).exists()] == []
