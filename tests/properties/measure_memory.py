"""Read a sound file, then another one: how much more memory the other one took.

It runs as a process of its own: ``python measure_memory.py READER SOUND OTHER`` prints
bytes and what came out, as JSON. The peak is the higher one of this process and of the
processes that it started, each over what the sound file took.
"""

import json
import re
import resource
import sys
import threading
import warnings
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mltsk import load, read_table
from mltsk.cli.fit import read_rules
from mltsk.datasets import read_label_xml
from mltsk.datasets.fetch import download
from mltsk.exceptions import InputError
from mltsk.paper.experiments.definition import read_definition

PIECE = bytes(1 << 20)


class Sender(BaseHTTPRequestHandler):
    """A server that sends as many MiB as its path says."""

    def do_GET(self) -> None:
        n_pieces = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(n_pieces * len(PIECE)))
        self.end_headers()
        for _ in range(n_pieces):
            self.wfile.write(PIECE)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def read_from_network(path: Path) -> None:
    """Download as many MiB as a file says."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sender)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{path.read_text()}"
    download(address, path.with_suffix(".downloaded"))
    server.shutdown()


READERS: dict[str, Callable[[Path], object]] = {
    "table": read_table,
    "model": load,
    "labels": read_label_xml,
    "definition": read_definition,
    "rules": lambda path: read_rules(str(path)),
    "download": read_from_network,
}


def own_peak() -> int:
    """Bytes that this process had in use at most, since it was asked to forget."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10


def peak_of_children() -> int:
    """Bytes that the largest process that this one started had in use."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10


def main(reader: str, sound: str, other: str) -> None:
    """Measure, and print what was measured."""
    warnings.simplefilter("ignore")
    READERS[reader](Path(sound))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    own = own_peak()
    children = peak_of_children()
    try:
        READERS[reader](Path(other))
        outcome = "read"
    except InputError as error:
        outcome = str(error)
    peak = max(own_peak() - own, peak_of_children() - children)
    print(json.dumps({"peak": peak, "outcome": outcome}))


if __name__ == "__main__":
    main(*sys.argv[1:])
