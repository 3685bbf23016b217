import json
from urllib import error, request

import pytest

from mltsk.datasets.download import FetchError, _Redirects, download

BODY = bytes(range(256)) * 2000


@pytest.fixture
def target(tmp_path):
    return tmp_path / "folder" / "file.bin"


def get(site, target, **more):
    return download(f"{site.url}/file.bin", target, pause=0, timeout=5, **more)


def leave_part(site, target, content, etag='"v1"', url=None):
    target.parent.mkdir(parents=True)
    target.with_name("file.bin.part").write_bytes(content)
    target.with_name("file.bin.part.json").write_text(json.dumps([url or f"{site.url}/file.bin", etag]))


def names(target):
    return sorted(path.name for path in target.parent.iterdir()) if target.parent.exists() else []


def test_a_file_arrives_whole_and_alone_with_progress(site, target):
    site.files["/file.bin"] = BODY
    seen = []
    assert get(site, target, progress=lambda done, total: seen.append((done, total))) == target
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


def test_a_connection_that_always_drops_is_given_up_and_resumed_by_the_next_call(site, target):
    site.files["/file.bin"] = BODY
    site.drops = 4
    with pytest.raises(FetchError, match=r"file\.bin: the connection dropped after \d+ of 512000 bytes"):
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
    leave_part(site, target, BODY[:100], etag=etag, url="http://elsewhere/" if etag else None)
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
        download("http://127.0.0.1:9/file.bin", target, pause=0)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x", "data:,x", "x"])
def test_only_http_is_spoken(url, target):
    with pytest.raises(FetchError, match="neither http nor https"):
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
        _Redirects().redirect_request(asked, None, 302, "Found", {}, "http://example.org/file.bin")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(site, target):
    site.files["/file.bin"] = BODY
    with pytest.raises(FetchError, match="512000 bytes are more than the 1000 allowed"):
        get(site, target, max_bytes=1000)
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
