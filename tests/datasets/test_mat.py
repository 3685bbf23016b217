import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mltsk.datasets import read_mat
from mltsk.exceptions import InputError
from mltsk.limits import isolated

X = np.arange(12.0).reshape(4, 3)
Y = np.array([[1, 0], [0, 0], [1, 1], [0, 1]])


@pytest.fixture
def write(tmp_path):
    def write(**variables):
        path = tmp_path / "toy.mat"
        savemat(path, variables)
        return path

    return write


@pytest.mark.parametrize(
    "variables",
    [
        {"data": X, "target": Y.T},  # MLC_toolbox
        {"data": X, "target": Y},
        {"data": X.T, "target": Y.T},
        {"X": X, "Y": Y.astype(np.uint8)},
        {"Data": X, "Targets": Y.T, "info": "other variables do not matter"},
        {"data": X.astype(np.int16), "target": sparse.csc_array(Y.T.astype(float))},
    ],
)
def test_read_mat_finds_layouts_and_orientations(write, variables):
    data = read_mat(write(**variables))
    assert_array_equal(data.X, X)
    assert_array_equal(data.Y, Y)
    assert data.split is None


def test_read_mat_stacks_halves_and_keeps_the_split(write):
    path = write(
        test_data=X[3:],
        train_target=Y.T[:, :3],
        train_data=X[:3],
        test_target=Y.T[:, 3:],
    )
    data = read_mat(path)
    assert_array_equal(data.X, X)
    assert_array_equal(data.Y, Y)
    assert data.split.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("form", ["{}train", "{}_train", "train{}", "train_{}"])
def test_read_mat_knows_other_names_of_halves(write, form):
    names = {form.format("X"): X[:2], form.format("Y"): Y[:2]}
    names |= {
        form.replace("train", "test").format("X"): X[2:],
        form.replace("train", "test").format("Y"): Y[2:],
    }
    assert_array_equal(read_mat(write(**names)).Y, Y)


def test_read_mat_takes_minus_one_for_no_only_if_signed(write):
    path = write(data=X, target=2 * Y.T - 1.0)
    assert_array_equal(read_mat(path, signed=True).Y, Y)
    sentence = "target holds -1, 1; labels are 0 and 1, as target > 0 makes them"
    with pytest.raises(InputError, match=f"{sentence} in MATLAB"):
        read_mat(path)


def test_read_mat_keeps_sparse_features_sparse(write):
    data = read_mat(write(data=sparse.csc_array(X), target=Y.T))
    assert data.is_sparse
    assert_array_equal(data.X.toarray(), X)


def test_read_mat_takes_the_name_of_the_labels(write):
    assert_array_equal(read_mat(write(data=X, what=Y), labels="what").Y, Y)


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"data": X}, "looks like labels; it holds data 4×3"),
        ({"target": Y}, "looks like features"),
        ({"a": X, "b": Y}, "looks like features"),
        ({"data": X, "target": np.ones((5, 7))}, "no axis of the labels"),
        ({"data": X, "target": Y + 1}, "holds 1, 2; labels are 0 and 1"),
        ({"data": X, "target": Y - 0.5}, "labels are 0 and 1"),
        ({"data": "text", "target": Y}, "not matrices of numbers"),
        ({"data": {"nested": X}, "target": Y}, "not matrices of numbers"),
    ],
)
def test_read_mat_refuses_what_does_not_fit(write, variables, complaint):
    with pytest.raises(InputError, match=complaint):
        read_mat(write(**variables))


def test_read_mat_refuses_version_7_3_with_advice(tmp_path):
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512))
    with pytest.raises(InputError, match="save it again with"):
        read_mat(path)


@pytest.mark.parametrize("variable", ["data", "target"])
@pytest.mark.parametrize("index", [1 << 30, -(1 << 30)])
def test_read_mat_refuses_a_sparse_index_outside_the_matrix(write, variable, index):
    hostile = sparse.csc_array(X)
    hostile.indices[2] = index
    path = write(**{"data": X, "target": np.ones((4, 2)), variable: hostile})
    with pytest.raises(
        InputError,
        match="not a readable MATLAB file: the parts of a sparse matrix do not fit",
    ):
        read_mat(path)


@pytest.mark.parametrize("keep", [0, 100, 130, 200, 260])
def test_read_mat_refuses_a_damaged_file_in_a_sentence(write, keep):
    path = write(data=X, target=Y)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError) as refused:
        read_mat(path)
    assert "\n" not in str(refused.value)


def test_isolated_reader_that_crashes_or_hangs_is_a_sentence(write, monkeypatch):
    path = write(data=X, target=Y)
    monkeypatch.syspath_prepend(path.parent)
    endings = {"os.abort()": "reader crashed", "time.sleep(60)": "was not read in"}
    for ending, sentence in endings.items():
        code = f"import os, time\ndef unpack(path, *args): {ending}"
        (path.parent / "dying_reader.py").write_text(code)
        reading = isolated("dying_reader:unpack", path, what="MATLAB file", seconds=2)
        with pytest.raises(InputError, match=sentence), reading:
            pass


def test_read_mat_refuses_halves_of_different_width(write):
    path = write(train_data=X, train_target=Y, test_data=X[:, :2], test_target=Y)
    with pytest.raises(InputError, match="different numbers of features"):
        read_mat(path)


def test_read_mat_answers_a_missing_file_with_a_sentence(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_mat(tmp_path / "nowhere.mat")
