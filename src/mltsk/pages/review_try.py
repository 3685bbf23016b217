"""The explorer within a review: rows to try, and what the model says of them."""

import numpy as np

from ..core.arrays import spread_rows
from .baselines import take_rows
from .explorer import explorer_parts
from .sections import Review, Section, how_many_rows, samples_of

# Cells of rows to try that a page holds, and rows that it holds in any case.
MAX_TRIED_CELLS = 200_000
MIN_TRIED_ROWS = 50


def try_section(review: Review) -> Section:
    """An explorer of the model, with as many rows as the page has room for."""
    table = review.table
    limit = max(MAX_TRIED_CELLS // len(table.feature_names), MIN_TRIED_ROWS)
    rows = np.arange(len(table))[spread_rows(len(table), limit)]
    ids = table.ids.iloc[rows] if len(table.ids.columns) else None
    parts = explorer_parts(
        review.whole,
        take_rows(samples_of(table), rows),
        table.Y.iloc[rows],
        ids=ids,
        edits=False,  # no file holds the model of a review
        max_labels=review.max_labels,
    )
    return Section(
        key="try",
        title="Try it",
        bar_title="Try it",
        template="review/try.html",
        facts={
            "markup": parts["markup"],
            "data": parts["data"],
            "some": how_many_rows(len(rows), len(table)),
            "n_taken": review.compared.n_statements if review.takes_short else None,
        },
        styles=(parts["style"],),
        scripts=(parts["script"],),
    )
