"""The report of an experiment: one page, and every table and figure as files next to it.

`Results` → tables, comparisons, sentences, pictures → files. Nothing is computed again that a run has left
behind. Files appear whole or not at all, and the page last, so that it never names a file that is not there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...io import writing
from ...report.render import _template, _trusted
from ..experiments.protocol_worth import protocol_table, worth_table
from ..experiments.published import TABLES
from ..experiments.ranks import Comparison, comparisons, rank_table, table_six, widest_sources
from ..experiments.results import Results
from ..experiments.studies import STUDIES
from ..experiments.summary import Headline, Section, headlines, paper_gaps, summarise, to_markdown
from ..experiments.table import Table
from ..experiments.tables import result_table, table_one, table_two, time_table
from .captions import study_caption
from .figures import STUDY_FIGURES, closeness_picture, protocol_picture, rank_pictures
from .pictures import Picture, picture
from .table_files import to_csv, to_latex
from .table_files import to_markdown as table_markdown

PROTOCOLS = {
    "paper": "As the authors ran it: features are scaled and clustered on all rows before the split, folds are "
    "consecutive slices of a random order, settings are chosen on the folds that are reported, metrics are theirs. "
    "Test rows have been seen and the choice flatters; this is for comparison with the printed tables.",
    "strict": "Everything is fitted inside the training folds, which are stratified over labels. Settings are still "
    "chosen on the reported folds, so values flatter a little.",
    "nested": "Inner folds of the training rows choose the settings and outer folds report: nothing of the reported "
    "rows has been seen. This is the one for claims.",
}
_TITLE = "Experiments of ML-TSK FS, repeated"


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, before it is rendered; tables and pictures by part of the page."""

    results: Results
    sections: Sequence[Section]
    headlines: Sequence[Headline]
    tables: Mapping[str, Sequence[Table]]
    pictures: Mapping[str, Sequence[Picture]]
    ranks: Mapping[str, Sequence[Picture]]


def write_report(results: Results, out: str | Path) -> list[Path]:
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
    paths = [_write(Path(out) / name, content) for name, content in _files(report)]
    return [_write(Path(out) / "index.html", page(report)), *paths]


def build(results: Results) -> Report:
    """Compare, tabulate, draw and put into words."""
    found, gaps = comparisons(results), paper_gaps(results)
    return Report(
        results=results,
        sections=summarise(results, gaps, found),
        headlines=headlines(results, gaps, found),
        tables=_tables(results, found),
        pictures={
            "closeness": closeness_picture(gaps),
            "protocols": protocol_picture(results),
            "studies": list(study_pictures(results)),
        },
        ranks=rank_pictures(found),
    )


def page(report: Report) -> str:
    """The whole report as one HTML page."""
    run, cells = report.results.run, report.results.cells
    return _template("experiment.html", __package__).render(
        title=_TITLE,
        run=run,
        protocols={name: PROTOCOLS.get(name, "") for name in run["protocols"]},
        headlines=report.headlines,
        sections=report.sections,
        tables=report.tables,
        pictures={part: list(map(_shown, drawn)) for part, drawn in report.pictures.items()},
        ranks={source: list(map(_shown, drawn)) for source, drawn in report.ranks.items()},
        errors=cells[cells["status"] == "failed"].to_dict("records"),
    )


def _tables(results: Results, found: Sequence[Comparison]) -> dict[str, list[Table]]:
    tables = {
        "set-up": [table_one(results), table_two(results)],
        **{f"results-{p}": [result_table(results, n, p) for n in TABLES] for p in results.run["protocols"]},
        "protocols": [worth_table(results), protocol_table(results)],
        "ranks": [table_six(found), *(rank_table(found, source) for source in widest_sources(found))],
        "time": [time_table(results)],
    }
    return {part: [table for table in made if table is not None] for part, made in tables.items()}


def study_pictures(results: Results) -> Iterator[Picture]:
    """One per study that the run has finished, in the order of the paper, data sets in the order of the run."""
    order = dict.fromkeys([*results.run.get("datasets", {}), *(dataset for _, dataset in results.studies)])
    for name, study in STUDIES.items():
        found = {d: results.studies[name, d] for d in order if (name, d) in results.studies}
        if found:
            title = f"{study.paper}: {study.title}"
            yield picture(STUDY_FIGURES[name](found), name, title, study_caption(name, found))


def _shown(drawn: Picture) -> dict[str, Any]:
    return {"key": drawn.key, "title": drawn.title, "caption": drawn.caption, "svg": _trusted(drawn.inline)}


def _files(report: Report) -> Iterator[tuple[str, str | bytes]]:
    """Names below the report's folder and contents, of everything but the page."""
    for table in (table for tables in report.tables.values() for table in tables):
        for kind, render in (("csv", to_csv), ("md", table_markdown), ("tex", to_latex)):
            yield f"tables/{table.key}.{kind}", render(table)
    for drawn in (drawn for group in (*report.pictures.values(), *report.ranks.values()) for drawn in group):
        yield f"figures/{drawn.key}.svg", drawn.svg
        yield f"figures/{drawn.key}.png", drawn.png
    command = report.results.run.get("command")
    head = f"# {_TITLE}\n\n`{command}`\n\n" if command else ""
    yield "summary.md", head + to_markdown(report.sections)


def _write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path
