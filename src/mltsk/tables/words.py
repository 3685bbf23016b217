"""Words that cells hold instead of a number: for yes, for no, for "nobody knows".

All are in small letters. `mltsk.datasets` reads files that were made for programs, and
knows fewer of them.
"""

import re

from mltsk.datasets.dataset import NO, YES

# Words for a missing cell, in any mixture of capitals. "none" and "-" are not among
# them: both can be an answer.
MISSING_WORDS = frozenset(
    [
        *("", "?", "na", "n/a", "nan", "-nan", "null", "<na>", "nat"),
        *("\\n", "(null)", "<null>", "[null]"),  # as data bases write it
    ]
)
# Errors of spreadsheets in the languages of their makers: #DIV/0!, #WERT!, #¿NOMBRE?;
# without a sign at the end, those for a value that is not available.
_ERROR = re.compile(
    r"#[¡¿]?[\w/]{2,14}[!?]|#(?:n/?[abdv]|nv|н/д|i/t|yok|hiányzik|spill!|calc!)"
)
# Yes and no as spreadsheets have them: German, French, Spanish, Italian, Portuguese,
# Dutch, Russian, Polish, Czech, Turkish, Arabic, Hindi, Chinese, Japanese, Korean;
# Finnish, Hungarian, Romanian, Ukrainian, Greek, Hebrew, Persian, Indonesian,
# Vietnamese, Bengali, Thai; Bulgarian, Slovak, Lithuanian, Latvian, Estonian, Swahili,
# Urdu, Tamil, Basque; "nej" and "nei" of the North. Then boxes, and true and false.
YES_WORDS = YES | frozenset(
    [
        *("ja", "jawohl"),
        "j",
        "oui",
        "si",
        "sí",
        "sì",
        "sim",
        "да",
        "tak",
        "ano",
        "evet",
        "نعم",
        "हाँ",
        "हां",
        "是",
        "はい",
        *("예", "네", "有", "あり", "есть", "var"),
        *("kyllä", "igen", "da", "так", "ναι", "כן", "بله", "ya", "có", "হ্যাঁ", "ใช่"),
        *("áno", "taip", "jā", "jah", "ndiyo", "ہاں", "ஆம்", "bai"),
        "✓",
        "✔",
        "☑",
        "☒",
        "✅",
        *("[x]", "(x)", "[✓]", "[✔]"),
        "checked",
        *("wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar", "истина"),
        *("prawda", "pravda", "igaz", "doğru", "tosi", "sant", "sann"),
        *("adevărat", "αληθες", "істина"),
    ]
)
NO_WORDS = NO | frozenset(
    [
        "nein",
        "non",
        "não",
        "nao",
        "nee",
        "нет",
        "nie",
        "ne",
        "hayır",
        "hayir",
        "لا",
        "नहीं",
        "否",
        "いいえ",
        *("아니요", "아니오", "无", "無", "なし", "yok"),
        *("nej", "nei", "ei", "nem", "nu", "ні", "όχι", "לא", "خیر", "tidak", "không"),
        *("না", "ไม่", "ไม่ใช่"),
        *("не", "οχι", "nē", "hapana", "نہیں", "இல்லை", "ez"),
        "✗",
        "✘",
        "☐",
        "❌",
        *("[ ]", "( )", "[]", "()"),
        "unchecked",
        *("falsch", "faux", "falso", "onwaar", "ложь"),
        *("fałsz", "nepravda", "hamis", "yanlış", "yanliş", "epätosi", "falskt"),
        *("falsk", "usann", "fals", "ψευδες", "хибність"),
    ]
)
# Signs of a box that was ticked, where all other cells are blank.
TICKS = frozenset({"x", "✓", "✔", "☑", "☒", "✅", "✗", "✘", "*", "•", "+"})
# What people write where they do not know: never a yes, and no number.
UNKNOWN_WORDS = frozenset(
    {
        "unknown",
        "unk",
        "not known",
        "not done",
        "not tested",
        "not available",
        "not applicable",
        "missing",
        "undetermined",
        "not recorded",
        *("not stated", "not asked", "no answer", "n/k", "don't know", "do not know"),
        *("não sei", "nao sei", "não sabe", "ignorado", "sem informação", "no sé"),
        *("nsp", "ns/nr", "ns/nc", "ne sais pas", "no contesta", "sin dato"),
        *("sin datos", "non so", "weet niet", "nie wiem", "brak danych", "bilmiyorum"),
        *("nevím", "nem tudom", "vet ej", "vet ikke", "bilinmiyor", "не знаю"),
        *("(blank)", "(leer)", "(vide)"),
        *("refused", "declined", "prefer not to say", "prefer not to answer"),
        *("weiß nicht", "weiss nicht", "keine angabe", "ne sait pas", "no sabe"),
        *("non noto", "non nota", "non rilevato", "niet bekend", "n.v.t.", "nvt"),
        *("b.d.", "nieznane", "nie dotyczy", "нет данных", "н/д", "неизв."),
        *("non renseigné", "non connu", "sans objet", "no consta", "no aplica"),
        *("não informado", "não se aplica", "keine angaben", "nicht bekannt"),
        *("saknas", "ikke oplyst", "ukjent", "ukendt", "okänt", "ei tietoa"),
        "not measured",
        "no data",
        "n.a.",
        "k.a.",
        "k. a.",
        "unbekannt",
        "inconnu",
        "desconocido",
        "sconosciuto",
        "desconhecido",
        "onbekend",
        "неизвестно",
        "不明",
        "未知",
    }
)
# Beside yes and no, also the point that SAS writes.
NOT_OBSERVED_WORDS = UNKNOWN_WORDS | {"."}
# Among numbers, these mean that there is none.
NO_NUMBER_WORDS = UNKNOWN_WORDS | {
    "-",
    "--",
    "---",
    "–",
    "—",
    ".",
    "..",
    "...",
    "nd",
    "n.d.",
    "n/d",
    "nr",
    "n.r.",
    "nm",
    "s/d",
    "pending",
    "error",
}
# In a list of labels, the word for none at all.
NO_LABEL_WORDS = frozenset(
    [
        *("none", "no label", "no", "nil", "nothing"),
        *("keine", "aucun", "aucune", "ninguno", "ninguna", "nessuno", "nessuna"),
        *("nenhum", "nenhuma", "geen", "brak", "yok", "нет"),
    ]
)
DASHES = ("-", "--", "–", "—", ".")  # that may stand for no value
# Words in an order that people agree on. A column with some of one row may be ordinal.
LADDERS = (
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither", "agree", "strongly agree"),
    (
        *("strongly disagree", "disagree", "neither agree nor disagree", "agree"),
        "strongly agree",
    ),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("not at all", "a little", "moderately", "quite a bit", "extremely"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "med", "high"),
    ("low", "moderate", "high"),
    ("low", "normal", "high"),
    ("none", "mild", "moderate", "severe"),
    ("absent", "mild", "moderate", "severe"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("bad", "good", "better", "best"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("small", "medium", "large"),
    ("-", "+", "++", "+++", "++++"),
    ("★", "★★", "★★★", "★★★★", "★★★★★"),
    ("*", "**", "***", "****", "*****"),
    ("neg", "trace", "+", "++", "+++", "++++"),
    ("neg", "trace", "1+", "2+", "3+", "4+"),
    ("negative", "trace", "1+", "2+", "3+", "4+"),
    ("neg", "trace", "pos"),
    ("negative", "trace", "positive"),
    ("i", "ii", "iii", "iv", "v"),
    ("stage i", "stage ii", "stage iii", "stage iv"),
    ("grade 1", "grade 2", "grade 3", "grade 4"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("leicht", "mittel", "schwer"),
    ("trifft nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft voll zu"),
    ("mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("jamais", "rarement", "parfois", "souvent", "toujours"),
    ("léger", "modéré", "sévère"),
    ("nunca", "casi nunca", "a veces", "casi siempre", "siempre"),
    ("nunca", "raramente", "às vezes", "frequentemente", "sempre"),
    ("leve", "moderado", "grave"),
)


def is_missing_word(word: str) -> bool:
    """Whether a cell, in small letters, holds no value, or the error of a spreadsheet.

    >>> is_missing_word("n/a"), is_missing_word("#wert!"), is_missing_word("#3")
    (True, True, False)
    """
    return word in MISSING_WORDS or _ERROR.fullmatch(word) is not None


def is_no_number(word: str) -> bool:
    """Whether a cell among numbers, in small letters, says that there is none."""
    return word in NO_NUMBER_WORDS or is_missing_word(word)
