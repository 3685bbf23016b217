"""`scripts/machines.py`: the nightly matrix has every case; one may not be here."""

import importlib.util
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


@pytest.fixture(scope="module")
def machines():
    """The script as a module."""
    path = ROOT / "scripts" / "machines.py"
    if not path.exists() or not WORKFLOWS.exists():
        pytest.skip("scripts and workflows are in the repository alone")
    spec = importlib.util.spec_from_file_location("machines", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["machines"] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def test_workflows_run_every_case(machines):
    nightly = yaml.safe_load((WORKFLOWS / "nightly.yml").read_text())
    cases = set(nightly["jobs"]["machines"]["strategy"]["matrix"]["case"])
    tests = yaml.safe_load((WORKFLOWS / "tests.yml").read_text())
    pythons = tests["jobs"]["test"]["strategy"]["matrix"]["python"]
    everywhere = {"as-it-is", *(f"python{version}" for version in pythons)}
    assert cases | everywhere == set(machines.MACHINES)


def test_a_python_that_makes_no_environments_is_not_here(
    machines, monkeypatch, tmp_path
):
    monkeypatch.setattr(machines, "ENVIRONMENTS", tmp_path)
    with pytest.raises(machines.NotHereError, match="an environment cannot be made"):
        machines.environment("none", Path("/bin/false"), [], may_install=True)
