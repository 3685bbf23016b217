import pytest

from mltsk.explain.render import consequent_text, markdown, page_html, page_markdown, page_text, rule_text
from mltsk.explain.text import ConsequentWords, RuleWords

EVIL = "<script>alert('x')</script>"


@pytest.fixture
def words():
    label = ConsequentWords(EVIL, "up to 0.60 from 0.30, given", (f"{EVIL} +0.1",), ("age -0.2",), "and 3 smaller ones")
    return RuleWords("Rule 1 — governs 9 %", (f"{EVIL} is high",), "and 4 conditions", (label,), "and 2 labels")


def test_html_escapes_every_name(words):
    page = page_html([f"legend of {EVIL}"], [words])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4


def test_markdown_escapes_markup_but_not_underscores_within_names(words):
    assert markdown("mean_of_x *y* _z_ <b> a|b") == r"mean_of_x \*y\* \_z\_ \<b\> a\|b"
    assert r"\<script\>" in page_markdown([], [words])


def test_text_has_every_sentence_once(words):
    page = page_text(["how to read"], [words, words])
    for sentence in ("how to read", "age -0.2", "and 3 smaller ones", "and 4 conditions", "and 2 labels"):
        assert page.count(sentence) == (1 if sentence == "how to read" else 2)


def test_text_wraps_between_terms_only(words):
    many = tuple(f"audio-ssd-{i:02} +0.01 (yes instead of no)" for i in range(12))
    lines = consequent_text(ConsequentWords("gout", "0.6", many, (), "")).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 110
    assert sum(line.count(part) for part in many for line in lines) == 12


def test_nothing_is_printed_for_empty_parts():
    empty = RuleWords("Rule 1", (), "", (ConsequentWords("gout", "0.3", (), (), ""),), "")
    assert rule_text(empty) == "Rule 1\n  IF\n  THEN\n    gout: 0.3"
    assert "rises" not in page_markdown([], [empty])
    assert "<dd" not in page_html([], [empty])
