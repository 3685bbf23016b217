"""``mltsk reproduce`` and ``mltsk report``: from a user's file to a page."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from mltsk.paper.experiments.store import Cell, Outcome, Store

METHODS = "-m ml-knn,sklearn.dummy:DummyClassifier"


@pytest.fixture
def small_run(awkward, tmp_path):
    """The words of a run of two methods on three folds, which takes a second."""
    options = f"--labels 5 {METHODS} --folds 3 --grid fast --no-studies -j 1 --out"
    return ("reproduce -d", awkward, options, tmp_path / "run")


def test_reproduce_with_own_data_and_own_estimator_ends_in_a_page(
    succeeds, small_run, tmp_path
):
    result = succeeds(*small_run)
    path = tmp_path / "run" / "index.html"
    page = path.read_text()
    assert "DummyClassifier" in page
    assert "awkward" in page
    assert f"report of all results: {path}" in result.out


def test_reproduce_says_first_what_is_missing_and_how_long_it_takes(
    mltsk, refused, tmp_path, monkeypatch
):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = "-m ml-knn --grid fast --no-studies -j 1 --out"
    out = tmp_path / "run"
    sentence = refused("reproduce -d yeast,flags", options, out)
    assert (
        "The data set 'flags' is not on this machine: run `mltsk datasets fetch flags`"
        in sentence
    )
    assert not out.exists()
    here, advice, duration, *_ = mltsk("reproduce", options, out).err.splitlines()
    assert here.startswith("here: yeast; missing: flags, cal500")
    assert "mltsk datasets fetch flags cal500" in advice
    assert re.fullmatch(r"5 pieces of work: about \d+:\d\d on one core", duration)


def test_reproduce_takes_protocols_with_commas_like_other_names(
    succeeds, small_run, tmp_path
):
    succeeds(*small_run, "-p strict,nested,strict")
    with Store.open(tmp_path / "run") as store:
        cells = store.results().cells
    assert set(cells["protocol"]) == {"strict", "nested"}


def test_report_is_written_again_without_running(succeeds, small_run, tmp_path):
    succeeds(*small_run)
    run = tmp_path / "run"
    page = run / "index.html"
    before = page.read_text()
    page.unlink()
    succeeds("report", run)
    assert page.read_text() == before
    succeeds("report", run, "--out", tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "index.html").read_text() == before


def test_reproduce_ends_with_status_1_and_names_a_failing_method(
    mltsk, awkward, tmp_path
):
    options = "--labels 5 -m sklearn.svm:SVC --folds 3 --no-studies -j 1 --out"
    result = mltsk("reproduce -d", awkward, options, tmp_path / "run")
    assert result.status == 1
    assert "SVC on awkward, fold 1: ValueError" in result.err
    assert "3 of 3 pieces failed" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-d yaest", "There is no data set 'yaest'"),
        ("-m knn", "There is no method 'knn'"),
        ("--labels 3", "--labels is for a file of your own"),
        ("--config no.toml", "no.toml cannot be read"),
        ("-p fair", "'fair' is not one of"),
        ("-p paper,fair", "'fair' is not one of 'paper', 'strict' or 'nested'"),
        ("--grid wide", "Invalid value for '--grid': 'wide' is not one of"),
        ("--device gpu", "device must be None"),
        ("-d nowhere.csv --labels 2", "nowhere.csv"),
    ],
)
def test_reproduce_refuses_bad_input_with_one_sentence(
    mltsk, tmp_path, options, sentence
):
    result = mltsk("reproduce", options, "--no-studies --out", tmp_path / "run")
    assert result.status == 2
    assert sentence in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_report_refuses_a_folder_without_results(mltsk, tmp_path):
    result = mltsk("report", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert "holds no results" in result.err


def test_reproduce_goes_on_after_it_was_killed(awkward, tmp_path):
    folder = tmp_path / "run"
    options = f"--labels 5 {METHODS} --folds 3 --no-studies -j 2"
    command = [sys.executable, "-m", "mltsk", "reproduce", *options.split()]
    command += ["-d", str(awkward), "--out", str(folder)]
    first = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not n_finished(folder):
        time.sleep(0.05)
        if first.poll() is not None:
            break
    os.kill(first.pid, signal.SIGKILL)
    # returns when the other processes, which hold the same pipe, have ended too
    first.communicate()
    n_before = n_finished(folder)
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert f"{n_before} of 6 pieces" in again.stderr
    assert n_finished(folder) == 6


def n_finished(folder):
    try:
        with Store.open(folder) as store:
            return len(store.done())
    except Exception:
        return 0


def test_reproduce_disarms_names_that_spreadsheets_would_take_for_formulas(
    mltsk, csv_file, tmp_path
):
    rows = [[i, i % 7, i % 2, i % 3 % 2] for i in range(30)]
    data = csv_file("=1+1.csv", ["a", "b", "c", "d"], rows)
    method = ["-m", "sklearn.dummy:DummyClassifier", "--folds", 3]
    options = ["--labels", 2, *method, "--no-studies", "-j", 1]
    out = tmp_path / "run"
    assert mltsk("reproduce", "-d", data, *options, "--out", out).status == 0
    tables = [path.read_text() for path in (out / "tables").glob("*.csv")]
    assert any("\n'=1+1," in table for table in tables)
    assert not any(re.search("(^|,)=", table, re.MULTILINE) for table in tables)


def test_report_refuses_paths_for_names_and_writes_nothing(mltsk, tmp_path):
    stranger = tmp_path / "folder" / "stranger"
    cell = Cell("grid", "x/../../../notes", "toy", "br", seed=0, fold=0)
    with Store.open(stranger, create=True) as store:
        store.add(cell, Outcome(), {"device": "cpu"})
    before = sorted(tmp_path.rglob("*"))
    for command in (["report", stranger], ["report", "mine", "--add", stranger]):
        result = mltsk(*command)
        assert result.status == 2
        assert "'x/../../../notes' is no protocol of ours" in result.err
        assert len(result.err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["tables", "figures"])
@pytest.mark.parametrize("command", ["report", "reproduce"])
def test_report_and_reproduce_refuse_links_in_the_folder_of_a_stranger(
    succeeds, refused, small_run, tmp_path, name, command
):
    succeeds(*small_run)
    run = tmp_path / "run"
    (run / name).rename(tmp_path / "taken")
    mine = tmp_path / "mine"
    mine.mkdir()
    (run / name).symlink_to(mine)
    words = small_run if command == "reproduce" else ("report", run)
    sentence = refused(*words)
    assert f"{run / name} is a link that leads elsewhere" in sentence
    assert not list(mine.iterdir())
    (run / name).unlink()
    (run / name).write_text("mine")
    assert f"{run / name} is a file, where a folder is to be" in refused(*words)
    assert (run / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["results.sqlite", "lock.sqlite"])
def test_reproduce_refuses_to_write_to_a_store_behind_a_link(
    succeeds, refused, small_run, tmp_path, name
):
    succeeds(*small_run)
    file = tmp_path / "run" / name
    file.rename(tmp_path / "mine")
    before = (tmp_path / "mine").read_bytes()
    file.symlink_to(tmp_path / "mine")
    assert f"{file} is a link that leads elsewhere" in refused(*small_run)
    assert (tmp_path / "mine").read_bytes() == before
