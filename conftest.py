"""Modules that need torch are not imported for their examples where it is missing."""

from importlib.util import find_spec

NEED_TORCH = ["src/mltsk/paper/solvers/algorithm1_batch.py"]

collect_ignore = [] if find_spec("torch") else NEED_TORCH
