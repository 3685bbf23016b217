"""Text as LaTeX prints it."""

from mltsk.explain.latex import escape_latex


def test_escape_latex_escapes_every_letter_that_is_read_as_a_command():
    tilde_caret_backslash = r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert escape_latex("$%&#_") == r"\$\%\&\#\_"
    assert escape_latex("~^\\") == tilde_caret_backslash
    assert escape_latex("é\n語") == r"é \texttt{U+8A9E}"
