"""Folders of their own for the tests, and a web server that misbehaves on demand."""

import os
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

REAL_DATA = os.environ.get("MLTSK_DATA", "")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path, monkeypatch):
    monkeypatch.delenv("MLTSK_DATA", raising=False)
    monkeypatch.setenv("MLTSK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def real_data():
    if not REAL_DATA:
        pytest.skip("MLTSK_DATA names no folder with the real data sets")
    return Path(REAL_DATA)


def quoted(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.fixture
def as_arff():
    """A data set as the text of an ARFF file in MULAN's manner, labels last.

    Rows are sparse if X is sparse.
    """

    def write(data):
        kinds = []
        for categories in data.categories:
            kinds.append("{" + ",".join(categories) + "}" if categories else "numeric")
        kinds += ["{0,1}"] * data.shape[2]
        names = data.feature_names + data.label_names
        header = [
            f"@attribute {quoted(name)} {kind}"
            for name, kind in zip(names, kinds, strict=True)
        ]
        rows = _sparse_rows(data) if data.is_sparse else _dense_rows(data)
        return "\n".join(["@relation toy", "", *header, "", "@data", *rows, ""])

    return write


def _dense_rows(data):
    return [",".join(f"{v:.17g}" for v in row) for row in np.hstack([data.X, data.Y])]


def _sparse_rows(data):
    for x, y in zip(np.split(data.X.indices, data.X.indptr[1:-1]), data.Y, strict=True):
        columns = [*x.tolist(), *(np.flatnonzero(y) + data.shape[1]).tolist()]
        yield "{" + ",".join(f"{j} 1" for j in columns) + "}"


@dataclass
class Site:
    """What the server does: files by path, and how it fails."""

    url: str = ""
    files: dict = field(default_factory=dict)
    drops: int = 0  # so many times, send half of what was asked and hang up
    ranges: bool = True
    believes: bool = False  # continues whatever it is asked for, of whichever version
    declares: int | None = None  # a length of its answers that may not be true
    etag: str = '"v1"'
    moved: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self):
        site = self.site
        site.requests.append((self.path, dict(self.headers)))
        if self.path in site.moved:
            return self._answer(302, b"", {"Location": site.moved[self.path]})
        if self.path not in site.files:
            return self._answer(404, b"")
        body = site.files[self.path]
        have = self._start()
        if have > 0 and have >= len(body):
            return self._answer(416, b"", {"Content-Range": f"bytes */{len(body)}"})
        headers = {"ETag": site.etag} if site.etag else {}
        if have:
            headers["Content-Range"] = f"bytes {have}-{len(body) - 1}/{len(body)}"
        return self._answer(206 if have else 200, body[have:], headers)

    def _start(self):
        asked = self.headers.get("If-Range", self.site.etag)
        if not self.site.ranges or (asked != self.site.etag and not self.site.believes):
            return 0
        return int(self.headers.get("Range", "bytes=0-")[6:-1])

    def _answer(self, status, body, headers=None):
        self.send_response(status)
        length = len(body) if self.site.declares is None else self.site.declares
        for name, value in {"Content-Length": length, **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.site.drops and body:
            self.site.drops -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    """A web server on this machine, for one test."""
    site = Site()
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site})
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()
