import hashlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mltsk.datasets import (
    Dataset,
    Entry,
    catalog,
    content_digest,
    list_datasets,
    load,
    load_dataset,
    make_multilabel_rules,
    read_npz,
    write_npz,
)
from mltsk.datasets.load import cache_folder, convert, find_entry, verify
from mltsk.exceptions import InputError

XML = '<labels><label name="{}"/><label name="{}"/></labels>'


@pytest.fixture
def flags():
    n, d, n_labels = catalog()["flags"].shape
    rng = np.random.default_rng(0)
    return Dataset(rng.random((n, d)), rng.random((n, n_labels)) < 0.5, name="flags")


def test_load_dataset_looks_in_mltsk_data_then_in_the_cache(
    tmp_path, monkeypatch, flags
):
    for i, place in enumerate(("cache", "env")):
        write_npz(tmp_path / place / "flags.npz", Dataset(flags.X + i, flags.Y))
        if place == "env":
            monkeypatch.setenv("MLTSK_DATA", str(tmp_path / "env"))
        assert_array_equal(load_dataset("Flags").X, flags.X + i)


def test_load_dataset_takes_original_files_in_a_folder(tmp_path, monkeypatch, as_arff):
    yeast = load_dataset("yeast")
    (tmp_path / "yeast.arff").write_text(as_arff(yeast))
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    again = load_dataset("yeast")
    assert again.source.endswith("yeast.arff")
    assert_array_equal(again.X, yeast.X)


def test_load_dataset_refuses_a_file_of_another_shape(tmp_path, flags):
    write_npz(tmp_path / "cache" / "flags.npz", Dataset(flags.X[1:], flags.Y[1:]))
    with pytest.raises(InputError, match="is not the catalog's flags"):
        load_dataset("flags")


def test_load_dataset_says_how_to_get_what_is_not_here():
    with pytest.raises(InputError) as refused:
        load_dataset("emotions")
    assert "`mltsk datasets fetch emotions`" in str(refused.value)
    assert "MLTSK_DATA" in str(refused.value)


def test_load_dataset_never_opens_a_connection(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    with pytest.raises(InputError):
        load_dataset("emotions")


def test_load_dataset_finds_yeast_in_river():
    pytest.importorskip("river")
    data = load_dataset("yeast")
    assert data.shape == (2417, 103, 14)
    assert data.feature_names[-1] == "Att103"
    assert data.label_names == tuple(f"Class{i}" for i in range(1, 15))
    assert data.split.sum() == 917


def test_load_dataset_reads_yeast_as_river_itself_does():
    datasets = pytest.importorskip("river.datasets")
    data = load_dataset("yeast")
    for i, (x, y) in zip(range(20), datasets.Yeast(), strict=False):
        assert [x[name] for name in data.feature_names] == data.X[i].tolist()
        assert [y[name] for name in data.label_names] == data.Y[i].astype(bool).tolist()


def test_load_dataset_reads_the_published_yeast_from_river(real_data):
    ours, published = load_dataset("yeast"), read_npz(real_data / "yeast.npz")
    for key in ("X", "Y", "split"):
        assert_array_equal(getattr(ours, key), getattr(published, key))
    assert ours.feature_names == published.feature_names
    assert ours.label_names == published.label_names


def test_load_dataset_without_river_tells_the_install_command(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "river" else find_spec(name),
    )
    with pytest.raises(ImportError) as missing:
        load_dataset("yeast")
    assert str(missing.value) == 'pip install "mltsk[data]"'


def test_load_dataset_copes_with_a_river_without_data(monkeypatch, tmp_path):
    empty = SimpleNamespace(origin=str(tmp_path / "river" / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: empty)
    with pytest.raises(InputError, match="fetch yeast"):
        load_dataset("yeast")


@pytest.mark.parametrize("key", [key for key in catalog() if key != "mirflickr"])
def test_load_dataset_loads_the_real_data_sets(key, real_data, monkeypatch):
    monkeypatch.setenv("MLTSK_DATA", str(real_data))
    data, entry = load_dataset(key), catalog()[key]
    assert data.shape == entry.shape
    assert data.is_sparse == entry.sparse
    assert data.cardinality == pytest.approx(entry.cardinality, abs=6e-4)
    assert data.X.dtype == np.float64


@pytest.mark.parametrize(
    "name",
    ["mine.csv", "mine.tsv", "mine.csv.gz", "mine.parquet", "mine.xlsx", "data/mine"],
)
def test_load_dataset_leaves_tables_to_read_table(tmp_path, name):
    for path in (tmp_path / name, str(tmp_path / name)):
        with pytest.raises(
            InputError,
            match=r"\.npz files are data sets; read a table with mltsk\.read_table",
        ):
            load_dataset(path, labels="good")


def test_is_path_tells_paths_from_names():
    assert not load.is_path("yeast")
    assert all(
        map(load.is_path, ("yeast.csv", "data/yeast", r"C:\data\yeast", Path("yeast")))
    )


def test_load_dataset_refuses_labels_of_the_catalog():
    with pytest.raises(InputError, match="catalog knows the labels of yeast"):
        load_dataset("yeast", labels=3)


def test_list_datasets_says_what_is_here_and_where(tmp_path, flags):
    file = write_npz(tmp_path / "cache" / "flags.npz", flags)
    rows = {row.name: row for row in list_datasets()}
    assert list(rows) == list(catalog())
    assert (rows["flags"].where, rows["mirflickr"].where) == (str(file), "")
    assert rows["scene"].source.startswith("https://github.com/tsoumakas/mulan")
    assert rows["scene"].licence == "unknown: see source"


def test_list_datasets_finds_yeast_inside_river():
    pytest.importorskip("river")
    assert [row.where for row in list_datasets() if row.name == "yeast"] == [
        "the river package"
    ]


def test_import_of_datasets_imports_nothing_heavy():
    code = (
        "import sys, mltsk.datasets; "
        "heavy = {'pandas', 'scipy.io', 'river', 'sklearn'}; "
        "print(*sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == ""


def test_cache_folder_is_where_mltsk_cache_says(tmp_path):
    assert cache_folder() == tmp_path / "cache"


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "base/mltsk"),
        ("win32", "LOCALAPPDATA", "base/mltsk/Cache"),
        ("linux", "", "home/.cache/mltsk"),
        ("darwin", "", "home/Library/Caches/mltsk"),
        ("win32", "", "home/AppData/Local/mltsk/Cache"),
    ],
)
def test_cache_folder_is_the_platforms_otherwise(
    tmp_path, monkeypatch, platform, variable, expected
):
    for name in ("MLTSK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "base"))
    monkeypatch.setattr(load.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache_folder() == tmp_path / expected


def test_load_dataset_and_list_datasets_refuse_a_folder_that_is_gone(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path / "gone"))
    for look in (list_datasets, lambda: load_dataset("flags")):
        with pytest.raises(
            InputError, match=r"MLTSK_DATA is .*gone.*, which is not a folder"
        ):
            look()


@pytest.fixture
def data():
    return make_multilabel_rules(20, 3, 2)


@pytest.fixture
def arff(tmp_path, data, as_arff):
    path = tmp_path / "toy.arff"
    path.write_text(as_arff(data))
    return path


def test_load_dataset_gives_the_same_data_from_every_format(tmp_path, data, arff):
    savemat(tmp_path / "toy.mat", {"data": data.X, "target": data.Y.T})
    write_npz(tmp_path / "toy.npz", data)
    for name, labels in {"arff": 2, "mat": None, "npz": None}.items():
        read = load_dataset(tmp_path / f"toy.{name}", labels=labels)
        assert_array_equal(read.X, data.X, err_msg=name)
        assert_array_equal(read.Y, data.Y, err_msg=name)
        assert read.name == "toy"


def test_load_dataset_finds_labels_in_the_xml_file_beside_an_arff_file(arff, data):
    arff.with_suffix(".xml").write_text(XML.format("label2", "x2"))
    with pytest.raises(InputError, match="Label 'x2' of toy holds"):
        load_dataset(arff)
    arff.with_suffix(".xml").write_text(XML.format("label2", "label1"))
    # In the order of the ARFF file.
    assert load_dataset(arff).label_names == ("label1", "label2")


def test_load_dataset_finds_one_xml_file_for_train_and_test(arff):
    part = arff.rename(arff.with_name("toy-train.arff"))
    arff.with_name("toy.xml").write_text(XML.format("label1", "label2"))
    assert load_dataset(part).label_names == ("label1", "label2")


def test_load_dataset_prefers_given_labels_to_the_xml_file(arff):
    arff.with_suffix(".xml").write_text("this is no XML")
    assert load_dataset(arff, labels="label2").label_names == ("label2",)


def test_load_dataset_takes_an_xml_file_as_labels(arff, tmp_path):
    (tmp_path / "which.xml").write_text(XML.format("label1", "label2"))
    for xml in ("which.xml", tmp_path / "which.xml", Path("which.xml")):
        assert load_dataset(arff, labels=xml).shape == (20, 3, 2)
    with pytest.raises(InputError, match=r"nowhere\.xml cannot be read"):
        load_dataset(arff, labels="nowhere.xml")


def test_load_dataset_asks_for_labels_and_takes_none_for_an_answer(arff):
    with pytest.raises(InputError, match="does not say which"):
        load_dataset(arff)
    assert load_dataset(arff, labels=0).shape == (20, 5, 0)


def test_load_dataset_takes_the_labels_that_an_npz_file_holds(tmp_path, data):
    write_npz(tmp_path / "new.npz", Dataset(np.zeros((2, 2)), np.empty((2, 0))))
    with pytest.raises(InputError, match="holds no labels Y"):
        load_dataset(tmp_path / "new.npz")
    write_npz(tmp_path / "toy.npz", data)
    with pytest.raises(
        InputError, match=r"says which columns are labels: mltsk\.read_table takes any"
    ):
        load_dataset(tmp_path / "toy.npz", labels=1)


def test_load_dataset_takes_a_variable_for_the_labels_of_a_matlab_file(tmp_path, data):
    savemat(tmp_path / "toy.mat", {"data": data.X, "mine": data.Y})
    assert_array_equal(load_dataset(tmp_path / "toy.mat", labels="mine").Y, data.Y)
    with pytest.raises(InputError, match="name of a variable"):
        load_dataset(tmp_path / "toy.mat", labels=2)


# --- the catalog, and its original files


@pytest.mark.parametrize("entry", catalog().values(), ids=catalog())
def test_catalog_entries_can_be_fetched_and_verified(entry):
    assert len(entry.mirrors) >= 2
    assert all(len(mirror) == len(entry.files) for mirror in entry.mirrors)
    assert all(url.startswith("https://") for mirror in entry.mirrors for url in mirror)
    # The last part of an address becomes the name of a file on disk: nothing in it may
    # lead elsewhere.
    assert all(re.fullmatch(r"\w[\w.-]*\.(arff|mat|xml)", name) for name in entry.files)
    assert re.fullmatch(r"[0-9a-f]{64}", entry.content) or re.fullmatch(
        r"[0-9a-f]{40}", entry.git_blob
    )
    assert entry.licence


@pytest.mark.parametrize("entry", catalog().values(), ids=catalog())
def test_catalog_entries_agree_with_themselves(entry):
    assert 0 < entry.cardinality < entry.n_labels
    assert entry.split is None or len(entry.split) == entry.n_samples
    assert set(entry.split or ()) <= {0, 1}
    assert isinstance(entry.sparse, bool)
    assert "xml" not in (entry.labels, entry.label_names) or any(
        name.endswith(".xml") for name in entry.files
    )


def test_catalog_entries_are_frozen():
    with pytest.raises(AttributeError):
        catalog()["yeast"].title = "other"
    with pytest.raises(TypeError):
        catalog()["mine"] = None


def test_catalog_addresses_are_bases_and_paths():
    entry = catalog()["scene"]
    assert entry.files == ["scene-train.arff", "scene-test.arff"]
    base = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label/scene/"
    assert entry.mirrors[0] == [base + "scene-train.arff", base + "scene-test.arff"]


@pytest.mark.parametrize("name", ["yeast", "Yeast", " YEAST "])
def test_find_entry_ignores_capitals(name):
    assert find_entry(name).name == "yeast"


def test_find_entry_suggests_the_nearest_names():
    with pytest.raises(
        InputError, match="no data set 'emotion': did you mean 'emotions'"
    ):
        find_entry("emotion")
    with pytest.raises(InputError, match="there are bibtex, birds"):
        find_entry("qqq")


def test_catalog_file_explains_every_field_it_uses():
    text = files("mltsk.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    explained = {
        line.split()[1]
        for line in text.splitlines()
        if line.startswith("# ") and "  " in line
    }
    used = {
        field for entry in tomllib.loads(text)["datasets"].values() for field in entry
    }
    assert used - {"title", "about", "licence", "first_feature"} <= explained


def entry_of(data, **more):
    n_samples, n_features, n_labels = data.shape
    return Entry(
        name="toy",
        title="Toy",
        n_samples=n_samples,
        n_features=n_features,
        n_labels=n_labels,
        cardinality=1.0,
        sparse=data.is_sparse,
        source="https://example.org",
        mirrors=(),
        licence="",
        about="",
        content=content_digest(data),
        **more,
    )


def xml_of(names):
    return (
        "<labels>" + "".join(f'<label name="{name}"/>' for name in names) + "</labels>"
    )


def test_convert_stacks_arff_files_in_order_with_their_split(tmp_path, as_arff):
    data = make_multilabel_rules(30, 4, 3)
    for name, rows in (("b.arff", slice(20)), ("a.arff", slice(20, None))):
        (tmp_path / name).write_text(as_arff(Dataset(data.X[rows], data.Y[rows])))
    entry = entry_of(
        data, files=("b.arff", "a.arff"), labels=3, split=[0] * 20 + [1] * 10
    )
    back = convert(entry, tmp_path)
    assert_array_equal(back.X, data.X)
    assert back.split.sum() == 10
    assert back.source == "https://example.org: b.arff, a.arff"


def test_convert_takes_labels_from_an_xml_file(tmp_path, as_arff):
    data = make_multilabel_rules(30, 50, 3, sparse=True)
    (tmp_path / "toy.arff").write_text(as_arff(data))
    (tmp_path / "toy.xml").write_text(xml_of(reversed(data.label_names)))
    back = convert(
        entry_of(data, files=("toy.arff", "toy.xml"), labels="xml"), tmp_path
    )
    assert back.is_sparse
    assert back.label_names == data.label_names


def test_convert_names_matlab_files_by_the_catalog(tmp_path):
    data = make_multilabel_rules(30, 3, 2, sparse=True)
    savemat(tmp_path / "toy.mat", {"data": data.X.toarray(), "target": data.Y.T})
    (tmp_path / "toy.xml").write_text(xml_of(["red", "blue"]))
    files = {
        "files": ("toy.mat", "toy.xml"),
        "feature_names": "term{}",
        "first_feature": 0,
        "label_names": "xml",
    }
    back = convert(entry_of(data, binary_features=True, **files), tmp_path)
    assert back.is_sparse
    assert back.feature_names == ("term0", "term1", "term2")
    assert back.label_names == ("red", "blue")
    assert back.categories == (("0", "1"),) * 3


def test_convert_refuses_files_with_other_features(tmp_path, as_arff):
    data = make_multilabel_rules(10, 2, 1)
    (tmp_path / "a.arff").write_text(as_arff(data))
    (tmp_path / "b.arff").write_text(as_arff(replace(data, feature_names=("x1", "y"))))
    with pytest.raises(InputError, match="do not have the same features"):
        convert(entry_of(data, files=("a.arff", "b.arff"), labels=1), tmp_path)


def test_verify_refuses_another_shape_or_content():
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
        return savemat(
            path,
            {
                "data": sparse.csc_array(data.X),
                "target": sparse.csc_array(data.Y.T * 1.0),
            },
        )
    train = data.split == 0
    test = data.split == 1
    parts = {"train_data": data.X[train], "test_data": data.X[test]}
    return savemat(
        path,
        {**parts, "train_target": signed[:, train], "test_target": signed[:, test]},
    )


@pytest.mark.parametrize(
    "key", [key for key, entry in catalog().items() if entry.content]
)
def test_convert_gives_back_the_real_data_sets(key, real_data, tmp_path, as_arff):
    entry, data = catalog()[key], read_npz(real_data / f"{key}.npz")
    originals = [name for name in entry.files if not name.endswith(".xml")]
    bounds = np.flatnonzero(np.diff(entry.split)) + 1 if len(originals) > 1 else []
    for name, rows in zip(
        originals, np.split(np.arange(len(data)), bounds), strict=True
    ):
        part = Dataset(
            data.X[rows],
            data.Y[rows],
            data.feature_names,
            data.label_names,
            categories=data.categories,
        )
        if name.endswith(".mat"):
            mlc_toolbox_file(data, tmp_path / name)
        else:
            (tmp_path / name).write_text(as_arff(part))
    for name in set(entry.files) - set(originals):
        (tmp_path / name).write_text(xml_of(data.label_names))
    back = convert(entry, tmp_path)
    for field in ("feature_names", "label_names", "categories", "is_sparse", "name"):
        assert getattr(back, field) == getattr(data, field)
    if entry.split:
        assert_array_equal(back.split, data.split)
    verify(entry, data)


def test_content_digest_hashes_the_documented_bytes():
    X, Y = np.array([[0.0, 2.5], [0.0, 0.0]]), np.array([[1], [0]])
    # n, D, L; row starts 0, 1, 1; column 1.
    integers = np.array([2, 2, 1, 0, 1, 1, 1], dtype="<i8").tobytes()
    value = np.array([2.5], dtype="<f8").tobytes()
    expected = b"mltsk-content-1\n" + integers + value + b"\x01\x00"
    assert content_digest(Dataset(X, Y)) == hashlib.sha256(expected).hexdigest()


def test_content_digest_does_not_depend_on_storage():
    X = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, -0.0]])
    messy = sparse.csr_array(
        ([2.0, 1.0, 3.0, 0.0], [2, 1, 0, 1], [0, 2, 4]), shape=(2, 3)
    )
    Y = np.eye(2)
    assert content_digest(Dataset(X, Y)) == content_digest(Dataset(messy, Y))


def test_content_digest_shows_every_change_of_a_value():
    X, Y = np.ones((3, 2)), np.zeros((3, 2))
    digests = {content_digest(Dataset(X, Y))}
    for array in (X, Y):
        for index in np.ndindex(array.shape):
            array[index] = 1 - array[index]
            digests.add(content_digest(Dataset(X, Y)))
            array[index] = 1 - array[index]
    assert len(digests) == 13


def test_content_digest_does_not_change_the_data():
    X = sparse.csr_array(([2.0, 0.0], [1, 0], [0, 2]), shape=(1, 2))
    content_digest(Dataset(X, np.ones((1, 1))))
    assert X.nnz == 2
