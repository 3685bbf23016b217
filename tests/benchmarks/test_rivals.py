"""The benchmark next to other methods: fixed folds, a store that goes on, strangers."""

import re
import resource
import shutil
from dataclasses import replace
from pathlib import Path

import benchmarks.rivals
import numpy as np
import pandas as pd
import pytest
from benchmarks.rivals import Store, data, measure_fold, results
from benchmarks.rivals.data import Task, fold_numbers
from benchmarks.rivals.fits.fold import Fold, read_fold, write_fold
from benchmarks.rivals.measure import measured
from benchmarks.rivals.store import DONE, OVER, REFUSED, Cell
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from benchmarks import Options
from mltsk.exceptions import InputError

ROOT = Path(__file__).resolve().parents[2]
TREE = "tree, 12 splits"


def task_of(n=40, n_labels=3, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    Y = (X[:, :n_labels] + rng.standard_normal((n, n_labels)) > 0).astype(float)
    return Task(name="emotions", X=X, Y=Y, **options)


def test_fold_numbers_are_the_published_ones():
    assert fold_numbers(12).tolist() == [4, 2, 3, 2, 4, 1, 1, 5, 5, 3, 2, 1]


def test_folds_keep_groups_together():
    groups = np.repeat(np.arange(20), 5)
    task = Task(name="pbcseq", X=np.empty((100, 1)), Y=np.ones((100, 1)), groups=groups)
    for number in range(1, 6):
        fold = task.fold(number)
        assert not set(groups[fold.rows]) & set(fold.groups)
        assert len(fold.rows) == 20


def test_a_fold_of_a_table_keeps_words_and_missing_cells_on_its_way(tmp_path):
    cells = pd.DataFrame(
        {"age": [1.0, np.nan, 3.0], "sex": ["f", None, "m"], "n": [1, 2, 3]}
    )
    cells_test = pd.DataFrame({"age": [2.0], "sex": ["x"], "n": [4]})
    fold = Fold(
        numbers=np.ones((3, 2)),
        numbers_test=np.ones((1, 2)),
        Y=np.array([[0, np.nan], [1, 1], [0, 0]]),
        groups=None,
        cells=cells,
        cells_test=cells_test,
    )
    write_fold(tmp_path / "fold.npz", fold)
    again = read_fold(tmp_path / "fold.npz")
    assert_array_equal(again.Y, fold.Y)
    assert_array_equal(again.cells["age"], cells["age"])
    assert again.cells["sex"].astype(object).fillna("none").tolist() == [
        "f",
        "none",
        "m",
    ]
    assert again.cells_test["sex"].tolist() == ["x"]


def test_a_sparse_fold_stays_sparse_on_its_way(tmp_path):
    X = csr_matrix(np.eye(3))
    fold = Fold(numbers=X, numbers_test=X[:1], Y=np.ones((3, 1)), groups=np.arange(3))
    write_fold(tmp_path / "fold.npz", fold)
    again = read_fold(tmp_path / "fold.npz")
    assert again.is_sparse
    assert_array_equal(again.numbers.toarray(), np.eye(3))
    assert_array_equal(again.groups, [0, 1, 2])


@pytest.fixture
def counted(monkeypatch):
    """Methods that were measured, by a stand-in for processes of other libraries."""
    asked = []

    def stand_in(methods, fold, limit_s):
        for method in methods:
            asked.append((method, fold.number))
            cell = Cell(
                method=method,
                data=fold.task.name,
                fold=fold.number,
                version=f"{method} 1",
                status=OVER if method == "slow" else DONE,
                limit_s=limit_s,
            )
            chances = np.full((len(fold.rows), 3), 0.5)
            yield cell, None if method == "slow" else chances

    monkeypatch.setattr(benchmarks.rivals, "measured", stand_in)
    monkeypatch.setattr(benchmarks.rivals, "version_of", lambda name: f"{name} 1")
    return asked


def test_a_second_run_measures_nothing_again(tmp_path, counted):
    store = Store(tmp_path)
    for _ in range(2):
        measure_fold(store, task_of().fold(1), ["quick", "slow"], limit_s=10)
    assert counted == [("quick", 1), ("slow", 1)]


def test_a_cell_of_another_version_is_measured_again(tmp_path, counted, monkeypatch):
    store = Store(tmp_path)
    fold = task_of().fold(1)
    measure_fold(store, fold, ["quick"], limit_s=10)
    old = store.cell("quick", fold)
    store.add(replace(old, version="quick 0"), fold, np.zeros((8, 3)))
    measure_fold(store, fold, ["quick"], limit_s=10)
    assert counted == [("quick", 1)] * 2


def test_a_larger_limit_tries_again_what_was_over_a_smaller_one(tmp_path, counted):
    store = Store(tmp_path)
    for limit_s in (10, 5, 20):
        measure_fold(store, task_of().fold(1), ["slow"], limit_s=limit_s)
    assert counted == [("slow", 1)] * 2


def test_a_later_fold_of_what_was_over_the_limit_is_over_it_too(tmp_path, counted):
    store = Store(tmp_path)
    for number in (1, 2):
        measure_fold(store, task_of().fold(number), ["slow"], limit_s=10)
    assert counted == [("slow", 1)]
    assert store.cell("slow", task_of().fold(2)).status == OVER


def test_a_method_in_a_process_of_its_own_leaves_predictions_and_costs():
    fold = task_of().fold(1)
    [(cell, chances)] = measured([TREE], fold, limit_s=30)
    assert cell.status == DONE, cell.why
    assert 0 < cell.size <= 12
    assert chances.shape == (8, 3)
    assert cell.peak_mb > 10


def test_a_method_beyond_its_limit_is_recorded_as_over_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4_000, 60))
    Y = (rng.random((4_000, 40)) < 0.5).astype(float)
    fold = Task(name="scene", X=X, Y=Y).fold(1)
    [(cell, chances)] = measured(["random forest"], fold, limit_s=1)
    assert (cell.status, cell.why) == (OVER, "over 1 s")
    assert chances is None


def test_a_model_per_label_is_given_up_long_before_the_limit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 60))
    Y = (rng.random((2_000, 400)) < 0.5).astype(float)
    Y[0] = np.nan  # not observed: a forest per label
    fold = Task(name="scene", X=X, Y=Y).fold(1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    [(cell, _)] = measured(["extra trees"], fold, limit_s=20)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert (cell.status, cell.why) == (OVER, "over 20 s")
    assert used < 12


def test_a_label_of_one_value_and_labels_not_observed_do_not_stop_a_method():
    task = task_of()
    task.Y[:, 0] = 1
    task.Y[:10, 1] = np.nan
    [(cell, chances)] = measured(["extra trees"], task.fold(1), limit_s=30)
    assert cell.status == DONE, cell.why
    assert_allclose(chances[:, 0], 1)


def of_stranger(store, fold, ending="npz"):
    folder = store.folder / "predictions" / "stranger"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{fold.task.name}.fold{fold.number}.{ending}"


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_predictions_of_a_stranger_are_scored_whatever_their_order(
    tmp_path, monkeypatch, ending
):
    task = task_of()
    store = Store(tmp_path)
    for number in (1, 2):
        fold = task.fold(number)
        path = of_stranger(store, fold, ending)
        backwards = fold.rows[::-1]
        chances = 0.1 + 0.8 * task.Y[backwards]
        if ending == "npz":
            np.savez(path, rows=backwards, probabilities=chances)
        else:
            frame = pd.DataFrame(chances, columns=["a", "b", "c"])
            frame.insert(0, "row", backwards)
            frame.to_csv(path, index=False)
    monkeypatch.setattr(results, "read_task", lambda _: task)
    table = results.results_of(store, ["emotions"], all_folds=False)
    row = table[table["method"] == "stranger"].iloc[0]
    assert row["status"] == DONE
    assert row["macro AP"] == 1
    assert_allclose(row["log loss"], -np.log(0.9))


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"probabilities": np.zeros((8, 3))}, "has no array 'rows'"),
        (
            {"rows": np.arange(8), "probabilities": np.zeros((8, 3))},
            "not about the rows",
        ),
        ({"probabilities": np.zeros((8, 2))}, r"wants probabilities of shape \(8, 3\)"),
        ({"probabilities": np.full((8, 3), 1.5)}, "lie between 0 and 1; that of row"),
        ({"probabilities": np.full((8, 3), np.nan)}, "lie between 0 and 1"),
        ({"probabilities": np.array([{}] * 8)}, "cannot be read as plain arrays"),
    ],
)
def test_a_bad_file_of_a_stranger_is_refused_with_a_sentence(
    tmp_path, arrays, complaint
):
    store = Store(tmp_path)
    fold = task_of().fold(1)
    if "rows" not in complaint:
        arrays = {"rows": fold.rows} | arrays
    if "that of row" in complaint:
        arrays = {"rows": fold.rows} | arrays
    np.savez(of_stranger(store, fold), **arrays)
    with pytest.raises(InputError, match=complaint):
        store.predictions("stranger", fold)


def test_a_file_of_words_is_refused_with_a_sentence(tmp_path):
    store = Store(tmp_path)
    fold = task_of().fold(1)
    of_stranger(store, fold).write_text("no arrays")
    with pytest.raises(InputError, match=r"write it with numpy\.savez"):
        store.predictions("stranger", fold)
    of_stranger(store, fold).unlink()
    of_stranger(store, fold, "csv").write_text("row,a\n1,likely\n")
    with pytest.raises(InputError, match="no table of numbers"):
        store.predictions("stranger", fold)


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", " ", "", "mltsk", TREE])
def test_a_stranger_takes_no_name_that_is_no_folder_or_not_free(tmp_path, name):
    store = Store(tmp_path / "store")
    fold = task_of().fold(1)
    with pytest.raises(InputError, match=re.escape(repr(name))):
        store.write_predictions(name, fold, np.full((len(fold.rows), 3), 0.5))
    assert not list(tmp_path.rglob("*.npz"))


def test_sets_are_separated_by_commas_or_semicolons(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    with pytest.raises(SystemExit):
        benchmarks.rivals.run(Options(sets="pbc, flags;flowers", store=str(tmp_path)))
    assert "There is no data set 'flowers'" in capsys.readouterr().err


def test_an_unknown_data_set_is_named_and_the_command_ends_with_status_2(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        benchmarks.rivals.run(Options(sets="flowers", store=str(tmp_path)))
    assert ended.value.code == 2
    assert "There is no data set 'flowers'" in capsys.readouterr().err


def test_catboost_of_all_labels_says_what_it_refuses():
    from benchmarks.rivals.fits import CannotFit, model_of

    Y = np.array([[0, np.nan], [1, 1]])
    fold = Fold(numbers=np.eye(2), numbers_test=np.eye(2), Y=Y, groups=None)
    with pytest.raises(CannotFit, match="labels that were not observed"):
        model_of("CatBoost, all labels", fold)


def test_the_ten_lines_of_the_page_add_a_method(tmp_path, monkeypatch, capsys):
    """The lines run as they stand, and the command scores what they leave."""
    box = next((ROOT / "src" / "mltsk").rglob("pbc.csv"))
    (tmp_path / "tables").mkdir()
    shutil.copy(box, tmp_path / "tables" / "pbc.csv")
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "add_your_method.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(code.strip().splitlines()) <= 10
    exec(code, {})
    benchmarks.rivals.run(Options(sets="pbc", show=True))
    printed = capsys.readouterr().out
    assert re.search(r"\| how often \| \*\*\.\d{3}\*\* \|", printed)
    assert data.read_task("pbc").Y.shape == (418, 4)
    assert REFUSED not in printed
    assert "another state" not in printed  # nothing of ours was measured
