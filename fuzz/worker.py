"""A process that reads hostile files, one after another, and may die at any of them.

Lines come in as ``KIND FIRST LAST SEED``, the numbers of the cases; after each case a
line goes out: ``CASE VERDICT``.
"""

import os
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from random import Random

from mltsk.exceptions import InputError
from mltsk.machine import limit_process

from . import crafted, targets
from .mutate import mutated
from .originals import CHECKED, KINDS, originals

SHARE_OF_COMMANDS = 0.02
MEMORY_BYTES = 1 << 30
MAX_SENTENCE_LENGTH = 2000


def case(kind: str, number: int, seed: int) -> tuple[str, bytes, str]:
    """Format and content of a case, and the digest that it must have if it is read.

    The digest is "" where any will do.
    """
    if kind == "crafted":
        files = crafted.files()
        ending, content = files[number % len(files)]
        return ending, content, ""
    rng = Random(f"{seed} {kind} {number}")
    content, which, is_blind = mutated(kind, originals(kind), rng)
    if is_blind and kind in CHECKED:
        return kind, content, _digest_of_original(kind, which)
    return kind, content, ""


@cache
def _digest_of_original(kind: str, which: int) -> str:
    """What a sound file says; "" of one that is refused as it is, by its encoding."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"case.{kind}"
        path.write_bytes(originals(kind)[which])
        try:
            return targets.read(kind, path)
        except InputError:
            return ""


def verdict(
    kind: str, content: bytes, expected: str, folder: Path, by_command: bool = False
) -> str:
    """The word "read" or "refused", or what went wrong."""
    # an XML file next to an ARFF file says which of its columns are labels
    for leftover in folder.glob("case.*"):
        leftover.unlink()
    path = folder / f"case.{kind}"
    path.write_bytes(content)
    try:
        if by_command and kind in targets.COMMANDS:
            targets.through_the_command_line(kind, path)
            return "read"
        digest = targets.read(kind, path)
    except BaseException as error:
        return _verdict_of_error(error)
    if expected and digest != expected:
        return "FAILED changed content was read without a word"
    return "read"


def _verdict_of_error(error: BaseException) -> str:
    """Refused with a sentence of ours, or failed."""
    text = str(error)
    if isinstance(error, InputError):
        if text.isprintable() and len(text) < MAX_SENTENCE_LENGTH:
            return "refused"
        return f"FAILED {error!r}"
    if isinstance(error, ImportError):
        if text.startswith("pip install"):
            return "refused"
        return f"FAILED {error!r}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    sentence = f"FAILED {type(error).__name__}: {text} ({place})"
    return sentence.replace("\n", " ")[:400]


def work() -> None:
    """Do what is asked for until nothing more is."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    targets.without_processes()
    os.environ["MLTSK_MEMORY"] = "300M"
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        # libraries, threads and originals take no part in the limit
        for kind in KINDS:
            verdict(kind, originals(kind)[0], "", folder)
        crafted.files()
        limit_process(MEMORY_BYTES)
        for line in sys.stdin:
            kind, first, last, seed = line.split()
            for number in range(int(first), int(last)):
                ending, content, expected = case(kind, number, int(seed))
                by_command = Random(number).random() < SHARE_OF_COMMANDS
                answer = verdict(ending, content, expected, folder, by_command)
                print(number, answer, file=out, flush=True)


if __name__ == "__main__":
    work()
