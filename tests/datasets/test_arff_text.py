import time

import pytest

from mltsk.datasets.arff_text import Fault, attribute, items, short, values


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,2", ["1", "2"]),
        (" 1 ,\t2 ", ["1", "2"]),
        ("'a,b',\"c'd\"", ["a,b", "c'd"]),
        (r"'it\'s','tab\there','back\\slash'", ["it's", "tab\there", "back\\slash"]),
        ("1,,3", ["1", "", "3"]),
        ("", [""]),
        ("1,", ["1", ""]),
    ],
)
def test_values_of_a_line(line, expected):
    assert [text for text, _ in values(line)] == expected


def test_a_quoted_question_mark_is_told_from_a_missing_value():
    assert list(values("?,'?'")) == [("?", False), ("?", True)]


@pytest.mark.parametrize("line", ["'open", '"open', "a'b", "'a'b", "{1}", "1,{2}", r"'ends in \'"])
def test_broken_values_are_a_fault(line):
    with pytest.raises(Fault):
        list(values(line))


@pytest.mark.parametrize("line", ["1", "x 2", "1 2 3", "1 2,", "-1 2", "1 'a", "1  ", "9999999999 1", "²  1"])
def test_broken_items_are_a_fault(line):
    with pytest.raises(Fault):
        list(items(line))


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("@attribute size numeric", "size", "numeric"),
        ("@ATTRIBUTE\tsize\tREAL", "size", "REAL"),
        ("@attribute 'two words' {0, 1}", "two words", "{0, 1}"),
        ('@attribute "%odd" {a}', "%odd", "{a}"),
        ("@attribute glued{0,1}", "glued", "{0,1}"),
        ("@attribute Guitar_(clean)-Solo {0,1}", "Guitar_(clean)-Solo", "{0,1}"),
    ],
)
def test_attributes(line, name, kind):
    assert attribute(line) == (name, kind)


@pytest.mark.parametrize("line", ["@attribute", "@attribute 'open real", "@attributes a real"])
def test_broken_attributes_are_a_fault(line):
    with pytest.raises(Fault):
        attribute(line)


@pytest.mark.parametrize("line", [" " * 500_000 + "'", "'" + "\\a" * 250_000, "a" * 500_000 + '"'])
def test_a_hostile_line_is_refused_in_one_pass(line):
    start = time.process_time()
    with pytest.raises(Fault):
        list(values(line))
    assert time.process_time() - start < 2


def test_a_message_shows_a_piece_that_is_short_and_printable():
    assert short("a\x00b") == r"'a\x00b'"
    assert len(short("x" * 10_000)) < 50
