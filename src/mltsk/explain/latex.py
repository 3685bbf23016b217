"""Text as LaTeX prints it."""

LATEX_LETTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    # after a line break these two would begin an option
    "[": "{[}",
    "*": "{*}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "ε": r"$\varepsilon$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "²": "$^2$",
    "∈": r"$\in$",
    "∞": r"$\infty$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "Ȳ": r"$\bar{Y}$",
}


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it; what no usual font has becomes its code point.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b — χ²"))
    50 \% of a\_b --- $\chi$$^2$
    >>> print(escape_latex("語"))
    \texttt{U+8A9E}
    """
    return "".join(map(_latex_letter, text))


def _latex_letter(letter: str) -> str:
    """One letter as LaTeX prints it."""
    if letter in LATEX_LETTERS:
        return LATEX_LETTERS[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if "\xa0" <= letter <= "\u017f":
        return letter
    return rf"\texttt{{U+{ord(letter):04X}}}"
