"""Where data sets are looked for on this machine, in order: a given folder, MLTSK_DATA, the cache."""

import os
import sys
from pathlib import Path

from mltsk.exceptions import InputError


def cache_folder() -> Path:
    """The folder that `fetch_dataset` writes to: MLTSK_CACHE, or the user's cache folder of this platform."""
    if chosen := os.environ.get("MLTSK_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mltsk" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mltsk"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mltsk"


def search_folders(data_home: str | Path | None = None) -> list[Path]:
    """The folders to look in; one that was named and is not there is an error, a missing cache is not."""
    folders = []
    for what, where in (("data_home", data_home), ("MLTSK_DATA", os.environ.get("MLTSK_DATA"))):
        if where:
            folder = Path(where).expanduser()
            if not folder.is_dir():
                raise InputError(f"{what} is {str(where)!r}, which is not a folder.")
            folders.append(folder)
    return [*folders, cache_folder()]
