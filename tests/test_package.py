"""What a release needs besides code: one version, files that say what it does."""

import os
import re
import shlex
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

import mltsk

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_and_the_changelog_have_the_version_of_the_package():
    assert yaml.safe_load(read("CITATION.cff"))["version"] == mltsk.__version__
    assert (
        re.findall(
            r"^## \[(\d\S+)\] - \d{4}-\d\d-\d\d$", read("CHANGELOG.md"), flags=re.M
        )[0]
        == mltsk.__version__
    )


def test_the_citation_names_the_paper_as_the_page_for_its_readers_does():
    citation = yaml.safe_load(read("CITATION.cff"))
    # what version 1.2.0 of the format asks for
    assert citation["cff-version"] == "1.2.0"
    assert {"title", "message", "authors"} <= set(citation)
    (paper,) = citation["references"]
    entry = dict(
        re.findall(
            r"^  (\w+) += \{(.+)\},?$", read("docs/paper_in_ten_lines.md"), re.MULTILINE
        )
    )
    assert entry["doi"] == paper["doi"] == "10.1109/TFUZZ.2021.3115967"
    assert entry["pages"] == f"{paper['start']}--{paper['end']}"
    assert entry["volume"] == str(paper["volume"])
    assert entry["number"] == str(paper["issue"])
    assert entry["journal"] == paper["journal"]
    names = [
        f"{author['family-names']}, {author['given-names']}"
        for author in paper["authors"]
    ]
    assert entry["author"] == " and ".join(names)


def test_the_conda_recipe_builds_this_version_with_the_same_requirements():
    recipe = yaml.safe_load(read("conda/recipe.yaml"))
    assert recipe["context"]["version"] == mltsk.__version__
    python, *others = recipe["requirements"]["run"]
    assert python == f"python {PROJECT['requires-python']}"
    assert [other.replace(" ", "") for other in others] == PROJECT["dependencies"]


def test_type_checkers_are_told_that_the_package_is_typed():
    assert (files("mltsk") / "py.typed").is_file()


@pytest.mark.skipif(
    os.environ.get("GITHUB_REF_TYPE") != "tag", reason="asked where a tag is published"
)
def test_the_tag_names_the_version():
    assert os.environ["GITHUB_REF_NAME"] == f"v{mltsk.__version__}"


@pytest.mark.parametrize("name", ["tests", "publish", "nightly"])
def test_a_workflow_runs_the_makefile_and_nothing_else(name):
    jobs = yaml.safe_load(read(f".github/workflows/{name}.yml"))["jobs"].values()
    ran = [
        word
        for job in jobs
        for step in job["steps"]
        for word in shlex.split(step.get("run", "make"))
    ]
    goals = {word for word in ran if "=" not in word}  # MACHINES="…" is an option
    assert goals - {"make"} <= set(
        re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.M)
    )


def test_the_matrix_has_the_versions_that_are_declared():
    matrix = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"]["test"][
        "strategy"
    ]["matrix"]["python"]
    assert matrix == re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))


def test_forms_are_ones_that_can_be_filled_in():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert path.stem == "config" or {"name", "description", "body"} <= set(form)
