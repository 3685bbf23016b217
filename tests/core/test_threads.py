"""How many threads work at once."""

import os
import subprocess
import sys

import pytest

from mltsk.core.threads import asked_threads


@pytest.mark.parametrize(
    ("asked", "threads"), [("4", 4), ("0", None), ("many", None), ("", None)]
)
def test_asked_threads_reads_whole_numbers_above_zero(monkeypatch, asked, threads):
    monkeypatch.setenv("MLTSK_THREADS", asked)
    assert asked_threads() == threads


def test_blas_threads_are_as_before_when_fits_in_eight_threads_have_ended():
    # a process of its own, in which nobody has asked for a number of threads
    code = """
import time
from concurrent.futures import ThreadPoolExecutor

import numpy, scipy.linalg
from threadpoolctl import threadpool_info

from mltsk.core.threads import blas_threads

def n_threads():
    found = threadpool_info()
    return [pool["num_threads"] for pool in found if pool["user_api"] == "blas"]

def work(i):
    # they begin one after the other and end in the same order, so that each but the
    # first finds the limit of another
    time.sleep(0.02 * i)
    with blas_threads(0.0):
        time.sleep(0.3)
        return n_threads()

before = n_threads()
for _ in range(2):
    with ThreadPoolExecutor(8) as pool:
        inside = list(pool.map(work, range(8)))
    assert {count for counts in inside for count in counts} == {1}, inside
    assert n_threads() == before, (before, n_threads())
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MLTSK_THREADS": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away here"
)
def test_blas_threads_are_no_more_than_cores_whatever_is_asked_for():
    code = """
import os

import numpy, scipy.linalg
from threadpoolctl import threadpool_info

from mltsk.core.threads import blas_threads

os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
with blas_threads(0.0):
    found = threadpool_info()
counts = {pool["num_threads"] for pool in found if pool["user_api"] == "blas"}
assert counts == {1}, counts
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MLTSK_THREADS": "2"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_scipys_own_blas_has_one_thread_but_for_large_factors():
    code = """
from pathlib import Path

import numpy, scipy.linalg
from threadpoolctl import threadpool_info

from mltsk.core.threads import blas_threads, factor_threads

def n_threads():
    counts = {}
    for pool in threadpool_info():
        folders = set(Path(pool["filepath"]).parts[:-1])
        whose = "SciPy" if folders & {"scipy", "scipy.libs"} else "NumPy"
        counts[whose] = pool["num_threads"]
    return counts

before = n_threads()
with blas_threads(1e15):
    one = dict(before, **{"SciPy": 1}) if "SciPy" in before else before
    assert n_threads() == one, n_threads()
    with factor_threads(100):
        assert n_threads() == one, n_threads()
    with factor_threads(100_000):
        assert n_threads() == before, n_threads()
    assert n_threads() == one, n_threads()
assert n_threads() == before, n_threads()
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MLTSK_THREADS": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
