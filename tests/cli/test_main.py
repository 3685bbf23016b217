"""The entry point: help, version, exit statuses, Ctrl-C."""

import os
import signal
import subprocess
import sys

import pytest

from mltsk import __version__
from mltsk.cli import main, models

RUN = [sys.executable, "-c", "import sys; from mltsk.cli import main; sys.exit(main())"]


def test_version(mltsk):
    assert mltsk("--version") == (0, f"mltsk {__version__}\n", "")


@pytest.mark.parametrize(
    "command", ["demo", "columns", "fit", "predict", "evaluate", "rules", "datasets"]
)
def test_every_command_has_help_with_examples(mltsk, command):
    result = mltsk(command, "--help")
    assert result.status == 0
    assert f"  mltsk {command}" in result.out.split("Examples:")[1]


def test_no_command_shows_the_help(mltsk):
    assert "Commands:" in mltsk().out


def test_bad_usage_is_one_sentence_with_status_2(refused):
    assert refused("bogus") == "mltsk: No such command 'bogus' (see `mltsk --help`)."
    assert "--zzz" in refused("rules", "--zzz")


def broken(error):
    def fail(*args):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RuntimeError("two\nlines"), "RuntimeError: two lines (this is a bug"),
        (MemoryError(), "more memory than there is"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (
            ImportError('pip install "mltsk[report]"'),
            'not installed: pip install "mltsk[report]"',
        ),
    ],
)
def test_a_failed_job_has_status_1(refused, model, monkeypatch, error, says):
    monkeypatch.setattr(models, "write_text", broken(error))
    assert says in refused("rules", model, status=1)


@pytest.mark.parametrize(
    "args", [["--debug", "rules", "none.skops"], ["rules", "none.skops", "--debug"]]
)
def test_debug_shows_the_traceback_wherever_it_stands(mltsk, args):
    result = mltsk(*args)
    assert result.status == 2
    assert "Traceback" in result.err
    assert result.err.splitlines()[-1].startswith("mltsk: There is no model file")


def test_an_interrupt_has_status_130_and_a_line(mltsk, model, monkeypatch):
    monkeypatch.setattr(models, "write_text", broken(KeyboardInterrupt()))
    assert mltsk("rules", model) == (
        130,
        "",
        "mltsk: stopped; nothing was left half-written.\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_stops_a_real_process_and_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [*RUN, "review", "pbc", "--out", str(tmp_path / "page.html")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored where tests run in the background
    )
    assert "review of pbc: 1 of 14 steps" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error(model):
    command = f'"{RUN[0]}" -c "{RUN[2]}" rules {model} --format json | head -1'
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_help_does_not_import_what_it_does_not_need():
    code = "import sys; from mltsk.cli import main; main(['fit', '--help']); print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mltsk", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("mltsk ")
