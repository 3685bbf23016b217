"""``mltsk reproduce`` and ``mltsk report``: from a user's file to a page, and what is refused."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from mltsk.paper.experiments.store import Store


@pytest.fixture
def quick(awkward):
    return [
        "reproduce",
        "-d",
        awkward,
        "--labels",
        "5",
        "-m",
        "ml-knn,sklearn.dummy:DummyClassifier",
        "--folds",
        "3",
    ]


def test_own_data_and_own_estimator_end_in_a_page(mltsk, quick, tmp_path):
    result = mltsk(
        *quick, "--grid", "fast", "--no-studies", "-j", 1, "--out", tmp_path / "run"
    )
    assert result.status == 0, result.err
    page = (tmp_path / "run" / "index.html").read_text()
    assert "DummyClassifier" in page
    assert "awkward" in page
    assert f"report of all results: {tmp_path / 'run' / 'index.html'}" in result.out


def test_what_is_missing_and_how_long_it_takes_is_said_first(
    mltsk, tmp_path, monkeypatch
):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    args = ("-m", "ml-knn", "--grid", "fast", "--no-studies", "-j", 1)
    result = mltsk("reproduce", "-d", "yeast,flags", *args, "--out", tmp_path / "run")
    assert result.status == 2
    assert (
        "The data set 'flags' is not on this machine: run `mltsk datasets fetch flags`"
        in result.err
    )
    assert not (tmp_path / "run").exists()
    result = mltsk("reproduce", *args, "--out", tmp_path / "run")
    first, how, time, *_ = result.err.splitlines()
    assert first.startswith("here: yeast; missing: flags, cal500")
    assert "mltsk datasets fetch flags cal500" in how
    assert re.fullmatch(r"5 pieces of work: about \d+:\d\d on one core", time)


def test_a_report_is_written_again_without_running(mltsk, quick, tmp_path):
    mltsk(*quick, "--grid", "fast", "--no-studies", "-j", 1, "--out", tmp_path / "run")
    page = tmp_path / "run" / "index.html"
    before = page.read_text()
    page.unlink()
    assert mltsk("report", tmp_path / "run").status == 0
    assert page.read_text() == before
    assert (
        mltsk("report", tmp_path / "run", "--out", tmp_path / "elsewhere").status == 0
    )
    assert (tmp_path / "elsewhere" / "index.html").read_text() == before


def test_a_failing_method_is_status_1_and_named(mltsk, awkward, tmp_path):
    args = (
        "-d",
        awkward,
        "--labels",
        "5",
        "-m",
        "sklearn.svm:SVC",
        "--folds",
        "3",
        "--no-studies",
        "-j",
        1,
    )
    result = mltsk("reproduce", *args, "--out", tmp_path / "run")
    assert result.status == 1
    assert "3 of 3 pieces failed" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["-d", "yaest"], "There is no data set 'yaest'"),
        (["-m", "knn"], "There is no method 'knn'"),
        (["--labels", "3"], "--labels is for a file of your own"),
        (["--config", "no.toml"], "no.toml cannot be read"),
        (["-p", "fair"], "'fair' is not one of"),
        (["--device", "gpu"], "device must be None"),
        (["-d", "nowhere.csv", "--labels", "2"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(mltsk, tmp_path, args, sentence):
    result = mltsk("reproduce", *args, "--no-studies", "--out", tmp_path / "run")
    assert result.status == 2
    assert sentence in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_folder_without_results_has_no_report(mltsk, tmp_path):
    result = mltsk("report", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert "holds no results" in result.err


def test_a_killed_run_goes_on(quick, tmp_path):
    command = [
        sys.executable,
        "-m",
        "mltsk",
        *map(str, quick),
        "--no-studies",
        "-j",
        "2",
        "--out",
        str(tmp_path / "run"),
    ]
    first = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not _finished(tmp_path / "run"):
        time.sleep(0.05)
        if first.poll() is not None:
            break
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()  # returns when the other processes, which hold the same pipe, have ended too
    done = _finished(tmp_path / "run")
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert f"{done} of 6 pieces" in again.stderr
    assert _finished(tmp_path / "run") == 6


def _finished(folder):
    try:
        with Store.open(folder) as store:
            return len(store.done())
    except Exception:
        return 0
