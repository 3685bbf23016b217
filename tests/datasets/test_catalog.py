import tomllib
from importlib.resources import files

import pytest

from mltsk.datasets import catalog
from mltsk.datasets.catalog import find_entry, parse_catalog
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

TOY = """
[sources.here]
page = "https://example.org"
bases = ["https://example.org/a/", "https://example.org/b/"]

[datasets.toy]
title = "Toy"
shape = [4, 2, 1]
cardinality = 0.5
sparse = false
from = "here"
files = ["folder/toy.arff"]
labels = 1
split = [[3, 0], [1, 1]]
licence = "unknown: see source"
about = "a toy"
git_blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""


def test_it_is_table_i_of_the_paper():
    assert {entry.title: entry.shape for entry in catalog().values()} == TABLE_I


def test_every_entry_can_be_fetched_and_verified():
    for entry in catalog().values():
        assert len(entry.mirrors) >= 2
        assert bool(entry.content) != bool(entry.git_blob)
        assert all(url.startswith("https://") for mirror in entry.mirrors for url in mirror)
        assert entry.licence


def test_entries_are_frozen():
    with pytest.raises(AttributeError):
        catalog()["yeast"].title = "other"
    with pytest.raises(TypeError):
        catalog()["mine"] = None


def test_addresses_are_bases_and_paths():
    entry = parse_catalog(TOY)["toy"]
    assert entry.files == ("toy.arff",)
    assert entry.mirrors == (
        ("https://example.org/a/folder/toy.arff",),
        ("https://example.org/b/folder/toy.arff",),
    )


@pytest.mark.parametrize("name", ["yeast", "Yeast", " YEAST "])
def test_names_are_found_in_any_capitals(name):
    assert find_entry(name).key == "yeast"


def test_an_unknown_name_is_answered_with_the_nearest_ones():
    with pytest.raises(InputError, match="no data set 'emotion': did you mean 'emotions'"):
        find_entry("emotion")
    with pytest.raises(InputError, match="there are bibtex, birds"):
        find_entry("qqq")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("title =", "titel =", "lacks 'title'"),
        ('about = "a toy"', 'about = "a toy"\ncolour = "red"', "unknown field 'colour'"),
        ("[4, 2, 1]", "[4, 2]", "bad 'shape'"),
        ("[4, 2, 1]", "[4, 2, 0]", "bad 'shape'"),
        ("cardinality = 0.5", 'cardinality = "half"', "bad 'cardinality'"),
        ("sparse = false", "sparse = 0", "bad 'sparse'"),
        ('from = "here"', 'from = "there"', "source that is not listed: 'there'"),
        ("folder/toy.arff", "folder/../..", "bad 'files'"),
        ("folder/toy.arff", "folder/.toy.arff", "bad 'files'"),
        ("folder/toy.arff", "toy.exe", "bad 'files'"),
        ("e69de", "E69DE", "bad 'git_blob'"),
        ("git_blob", "# git_blob", "neither content digest nor git_blob"),
        ("[[3, 0], [1, 1]]", "[[3, 0], [2, 1]]", "does not add up"),
        ("[[3, 0], [1, 1]]", "[[3, 0], [1, 2]]", "bad 'split'"),
        ("labels = 1", "labels = 1\nmirrors = [[]]", "bad 'mirrors'"),
        ("labels = 1", 'labels = 1\nmirrors = [["https://a/b", "https://a/c"]]', "does not list all"),
        ("labels = 1", 'labels = 1\nmirrors = [["ftp://a/b"]]', "neither http nor https"),
        ("labels = 1", "labels = -1", "bad 'labels'"),
        ("[datasets.toy]", "[datasets.toy", "not valid TOML"),
    ],
)
def test_mistakes_in_a_catalog_are_named(old, new, complaint):
    assert old in TOY
    with pytest.raises(InputError) as refused:
        parse_catalog(TOY.replace(old, new))
    assert complaint in str(refused.value)


def test_the_file_explains_every_field_it_uses():
    text = files("mltsk.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    explained = {line.split()[1] for line in text.splitlines() if line.startswith("# ") and "  " in line}
    used = {field for entry in tomllib.loads(text)["datasets"].values() for field in entry}
    assert used - {"title", "about", "licence", "first_feature"} <= explained
