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

    (tmp_path / "www").mkdir()
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "www")
    ) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


def test_the_list_has_every_entry_with_its_shape_and_source(mltsk):
    out = mltsk("datasets").out
    rows = {
        line.split()[0]: line.split()
        for line in out.splitlines()[1 : len(catalog()) + 1]
    }
    assert set(rows) == set(catalog())
    assert rows["scene"][1:4] == ["2407", "294", "6"]
    assert rows["yeast"][-1] == "package"
    assert rows["birds"][-1] == "no"
    assert "https://github.com/tsoumakas/mulan" in out
    assert "BSD-3-Clause" in out


def test_a_missing_file_on_the_server_is_a_failed_job(refused, server):
    said = refused("datasets", "fetch", "flags", "--mirror", server, status=1)
    assert "flags could not be fetched" in said
    assert "404" in said


def test_the_others_are_fetched_when_one_fails(mltsk, monkeypatch, tmp_path):
    def fetch(name, **options):
        if name == "flags":
            raise datasets.FetchError("flags could not be fetched: no luck.")
        options["progress"](10, 20)
        return tmp_path / f"{name}.npz"

    monkeypatch.setattr(datasets, "fetch_dataset", fetch)
    result = mltsk("datasets", "fetch", "flags", "Birds")
    assert result.status == 1
    assert result.out == f"birds: {tmp_path / 'birds.npz'}\n"
    assert "mltsk: flags could not be fetched: no luck." in result.err


def test_a_misspelt_name_is_refused_before_any_download(refused, monkeypatch):
    monkeypatch.setattr(
        datasets, "fetch_dataset", lambda *args, **options: pytest.fail("downloaded")
    )
    assert "no data set 'brids'" in refused("datasets", "fetch", "birds", "brids")


def test_a_mirror_must_be_an_address(refused):
    assert "no address of http or https" in refused(
        "datasets", "fetch", "birds", "--mirror", "ftp://example.org"
    )


def test_fetch_needs_a_name(refused):
    assert "NAME" in refused("datasets", "fetch")
