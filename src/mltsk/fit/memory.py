"""How much memory a fit takes at its peak, said before it is taken.

Copies were set by the shapes of ``python -m benchmarks sizes``, which prints the
estimate next to the memory that each took; no other shapes have been compared.

Symbols: N rows that are held, D columns of features, L labels, Q columns of the ridge
problem.
"""

from dataclasses import dataclass

from ..exceptions import InputError
from ..machine import total_memory
from .choose import MAX_KERNEL_ROWS
from .patterns import MAX_BATCH_BYTES
from .rows import MAX_HELD_BYTES

COLUMNS_PER_FEATURE = 7  # six ramps and a line, where rows are dense
N_RULES_AND_PAIRS = 500  # that a default fit takes at most, where there are many rows
N_PAIRS = 150  # of them, which are columns of all rows
OVERHEAD_BYTES = 1e8  # of what leave-one-out compares on a thousand rows
CELL_BYTES = 8
STORED_CELL_BYTES = 12  # of sparse rows: a number and its position
COPIES_OF_ROWS = 3.0
COPIES_OF_COLUMNS = 3.0
COPIES_OF_LABELS = 2.5
COPIES_OF_CONSEQUENTS = 8.0
COPIES_OF_SQUARES = 2.0


@dataclass(frozen=True)
class FitSize:
    """What decides how much memory a fit takes.

    ``n_cells`` are the stored cells of sparse rows, None for dense rows; ``n_patterns``
    are the groups of labels that were observed in different rows; ``n_labels`` is 0
    where they are not known yet.
    """

    n_rows: int
    n_columns: int
    n_labels: int
    n_patterns: int = 1
    n_cells: int | None = None

    @property
    def n_terms(self) -> int:
        """Terms of the general rule, at most."""
        per_feature = 1 if self.n_cells is not None else COLUMNS_PER_FEATURE
        return per_feature * self.n_columns

    def parts(self, memory: int) -> dict[str, float]:
        """Bytes at the peak by what they depend on, where there is so much memory."""
        N = self.n_rows
        Q = self.n_terms + min(N, N_RULES_AND_PAIRS)
        cells = N * self.n_columns * CELL_BYTES
        columns = N * (self.n_terms + min(N, N_PAIRS)) * CELL_BYTES
        if self.n_cells is not None:
            cells = self.n_cells * STORED_CELL_BYTES
            columns = cells + N * min(N, N_RULES_AND_PAIRS) * CELL_BYTES
        square = CELL_BYTES * float(min(N, Q)) ** 2
        if self.n_cells is not None and N <= MAX_KERNEL_ROWS:
            square = CELL_BYTES * float(N) ** 2  # slopes in every exception: the dual
        if COPIES_OF_SQUARES * square > memory / 5:  # then products are used instead
            square = 0.0
        of_patterns = min(MAX_BATCH_BYTES, self.n_patterns * square)
        if self.n_patterns == 1:
            of_patterns = 0.0
        return {
            "rows": OVERHEAD_BYTES
            + COPIES_OF_ROWS * cells
            + COPIES_OF_COLUMNS * min(columns, MAX_HELD_BYTES)
            + COPIES_OF_SQUARES * (square + of_patterns),
            "labels": CELL_BYTES
            * self.n_labels
            * (COPIES_OF_LABELS * N + COPIES_OF_CONSEQUENTS * Q),
        }

    def peak(self, memory: int) -> float:
        """Bytes that a default fit takes at its peak, about."""
        return sum(self.parts(memory).values())

    def check(self) -> None:
        """Refuse a fit that takes more memory than there is, with what to do."""
        memory = total_memory()
        parts = self.parts(memory)
        peak = sum(parts.values())
        if peak <= memory:
            return
        advice = "take fewer columns or fewer rows"
        if parts["labels"] > parts["rows"]:
            advice = "fit fewer labels at a time"
        labels = f" and {self.n_labels:,} labels" if self.n_labels else ""
        raise InputError(
            f"A fit of {self.n_rows:,} rows with {self.n_columns:,} columns{labels} "
            f"takes about {peak / 2**30:.3g} GiB of memory, and this process may take "
            f"{memory / 2**30:.3g} GiB: {advice}."
        )
