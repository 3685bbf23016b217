"""Encodings of text that is not UTF-8, told by the letters of its words."""

import io

import pytest

from mltsk.tables.delimited import read_text_rows
from mltsk.tables.encodings import foreign_words, likely_encoding

WORDS = {
    "cp1250": [
        "Płeć mężczyzna kobieta Dochód",
        "Věk Kouření žena muž příležitostně",
        "Köszvény nő férfi",
        "Čas žena šest",
    ],
    "cp1254": ["Yaş Kadın Astım Hayır", "Öğrenci", "Kadın ağır", "İsim Yaş kadın"],
    "cp1257": ["Lytis Amžius vėžys sergančių"],
    "iso8859-2": ["Płeć mężczyzna ślad źrebię"],
    "mac-roman": ["Größe männlich", "Prénom Âge garçon"],
    "cp850": ["Größe männlich"],
    "cp1252": [
        "Größe Übelkeit",
        "Prénom âge Année",
        "Ærø Åsa smørrebrød",
        "Þórður Guðrún háð",
        "não coração",
        "España niño así",
        "25 °C µg m² Nm³h cm³",
        "Größe à jeun Prénom Zoë Åsa",
        "naïve Été à",
        "così è",
        "“quoted” – …",
    ],
}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [(encoding, text) for encoding, texts in WORDS.items() for text in texts],
)
def test_likely_encoding_knows_letters_of_one_language(encoding, text):
    words = foreign_words(io.BytesIO(text.encode(encoding)))
    assert likely_encoding(words) == encoding


def test_likely_encoding_is_the_usual_one_without_a_word():
    assert likely_encoding([]) == "cp1252"


def test_foreign_words_are_not_cut_between_blocks():
    text = "a " * 32767 + "Płeć\n" + "b " * 9
    assert foreign_words(io.BytesIO(text.encode("cp1250"))) == ["Płeć".encode("cp1250")]


def test_read_text_rows_says_which_encoding_was_found(tmp_path):
    path = tmp_path / "polish.csv"
    path.write_bytes("Wiek,Płeć\n51,mężczyzna\n".encode("cp1250"))
    text = read_text_rows(path)
    assert text.rows == [["Wiek", "Płeć"], ["51", "mężczyzna"]]
    assert text.notes == [
        "not UTF-8: read as Windows-1250 ('Płeć'); --encoding to overrule"
    ]
    assert read_text_rows(path, "cp1252").rows[0][1] == "P³eæ"
