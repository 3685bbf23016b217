"""``mltsk datasets``: the list, and downloads that succeed, fail, or were misspelt."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mltsk import datasets
from mltsk.datasets import catalog


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MLTSK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MLTSK_DATA", raising=False)


@pytest.fixture
def server(tmp_path):
    """An HTTP server on an empty folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    folder = tmp_path / "www"
    folder.mkdir()
    handler = partial(Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


def test_datasets_lists_every_entry_with_its_shape_and_source(succeeds):
    out = succeeds("datasets").out
    rows = {}
    for line in out.splitlines()[1 : len(catalog()) + 1]:
        name, *cells = line.split()
        rows[name] = cells
    assert set(rows) == set(catalog())
    assert rows["scene"][:3] == ["2407", "294", "6"]
    assert rows["yeast"][-1] == "package"
    assert rows["birds"][-1] == "no"
    assert "https://github.com/tsoumakas/mulan" in out
    assert "BSD-3-Clause" in out


def test_fetch_fails_if_the_server_does_not_have_the_file(refused, server):
    sentence = refused(f"datasets fetch flags --mirror {server}", status=1)
    assert "flags could not be fetched" in sentence
    assert "404" in sentence


def test_fetch_goes_on_with_the_others_when_one_fails(mltsk, monkeypatch, tmp_path):
    def fetch(name, **options):
        if name == "flags":
            raise datasets.FetchError("flags could not be fetched: no luck.")
        options["progress"](10, 20)
        return tmp_path / f"{name}.npz"

    monkeypatch.setattr(datasets, "fetch_dataset", fetch)
    result = mltsk("datasets fetch flags Birds")
    assert result.status == 1
    assert result.out == f"birds: {tmp_path / 'birds.npz'}\n"
    assert "mltsk: flags could not be fetched: no luck." in result.err


def test_fetch_refuses_a_misspelt_name_before_any_download(refused, monkeypatch):
    def fetch(*args, **options):
        pytest.fail("downloaded")

    monkeypatch.setattr(datasets, "fetch_dataset", fetch)
    assert "no data set 'brids'" in refused("datasets fetch birds brids")


def test_fetch_refuses_a_mirror_that_is_no_address(refused):
    sentence = refused("datasets fetch birds --mirror ftp://example.org")
    assert "no address of http or https" in sentence


def test_fetch_needs_a_name(refused):
    assert "NAME" in refused("datasets fetch")
