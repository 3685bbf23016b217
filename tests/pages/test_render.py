"""Pages: escaped, whole or not there."""

from mltsk.pages.render import rules_page, write_page


def test_a_page_of_rules_escapes_its_title():
    assert "<title>Rules of &lt;x&gt;</title>" in rules_page("<p>rules</p>", "<x>")
    assert "<p>rules</p>" in rules_page("<p>rules</p>", "")


def test_a_page_is_written_with_its_folder(tmp_path):
    path = write_page("ünï", tmp_path / "a" / "b" / "index.html")
    assert path.read_text(encoding="utf-8") == "ünï"
