"""The entry point: help, version, exit statuses, Ctrl-C."""

import os
import re
import signal
import subprocess
import sys

import pytest

from mltsk import __version__
from mltsk.cli import main, models

RUN = [sys.executable, "-c", "import sys; from mltsk.cli import main; sys.exit(main())"]
COMMANDS = [
    "demo",
    "columns",
    "doctor",
    "review",
    "fit",
    "correct",
    "adapt",
    "share",
    "plan",
    "join",
    "predict",
    "evaluate",
    "rules",
    "explore",
    "points",
    "person",
    "second-look",
    "methods",
    "reproduce",
    "report",
    "export",
    "datasets",
]


def test_main_prints_the_version(mltsk):
    assert mltsk("--version") == (0, f"mltsk {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_main_prints_help_with_examples_for_every_command(succeeds, command):
    text = succeeds(command, "--help").out
    assert text.count("  Examples:\n    mltsk ") == 1  # each on a line of its own
    assert f"\n    mltsk {command}" in text


def test_main_without_a_command_prints_the_help(mltsk):
    help = mltsk().out
    assert "Commands:" in help
    assert [command for command in COMMANDS if f"\n  {command} " not in help] == []


def test_main_refuses_bad_usage_with_one_sentence_and_status_2(refused):
    assert refused("bogus") == "mltsk: No such command 'bogus' (see `mltsk --help`)."
    assert "--zzz" in refused("rules --zzz")
    assert refused("fit").endswith("(see `mltsk fit --help`).")


def broken(error):
    def fail(*args):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "sentence"),
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
def test_main_ends_a_failed_job_with_status_1(
    refused, model, monkeypatch, error, sentence
):
    monkeypatch.setattr(models, "write_text", broken(error))
    assert sentence in refused("rules", model, status=1)


@pytest.mark.parametrize(
    "command", ["--debug rules none.skops", "rules none.skops --debug"]
)
def test_main_shows_the_traceback_wherever_debug_stands(mltsk, command):
    result = mltsk(command)
    assert result.status == 2
    assert "Traceback" in result.err
    assert result.err.splitlines()[-1].startswith("mltsk: There is no model file")


def test_main_ends_an_interrupt_with_status_130_and_a_line(mltsk, model, monkeypatch):
    monkeypatch.setattr(models, "write_text", broken(KeyboardInterrupt()))
    sentence = "mltsk: stopped; nothing was left half-written.\n"
    assert mltsk("rules", model) == (130, "", sentence)


def heed_interrupts():
    """Ctrl-C is ignored where tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_main_stops_a_real_process_when_told_to_and_leaves_nothing(
    tmp_path, name, status
):
    process = subprocess.Popen(
        [*RUN, "review", "pbc", "--out", str(tmp_path / "page.html")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    assert re.match(r"review of pbc: 1 of \d+ steps", process.stderr.readline())
    os.killpg(process.pid, getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert err.splitlines()[-1].endswith("nothing was left half-written.")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_main_takes_a_closed_pipe_for_no_error(model):
    command = f'"{RUN[0]}" -c "{RUN[2]}" rules {model} --format json | head -1'
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("command", ["--help", "fit --help", "--version"])
def test_main_does_not_import_what_help_does_not_need(command):
    code = f"""
import sys
from mltsk.cli import main
main({command.split()})
heavy = ("numpy", "scipy", "pandas", "sklearn", "joblib")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command", ["rules {}", "rules {} --format md", "export {} --json -"]
)
def test_main_reads_a_model_without_scikit_learn_pandas_and_the_fit(command, model):
    code = f"""
import sys
from mltsk.cli import main
main({command.format(model).split()})
heavy = ("sklearn", "pandas", "skops", "torch", "mltsk.fit.fit", "scipy.spatial")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mltsk", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("mltsk ")


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("review NONE.csv --labels 2 --out OUT", "jinja2", "report"),
        ("demo --out OUT", "jinja2", "report"),
        ("explore NONE.skops --out OUT", "jinja2", "report"),
        ("rules NONE.skops --format html", "jinja2", "report"),
        ("export NONE.skops --json OUT --onnx OTHER", "onnx", "onnx"),
        ("reproduce --config NONE.toml --out OUT", "jinja2", "report"),
        ("reproduce --config NONE.toml --out OUT", "matplotlib", "report"),
        ("reproduce --cluster tcp://h:1 --out OUT", "distributed", "dask"),
        ("report NONE", "matplotlib", "report"),
        ("report NONE", "jinja2", "report"),
    ],
)
def test_main_asks_for_missing_parts_before_it_reads_any_file(
    refused, tmp_path, monkeypatch, command, module, extra
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    files = [tmp_path / word for word in command.split() if word.startswith("NONE.")]
    for file in files:
        file.touch()  # an empty one could not be read
    sentence = refused(command, status=1)
    assert sentence.endswith(f'is not installed: pip install "mltsk[{extra}]"')
    assert list(tmp_path.iterdir()) == files
