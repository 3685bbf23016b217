"""How much memory the arrays of a model file take, before they are read."""

import io
import zipfile

import numpy as np
import pytest

from mltsk.exceptions import InputError
from mltsk.io.sizes import check_array_sizes

KIB = 128  # numbers of 8 bytes


@pytest.fixture
def archive(monkeypatch):
    """An archive with an array of 100 KiB, where arrays may take 240 KiB."""
    monkeypatch.setenv("MLTSK_MEMORY", "240K")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        array = io.BytesIO()
        np.save(array, np.zeros(100 * KIB))
        archive.writestr("a.npy", array.getvalue())
        packed = io.BytesIO()
        np.savez_compressed(packed, data=np.zeros(300 * KIB))
        archive.writestr("rows.npz", packed.getvalue())
    return zipfile.ZipFile(content)


def test_check_array_sizes_counts_an_array_as_often_as_it_is_named(archive):
    named = {"file": "a.npy"}
    check_array_sizes(archive, {"content": [named]}, "m.skops")
    with pytest.raises(InputError, match=r"m\.skops would take more than"):
        check_array_sizes(archive, {"content": [named, {"x": named}]}, "m.skops")


def test_check_array_sizes_counts_an_object_that_is_there_twice_once(archive):
    named = {"file": "a.npy", "__id__": 7}
    check_array_sizes(archive, {"content": [named] * 9}, "m.skops")
    with pytest.raises(InputError):  # skops takes 0 for no number
        check_array_sizes(archive, {"content": [named | {"__id__": 0}] * 9}, "m.skops")


def test_check_array_sizes_looks_into_archives_within_the_archive(archive):
    with pytest.raises(InputError, match=r"m\.skops would take more than"):
        check_array_sizes(archive, {"file": "rows.npz"}, "m.skops")
