"""`fetch_dataset`: download, verify, convert and keep a data set of the catalog.

Only this function uses the network. Mirrors are tried in order. A mirror counts only
when all files arrived *and* the result is what the catalog knows; then one NPZ file
appears in the cache, in one step. The bytes of a file go to NAME.part, and
NAME.part.json remembers from where and which version of the file they are: the next
call keeps them if the server says that it has the same.
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
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO
from urllib import error, request
from urllib.parse import urljoin, urlsplit

from mltsk.exceptions import InputError, printable
from mltsk.machine import lock

from .dataset import Dataset
from .load import Entry, cache_folder, convert, find_entry, verify
from .npz import read_npz, write_npz

Progress = Callable[[int, int | None], object]
MAX_DOWNLOAD_BYTES = 512 << 20  # five times the largest file that GitHub stores
MAX_DOWNLOAD_SECONDS = 3600.0  # for a file in all, however slowly it drips
PAUSES = (0.0, 0.5, 1.0, 2.0)  # seconds before each attempt
CHUNK_BYTES = 1 << 16
WEB_SCHEMES = ("http", "https")
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # which is no dropped connection


class FetchError(OSError):
    """A download failed: the message says which address, and why.

    What a server said is made `printable`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def fetch_dataset(
    name: str,
    *,
    progress: Progress | None = None,
    mirrors: Sequence[str] | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download a data set of the catalog, verify it, and keep it for `load_dataset`.

    It is kept as an NPZ file. A file that is already there and sound is returned
    without any download. When every mirror failed, a `FetchError` lists them with their
    reasons.

    Parameters
    ----------
    name : str
        A name of the catalog.
    progress : callable, optional
        Called with (bytes done, bytes in all or None) while a file arrives; begins
        again for each file.
    mirrors : sequence of str, optional
        Base addresses to use instead of the catalog's: each must hold all files of the
        data set.
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
        addresses = [_addresses(base, entry.files) for base in mirrors]
    home = cache_folder()
    home.mkdir(parents=True, exist_ok=True)
    target = home / f"{entry.name}.npz"
    work = home / f".{entry.name}-download"
    with _locked(home / f".{entry.name}.lock"):
        with suppress(InputError):
            verify(entry, read_npz(target))
            return target
        data = _fetch_from_mirrors(entry, addresses, work, progress, timeout)
        write_npz(target, data)
        shutil.rmtree(work, ignore_errors=True)
        return target


def _addresses(base: str, names: Sequence[str]) -> list[str]:
    """The addresses of these files below a base address."""
    if not _is_address(base):
        raise InputError(
            f"The mirror {base!r} is no address of http or https in plain ASCII."
        )
    return [urljoin(base.rstrip("/") + "/", name) for name in names]


def _is_address(url: str) -> bool:
    try:
        scheme = urlsplit(url).scheme
    except ValueError:  # of brackets that do not close, say
        return False
    return url.isascii() and url.isprintable() and scheme in WEB_SCHEMES


def _fetch_from_mirrors(
    entry: Entry,
    addresses: Sequence[Sequence[str]],
    work: Path,
    progress: Progress | None,
    timeout: float,
) -> Dataset:
    """The data set from the first mirror that has it, with its files in ``work``."""
    failures = []
    for urls in addresses:
        # A folder for each mirror: a partial file of one is never continued with bytes
        # of another.
        folder = work / hashlib.sha256("\n".join(urls).encode()).hexdigest()[:12]
        try:
            for url, name in zip(urls, entry.files, strict=True):
                if not (folder / name).is_file():
                    download(url, folder / name, progress=progress, timeout=timeout)
            _check_git_blob(entry, folder / entry.files[0])
            return convert(entry, folder)
        except FetchError as failed:
            failures.append(str(failed).rstrip("."))
        except InputError as wrong:
            # Whole, but not what was expected: begin afresh next time.
            shutil.rmtree(folder, ignore_errors=True)
            failures.append(f"{urls[0]}: {str(wrong).rstrip('.')}")
    why = "; ".join(failures) or "no mirror was given"
    raise FetchError(
        f"{entry.name} could not be fetched: {why} (files saved by hand from "
        f"{entry.source} can be loaded from a folder that MLTSK_DATA names)."
    )


def _check_git_blob(entry: Entry, path: Path) -> None:
    """Refuse a file whose git identifier is known and is another one."""
    if not entry.git_blob:
        return
    # SHA-1 is what git uses; here it tells a damaged download from a sound one, it is
    # no defence against forgery.
    begun = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        blob = hashlib.file_digest(file, lambda: begun).hexdigest()
    if blob != entry.git_blob:
        raise InputError(
            f"wrong checksum: git's identifier is {blob}, not {entry.git_blob}"
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time do the work: the next one finds it done.

    A crash frees the lock.
    """
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
    deadline: float = MAX_DOWNLOAD_SECONDS,
) -> Path:
    """Download ``url`` to ``target``, resuming a partial file.

    It reconnects when the connection drops. ``target`` appears only when it is
    complete. ``progress`` is called with the bytes that are there and the bytes that
    there will be (None if the server does not say). A connection counts as dropped
    after ``timeout`` seconds of silence; reconnections wait for half a second, each
    further one twice as long. After ``deadline`` seconds in all it is given up, and
    what has arrived is kept for the next call.
    """
    if not _is_address(url):
        raise FetchError(f"{url} is no address of http or https")
    file = _Download(
        url=url,
        target=Path(target),
        progress=progress or _ignore_progress,
        timeout=timeout,
        end=time.monotonic() + deadline,
    )
    for pause in PAUSES:
        time.sleep(pause)
        try:
            return file.attempt()
        except FetchError:
            raise
        except (http.client.HTTPException, OSError) as dropped:
            if getattr(dropped, "errno", None) in FULL_DISK:
                raise
            reason = str(dropped) or type(dropped).__name__
    raise FetchError(f"{url}: {reason}")


def _ignore_progress(done: int, total: int | None) -> None:
    """Show nothing."""


@dataclass
class _Download:
    """A file on its way to ``target``, which must be there at the time ``end``.

    Its bytes so far are in one file; a note next to it says of which version of the
    file they are a part.
    """

    url: str
    target: Path
    progress: Progress
    timeout: float
    end: float

    def __post_init__(self) -> None:
        self.part = self.target.with_name(f"{self.target.name}.part")
        self.note = self.target.with_name(f"{self.target.name}.part.json")

    def attempt(self) -> Path:
        """Ask for the bytes that are not there yet, and keep them.

        Everything is asked for where it is not known of which version the part is.
        """
        n_bytes, version = self._kept()
        with self._ask(n_bytes, version) as response:
            current = _version(response)
            if response.status != HTTPStatus.PARTIAL_CONTENT:
                n_bytes = 0
            else:
                self._check_range(response, n_bytes)
                if current != version:
                    self.forget()
                    raise ConnectionError("the file has changed on the server")
            self._receive(response, n_bytes, current)
        self.note.unlink(missing_ok=True)
        return self.part.replace(self.target)

    def _kept(self) -> tuple[int, str]:
        """How many bytes an earlier call left, and of which version of the file."""
        with suppress(OSError, TypeError, ValueError):
            url, version = json.loads(self.note.read_text(encoding="utf-8"))
            n_bytes = self.part.stat().st_size
            if n_bytes and version and url == self.url:
                return n_bytes, version
        self.forget()
        return 0, ""

    def forget(self) -> None:
        """Remove what has arrived."""
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def _ask(self, n_bytes: int, version: str) -> HTTPResponse:
        """The server's answer to a request for what follows the first bytes."""
        # identity: a length and a range must count the bytes of the file, not those of
        # a compressed copy.
        headers = {"User-Agent": "mltsk", "Accept-Encoding": "identity"}
        if n_bytes:
            headers["Range"] = f"bytes={n_bytes}-"
            headers["If-Range"] = version
        asked = request.Request(self.url, headers=headers)
        seconds = max(self.end - time.monotonic(), self.timeout)
        try:
            return _open(asked, self.timeout, seconds)
        except error.HTTPError as refused:
            refused.close()
            if refused.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and n_bytes:
                self.forget()
                raise ConnectionError("the partial file did not fit") from None
            raise FetchError(
                f"{self.url}: HTTP {refused.code} {refused.reason}"
            ) from None
        except error.URLError as failed:
            raise FetchError(f"{self.url}: {failed.reason}") from None

    def _check_range(self, response: HTTPResponse, n_bytes: int) -> None:
        """Refuse an answer that does not begin after the bytes that are there."""
        answered = response.headers.get("Content-Range", "")
        if not answered.startswith(f"bytes {n_bytes}-"):
            raise ConnectionError("the server sent another range than it was asked for")

    def _receive(self, response: HTTPResponse, n_bytes: int, version: str) -> None:
        """Append what the server sends to the first bytes that are there."""
        total = self._expected_bytes(response, n_bytes)
        self.note.parent.mkdir(parents=True, exist_ok=True)
        self.note.write_text(json.dumps([self.url, version]), encoding="utf-8")
        with self.part.open("ab" if n_bytes else "wb") as file:
            self.progress(n_bytes, total)
            while chunk := response.read1(CHUNK_BYTES):
                n_bytes += file.write(chunk)
                self.progress(n_bytes, total)
                if time.monotonic() > self.end:
                    raise FetchError(
                        f"{self.url}: too slow; "
                        f"the {n_bytes} bytes so far are kept for the next call"
                    )
                if n_bytes > MAX_DOWNLOAD_BYTES:
                    break
        if n_bytes > MAX_DOWNLOAD_BYTES:
            self.forget()
            raise FetchError(
                f"{self.url}: more than the {MAX_DOWNLOAD_BYTES} bytes allowed"
            )
        if total is not None and n_bytes != total:
            raise ConnectionError(
                f"the connection dropped after {n_bytes} of {total} bytes"
            )

    def _expected_bytes(self, response: HTTPResponse, n_bytes: int) -> int | None:
        """The length of the whole file, if the server says it."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise FetchError(f"{self.url}: the server sent a compressed copy")
        length = response.headers.get("Content-Length", "")
        if not length.isdecimal():
            return None
        total = n_bytes + int(length)
        if total > MAX_DOWNLOAD_BYTES:
            raise FetchError(
                f"{self.url}: {total} bytes are more than the {MAX_DOWNLOAD_BYTES} "
                "allowed"
            )
        return total


def _version(response: HTTPResponse) -> str:
    """The version of a file that the server vouches for, "" if it does not."""
    etag: str = response.headers.get("ETag", "W/")
    if etag.startswith("W/"):  # a weak one does not vouch
        return response.headers.get("Last-Modified", "")
    return etag


def _open(asked: request.Request, timeout: float, seconds: float) -> HTTPResponse:
    """The answer to a request if it begins in time.

    A timeout counts from byte to byte, and headers may drip.
    """
    opener = request.build_opener(_Redirects)
    answer = Future[HTTPResponse]()

    def ask() -> None:
        try:
            answer.set_result(opener.open(asked, timeout=timeout))
        except Exception as failed:
            # For whoever waits, without the frames, which hold an open socket.
            answer.set_exception(failed.with_traceback(None))

    threading.Thread(target=ask, daemon=True).start()
    if not wait([answer], seconds).done:
        answer.add_done_callback(_close)
        raise FetchError(
            f"{asked.full_url}: too slow; no answer began within {seconds:.0f} seconds"
        )
    return answer.result()


def _close(late: Future[HTTPResponse]) -> None:
    """Close an answer for which nobody waits any more."""
    if late.exception() is None:
        late.result().close()


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirections, but not out of http and https, nor from https to http."""

    def redirect_request(
        self,
        req: request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> request.Request | None:
        """The request for the new address, if it may be followed."""
        is_secure = urlsplit(req.full_url).scheme == "https"
        allowed = ("https",) if is_secure else WEB_SCHEMES
        if urlsplit(newurl).scheme not in allowed:
            raise error.URLError(f"redirected to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
