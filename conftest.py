"""What every test run must know: modules that need torch are not imported for their examples where it is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/mltsk/scale/algorithm1_batch.py"]
