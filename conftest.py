"""What every test run must know: modules that need torch are not imported for their examples where it is missing."""

from importlib.util import find_spec

NEED_TORCH = ("batch", "algorithm1_batch", "fista_batch")

collect_ignore = [] if find_spec("torch") else [f"src/mltsk/scale/{name}.py" for name in NEED_TORCH]
