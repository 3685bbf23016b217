"""Words that cells hold instead of a number: for yes, for no, for "nobody knows".

All are in small letters. `mltsk.datasets` reads files that were made for programs, and
knows fewer of them.
"""

from mltsk.datasets.dataset import NO, YES

# Words for a missing cell, in any mixture of capitals. "none" and "-" are not among
# them: both can be an answer.
MISSING_WORDS = frozenset(
    {"", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "<na>", "nat"}
)
# Yes and no as spreadsheets have them: German, French, Spanish, Italian, Portuguese,
# Dutch, Russian, Polish, Czech, Turkish, Arabic, Hindi, Chinese, Japanese, Korean.
YES_WORDS = YES | frozenset(
    [
        "ja",
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
        "예",
        "✓",
        "✔",
        "☑",
        "☒",
        "✅",
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
        "아니요",
        "✗",
        "✘",
        "☐",
        "❌",
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
# Among numbers, these mean that there is none.
NO_NUMBER_WORDS = UNKNOWN_WORDS | {
    "-",
    "--",
    "–",
    "—",
    ".",
    "#div/0!",
    "#value!",
    "#ref!",
    "#name?",
    "#num!",
    "#null!",
}
