"""The page of an experiment in a browser: no column is out of sight."""

from mltsk.paper.experiments.definition import section_iv
from mltsk.paper.report.experiment import write_report

from ..paper.conftest import made_results

LAPTOP = 1300
LOADED = "document.readyState === 'complete'"
OUT_OF_SIGHT = """() => [...document.querySelectorAll("table")].filter((table) => {
  const frame = table.parentElement;
  const right = table.getBoundingClientRect().right;
  return right > window.innerWidth || frame.scrollWidth > frame.clientWidth;
}).length"""


def all_methods():
    """What results say of the methods of Section IV and of our default."""
    methods = {}
    for method in section_iv().methods:
        methods[method.key] = {
            "title": method.title,
            "paper": method.paper,
            "params": {},
            "grid": {"K": [1, 2]},
            "settings": 2,
        }
    return methods


def test_tables_of_all_methods_are_in_sight_with_the_papers_method_first(
    browser, tmp_path
):
    write_report(made_results(methods=all_methods()), tmp_path)
    browser.open(tmp_path / "index.html", width=LAPTOP, ready=LOADED)
    assert browser.run(OUT_OF_SIGHT) == 0
    for key in ("ap-paper", "table-3-paper", "table-4-paper", "table-5-paper"):
        heads = browser.texts(f"#{key} thead th")
        assert len(heads) == 11
        assert heads[1].strip() == "ML-TSK FS"
