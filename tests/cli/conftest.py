"""Commands run in this process: exit status, standard output and standard error of each."""

import csv
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


@pytest.fixture
def mltsk(capsys):
    def run(*args):
        capsys.readouterr()
        status = main([str(arg) for arg in args])
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture
def refused(mltsk):
    """A command that must fail with one sentence, no traceback, and the given status."""

    def run(*args, status=2):
        result = mltsk(*args)
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
    return write_csv(
        tmp_path_factory.mktemp("data") / "awkward.csv", FEATURES + LABELS, rows
    )


@pytest.fixture(scope="session")
def model(awkward, tmp_path_factory):
    """A model of that file."""
    path = tmp_path_factory.mktemp("model") / "model.skops"
    assert (
        main(["fit", str(awkward), "--labels", "5", "--rules", "3", "--out", str(path)])
        == 0
    )
    return path


@pytest.fixture(scope="session")
def numbers(awkward):
    """The numbers of that file."""
    return np.loadtxt(awkward, delimiter=",", skiprows=1)


@pytest.fixture
def patients(csv_file):
    """A CSV file as people have them: identifiers, words, ranks, missing cells, labels that nobody looked at."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(90):
        age, smoker, stage = (
            rng.normal(55, 9),
            ("never", "former", "daily")[i % 3],
            ("mild", "severe")[i % 2],
        )
        gout, asthma = int(age + rng.normal(0, 5) > 57), int(smoker == "daily")
        cells = [
            f"P{i:03}",
            "" if i % 10 == 0 else f"{age:.1f}",
            smoker,
            stage,
            "yes" if i % 5 else "no",
        ]
        rows.append([*cells, "" if i % 9 == 0 else gout, asthma])
    return csv_file(
        "patients.csv",
        ["patient", "age", "smoker", "stage", "male", "gout", "asthma"],
        rows,
    )


@pytest.fixture
def clinic(mltsk, patients, tmp_path):
    """A model of those patients."""
    said = (
        "--labels",
        "gout,asthma",
        "--ordinal",
        "stage: mild < severe",
        "--rules",
        0,
    )
    assert mltsk("fit", patients, *said, "--out", tmp_path / "clinic.skops").status == 0
    return tmp_path / "clinic.skops"
