"""`fetch_dataset`: download, verify, convert and keep a data set of the catalog. Only this function uses the network.

Mirrors are tried in order. A mirror counts only when all files arrived *and* the result is what the catalog knows; then
one NPZ file appears in the cache, in one step. What a dropped connection left is kept and resumed by the next call.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from mltsk.exceptions import InputError

from .catalog import Entry, find_entry
from .convert import convert, git_blob_id, verify
from .dataset import Dataset
from .download import FetchError, Progress, download
from .load import cache_folder
from .npz import read_npz, write_npz


def fetch_dataset(
    name: str,
    *,
    data_home: str | Path | None = None,
    progress: Progress | None = None,
    mirrors: Sequence[str] | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download a data set of the catalog, verify it, and keep it where `load_dataset` finds it.

    Parameters
    ----------
    name : str
        A name of the catalog.
    data_home : str or Path, optional
        The folder to write to; the cache unless given.
    progress : callable, optional
        Called with (bytes done, bytes in all or None) while a file arrives; begins again for each file.
    mirrors : sequence of str, optional
        Base addresses to use instead of the catalog's: each must hold all files of the data set.
    timeout : float
        Seconds of silence after which a connection counts as dropped.

    Returns
    -------
    Path
        The NPZ file. A file that is already there and sound is returned without any download.

    Raises
    ------
    FetchError
        When every mirror failed; the message lists them with their reasons.

    Examples
    --------
    >>> from mltsk.datasets import fetch_dataset
    >>> fetch_dataset("emotions").name  # doctest: +SKIP
    'emotions.npz'
    """
    entry = find_entry(name)
    home = Path(data_home).expanduser() if data_home else cache_folder()
    home.mkdir(parents=True, exist_ok=True)
    target = home / f"{entry.key}.npz"
    with _locked(home / f".{entry.key}.lock"):
        if not _is_sound(entry, target):
            work = home / f".{entry.key}-download"
            data = _from_mirrors(entry, _addresses(entry, mirrors), work, progress, timeout)
            write_npz(target, data)
            shutil.rmtree(work, ignore_errors=True)
    return target


def _addresses(entry: Entry, mirrors: Sequence[str] | None) -> list[tuple[str, ...]]:
    if mirrors is None:
        return list(entry.mirrors)
    for base in mirrors:
        if urlsplit(base).scheme not in ("http", "https"):
            raise InputError(f"The mirror {base!r} is neither http nor https.")
    return [tuple(urljoin(base.rstrip("/") + "/", name) for name in entry.files) for base in mirrors]


def _from_mirrors(
    entry: Entry, addresses: Sequence[tuple[str, ...]], work: Path, progress: Progress | None, timeout: float
) -> Dataset:
    failures = []
    for urls in addresses:
        # A folder for each mirror: a partial file of one is never continued with bytes of another.
        folder = work / hashlib.sha256("\n".join(urls).encode()).hexdigest()[:12]
        try:
            return _from_mirror(entry, urls, folder, progress, timeout)
        except FetchError as error:
            failures.append(str(error).rstrip("."))
        except InputError as error:
            shutil.rmtree(folder, ignore_errors=True)  # whole, but not what was expected: begin afresh next time
            failures.append(f"{urls[0]}: {str(error).rstrip('.')}")
    raise FetchError(
        f"{entry.key} could not be fetched: {'; '.join(failures) or 'no mirror was given'} "
        f"(files saved by hand from {entry.page} can be loaded from a folder that MLTSK_DATA names)."
    )


def _from_mirror(entry: Entry, urls: Sequence[str], folder: Path, progress: Progress | None, timeout: float) -> Dataset:
    for url, name in zip(urls, entry.files, strict=True):
        if not (folder / name).is_file():
            download(url, folder / name, progress=progress, timeout=timeout)
    if entry.git_blob and (found := git_blob_id(folder / entry.files[0])) != entry.git_blob:
        raise InputError(f"wrong checksum: git's identifier is {found}, not {entry.git_blob}")
    return convert(entry, folder)


def _is_sound(entry: Entry, target: Path) -> bool:
    with suppress(InputError):
        verify(entry, read_npz(target))
        return True
    return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time do the work: the next one finds it done. A crash frees the lock."""
    try:
        import fcntl
    except ImportError:  # not on Windows: two downloads at once waste time there, but the last step is still atomic
        yield
        return
    with path.open("w") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
