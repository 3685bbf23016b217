import hashlib
import re
import subprocess
import tomllib
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mltsk.datasets import Dataset, Entry, catalog, content_digest, git_blob_id, make_multilabel_rules, read_npz
from mltsk.datasets.catalog import convert, find_entry, verify
from mltsk.exceptions import InputError


@pytest.mark.parametrize("entry", catalog().values(), ids=catalog())
def test_every_entry_can_be_fetched_and_verified(entry):
    assert len(entry.mirrors) >= 2
    assert all(len(mirror) == len(entry.files) for mirror in entry.mirrors)
    assert all(url.startswith("https://") for mirror in entry.mirrors for url in mirror)
    # The last part of an address becomes the name of a file on disk: nothing in it may lead elsewhere.
    assert all(re.fullmatch(r"\w[\w.-]*\.(arff|mat|xml)", name) for name in entry.files)
    assert re.fullmatch(r"[0-9a-f]{64}", entry.content) or re.fullmatch(r"[0-9a-f]{40}", entry.git_blob)
    assert entry.licence


@pytest.mark.parametrize("entry", catalog().values(), ids=catalog())
def test_the_parts_of_every_entry_fit_together(entry):
    assert 0 < entry.cardinality < entry.n_labels
    assert not entry.split or sum(rows for rows, _ in entry.split) == entry.n_samples
    assert {part for _, part in entry.split} <= {0, 1}
    assert isinstance(entry.sparse, bool)
    assert "xml" not in (entry.labels, entry.label_names) or entry.names_file


def test_entries_are_frozen():
    with pytest.raises(AttributeError):
        catalog()["yeast"].title = "other"
    with pytest.raises(TypeError):
        catalog()["mine"] = None


def test_addresses_are_bases_and_paths():
    entry = catalog()["scene"]
    assert entry.files == ("scene-train.arff", "scene-test.arff")
    base = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label/scene/"
    assert entry.mirrors[0] == (base + "scene-train.arff", base + "scene-test.arff")


@pytest.mark.parametrize("name", ["yeast", "Yeast", " YEAST "])
def test_names_are_found_in_any_capitals(name):
    assert find_entry(name).key == "yeast"


def test_an_unknown_name_is_answered_with_the_nearest_ones():
    with pytest.raises(InputError, match="no data set 'emotion': did you mean 'emotions'"):
        find_entry("emotion")
    with pytest.raises(InputError, match="there are bibtex, birds"):
        find_entry("qqq")


def test_the_file_explains_every_field_it_uses():
    text = files("mltsk.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    explained = {line.split()[1] for line in text.splitlines() if line.startswith("# ") and "  " in line}
    used = {field for entry in tomllib.loads(text)["datasets"].values() for field in entry}
    assert used - {"title", "about", "licence", "first_feature"} <= explained


XML = "<labels>{}</labels>"


def entry_of(data, **more):
    n, d, n_labels = data.shape
    parts = {"key": "toy", "title": "Toy", "n_samples": n, "n_features": d, "n_labels": n_labels}
    parts |= {"cardinality": 1.0, "sparse": data.is_sparse, "page": "https://example.org", "mirrors": ()}
    return Entry(**{**parts, "licence": "", "about": "", "content": content_digest(data), **more})


def xml_of(names):
    return XML.format("".join(f'<label name="{name}"/>' for name in names))


def test_arff_parts_are_stacked_in_order_with_their_split(tmp_path, as_arff):
    data = make_multilabel_rules(30, 4, 3)
    for name, rows in (("b.arff", slice(20)), ("a.arff", slice(20, None))):
        (tmp_path / name).write_text(as_arff(Dataset(data.X[rows], data.Y[rows])))
    entry = entry_of(data, files=("b.arff", "a.arff"), labels=3, split=((20, 0), (10, 1)))
    back = convert(entry, tmp_path)
    assert_array_equal(back.X, data.X)
    assert back.split.sum() == 10
    assert back.source == "https://example.org: b.arff, a.arff"


def test_labels_by_xml_file(tmp_path, as_arff):
    data = make_multilabel_rules(30, 50, 3, sparse=True)
    (tmp_path / "toy.arff").write_text(as_arff(data))
    (tmp_path / "toy.xml").write_text(xml_of(reversed(data.label_names)))
    back = convert(entry_of(data, files=("toy.arff", "toy.xml"), labels="xml"), tmp_path)
    assert back.is_sparse
    assert back.label_names == data.label_names


def test_matlab_files_get_their_names_from_the_catalog(tmp_path):
    data = make_multilabel_rules(30, 3, 2, sparse=True)
    savemat(tmp_path / "toy.mat", {"data": data.X.toarray(), "target": data.Y.T})
    (tmp_path / "toy.xml").write_text(xml_of(["red", "blue"]))
    files = {"files": ("toy.mat", "toy.xml"), "feature_names": "term{}", "first_feature": 0, "label_names": "xml"}
    back = convert(entry_of(data, binary_features=True, **files), tmp_path)
    assert back.is_sparse
    assert back.feature_names == ("term0", "term1", "term2")
    assert back.label_names == ("red", "blue")
    assert back.categories == (("0", "1"),) * 3


def test_parts_with_other_features_are_refused(tmp_path, as_arff):
    data = make_multilabel_rules(10, 2, 1)
    (tmp_path / "a.arff").write_text(as_arff(data))
    (tmp_path / "b.arff").write_text(as_arff(replace(data, feature_names=("x1", "y"))))
    with pytest.raises(InputError, match="do not have the same features"):
        convert(entry_of(data, files=("a.arff", "b.arff"), labels=1), tmp_path)


def test_another_shape_or_content_is_refused():
    data = make_multilabel_rules(10, 2, 1)
    entry = entry_of(data, files=("a.arff",))
    verify(entry, data)
    with pytest.raises(InputError, match="digest differs"):
        verify(entry, Dataset(data.X + 1e-12, data.Y))
    with pytest.raises(InputError, match="are 9×2×1, not 10×2×1"):
        verify(entry, Dataset(data.X[1:], data.Y[1:]))


def mlc_toolbox_file(data, path):
    """The real data in the layout of the MATLAB files that they came from."""
    signed = 2.0 * data.Y.T - 1
    if data.split is None:
        return savemat(path, {"data": sparse.csc_array(data.X), "target": sparse.csc_array(data.Y.T * 1.0)})
    train, test = data.split == 0, data.split == 1
    parts = {"train_data": data.X[train], "test_data": data.X[test]}
    return savemat(path, {**parts, "train_target": signed[:, train], "test_target": signed[:, test]})


@pytest.mark.parametrize("key", [key for key, entry in catalog().items() if entry.content])
def test_the_real_data_sets_survive_the_layout_of_their_originals(key, real_data, tmp_path, as_arff):
    entry, data = catalog()[key], read_npz(real_data / f"{key}.npz")
    originals = [name for name in entry.files if not name.endswith(".xml")]
    bounds = np.cumsum([rows for rows, _ in entry.split])[:-1] if len(originals) > 1 else []
    for name, rows in zip(originals, np.split(np.arange(len(data)), bounds), strict=True):
        part = Dataset(data.X[rows], data.Y[rows], data.feature_names, data.label_names, categories=data.categories)
        if name.endswith(".mat"):
            mlc_toolbox_file(data, tmp_path / name)
        else:
            (tmp_path / name).write_text(as_arff(part))
    if entry.names_file:
        (tmp_path / entry.names_file).write_text(xml_of(data.label_names))
    back = convert(entry, tmp_path)
    for field in ("feature_names", "label_names", "categories", "nominal", "is_sparse", "name"):
        assert getattr(back, field) == getattr(data, field)
    if entry.split:
        assert_array_equal(back.split, data.split)
    verify(entry, data)


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
