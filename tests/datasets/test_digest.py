import hashlib
import subprocess

import numpy as np
import pytest
from scipy import sparse

from mltsk.datasets import Dataset, catalog, content_digest, git_blob_id, read_npz


def test_the_documented_bytes_are_what_is_hashed():
    X, Y = np.array([[0.0, 2.5], [0.0, 0.0]]), np.array([[1], [0]])
    sizes = np.array([2, 2, 1, 0, 1, 1, 1], dtype="<i8").tobytes()  # n, D, L; row starts 0, 1, 1; column 1
    expected = b"mltsk-content-1\n" + sizes + np.array([2.5], dtype="<f8").tobytes() + b"\x01\x00"
    assert content_digest(Dataset(X, Y)) == hashlib.sha256(expected).hexdigest()


def test_dense_sparse_and_unsorted_storage_agree():
    X = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, -0.0]])
    messy = sparse.csr_array(([2.0, 1.0, 3.0, 0.0], [2, 1, 0, 1], [0, 2, 4]), shape=(2, 3))
    Y = np.eye(2)
    assert content_digest(Dataset(X, Y)) == content_digest(Dataset(messy, Y))


def test_every_change_of_a_value_shows():
    X, Y = np.ones((3, 2)), np.zeros((3, 2))
    digests = {content_digest(Dataset(X, Y))}
    for array in (X, Y):
        for index in np.ndindex(array.shape):
            array[index] = 1 - array[index]
            digests.add(content_digest(Dataset(X, Y)))
            array[index] = 1 - array[index]
    assert len(digests) == 13


def test_it_does_not_change_the_data():
    X = sparse.csr_array(([2.0, 0.0], [1, 0], [0, 2]), shape=(1, 2))
    content_digest(Dataset(X, np.ones((1, 1))))
    assert X.nnz == 2


def test_git_names_a_file_as_git_does(tmp_path):
    file = tmp_path / "some.bin"
    file.write_bytes(bytes(range(256)) * 9000)
    try:
        answer = subprocess.run(["git", "hash-object", file], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("no git here")
    assert git_blob_id(file) == answer.stdout.strip()


@pytest.mark.parametrize("key", [key for key, entry in catalog().items() if entry.content])
def test_the_real_data_sets_have_the_content_that_the_catalog_expects(key, real_data):
    data = read_npz(real_data / f"{key}.npz")
    assert content_digest(data) == catalog()[key].content
