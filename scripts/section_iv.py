"""From a run of Section IV to the documentation: ``python scripts/section_iv.py RUN``.

``python scripts/section_iv.py --formulas RUN`` writes nothing but the table of the
paper's text and program, from a run of ``mltsk reproduce --grid paper -m
ml-tsk-fs,ml-tsk-fs-text,ml-tsk-fs-text-underflow -p paper``.

Further folders give the times of methods that the run itself computed on a GPU. Writes
``docs/results/section_iv/``, a file per table and list of sentences, the figures of the
page, and the seconds by which `mltsk reproduce` estimates its time; then puts tables
and lists where pages have a mark for them.
"""

import re
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from mltsk.paper.experiments import reproduce
from mltsk.paper.experiments.published import CONTROL, METRICS, published_table
from mltsk.paper.experiments.ranks import comparisons
from mltsk.paper.experiments.results import Results
from mltsk.paper.experiments.store import Store
from mltsk.paper.experiments.summary import paper_gaps, summarise
from mltsk.paper.experiments.tables import ap_table, readings_table, worth_table
from mltsk.paper.report.experiment import study_pictures, table_text
from mltsk.paper.report.figures import (
    Picture,
    closeness_picture,
    protocol_picture,
    rank_pictures,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
RESULTS_FOLDER = DOCS / "results" / "section_iv"
IMAGES_FOLDER = DOCS / "images" / "section_iv"
MARK = re.compile(
    r"(^<!-- results: ((?:\.\./)*results/section_iv/\S+) -->\n)((?:[|-].*\n?)*)", re.M
)


def main(folders: Sequence[str]) -> None:
    """Write everything that the pages show of a run."""
    if folders[0] == "--formulas":
        write_formulas(folders[1])
        return
    results, *timed = map(read, folders)
    RESULTS_FOLDER.mkdir(parents=True, exist_ok=True)
    texts = tables(results) | sentences(results)
    for name, text in texts.items():
        (RESULTS_FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
    for picture in pictures(results):
        (IMAGES_FOLDER / f"{picture.key}.png").write_bytes(picture.png)
    write_times([results, *timed])
    for page in DOCS.rglob("*.md"):
        fill_marks(page)


def write_formulas(folder: str) -> None:
    """Write the table of text and program, and put it where pages have a mark."""
    path = RESULTS_FOLDER / "program-and-text.md"
    path.write_text(program_and_text(read(folder)), encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        fill_marks(page)


def read(folder: str) -> Results:
    """What a run has left in its folder."""
    with Store.open(folder) as store:
        return store.results()


def write_times(runs: Sequence[Results]) -> None:
    """Write the seconds that methods took, sorted, under one header."""
    measured = "".join(map(reproduce.measured, runs))
    header, *lines = measured.splitlines(keepends=True)
    times = sorted(line for line in lines if line != header)
    path = Path(reproduce.__file__).with_name("seconds.csv")
    path.write_text(header + "".join(times), encoding="utf-8")


def fill_marks(page: Path) -> None:
    """Put tables and lists where a page has a mark for them."""
    text = page.read_text(encoding="utf-8")

    def filled(mark: re.Match[str]) -> str:
        return mark[1] + (page.parent / mark[2]).read_text(encoding="utf-8")

    new_text = MARK.sub(filled, text)
    if new_text != text:
        page.write_text(new_text, encoding="utf-8")


def tables(results: Results) -> dict[str, str]:
    """The lines of each table, without title and caption."""
    candidates = [ap_table(results, protocol) for protocol in results.protocols]
    candidates += [readings_table(results), worth_table(results)]
    texts = {}
    for table in candidates:
        if table:
            lines = re.findall(r"^\|.*\n", table_text(table, "md"), re.M)
            texts[table.key] = "".join(lines)
    return texts


def program_and_text(results: Results) -> str:
    """ML-TSK FS as run, as printed, and as printed with the program's underflow.

    Settings are chosen by AP; a line per data set, in brackets the paper's values.
    """
    keys = ("ml-tsk-fs", "ml-tsk-fs-text", "ml-tsk-fs-text-underflow")
    choices = results.choices["paper", "AP"]
    means = choices.set_index(["dataset", "method", "metric"])["mean"]
    printed = published_table("III")
    lines = [f"| data set | {' | '.join(METRICS)} |\n|---|{'---|' * len(METRICS)}\n"]
    for dataset in results.datasets:
        cells = []
        for metric in METRICS:
            ours = [f"{means[dataset, key, metric]:.3f}" for key in keys]
            paper = printed[dataset, metric, CONTROL].mean
            cell = f"{', '.join(ours)} ({paper:.2f})"
            cells.append(cell.replace("0.", "."))
        if "nan" not in "".join(cells):
            title = results.dataset_title(dataset)
            lines.append(f"| {title} | {' | '.join(cells)} |\n")
    return "".join(lines)


def sentences(results: Results) -> dict[str, str]:
    """The summary, a list per section."""
    lists = {}
    for section in summarise(results, paper_gaps(results), comparisons(results)):
        name = re.sub(r"\W+", "-", section.title.lower())
        lists[name] = "".join(f"- {line}\n" for line in section.sentences)
    return lists


def pictures(results: Results) -> list[Picture]:
    """The figures of the page: closeness, protocols, studies, and mean ranks by AP."""
    by_ap = []
    for picture in chain(*rank_pictures(comparisons(results)).values()):
        if picture.key.endswith("-ap") and "strict" not in picture.key:
            by_ap.append(picture)
    return [
        *closeness_picture(paper_gaps(results)),
        *protocol_picture(results),
        *study_pictures(results),
        *by_ap,
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
