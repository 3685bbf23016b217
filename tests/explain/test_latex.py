"""Text as LaTeX prints it."""

import shutil
import subprocess

import pytest

from mltsk.explain.latex import GREEK_LETTERS, LATEX_LETTERS, escape_latex


def test_escape_latex_escapes_every_letter_that_is_read_as_a_command():
    tilde_caret_backslash = r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert escape_latex("$%&#_") == r"\$\%\&\#\_"
    assert escape_latex("~^\\") == tilde_caret_backslash
    assert escape_latex("é\n語") == r"é \texttt{U+8A9E}"


def test_escape_latex_draws_letters_that_the_usual_fonts_lack():
    assert escape_latex("ciąża, γ-GT") == r"ci\c{a}ża, $\gamma$-GT"
    assert escape_latex("Đ") == r"\texttt{U+0110}"


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine"
)
def test_escape_latex_compiles_for_every_letter_of_europe_and_of_formulas(tmp_path):
    letters = [chr(code) for code in [*range(0x20, 0x7F), *range(0xA0, 0x250)]]
    letters += [*LATEX_LETTERS, *GREEK_LETTERS, "語"]
    formulas = [rf"\[x_{{\text{{a{escape_latex(letter)}b}}}}\]" for letter in letters]
    document = [
        r"\documentclass{article}\usepackage{amsmath}\begin{document}",
        *formulas,
        r"\end{document}",
    ]
    (tmp_path / "letters.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-halt-on-error", "letters.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
