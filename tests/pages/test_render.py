"""Pages: escaped, whole or not there; scripts and style sheets without comments."""

import json
import re
import shutil
import subprocess
from importlib.resources import files

import pytest

from mltsk.pages.render import rules_page, source, write_page

TEMPLATES = files("mltsk.pages") / "templates"
SOURCES = [
    *(f"explorer/{file.name}" for file in (TEMPLATES / "explorer").iterdir()),
    *(file.name for file in TEMPLATES.iterdir()),
]
SOURCES = sorted(name for name in SOURCES if name.endswith((".js", ".css")))


def test_rules_page_escapes_its_title():
    assert "<title>Rules of &lt;x&gt;</title>" in rules_page("<p>rules</p>", "<x>")
    assert "<p>rules</p>" in rules_page("<p>rules</p>", "")


def test_write_page_makes_its_folder(tmp_path):
    path = write_page("ünï", tmp_path / "a" / "b" / "index.html")
    assert path.read_text(encoding="utf-8") == "ünï"


@pytest.mark.parametrize("name", SOURCES)
def test_source_leaves_out_comments_and_blank_lines_alone(name):
    whole = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    lean = source(name).splitlines()
    comments = [line for line in whole if line not in lean]
    assert all(re.match(r"\s*(//|/\*|$)", line) for line in comments)
    assert lean == [line for line in whole if line not in comments]
    assert "" not in lean


@pytest.mark.parametrize("name", SOURCES)
def test_source_meets_no_text_that_goes_over_several_lines(name):
    assert all(line.count("`") % 2 == 0 for line in source(name).splitlines())


# Prints what functions of words.js say, for arguments that come as JSON.
SAY = """
const calls = JSON.parse(process.argv[2]);
const say = { number, exactly, signed, percent, tail, fifth, times, listed };
console.log(JSON.stringify(calls.map(([name, ...rest]) => say[name](...rest))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["number", 1234.5], "1,235"),
        (["number", 0.012345], "0.0123"),
        (["exactly", 1234.5678], "1,234.57"),
        (["signed", -0.0004], "+0.000"),
        (["signed", -0.25, 2], "−0.25"),
        (["percent", 0.001], "under 1 %"),
        (["percent", 0.999], "over 99 %"),
        (["tail", 0.975], "top 3 %"),
        (["tail", 0.5], "near the median"),
        (["fifth", 1], "very high"),
        (["times", 1, "row"], "1 row"),
        (["times", 1200, "row"], "1,200 rows"),
        (["listed", ["a", "b", "c"], 3], "a, b and c"),
        (["listed", ["a", "b", "c"], 1], "a and 2 more"),
    ],
)
def test_words_js_speaks_as_the_rules_do(call, words, tmp_path):
    program = source("explorer/model.js") + source("explorer/words.js") + SAY
    (tmp_path / "say.js").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "say.js", json.dumps([call])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [words]
