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
    '"': "''",
    "«": r"$\ll$",
    "»": r"$\gg$",
    # after a line break these two would begin an option
    "[": "{[}",
    "*": "{*}",
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
# The fonts that LaTeX takes by itself (OT1) stop at these: an ogonek is drawn as a
# cedilla, and the others are told by their code point.
OGONEK_LETTERS = dict(zip("ĄąĘęĮįŲų", "AaEeIiUu", strict=True))
LETTERS_WITHOUT_FONT = "ÐÞðþĐđĦħĸĿŀŉŊŋŦŧſ"
# Commands of Greek letters, which laboratories write in names such as ΔpH and γ-GT.
GREEK_LETTERS = {
    "Γ": "Gamma",
    "Δ": "Delta",
    "Θ": "Theta",
    "Λ": "Lambda",
    "Ξ": "Xi",
    "Π": "Pi",
    "Σ": "Sigma",
    "Υ": "Upsilon",
    "Φ": "Phi",
    "Ψ": "Psi",
    "Ω": "Omega",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "ζ": "zeta",
    "η": "eta",
    "θ": "theta",
    "ι": "iota",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ξ": "xi",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "ς": "varsigma",
    "τ": "tau",
    "υ": "upsilon",
    "φ": "varphi",
    "χ": "chi",
    "ψ": "psi",
    "ω": "omega",
}


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it; what no usual font has becomes its code point.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b — χ²"))
    50 \% of a\_b --- $\chi$$^2$
    >>> print(escape_latex("ΔpH"))
    $\Delta$pH
    >>> print(escape_latex("語"))
    \texttt{U+8A9E}
    """
    return "".join(map(_latex_letter, text))


def _latex_letter(letter: str) -> str:
    """One letter as LaTeX prints it, with the fonts that it takes by itself."""
    if letter in LATEX_LETTERS:
        return LATEX_LETTERS[letter]
    if letter in GREEK_LETTERS:
        return rf"$\{GREEK_LETTERS[letter]}$"
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if letter in OGONEK_LETTERS:
        return rf"\c{{{OGONEK_LETTERS[letter]}}}"
    if "\xa0" <= letter <= "\u017f" and letter not in LETTERS_WITHOUT_FONT:
        return letter
    return rf"\texttt{{U+{ord(letter):04X}}}"
