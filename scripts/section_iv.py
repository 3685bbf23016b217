"""From a run of Section IV to the documentation: ``python scripts/section_iv.py section4``.

Further folders give the times of methods that the run itself computed on a GPU. Writes ``docs/results/section_iv/``, a
file per table and list of sentences, the figures of the page, and the seconds by which `mltsk reproduce` estimates its
time; then puts tables and lists where pages have a mark for them.
"""

import re
import sys
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
    closeness_picture,
    protocol_picture,
    rank_pictures,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
PLACE = DOCS / "results" / "section_iv"
MARK = re.compile(
    r"(^<!-- results: ((?:\.\./)*results/section_iv/\S+) -->\n)((?:[|-].*\n?)*)", re.M
)


def main(folders: list[str]) -> None:
    """Write everything that the pages show of a run."""
    results, *timed = map(read, folders)
    PLACE.mkdir(parents=True, exist_ok=True)
    parts = {
        **tables(results),
        **sentences(results),
        "program-and-text": program_and_text(results),
    }
    for name, text in parts.items():
        (PLACE / f"{name}.md").write_text(text, encoding="utf-8")
    for drawn in pictures(results):
        (DOCS / "images" / "section_iv" / f"{drawn.key}.png").write_bytes(drawn.png)
    head, *lines = "".join(map(reproduce.measured, (results, *timed))).splitlines(
        keepends=True
    )
    times = head + "".join(sorted(line for line in lines if line != head))
    Path(reproduce.__file__).with_name("seconds.csv").write_text(
        times, encoding="utf-8"
    )
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        filled = MARK.sub(
            lambda mark, page=page: (
                mark[1] + (page.parent / mark[2]).read_text(encoding="utf-8")
            ),
            text,
        )
        if filled != text:
            page.write_text(filled, encoding="utf-8")


def read(folder: str) -> Results:
    """What a run has left in its folder."""
    with Store.open(folder) as store:
        return store.results()


def tables(results: Results) -> dict[str, str]:
    """The lines of each table, without title and caption."""
    made = [
        *(ap_table(results, protocol) for protocol in results.protocols),
        readings_table(results),
    ]
    made.append(worth_table(results))
    return {
        table.key: "".join(re.findall(r"^\|.*\n", table_text(table, "md"), re.M))
        for table in made
        if table
    }


def program_and_text(results: Results) -> str:
    """ML-TSK FS as run and as printed, settings chosen by AP, next to the paper's values: a line per data set."""
    frame, printed = (
        results.choices["paper", "AP"].set_index(["dataset", "method", "metric"])[
            "mean"
        ],
        published_table("III"),
    )
    lines = [f"| data set | {' | '.join(METRICS)} |\n|---|{'---|' * len(METRICS)}\n"]
    for dataset in results.datasets:
        values = [
            [frame[dataset, key, m] for key in ("ml-tsk-fs", "ml-tsk-fs-text")]
            for m in METRICS
        ]
        paper = [printed[dataset, m, CONTROL].mean for m in METRICS]
        cells = [
            f"{a:.3f}, {b:.3f} ({c:.2f})".replace("0.", ".")
            for (a, b), c in zip(values, paper, strict=True)
        ]
        if "nan" not in "".join(cells):
            lines.append(
                f"| {results.dataset_title(dataset)} | {' | '.join(cells)} |\n"
            )
    return "".join(lines)


def sentences(results: Results) -> dict[str, str]:
    """The summary, a list per section."""
    sections = summarise(results, paper_gaps(results), comparisons(results))
    names = [re.sub(r"\W+", "-", section.title.lower()) for section in sections]
    return {
        name: "".join(f"- {line}\n" for line in s.sentences)
        for name, s in zip(names, sections, strict=True)
    }


def pictures(results: Results) -> list:
    """The figures of the page: closeness, protocols, studies, and mean ranks by AP."""
    ranks = [
        picture
        for drawn in rank_pictures(comparisons(results)).values()
        for picture in drawn
    ]
    by_ap = [
        picture
        for picture in ranks
        if picture.key.endswith("-ap") and "strict" not in picture.key
    ]
    return [
        *closeness_picture(paper_gaps(results)),
        *protocol_picture(results),
        *study_pictures(results),
        *by_ap,
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
