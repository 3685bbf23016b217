"""``python -m fuzz.faults``: what is left when a process or a worker dies.

Jobs are killed (SIGKILL, at a random moment), and disks are full. After each kill a
file is the old one or the new one, whole; a store has all that it had; and the same
command, given again, ends with what an undisturbed run gives, and leaves no other file.

A fit is also stopped in four ways at random moments (``--stops``): told to end, killed,
out of memory, out of disk. Its exit status and its last line say which.
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
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from mltsk import load
from mltsk.datasets import make_multilabel_rules, write_npz
from mltsk.exceptions import InputError
from mltsk.paper.experiments.store import Store

REPRODUCE_OPTIONS = (
    "--methods=br,ml-knn,mltsk",
    "--grid=fast",
    "--no-studies",
    "--folds=4",
    "--jobs=2",
)
DOWNLOAD = """
import sys
from pathlib import Path
from mltsk.datasets.fetch import download
download(sys.argv[1], Path(sys.argv[2]))
"""
DOWNLOAD_BYTES = 1 << 20
CHUNK_BYTES = 1 << 15


def command(*args: object) -> list[str]:
    """A command of ours."""
    return [sys.executable, "-m", "mltsk", *map(str, args)]


def killed(args: Sequence[str], seconds: float) -> bool:
    """Kill a process after some seconds, with all that it had started.

    Returns whether it was still running.
    """
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


def finished(
    args: Sequence[str], max_file_bytes: int | None = None
) -> "subprocess.CompletedProcess[str]":
    """A process that has run to its end, and may write no larger file."""

    def limit_files() -> None:
        limits = (max_file_bytes, resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return subprocess.run(
        args,
        capture_output=True,
        text=True,
        preexec_fn=None if max_file_bytes is None else limit_files,
    )


class Job:
    """A job that writes into a folder.

    ``sound`` looks at what the job left, and fails where that is broken. With
    ``afresh``, the folder is emptied first: what is finished would not be done again.
    """

    def __init__(
        self,
        folder: Path,
        args: Sequence[str],
        sound: Callable[[], object],
        afresh: bool = False,
    ) -> None:
        self.folder = folder
        self.args = args
        self.sound = sound
        self.afresh = afresh
        self.finish()
        self.whole = sound()

    def finish(self) -> None:
        """Let it run to its end, and note how long that takes."""
        start = time.monotonic()
        process = finished(self.args)
        assert process.returncode == 0, process.stderr
        self.seconds = time.monotonic() - start

    def kill(self, rng: Random, times: int = 3) -> int:
        """Kill it a few times, look at what is left after each, and let it finish.

        Returns how often it was still running.
        """
        if self.afresh:
            shutil.rmtree(self.folder)
        n_killed = 0
        for _ in range(times):
            n_killed += killed(self.args, rng.uniform(0.1, 0.8) * self.seconds)
            left = self.sound()
            if isinstance(left, frozenset):
                assert left <= self.whole, "something else than what was finished"
        self.finish()
        same = self.sound() == self.whole
        assert same, "another result than that of an undisturbed run"
        assert not list(self.folder.rglob("*.tmp")), "something was left behind"
        return n_killed


def scores_of(model: Path, n_features: int = 8) -> bytes:
    """Scores of a model, which must be whole if it is there."""
    if not model.exists():
        return b""
    clf = load(model)
    zeros = pd.DataFrame(np.zeros((1, n_features)), columns=clf.feature_names_in_)
    return clf.decision_function(zeros).tobytes()


def length_of(page: Path) -> int:
    """Length of a page, which must be whole if it is there."""
    text = page.read_text() if page.exists() else "</html>"
    assert text.rstrip().endswith("</html>"), "half a page"
    return len(text)


def scores_in(folder: Path) -> frozenset[object]:
    """All scores of a store."""
    try:
        with Store.open(folder) as store:
            scores = store.results().scores
    except InputError as refused:
        if "holds no results" not in str(refused):
            raise
        return frozenset()
    columns = scores[["method", "fold", "setting", "AP", "HL"]].astype(str)
    return frozenset(columns.itertuples(index=False, name=None))


# Loads all that a fit needs, then allows this much more memory.
LITTLE_MEMORY = """
import sys
from mltsk.cli import main
from mltsk.machine import limit_process
n_bytes, data, model, scratch = sys.argv[1:]
main(["fit", data, "--rules", "2", "--out", scratch])
limit_process(int(n_bytes))
sys.exit(main(["fit", data, "--rules", "40", "--out", model]))
"""
MAX_MORE_MEMORY = 96 << 20  # bytes


@dataclass(frozen=True)
class StoppedFit:
    """A fit to a file that is there already, which is stopped in some way."""

    data: Path
    model: Path

    @property
    def args(self) -> list[str]:
        """The command."""
        return command("fit", self.data, "--rules", 40, "--out", self.model)

    def told_to_end(self, seconds: float, rng: Random) -> tuple[int, str]:
        """Send SIGTERM after a part of the seconds that a fit takes."""
        return self._signalled(signal.SIGTERM, rng.uniform(0.1, 1.0) * seconds)

    def killed(self, seconds: float, rng: Random) -> tuple[int, str]:
        """Send SIGKILL after a part of the seconds that a fit takes."""
        return self._signalled(signal.SIGKILL, rng.uniform(0.1, 1.0) * seconds)

    def _signalled(self, number: int, seconds: float) -> tuple[int, str]:
        process = subprocess.Popen(
            self.args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)
        process.send_signal(number)
        _, errors = process.communicate()
        return process.returncode, errors

    def out_of_memory(self, seconds: float, rng: Random) -> tuple[int, str]:
        """Allow little more memory than what is loaded."""
        n_bytes = rng.randint(1 << 18, MAX_MORE_MEMORY)
        scratch = self.model.with_name("scratch.skops")
        words = map(str, (n_bytes, self.data, self.model, scratch))
        done = finished([sys.executable, "-c", LITTLE_MEMORY, *words])
        scratch.unlink(missing_ok=True)
        return done.returncode, done.stderr

    def out_of_disk(self, seconds: float, rng: Random) -> tuple[int, str]:
        """Allow files of some bytes, up to the size of the model."""
        size = self.model.stat().st_size
        done = finished(self.args, max_file_bytes=rng.randint(0, size + 1000))
        return done.returncode, done.stderr


# What the last line says of each way, and the exit status with it.
WAYS = {
    "told_to_end": (143, "told to end; nothing was left half-written."),
    "killed": (-signal.SIGKILL, ""),
    "out_of_memory": (1, "more memory than there is"),
    "out_of_disk": (1, "cannot be written"),
}


def stopped_fits(folder: Path, rng: Random, n_stops: int) -> Counter[str]:
    """Stop a fit in every way until it was stopped so often; how often each was.

    A fit that ends before it is stopped has status 0 and its model. One that is told to
    end while Python itself starts or ends dies of the signal, outside of our lines; for
    a shell that is status 143, too.
    """
    data = write_npz(folder / "stopped.npz", make_multilabel_rules(1500, 12, 6))
    (folder / "stop").mkdir()
    fit = StoppedFit(data, folder / "stop" / "model.skops")
    start = time.monotonic()
    done = finished(fit.args)
    assert done.returncode == 0, done.stderr
    seconds = time.monotonic() - start
    whole = scores_of(fit.model, n_features=12)
    counts: Counter[str] = Counter()
    while counts.total() - counts["not stopped"] < n_stops:
        for way, (status, words) in WAYS.items():
            found, errors = getattr(fit, way)(seconds, rng)
            said = errors.strip().splitlines()[-1:] or [""]
            if found == 0:
                counts["not stopped"] += 1
            elif found == -signal.SIGTERM:
                counts["ended before or after its command"] += 1
            else:
                assert found == status, f"{way}: status {found}: {errors[-500:]}"
                assert words in said[0], f"{way}: {errors[-500:]}"
                counts[way.replace("_", " ")] += 1
            assert "Traceback" not in errors, errors[-2000:]
            assert scores_of(fit.model, n_features=12) == whole, f"{way}: another model"
            others = {path.name for path in fit.model.parent.iterdir()}
            if way != "killed":  # whose leftover the next one removes
                assert others == {fit.model.name}, f"{way}: {others}"
    return counts


def take_download(file: Path) -> bytes:
    """A downloaded file, which must be whole if it is there; it is removed."""
    content = file.read_bytes() if file.exists() else b""
    assert len(content) in (0, DOWNLOAD_BYTES), "half a file"
    file.unlink(missing_ok=True)
    return content


def jobs(folder: Path, url: str) -> dict[str, Callable[[], Job]]:
    """The jobs by name, each made when it is asked for."""
    for name in ("fit", "explore", "review", "download"):
        (folder / name).mkdir()
    data = write_npz(folder / "data.npz", make_multilabel_rules(300, 8, 4))
    model = folder / "fit" / "model.skops"
    explorer = folder / "explore" / "page.html"
    review = folder / "review" / "page.html"
    store = folder / "reproduce"
    file = folder / "download" / "file"
    reproduce = command("reproduce", "-d", data, *REPRODUCE_OPTIONS, "--out", store)
    return {
        "fit --out": partial(
            Job,
            model.parent,
            command("fit", data, "--rules", 40, "--out", model),
            partial(scores_of, model),
        ),
        "explore": partial(
            Job,
            explorer.parent,
            command("explore", model, "--data", data, "--out", explorer),
            partial(length_of, explorer),
        ),
        "review": partial(
            Job,
            review.parent,
            command("review", "pbc", "--quick", "--out", review),
            partial(length_of, review),
        ),
        "reproduce": partial(
            Job, store, reproduce, partial(scores_in, store), afresh=True
        ),
        "download": partial(
            Job,
            file.parent,
            [sys.executable, "-c", DOWNLOAD, url, str(file)],
            partial(take_download, file),
        ),
    }


class SlowServer(BaseHTTPRequestHandler):
    """A server that takes a second for a megabyte and goes on where it was asked to."""

    def do_GET(self) -> None:
        """Send the rest of the file."""
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(DOWNLOAD_BYTES - start))
        if start:
            span = f"bytes {start}-{DOWNLOAD_BYTES - 1}/{DOWNLOAD_BYTES}"
            self.send_header("Content-Range", span)
        self.end_headers()
        try:
            for at in range(start, DOWNLOAD_BYTES, CHUNK_BYTES):
                size = min(CHUNK_BYTES - at % CHUNK_BYTES, DOWNLOAD_BYTES - at)
                self.wfile.write(bytes([at // CHUNK_BYTES]) * size)
                time.sleep(1 / 32)
        except OSError:
            pass  # the other side was killed

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def full_disks(folder: Path) -> int:
    """Jobs that may not write end with one sentence, status 1, and the old files.

    Returns how many there were.
    """
    data = folder / "data.npz"
    model = folder / "fit" / "model.skops"
    page = folder / "explore" / "page.html"
    store = folder / "full"
    before = model.read_bytes()
    reproduce = command("reproduce", "-d", data, *REPRODUCE_OPTIONS, "--out", store)
    cases = [
        (command("fit", data, "--rules", 40, "--out", model), 4096),
        (command("explore", model, "--out", page), 4096),
        (reproduce, 1 << 16),
    ]
    for args, max_file_bytes in cases:
        process = finished(args, max_file_bytes)
        assert process.returncode == 1, process.stderr
        assert "Traceback" not in process.stderr, process.stderr
        last_line = process.stderr.splitlines()[-1]
        assert "cannot be written" in last_line, process.stderr
    assert model.read_bytes() == before
    again = finished(reproduce)
    assert again.returncode == 0, "a run does not go on after a full disk"
    return len(cases)


def fit_survives_a_dead_worker() -> bool:
    """Whether a fit on a cluster gives the same numbers when a worker is killed."""
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
        X = da.from_array(data.X, chunks=1000)
        Y = da.from_array(data.Y, chunks=1000)
        undisturbed = MLTSKClassifier(4).fit(X, Y).general_coef_
        pid = cluster.workers[0].pid
        timer = threading.Timer(0.5, partial(os.kill, pid, signal.SIGKILL))
        timer.start()
        disturbed = MLTSKClassifier(4).fit(X, Y).general_coef_
        timer.join()
    assert np.allclose(undisturbed, disturbed, atol=1e-10)
    return True


def by_name(counts: Counter[str]) -> str:
    """Counts in words."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def main() -> None:
    """Kill, fill and count."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--stops", type=int, default=50, help="of a fit, in four ways")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="one job; stops: only those")
    arguments = parser.parse_args()
    rng = Random(arguments.seed)
    kills: Counter[str] = Counter()
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"no_proxy": "*", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.only in ("", "stops"):
            stops = stopped_fits(folder, rng, arguments.stops)
            print(f"a fit stopped at {arguments.stops} moments: {by_name(stops)}")
        if arguments.only == "stops":
            return
        url = f"http://127.0.0.1:{server.server_port}/file"
        ready = {}
        for name, make in jobs(folder, url).items():
            if arguments.only in name:
                ready[name] = make()
        while kills.total() < arguments.kills:
            for name, job in ready.items():
                kills[name] += job.kill(rng)
        verdict = "nothing lost, nothing left behind"
        print(f"{kills.total()} kills: {by_name(kills)}: {verdict}")
        if arguments.only:
            return
        print(f"{full_disks(folder)} full disks: a sentence each, nothing lost")
        same = fit_survives_a_dead_worker()
        print(f"a worker of a cluster killed in a fit: the same numbers {same}")


if __name__ == "__main__":
    main()
