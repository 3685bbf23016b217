"""The report of an experiment: one page, and every table and figure as files beside it.

`Results` → choices → tables, comparisons, sentences, pictures → files. Nothing is computed again that a run has left
behind. Files appear whole or not at all, and the page last, so that it never names a file that is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...io import writing
from ...pages.render import _template, _trusted
from ..experiments.headlines import Headline, headlines
from ..experiments.protocol_tables import protocol_table, worth_table
from ..experiments.rank_tables import Comparison, comparisons, rank_table, table_six, widest_sources
from ..experiments.results import Results
from ..experiments.selection import chosen_all
from ..experiments.summary import Section, main_protocol, paper_gaps, summarise, to_markdown
from ..experiments.table import Table
from ..experiments.tables import result_table, table_one, table_two
from ..experiments.time_table import time_table
from .experiment_figures import closeness_picture, protocol_picture, rank_pictures
from .pictures import Picture
from .study_pages import Study, study_parts
from .table_html import to_html
from .table_text import to_csv, to_latex
from .table_text import to_markdown as table_markdown

PROTOCOLS = {
    "paper": "As the authors ran it: features are scaled and clustered on all rows before the split, folds are "
    "consecutive slices of a random order, settings are chosen on the folds that are reported, metrics are theirs. "
    "Test rows have been seen and the choice flatters; this is for comparison with the printed tables.",
    "strict": "Everything is fitted inside the training folds, which are stratified over labels. Settings are still "
    "chosen on the reported folds, so values flatter a little.",
    "nested": "Inner folds of the training rows choose the settings and outer folds report: nothing of the reported "
    "rows has been seen. This is the one for claims.",
}


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, before it is rendered."""

    results: Results
    sections: Sequence[Section]
    tables: Mapping[str, Sequence[Table]]  # by part of the page
    pictures: Mapping[str, Sequence[Picture]]
    ranks: Mapping[str, Sequence[Picture]]
    headlines: Sequence[Headline]
    studies: Sequence[Study]


def write_report(results: Results, out: Path) -> list[Path]:
    """Write ``out/index.html``, ``tables/``, ``figures/`` and ``summary.md``.

    Parameters
    ----------
    results : Results
        What a run has finished so far; it may be incomplete.
    out : Path
        A folder; made if it is not there.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    report = build(results)
    out = Path(out)
    paths = [
        *(_write(out / name, content) for table in all_tables(report) for name, content in table_files(table).items()),
        *(_write(out / name, data) for drawn in all_pictures(report) for name, data in picture_files(drawn).items()),
        _write(out / "summary.md", _summary_page(report).encode()),
    ]
    return [_write(out / "index.html", page(report).encode()), *paths]


def build(results: Results) -> Report:
    """Choose, compare, tabulate, draw and put into words."""
    choices = chosen_all(results)
    found, gaps = comparisons(results, choices), paper_gaps(results, choices)
    drawn = {
        "closeness": closeness_picture(gaps),
        "protocols": protocol_picture(results, choices),
    }
    return Report(
        results=results,
        sections=summarise(results, choices, found),
        tables=_tables(results, choices, found),
        pictures={part: [p] if p else [] for part, p in drawn.items()},
        ranks=rank_pictures(found),
        headlines=headlines(results, choices, gaps, found),
        studies=study_parts(results),
    )


def page(report: Report) -> str:
    """The whole report as one HTML page."""
    run = report.results.run
    return _template("experiment.html", __package__).render(
        title="Experiments of ML-TSK FS, repeated",
        run=run,
        protocols={name: PROTOCOLS.get(name, "") for name in run["protocols"]},
        first=main_protocol(report.results),
        headlines=report.headlines,
        sections=report.sections,
        tables={part: [_shown(table) for table in tables] for part, tables in report.tables.items()},
        pictures={key: [_drawn(p) for p in drawn] for key, drawn in report.pictures.items()},
        ranks={source: [_drawn(p) for p in drawn] for source, drawn in report.ranks.items()},
        studies=[{"title": s.title, "pictures": [_drawn(p) for p in s.pictures]} for s in report.studies],
        errors=_errors(report.results),
    )


def all_tables(report: Report) -> list[Table]:
    """Every table once."""
    return [table for tables in report.tables.values() for table in tables]


def all_pictures(report: Report) -> list[Picture]:
    """Every picture once."""
    groups = [*report.pictures.values(), *report.ranks.values(), *(study.pictures for study in report.studies)]
    return [drawn for group in groups for drawn in group]


def table_files(table: Table) -> dict[str, bytes]:
    """A table's files by their names below the report's folder."""
    texts = {"csv": to_csv(table), "md": table_markdown(table), "tex": to_latex(table)}
    return {f"tables/{table.key}.{kind}": text.encode() for kind, text in texts.items()}


def picture_files(drawn: Picture) -> dict[str, bytes]:
    """A picture's files by their names below the report's folder."""
    return {f"figures/{drawn.key}.svg": drawn.svg, f"figures/{drawn.key}.png": drawn.png}


def _tables(results: Results, choices: Any, found: Sequence[Comparison]) -> dict[str, list[Table]]:
    protocols = results.run["protocols"]
    ranks = [rank_table(found, source) for source in widest_sources(found)]
    worth = [worth_table(results, choices), protocol_table(results, choices)]
    times = time_table(results)
    return {
        "set-up": [table_one(results), table_two(results)],
        **{f"results-{p}": [result_table(results, choices, n, p) for n in ("III", "IV", "V")] for p in protocols},
        "protocols": [table for table in worth if table is not None],
        "ranks": [table_six(found), *(table for table in ranks if table is not None)],
        "time": [] if times is None else [times],
    }


def _shown(table: Table) -> dict[str, Any]:
    return {"key": table.key, "title": table.title, "caption": table.caption, "html": _trusted(to_html(table))}


def _drawn(drawn: Picture) -> dict[str, Any]:
    return {"key": drawn.key, "title": drawn.title, "caption": drawn.caption, "svg": _trusted(drawn.inline)}


def _errors(results: Results) -> list[dict[str, Any]]:
    """Every failed piece of work, for the end of the page."""
    cells = results.cells
    return cells[cells["status"] == "failed"].to_dict("records")


def _summary_page(report: Report) -> str:
    run = report.results.run
    head = f"# Experiments of ML-TSK FS, repeated\n\n{run.get('command', '')}\n\n" if run.get("command") else ""
    return head.replace(str(run.get("command")), f"`{run.get('command')}`") + to_markdown(report.sections)


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content)
    return path
