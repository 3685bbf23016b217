from pathlib import Path

import pytest

from mltsk.datasets import folders
from mltsk.datasets.folders import cache_folder, search_folders
from mltsk.exceptions import InputError


def test_the_cache_is_where_mltsk_cache_says(tmp_path):
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
def test_the_cache_is_the_platforms_otherwise(tmp_path, monkeypatch, platform, variable, expected):
    for name in ("MLTSK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "base"))
    monkeypatch.setattr(folders.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache_folder() == tmp_path / expected


def test_the_order_is_given_folder_then_environment_then_cache(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path / "b"))
    assert search_folders(tmp_path / "a") == [tmp_path / "a", tmp_path / "b", tmp_path / "cache"]


def test_a_folder_that_was_named_must_be_there(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"data_home is .*nowhere.*, which is not a folder"):
        search_folders(tmp_path / "nowhere")
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"MLTSK_DATA is .*gone"):
        search_folders()
