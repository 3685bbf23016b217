import pytest

from mltsk.datasets import read_label_xml
from mltsk.datasets.mulan import meka_labels
from mltsk.exceptions import InputError

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "toy.xml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_labels_of_a_mulan_file(write):
    text = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="a b"></label><label name="ü"/></labels>'
    assert read_label_xml(write(HEAD + text)) == ("a b", "ü")


def test_nested_labels_are_listed_too(write):
    text = '<labels><label name="animal"><label name="dog"/></label><label name="plant"/></labels>'
    assert read_label_xml(write(text)) == ("animal", "dog", "plant")


def test_predefined_entities_are_just_characters(write):
    assert read_label_xml(write('<labels><label name="a &amp; b"/></labels>')) == ("a & b",)


LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
BOMB = f'<!DOCTYPE labels [<!ENTITY l0 "lol">{LAUGHS}]>\n<labels><label name="&l9;"/></labels>'


@pytest.mark.parametrize(
    "text",
    [
        HEAD + BOMB,
        BOMB.encode("utf-16"),
        '<!DOCTYPE labels SYSTEM "file:///etc/passwd"><labels><label name="x"/></labels>',
        '<!DOCTYPE labels><labels><label name="x"/></labels>',
    ],
)
def test_document_types_and_entities_are_refused(write, text):
    with pytest.raises(InputError, match=r"line \d: document types and entities are not read"):
        read_label_xml(write(text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: no element found"),
        ("<labels>\n<label", "line 2: unclosed token"),
        ("<labels></labels>", "lists no label"),
        ("@relation x", "line 1: not well-formed"),
    ],
)
def test_files_that_are_no_label_list_are_refused_in_a_sentence(write, text, complaint):
    with pytest.raises(InputError, match=complaint):
        read_label_xml(write(text))


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_label_xml(tmp_path / "nowhere.xml")


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("toy", ""),
        ("'toy: -C 2'", "ab"),
        ("'toy: -C -2 -split-percentage 50'", "cd"),
        ("'toy: -split 5 -C 1'", "a"),
        ("'toy: -C 0'", ""),
        ("'toy: -C 4'", ""),  # no feature would be left: not a usable declaration
        ("'toy: -C 99999999999'", ""),
    ],
)
def test_mekas_option_counts_from_the_front_or_the_back(relation, labels):
    assert meka_labels(relation, tuple("abcd")) == tuple(labels)
