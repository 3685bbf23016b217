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
    site.files["/good/scene-train.arff"] = (
        head + "@data\n" + "\n".join(rows[:25])
    ).encode()
    site.files["/good/scene-test.arff"] = (
        head + "@data\n" + "\n".join(rows[25:])
    ).encode()
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


def test_a_data_set_is_fetched_verified_converted_and_loaded(site, toy, tmp_path):
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


def test_what_is_here_and_sound_is_not_fetched_again(site, toy):
    fetch_dataset("scene", mirrors=[f"{site.url}/good/"])
    asked = len(site.requests)
    fetch_dataset("scene", mirrors=[f"{site.url}/good/"])
    assert len(site.requests) == asked == 2


def test_what_is_here_and_damaged_is_fetched_again(site, toy):
    path = fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    path.write_bytes(path.read_bytes()[:100])
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert load_dataset("scene").shape == (40, 4, 3)


def test_the_next_mirror_is_tried_after_a_404(site, toy):
    fetch_dataset("scene", mirrors=[f"{site.url}/gone", f"{site.url}/good"])
    assert [path for path, _ in site.requests] == [
        "/gone/scene-train.arff",
        "/good/scene-train.arff",
        "/good/scene-test.arff",
    ]


def test_the_next_mirror_is_tried_after_wrong_content(site, toy):
    for name in ("scene-train.arff", "scene-test.arff"):
        site.files[f"/bad/{name}"] = site.files[f"/good/{name}"].replace(
            b"1\n", b"0\n", 1
        )
    fetch_dataset("scene", mirrors=[f"{site.url}/bad", f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").Y, toy.Y)


def test_a_dropped_connection_is_survived(site, toy):
    site.drops = 2
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").X, toy.X)


def test_when_every_mirror_fails_one_sentence_lists_them_and_nothing_can_be_loaded(
    site, toy, tmp_path
):
    site.files["/bad/scene-train.arff"] = b"<html>sign in first</html>"
    site.files["/bad/scene-test.arff"] = b""
    with pytest.raises(FetchError) as failed:
        fetch_dataset("scene", mirrors=[f"{site.url}/gone", f"{site.url}/bad"])
    message = str(failed.value)
    assert message.startswith("scene could not be fetched: ")
    assert (
        f"{site.url}/gone/scene-train.arff: HTTP 404 Not Found; {site.url}/bad/scene-train.arff: "
        in message
    )
    assert "line 1: expected @relation" in message
    assert "\n" not in message
    assert not (tmp_path / "cache" / "scene.npz").exists()
    with pytest.raises(InputError, match="not on this machine"):
        load_dataset("scene")


def test_a_file_with_wrong_content_is_not_used_again(site, toy):
    good = dict(site.files)
    site.files["/good/scene-train.arff"] += b"\n1,2,3,4,0,0,0"
    with pytest.raises(FetchError, match="are 41×4×3, not 40×4×3"):
        fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    site.files.update(good)
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert_array_equal(load_dataset("scene").X, toy.X)


def test_a_later_call_resumes_what_an_earlier_one_left(site, toy):
    site.drops = 4
    with pytest.raises(FetchError, match="dropped after"):
        fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    site.requests.clear()
    fetch_dataset("scene", mirrors=[f"{site.url}/good"])
    assert "Range" in site.requests[0][1]


@pytest.mark.parametrize(
    "mirror", ["/some/folder", "http://exämple.test/", "http://[::1", "http://a\0b/"]
)
def test_a_mirror_must_be_a_web_address(toy, mirror):
    with pytest.raises(InputError, match="is no address of http or https"):
        fetch_dataset("scene", mirrors=[mirror])


def test_a_file_that_only_drips_is_given_up_and_its_part_kept(site, tmp_path):
    site.files["/slow"] = bytes(1 << 20)
    with pytest.raises(FetchError, match=r"too slow; the .* bytes so far are kept"):
        download(f"{site.url}/slow", tmp_path / "slow", deadline=0)
    assert (tmp_path / "slow.part").stat().st_size > 0
    assert download(f"{site.url}/slow", tmp_path / "slow").stat().st_size == 1 << 20


def test_an_answer_whose_headers_only_drip_is_given_up(tmp_path):
    stop, server = threading.Event(), socket.create_server(("127.0.0.1", 0))

    def drip():
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not stop.wait(0.02):
                connection.sendall(b"a")
            connection.sendall(b"\r\n\r\n")

    dripping = threading.Thread(target=drip)
    dripping.start()
    with pytest.raises(FetchError, match="too slow; no answer began"):
        download(
            f"http://127.0.0.1:{server.getsockname()[1]}/x",
            tmp_path / "x",
            timeout=1.0,
            deadline=0,
        )
    stop.set()
    dripping.join()
    server.close()


def test_two_at_once_fetch_once(site, toy):
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


def test_a_file_known_by_its_git_name_is_verified_by_it(site, tmp_path, monkeypatch):
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


def test_the_catalogs_own_yeast_from_an_original_file(site, as_arff):
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
    return (
        sorted(path.name for path in target.parent.iterdir())
        if target.parent.exists()
        else []
    )


def test_a_file_arrives_whole_and_alone_with_progress(site, target):
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


def test_a_dropped_connection_is_resumed_where_it_broke(site, target):
    site.files["/file.bin"] = BODY
    site.drops = 2
    get(site, target)
    assert target.read_bytes() == BODY
    half = len(BODY) // 2
    asked = [headers.get("Range") for _, headers in site.requests]
    assert asked == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]
    assert site.requests[1][1]["If-Range"] == '"v1"'


def test_a_connection_that_always_drops_is_given_up_and_resumed_by_the_next_call(
    site, target
):
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


def test_a_server_that_ignores_ranges_starts_over(site, target):
    site.files["/file.bin"] = BODY
    site.ranges, site.drops = False, 1
    get(site, target)
    assert target.read_bytes() == BODY


def test_a_file_that_changed_meanwhile_starts_over(site, target):
    site.files["/file.bin"] = BODY
    leave_part(site, target, b"old bytes", etag='"v0"')
    get(site, target)
    assert target.read_bytes() == BODY


def test_a_server_that_continues_another_version_is_not_believed(site, target):
    site.files["/file.bin"] = BODY
    site.believes = True
    leave_part(site, target, b"old bytes", etag='"v0"')
    get(site, target)
    assert target.read_bytes() == BODY
    assert [headers.get("Range") for _, headers in site.requests] == ["bytes=9-", None]


@pytest.mark.parametrize("etag", ["", '"v1"'])
def test_a_part_of_unknown_origin_is_not_continued(site, target, etag):
    site.files["/file.bin"] = BODY
    leave_part(
        site, target, BODY[:100], etag=etag, url="http://elsewhere/" if etag else None
    )
    get(site, target)
    assert target.read_bytes() == BODY
    assert "Range" not in site.requests[0][1]


@pytest.mark.parametrize("more", [b"", b"more"])
def test_a_part_after_which_there_is_nothing_is_not_trusted(site, target, more):
    site.files["/file.bin"] = BODY
    leave_part(site, target, BODY + more)
    get(site, target)
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("etag", ["", 'W/"v1"'])
def test_without_a_strong_mark_of_its_version_a_file_starts_over(site, target, etag):
    site.files["/file.bin"] = BODY
    site.etag, site.drops = etag, 1
    get(site, target)
    assert target.read_bytes() == BODY
    assert not any("Range" in headers for _, headers in site.requests)


def test_an_empty_file_is_a_file(site, target):
    site.files["/file.bin"] = b""
    assert get(site, target).read_bytes() == b""


def test_a_missing_file_is_a_sentence_and_leaves_nothing(site, target):
    with pytest.raises(FetchError, match=r"/file\.bin: HTTP 404 Not Found"):
        get(site, target)
    assert names(target) == []
    assert len(site.requests) == 1


def test_nobody_listening_is_a_sentence(target):
    with pytest.raises(FetchError, match="refused"):
        download("http://127.0.0.1:9/file.bin", target)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/x", "data:,x", "x"]
)
def test_only_http_is_spoken(url, target):
    with pytest.raises(FetchError, match="is no address of http or https"):
        download(url, target)


@pytest.mark.parametrize("elsewhere", ["file:///etc/passwd", "ftp://example.org/x"])
def test_redirections_out_of_http_are_not_followed(site, target, elsewhere):
    site.moved["/file.bin"] = elsewhere
    with pytest.raises(FetchError, match=r"not followed|not allowed"):
        get(site, target)
    assert not target.exists()


def test_redirections_within_http_are_followed(site, target):
    site.moved["/file.bin"] = f"{site.url}/new.bin"
    site.files["/new.bin"] = BODY
    assert get(site, target).read_bytes() == BODY


def test_a_redirection_from_https_down_to_http_is_not_followed():
    asked = request.Request("https://example.org/file.bin")
    with pytest.raises(error.URLError, match="not followed"):
        _Redirects().redirect_request(
            asked, None, 302, "Found", {}, "http://example.org/file.bin"
        )


def test_a_file_that_is_too_large_is_refused_before_it_is_read(site, target):
    site.files["/file.bin"], site.declares = BODY, 1 << 30
    with pytest.raises(
        FetchError, match="1073741824 bytes are more than the 536870912 allowed"
    ):
        get(site, target)
    assert names(target) == []


def test_an_interruption_keeps_what_was_read(site, target):
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


def test_a_full_disk_is_not_a_dropped_connection(site, target):
    site.files["/file.bin"] = BODY

    def fill(done, _):
        if done:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as full:
        get(site, target, progress=fill)
    assert not isinstance(full.value, FetchError)
    assert len(site.requests) == 1
