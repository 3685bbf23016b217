"""How much memory a fit takes at its peak, said before it is taken.

Copies were set by the shapes of ``python -m benchmarks sizes``, which prints the
estimate next to the memory that each took, and by those of `tests/fit/test_memory.py`,
where it is .9 to 1.5 times as much. Columns of categories count as features with ramps:
100 categories of each of 10 features are estimated at several times what they take.

Symbols: N rows that are held, D columns of features, L labels, Q columns of the ridge
problem.
"""

from dataclasses import dataclass

from ..exceptions import InputError
from ..machine import total_memory
from .choice import MAX_CENTERS, MAX_KERNEL_ROWS
from .grow import MAX_GROWN_TERMS, MIN_GROWN_ROWS
from .pair_search import PAIR_NUMBERS
from .patterns import MAX_BATCH_BYTES
from .rows import MAX_HELD_BYTES
from .rules_search import MAX_GROWN_PRODUCTS, ROWS_PER_CENTER
from .scale import MAX_FINE_TERMS, MIN_FINE_RAMPS, fine_ramps

COLUMNS_PER_FEATURE = 7  # six ramps and a line, where rows are dense
N_RULES_AND_PAIRS = 500  # that a default fit takes at most, where there are many rows
N_PAIRS = 150  # of them, which are columns of all rows
OVERHEAD_BYTES = 1e8  # of what leave-one-out compares on a thousand rows
CELL_BYTES = 8
STORED_CELL_BYTES = 12  # of sparse rows: a number and its position
COPIES_OF_ROWS = 3.0
COPIES_OF_COLUMNS = 3.0
# Where designs grow, columns are held of all rows, or of the sample that they are
# chosen on, or of none: those that take more than MAX_HELD_BYTES.
COPIES_OF_GROWN_COLUMNS = 2.5
COPIES_OF_SAMPLED_COLUMNS = 1.3
# Exceptions by the thousand were taken next to 5 to 30 features, and none next to 100.
MAX_FEATURES_WITH_CENTERS = 50
COPIES_OF_LABELS = 2.5
COPIES_OF_CONSEQUENTS = 8.0
COPIES_OF_SQUARES = 2.0


@dataclass(frozen=True)
class FitSize:
    """What decides how much memory a fit takes.

    ``n_cells`` are the stored cells of sparse rows, None for dense rows; ``n_patterns``
    are the groups of labels that were observed in different rows; ``n_labels`` is 0
    where they are not known yet. ``n_sampled`` are the rows that a design is chosen on,
    None for all.
    """

    n_rows: int
    n_columns: int
    n_labels: int
    n_patterns: int = 1
    n_cells: int | None = None
    n_sampled: int | None = None

    @property
    def n_terms(self) -> int:
        """Terms of the general rule, at most."""
        if self.n_cells is not None:
            return self.n_columns
        coarse = COLUMNS_PER_FEATURE * self.n_columns
        affordable = (MAX_FINE_TERMS - coarse) // max(self.n_columns, 1)
        if affordable < MIN_FINE_RAMPS:
            return coarse
        return coarse + min(fine_ramps(self.n_rows), affordable) * self.n_columns

    @property
    def _may_grow(self) -> bool:
        """Whether a design is chosen by sums over rows, as `grow.may_grow` has it."""
        if self.n_cells is not None or self.n_terms > MAX_GROWN_TERMS:
            return False
        return self.n_rows >= MIN_GROWN_ROWS

    @property
    def _n_grown(self) -> int:
        """Columns of a design that grows: terms, pairs and exceptions, about."""
        n_columns = self.n_terms + PAIR_NUMBERS[-1]
        if self.n_columns > MAX_FEATURES_WITH_CENTERS:
            return n_columns
        affordable = int((MAX_GROWN_PRODUCTS / self.n_rows) ** 0.5) - n_columns
        of_rows = self.n_rows // ROWS_PER_CENTER
        return n_columns + max(min(MAX_CENTERS, of_rows, affordable), 0)

    @property
    def _n_ridge_columns(self) -> int:
        """Columns of the ridge problem where a design does not grow, at most."""
        return self.n_terms + min(self.n_rows, N_RULES_AND_PAIRS)

    def _bytes_of_cells(self) -> float:
        """Bytes of the rows themselves."""
        if self.n_cells is not None:
            return float(self.n_cells) * STORED_CELL_BYTES
        return float(self.n_rows) * self.n_columns * CELL_BYTES

    def _bytes_of_columns(self) -> float:
        """Bytes of the columns that are held at once, with their copies."""
        N = self.n_rows
        if self._may_grow:
            return self._bytes_of_grown_columns()
        if self.n_cells is not None:
            exceptions = N * min(N, N_RULES_AND_PAIRS) * CELL_BYTES
            columns = self._bytes_of_cells() + exceptions
        else:
            columns = float(N) * (self.n_terms + min(N, N_PAIRS)) * CELL_BYTES
        return COPIES_OF_COLUMNS * min(columns, MAX_HELD_BYTES)

    def _bytes_of_grown_columns(self) -> float:
        """Those of a design that grows: of all rows, or of those that choose it."""
        per_row = CELL_BYTES * float(self._n_grown)
        if per_row * self.n_rows <= MAX_HELD_BYTES:
            return COPIES_OF_GROWN_COLUMNS * per_row * self.n_rows
        n_sampled = min(self.n_sampled or self.n_rows, self.n_rows)
        return COPIES_OF_SAMPLED_COLUMNS * min(per_row * n_sampled, MAX_HELD_BYTES)

    def _bytes_of_squares(self, memory: int) -> float:
        """Bytes of kernels and Gram matrices; none where products are used instead."""
        size = self._n_grown if self._may_grow else self._n_ridge_columns
        size = min(self.n_rows, size)
        if self.n_cells is not None and self.n_rows <= MAX_KERNEL_ROWS:
            size = self.n_rows  # slopes in every exception: the dual form
        square = CELL_BYTES * float(size) ** 2
        if COPIES_OF_SQUARES * square > memory / 5:
            return 0.0
        of_patterns = min(MAX_BATCH_BYTES, self.n_patterns * square)
        if self.n_patterns == 1:
            of_patterns = 0.0
        return COPIES_OF_SQUARES * (square + of_patterns)

    def parts(self, memory: int) -> dict[str, float]:
        """Bytes at the peak by what they depend on, where there is so much memory."""
        of_rows = COPIES_OF_ROWS * self._bytes_of_cells() + self._bytes_of_columns()
        per_label = (
            COPIES_OF_LABELS * self.n_rows
            + COPIES_OF_CONSEQUENTS * self._n_ridge_columns
        )
        return {
            "rows": OVERHEAD_BYTES + of_rows + self._bytes_of_squares(memory),
            "labels": CELL_BYTES * self.n_labels * per_label,
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
