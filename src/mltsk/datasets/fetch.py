"""`fetch_dataset`: download, verify, convert and keep a data set of the catalog. Only this function uses the network.

Mirrors are tried in order. A mirror counts only when all files arrived *and* the result is what the catalog knows; then
one NPZ file appears in the cache, in one step. The bytes of a file go to NAME.part, and NAME.part.json remembers from
where and which version of the file they are: the next call keeps them if the server says that it has the same.
"""

import errno
import hashlib
import http.client
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib import error, request
from urllib.parse import urljoin, urlsplit

from mltsk.exceptions import InputError
from mltsk.machine import lock

from .dataset import Dataset
from .load import Entry, cache_folder, convert, find_entry, verify
from .npz import read_npz, write_npz

Progress = Callable[[int, int | None], object]
MAX_BYTES = 512 << 20  # five times the largest file that GitHub stores
PAUSES = (0.0, 0.5, 1.0, 2.0)  # seconds before each attempt
CHUNK = 1 << 16
DEADLINE = 3600.0  # seconds for a file in all, however slowly it drips
_SCHEMES = ("http", "https")
FULL = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
)  # a disk, which is no dropped connection


class FetchError(OSError):
    """A download failed: the message says which address, and why."""


def fetch_dataset(
    name: str,
    *,
    progress: Progress | None = None,
    mirrors: Sequence[str] | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download a data set of the catalog, verify it, and keep it where `load_dataset` finds it, as an NPZ file.

    A file that is already there and sound is returned without any download. When every mirror failed, a `FetchError`
    lists them with their reasons.

    Parameters
    ----------
    name : str
        A name of the catalog.
    progress : callable, optional
        Called with (bytes done, bytes in all or None) while a file arrives; begins again for each file.
    mirrors : sequence of str, optional
        Base addresses to use instead of the catalog's: each must hold all files of the data set.
    timeout : float
        Seconds of silence after which a connection counts as dropped.

    Examples
    --------
    >>> from mltsk.datasets import fetch_dataset
    >>> fetch_dataset("emotions").name  # doctest: +SKIP
    'emotions.npz'
    """
    entry = find_entry(name)
    addresses = entry.mirrors
    if mirrors is not None:
        if strange := [base for base in mirrors if not _is_address(base)]:
            raise InputError(
                f"The mirror {strange[0]!r} is no address of http or https in plain ASCII."
            )
        addresses = tuple(
            tuple(urljoin(base.rstrip("/") + "/", name) for name in entry.files)
            for base in mirrors
        )
    home = cache_folder()
    home.mkdir(parents=True, exist_ok=True)
    target, work = home / f"{entry.name}.npz", home / f".{entry.name}-download"
    with _locked(home / f".{entry.name}.lock"):
        with suppress(InputError):
            verify(entry, read_npz(target))
            return target
        write_npz(target, _from_mirrors(entry, addresses, work, progress, timeout))
        shutil.rmtree(work, ignore_errors=True)
        return target


def _is_address(url: str) -> bool:
    try:
        return url.isascii() and url.isprintable() and urlsplit(url).scheme in _SCHEMES
    except ValueError:  # of brackets that do not close, say
        return False


def _from_mirrors(
    entry: Entry, addresses: Any, work: Path, progress: Progress | None, timeout: float
) -> Dataset:
    failures = []
    for urls in addresses:
        # A folder for each mirror: a partial file of one is never continued with bytes of another.
        folder = work / hashlib.sha256("\n".join(urls).encode()).hexdigest()[:12]
        try:
            for url, name in zip(urls, entry.files, strict=True):
                if not (folder / name).is_file():
                    download(url, folder / name, progress=progress, timeout=timeout)
            if (
                entry.git_blob
                and (found := _git_blob(folder / entry.files[0])) != entry.git_blob
            ):
                raise InputError(
                    f"wrong checksum: git's identifier is {found}, not {entry.git_blob}"
                )
            return convert(entry, folder)
        except FetchError as failed:
            failures.append(str(failed).rstrip("."))
        except InputError as wrong:
            shutil.rmtree(
                folder, ignore_errors=True
            )  # whole, but not what was expected: begin afresh next time
            failures.append(f"{urls[0]}: {str(wrong).rstrip('.')}")
    by_hand = f"files saved by hand from {entry.source} can be loaded from a folder that MLTSK_DATA names"
    why = "; ".join(failures) or "no mirror was given"
    raise FetchError(f"{entry.name} could not be fetched: {why} ({by_hand}).")


def _git_blob(path: Path) -> str:
    # SHA-1 is what git uses; here it tells a damaged download from a sound one, it is no defence against forgery.
    begun = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: begun).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time do the work: the next one finds it done. A crash frees the lock."""
    with path.open("w") as file:
        # Not every file system has locks: two downloads at once waste time there.
        with suppress(OSError):
            lock(file, wait=True)
        yield


def download(
    url: str,
    target: Path,
    *,
    progress: Progress | None = None,
    timeout: float = 30.0,
    deadline: float = DEADLINE,
) -> Path:
    """Download ``url`` to ``target``, resuming a partial file and reconnecting when the connection drops.

    ``target`` appears only when it is complete. ``progress`` is called with the bytes that are there and the bytes that
    there will be (None if the server does not say). A connection counts as dropped after ``timeout`` seconds of
    silence; reconnections wait for half a second, each further one twice as long. After ``deadline``
    seconds in all it is given up, and what has arrived is kept for the next call.
    """
    if not _is_address(url):
        raise FetchError(f"{url} is no address of http or https")
    file = _Download(
        url,
        Path(target),
        progress or (lambda done, total: None),
        timeout,
        time.monotonic() + deadline,
    )
    for pause in PAUSES:
        time.sleep(pause)
        try:
            return file.attempt()
        except (http.client.HTTPException, OSError) as dropped:
            if (
                isinstance(dropped, FetchError)
                or getattr(dropped, "errno", None) in FULL
            ):
                raise
            reason = str(dropped) or type(dropped).__name__
    raise FetchError(f"{url}: {reason}")


class _Download:
    """A file on its way: the bytes that are there, and a note of the version of the file that they are a part of."""

    def __init__(
        self, url: str, target: Path, progress: Progress, timeout: float, end: float
    ) -> None:
        self.url, self.target, self.progress, self.timeout, self.end = (
            url,
            target,
            progress,
            timeout,
            end,
        )
        self.part, self.note = (
            target.with_name(target.name + more) for more in (".part", ".part.json")
        )

    def attempt(self) -> Path:
        """Ask for what is not there yet, or for everything where it is not known which version the part is of."""
        have, version = 0, ""
        with suppress(OSError, TypeError, ValueError):
            url, version = json.loads(self.note.read_text(encoding="utf-8"))
            have = self.part.stat().st_size if version and url == self.url else 0
        if not have:
            self.forget()
        with self._answer(have, version) as response:
            etag = response.headers.get("ETag", "W/")  # a weak one does not vouch
            now = (
                response.headers.get("Last-Modified", "")
                if etag.startswith("W/")
                else etag
            )
            if response.status != 206:
                have = 0
            elif not response.headers.get("Content-Range", "").startswith(
                f"bytes {have}-"
            ):
                raise ConnectionError(
                    "the server sent another range than it was asked for"
                )
            elif now != version:
                self.forget()
                raise ConnectionError("the file has changed on the server")
            self._receive(response, have, now)
        self.note.unlink(missing_ok=True)
        return self.part.replace(self.target)

    def forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def _answer(self, have: int, version: str) -> Any:
        # identity: a length and a range must count the bytes of the file, not those of a compressed copy.
        headers = {"User-Agent": "mltsk", "Accept-Encoding": "identity"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": version}
        asked = request.Request(self.url, headers=headers)
        try:
            return _opened(
                asked, self.timeout, max(self.end - time.monotonic(), self.timeout)
            )
        except error.HTTPError as refused:
            refused.close()
            if refused.code != 416 or not have:
                raise FetchError(
                    f"{self.url}: HTTP {refused.code} {refused.reason}"
                ) from None
            self.forget()
            raise ConnectionError("the partial file did not fit") from None
        except error.URLError as failed:
            raise FetchError(f"{self.url}: {failed.reason}") from None

    def _receive(self, response: Any, have: int, version: str) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise FetchError(f"{self.url}: the server sent a compressed copy")
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() else None
        if (total or 0) > MAX_BYTES:
            raise FetchError(
                f"{self.url}: {total} bytes are more than the {MAX_BYTES} allowed"
            )
        self.note.parent.mkdir(parents=True, exist_ok=True)
        self.note.write_text(json.dumps([self.url, version]), encoding="utf-8")
        with self.part.open("ab" if have else "wb") as file:
            self.progress(have, total)
            while have <= MAX_BYTES and (block := response.read1(CHUNK)):
                have += file.write(block)
                self.progress(have, total)
                if time.monotonic() > self.end:
                    raise FetchError(
                        f"{self.url}: too slow; the {have} bytes so far are kept for the next call"
                    )
        if have > MAX_BYTES:
            self.forget()
            raise FetchError(f"{self.url}: more than the {MAX_BYTES} bytes allowed")
        if total is not None and have != total:
            raise ConnectionError(
                f"the connection dropped after {have} of {total} bytes"
            )


def _opened(asked: request.Request, timeout: float, seconds: float) -> Any:
    """The answer to a request if it begins in time: a timeout counts from byte to byte, and headers may drip."""
    opener, answer = request.build_opener(_Redirects), Future[Any]()

    def ask() -> None:
        try:
            answer.set_result(opener.open(asked, timeout=timeout))
        except Exception as failed:  # told to whoever waits, without the frames, which hold an open socket
            answer.set_exception(failed.with_traceback(None))

    threading.Thread(target=ask, daemon=True).start()
    if not wait([answer], seconds).done:
        answer.add_done_callback(lambda late: late.exception() or late.result().close())
        raise FetchError(
            f"{asked.full_url}: too slow; no answer began within {seconds:.0f} seconds"
        )
    return answer.result()


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirections, but not out of http and https, and not from https down to http."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        allowed = ("https",) if urlsplit(req.full_url).scheme == "https" else _SCHEMES
        if urlsplit(newurl).scheme not in allowed:
            raise error.URLError(f"redirected to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
