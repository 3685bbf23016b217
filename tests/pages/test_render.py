"""Pages: one file, escaped, nothing fetched, whole or not there."""

import re
from html.parser import HTMLParser

import pytest

from mltsk.datasets import Dataset, make_multilabel_rules
from mltsk.pages import demo
from mltsk.pages.render import demo_page, folded, rules_page, verdict, write_page

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page():
    made = make_multilabel_rules(n_samples=90, n_labels=3, random_state=0)
    names = [HOSTILE, *made.feature_names[1:]]
    data = Dataset(made.X, made.Y, names, [f"<b>{i}</b>" for i in range(3)], name="flags", source=HOSTILE)
    result = demo.run_demo(data, n_rules=2, n_folds=2)
    return demo_page(result.summary, result.model.rules_.to_html(top=10))


class Outline(HTMLParser):
    """Tags that must be closed, and whatever a browser would fetch or run."""

    def __init__(self):
        super().__init__()
        self.open, self.fetches, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.fetches += [v for k, v in attrs.items() if k in ("src", "xlink:href", "href") and v[:1] != "#"]
        assert tag not in ("script", "iframe", "object", "link")
        if tag not in ("meta", "br", "img", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "br", "img", "hr"):
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert all(address.startswith("data:image/png;base64,") for address in outline.fetches)
    assert len(set(outline.ids)) == len(outline.ids)
    assert not re.search(r"url\((?!#)|@import", page)


def test_names_and_sources_are_text(page):
    assert "<script" not in page
    assert "<b>0</b>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;0&lt;/b&gt;" in page


def test_the_page_says_what_was_run(page):
    for words in ("ML-TSK FS on flags", "Table III", "0.82", "Do the rules differ?", "shuffled with seed 0", "numpy"):
        assert words in page


def test_the_verdict_depends_on_the_numbers():
    def models(ours, theirs):
        rules = {"n_rules": 2, "largest_spread": theirs / 2}
        return {"models": {"default": rules | {"distinctness": ours}, "paper": rules | {"distinctness": theirs}}}

    assert verdict(models(0.4, 0.0003)).startswith("The paper's rules collapse")
    assert "distinctness 0.0003 of 1" in verdict(models(0.4, 0.0003))
    assert "collapse" not in verdict(models(0.4, 0.3))
    alone = models(1.0, 0.3)
    alone["models"]["default"] = alone["models"]["default"] | {"n_rules": 0}
    assert verdict(alone).endswith("our model needs a general rule alone.")


def test_all_but_the_first_rules_are_folded():
    text = folded("head" + "<details open>x</details>" * 6, open_rules=2)
    assert text == "head" + "<details open>x</details>" * 2 + "<details>x</details>" * 4


def test_a_page_of_rules_escapes_its_title():
    assert "<title>Rules of &lt;x&gt;</title>" in rules_page("<p>rules</p>", "<x>")
    assert "<p>rules</p>" in rules_page("<p>rules</p>", "")


def test_a_page_is_written_with_its_folder(tmp_path):
    path = write_page("ünï", tmp_path / "a" / "b" / "index.html")
    assert path.read_text(encoding="utf-8") == "ünï"
