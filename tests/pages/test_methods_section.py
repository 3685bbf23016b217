"""For the methods section: all items of the checklist, and numbers of the run."""

import io
import zipfile
from xml.etree import ElementTree

import pytest

from mltsk import MLTSKClassifier, methods_section, read_table
from mltsk.exceptions import InputError
from mltsk.pages.documents import Heading, Paragraph, Table, docx_bytes
from mltsk.pages.methods_section import filled_items, methods_facts, paragraph
from mltsk.pages.tripod import TRIPOD_ITEMS


@pytest.fixture(scope="module")
def run(table):
    X, Y = table
    people = read_table(X.join(Y), labels=["copd", "gout"])
    return MLTSKClassifier(threshold="f1").fit(people.X, people.Y), people


def test_the_checklist_has_27_items_in_52_parts():
    numbers = [item.number for item in TRIPOD_ITEMS]
    assert len(set(numbers)) == len(numbers) == 52
    items = [int(number.rstrip("abcdefg")) for number in numbers]
    assert sorted(set(items)) == list(range(1, 28))
    assert items == sorted(items)


def test_items_are_filled_in_from_the_run_or_named_as_open(run):
    model, people = run
    facts = methods_facts(model, people)
    texts = {item.number: text for item, status, text in filled_items(facts)}
    statuses = {item.number: status for item, status, _ in filled_items(facts)}
    assert f"{int(people.X.isna().sum().sum())} cells" in texts["11"]
    for label in facts.labels:
        counted = f"{label.name} ({label.cases:,} of {label.observed:,} observed)"
        assert counted in texts["21"]
        assert f"{label.AUC[0]:.2f} ({label.AUC[1]:.2f} to" in texts["23a"]
        assert f"{label.AP[0]:.2f} ({label.AP[1]:.2f} to" in paragraph(facts)
    for number in ("17", "18a", "19", "25", "26"):
        assert statuses[number] == "open"
        assert texts[number] == ""


def test_documents_hold_the_same_text_in_every_form(run, tmp_path):
    model, people = run
    expected = paragraph(methods_facts(model, people))
    page = methods_section(model, people, tmp_path / "m.html").read_text("utf-8")
    assert "TRIPOD+AI statement" in page
    docx = methods_section(model, people, tmp_path / "m.docx").read_bytes()
    with zipfile.ZipFile(io.BytesIO(docx)) as archive:
        root = ElementTree.fromstring(archive.read("word/document.xml"))
    words = [node.text for node in root.iter() if node.tag.endswith("}t")]
    assert expected in words
    assert "27c" in words
    text = methods_section(model, people, tmp_path / "m.md").read_text("utf-8")
    assert text.count("\n| ") > 52


def test_columns_of_a_docx_are_as_wide_as_their_texts_ask_for():
    rows = [["1", "open", "a text of very many words " * 9], ["27c", "filled in", ""]]
    blocks = [Table(["item", "status", "text"], rows)]
    with zipfile.ZipFile(io.BytesIO(docx_bytes(blocks))) as archive:
        root = ElementTree.fromstring(archive.read("word/document.xml"))
    widths = []
    for node in root.iter():
        if node.tag.endswith("}gridCol"):
            widths.append(int(*node.attrib.values()))
    item, status, text = widths
    assert item < status < text
    assert text > 0.7 * sum(widths)
    headers = [node for node in root.iter() if node.tag.endswith("}tblHeader")]
    assert len(headers) == 1  # again on every page


def test_hostile_names_stay_text_in_documents():
    blocks = [Heading("<w:p>"), Paragraph("a\x00b & c"), Table(["x"], [["</w:t>"]])]
    with zipfile.ZipFile(io.BytesIO(docx_bytes(blocks))) as archive:
        root = ElementTree.fromstring(archive.read("word/document.xml"))
    words = [node.text for node in root.iter() if node.tag.endswith("}t")]
    assert words[:4] == ["<w:p>", "ab & c", "x", "</w:t>"]


def test_what_cannot_be_written_is_refused(run, tmp_path):
    model, people = run
    with pytest.raises(InputError, match=r"end its name with .html, .md or .docx"):
        methods_section(model, people, tmp_path / "m.pdf")
    assert not list(tmp_path.iterdir())
