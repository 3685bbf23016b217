"""Files appear whole or not at all."""

import os
from contextlib import suppress

import pytest

from mltsk.exceptions import InputError
from mltsk.io import check_target, writing


def test_a_failed_write_keeps_the_old_file_and_no_half(tmp_path):
    saved = tmp_path / "file"
    saved.write_bytes(b"before")
    with suppress(KeyboardInterrupt), writing(saved) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert saved.read_bytes() == b"before"
    assert len(list(saved.parent.iterdir())) == 1


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")
def test_a_device_is_written_to_and_not_replaced():
    with writing(os.devnull) as file:
        file.write(b"gone")
    assert not os.path.isfile(os.devnull)


def test_a_place_where_no_file_can_be_is_refused_before_the_work(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        check_target(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        check_target(tmp_path / "no" / "file")
    check_target(tmp_path / "file")
