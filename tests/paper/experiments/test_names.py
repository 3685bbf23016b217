"""Names of data sets and keys of methods: words, never paths."""

import pytest

from mltsk.paper.experiments.names import (
    MAX_NAME_LENGTH,
    dataset_name,
    is_dataset_name,
    is_method_key,
)

PATHS = ["", ".", "..", "a/b", "a\\b", "x/../../notes", "a b", "a\n", "\x1b[2J", "\0"]


@pytest.mark.parametrize("path", [*PATHS, "x" * (MAX_NAME_LENGTH + 1)])
def test_is_dataset_name_and_is_method_key_refuse_paths_and_control_characters(path):
    assert not is_dataset_name(path)
    assert not is_method_key(path)


@pytest.mark.parametrize("name", ["yeast", "20ng", "données", "=1+1", "a.b", "漢字"])
def test_is_dataset_name_takes_printable_words(name):
    assert is_dataset_name(name)
    assert dataset_name(name) == name


@pytest.mark.parametrize("key", ["br", "ml-tsk-fs", "c2ae-published", "SVC"])
def test_is_method_key_takes_words(key):
    assert is_method_key(key)


@pytest.mark.parametrize("stem", ["my data", "a\tb", "\x1b[2J", "a\\b", "x" * 300])
def test_dataset_name_makes_a_name_of_any_stem(stem):
    assert is_dataset_name(dataset_name(stem))
