import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.datasets import Dataset, content_digest, read_npz, write_npz
from mltsk.exceptions import InputError


def toy(**more):
    parts = {
        "feature_names": ["größe", "a,b"],
        "label_names": ["it's red"],
        "categories": [(), ("x", "y z")],
        "split": [0, 1, 1],
        "source": "here",
    }
    return Dataset(
        np.array([[0.1, 0], [np.nan, 1], [-3e300, 0]]),
        [[1], [0], [1]],
        **{**parts, **more},
    )


def test_read_npz_gives_back_all_that_write_npz_wrote(tmp_path):
    data = toy(name="toy")
    back = read_npz(write_npz(tmp_path / "toy.npz", data))
    for key in ("feature_names", "label_names", "name", "categories", "source"):
        assert getattr(back, key) == getattr(data, key)
    assert_array_equal(back.X, data.X)
    assert_array_equal(back.Y, data.Y)
    assert_array_equal(back.split, data.split)


@pytest.mark.parametrize("values", [[1.0, 1.0], [2.0, 255.0], [0.5, -1.0], []])
def test_read_npz_gives_back_sparse_features(tmp_path, values):
    X = sparse.csr_array(
        (values, range(len(values)), [0, len(values), len(values)]), shape=(2, 5)
    )
    back = read_npz(write_npz(tmp_path / "toy.npz", Dataset(X, np.eye(2))))
    assert back.is_sparse
    assert back.X.dtype == np.float64
    assert_array_equal(back.X.toarray(), X.toarray())


def test_write_npz_takes_one_byte_per_binary_word(tmp_path):
    write_npz(tmp_path / "toy.npz", Dataset(sparse.csr_array(np.eye(3)), np.eye(3)))
    assert np.load(tmp_path / "toy.npz")["X_data"].dtype == np.uint8


def test_write_npz_replaces_the_old_file_and_leaves_no_other(tmp_path):
    write_npz(tmp_path / "toy.npz", toy())
    write_npz(tmp_path / "toy.npz", toy(source="there"))
    assert [path.name for path in tmp_path.iterdir()] == ["toy.npz"]
    assert read_npz(tmp_path / "toy.npz").source == "there"


def test_write_npz_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    write_npz(tmp_path / "toy.npz", toy())

    def full_disk(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_npz(tmp_path / "toy.npz", toy(source="there"))
    assert [path.name for path in tmp_path.iterdir()] == ["toy.npz"]
    assert read_npz(tmp_path / "toy.npz").source == "here"


def refusal(path):
    with pytest.raises(InputError) as refused:
        read_npz(path)
    message = str(refused.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_read_npz_does_not_read_pickled_objects(tmp_path):
    np.savez(
        tmp_path / "evil.npz", X=np.array([[object()]], dtype=object), Y=np.ones((1, 1))
    )
    assert "pickled" in refusal(tmp_path / "evil.npz")


ONE_CELL = {
    "X_data": np.ones(1),
    "X_indices": np.zeros(1, int),
    "X_indptr": np.array([0, 1]),
    "X_shape": [1, 2],
}


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"Y": np.ones((1, 1))}, "no array X"),
        ({"X": np.ones((2, 1)), "Y": np.ones((1, 1))}, "X has 2 rows and Y has 1"),
        ({"X": np.ones((1, 1)), "Y": np.full((1, 1), 7)}, "other than 0 and 1"),
        (
            {"X": np.ones((1, 1)), "Y": np.ones((1, 1)), "feature_names": np.arange(1)},
            "feature_names",
        ),
        (
            {
                "X": np.ones((1, 1)),
                "Y": np.ones((1, 1)),
                "nominal_categories": np.array(["{"]),
            },
            "readable",
        ),
        (
            {
                "X": np.ones((1, 1)),
                "Y": np.ones((1, 1)),
                "nominal_categories": np.array(["7"]),
            },
            "JSON lists",
        ),
        ({**ONE_CELL, "X_indices": np.array([9])}, "do not fit each other"),
        ({**ONE_CELL, "X_indptr": np.array([0, 9])}, "readable"),
        (
            {**ONE_CELL, "X_indptr": np.array([0, 1, 0]), "X_shape": [2, 2]},
            "do not fit each other",
        ),
        ({"X_data": np.ones(1)}, "X_shape"),
    ],
)
def test_read_npz_refuses_files_that_are_no_data_set(tmp_path, arrays, complaint):
    np.savez(tmp_path / "bad.npz", **arrays)
    assert complaint in refusal(tmp_path / "bad.npz")


def test_read_npz_refuses_a_missing_file_and_a_folder(tmp_path):
    assert "no such file" in refusal(tmp_path / "nowhere.npz")
    refusal(tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_read_npz_reads_a_damaged_file_right_or_refuses_it(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npz") / "toy.npz"
    whole = write_npz(path, toy()).read_bytes()
    digest = content_digest(toy())
    cut = data.draw(st.integers(0, len(whole)))
    noise = data.draw(st.binary(max_size=8))
    damaged = whole[:cut]
    if data.draw(st.booleans()):
        damaged += noise + whole[cut + len(noise) :]
    path.write_bytes(damaged)
    sentence = ""
    outcome = digest
    try:
        outcome = content_digest(read_npz(path))
    except InputError as refused:
        sentence = str(refused)
    assert outcome == digest
    assert "\n" not in sentence


def test_read_npz_refuses_a_file_that_unpacks_to_too_much(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(1 << 20))
    monkeypatch.setenv("MLTSK_MEMORY", "512K")
    assert "would take more than 1 MiB of memory" in refusal(tmp_path / "bomb.npz")
    # Eight times as much once they are numbers.
    np.savez(tmp_path / "bytes.npz", X=np.zeros((300, 300), np.uint8))
    assert "would take more than" in refusal(tmp_path / "bytes.npz")


def test_read_npz_refuses_a_header_that_declares_terabytes(tmp_path):
    header = np.lib.format.header_data_from_array_1_0(np.zeros((1, 1)))
    with (
        zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive,
        archive.open("X.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(
            member, {**header, "shape": (1 << 40, 1 << 10)}
        )
    refusal(tmp_path / "huge.npz")


def test_read_npz_refuses_an_array_whose_name_is_damaged(tmp_path):
    path = write_npz(tmp_path / "toy.npz", toy(source="there"))
    content = path.read_bytes()
    at = content.rindex(b"feature_names.npy")
    path.write_bytes(content[:at] + b"F" + content[at + 1 :])
    refusal(path)


@pytest.mark.parametrize("shape", [(0, 1 << 40), (1 << 40, 0)])
def test_read_npz_refuses_axes_that_need_gigabytes_of_names(tmp_path, shape):
    np.savez(tmp_path / "wide.npz", X=np.empty(shape), Y=np.empty((shape[0], 0)))
    assert "would take more than" in refusal(tmp_path / "wide.npz")
    parts = {
        "X_data": np.ones(1),
        "X_indices": np.zeros(1, int),
        "X_indptr": np.array([0, 1, 1]),
    }
    np.savez(
        tmp_path / "wide.npz", **parts, X_shape=np.array([2, 2**31 - 2]), Y=np.eye(2)
    )
    assert "would take more than" in refusal(tmp_path / "wide.npz")


def test_read_npz_refuses_an_array_longer_than_it_says(tmp_path):
    whole = io.BytesIO()
    np.save(whole, np.eye(4))
    for content in (
        whole.getvalue() + b"\0",
        whole.getvalue().replace(b"}", b" "),
        b"no array",
        b"",
    ):
        with zipfile.ZipFile(tmp_path / "odd.npz", "w") as archive:
            archive.writestr("X.npy", content)
        refusal(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    "X", [np.eye(3) * 1j, np.ones((3, 2)).astype("M8[s]"), np.ones(3, dtype="f8,i4")]
)
def test_read_npz_refuses_what_would_lose_something_as_numbers(tmp_path, X):
    np.savez(tmp_path / "odd.npz", X=X, Y=np.eye(3))
    refusal(tmp_path / "odd.npz")
