"""``python -m fuzz.faults``: what is left when a process is killed, when the disk is full, when a worker dies.

After each kill (SIGKILL, at a random moment of the job) a file is the old one or the new one, whole; a store has all
that it had; and the same command, given again, ends with what an undisturbed run gives, and leaves no other file.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import numpy as np

from mltsk import load
from mltsk.datasets import make_multilabel_rules, write_npz
from mltsk.exceptions import InputError
from mltsk.paper.experiments.store import Store

RUN = (
    "-m",
    "br,ml-knn,mltsk",
    "--grid",
    "fast",
    "--no-studies",
    "--folds",
    "4",
    "-j",
    "2",
)
FETCH = "import sys, pathlib, mltsk.datasets.fetch as f; f.download(sys.argv[1], pathlib.Path(sys.argv[2]))"


def command(*args: object) -> list[str]:
    """A command of ours."""
    return [sys.executable, "-m", "mltsk", *map(str, args)]


def killed(args: Sequence[str], seconds: float) -> bool:
    """Whether a process was still running when it was killed, after so many seconds, with all that it had started."""
    process = subprocess.Popen(
        args,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def done(args: Sequence[str], **limits: int) -> "subprocess.CompletedProcess[str]":
    """A process that runs to its end; with ``fsize``, one that may write no larger file."""

    def bound() -> None:
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (limits["fsize"], resource.RLIM_INFINITY)
        )

    return subprocess.run(
        args, capture_output=True, text=True, preexec_fn=bound if limits else None
    )


class Job:
    """A job that writes into a folder: how it is started, what it takes, and whether what it left is sound."""

    def __init__(
        self,
        folder: Path,
        args: Sequence[str],
        sound: Callable[[], object],
        afresh: bool = False,
    ) -> None:
        self.folder, self.args, self.sound, self.afresh = folder, args, sound, afresh
        self.finish()
        self.whole = sound()

    def finish(self) -> None:
        """Let it run to its end, and note how long that takes."""
        start = time.monotonic()
        found = done(self.args)
        assert found.returncode == 0, found.stderr
        self.seconds = time.monotonic() - start

    def kill(self, rng: Random, times: int = 3) -> int:
        """Kill it a few times, look at what is left after each, and let it finish; how often it was still running."""
        if self.afresh:  # what is finished would not be done again
            shutil.rmtree(self.folder)
        count = 0
        for _ in range(times):
            count += killed(self.args, rng.uniform(0.1, 0.8) * self.seconds)
            left = self.sound()
            if isinstance(left, frozenset):
                assert left <= self.whole, "something else than what was finished"
        self.finish()
        assert self.sound() == self.whole, (
            "another result than that of an undisturbed run"
        )
        assert not list(self.folder.rglob("*.tmp")), "something was left behind"
        return count


def jobs(folder: Path, url: str) -> dict[str, Callable[[], Job]]:
    """The jobs by name, each made when it is asked for."""
    data, model = (
        write_npz(folder / "d.npz", make_multilabel_rules(300, 8, 4)),
        folder / "f/m.skops",
    )
    explored, reviewed = folder / "e/p.html", folder / "v/p.html"
    for name in ("f", "e", "v", "l"):
        (folder / name).mkdir()

    def scores() -> bytes:
        return (
            load(model).decision_function(np.zeros((1, 8))).tobytes()
            if model.exists()
            else b""
        )

    def text(page: Path) -> int:
        content = page.read_text() if page.exists() else "</html>"
        assert content.rstrip().endswith("</html>"), "half a page"
        return len(content)

    def results() -> frozenset[object]:
        try:
            with Store.open(folder / "r") as store:
                found = store.results().scores
        except InputError as refused:
            if "holds no results" not in str(refused):
                raise
            return frozenset()
        columns = found[["method", "fold", "setting", "AP", "HL"]].astype(str)
        return frozenset(columns.itertuples(index=False, name=None))

    def fresh() -> Job:
        return Job(
            folder / "r",
            command("reproduce", "-d", data, *RUN, "--out", folder / "r"),
            results,
            afresh=True,
        )

    def content() -> bytes:
        file = folder / "l/file"
        whole = file.read_bytes() if file.exists() else b""
        assert len(whole) in (0, SIZE), "half a file"
        file.unlink(missing_ok=True)
        return whole

    return {
        "fit --out": lambda: Job(
            folder / "f", command("fit", data, "--rules", 40, "--out", model), scores
        ),
        "explore": lambda: Job(
            folder / "e",
            command("explore", model, "--data", data, "--out", explored),
            partial(text, explored),
        ),
        "review": lambda: Job(
            folder / "v",
            command("review", "pbc", "--quick", "--out", reviewed),
            partial(text, reviewed),
        ),
        "reproduce": fresh,
        "download": lambda: Job(
            folder / "l",
            [sys.executable, "-c", FETCH, url, str(folder / "l/file")],
            content,
        ),
    }


SIZE = 1 << 20


class Slow(BaseHTTPRequestHandler):
    """A server that takes a second for a megabyte and goes on where it was asked to."""

    def do_GET(self) -> None:
        """Send the rest of the file."""
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(SIZE - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{SIZE - 1}/{SIZE}")
        self.end_headers()
        try:
            for at in range(start, SIZE, 1 << 15):
                self.wfile.write(
                    bytes([at >> 15]) * min((1 << 15) - at % (1 << 15), SIZE - at)
                )
                time.sleep(1 / 32)
        except OSError:
            pass  # the other side was killed

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def full_disks(folder: Path) -> int:
    """Jobs that may not write what they want to end with one sentence, status 1, and what was there before."""
    data, model, out = folder / "d.npz", folder / "f/m.skops", folder / "full"
    before = model.read_bytes()
    cases = {
        model: (command("fit", data, "--rules", 40, "--out", model), 4096),
        folder / "e/p.html": (
            command("explore", model, "--out", folder / "e/p.html"),
            4096,
        ),
        out: (command("reproduce", "-d", data, *RUN, "--out", out), 1 << 16),
    }
    for args, size in cases.values():
        found = done(args, fsize=size)
        assert found.returncode == 1, found.stderr
        assert "Traceback" not in found.stderr, found.stderr
        assert "cannot be written" in found.stderr.splitlines()[-1], found.stderr
    assert model.read_bytes() == before
    assert done(cases[out][0]).returncode == 0, "a run does not go on after a full disk"
    return len(cases)


def a_worker_dies() -> bool:
    """Whether a fit on a cluster gives the same numbers when a worker is killed in it."""
    import dask.array as da
    import distributed

    from mltsk import MLTSKClassifier

    data = make_multilabel_rules(20_000, 20, 6)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        X, Y = (da.from_array(part, chunks=1000) for part in (data.X, data.Y))
        whole = MLTSKClassifier(4).fit(X, Y).general_coef_
        pid = cluster.workers[0].pid
        timer = threading.Timer(0.5, partial(os.kill, pid, signal.SIGKILL))
        timer.start()
        again = MLTSKClassifier(4).fit(X, Y).general_coef_
        timer.join()
    assert np.allclose(whole, again, atol=1e-10)
    return True


def main() -> None:
    """Kill, fill and count."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="one job")
    args = parser.parse_args()
    rng, counts = Random(args.seed), Counter[str]()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"no_proxy": "*", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as place:
        known = jobs(Path(place), f"http://127.0.0.1:{server.server_port}/file")
        ready = {name: make() for name, make in known.items() if args.only in name}
        while sum(counts.values()) < args.kills:
            for name, job in ready.items():
                counts[name] += job.kill(rng)
        kills = ", ".join(f"{n} of {name}" for name, n in counts.items())
        print(
            f"{sum(counts.values())} kills: {kills}: nothing lost, nothing left behind",
            flush=True,
        )
        if not args.only:
            print(
                f"{full_disks(Path(place))} full disks: a sentence each, nothing lost",
                flush=True,
            )
            print(
                f"a worker of a cluster killed in a fit: the same numbers {a_worker_dies()}"
            )


if __name__ == "__main__":
    main()
