"""Texts and pages of a model of 1,000 labels.

500 rows × 20 features × 1,000 labels. Processor seconds of the text of the rules, the
explorer and a quick review, and how many fits that is; the aim is 20 seconds for each.
With ``--full`` also the text of 20,000 labels, of a model without exceptions, which has
few statements per label.
"""

import tempfile
import warnings
from pathlib import Path

from benchmarks import Options, made_up, print_table, processor_timed
from mltsk import MLTSKClassifier, explore, review

N_ROWS = 500
N_FEATURES = 20
N_LABELS = 1_000
N_LABELS_OF_TEXT = 20_000


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    X, Y = made_up(N_ROWS, N_FEATURES, N_LABELS)
    clf, fit = processor_timed(MLTSKClassifier().fit, X, Y)
    text, of_text = processor_timed(str, clf.rules_)
    with tempfile.TemporaryDirectory() as folder:
        explorer = Path(folder) / "explorer.html"
        _, of_explorer = processor_timed(explore, clf, explorer, X, Y)
        page = Path(folder) / "review.html"
        _, of_review = processor_timed(quick_review, X, Y, page)
        rows = [
            row("text of the rules", N_LABELS, of_text, fit, len(text)),
            row("explorer", N_LABELS, of_explorer, fit, explorer.stat().st_size),
            row("quick review", N_LABELS, of_review, fit, page.stat().st_size),
        ]
    if options.full:
        rows.append(row_of_very_many_labels())
    print_table(["page", "labels", "seconds", "fits", "kB"], rows)


def quick_review(X: object, Y: object, path: Path) -> Path:
    return review(X, path, Y, quick=True)


def row_of_very_many_labels() -> list[object]:
    X, Y = made_up(N_ROWS, N_FEATURES, N_LABELS_OF_TEXT)
    clf, fit = processor_timed(MLTSKClassifier(n_rules=0).fit, X, Y)
    text, seconds = processor_timed(str, clf.rules_)
    return row("text of the rules", N_LABELS_OF_TEXT, seconds, fit, len(text))


def row(
    page: str, n_labels: int, seconds: float, fit: float, n_bytes: int
) -> list[object]:
    return [
        page,
        f"{n_labels:,}",
        f"{seconds:.1f}",
        f"{seconds / fit:.1f}",
        f"{n_bytes / 1000:,.0f}",
    ]
