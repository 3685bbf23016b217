"""One file over HTTP, resumed where a connection dropped, never larger than allowed, never half there.

The bytes go to NAME.part; NAME.part.json remembers from where and which version of the file they are. A later
attempt asks for the rest with a Range header and keeps what is there only if the server says that it is the
same version.
"""

import http.client
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib import error, request
from urllib.parse import urlsplit

Progress = Callable[[int, int | None], object]

MAX_BYTES = 512 << 20  # five times the largest file that GitHub stores
ATTEMPTS = 4
CHUNK = 1 << 16
_DROPS = (ConnectionError, TimeoutError, http.client.HTTPException, OSError)


class FetchError(OSError):
    """A download failed: the message says which address, and why."""


class _Dropped(Exception):
    """The connection ended before the file did."""


@dataclass(frozen=True)
class _Note:
    """What a partial file is a part of."""

    url: str
    etag: str
    modified: str

    @property
    def known(self) -> bool:
        return bool(self.etag or self.modified)


def download(
    url: str,
    target: str | Path,
    *,
    progress: Progress | None = None,
    timeout: float = 30.0,
    max_bytes: int = MAX_BYTES,
    pause: float = 0.5,
) -> Path:
    """Download ``url`` to ``target``, resuming a partial file and reconnecting when the connection drops.

    Parameters
    ----------
    url : str
        An http or https address.
    target : str or Path
        The file to write; it appears only when it is complete.
    progress : callable, optional
        Called with the bytes that are there and the bytes that there will be (None if the server does not
        say).
    timeout : float
        Seconds of silence after which a connection counts as dropped.
    max_bytes : int
        A larger file is refused.
    pause : float
        Seconds before the first reconnection; each further pause is twice as long.
    """
    target = Path(target)
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url} is neither http nor https")
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            _attempt(url, target, progress or _silent, timeout, max_bytes)
        except _Dropped as dropped:
            reason = str(dropped)
        else:
            _note_path(target).unlink(missing_ok=True)
            os.replace(_part_path(target), target)
            return target
    raise FetchError(f"{url}: {reason}")


def _attempt(url: str, target: Path, progress: Progress, timeout: float, max_bytes: int) -> None:
    part = _part_path(target)
    part.parent.mkdir(parents=True, exist_ok=True)
    note = _resumable(url, target)
    have = part.stat().st_size if note else 0
    try:
        response = _opener().open(_request(url, note, have), timeout=timeout)
    except error.HTTPError as refused:
        with refused:
            _refused(refused, url, part, have)
        return
    except error.URLError as failed:
        raise FetchError(f"{url}: {failed.reason}") from None
    except _DROPS as dropped:
        raise _Dropped(str(dropped) or type(dropped).__name__) from None
    with response:
        have = have if note and _continues(response, note, have) else 0
        _receive(response, url, target, have, progress, max_bytes)


def _request(url: str, note: _Note | None, have: int) -> request.Request:
    # identity: a length and a range must count the bytes of the file, not those of a compressed copy.
    headers = {"User-Agent": "mltsk", "Accept-Encoding": "identity"}
    if note and have:
        headers["Range"] = f"bytes={have}-"
        validator = note.modified if note.etag.startswith("W/") or not note.etag else note.etag
        if validator:
            headers["If-Range"] = validator
    return request.Request(url, headers=headers)


def _refused(refused: error.HTTPError, url: str, part: Path, have: int) -> None:
    """416 means that there is nothing after what we have: either that is all, or the part is of no use."""
    if refused.code != 416 or not have:
        raise FetchError(f"{url}: HTTP {refused.code} {refused.reason}")
    whole = re.fullmatch(r"bytes \*/(\d+)", refused.headers.get("Content-Range", ""))
    if whole is None or int(whole[1]) != have:
        part.unlink(missing_ok=True)
        raise _Dropped("the partial file did not fit")


def _continues(response: Any, note: _Note, have: int) -> bool:
    """Whether the response carries on where the part ends, and is of the same version of the file."""
    if response.status != 206:
        return False
    span = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if span is None or int(span[1]) != have:
        raise _Dropped("the server sent another range than it was asked for")
    return _note(note.url, response) == note


def _receive(response: Any, url: str, target: Path, have: int, progress: Progress, max_bytes: int) -> None:
    if response.status == 206 and not have:
        _forget(target)
        raise _Dropped("the file has changed on the server")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchError(f"{url}: the server sent a compressed copy")
    length = response.headers.get("Content-Length", "")
    total = have + int(length) if length.isdecimal() else None
    if (total or 0) > max_bytes:
        raise FetchError(f"{url}: {total} bytes are more than the {max_bytes} allowed")
    _note_path(target).write_text(json.dumps(asdict(_note(url, response))), encoding="utf-8")
    done = _copy(response, _part_path(target), have, total, progress, max_bytes)
    if done > max_bytes:
        _forget(target)
        raise FetchError(f"{url}: more than the {max_bytes} bytes allowed")
    if total is not None and done != total:
        raise _Dropped(f"the connection dropped after {done} of {total} bytes")


def _copy(response: Any, part: Path, done: int, total: int | None, progress: Progress, max_bytes: int) -> int:
    with part.open("ab" if done else "wb") as file:
        progress(done, total)
        while done <= max_bytes and (block := _block(response)):
            file.write(block)
            done += len(block)
            progress(done, total)
    return done


def _block(response: Any) -> bytes:
    try:
        return response.read(CHUNK)
    except _DROPS as dropped:  # only reading is guarded: a full disk is not a dropped connection
        raise _Dropped(str(dropped) or type(dropped).__name__) from None


def _resumable(url: str, target: Path) -> _Note | None:
    """The note of a partial file that may be resumed; anything else that is there is removed."""
    try:
        note = _Note(**json.loads(_note_path(target).read_text(encoding="utf-8")))
        if note.url == url and note.known and _part_path(target).stat().st_size > 0:
            return note
    except (OSError, TypeError, ValueError):
        pass
    _forget(target)
    return None


def _forget(target: Path) -> None:
    _part_path(target).unlink(missing_ok=True)
    _note_path(target).unlink(missing_ok=True)


def _note(url: str, response: Any) -> _Note:
    return _Note(url, response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""))


def _part_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _note_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.part.json")


def _silent(done: int, total: int | None) -> None:
    """Report nothing."""


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirections, but not out of http and https, and not from https down to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        allowed = ("https",) if urlsplit(req.full_url).scheme == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in allowed:
            raise error.URLError(f"redirected to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    # Not build_opener: that one also opens file: and ftp: addresses.
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        _Redirects,
    ):
        opener.add_handler(handler())
    return opener
