import errno
import json
import socket
import subprocess
import threading
from dataclasses import replace
from urllib import error, request

import pytest
from numpy.testing import assert_array_equal
from scipy.io import savemat

from mltsk.datasets import (
    FetchError,
    catalog,
    content_digest,
    fetch,
    fetch_dataset,
    load_dataset,
    make_multilabel_rules,
)
from mltsk.datasets.fetch import _Redirects, download
from mltsk.datasets.load import verify
from mltsk.exceptions import InputError


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(fetch.time, "sleep", lambda seconds: None)


@pytest.fixture
def toy(site, monkeypatch, as_arff):
    """A small data set that stands for scene: two files, on the server under /good/."""
    data = make_multilabel_rules(40, 4, 3)
    head, body = as_arff(data).split("@data\n")
    rows = body.splitlines()
    for name, half in (("train", rows[:25]), ("test", rows[25:])):
        text = head + "@data\n" + "\n".join(half)
        site.files[f"/good/scene-{name}.arff"] = text.encode()
    sizes = {
        "n_samples": 40,
        "n_features": 4,
        "n_labels": 3,
        "labels": 3,
        "split": [0] * 25 + [1] * 15,
    }
    entry = replace(catalog()["scene"], content=content_digest(data), **sizes)
    monkeypatch.setattr(fetch, "find_entry", lambda name: entry)
    monkeypatch.setattr("mltsk.datasets.load.find_entry", lambda name: entry)
    return data


def cached(tmp_path):
    return sorted(
        path.name for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"
    )


def test_fetch_dataset_verifies_and_converts_for_load_dataset(site, toy, tmp_path):
    seen = []
    path = fetch_dataset(
        "scene", mirrors=[f"{site.url}/good"], progress=lambda *now: seen.append(now)
    )
    assert path == tmp_path / "cache" / "scene.npz"
    assert cached(tmp_path) == ["scene.npz"]
    assert seen
    data = load_dataset("scene")
    assert_array_equal(data.X, toy.X)
    assert data.split.tolist() == [0] * 25 + [1] * 15


def test_fetch_dataset_does_not_download_what_is_here_and_sound(site, toy):
    fetch_dataset("scene", mirrors=[f"{site.url}/good/"])
    asked = len(site.requests)
    fetch_dataset("scene", mirrors=[f"{site.url}/good/"])
    assert len(site.requests) == asked == 2


def test_fetch_dataset_downloads_what_is_here_and_damaged(site, toy):
    path = fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    path.write_bytes(path.read_bytes()[:100])
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert load_dataset("scene").shape == (40, 4, 3)


def test_fetch_dataset_tries_the_next_mirror_after_a_404(site, toy):
    fetch_dataset("scene", mirrors=[f"{site.url}/gone", f"{site.url}/good"])
    assert [path for path, _ in site.requests] == [
        "/gone/scene-train.arff",
        "/good/scene-train.arff",
        "/good/scene-test.arff",
    ]


def test_fetch_dataset_tries_the_next_mirror_after_wrong_content(site, toy):
    for name in ("scene-train.arff", "scene-test.arff"):
        site.files[f"/bad/{name}"] = site.files[f"/good/{name}"].replace(
            b"1\n", b"0\n", 1
        )
    fetch_dataset("scene", mirrors=[f"{site.url}/bad", f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").Y, toy.Y)


def test_fetch_dataset_survives_a_dropped_connection(site, toy):
    site.drops = 2
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").X, toy.X)


def test_fetch_dataset_lists_every_mirror_that_failed_in_one_sentence(
    site, toy, tmp_path
):
    site.files["/bad/scene-train.arff"] = b"<html>sign in first</html>"
    site.files["/bad/scene-test.arff"] = b""
    with pytest.raises(FetchError) as failed:
        fetch_dataset("scene", mirrors=[f"{site.url}/gone", f"{site.url}/bad"])
    message = str(failed.value)
    assert message.startswith("scene could not be fetched: ")
    gone = f"{site.url}/gone/scene-train.arff: HTTP 404 Not Found"
    assert f"{gone}; {site.url}/bad/scene-train.arff: " in message
    assert "line 1: expected @relation" in message
    assert "\n" not in message
    assert not (tmp_path / "cache" / "scene.npz").exists()
    with pytest.raises(InputError, match="not on this machine"):
        load_dataset("scene")


def test_fetch_dataset_does_not_use_a_wrong_file_again(site, toy):
    good = dict(site.files)
    site.files["/good/scene-train.arff"] += b"\n1,2,3,4,0,0,0"
    with pytest.raises(FetchError, match="are 41×4×3, not 40×4×3"):
        fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    site.files.update(good)
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").X, toy.X)


def test_fetch_dataset_resumes_what_an_earlier_call_left(site, toy):
    site.drops = 4
    with pytest.raises(FetchError, match="dropped after"):
        fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    site.requests.clear()
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert "Range" in site.requests[0][1]


@pytest.mark.parametrize(
    "mirror", ["/some/folder", "http://exämple.test/", "http://[::1", "http://a\0b/"]
)
def test_fetch_dataset_refuses_a_mirror_that_is_no_web_address(toy, mirror):
    with pytest.raises(InputError, match="is no address of http or https"):
        fetch_dataset("scene", mirrors=[mirror])


def test_download_gives_up_a_file_that_drips_and_keeps_its_part(site, tmp_path):
    site.files["/slow"] = bytes(1 << 20)
    with pytest.raises(FetchError, match=r"too slow; the .* bytes so far are kept"):
        download(f"{site.url}/slow", tmp_path / "slow", deadline=0)
    assert (tmp_path / "slow.part").stat().st_size > 0
    assert download(f"{site.url}/slow", tmp_path / "slow").stat().st_size == 1 << 20


def test_download_gives_up_an_answer_whose_headers_drip(tmp_path):
    stop = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def drip():
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not stop.wait(0.02):
                connection.sendall(b"a")
            connection.sendall(b"\r\n\r\n")

    dripping = threading.Thread(target=drip)
    dripping.start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
    with pytest.raises(FetchError, match="too slow; no answer began"):
        download(url, tmp_path / "x", timeout=1.0, deadline=0)
    stop.set()
    dripping.join()
    server.close()


def test_fetch_dataset_downloads_once_for_calls_at_the_same_time(site, toy):
    from concurrent.futures import ThreadPoolExecutor

    pytest.importorskip("fcntl")
    with ThreadPoolExecutor(4) as pool:
        paths = list(
            pool.map(
                lambda _: fetch_dataset("scene", mirrors=[f"{site.url}/good"]), range(4)
            )
        )
    assert len(set(paths)) == 1
    assert len(site.requests) == 2


def test_fetch_dataset_verifies_a_file_by_its_git_identifier(
    site, tmp_path, monkeypatch
):
    data = make_multilabel_rules(30, 5, 2)
    savemat(tmp_path / "mirflickr.mat", {"data": data.X, "target": data.Y.T})
    site.files["/good/mirflickr.mat"] = (tmp_path / "mirflickr.mat").read_bytes()
    entry = replace(
        catalog()["mirflickr"], n_samples=30, n_features=5, n_labels=2, label_names=()
    )
    monkeypatch.setattr(fetch, "find_entry", lambda name: entry)
    with pytest.raises(FetchError, match="wrong checksum: git's identifier is"):
        fetch_dataset("mirflickr", mirrors=[f"{site.url}/good"])
    try:
        command = ["git", "hash-object", tmp_path / "mirflickr.mat"]
        named = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("no git here")
    entry = replace(entry, git_blob=named.stdout.strip())
    path = fetch_dataset("mirflickr", mirrors=[f"{site.url}/good"])
    assert_array_equal(load_dataset(path).X, data.X)


def test_fetch_dataset_makes_yeast_from_an_original_file(site, as_arff):
    pytest.importorskip("river")
    yeast = load_dataset("yeast")
    site.files["/yeast.arff"] = as_arff(yeast).encode()
    fetch_dataset("yeast", mirrors=[site.url])
    again = load_dataset("yeast")
    assert "river" not in again.source
    assert content_digest(again) == content_digest(yeast) == catalog()["yeast"].content
    verify(catalog()["yeast"], again)


BODY = bytes(range(256)) * 2000


@pytest.fixture
def target(tmp_path):
    return tmp_path / "folder" / "file.bin"


def get(site, target, **more):
    return download(f"{site.url}/file.bin", target, timeout=5, **more)


def leave_part(site, target, content, etag='"v1"', url=None):
    target.parent.mkdir(parents=True)
    target.with_name("file.bin.part").write_bytes(content)
    target.with_name("file.bin.part.json").write_text(
        json.dumps([url or f"{site.url}/file.bin", etag])
    )


def names(target):
    if not target.parent.exists():
        return []
    return sorted(path.name for path in target.parent.iterdir())


def test_download_leaves_one_whole_file_and_shows_progress(site, target):
    site.files["/file.bin"] = BODY
    seen = []
    assert (
        get(site, target, progress=lambda done, total: seen.append((done, total)))
        == target
    )
    assert target.read_bytes() == BODY
    assert names(target) == ["file.bin"]
    assert seen[0] == (0, len(BODY))
    assert seen[-1] == (len(BODY), len(BODY))
    assert seen == sorted(seen)


def test_download_resumes_a_connection_where_it_broke(site, target):
    site.files["/file.bin"] = BODY
    site.drops = 2
    get(site, target)
    assert target.read_bytes() == BODY
    half = len(BODY) // 2
    asked = [headers.get("Range") for _, headers in site.requests]
    assert asked == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]
    assert site.requests[1][1]["If-Range"] == '"v1"'


def test_download_gives_up_after_four_drops_and_resumes_later(site, target):
    site.files["/file.bin"] = BODY
    site.drops = 4
    with pytest.raises(
        FetchError, match=r"file\.bin: the connection dropped after \d+ of 512000 bytes"
    ):
        get(site, target)
    assert names(target) == ["file.bin.part", "file.bin.part.json"]
    get(site, target)
    assert target.read_bytes() == BODY
    assert site.requests[-1][1]["Range"] == "bytes=480000-"


def test_download_starts_over_where_a_server_ignores_ranges(site, target):
    site.files["/file.bin"] = BODY
    site.ranges = False
    site.drops = 1
    get(site, target)
    assert target.read_bytes() == BODY


def test_download_starts_over_when_a_file_changed(site, target):
    site.files["/file.bin"] = BODY
    leave_part(site, target, b"old bytes", etag='"v0"')
    get(site, target)
    assert target.read_bytes() == BODY


def test_download_does_not_join_two_versions_of_a_file(site, target):
    site.files["/file.bin"] = BODY
    site.believes = True
    leave_part(site, target, b"old bytes", etag='"v0"')
    get(site, target)
    assert target.read_bytes() == BODY
    assert [headers.get("Range") for _, headers in site.requests] == ["bytes=9-", None]


@pytest.mark.parametrize("etag", ["", '"v1"'])
def test_download_does_not_continue_a_part_of_unknown_origin(site, target, etag):
    site.files["/file.bin"] = BODY
    leave_part(
        site, target, BODY[:100], etag=etag, url="http://elsewhere/" if etag else None
    )
    get(site, target)
    assert target.read_bytes() == BODY
    assert "Range" not in site.requests[0][1]


@pytest.mark.parametrize("more", [b"", b"more"])
def test_download_does_not_trust_a_part_that_is_too_long(site, target, more):
    site.files["/file.bin"] = BODY
    leave_part(site, target, BODY + more)
    get(site, target)
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("etag", ["", 'W/"v1"'])
def test_download_starts_over_without_a_strong_etag(site, target, etag):
    site.files["/file.bin"] = BODY
    site.etag = etag
    site.drops = 1
    get(site, target)
    assert target.read_bytes() == BODY
    assert not any("Range" in headers for _, headers in site.requests)


def test_download_of_an_empty_file_is_a_file(site, target):
    site.files["/file.bin"] = b""
    assert get(site, target).read_bytes() == b""


def test_download_of_a_missing_file_leaves_nothing(site, target):
    with pytest.raises(FetchError, match=r"/file\.bin: HTTP 404 Not Found"):
        get(site, target)
    assert names(target) == []
    assert len(site.requests) == 1


def test_download_says_that_nobody_listens(target):
    with pytest.raises(FetchError, match="refused"):
        download("http://127.0.0.1:9/file.bin", target)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/x", "data:,x", "x"]
)
def test_download_speaks_only_http(url, target):
    with pytest.raises(FetchError, match="is no address of http or https"):
        download(url, target)


@pytest.mark.parametrize("elsewhere", ["file:///etc/passwd", "ftp://example.org/x"])
def test_download_does_not_follow_redirections_out_of_http(site, target, elsewhere):
    site.moved["/file.bin"] = elsewhere
    with pytest.raises(FetchError, match=r"not followed|not allowed"):
        get(site, target)
    assert not target.exists()


def test_download_follows_redirections_within_http(site, target):
    site.moved["/file.bin"] = f"{site.url}/new.bin"
    site.files["/new.bin"] = BODY
    assert get(site, target).read_bytes() == BODY


def test_redirect_request_does_not_go_from_https_to_http():
    asked = request.Request("https://example.org/file.bin")
    with pytest.raises(error.URLError, match="not followed"):
        _Redirects().redirect_request(
            asked, None, 302, "Found", {}, "http://example.org/file.bin"
        )


def test_download_refuses_a_large_file_before_it_is_read(site, target):
    site.files["/file.bin"] = BODY
    site.declares = 1 << 30
    with pytest.raises(
        FetchError, match="1073741824 bytes are more than the 536870912 allowed"
    ):
        get(site, target)
    assert names(target) == []


def test_download_keeps_what_was_read_before_an_interruption(site, target):
    site.files["/file.bin"] = BODY

    def interrupt(done, _):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(site, target, progress=interrupt)
    assert "file.bin.part" in names(target)
    get(site, target)
    assert target.read_bytes() == BODY
    assert "Range" in site.requests[-1][1]


def test_download_does_not_take_a_full_disk_for_a_drop(site, target):
    site.files["/file.bin"] = BODY

    def fill(done, _):
        if done:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as full:
        get(site, target, progress=fill)
    assert not isinstance(full.value, FetchError)
    assert len(site.requests) == 1


def test_fetch_error_spells_out_what_a_server_says():
    assert str(FetchError("HTTP 404 \x1b[2J")) == r"HTTP 404 \x1b[2J"


def test_download_spells_out_the_words_of_a_hostile_server(target):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 404 \x1b[2J\x9b31m\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        with pytest.raises(FetchError) as error:
            download(url, target)
    assert str(error.value).endswith(r"HTTP 404 \x1b[2J\x9b31m")
