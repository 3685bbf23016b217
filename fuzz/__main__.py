"""``python -m fuzz``: read mutated and crafted files of every format for ten minutes, and fail on anything but success
or a sentence of ours, on ten seconds without an answer, on a death, and on changed content that is read without a word.

Cases are numbered and depend on the seed alone. Counts are kept in out/fuzz/state.json, so that the next run goes on;
a file that failed is kept next to it.
"""

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .originals import KINDS
from .targets import ISOLATED

ANSWER_SECONDS = 10.0
BATCH = 200
START = [sys.executable, "-m", "fuzz.worker"]


def cpu_seconds(pid: int) -> float:
    """Seconds that a process has computed for."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that reads files, started again when it dies or does not answer."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "subprocess.Popen[bytes]":
        """The process, a new one where there is none."""
        if self.process is None or self.process.poll() is not None:
            env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                START, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0
            )
            self.first = True
        return self.process

    def run(self, kind: str, first: int, last: int, seed: int) -> list[tuple[int, str]]:
        """Verdicts of the cases from first to last."""
        found: list[tuple[int, str]] = []
        while (at := first + len(found)) < last:
            process = self.start()
            process.stdin.write(f"{kind} {at} {last} {seed}\n".encode())
            process.stdin.flush()
            while first + len(found) < last and (line := self.line()):
                number, _, verdict = line.decode().strip().partition(" ")
                found.append((int(number), verdict))
            if first + len(found) < last:
                found.append((first + len(found), self.died()))
        return found

    def line(self) -> bytes:
        """The next line, b"" where none comes in time or the process has ended."""
        end = (
            cpu_seconds(self.process.pid) + ANSWER_SECONDS + (60 if self.first else 0)
        )  # it makes the files first
        self.first = False
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            for _ in range(60):  # seconds of its own: others may keep the machine busy
                if selector.select(ANSWER_SECONDS):
                    return self.process.stdout.readline()
                if cpu_seconds(self.process.pid) > end:
                    break
        return b""

    def died(self) -> str:
        """What became of a process that does not answer."""
        process, self.process = self.process, None
        try:
            return f"DIED with status {process.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"HUNG for {ANSWER_SECONDS:.0f} seconds"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def replayed(kind: str, number: int, seed: int) -> str:
    """What the real reader, with its own process, says about a file at which a bare one died."""
    code = (
        "import sys, tempfile; from pathlib import Path; from fuzz.worker import case, verdict\n"
        "print(verdict(*case(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), Path(tempfile.mkdtemp())))"
    )
    env = {**os.environ, "MLTSK_MEMORY": "300M"}
    done = subprocess.run(
        [sys.executable, "-c", code, kind, str(number), str(seed)],
        env=env,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or f"DIED with status {done.returncode}"


def keep(folder: Path, kind: str, number: int, seed: int) -> None:
    """Save the file of a case that failed."""
    from .worker import case

    ending, content, _ = case(kind, number, seed)
    (folder / f"{kind}-{seed}-{number}.{ending}").write_bytes(content)


def main() -> int:
    """Run, count, and fail if anything did."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument(
        "--cases",
        type=int,
        default=0,
        help="cases per format at most; 0: as many as there is time for",
    )
    parser.add_argument(
        "--crafted",
        type=int,
        default=10**6,
        help="crafted files at most, evenly spread",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", default=",".join(("crafted", *KINDS)))
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "state.json"
    state = (
        json.loads(kept.read_text())
        if kept.exists()
        else {"next": {}, "counts": {}, "failures": []}
    )
    end, workers = time.monotonic() + args.seconds, [Worker() for _ in range(args.jobs)]
    kinds, failures = args.kinds.split(","), 0
    from . import crafted

    most = dict.fromkeys(kinds, args.cases or 10**9) | {
        "crafted": min(args.crafted, len(crafted.files()))
    }

    def turn(
        worker: Worker, kind: str, first: int
    ) -> tuple[str, int, list[tuple[int, str]]]:
        return (
            kind,
            first,
            worker.run(kind, first, min(first + BATCH, most[kind]), args.seed),
        )

    with ThreadPoolExecutor(args.jobs) as pool:
        while time.monotonic() < end:
            open_ = [kind for kind in kinds if state["next"].get(kind, 0) < most[kind]]
            if not open_:
                break
            chosen = sorted(
                open_, key=lambda kind: (kind != "crafted", state["next"].get(kind, 0))
            )[: args.jobs]
            jobs = [
                pool.submit(turn, worker, kind, state["next"].get(kind, 0))
                for worker, kind in zip(workers, chosen, strict=False)
            ]
            for job in jobs:
                kind, first, verdicts = job.result()
                counts = Counter(state["counts"].get(kind, {}))
                for number, verdict in verdicts:
                    if verdict.startswith("DIED") and (
                        kind in ISOLATED or kind == "crafted"
                    ):
                        verdict = (
                            "contained"
                            if (said := replayed(kind, number, args.seed))
                            in ("read", "refused")
                            else said
                        )
                    counts[verdict.partition(" ")[0]] += 1
                    if verdict not in ("read", "refused", "contained"):
                        failures += 1
                        state["failures"].append([kind, args.seed, number, verdict])
                        keep(args.out, kind, number, args.seed)
                        print(f"{kind} {number}: {verdict}", flush=True)
                state["counts"][kind], state["next"][kind] = (
                    dict(counts),
                    first + len(verdicts),
                )
                kept.write_text(json.dumps(state, indent=1))
    for worker in workers:
        worker.close()
    for kind, counts in state["counts"].items():
        print(
            f"{kind:8} {sum(counts.values()):8,}  "
            + ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(counts.items()))
        )
    print(
        f"{sum(sum(counts.values()) for counts in state['counts'].values()):,} files, {len(state['failures'])} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
