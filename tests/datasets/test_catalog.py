import re
import tomllib
from importlib.resources import files

import pytest

from mltsk.datasets import catalog
from mltsk.datasets.catalog import find_entry
from mltsk.exceptions import InputError

TABLE_I = {
    "Bibtex": (7395, 1836, 159),
    "Birds": (645, 260, 19),
    "CAL500": (502, 68, 174),
    "Corel16k1": (13766, 500, 153),
    "Emotions": (593, 72, 6),
    "Flags": (194, 19, 7),
    "Image": (600, 294, 5),
    "Mirflickr": (25000, 1000, 38),
    "Rcv1s1": (6000, 944, 101),
    "Rcv1s2": (6000, 944, 101),
    "Scene": (2407, 294, 6),
    "Yeast": (2417, 103, 14),
}


def test_it_is_table_i_of_the_paper():
    assert {entry.title: entry.shape for entry in catalog().values()} == TABLE_I


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
