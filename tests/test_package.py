"""What a release needs besides code: one version everywhere, and files that say what the code says."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

import mltsk

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_and_the_changelog_have_the_version_of_the_package():
    assert yaml.safe_load(read("CITATION.cff"))["version"] == mltsk.__version__
    assert re.findall(r"^## \[(\d\S+)\] - \d{4}-\d\d-\d\d$", read("CHANGELOG.md"), flags=re.M)[0] == mltsk.__version__


def test_the_conda_recipe_builds_this_version_with_the_same_requirements():
    recipe = yaml.safe_load(read("conda/recipe.yaml"))
    assert recipe["context"]["version"] == mltsk.__version__
    python, *others = recipe["requirements"]["run"]
    assert python == f"python {PROJECT['requires-python']}"
    assert [other.replace(" ", "") for other in others] == PROJECT["dependencies"]


def test_type_checkers_are_told_that_the_package_is_typed():
    assert (files("mltsk") / "py.typed").is_file()


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_workflows_run_the_makefile_and_nothing_else(path):
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.M))
    steps = re.findall(r"^\s*(?:- )?run: (.+)$", path.read_text(encoding="utf-8"), flags=re.M)
    assert all(re.fullmatch(r"make (\S+)", step) and step.split()[1] in targets for step in steps), steps
