"""Commands run in this process: exit status, standard output and standard error."""

import csv
import shlex
from typing import NamedTuple

import numpy as np
import pytest

from mltsk.cli import main
from mltsk.datasets import make_multilabel_rules

FEATURES = [
    "a b",
    'quo"te',
    "<script>alert(1)</script>",
    "naïve 漢字",
    "comma, dot.",
    "x;y",
    "$cost$",
    "Δt",
    "it's",
    "n",
]
LABELS = ["good, cheap", 'say "hi"', "<b>bold</b>", "ключ", "plain"]


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


def arguments(words):
    """The arguments of a command: texts are split as a shell does, paths are not."""
    split = []
    for word in words:
        split += shlex.split(word) if isinstance(word, str) else [str(word)]
    return split


@pytest.fixture
def mltsk(capsys):
    """Run a command: ``mltsk("fit", path, "--labels 5 --out", out)``."""

    def run(*words):
        capsys.readouterr()
        status = main(arguments(words))
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture
def succeeds(mltsk):
    """Run a command that must end with status 0."""

    def run(*words):
        result = mltsk(*words)
        assert result.status == 0, result.err
        return result

    return run


@pytest.fixture
def refused(mltsk):
    """Run a command that must fail with one sentence and no traceback."""

    def run(*words, status=2):
        result = mltsk(*words)
        lines = [line for line in result.err.splitlines() if line.startswith("mltsk: ")]
        assert (result.status, len(lines)) == (status, 1), result
        assert "Traceback" not in result.err
        return lines[0]

    return run


class Names(NamedTuple):
    features: list[str]
    labels: list[str]


@pytest.fixture(scope="session")
def names():
    return Names(FEATURES, LABELS)


@pytest.fixture
def csv_file(tmp_path):
    """Write a CSV file beside what else a test writes."""
    return lambda name, header, rows: write_csv(tmp_path / name, header, rows)


def write_csv(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="session")
def awkward(tmp_path_factory):
    """A CSV file with ten features and five labels whose names try everything."""
    data = make_multilabel_rules(n_samples=120, random_state=0)
    rows = [[*x, *y] for x, y in zip(data.X.tolist(), data.Y.tolist(), strict=True)]
    path = tmp_path_factory.mktemp("data") / "awkward.csv"
    return write_csv(path, FEATURES + LABELS, rows)


@pytest.fixture(scope="session")
def model(awkward, tmp_path_factory):
    """A model of that file."""
    path = tmp_path_factory.mktemp("model") / "model.skops"
    status = main(arguments(["fit", awkward, "--labels 5 --rules 3 --out", path]))
    assert status == 0
    return path


@pytest.fixture(scope="session")
def numbers(awkward):
    """The numbers of that file."""
    return np.loadtxt(awkward, delimiter=",", skiprows=1, encoding="utf-8")


@pytest.fixture
def patients(csv_file):
    """A CSV file as people have them.

    It has identifiers, words, ranks, missing cells, and labels that nobody looked at.
    """
    rng = np.random.default_rng(0)
    rows = []
    for i in range(90):
        age = rng.normal(55, 9)
        smoker = ("never", "former", "daily")[i % 3]
        gout = int(age + rng.normal(0, 5) > 57)
        row = {
            "patient": f"P{i:03}",
            "age": "" if i % 10 == 0 else f"{age:.1f}",
            "smoker": smoker,
            "stage": ("mild", "severe")[i % 2],
            "male": "yes" if i % 5 else "no",
            "gout": "" if i % 9 == 0 else gout,
            "asthma": int(smoker == "daily"),
        }
        rows.append(row)
    return csv_file("patients.csv", list(rows[0]), [row.values() for row in rows])


@pytest.fixture
def clinic(succeeds, patients, tmp_path):
    """A model of those patients."""
    out = tmp_path / "clinic.skops"
    options = "--labels gout,asthma --ordinal 'stage: mild < severe' --rules 0 --out"
    succeeds("fit", patients, options, out)
    return out
