"""Progress: bars on a terminal, lines elsewhere."""

import pytest

from mltsk.cli import progress


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")


def test_lines_elsewhere(capsys):
    with progress.counting("folds", "done") as report:
        for done in range(3):
            report(done, 2)
    with progress.downloading("birds") as report:
        for done in range(100):
            report(done, None)
    with progress.working("thinking"):
        pass
    assert capsys.readouterr().err == "folds: 1 of 2 done\nfolds: 2 of 2 done\nbirds: downloading\nthinking …\n"


@pytest.mark.usefixtures("terminal")
def test_bars_on_a_terminal(capsys):
    with progress.counting("folds", "done") as report:
        report(1, 2)
    with progress.downloading("birds") as report:
        report(1000, 2000)
        report(5, None)
    with progress.working("thinking"):
        pass
    err = capsys.readouterr().err
    assert "1/2" in err
    assert "birds" in err
    assert "thinking" in err
