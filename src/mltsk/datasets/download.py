"""One file over HTTP, resumed where a connection dropped, never larger than allowed, never half there.

The bytes go to NAME.part; NAME.part.json remembers from where and which version of the file they are. A later attempt
asks for the rest with a Range header and keeps what is there only if the server says that it is the same version.
"""

import http.client
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib import error, request
from urllib.parse import urlsplit

Progress = Callable[[int, int | None], object]

MAX_BYTES = 512 << 20  # five times the largest file that GitHub stores
ATTEMPTS = 4
CHUNK = 1 << 16
_DROPS = (http.client.HTTPException, OSError)


class FetchError(OSError):
    """A download failed: the message says which address, and why."""


class _Dropped(Exception):
    """The connection ended before the file did."""


def download(
    url: str, target: Path, *, progress: Progress | None = None, timeout=30.0, max_bytes=MAX_BYTES, pause=0.5
) -> Path:
    """Download ``url`` to ``target``, resuming a partial file and reconnecting when the connection drops.

    ``target`` appears only when it is complete. ``progress`` is called with the bytes that are there and the bytes that
    there will be (None if the server does not say). A connection counts as dropped after ``timeout`` seconds of
    silence; the first reconnection waits for ``pause`` seconds, each further one twice as long.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url} is neither http nor https")
    part = _Part(url, Path(target))
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            _attempt(part, progress or (lambda done, total: None), timeout, max_bytes)
            return part.finish()
        except _Dropped as dropped:
            reason = str(dropped)
    raise FetchError(f"{url}: {reason}")


class _Part:
    """The bytes that are there, and a note of the version of the file that they are a part of."""

    def __init__(self, url: str, target: Path) -> None:
        self.url, self.target = url, target
        self.file, self.note = (target.with_name(target.name + end) for end in (".part", ".part.json"))

    def validator(self) -> str:
        """What names the version of a part that may be resumed; anything else that is there is removed."""
        try:
            url, validator = json.loads(self.note.read_text(encoding="utf-8"))
            if url == self.url and validator and self.file.stat().st_size:
                return validator
        except (OSError, TypeError, ValueError):
            pass
        self.forget()
        return ""

    def forget(self) -> None:
        self.file.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def finish(self) -> Path:
        self.note.unlink(missing_ok=True)
        return self.file.replace(self.target)


def _attempt(part: _Part, progress: Progress, timeout: float, max_bytes: int) -> None:
    validator = part.validator()
    have = part.file.stat().st_size if validator else 0
    # identity: a length and a range must count the bytes of the file, not those of a compressed copy.
    headers = {"User-Agent": "mltsk", "Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}
    try:
        response = _opener().open(request.Request(part.url, headers=headers), timeout=timeout)
    except error.HTTPError as refused:
        refused.close()
        if refused.code != 416 or not have:
            raise FetchError(f"{part.url}: HTTP {refused.code} {refused.reason}") from None
        part.forget()
        raise _Dropped("the partial file did not fit") from None
    except error.URLError as failed:
        raise FetchError(f"{part.url}: {failed.reason}") from None
    except _DROPS as dropped:
        raise _Dropped(str(dropped) or type(dropped).__name__) from None
    with response:
        if response.status == 206:
            _check_rest(response, part, validator, have)
        _receive(response, part, have if response.status == 206 else 0, progress, max_bytes)


def _check_rest(response: Any, part: _Part, validator: str, have: int) -> None:
    """The response must carry on where the part ends, and be of the same version of the file."""
    span = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if span is None or int(span[1]) != have:
        raise _Dropped("the server sent another range than it was asked for")
    if _validator(response) != validator:
        part.forget()
        raise _Dropped("the file has changed on the server")


def _validator(response: Any) -> str:
    etag = response.headers.get("ETag", "W/")
    return response.headers.get("Last-Modified", "") if etag.startswith("W/") else etag  # a weak one does not vouch


def _receive(response: Any, part: _Part, have: int, progress: Progress, max_bytes: int) -> None:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchError(f"{part.url}: the server sent a compressed copy")
    length = response.headers.get("Content-Length", "")
    total = have + int(length) if length.isdecimal() else None
    if (total or 0) > max_bytes:
        raise FetchError(f"{part.url}: {total} bytes are more than the {max_bytes} allowed")
    part.note.parent.mkdir(parents=True, exist_ok=True)
    part.note.write_text(json.dumps([part.url, _validator(response)]), encoding="utf-8")
    with part.file.open("ab" if have else "wb") as file:
        progress(have, total)
        while have <= max_bytes and (block := _block(response)):
            have += file.write(block)
            progress(have, total)
    if have > max_bytes:
        part.forget()
        raise FetchError(f"{part.url}: more than the {max_bytes} bytes allowed")
    if total is not None and have != total:
        raise _Dropped(f"the connection dropped after {have} of {total} bytes")


def _block(response: Any) -> bytes:
    try:
        return response.read(CHUNK)
    except _DROPS as dropped:  # only reading is guarded: a full disk is not a dropped connection
        raise _Dropped(str(dropped) or type(dropped).__name__) from None


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
    speak = (request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, _Redirects)
    for handler in (*speak, request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor):
        opener.add_handler(handler())
    return opener
