"""A process that reads one hostile file after another and says after each how it went; it may die at any of them.

Lines come in as ``KIND FIRST LAST SEED``, the numbers of the cases, and go out as ``CASE VERDICT what``.
"""

import os
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random

from mltsk.exceptions import InputError
from mltsk.machine import limit_process

from . import crafted, targets
from .mutate import mutated
from .originals import CHECKED, KINDS, originals

SHARE_OF_COMMANDS = 0.02
MEMORY = 1 << 30


def case(kind: str, number: int, seed: int) -> tuple[str, bytes, str]:
    """(format, file, digest that it must have if it is read, "" for any) of a case."""
    if kind == "crafted":
        made = crafted.files()
        return *made[number % len(made)], ""
    content, which, is_blind = mutated(
        kind, originals(kind), Random(f"{seed} {kind} {number}")
    )
    return kind, content, _expected(kind, which) if is_blind and kind in CHECKED else ""


_known: dict[tuple[str, int], str] = {}


def _expected(kind: str, which: int) -> str:
    if (kind, which) not in _known:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"case.{kind}"
            path.write_bytes(originals(kind)[which])
            _known[kind, which] = targets.read(kind, path)
    return _known[kind, which]


def verdict(
    kind: str, content: bytes, expected: str, folder: Path, command: bool = False
) -> str:
    """ "read", "refused", or what went wrong."""
    for left in folder.glob("case.*"):
        left.unlink()  # an XML file next to an ARFF file says which of its columns are labels
    path = folder / f"case.{kind}"
    path.write_bytes(content)
    try:
        if command and kind in targets.COMMANDS:
            targets.through_the_command_line(kind, path)
            return "read"
        found = targets.read(kind, path)
        return (
            "FAILED changed content was read without a word"
            if expected and found != expected
            else "read"
        )
    except InputError as refused:
        return (
            "refused"
            if str(refused).isprintable() and len(str(refused)) < 2000
            else f"FAILED {refused!r}"
        )
    except ImportError as missing:
        return (
            "refused"
            if str(missing).startswith("pip install")
            else f"FAILED {missing!r}"
        )
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"FAILED {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})".replace(
            "\n", " "
        )[:400]


def work() -> None:
    """Do what is asked for until nothing more is."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    targets.without_processes()
    os.environ["MLTSK_MEMORY"] = "300M"
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        for kind in KINDS:  # libraries, threads and originals take no part in the limit
            verdict(kind, originals(kind)[0], "", Path(folder))
        crafted.files()
        limit_process(MEMORY)
        for line in sys.stdin:
            kind, first, last, seed = line.split()
            for number in range(int(first), int(last)):
                command = Random(number).random() < SHARE_OF_COMMANDS
                print(
                    number,
                    verdict(*case(kind, number, int(seed)), Path(folder), command),
                    file=out,
                    flush=True,
                )


if __name__ == "__main__":
    work()
