"""``python -m fuzz``: read mutated and crafted files of every format for ten minutes.

It fails on anything but success or a sentence of ours, on ten seconds without an
answer, on a death, and on changed content that is read without a word.

Cases are numbered and depend on the seed alone. Counts are kept in out/fuzz/state.json,
so that the next run goes on; a file that failed is kept next to it.
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
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import crafted
from .originals import KINDS
from .targets import ISOLATED

ANSWER_SECONDS = 10.0
FIRST_ANSWER_SECONDS = 60.0  # a new process makes the files first
CASES_PER_TURN = 200
GOOD_VERDICTS = ("read", "refused", "contained")
REPLAY = """
import sys, tempfile
from pathlib import Path
from fuzz.worker import case, verdict
kind, number, seed = sys.argv[1:]
print(verdict(*case(kind, int(number), int(seed)), Path(tempfile.mkdtemp())))
"""


def cpu_seconds(pid: int) -> float:
    """Seconds that a process has computed for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that reads files, started again when it dies or does not answer."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.is_new = True

    def start(self) -> "subprocess.Popen[bytes]":
        """The process, a new one where there is none."""
        if self.process is None or self.process.poll() is not None:
            one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | one_thread,
                bufsize=0,
            )
            self.is_new = True
        return self.process

    def run(self, kind: str, first: int, last: int, seed: int) -> list[tuple[int, str]]:
        """Verdicts of the cases from first to last."""
        verdicts: list[tuple[int, str]] = []
        number = first
        while number < last:
            process = self.start()
            process.stdin.write(f"{kind} {number} {last} {seed}\n".encode())
            process.stdin.flush()
            while number < last:
                answer = self.line().decode().strip()
                if not answer:
                    verdicts.append((number, self.died()))
                    number += 1
                    break
                verdicts.append((number, answer.partition(" ")[2]))
                number += 1
        return verdicts

    def line(self) -> bytes:
        """The next line, b"" where none comes in time or the process has ended."""
        end = cpu_seconds(self.process.pid) + ANSWER_SECONDS
        if self.is_new:
            end += FIRST_ANSWER_SECONDS
            self.is_new = False
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
        process = self.process
        self.process = None
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


@dataclass
class State:
    """What runs have done so far, by kind of file."""

    next: dict[str, int] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: list[list[object]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "State":
        """The state that an earlier run left, or a fresh one."""
        if not path.exists():
            return cls()
        return cls(**json.loads(path.read_text()))

    def next_case(self, kind: str) -> int:
        """Number of the first case that was not tried yet."""
        return self.next.get(kind, 0)

    def add(self, kind: str, verdicts: list[str]) -> None:
        """Count verdicts of the next cases of a kind."""
        counts = Counter(self.counts.get(kind, {}))
        for verdict in verdicts:
            counts[verdict.partition(" ")[0]] += 1
        self.counts[kind] = dict(counts)
        self.next[kind] = self.next_case(kind) + len(verdicts)

    def report(self) -> str:
        """A line per kind with its verdicts, and a line for all."""
        lines = []
        n_files = 0
        for kind, counts in self.counts.items():
            total = sum(counts.values())
            n_files += total
            verdicts = [f"{n:,} {verdict}" for verdict, n in sorted(counts.items())]
            lines.append(f"{kind:8} {total:8,}  {', '.join(verdicts)}")
        lines.append(f"{n_files:,} files, {len(self.failures)} failures")
        return "\n".join(lines)


def replayed(kind: str, number: int, seed: int) -> str:
    """What the real reader says about a file at which a bare one died.

    The real reader has a process of its own.
    """
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, kind, str(number), str(seed)],
        env=os.environ | {"MLTSK_MEMORY": "300M"},
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or f"DIED with status {done.returncode}"


def final_verdict(kind: str, number: int, seed: int, verdict: str) -> str:
    """The verdict, where a death is forgiven that the real reader contains."""
    is_contained_kind = kind in ISOLATED or kind == "crafted"
    if not verdict.startswith("DIED") or not is_contained_kind:
        return verdict
    again = replayed(kind, number, seed)
    if again in ("read", "refused"):
        return "contained"
    return again


def keep(folder: Path, kind: str, number: int, seed: int) -> None:
    """Save the file of a case that failed."""
    from .worker import case

    ending, content, _ = case(kind, number, seed)
    (folder / f"{kind}-{seed}-{number}.{ending}").write_bytes(content)


def next_kinds(state: State, limits: dict[str, int], jobs: int) -> list[str]:
    """Kinds to try next: crafted files first, then those with the fewest cases."""
    unfinished = [kind for kind in limits if state.next_case(kind) < limits[kind]]
    unfinished.sort(key=lambda kind: (kind != "crafted", state.next_case(kind)))
    return unfinished[:jobs]


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
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
        help="crafted files at most, the first of them",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", default=",".join(("crafted", *KINDS)))
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    return parser.parse_args()


def main() -> int:
    """Run, count, and fail if anything did."""
    arguments = read_arguments()
    seed = arguments.seed
    arguments.out.mkdir(parents=True, exist_ok=True)
    state_path = arguments.out / "state.json"
    state = State.read(state_path)
    n_earlier_failures = len(state.failures)
    limits = dict.fromkeys(arguments.kinds.split(","), arguments.cases or 10**9)
    if "crafted" in limits:
        limits["crafted"] = min(arguments.crafted, len(crafted.files()))
    workers = [Worker() for _ in range(arguments.jobs)]
    end = time.monotonic() + arguments.seconds
    with ThreadPoolExecutor(arguments.jobs) as pool:
        while time.monotonic() < end:
            kinds = next_kinds(state, limits, arguments.jobs)
            if not kinds:
                break
            turns = {}
            for worker, kind in zip(workers, kinds, strict=False):
                first = state.next_case(kind)
                last = min(first + CASES_PER_TURN, limits[kind])
                turns[kind] = pool.submit(worker.run, kind, first, last, seed)
            for kind, turn in turns.items():
                judge(state, kind, turn.result(), arguments.out, seed)
                state_path.write_text(json.dumps(asdict(state), indent=1))
    for worker in workers:
        worker.close()
    print(state.report())
    return int(len(state.failures) > n_earlier_failures)


def judge(
    state: State, kind: str, verdicts: list[tuple[int, str]], folder: Path, seed: int
) -> None:
    """Count the verdicts of a turn; print and keep what failed."""
    final = []
    for number, first_verdict in verdicts:
        verdict = final_verdict(kind, number, seed, first_verdict)
        final.append(verdict)
        if verdict not in GOOD_VERDICTS:
            state.failures.append([kind, seed, number, verdict])
            keep(folder, kind, number, seed)
            print(f"{kind} {number}: {verdict}", flush=True)
    state.add(kind, final)


if __name__ == "__main__":
    sys.exit(main())
