"""What commands print and write, and progress: bars on a terminal, lines elsewhere."""

import os
import shutil
import subprocess
import sys
import warnings

import pytest

from mltsk.cli.output import (
    MAX_LINE_WIDTH,
    aligned,
    metric_table,
    noted_warnings,
    remark,
    working,
    write_text,
)


def test_aligned_puts_numbers_right_and_text_left():
    lines = aligned([["a", "n"], ["long name", 5], ["b", 1000]]).splitlines()
    assert lines == [
        "a             n",
        "long name     5",
        "b          1000",
    ]


def test_metric_table_says_what_is_better():
    metrics = {"model": {"AP": 0.5, "HL": float("nan"), "tied_rows": 12.0}}
    assert metric_table(metrics, metrics["model"]).splitlines() == [
        "metric      model  better",
        "AP         0.5000  higher",
        "HL              -  lower",
        "tied_rows      12",
    ]


def test_noted_warnings_are_one_line_each_and_come_once(capsys):
    with noted_warnings():
        for _ in range(2):
            warnings.warn("two\nlines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: two lines\n"


def test_write_text_leaves_the_text_of_a_file_as_it_is(tmp_path):
    write_text("ünï\nx", str(tmp_path / "f.txt"))
    assert (tmp_path / "f.txt").read_bytes() == "ünï\nx".encode()


def test_write_text_ends_standard_output_with_a_line_end(capsys):
    write_text("ünï", "-")
    assert capsys.readouterr().out == "ünï\n"


def test_working_prints_lines_where_there_is_no_terminal(capsys):
    with working("folds", "steps") as show:
        for done in range(3):
            show(done, 2)
    with working("birds", "bytes") as show:
        for done in range(100):
            show(done, None)
    with working("thinking"):
        pass
    assert capsys.readouterr().err.splitlines() == [
        "folds: 1 of 2 steps",
        "folds: 2 of 2 steps",
        "birds: downloading",
        "thinking …",
    ]


def test_remark_is_one_line_and_on_a_terminal_divided_between_words(
    monkeypatch, capsys
):
    sentence = "a --long-option is never divided, nor is a word " * 5
    remark(sentence)
    assert capsys.readouterr().err == f"{sentence.strip()}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    remark(sentence)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= MAX_LINE_WIDTH
    assert " ".join(lines) == sentence.strip()
    assert all(line.count("--long") == line.count("--long-option") for line in lines)


def test_working_shows_bars_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("folds", "steps") as show:
        show(1, 2)
    with working("birds", "bytes") as show:
        show(1000, 2000)
        show(5, None)
    with working("thinking"):
        pass
    err = capsys.readouterr().err
    assert "1/2" in err
    assert "birds" in err
    assert "thinking" in err


# outputs and inputs -------------------------------------------------------------------

RUN = [sys.executable, "-c", "import sys; from mltsk.cli import main; sys.exit(main())"]


@pytest.fixture
def inputs(awkward, model, tmp_path):
    """A folder with every kind of input, and how to write each one's path."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    paths = {
        "data": folder / "data.csv",
        "model": folder / "model.skops",
        "rules": folder / "rules.json",
        "config": folder / "summary.md",
        "labels": folder / "labels.xml",
    }
    shutil.copy(awkward, paths["data"])
    shutil.copy(model, paths["model"])
    paths["rules"].write_text('[{"n": [0, null]}]')
    paths["config"].write_text("folds = 3")
    paths["labels"].write_text('<labels><label name="plain"/></labels>')
    return paths


def contents(folder):
    """All files below a folder, with what they hold."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def linked(path):
    link = path.with_name("link")
    link.symlink_to(path)
    return link


def hard_linked(path):
    link = path.with_name("hard_link")
    link.hardlink_to(path)
    return link


def in_a_linked_folder(path):
    link = path.parent.with_name("linked_folder")
    link.symlink_to(path.parent)
    return link / path.name


def by_another_way(path):
    return path.parent / ".." / path.parent.name / path.name


def relative(path):
    return os.path.relpath(path)


SPELLINGS = [
    str,
    relative,
    linked,
    hard_linked,
    in_a_linked_folder,
    by_another_way,
]
# the command, and the input that it is told to write to
OVERWRITING = [
    ("fit {data} --labels 5 --out {out}", "data"),
    ("fit {data} --labels 5 --own-rules {rules} --out {out}", "rules"),
    ("fit {data} --labels {labels} --out {out}", "labels"),
    ("predict {model} {data} --out {out}", "model"),
    ("predict {model} {data} --out {out}", "data"),
    ("rules {model} --out {out}", "model"),
    ("rules {model} --statements 3 --data {data} --out {out}", "data"),
    ("explore {model} --out {out}", "model"),
    ("explore {model} --data {data} --out {out}", "data"),
    ("export {model} --json {out}", "model"),
    ("export {model} --onnx {out}", "model"),
    ("review {data} --labels 5 --quick --out {out}", "data"),
]


@pytest.mark.parametrize("spelled", SPELLINGS, ids=lambda spelled: spelled.__name__)
@pytest.mark.parametrize(("command", "target"), OVERWRITING)
def test_check_files_refuses_an_output_that_is_an_input_of_any_command(
    refused, inputs, tmp_path, command, target, spelled
):
    out = spelled(inputs[target])
    before = contents(tmp_path)
    sentence = refused(command.format(**inputs, out=out))
    assert "is read here: write to another one" in sentence
    assert contents(tmp_path) == before


def test_check_files_refuses_the_file_of_a_data_set_of_the_catalog(
    refused, tmp_path, monkeypatch
):
    (tmp_path / "emotions.npz").write_bytes(b"data")
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    for command in ("fit emotions", "review emotions"):
        sentence = refused(command, "--out", tmp_path / "emotions.npz")
        assert "emotions.npz is a file that is read here" in sentence
    assert (tmp_path / "emotions.npz").read_bytes() == b"data"


def test_check_files_refuses_two_outputs_that_are_one_file(refused, inputs, tmp_path):
    model = inputs["model"]
    out = tmp_path / "out"
    (tmp_path / "link").symlink_to(out)
    for other in (out, tmp_path / "link", tmp_path / "OUT"):
        before = contents(tmp_path)
        sentence = refused("export", model, "--json", out, "--onnx", other)
        assert "are one file: give each output a name of its own" in sentence
        assert contents(tmp_path) == before


def test_reproduce_refuses_inputs_that_its_report_would_replace(
    refused, inputs, tmp_path
):
    options = "--labels 5 -m ml-knn --grid fast --no-studies -j 1 --out"
    folder = inputs["data"].parent
    before = contents(tmp_path)
    sentence = refused("reproduce --config", inputs["config"], "--out", folder)
    assert "summary.md is a file that is read here" in sentence
    assert contents(tmp_path) == before
    (folder / "tables").mkdir()
    data = shutil.move(inputs["data"], folder / "tables")
    before = contents(tmp_path)
    sentence = refused("reproduce -d", data, options, folder)
    assert "is read here and lies in" in sentence
    assert contents(tmp_path) == before
    assert "is a file: --out takes a folder" in refused(
        "reproduce -d", data, options, data
    )
    assert contents(tmp_path) == before


def test_report_refuses_to_add_a_folder_to_itself_or_to_write_into_it(
    refused, mltsk, awkward, tmp_path
):
    options = "--labels 5 -m ml-knn --grid fast --folds 3 --no-studies -j 1 --out"
    run = tmp_path / "run"
    assert mltsk("reproduce -d", awkward, options, run).status == 0
    other = shutil.copytree(run, tmp_path / "other")
    link = tmp_path / "link"
    link.symlink_to(run)
    before = contents(tmp_path)
    assert "--add takes another one" in refused("report", run, "--add", link)
    command = ("report", run, "--add", other, "--out", other)
    assert "--add takes another one" in refused(*command)
    assert "takes a folder" in refused("report", run, "--out", awkward)
    assert contents(tmp_path) == before


def test_report_replaces_links_in_a_folder_and_not_what_they_lead_to(
    succeeds, awkward, tmp_path
):
    options = "--labels 5 -m ml-knn --grid fast --folds 3 --no-studies -j 1 --out"
    run = tmp_path / "run"
    succeeds("reproduce -d", awkward, options, run)
    notes = tmp_path / "notes.md"
    notes.write_text("mine")
    (run / "summary.md").unlink()
    (run / "summary.md").symlink_to(notes)
    succeeds("report", run)
    assert notes.read_text() == "mine"
    assert not (run / "summary.md").is_symlink()


def test_demo_refuses_pages_that_are_one_file(refused, tmp_path):
    (tmp_path / "index.html").symlink_to(tmp_path / "explorer.html")
    assert "are one file" in refused("demo --quick --out", tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")
@pytest.mark.parametrize(
    "command",
    [
        "predict {model} {data} --out {out}",
        "rules {model} --out {out}",
        "explore {model} --out {out}",
        "export {model} --json {out}",
        "fit {data} --labels 5 --rules 0 --out {out}",
    ],
)
def test_writing_of_every_command_keeps_the_mode_and_the_link(
    succeeds, inputs, tmp_path, command
):
    target = tmp_path / "target"
    target.write_text("before")
    target.chmod(0o600)
    (tmp_path / "out").symlink_to(target)
    succeeds(command.format(**inputs, out=tmp_path / "out"))
    assert target.read_bytes() != b"before"
    assert target.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").is_symlink()


# standard output ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "fit {data} --labels 5 --out -",
        "review {data} --labels 5 --out -",
        "explore {model} --out -",
        "export {model} --onnx -",
        "reproduce -d {data} --labels 5 -m ml-knn --out -",
        "report {data} --out -",
        "demo --out -",
    ],
)
def test_refuse_standard_output_where_no_text_is_written(
    refused, inputs, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    sentence = refused(command.format(**inputs))
    assert "is not written to standard output: give --o" in sentence
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("predict {model} {data} --out -", "probability"),
        ("rules {model} --format md --out -", "how well each label can be predicted"),
        ("rules {model} --format json --out -", "{"),
        ("rules {model} --format html --out -", "<!doctype html>"),
        ("export {model} --json -", "{"),
    ],
)
def test_write_text_prints_where_the_output_is_a_dash(
    succeeds, inputs, tmp_path, monkeypatch, command, start
):
    monkeypatch.chdir(tmp_path)
    out = succeeds(command.format(**inputs)).out
    assert start in out[:80].lower()
    assert not (tmp_path / "-").exists()


def shell(command, **paths):
    """Run a command of the shell, in which $MLTSK is the program."""
    program = f"'{RUN[0]}' -c '{RUN[2]}'"
    return subprocess.run(
        command.replace("$MLTSK", program).format(**paths),
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(inputs, tmp_path, closed):
    done = shell("$MLTSK rules {model} " + closed, **inputs)
    assert (done.returncode, done.stderr) == (0, "")
    out = tmp_path / "predictions.csv"
    done = shell(
        "$MLTSK predict {model} {data} --out {out} " + closed, **inputs, out=out
    )
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 121


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_standard_streams_let_a_job_end_whose_reader_has_left(inputs, tmp_path):
    out = tmp_path / "new.skops"
    command = "($MLTSK fit {data} --labels 5 --rules 0 --out {out}; echo $? >&2) | true"
    done = shell(command, **inputs, out=out)
    assert done.stderr.splitlines()[-1] == "0"
    assert "mltsk" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert out.is_file()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
@pytest.mark.parametrize("buffering", ["PYTHONUNBUFFERED= ", "PYTHONUNBUFFERED=1 "])
@pytest.mark.parametrize("command", ["rules {model}", "columns {data} --labels 5"])
def test_standard_streams_that_are_full_fail_with_one_sentence(
    inputs, buffering, command
):
    done = shell(f"{buffering}$MLTSK {command} > /dev/full", **inputs)
    sentence = "mltsk: Standard output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, sentence)
